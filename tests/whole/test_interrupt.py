"""A run that is to stop stops at once, whatever its host is doing, and goes on from there."""

from __future__ import annotations

import asyncio
import os
import signal
import sqlite3
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import edufair
from edufair import store as db
from edufair.cli import main
from edufair.errors import RunStopped
from edufair.hashing import digest
from servers.openai_server import OpenAIServer, serve
from whole.people_server import answer, audit_toml

TESTS = Path(__file__).parents[1]

DESIGN = """
[items]
limit = 24
[design]
dimensions = ["gender"]
[dialogue]
max_turns = 2
"""


class Hanging:
    """A host that answers so many requests, says nothing to those after, and tells when many are waiting."""

    def __init__(self, answered: int, waiting: int) -> None:
        self.answered, self.enough = answered, answered + waiting
        self.many_wait = asyncio.Event()

    def __call__(self, ordinal: int, body: dict[str, Any]) -> str | None:
        if ordinal >= self.enough:
            self.many_wait.set()
        return "hang" if ordinal > self.answered else None


def _finished(run: Path) -> set[str]:
    """The requests whose replies a run has committed."""
    with sqlite3.connect(run / db.FILE_NAME) as connection:
        rows = connection.execute("SELECT request FROM call WHERE status != 'failed'").fetchall()
    return {digest(db.unpacked(request)) for (request,) in rows}


def _default_signals() -> None:
    """A shell's background job has Ctrl-C ignored, and what it starts inherits that."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.mark.skipif(os.name != "posix", reason="sends SIGINT to another process")
async def test_ctrl_c_ends_a_run_within_two_seconds_and_the_next_goes_on(tmp_path: Path) -> None:
    hanging = Hanging(answered=120, waiting=8)
    server = OpenAIServer(answer, faults=hanging)
    async with serve(server) as url:
        audit = tmp_path / "audit.toml"
        audit.write_text(audit_toml(url, tmp_path / "run", extra=DESIGN))
        process = await asyncio.create_subprocess_exec(
            *[sys.executable, "-m", "edufair", "run", "--quiet", str(audit)],
            stderr=asyncio.subprocess.PIPE,
            preexec_fn=_default_signals,
        )
        await asyncio.wait_for(hanging.many_wait.wait(), 30)
        process.send_signal(signal.SIGINT)
        sent = time.monotonic()
        _, said = await asyncio.wait_for(process.communicate(), 30)
        assert time.monotonic() - sent < 2
        assert process.returncode == 130
        assert b"Traceback" not in said
        kept = edufair.open_run(tmp_path / "run")
        assert kept.states()["done"] and kept.states()["waiting"] and not kept.states()["transport"]

        finished = _finished(tmp_path / "run")
        before = len(server.bodies)
        hanging.answered = 10**9
        assert len(finished) > 50
        run = await asyncio.to_thread(edufair.run, audit)
    assert run.states() == {"done": 48}
    assert not [body for body in server.bodies[before:] if digest(body) in finished]


def test_ctrl_c_is_answered_with_what_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(edufair, "run", interrupted)
    monkeypatch.setattr("sys.argv", ["edufair", "run", str(tmp_path / "audit.toml")])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 130
    assert "What is done is kept; run the same command again" in capsys.readouterr().err


async def test_a_refused_key_stops_the_other_calls_as_well(tmp_path: Path) -> None:
    def faults(ordinal: int, body: dict[str, Any]) -> str | None:
        return "401" if ordinal == 108 else "hang" if ordinal > 100 else None

    server = OpenAIServer(answer, faults=faults)
    async with serve(server) as url:
        audit = tmp_path / "audit.toml"
        audit.write_text(audit_toml(url, tmp_path / "run", extra=DESIGN))
        begun = time.monotonic()
        with pytest.raises(RunStopped, match="401"):
            await asyncio.to_thread(edufair.run, audit)
        assert time.monotonic() - begun < 10  # the calls that hang would have lasted two minutes
    states = edufair.open_run(tmp_path / "run").states()
    assert states["done"] and states["waiting"]
