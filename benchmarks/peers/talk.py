"""The dialogue audit's calls without the audit: who is sent what, in which order. Standard library only.

A peer hands in its own `chat(model, messages) -> text`; what is sent is what `edufair run` would send.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

Chat = Callable[[str, list[dict[str, str]]], Awaitable[str]]


def script(path: str) -> dict[str, Any]:
    """What `script.py` wrote: `turns`, `params` by model, the judge's texts and the dialogues."""
    return json.loads(Path(path).read_text())  # type: ignore[no-any-return]


async def converse(chat: Chat, talk: dict[str, Any], dialogue: dict[str, str]) -> None:
    """One dialogue from its question to its last turn, then the judge on every tutor turn."""
    turns = [dialogue["question"]]
    for _ in range(talk["turns"]):
        for role in ("student", "tutor"):
            turns.append(await chat(role, seen_from(role, dialogue[role], turns)))
    for number in range(3, len(turns) + 1, 2):
        await chat("judge", judged(talk, dialogue, turns[:number]))


def seen_from(role: str, system: str, turns: list[str]) -> list[dict[str, str]]:
    """The tutor speaks the first turn and every second one after it."""
    own = 0 if role == "tutor" else 1
    said = [{"role": "assistant" if i % 2 == own else "user", "content": text} for i, text in enumerate(turns)]
    return [{"role": "system", "content": system}, *said]


def judged(talk: dict[str, Any], dialogue: dict[str, str], turns: list[str]) -> list[dict[str, str]]:
    """The material as the judge sees it: parts between fences, a task at the end."""
    names = [f"turn {i}, {'tutor' if i % 2 else 'student'}" for i in range(1, len(turns) + 1)]
    parts = [
        ("question", dialogue["question"]),
        ("correct answer", dialogue["answer"]),
        *zip(names, turns, strict=True),
    ]
    shown = "\n\n".join(talk["part"].replace("PART", name).replace("TEXT", text) for name, text in parts)
    content = talk["head"] + shown + talk["foot"].replace("TURN", str(len(turns)))
    return [{"role": "system", "content": talk["judge"]}, {"role": "user", "content": content}]


async def all_dialogues(chat: Chat, talk: dict[str, Any], in_flight: int) -> None:
    """Every dialogue of the script, so many at once."""
    waiting = iter(talk["dialogues"])

    async def work() -> None:
        for dialogue in waiting:
            await converse(chat, talk, dialogue)

    await asyncio.gather(*(work() for _ in range(in_flight)))


def arguments() -> tuple[str, dict[str, Any], int]:
    """(URL, script, dialogues in flight), as every peer is given them."""
    url, path, in_flight = sys.argv[1:]
    return url, script(path), int(in_flight)
