"""What a source gives: the items, what each filter removed, and what a reader should know."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from edufair.records import Item

Filters = Literal["paper", "none"]


@dataclass(frozen=True, slots=True)
class FilterStep:
    """One filter: how many items were left after it and how many it removed."""

    name: str
    kept: int
    removed: int


@dataclass(frozen=True, slots=True)
class Bank:
    """A named set of items. `items` can be gone through again and again; a table is read anew each time."""

    name: str
    items: Iterable[Item]
    report: tuple[FilterStep, ...] = ()
    notes: tuple[str, ...] = ()


def make_item(
    id: str,
    domain: str,
    question: str,
    answer: str,
    *,
    grade: int,
    accepted: Sequence[str] = (),
    support: str = "",
) -> Item:
    """An item of a dialogue, its data under the keys that records.Item names."""
    data = {"answer": answer, "accepted": list(accepted), "support": support, "grade": grade}
    return Item(id, domain, question, data)
