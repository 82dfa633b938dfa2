"""Reading arrays: what is refused, and when two numbers count as equal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

DECIMALS: Final = 12  # means over turns and repetitions are thirds: equal up to here is equal
TINY: Final = 1e-9  # a difference smaller than this is none
CELLS: Final = 2_000_000  # the largest table held at once while resampling


def complete(x: ArrayLike, *, name: str, shape: tuple[str, ...]) -> FloatArray:
    """x as floats with one axis for each word of `shape`; ValueError names the first that is no number."""
    values = shaped(x, name=name, shape=shape)
    if not np.isfinite(values).all():
        where = tuple(int(i) for i in np.argwhere(~np.isfinite(values))[0])
        place = ", ".join(f"{_one_of(axis)} {i}" for axis, i in zip(shape, where, strict=True))
        raise ValueError(f"{name} holds {values[where]} at {place}: leave incomplete {shape[0]} out before calling")
    return values


def _one_of(axis: str) -> str:
    return axis.removesuffix("es" if axis.endswith("sses") else "s")


def shaped(x: ArrayLike, *, name: str, shape: tuple[str, ...]) -> FloatArray:
    """x as floats with one axis for each word of `shape`, NaN allowed; or ValueError, also for no rows."""
    values = np.asarray(x, dtype=np.float64)
    if values.ndim != len(shape):
        raise ValueError(f"{name} must be {' x '.join(shape)}, got an array of shape {values.shape}")
    if len(values) == 0:
        raise ValueError(f"{name} is empty: at least one of its {shape[0]} is needed")
    return values


def settle(differences: FloatArray) -> FloatArray:
    """Differences rounded to 12 decimals, those below 1e-9 made exactly zero; NaN stays NaN."""
    return np.where(np.abs(differences) < TINY, 0.0, np.round(differences, DECIMALS))


def fraction(value: float, *, name: str) -> float:
    """A number strictly between 0 and 1, or ValueError."""
    if not 0 < value < 1:
        raise ValueError(f"{name} must lie between 0 and 1, got {value}")
    return float(value)


def at_least(value: int, least: int, *, name: str) -> int:
    """A count no smaller than `least`, or ValueError."""
    if value < least:
        raise ValueError(f"{name} must be at least {least}, got {value}")
    return int(value)


def blocks(total: int, width: int) -> Iterator[int]:
    """How many of `total` rows, each `width` wide, to hold at a time."""
    step = max(1, CELLS // max(1, width))
    for start in range(0, total, step):
        yield min(step, total - start)
