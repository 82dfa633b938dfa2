"""Drawing and ordering items by seed.

What an item draws depends on its id alone, so that a subset draws what the whole draws.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TypeVar

from edufair.errors import BankError
from edufair.hashing import derive_seed
from edufair.records import Item

Row = TypeVar("Row", bound=tuple[str, ...])


def by_draw(ids: Iterable[str], seed: int, purpose: str) -> list[str]:
    """`ids` in a random order that `seed` and `purpose` fix."""
    return [id for _, id in sorted((derive_seed(seed, purpose, id), id) for id in ids)]


def order_items(rows: Iterable[Row], seed: int, *, purpose: str = "order") -> list[Row]:
    """Rows that end in an item's id and its domain, in a random order stratified by domain.

    The k-th of a domain's n items stands at (k - 1/2)/n of the way, so that every beginning of the order is a
    random sample that holds each domain in its share, to within one item or so.
    """
    domains: dict[str, list[tuple[int, str, Row]]] = defaultdict(list)
    for row in rows:
        *_, id, domain = row
        domains[domain].append((derive_seed(seed, purpose, id), id, row))
    return [row for *_, row in heapq.merge(*map(_placed, domains.values()))]


def _placed(drawn: list[tuple[int, str, Row]]) -> Iterator[tuple[float, int, str, Row]]:
    """A domain's rows by what they drew, each with its place between 0 and 1; what it drew breaks ties."""
    drawn.sort()
    for place, (draw, id, row) in enumerate(drawn):
        yield (place + 0.5) / len(drawn), draw, id, row


@dataclass(frozen=True, slots=True)
class Drawn:
    """The items of a bank whose ids were drawn, in the bank's order."""

    items: Iterable[Item]
    ids: frozenset[str]

    def __iter__(self) -> Iterator[Item]:
        return (item for item in self.items if item.id in self.ids)

    def __len__(self) -> int:
        return len(self.ids)


def sample_items(items: Iterable[Item], amount: float | int, seed: int) -> Drawn:
    """A random sample, stratified by domain: a share (0.3) or a number (30) of the items.

    With one seed a smaller sample is part of a larger one. The bank is gone through twice, so that no more
    than its ids are held in memory. Raises BankError for an amount outside the bank.
    """
    again = tuple(items) if isinstance(items, Iterator) else items
    ordered = order_items(((item.id, item.domain) for item in again), seed, purpose="sample")
    return Drawn(again, frozenset(id for id, _ in ordered[: _count(amount, len(ordered))]))


def _count(amount: float | int, total: int) -> int:
    if isinstance(amount, float) and 0 < amount <= 1:
        return max(1, round(amount * total))
    if isinstance(amount, int) and not isinstance(amount, bool) and 1 <= amount <= total:
        return amount
    raise BankError(
        f"a sample of {amount!r} from {total} items: give a share up to 1.0 or a whole number up to {total}"
    )
