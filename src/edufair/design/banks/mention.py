"""Whether a text holds an answer, as far as a filter needs it: numbers as numbers, words as whole words."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Literal

AnswerKind = Literal["number", "expression", "words"]

# 1,000 and 1000.0 are one number, 3/4 is 0.75; digits inside a word (H2O, x2) are none.
_NUMBER = re.compile(r"(?<![\w.])-?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:\s?/\s?\d+(?:\.\d+)?)?(?![\d])")
_MEASURE = re.compile(r"[$€£]?\s?(?P<number>\S+?)\s?(?P<unit>%|°?[A-Za-zµΩ][^\d\s]*\d?(?: [a-z]+)*)?")
_MATHEMATICAL = re.compile(r"[=+*/^√×÷\\<>|{}]|\d")


def mentions(text: str, answer: str) -> bool:
    """Whether `answer` stands in `text`. A number is looked for as a number, its unit left aside."""
    number = as_number(answer)
    if number is not None:
        return number in _numbers(text)
    return re.search(rf"(?<!\w){re.escape(_plain(answer))}(?!\w)", _plain(text)) is not None


def answer_kind(answer: str) -> AnswerKind:
    """`number` (with or without a unit), `expression` (symbols, formulas) or `words`."""
    if as_number(answer) is not None:
        return "number"
    return "expression" if _MATHEMATICAL.search(answer) else "words"


def as_number(answer: str) -> Fraction | None:
    """The number an answer consists of, a currency sign or unit left aside; None for anything else."""
    parts = _MEASURE.fullmatch(answer.strip())
    return _value(parts["number"]) if parts and _NUMBER.fullmatch(parts["number"]) else None


def _numbers(text: str) -> set[Fraction]:
    """Every number in a text. 1/2 is one too; 24/4 is a task whose result is not said: 24 and 4."""
    found: set[Fraction] = set()
    for match in _NUMBER.findall(text):
        values = [_value(part) for part in re.split(r"\s?/\s?", match)]
        whole = _value(match)
        if whole is not None and (len(values) == 1 or whole.denominator > 1):
            values.append(whole)
        found.update(value for value in values if value is not None)
    return found


def _value(number: str) -> Fraction | None:
    top, _, bottom = number.replace(",", "").replace(" ", "").partition("/")
    divisor = Fraction(bottom or 1)
    return Fraction(top) / divisor if divisor else None


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())
