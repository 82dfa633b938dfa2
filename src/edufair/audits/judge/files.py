"""Ratings from a file, whoever collected them: one row a rating of one reply."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from edufair.design.banks.reading import Faults, read_rows
from edufair.errors import BankError

if TYPE_CHECKING:
    import polars as pl


def read_ratings(path: Path, *, beside: Path | None = None, item: str = "item") -> pl.DataFrame:
    """The table in `path` (CSV, TSV, JSONL, JSON, parquet), every cell a text and an empty one null.

    `beside` is a second table with one row an item (its cluster, stratum, evidence), joined by the column `item`.
    Raises BankError, naming file and row, for what cannot be read, and for items that are missing from `beside`.
    """
    ratings = _table(path)
    if beside is None:
        return ratings
    items = _table(beside)
    for name, table in ((path, ratings), (beside, items)):
        if item not in table.columns:
            raise BankError(f"{name}: there is no column {item!r} to join by; it has {', '.join(table.columns)}")
    if twice := items.filter(items[item].is_duplicated())[item].to_list():
        raise BankError(f"{beside}: the item {twice[0]!r} has two rows; it must have one")
    if absent := sorted({str(name) for name in ratings[item]} - {str(name) for name in items[item]}):
        raise BankError(f"{beside}: has no row for {len(absent)} rated items, among them {absent[0]!r}")
    new = [name for name in items.columns if name == item or name not in ratings.columns]
    return ratings.join(items.select(new), on=item, how="left")


SUBSET = "in the subset"


def mark_subset(ratings: pl.DataFrame, conditions: Sequence[str]) -> pl.DataFrame:
    """The table with a column SUBSET that is "yes" where every condition, written COLUMN=VALUE, holds.

    Raises BankError for a condition that is written otherwise or names no column.
    """
    import polars as pl

    holds = pl.lit(True)
    for condition in conditions:
        column, equals, value = condition.partition("=")
        if not equals or column not in ratings.columns:
            raise BankError(f"{condition!r}: write COLUMN=VALUE with one of the columns {', '.join(ratings.columns)}")
        holds = holds & (pl.col(column) == value).fill_null(False)
    return ratings.with_columns(pl.when(holds).then(pl.lit("yes")).otherwise(pl.lit("no")).alias(SUBSET))


def _table(path: Path) -> pl.DataFrame:
    import polars as pl

    faults = Faults(path)
    rows = [row.values for row in read_rows(path, faults)]
    faults.raise_any()
    if not rows:
        raise BankError(f"{path}: holds no rows")
    columns = list(dict.fromkeys(name for row in rows for name in row))
    texts = {name: [_text(row.get(name)) for row in rows] for name in columns}
    return pl.DataFrame(texts, schema=dict.fromkeys(columns, pl.String))


def _text(value: object) -> str | None:
    return None if value is None or value == "" else str(value)
