"""Asking a judge for a verdict: what is asked again, how often, and which states end the asking."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from edufair.models.base import Message, Reply
from edufair.scoring.replies import Field, Unread, Verdict, read_verdict

JudgeState = Literal[
    "ok", "unparsed", "conflict", "truncated", "empty", "refused", "filtered", "context"
]  # every one but ok leaves no verdict

_ASKED_AGAIN = 2  # how often an unreadable reply is asked for again
_LARGER = 2.0  # the budget of the one retry after a truncated or empty reply


class AskJudge(Protocol):
    """Asks the judge's model once; an audit hands in its own way of asking, bound to the judge's role."""

    async def __call__(
        self,
        messages: Sequence[Message],
        *,
        schema: Mapping[str, Any] | None = None,
        retry: int = 0,
        budget: float = 1.0,
    ) -> Reply: ...


@dataclass(frozen=True, slots=True)
class Asked:
    """One asking of the judge and what came of it; `why` is empty for `ok`."""

    retry: int
    state: JudgeState
    why: str
    raw: str


async def ask_for_verdict(
    ask: AskJudge,
    messages: Sequence[Message],
    fields: Mapping[str, Field],
    *,
    schema: Mapping[str, Any],
    again: str,
    turn: int | None = None,
) -> tuple[Verdict | None, tuple[Asked, ...]]:
    """The verdict, None where there is none, and every asking: at most four, numbered from 0 by `retry`.

    The host's own word comes first. `truncated` or `empty`: one retry with twice the budget, and what was cut is not
    read. `refused`, `filtered`, `context`, and a refusal in words: no retry. `unparsed` or `conflict`: asked again
    twice at most, with the fixed sentence `again` added to the end. `turn` is the number a verdict with a turn id must
    carry. The last asking says why there is no verdict.
    """
    asked: list[Asked] = []
    budget, unreadable = 1.0, 0
    while True:
        reply = await ask(messages, schema=schema, retry=len(asked), budget=budget)
        outcome, read = _outcome(reply, fields, turn, len(asked))
        asked.append(outcome)
        if isinstance(read, Verdict):
            return read, tuple(asked)
        if outcome.state in ("truncated", "empty") and budget < _LARGER:
            budget = _LARGER
        elif outcome.state in ("unparsed", "conflict") and unreadable < _ASKED_AGAIN:
            messages = messages if unreadable else longer_by(messages, again)
            unreadable += 1
        else:
            return None, tuple(asked)


def _outcome(reply: Reply, fields: Mapping[str, Field], turn: int | None, retry: int) -> tuple[Asked, Verdict | None]:
    if reply.status != "ok":
        return Asked(retry, reply.status, f"finish reason {reply.finish_reason or 'not given'}", reply.text), None
    if not reply.text.strip():
        return Asked(retry, "empty", "the reply has no text", reply.text), None
    read = read_verdict(reply.text, fields, turn=turn)
    if isinstance(read, Unread):
        return Asked(retry, read.state, read.why, reply.text), None
    return Asked(retry, "ok", "", reply.text), read


def longer_by(messages: Sequence[Message], sentence: str) -> list[Message]:
    """The same messages, the last longer by a sentence: a shared prefix, no two users in a row."""
    *before, last = messages
    return [*before, {"role": last["role"], "content": f"{last['content']}\n\n{sentence}"}]
