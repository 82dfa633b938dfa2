"""Trying a host once before the first trial: what it refuses, and what is done about it, in words."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from edufair.models.base import Message, Reply
from edufair.models.faults import Fault
from edufair.models.normalise import normalise

Ask = Callable[[Sequence[Message], Mapping[str, Any]], Awaitable[Reply]]

QUESTION: tuple[Message, ...] = ({"role": "user", "content": "Reply with one word: ready"},)
JSON_QUESTION: tuple[Message, ...] = ({"role": "user", "content": "Reply with a JSON object with the key ready."},)

# The hardest list an audit sends holds all three shapes at once; each is tried alone only when that is
# refused.
SYSTEM: Message = {"role": "system", "content": "Answer in one word."}
ASSISTANT: Message = {"role": "assistant", "content": "Hello."}
USER: Message = {"role": "user", "content": "Hello."}
HARDEST = (SYSTEM, ASSISTANT, USER, USER)
SHAPES: Mapping[str, tuple[tuple[Message, ...], str, str]] = {
    "system_role": (
        (SYSTEM, USER),
        "merge",
        "a system message is refused: merged into the first user message",
    ),
    "opening_assistant": (
        (ASSISTANT, USER),
        "prepend",
        "an opening assistant message is refused: a neutral user message stands before it",
    ),
    "same_role_twice": ((USER, USER), "merge", "two messages of one role in a row are refused: joined"),
}
ACCEPTS_ALL = dict.fromkeys(SHAPES, "ok")
STRICTEST = {trait: mend for trait, (_, mend, _) in SHAPES.items()}

LIMITS = ("max_tokens", "max_completion_tokens")
UNKNOWN = re.compile(
    r"unsupported|not (be )?(supported|permitted|allowed|recogni[sz]ed)|unknown|unrecogni[sz]ed|unexpected"
    r"|extra",
    re.IGNORECASE,
)
SHORT = 16  # tokens are enough to learn whether a shape is taken


async def find_params(
    ask: Ask, requested: Mapping[str, Any], fixed: Mapping[str, Any]
) -> tuple[dict[str, Any], list[str], Reply]:
    """(parameters the host takes, what was changed, the reply to them).

    The requested limit itself is tried, so that one the host finds too large is known now. A limit is
    renamed, other refused parameters are left out; those in `fixed` (the user's own extra body) never are.
    Raises Fault when the host refuses and names nothing that could be changed.
    """
    params, adapted = dict(requested), list[str]()
    while True:
        try:
            return params, adapted, await ask(QUESTION, params)
        except Fault as fault:
            name = _refused(fault, params, fixed)
            if name is None or (name in LIMITS and not _rename(fault, name, requested)):
                raise
            params, words = _without(params, name)
            adapted.append(f"{words} ({fault.message})")


def _refused(fault: Fault, params: Mapping[str, Any], fixed: Mapping[str, Any]) -> str | None:
    """The parameter that the host complains about; when it names several, the one that matters least."""
    if fault.kind != "bad request":
        return None
    free = [name for name in params if name not in fixed]
    if fault.param in free:
        return fault.param
    named = [name for name in free if re.search(rf"\b{re.escape(name)}\b", fault.message)]
    weight = {"temperature": 1, "max_tokens": 2, "max_completion_tokens": 2}
    return min(named, key=lambda name: weight.get(name, 0), default=None)


def _rename(fault: Fault, name: str, requested: Mapping[str, Any]) -> bool:
    """Whether the limit's name is refused (not its size), and the other name is still untried."""
    return name in requested and bool(UNKNOWN.search(f"{fault.code} {fault.message}"))


def _without(params: Mapping[str, Any], name: str) -> tuple[dict[str, Any], str]:
    if name in LIMITS:
        other = LIMITS[1 - LIMITS.index(name)]
        return {other if k == name else k: v for k, v in params.items()}, f"{name} is sent as {other}"
    kept = {k: v for k, v in params.items() if k != name}
    return kept, f"{name} = {params[name]} is refused and not sent: the host's own value applies"


async def find_quirks(ask: Ask, params: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """(quirks for `normalise`, what is rewritten and why). One call when the host takes every shape.

    Raises the host's last Fault when it refuses even the plainest rewriting.
    """
    short = shortened(params)
    if await _refusal(ask, HARDEST, short) is None:
        return dict(ACCEPTS_ALL), []
    found: dict[str, Any] = {}
    for trait, (shape, mend, _) in SHAPES.items():
        found[trait] = "ok" if await _refusal(ask, shape, short) is None else mend
    tries = [STRICTEST | {"system_role": "ok"}] if found == ACCEPTS_ALL else [found]
    for quirks in [*tries, STRICTEST]:
        refusal = await _refusal(ask, normalise(HARDEST, quirks), short)
        if refusal is None:
            return dict(quirks), [SHAPES[trait][2] for trait, how in quirks.items() if how != "ok"]
    assert refusal is not None
    raise refusal


async def _refusal(ask: Ask, messages: Sequence[Message], params: Mapping[str, Any]) -> Fault | None:
    """The host's refusal of these messages, None when it answers; other faults are raised."""
    try:
        await ask(messages, params)
    except Fault as fault:
        if fault.kind in ("bad request", "server"):
            return fault
        raise
    return None


async def find_schema_mode(ask: Ask, params: Mapping[str, Any], schema: Mapping[str, Any]) -> tuple[str, list[str]]:
    """("json_schema", "json_object" or "none", what was given up and why).

    A host that takes the field and ignores it answers a greeting with a greeting: that counts as refused.
    JSON mode is asked with the word JSON in the message, because some hosts insist on it.
    """
    adapted: list[str] = []
    for mode, question in (("json_schema", QUESTION), ("json_object", JSON_QUESTION)):
        try:
            reply = await ask(question, {**shortened(params), **response_format(mode, schema)})
        except Fault as fault:
            if fault.kind not in ("bad request", "server"):
                raise
            adapted.append(f"{mode} output is refused ({fault.message})")
            continue
        if not reply.text.strip() or reply.text.lstrip().startswith("{"):
            return mode, adapted
        adapted.append(f"{mode} output is ignored by the host")
    return "none", adapted


def response_format(mode: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    """The request's field for schema output in this mode; nothing for "none"."""
    if mode == "json_schema":
        form = {"type": mode, "json_schema": {"name": "reply", "strict": True, "schema": dict(schema)}}
        return {"response_format": form}
    return {"response_format": {"type": mode}} if mode == "json_object" else {}


def shortened(params: Mapping[str, Any]) -> dict[str, Any]:
    """`params` with a limit, where there is one, of at most `SHORT` tokens."""
    return {k: min(v, SHORT) if k in LIMITS else v for k, v in params.items()}
