"""llama.cpp servers as child processes: started, shared by all who want the same one, stopped with the last."""

from __future__ import annotations

import asyncio
import atexit
import importlib.util
import json
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from edufair.errors import MissingExtra, ModelError

CHILD = Path(__file__).with_name("llama_child.py")
START_SECONDS = 120.0  # a large file on a slow disk
LOG_LINES = 15


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """What makes two servers the same. `context` is tokens a slot; `threads` None leaves it to the engine."""

    path: str
    alias: str
    slots: int
    context: int
    cache_mib: int
    threads: int | None = None


class LlamaServer:
    """One child process. Made running; `address` waits until it answers."""

    def __init__(self, settings: ServerSettings) -> None:
        self.settings = settings
        self.users = 0
        self._address = ""
        self._first = threading.Lock()
        self._folder = tempfile.TemporaryDirectory(prefix="edufair-llama-")
        self._log = Path(self._folder.name) / "server.log"
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-P", str(CHILD), json.dumps(asdict(settings))],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                start_new_session=True,  # out of reach of the terminal's Ctrl-C
            )

    @property
    def ended(self) -> bool:
        """Whether the process is gone."""
        return self._process.poll() is not None

    def ends_within(self, seconds: float) -> bool:
        """Whether the process is gone by then: its connections break a moment before it has ended. Blocks."""
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        return True

    @property
    def pid(self) -> int:
        return self._process.pid

    def address(self, seconds: float = START_SECONDS) -> str:
        """The server's address. Blocks until it is there; raises ModelError, with the log's end, if it is not."""
        with self._first:
            if not self._address:
                self._address = self._wait(seconds)
            return self._address

    def failure(self, what: str) -> str:
        """`what` happened to this server, with the end of its log, as words for the user."""
        try:
            lines = self._log.read_text(errors="replace").splitlines()[-LOG_LINES:]
        except FileNotFoundError:  # stopped meanwhile, and its folder with it
            lines = []
        told = "\n  ".join(line for line in lines if line.strip()) or "(its log is empty)"
        return f"the llama.cpp server for {self.settings.path} {what}; the end of its log:\n  {told}"

    def stop(self) -> None:
        """End the process at once and remove its log; a second call does nothing."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()
        self._folder.cleanup()

    def _wait(self, seconds: float) -> str:
        assert self._process.stdout is not None
        overdue = threading.Timer(seconds, self._process.kill)
        started = time.monotonic()
        overdue.start()
        try:
            address = self._process.stdout.readline().decode().strip()
        finally:
            overdue.cancel()
        if address:
            return address
        if time.monotonic() - started >= seconds:
            raise ModelError(self.failure(f"was not ready within {seconds:g} s"))
        raise ModelError(self.failure(f"did not start (exit code {self._process.wait()})"))


_servers: dict[ServerSettings, LlamaServer] = {}
_lock = threading.Lock()


async def borrow(settings: ServerSettings) -> tuple[LlamaServer, str]:
    """(the server with these settings, its address), started unless it runs. Give it back when done.

    Raises MissingExtra without the package xllamacpp, ModelError when the server does not start.
    """
    if importlib.util.find_spec("xllamacpp") is None:
        raise MissingExtra("xllamacpp", "embedded", "a local model (embedded:NAME, gguf:PATH)")
    with _lock:
        server = _servers.get(settings)
        if server is None or server.ended:
            server = _servers[settings] = LlamaServer(settings)
        server.users += 1
    try:
        return server, await asyncio.to_thread(server.address)
    except BaseException:  # a start that was cancelled must not leave a server behind either
        give_back(server)
        raise


def give_back(server: LlamaServer) -> None:
    """One user less; the last one stops the server."""
    with _lock:
        server.users -= 1
        if server.users > 0:
            return
        if _servers.get(server.settings) is server:
            del _servers[server.settings]
    server.stop()


@atexit.register
def _stop_all() -> None:
    for server in list(_servers.values()):
        server.stop()
