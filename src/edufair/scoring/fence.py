"""Fencing what a judge reads: every part of the material begins with a mark that no text in it can know."""

from __future__ import annotations

import re

from edufair.design.prompts import Prompt
from edufair.errors import EdufairError


def fenced_part(frame: Prompt, title: str, text: str, fence: str) -> str:
    """One part of the material in its frame (slots FENCE, PART, TEXT).

    Raises ValueError for a fence that is no word of its own, EdufairError when the text holds the fence.
    """
    if not re.fullmatch(r"[A-Za-z0-9-]{8,}", fence):
        raise ValueError("the fence must be a word of at least 8 letters, digits or hyphens")
    if fence.casefold() in text.casefold():
        raise EdufairError(
            f"The mark that fences material for the judge stands in the material itself ({title}). "
            "A model has seen the run's secret; find out how, and start a new run."
        )
    return frame.fill(FENCE=fence, PART=title, TEXT=text)
