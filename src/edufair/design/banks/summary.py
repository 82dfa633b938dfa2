"""What is in a bank, at a glance."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from edufair.design.banks.mention import AnswerKind, answer_kind, mentions
from edufair.records import Item


@dataclass(frozen=True, slots=True)
class BankSummary:
    """How many items a bank has, by domain, grade and kind of answer, and its first few.

    `answer_in_question` counts the items whose answer stands in the question itself.
    """

    items: int
    domains: Mapping[str, int]
    grades: Mapping[int, int]
    kinds: Mapping[AnswerKind, int]
    answer_in_question: int
    examples: tuple[Item, ...]


def summarise(items: Iterable[Item], *, examples: int = 3) -> BankSummary:
    """Go through a bank once and count; the first `examples` items of each domain are kept."""
    domains: Counter[str] = Counter()
    grades: Counter[int] = Counter()
    kinds: Counter[AnswerKind] = Counter()
    given_away = 0
    first = []
    for item in items:
        domains[item.domain] += 1
        grades[item.data["grade"]] += 1
        kinds[answer_kind(item.data["answer"])] += 1
        given_away += mentions(item.text, item.data["answer"])
        if domains[item.domain] <= examples:
            first.append(item)
    return BankSummary(
        domains.total(), dict(domains), dict(sorted(grades.items())), dict(kinds), given_away, tuple(first)
    )
