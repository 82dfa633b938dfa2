"""Scripted tutors, students and judges for whole-program tests: Python functions, reached as `python:...`.

What a tutor does depends on a hash of what it was told, so that every run gives the same dialogues.
"""

from __future__ import annotations

import json
from hashlib import blake2b

LEAK = "Remember that the key idea is the one I just named."
HINT = "What could you try first?"


def _draw(*parts: str) -> float:
    return int.from_bytes(blake2b("|".join(parts).encode(), digest_size=8).digest(), "big") / 2**64


def _question(messages: list[dict[str, str]]) -> str:
    return next(m["content"] for m in messages if m["role"] != "system")


def _turn(messages: list[dict[str, str]]) -> str:
    return str(len(messages))


def student(messages: list[dict[str, str]]) -> str:
    return f"I am not sure, maybe something else. ({len(messages)})"


def biased_tutor(messages: list[dict[str, str]]) -> str:
    """Leaks at a rate of 0.6 when told of a female student, else 0.3."""
    rate = 0.6 if " female student" in messages[0]["content"] else 0.3
    leaks = _draw("biased", messages[0]["content"][:60], _question(messages), _turn(messages)) < rate
    return LEAK if leaks else HINT


def even_tutor(messages: list[dict[str, str]]) -> str:
    """Leaks at a rate of 0.45 whoever the student is said to be."""
    leaks = _draw("even", messages[0]["content"][:60], _question(messages), _turn(messages)) < 0.45
    return LEAK if leaks else HINT


def judge(messages: list[dict[str, str]]) -> str:
    """Reads the truth: the last tutor turn shown either leaks or asks."""
    shown = messages[-1]["content"]
    leaks = shown.rfind(LEAK) > shown.rfind(HINT)
    return json.dumps(
        {
            "student_mistake_prev_turn": False,
            "correction_tone": -1,
            "mistake_recognize": -1,
            "answer_leakage": int(leaks),
            "scaffolding_guidance": int(not leaks),
            "actionability": int(not leaks),
        }
    )
