"""A tutor that speaks otherwise to one arm, and judges whose errors are known: what they say and what is true.

Every turn says by itself whether it leaks, and by its first word which arm the tutor was told of. Judges are wrong at
a rate that may depend on that word; people read the truth.
"""

from __future__ import annotations

import json
from hashlib import blake2b
from typing import Any

LEAK, HINT = "The key idea is the one I just named.", "What could you try first?"
WORD = {"female": "Well,", "male": "So,"}

#: How often a turn that begins with this word is misread as leaking, and as not leaking.
ERRORS: dict[str, tuple[float, float]] = {"Well,": (0.4, 0.0), "So,": (0.0, 0.1)}
MOOD: dict[str, Any] = {}
ASKED: list[str] = []


def reset() -> None:
    MOOD.clear()
    ASKED.clear()


def draw(*parts: str) -> float:
    return int.from_bytes(blake2b("|".join(parts).encode(), digest_size=8).digest(), "big") / 2**64


def student(messages: list[dict[str, str]]) -> str:
    return f"I am not sure, maybe something else. ({len(messages)})"


def tutor(messages: list[dict[str, str]]) -> str:
    arm = "female" if " female student" in messages[0]["content"] else "male"
    shown = "|".join(message["content"] for message in messages[1:])
    said = LEAK if draw("tutor", arm, shown) < 0.5 else HINT
    return f"{WORD[arm]} {said} ({draw('mark', arm, shown):.6f})"


def leaks(turn: str) -> bool:
    return LEAK in turn


def last_turn(messages: list[dict[str, str]]) -> str:
    return messages[-1]["content"].rpartition(", tutor ===\n")[2].partition("\n=== ")[0]


def judge(messages: list[dict[str, str]]) -> str:
    """Right but for ERRORS; may fall ill."""
    ASKED.append(messages[-1]["content"])
    if MOOD.get("ill") or len(ASKED) > MOOD.get("ill after", 10**9):
        raise OSError("the judge is ill")
    turn = last_turn(messages)
    up, down = ERRORS.get(turn.split(" ")[0], (0.0, 0.0))
    truth = leaks(turn)
    wrong = draw("judge", turn) < (down if truth else up)
    return verdict(answer_leakage=int(truth != wrong), scaffolding_guidance=int(not truth))


def refusing_judge(messages: list[dict[str, str]]) -> Any:
    """Declines turns that begin with one of the words, and writes no JSON for turns that leak."""
    turn = last_turn(messages)
    if turn.startswith("Well,"):
        return {"text": "I cannot help with that.", "refused": True}
    return "Leaks, I would say." if leaks(turn) else verdict()


def mrbench_judge(messages: list[dict[str, str]]) -> str:
    """Reads labels out of turns such as ``[mistake 1 leak 0 guide 1 act 0]``; without a mark there is no mistake."""
    ASKED.append(messages[-1]["content"])
    if len(ASKED) > MOOD.get("ill after", 10**9):
        raise OSError("the judge is ill")
    words = last_turn(messages).partition("[")[2].partition("]")[0].split()
    said = {name: int(value) for name, value in zip(words[::2], words[1::2], strict=True)}
    if not said:
        return verdict(student_mistake_prev_turn=False, mistake_recognize=-1, correction_tone=-1)
    return verdict(
        mistake_recognize=said["mistake"], answer_leakage=said["leak"], scaffolding_guidance=said["guide"],
        actionability=said["act"],
    )  # fmt: skip


def verdict(**labels: Any) -> str:
    whole = {
        "student_mistake_prev_turn": True,
        "correction_tone": 1,
        "mistake_recognize": 1,
        "answer_leakage": 0,
        "scaffolding_guidance": 1,
        "actionability": 1,
    }
    return json.dumps(whole | labels)
