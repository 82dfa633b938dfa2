"""Which items an audit asks: `[items]` of audit.toml applied to its bank."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from edufair.config import Items
from edufair.design.banks import read_bank
from edufair.design.banks.draw import sample_items
from edufair.design.banks.table import Columns
from edufair.errors import BankError
from edufair.hashing import derive_seed
from edufair.records import Item


@dataclass(frozen=True, slots=True)
class InDomains:
    """The items of some domains, read anew each time. Raises BankError when one of the domains has none."""

    items: Iterable[Item]
    domains: frozenset[str]

    def __iter__(self) -> Iterator[Item]:
        seen: set[str] = set()
        for item in self.items:
            seen.add(item.domain)
            if item.domain in self.domains:
                yield item
        if absent := self.domains - seen:
            there = ", ".join(sorted(seen)) or "none"
            raise BankError(f"items.domains names {', '.join(sorted(absent))}; the bank has: {there}")


def choose(items: Items, seed: int) -> Iterable[Item]:
    """The questions of a bank: those of the chosen domains, then a seeded share or number of them.

    Raises BankError for a bank that cannot be used.
    """
    columns = Columns.parse(f"{part}={column}" for part, column in items.columns.items())
    bank = read_bank(items.bank, base=Path(), columns=columns, domain=items.domain, grade=items.grade)
    return narrow(bank, items, seed)


def narrow(bank: Iterable[Item], items: Items, seed: int) -> Iterable[Item]:
    """The items of the chosen domains, then a seeded share or number of them, stratified by domain.

    A `limit` above what there is takes all.
    """
    chosen: Iterable[Item] = bank
    if items.domains is not None:
        chosen = InDomains(chosen, frozenset(items.domains))
    draw = derive_seed(seed, "items")
    if items.sample is not None:
        chosen = sample_items(chosen, items.sample, draw)
    if items.limit is not None:
        there = sum(1 for _ in chosen)
        chosen = sample_items(chosen, min(items.limit, there), draw) if there else chosen
    return chosen
