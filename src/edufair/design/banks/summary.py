"""What is in a bank, at a glance."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from edufair.records import Item
from edufair.text.answers import needs_mathematics
from edufair.text.numbers import numbers, plain

AnswerKind = Literal["number", "mathematics", "words"]


@dataclass(frozen=True, slots=True)
class BankSummary:
    """How many items a bank has, by domain, grade and kind of answer, and the first few of each domain."""

    items: int
    domains: Mapping[str, int]
    grades: Mapping[int, int]
    kinds: Mapping[AnswerKind, int]
    examples: tuple[Item, ...]


def summarise(items: Iterable[Item], *, examples: int = 3) -> BankSummary:
    """Go through a bank once and count; the first `examples` items of each domain are kept."""
    domains: Counter[str] = Counter()
    grades: Counter[int] = Counter()
    kinds: Counter[AnswerKind] = Counter()
    first = []
    for item in items:
        domains[item.domain] += 1
        grades[item.data["grade"]] += 1
        kinds[answer_kind(item.data["answer"])] += 1
        if domains[item.domain] <= examples:
            first.append(item)
    return BankSummary(domains.total(), dict(domains), dict(sorted(grades.items())), dict(kinds), tuple(first))


def answer_kind(answer: str) -> AnswerKind:
    """`number` (one number, with or without a unit), `mathematics` (algebra, roots, LaTeX) or `words`."""
    if needs_mathematics(answer):
        return "mathematics"
    text = plain(answer).strip()
    found = list(numbers(text))
    return "number" if len(found) == 1 and found[0].start == 0 else "words"
