"""A long table of ratings as an array: items x arms x poles x repetitions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from edufair.stats._arrays import TINY, FloatArray, IntArray, shaped

Names = Sequence[object] | NDArray[np.generic]


class Cells(NamedTuple):
    """Ratings of the items that have every cell of the two arms compared."""

    ratings: FloatArray  # (items, arms, poles, repetitions), NaN where there is no rating; the arms compared first
    items: tuple[object, ...]
    clusters: NDArray[np.generic]  # (items,)
    n_missing: int  # rows without a value
    n_incomplete: int  # items left out


def rating_cells(
    value: ArrayLike,
    item: Names,
    cluster: Names,
    arm: Names,
    pole: Names | None,
    *,
    arms: tuple[object, object],
    poles: tuple[object, ...],
    low: float,
    high: float,
    repetition: Names | None,
) -> Cells:
    """Read and check a long table. Arms beyond the two compared are kept behind them."""
    values = shaped(value, name="value", shape=("rows",))
    present = np.isfinite(values)
    _within(values, low, high)
    columns = {"item": item, "cluster": cluster, "arm": arm}
    columns |= {} if pole is None else {"pole": pole}
    columns |= {} if repetition is None else {"repetition": repetition}
    table = {name: _column(names, name, len(values)) for name, names in columns.items()}
    every_arm = _listed(table["arm"], arms, name="arm", closed=False)
    every_pole = poles if pole is None else _listed(table["pole"], poles, name="pole", closed=True)
    items = sorted(set(table["item"]), key=str)
    places = (
        _places(table["item"], items),
        _places(table["arm"], every_arm),
        np.zeros(len(values), dtype=np.int64) if pole is None else _places(table["pole"], every_pole),
    )
    if repetition is not None:
        _once(table, places)
    ratings = _fill(values, present, places, (len(items), len(every_arm), len(every_pole)))
    complete = np.logical_and.reduce(np.isfinite(means(ratings[:, :2])).reshape(len(items), -1), axis=1)
    if not complete.any():
        raise ValueError(f"no item has a rating in every cell of {arms[0]!r} and {arms[1]!r}: nothing to compare")
    clusters = _clusters(table, places[0], len(items))
    kept = [name for name, whole in zip(items, complete, strict=True) if whole]
    return Cells(ratings[complete], tuple(kept), clusters[complete], int((~present).sum()), int((~complete).sum()))


def means(ratings: FloatArray) -> FloatArray:
    """Means over repetitions, NaN where a cell has none."""
    count = np.isfinite(ratings).sum(axis=-1).astype(np.float64)
    total = np.nansum(ratings, axis=-1)
    out: FloatArray = np.divide(total, count, out=np.full_like(total, np.nan), where=count > 0)
    return out


def at_bound(ratings: FloatArray, bound: float) -> NDArray[np.bool_]:
    """Whether every rating of a cell stands at the bound; False for a cell without ratings."""
    given, near = np.isfinite(ratings), np.abs(ratings - bound) < TINY
    there: NDArray[np.bool_] = np.logical_and.reduce(~given | near, axis=-1) & np.logical_or.reduce(given, axis=-1)
    return there


def _within(values: FloatArray, low: float, high: float) -> None:
    if not low < high:
        raise ValueError(f"low must lie below high, got {low} and {high}")
    outside = np.flatnonzero((values < low - TINY) | (values > high + TINY) | np.isinf(values))
    if len(outside):
        row = int(outside[0])
        raise ValueError(f"value must lie between {low} and {high}, got {values[row]} at row {row}")


def _column(names: Names, name: str, rows: int) -> list[object]:
    column: list[object] = names.tolist() if isinstance(names, np.ndarray) else list(names)
    if len(column) != rows:
        raise ValueError(f"{name} must have an entry for each of the {rows} rows, got {len(column)}")
    return column


def _listed(column: list[object], wanted: tuple[object, ...], *, name: str, closed: bool) -> tuple[object, ...]:
    """The wanted names and then the others that occur; ValueError where one is absent or, if closed, unknown."""
    seen = set(column)
    absent = [each for each in wanted if each not in seen]
    others = sorted(seen - set(wanted), key=str)
    found = ", ".join(sorted(map(repr, seen)))
    if absent or len(set(wanted)) < len(wanted):
        raise ValueError(f"{name}s must name {len(wanted)} different {name}s that occur; {name} holds {found}")
    if closed and others:
        raise ValueError(f"{name} holds {', '.join(map(repr, others))} beside {', '.join(map(repr, wanted))}")
    return (*wanted, *others)


def _places(column: list[object], names: Sequence[object]) -> IntArray:
    place = {name: position for position, name in enumerate(names)}
    return np.array([place[each] for each in column], dtype=np.int64)


def _once(table: dict[str, list[object]], places: tuple[IntArray, ...]) -> None:
    seen: dict[tuple[object, ...], int] = {}
    for row, key in enumerate(zip(*(p.tolist() for p in places), table["repetition"], strict=True)):
        if key in seen:
            raise ValueError(f"rows {seen[key]} and {row} hold the same item, arm, pole and repetition")
        seen[key] = row


def _fill(
    values: FloatArray, present: NDArray[np.bool_], places: tuple[IntArray, ...], shape: tuple[int, int, int]
) -> FloatArray:
    """Ratings side by side within their cell, in the order of the rows."""
    cell = np.ravel_multi_index(tuple(p[present] for p in places), shape)
    order = np.argsort(cell, kind="stable")
    sorted_cells = cell[order]
    first = np.searchsorted(sorted_cells, sorted_cells)
    slot = np.arange(len(cell)) - first
    ratings = np.full((int(np.prod(shape)), int(slot.max(initial=0)) + 1), np.nan)
    ratings[sorted_cells, slot] = values[present][order]
    return ratings.reshape(*shape, -1)


def _clusters(table: dict[str, list[object]], item: IntArray, items: int) -> NDArray[np.generic]:
    """The cluster of each item; ValueError where one has two."""
    own: list[object] = [None] * items
    seen = [False] * items
    for place, name, cluster in zip(item.tolist(), table["item"], table["cluster"], strict=True):
        if seen[place] and own[place] != cluster:
            raise ValueError(f"item {name!r} is in two clusters, {own[place]!r} and {cluster!r}")
        own[place], seen[place] = cluster, True
    return np.asarray(own)
