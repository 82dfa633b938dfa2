"""Banks: named sets of items, from the sources the papers use and from the user's own files."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path
from typing import get_args

from edufair.design.banks.bank import Bank, Filters, FilterStep
from edufair.design.banks.draw import order_items, sample_items
from edufair.design.banks.mathdial import build_mathdial
from edufair.design.banks.sample import SAMPLE, build_sample
from edufair.design.banks.sciq import build_sciq
from edufair.design.banks.socrateach import build_socrateach
from edufair.design.banks.summary import BankSummary, summarise
from edufair.design.banks.table import Columns, TableItems, build_table, write_bank
from edufair.errors import BankError
from edufair.records import Item

__all__ = [
    "SOURCES",
    "Bank",
    "BankSummary",
    "Columns",
    "FilterStep",
    "Filters",
    "build",
    "order_items",
    "read_bank",
    "sample_items",
    "summarise",
    "write_bank",
]

SOURCES: Mapping[str, Callable[..., Bank]] = {
    "sample": build_sample,
    "socrateach": build_socrateach,
    "sciq": build_sciq,
    "mathdial": build_mathdial,
    "table": build_table,
}


def build(
    source: str,
    path: Path | None = None,
    *,
    filters: Filters | None = None,
    columns: Columns | None = None,
    domain: str | None = None,
    grade: int | None = None,
    error_types: Collection[str] | None = None,
    correct_types: Collection[str] | None = None,
    confidence: float | None = None,
    per_domain: int | None = None,
    seed: int | None = None,
) -> Bank:
    """A bank from one of the SOURCES, `path` being the user's copy (the sample bank needs none).

    Options left at None take the source's own default; its `build_...` function describes them. Raises
    BankError for an unknown source, an option the source does not have, a file that cannot be used, or bad
    rows in it.
    """
    if source not in SOURCES:
        raise BankError(f"there is no source {source!r}; the sources are {', '.join(SOURCES)}")
    if filters not in (None, *get_args(Filters)):
        raise BankError(f"there are no filters {filters!r}; give one of {', '.join(get_args(Filters))}")
    options = {
        "path": path,
        "filters": filters,
        "columns": columns,
        "domain": domain,
        "grade": grade,
        "error_types": error_types,
        "correct_types": correct_types,
        "confidence": confidence,
        "per_domain": per_domain,
        "seed": seed,
    }
    given = {name: value for name, value in options.items() if value is not None}
    taken = inspect.signature(SOURCES[source]).parameters
    if unknown := sorted(given.keys() - taken.keys()):
        raise BankError(f"the source {source} takes no {', '.join(unknown)}; it takes: {', '.join(taken) or 'nothing'}")
    if "path" in taken and path is None:
        raise BankError(f"the source {source} needs the path of your copy of its file")
    return SOURCES[source](**given)


def read_bank(
    reference: str,
    *,
    base: Path,
    columns: Columns | None = None,
    domain: str | None = None,
    grade: int | None = None,
) -> Iterable[Item]:
    """The items an audit names: ``sample``, or a file of questions and answers by its path from `base`.

    The file is read row by row each time the items are gone through; then BankError is raised for bad rows.
    `domain` and `grade` fill the cells a file leaves empty. Raises BankError where there is no such file.
    """
    if reference == "sample":
        return TableItems(SAMPLE)
    path = base / reference
    if not path.is_file():
        named = f"; build it first: edufair bank build {reference} PATH -o bank.jsonl" if reference in SOURCES else ""
        raise BankError(f"{path}: there is no such bank{named}. Give the path of a file, or 'sample'")
    return TableItems(path, columns or Columns(), domain, grade)
