"""Labels from several raters, turned into counts by unit and category: all that agreement needs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from edufair.stats._arrays import FloatArray, IntArray

Level = Literal["nominal", "ordinal", "interval"]
MISSING = -1


class Codes(NamedTuple):
    """Labels as positions in the list of categories."""

    codes: IntArray  # (raters, units); -1 where a label is missing
    categories: tuple[object, ...]  # in their order
    scores: FloatArray  # (categories,): the categories as numbers; their positions where they are words


def read_labels(
    labels: ArrayLike | Sequence[Sequence[object]],
    *,
    level: Level,
    domain: Sequence[object] | None,
    name: str = "labels",
) -> Codes:
    """Labels as codes. Categories are the domain, or else what occurs, sorted; None and NaN are missing."""
    if level not in ("nominal", "ordinal", "interval"):
        raise ValueError(f"level must be nominal, ordinal or interval, got {level!r}")
    table = _table(labels, name)
    missing = np.array([[_is_missing(label) for label in row] for row in table], dtype=bool)
    missing = missing.reshape(table.shape)
    seen = set(table[~missing].tolist())
    categories = _categories(seen, level, domain, name)
    place = {category: position for position, category in enumerate(categories)}
    codes = np.full(table.shape, MISSING, dtype=np.int64)
    codes[~missing] = [place[label] for label in table[~missing].tolist()]
    return Codes(codes, categories, _scores(categories, level))


def counts_by_unit(codes: IntArray, categories: int) -> IntArray:
    """How many raters put each unit into each category: (units, categories)."""
    units = codes.shape[1]
    rows = np.broadcast_to(np.arange(units), codes.shape)
    present = codes != MISSING
    flat = rows[present] * categories + codes[present]
    counts: IntArray = np.bincount(flat, minlength=units * categories).reshape(units, categories)
    return counts


def cluster_places(cluster: Sequence[object] | None, units: int) -> IntArray | None:
    """The cluster of each unit as a number from 0; None where no clusters are given."""
    if cluster is None:
        return None
    if len(cluster) != units:
        raise ValueError(f"cluster must name a cluster for each of the {units} units, got {len(cluster)}")
    numbers: dict[object, int] = {}
    return np.array([numbers.setdefault(name, len(numbers)) for name in cluster], dtype=np.int64)


def _table(labels: ArrayLike | Sequence[Sequence[object]], name: str) -> NDArray[np.object_]:
    try:
        table = np.array(labels, dtype=object)
    except ValueError:
        table = np.empty(0, dtype=object)
    if table.ndim != 2 or table.shape[0] == 0 or table.shape[1] == 0:
        raise ValueError(
            f"{name} must be raters x units, with as many units for every rater and None where a label is missing"
        )
    return table


def _is_missing(label: object) -> bool:
    return label is None or (isinstance(label, (float, np.floating)) and bool(np.isnan(label)))


def _categories(seen: set[object], level: Level, domain: Sequence[object] | None, name: str) -> tuple[object, ...]:
    words = any(not _is_number(category) for category in seen)
    if level == "interval" and words:
        raise ValueError(f"level='interval' needs numbers, {name} holds words: use 'ordinal' with a domain")
    if domain is None:
        if level == "ordinal" and words:
            raise ValueError(f"{name} holds words: give domain, the categories in their order, for level='ordinal'")
        return tuple(sorted(seen, key=lambda category: (not _is_number(category), _sort_key(category))))
    strange = sorted(map(repr, seen - set(domain)))
    if strange:
        raise ValueError(f"{name} holds {', '.join(strange)}, which the domain lacks")
    if len(set(domain)) != len(domain):
        raise ValueError("domain names a category twice")
    if level == "interval" and not all(_is_number(category) for category in domain):
        raise ValueError("level='interval' needs a domain of numbers")
    return tuple(domain)


def _is_number(category: object) -> bool:
    return isinstance(category, (bool, int, float, np.number, np.bool_))


def _sort_key(category: object) -> float | str:
    return float(category) if _is_number(category) else str(category)  # type: ignore[arg-type]


def _scores(categories: tuple[object, ...], level: Level) -> FloatArray:
    if level == "interval":
        return np.array([float(category) for category in categories])  # type: ignore[arg-type]
    return np.arange(len(categories), dtype=np.float64)
