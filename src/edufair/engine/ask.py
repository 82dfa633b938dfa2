"""How a trial reaches its models: look up, ask, commit, hand over. No reply is used before it is committed."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import Any

import orjson

from edufair import store as db
from edufair.config import Settings
from edufair.engine.progress import Tally
from edufair.engine.roles import Seat
from edufair.errors import CallFailed, PlanError, RunStopped
from edufair.hashing import digest
from edufair.models.base import Message, Reply, Tokens
from edufair.records import Source, Trial
from edufair.store import Store

#: Shared replies kept in memory: the arms of an item stand close together, so a few thousand are plenty.
RECENT = 4096


class Caller:
    """What all trials of a run share: the seats, the store, and the calls that are under way."""

    def __init__(
        self,
        seats: Mapping[tuple[str, str], Seat],
        store: Store,
        tally: Tally,
        *,
        resumed: bool,
        allow_model_change: bool,
    ) -> None:
        self.seats = seats
        self.store = store
        self.tally = tally
        self._resumed = resumed
        self._allow_model_change = allow_model_change
        self._under_way: dict[str, asyncio.Future[Reply]] = {}
        self._recent: OrderedDict[str, Reply] = OrderedDict()
        self._failed: set[str] = set()
        self._returned: dict[str, str] = {
            seat.id: seat.effective.returned_model for seat in seats.values() if seat.effective.returned_model
        }

    async def chat(
        self,
        seat: Seat,
        trial: Trial,
        messages: Sequence[Message],
        schema: Mapping[str, Any] | None,
        retry: int,
        budget: float,
    ) -> tuple[str, Reply]:
        """The request key and the reply: from memory, from the store, or asked now and committed."""
        max_tokens = _scaled(seat.effective.params, budget)
        who = None if seat.shared else [trial.id, trial.replicate]
        key = _request_key(seat, messages, schema, max_tokens, retry, who)
        if not seat.shared:
            return key, self._stored(key) or await self._ask(seat, key, messages, schema, max_tokens)
        if (reply := self._recent.get(key)) is not None:
            return key, reply
        if (under_way := self._under_way.get(key)) is not None:
            return key, await asyncio.shield(under_way)
        return key, await self._ask_once(seat, key, messages, schema, max_tokens)

    async def _ask_once(
        self, seat: Seat, key: str, messages: Sequence[Message], schema: Any, max_tokens: int | None
    ) -> Reply:
        """Ask a shared request while others wait for it; if it fails or the run stops, it does for all of them."""
        future: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
        self._under_way[key] = future
        try:
            reply = self._stored(key, shared=True) or await self._ask(seat, key, messages, schema, max_tokens)
        except CallFailed as error:
            future.set_exception(error)
            future.exception()  # marked as seen: perhaps nobody waits
            raise
        except BaseException:
            future.cancel()
            raise
        finally:
            del self._under_way[key]
        future.set_result(reply)
        self._recent[key] = reply
        if len(self._recent) > RECENT:
            self._recent.popitem(last=False)
        return reply

    def _stored(self, key: str, *, shared: bool = False) -> Reply | None:
        """The reply the store holds. In a fresh run only shared requests can be there."""
        if not (self._resumed or shared):
            return None
        row = self.store.find_call(key)
        if row is None:
            return None
        self.tally.reused += 1
        return Reply(
            text=row["text"],
            status=row["status"],
            finish_reason=row["finish_reason"],
            reasoning=row["reasoning"],
            model=row["returned_model"],
            tokens=Tokens(row["prompt_tokens"], row["cached_tokens"], row["completion_tokens"]),
            latency=row["latency"],
        )

    async def _ask(
        self, seat: Seat, key: str, messages: Sequence[Message], schema: Any, max_tokens: int | None
    ) -> Reply:
        tried = self.store.attempts(key) if self._resumed or key in self._failed else 0
        try:
            reply = await seat.model.chat(messages, seat.effective, schema=schema, max_tokens=max_tokens)
        except CallFailed as error:
            self._failed.add(key)
            self.tally.failed_calls += error.attempts
            row = _failed_row(seat, key, tried + error.attempts, messages, str(error), error.kind)
            await self.store.write(db.call, [row])
            raise
        rows = [
            _failed_row(seat, key, tried + number, messages, attempt.message, attempt.kind, attempt.latency)
            for number, attempt in enumerate(reply.failed_attempts, start=1)
        ]
        row = _reply_row(seat, key, tried + len(rows) + 1, messages, reply)
        changed = self._model_changed(seat, reply)
        self.tally.count(reply, seat.role)
        await self.store.write(db.call, [*rows, {**row, "status": "failed"} if changed else row])
        if changed:
            raise RunStopped(changed)
        return reply

    def _model_changed(self, seat: Seat, reply: Reply) -> str:
        """A model that answers under another name than before is not the model that is being audited: what to say."""
        if not reply.model or self._allow_model_change:
            return ""
        before = self._returned.setdefault(seat.id, reply.model)
        if before == reply.model:
            return ""
        return (
            f"{seat.role} {seat.name}: the host answered as {reply.model!r} and before as {before!r}; a run must "
            "not mix two models. Pin the model's version, or set limits.allow_model_change = true"
        )


class TrialAsk:
    """One trial's `ask`: what its audit sees of the engine. Remembers which calls it used."""

    def __init__(
        self, caller: Caller, trial: Trial, settings: Settings, secret: str, sources: Mapping[str, Source]
    ) -> None:
        self.settings: Any = settings
        self.calls: list[str] = []
        self._caller = caller
        self._trial = trial
        self._secret = secret
        self._sources = sources

    def has(self, role: str) -> bool:
        return role in self._sources or self._find(role) is not None

    def source(self, role: str) -> Source:
        return self._sources[role]

    def secret(self, *purpose: str) -> str:
        return digest([self._secret, *purpose])[:16]

    async def chat(
        self,
        role: str,
        messages: Sequence[Message],
        *,
        schema: Mapping[str, Any] | None = None,
        retry: int = 0,
        budget: float = 1.0,
    ) -> Reply:
        key, reply = await self._caller.chat(self._seat(role), self._trial, messages, schema, retry, budget)
        self.calls.append(key)
        return reply

    async def embed(self, role: str, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        return (await self._seat(role).model.embed(texts)).vectors

    def _seat(self, role: str) -> Seat:
        seat = self._find(role)
        if seat is None:
            raise PlanError(
                f"the {self._trial.audit} audit asked for the role {role!r}, which audit.toml does not fill"
            )
        return seat

    def _find(self, role: str) -> Seat | None:
        seats = self._caller.seats
        return seats.get((role, self._trial.model)) or seats.get((role, ""))


def _scaled(params: Mapping[str, Any], budget: float) -> int | None:
    """The token limit of a second try with a larger budget; None leaves the effective limit as it is."""
    limit = params.get("max_tokens", params.get("max_completion_tokens"))
    return None if budget == 1.0 or limit is None else int(limit * budget)


def _request_key(
    seat: Seat,
    messages: Sequence[Message],
    schema: Any,
    max_tokens: int | None,
    retry: int,
    who: list[Any] | None,
) -> str:
    content = orjson.dumps([messages, schema, max_tokens, retry, who], option=orjson.OPT_SORT_KEYS)
    return blake2b(seat.key_prefix + content, digest_size=16).hexdigest()


def _reply_row(seat: Seat, key: str, attempt: int, messages: Sequence[Message], reply: Reply) -> db.Row:
    return {
        "key": key,
        "attempt": attempt,
        "role": seat.role,
        "model": seat.name,
        "effective": seat.id,
        "request": db.packed(reply.sent or {"messages": list(messages)}),
        "status": reply.status,
        "returned_model": reply.model,
        "text": reply.text,
        "reasoning": reply.reasoning,
        "finish_reason": reply.finish_reason,
        "prompt_tokens": reply.tokens.prompt,
        "cached_tokens": reply.tokens.cached,
        "completion_tokens": reply.tokens.completion,
        "latency": reply.latency,
        "created": time.time(),
    }


def _failed_row(
    seat: Seat,
    key: str,
    attempt: int,
    messages: Sequence[Message],
    message: str,
    kind: str,
    latency: float = 0.0,
) -> db.Row:
    failed = Reply("", "empty", finish_reason=kind, latency=latency)
    return {**_reply_row(seat, key, attempt, messages, failed), "status": "failed", "text": message}
