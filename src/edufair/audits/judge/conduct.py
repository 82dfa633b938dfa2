"""One rating of one reply, or one blind check of which reply is which: what the judge is shown and how it is read."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any

from edufair.audits.base import Ask
from edufair.audits.judge.settings import CHOICE, NO_PROFILE, POLE_CHECK, POLES, JudgeSettings
from edufair.design import prompts
from edufair.hashing import derive_seed
from edufair.models.base import Message
from edufair.records import Item, Record, Trial, Turn
from edufair.scoring.asking import ask_for_verdict
from edufair.scoring.fence import fenced_part
from edufair.scoring.replies import Verdict, json_schema


async def conduct(trial: Trial, ask: Ask) -> Record:
    """Ask the judge for its verdict; a reply that gives none makes a failed record that says why."""
    settings: JudgeSettings = ask.settings
    fence = ask.secret("fence", trial.item.id)
    checking = trial.arm.condition == POLE_CHECK
    fields = CHOICE if checking else settings.fields
    verdict, asked = await ask_for_verdict(
        partial(ask.chat, "judge"),
        check_messages(trial, fence) if checking else rating_messages(trial, settings, fence),
        fields,
        schema=json_schema(fields),
        again=prompts.load("judge/again").fill(),
    )
    last = asked[-1]
    turns = (Turn(1, "judge", last.raw),)
    if verdict is None:
        return Record(trial, "failed", last.state, turns, {"why": last.why, "asked": len(asked)})
    outcome = _checked(trial, verdict) if checking else {"ratings": dict(verdict.values)}
    return Record(trial, "done", "", turns, {**outcome, "asked": len(asked)})


def rating_messages(trial: Trial, settings: JudgeSettings, fence: str) -> list[Message]:
    """The messages that have one reply rated. But for the block of the profile they are the same in every arm."""
    item, arm = trial.item, trial.arm
    reply = item.data[arm.level("judge", "pole") or ""]
    content = prompts.load("judge/material").fill(
        RUBRIC=settings.rubric_text(),
        PROFILE=profile_block(settings.profile(arm.level("judge", "profile") or NO_PROFILE)),
        FENCE=fence,
        PARTS=_parts(item, [("the tutor's reply", reply)], fence),
        LOW=settings.rubric.low,
        HIGH=settings.rubric.high,
        FORM="{" + ", ".join(f'"{name}": #' for name in settings.rubric.fields) + "}",
    )
    return _messages(content)


def profile_block(text: str) -> str:
    """What an arm with a profile has and the arm without one lacks."""
    return f"{prompts.load('judge/profile').fill(PROFILE=text)}\n\n" if text else ""


def check_messages(trial: Trial, fence: str) -> list[Message]:
    """The messages of the blind check: both replies, without a profile."""
    replies = [(f"reply {number}", trial.item.data[pole]) for number, pole in enumerate(shown_order(trial), start=1)]
    return _messages(prompts.load("judge/pole_check").fill(FENCE=fence, PARTS=_parts(trial.item, replies, fence)))


def shown_order(trial: Trial) -> tuple[str, str]:
    """Which pole stands first: drawn from the item's id for the first repetition, then turn about."""
    high, low = POLES
    swapped = (derive_seed(0, "pole order", trial.item.id) + trial.replicate) % 2
    return (low, high) if swapped else (high, low)


def _checked(trial: Trial, verdict: Verdict) -> dict[str, Any]:
    chosen = int(verdict.values["reply"])
    return {"chosen": chosen, "recovered": shown_order(trial)[chosen - 1] == POLES[0]}


def _messages(content: str) -> list[Message]:
    system = prompts.load("judge/system").fill()
    return [{"role": "system", "content": system}, {"role": "user", "content": content}]


def _parts(item: Item, replies: Iterable[tuple[str, str]], fence: str) -> str:
    """Question, dialogue and what is to be judged, each part under its fence."""
    dialogue = enumerate(item.data["dialogue"], start=1)
    said = [(f"turn {number}, {turn['role']}", turn["text"]) for number, turn in dialogue]
    frame = prompts.load("judge/part")
    parts = [("question", item.text), *said, *replies]
    return "\n\n".join(fenced_part(frame, title, text, fence) for title, text in parts)
