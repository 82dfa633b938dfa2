"""What counts as a word."""

from __future__ import annotations

import re

# Besides white space, long dashes, double hyphens and ellipses part words even where no space stands.
_BREAK = re.compile(r"[\s—–…]+|-{2,}|\.{2,}")


def count_words(text: str) -> int:
    """The number of words in a text.

    A word is a stretch without white space, long dash or ellipsis that holds a letter or a digit. So "don't",
    "well-known", "3.14", "1,000", "and/or" and "5+5=10" are one word each, "5 + 5 = 10" is three, and bullets,
    lone punctuation and emphasis marks are none. Scripts written without spaces are counted by stretch.
    """
    return sum(any(map(str.isalnum, stretch)) for stretch in _BREAK.split(text))
