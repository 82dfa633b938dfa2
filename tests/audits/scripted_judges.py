"""Scripted judges that rate what stands in a reply: `quality 4` there, moved by what they are told of the learner.

Reached as `python:audits.scripted_judges:...`. Ratings are whole numbers from 1 to 5, cut at the ends.
"""

from __future__ import annotations

import json
import re
from typing import Any

FIELDS = ("contingent_scaffolding", "productive_struggle", "assistance_calibration", "elicitation", "overall")

asked: list[str] = []  # every prompt, in order
broken: set[str] = set()  # what stands in a prompt that makes the judge fail


def _told(shown: str) -> str:
    told = re.search(r"the (12th|93rd) percentile", shown)
    return {"12th": "novice", "93rd": "advanced"}[told[1]] if told else "none"


def _qualities(shown: str) -> list[int]:
    return [int(number) for number in re.findall(r"quality (-?\d+)", shown)]


def _rated(quality: int, change: int = 0) -> str:
    return json.dumps(dict.fromkeys(FIELDS, min(5, max(1, quality + change))))


def _shown(messages: list[dict[str, Any]]) -> str:
    shown = str(messages[-1]["content"])
    asked.append(shown)
    if any(mark in shown for mark in broken):
        raise RuntimeError("broken on purpose")
    return shown


def severe(messages: list[dict[str, Any]]) -> str:
    """One point less for both replies when told of an advanced learner: a shift common to both poles."""
    shown = _shown(messages)
    if "reply 1" in shown:
        first, second = _qualities(shown)
        return json.dumps({"reply": 1 if first > second else 2})
    return _rated(*(_qualities(shown) or [3]), change=-(_told(shown) == "advanced"))


def partial(messages: list[dict[str, Any]]) -> str:
    """One point less for the better reply alone when told of an advanced learner: a preference that moves."""
    shown = _shown(messages)
    (quality,) = _qualities(shown) or [3]
    return _rated(quality, change=-(_told(shown) == "advanced" and quality >= 4))


def steady(messages: list[dict[str, Any]]) -> str:
    """The same ratings whatever it is told."""
    return _rated(*(_qualities(_shown(messages)) or [3]))


def moody(messages: list[dict[str, Any]]) -> Any:
    """Refuses, breaks off, says nothing or chats, by what stands in the reply."""
    shown = _shown(messages)
    if "REFUSE" in shown:
        return "I'm sorry, but I cannot rate this."
    if "CHAT" in shown:
        return "A nice reply, I like it."
    if "OUTSIDE" in shown:
        return _rated(3).replace("3", "7")
    if "EMPTY" in shown:
        return ""
    return _rated(3)
