"""Message lists rewritten for hosts whose chat template refuses some shapes.

What comes out is sent and stored.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from edufair.models.base import Message

OPENING: Message = {"role": "user", "content": "Please begin."}
"""Stands before an opening assistant message where the host insists that the user speaks first. Neutral on
purpose: it names no learner, no subject and no role, and is the same in every arm."""

SEPARATOR = "\n\n"


def normalise(messages: Sequence[Message], quirks: Mapping[str, Any]) -> list[Message]:
    """`messages` as this host takes them.

    `quirks` (absent means "ok"): `system_role` "merge" puts system text into the user message that follows
    it; `opening_assistant` "prepend" puts `OPENING` before a first assistant message; `same_role_twice`
    "merge" joins neighbours of one role with an empty line. Hosts that need the first always need the last,
    so it joins too.
    """
    rewritten = list(messages)
    if quirks.get("opening_assistant") == "prepend":
        rewritten = _open_with_user(rewritten)
    if quirks.get("system_role") == "merge":
        rewritten = [_as_user(m) if m["role"] == "system" else m for m in rewritten]
        return _join_neighbours(rewritten)
    if quirks.get("same_role_twice") == "merge":
        return _join_neighbours(rewritten)
    return rewritten


def _open_with_user(messages: list[Message]) -> list[Message]:
    first = next((i for i, m in enumerate(messages) if m["role"] != "system"), None)
    if first is None or messages[first]["role"] == "user":
        return messages
    return [*messages[:first], OPENING, *messages[first:]]


def _as_user(message: Message) -> Message:
    return {"role": "user", "content": message["content"]}


def _join_neighbours(messages: list[Message]) -> list[Message]:
    joined: list[Message] = []
    for message in messages:
        if joined and joined[-1]["role"] == message["role"]:
            text = joined[-1]["content"] + SEPARATOR + message["content"]
            joined[-1] = {"role": message["role"], "content": text}
        else:
            joined.append(message)
    return joined
