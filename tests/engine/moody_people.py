"""People whose mood a test can change between two sittings of a run, and who count what they are asked."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

ASKED: Counter[str] = Counter()
MOOD: dict[str, Any] = {}


def reset() -> None:
    """Everyone is well and has been asked nothing."""
    ASKED.clear()
    MOOD.clear()


def _mood(role: str) -> None:
    ASKED[role] += 1
    if MOOD.get(role) == "ill" or ASKED[role] > MOOD.get(f"{role} falls ill after", 10**9):
        raise OSError(f"the {role} is ill")


def tutor(messages: list[dict[str, str]]) -> Any:
    _mood("tutor")
    return MOOD.get("tutor says", f"Try again. ({len(messages)})")


def other_tutor(messages: list[dict[str, str]]) -> str:
    ASKED["other tutor"] += 1
    return f"Once more. ({len(messages)})"


def student(messages: list[dict[str, str]]) -> Any:
    _mood("student")
    return MOOD.get("student says", f"I do not know. ({len(messages)})")


def other_student(messages: list[dict[str, str]]) -> str:
    ASKED["other student"] += 1
    return f"No idea. ({len(messages)})"


def judge(messages: list[dict[str, str]]) -> str:
    _mood("judge")
    labels = dict.fromkeys(("correction_tone", "mistake_recognize"), -1)
    labels |= dict.fromkeys(("answer_leakage", "scaffolding_guidance", "actionability"), 1)
    return json.dumps({"student_mistake_prev_turn": False, **labels})


def other_judge(messages: list[dict[str, str]]) -> str:
    ASKED["other judge"] += 1
    return judge(messages)
