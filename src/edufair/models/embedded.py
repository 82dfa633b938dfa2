"""A local GGUF file as a model: the llama.cpp server is started for you and is then one more endpoint."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from edufair.errors import CallFailed, ModelError
from edufair.models import cache
from edufair.models.base import Effective, Embeddings, Message, Reply
from edufair.models.endpoint import Endpoint
from edufair.models.llama import LlamaServer, ServerSettings, borrow, give_back

CONCURRENCY = 8  # on two cores 16 wrote 0 to 19% more tokens a second, for twice the memory
CONTEXT = 4096  # ten turns of a dialogue and the judge's rubric before them
CACHE_MIB = 1024
ENDING_SECONDS = 2.0


class EmbeddedModel:
    """A model from `embedded:NAME` (fetched before, see `edufair model pull`) or `gguf:PATH`.

    The server starts at the first question, in a child process that only this machine reaches, and ends with
    `close` or with this process. Models of the same file and settings share it. It answers `concurrency`
    questions at once, each in a slot with a window of `context` tokens; `threads` None leaves their number to
    the engine. `timeout` (seconds), `retries` and `extra_body` are the endpoint's.

    The identity of the model is the SHA-256 of its file.
    """

    def __init__(
        self,
        name: str,
        reference: str,
        *,
        concurrency: int | None = None,
        context: int | None = None,
        threads: int | None = None,
        timeout: float = 600.0,
        retries: int = 2,
        extra_body: Mapping[str, Any] | None = None,
    ) -> None:
        _split(reference)
        self.name = name
        self.reference = reference
        self.concurrency = CONCURRENCY if concurrency is None else concurrency
        self.context = CONTEXT if context is None else context
        self.threads = threads
        self._endpoint_settings: dict[str, Any] = {"timeout": timeout, "retries": retries, "extra_body": extra_body}
        self._opening: asyncio.Task[Endpoint] | None = None
        self._server: LlamaServer | None = None

    async def probe(self, sampling: Mapping[str, Any], *, schema: Mapping[str, Any] | None = None) -> Effective:
        """How the file takes these parameters; starts the server.

        Raises MissingExtra without xllamacpp, ModelError when the file or its server is at fault.
        """
        effective = await (await self._endpoint()).probe(sampling, schema=schema)
        # The port changes with every start; what was asked is the file.
        return replace(effective, identity=await asyncio.to_thread(file_identity, self.reference), url=self.reference)

    async def chat(
        self,
        messages: Sequence[Message],
        effective: Effective,
        *,
        schema: Mapping[str, Any] | None = None,
        max_tokens: int | None = None,
    ) -> Reply:
        """One reply; starts the server when an earlier process did the probing.

        Raises CallFailed when no try gave a reply, for good when the server has ended.
        """
        endpoint = await self._endpoint()
        try:
            return await endpoint.chat(messages, effective, schema=schema, max_tokens=max_tokens)
        except CallFailed as failed:
            raise await self._explained(failed) from failed.__cause__

    async def embed(self, texts: Sequence[str]) -> Embeddings:
        """Not what the server is started for: raises ModelError."""
        raise ModelError(
            f"model {self.name!r}: {self.reference} is started for chat and gives no embeddings; name an endpoint "
            "that does"
        )

    async def close(self) -> None:
        """Stop asking; the server ends with the last model that shares it. The next call starts it again."""
        opening, self._opening = self._opening, None
        if opening is None:
            return
        opening.cancel()  # does nothing to one that is done
        await asyncio.wait([opening])
        if not opening.cancelled() and opening.exception() is None:
            await opening.result().close()
        server, self._server = self._server, None
        if server is not None:
            await asyncio.to_thread(give_back, server)

    async def _endpoint(self) -> Endpoint:
        if self._opening is None or (self._opening.done() and _in_vain(self._opening)):
            self._opening = asyncio.create_task(self._open())
        return await asyncio.shield(self._opening)

    async def _open(self) -> Endpoint:
        path = await asyncio.to_thread(file_of, self.reference)
        settings = ServerSettings(
            path=str(path),
            alias=path.stem,
            slots=self.concurrency,
            context=self.context,
            cache_mib=CACHE_MIB,
            threads=self.threads,
        )
        self._server, address = await borrow(settings)
        return Endpoint(self.name, f"{address}/v1", path.stem, concurrency=self.concurrency, **self._endpoint_settings)

    async def _explained(self, failed: CallFailed) -> CallFailed:
        """The failure, told as the end of the server where that is what it was."""
        if self._server is None or failed.kind != "connection":
            return failed
        if not await asyncio.to_thread(self._server.ends_within, ENDING_SECONDS):
            return failed
        words = f"model {self.name!r}: {self._server.failure('has ended')}"
        return CallFailed(words, kind="server", attempts=failed.attempts, fatal=True)


def file_of(reference: str) -> Path:
    """The file that `embedded:NAME` or `gguf:PATH` means. Raises ModelError when it is missing or no GGUF file."""
    kind, rest = _split(reference)
    if kind == "embedded":
        return cache.locate(rest)
    path = Path(rest).expanduser().absolute()
    try:
        with path.open("rb") as file:
            magic = file.read(4)
    except OSError as error:
        raise ModelError(f"{reference}: {path} cannot be read ({error.strerror}); check the path") from error
    if magic != b"GGUF":
        raise ModelError(f"{reference}: {path} is not a GGUF file; llama.cpp reads no other kind")
    return path


def file_identity(reference: str) -> str:
    """The SHA-256 of the file that `reference` means; that of a known model without reading it.

    Raises ModelError when the file of `gguf:PATH` is missing or no GGUF file.
    """
    kind, rest = _split(reference)
    if kind == "embedded":
        return cache.known(rest).sha256
    path = file_of(reference)
    stat = path.stat()
    return _hashed(path, stat.st_size, stat.st_mtime_ns)


@lru_cache
def _hashed(path: Path, size: int, modified: int) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _in_vain(opening: asyncio.Task[Endpoint]) -> bool:
    return opening.cancelled() or opening.exception() is not None


def _split(reference: str) -> tuple[str, str]:
    kind, _, rest = reference.partition(":")
    if kind.lower() not in ("embedded", "gguf") or not rest:
        raise ModelError(f"{reference!r} names no local model; write embedded:NAME or gguf:PATH")
    return kind.lower(), rest
