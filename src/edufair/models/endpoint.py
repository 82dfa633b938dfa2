"""OpenAI-compatible chat and embeddings over HTTP: one lean client, one way through for every host."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import orjson

from edufair.errors import CallFailed, ModelError
from edufair.models.base import Attempt, Effective, Embeddings, Message, Reply, Tokens
from edufair.models.connection import CHAT, EMBEDDINGS, Connection
from edufair.models.faults import Fault
from edufair.models.limits import Backoff, Pace, SharedPause
from edufair.models.normalise import normalise
from edufair.models.probing import LIMITS, find_params, find_quirks, find_schema_mode, response_format
from edufair.models.reading import mended, read_reply, read_tokens, read_vectors
from edufair.models.window import tell_window

OURS = ("model", "messages", "input", "stream", "response_format", "n")  # fields that extra_body may not set
TEXTS_A_REQUEST = 64
PROBE_RETRIES = 2

T = TypeVar("T")


class Endpoint:
    """A model behind an OpenAI-compatible address.

    `url` may come with or without `/v1` or a pasted route. `timeout` is the deadline of one whole try in
    seconds, `retries` the tries after the first. `requests_per_minute` and `tokens_per_minute` pace the calls
    evenly. `context` states the window (tokens) where the host does not tell it. `extra_body` is sent with
    every request and is part of the parameters. A key is read from the environment variable `api_key_env`
    when the first call is made and stands in no message, body or record: where a host echoes it, it is
    masked.

    Texts with half surrogates (no JSON text can hold them) are sent and read with U+FFFD in their place; all
    other characters, NUL and U+2028 among them, pass as they are.
    """

    def __init__(
        self,
        name: str,
        url: str,
        model_id: str,
        *,
        api_key_env: str | None = None,
        concurrency: int = 16,
        requests_per_minute: float | None = None,
        tokens_per_minute: float | None = None,
        timeout: float = 120.0,
        connect_timeout: float = 10.0,
        retries: int = 5,
        context: int | None = None,
        extra_body: Mapping[str, Any] | None = None,
        backoff: Backoff | None = None,
    ) -> None:
        self.name = name
        self.model_id = model_id
        self.concurrency = concurrency
        self.retries = retries
        self.context = context
        self.extra_body = dict(extra_body or {})
        if wrong := [key for key in OURS if key in self.extra_body]:
            raise ModelError(f"model {name!r}: extra_body may not set {', '.join(wrong)}; take it out")
        self._api_key_env = api_key_env
        self._connection = Connection(
            name, url, api_key_env=api_key_env, timeout=timeout, connect_timeout=connect_timeout
        )
        self._backoff = backoff or Backoff()
        # Hosts count by the minute: the pauses of the usual five retries add up to one.
        self._pause = SharedPause(replace(self._backoff, first=4 * self._backoff.first))
        self._requests = Pace(requests_per_minute) if requests_per_minute else None
        self._tokens = Pace(tokens_per_minute) if tokens_per_minute else None
        self._places: asyncio.Semaphore | None = None

    def __repr__(self) -> str:
        return f"Endpoint({self.name!r}, {self._connection.url!r}, {self.model_id!r})"

    async def probe(self, sampling: Mapping[str, Any], *, schema: Mapping[str, Any] | None = None) -> Effective:
        """How this host takes these parameters. Two calls for an easy host, a few more for one with quirks.

        Raises ModelError (CallFailed when no answer came) that names the address tried and the mend.
        """
        requested = {**sampling, **self.extra_body}
        try:
            params, adapted, reply = await find_params(self._try, requested, self.extra_body)
            if reply.status == "context":
                raise self._too_small()
            quirks, rewritten = await find_quirks(self._try, params)
            mode, given_up = await find_schema_mode(self._try, params, schema) if schema else ("none", [])
        except Fault as fault:
            raise self._failed(fault) from fault.__cause__
        connection = self._connection
        return Effective(
            identity=self.model_id,
            requested=requested,
            params=params,
            quirks={**quirks, "schema": mode},
            adapted=(*adapted, *rewritten, *given_up),
            context=self.context or await tell_window(connection.get, connection.base, self.model_id),
            url=connection.url,
            returned_model=reply.model,
        )

    async def chat(
        self,
        messages: Sequence[Message],
        effective: Effective,
        *,
        schema: Mapping[str, Any] | None = None,
        max_tokens: int | None = None,
    ) -> Reply:
        """One reply to `messages`, rewritten and parametrised as `effective` says; nothing is adapted any
        more.

        A conversation too long for the host, a filter and an output limit are replies with that status.
        Raises CallFailed when no try gave a reply.
        """
        self._connection.adopt(effective.url)
        params = effective.params
        if max_tokens is not None:
            name = next((n for n in LIMITS if n in params), LIMITS[0])
            params = {**params, name: max_tokens}
        if schema is not None:
            params = {**params, **response_format(effective.quirks.get("schema", "none"), schema)}
        try:
            reply = await self._chat(normalise(messages, effective.quirks), params, self.retries)
        except Fault as fault:
            raise self._failed(fault) from fault.__cause__
        if reply.status == "truncated" and _fills(reply.tokens, effective.context, params):
            return replace(reply, status="context")
        return reply

    async def embed(self, texts: Sequence[str]) -> Embeddings:
        """One vector for each text, in their order, asked in batches.

        Raises CallFailed when a batch failed.
        """
        vectors: list[Sequence[float]] = []
        total = Embeddings(vectors)
        for start in range(0, len(texts), TEXTS_A_REQUEST):
            try:
                part = await self._embed(texts[start : start + TEXTS_A_REQUEST])
            except Fault as fault:
                raise self._failed(fault) from fault.__cause__
            vectors += part.vectors
            prompt = (total.tokens.prompt or 0) + part.tokens.prompt if part.tokens.prompt is not None else None
            total = Embeddings(vectors, part.model, Tokens(prompt), total.latency + part.latency)
        if len({len(v) for v in vectors}) > 1:
            raise self._failed(Fault("bad reply", "batches came back with vectors of different lengths"))
        return total

    async def close(self) -> None:
        """Close the connections; the next call opens new ones."""
        await self._connection.close()
        self._places = None

    async def _try(self, messages: Sequence[Message], params: Mapping[str, Any]) -> Reply:
        return await self._chat(messages, params, min(self.retries, PROBE_RETRIES))

    async def _chat(self, messages: Sequence[Message], params: Mapping[str, Any], retries: int) -> Reply:
        body: dict[str, Any] = {"model": self.model_id, "messages": messages, **params}
        try:
            data = orjson.dumps(body)
        except TypeError:  # half surrogates in a text
            body = mended(body)
            data = orjson.dumps(body)
        try:
            reply, latency, failed = await self._call(CHAT, data, read_reply, retries)
        except Fault as fault:
            if fault.outcome is None:
                raise
            *earlier, last = fault.attempts
            said = fault.code or f"error {fault.status}"
            return Reply("", fault.outcome, said, latency=last.latency, failed_attempts=tuple(earlier), sent=body)
        if self._tokens is not None:
            counted = reply.tokens.prompt if reply.tokens.prompt is not None else _estimate(data)
            self._tokens.correct(counted - _estimate(data) + (reply.tokens.completion or 0))
        return replace(reply, latency=latency, failed_attempts=failed, sent=body)

    async def _embed(self, batch: Sequence[str]) -> Embeddings:
        def read(payload: Any) -> Embeddings:
            vectors = read_vectors(payload, len(batch))
            return Embeddings(vectors, payload.get("model") or "", read_tokens(payload.get("usage")))

        data = orjson.dumps({"model": self.model_id, "input": mended(batch), **self.extra_body})
        part, latency, _ = await self._call(EMBEDDINGS, data, read, self.retries)
        return replace(part, latency=latency)

    async def _call(
        self, route: str, data: bytes, read: Callable[[Any], T], retries: int
    ) -> tuple[T, float, tuple[Attempt, ...]]:
        """(what `read` made of the answer, seconds of the try that gave it, tries before it); raises Fault.

        A plain loop: the shared pause, the kept attempts and the outcomes are ours, and a retry library would
        be built up for each call only to hand all three back. The place among the concurrent calls is kept
        during a rest, so a host in trouble is asked less.
        """
        self._connection.open()
        if self._places is None:
            self._places = asyncio.Semaphore(self.concurrency)
        failed: list[Attempt] = []
        async with self._places:
            while True:
                await self._wait_turn(data)
                sent_at = time.monotonic()
                try:
                    answer = read(await self._connection.post(route, data))
                except Fault as fault:
                    failed.append(Attempt(fault.kind, fault.status, fault.message, time.monotonic() - sent_at))
                    fault.attempts = tuple(failed)
                    if fault.floor is not None:
                        self._pause.extend(sent_at, fault.floor)
                    if not fault.retry or len(failed) > retries:
                        raise
                    if fault.floor is None:  # else the next turn waits for the shared pause
                        await asyncio.sleep(self._backoff.seconds(len(failed)))
                else:
                    self._pause.relax(sent_at)
                    return answer, time.monotonic() - sent_at, tuple(failed)

    async def _wait_turn(self, data: bytes) -> None:
        if self._requests is not None:
            await self._requests.take()
        if self._tokens is not None:
            await self._tokens.take(_estimate(data))
        await self._pause.wait()

    def _failed(self, fault: Fault) -> CallFailed:
        tries = len(fault.attempts) or 1
        status = f" (HTTP {fault.status})" if fault.status not in (None, 200) else ""
        after = f", tried {tries} times" if tries > 1 else ""
        return CallFailed(
            f"{self._where()}: {fault.kind}{status}{after}: {fault.message}{self._mend(fault)}",
            kind=fault.kind,
            status=fault.status,
            attempts=tries,
            fatal=fault.fatal,
        )

    def _mend(self, fault: Fault) -> str:
        if fault.status == 402:
            return "; the account behind the key cannot pay"
        if fault.kind == "auth":
            return f"; check the key in {self._api_key_env}" if self._api_key_env else "; set api_key_env"
        if fault.kind == "not found" and not fault.elsewhere:
            return f"; check the model id {self.model_id!r}"
        if fault.kind == "connection" and self._connection.local:
            return "; is the server running?"
        return ""

    def _too_small(self) -> ModelError:
        return ModelError(
            f"{self._where()}: even one short question does not fit its context window together with "
            "max_tokens; ask for fewer tokens or start the server with more context"
        )

    def _where(self) -> str:
        return f"model {self.name!r} at {self._connection.url}"


def _estimate(data: bytes) -> float:
    """Tokens of a request before the host has counted them: a quarter of its bytes."""
    return len(data) / 4


def _fills(tokens: Tokens, window: int | None, params: Mapping[str, Any]) -> bool:
    """Whether a cut reply stopped at the window's end before its own limit: a larger limit would not help."""
    if window is None or tokens.prompt is None or tokens.completion is None:
        return False
    limit = next((params[name] for name in LIMITS if name in params), None)
    return tokens.prompt + tokens.completion >= window and (limit is None or tokens.completion < limit)
