"""The one definition of signed ranks: from counts of pairs at each distinct size of difference.

Everything that ranks |d| here goes through counts, because paired rates take few distinct values: a resample
or a relabelling is then a short row of counts, and thousands of them are ranked at once.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from edufair.stats._arrays import FloatArray, IntArray, settle


class Tally(NamedTuple):
    """Pairs counted by sign and size. Leading axes of the three arrays, if any, are resamples."""

    plus: IntArray  # (..., sizes): pairs with d = +size, for the distinct nonzero |d| in ascending order
    minus: IntArray  # (..., sizes): pairs with d = -size
    zero: IntArray  # (...): pairs without a difference


def tally(d: FloatArray) -> Tally:
    """Count complete differences by sign and distinct size, after rounding."""
    settled = settle(d)
    moved = settled[settled != 0]
    sizes, place = np.unique(np.abs(moved), return_inverse=True)
    plus = np.bincount(place[moved > 0], minlength=len(sizes))
    minus = np.bincount(place[moved < 0], minlength=len(sizes))
    return Tally(plus, minus, np.asarray(len(d) - len(moved)))


def doubled_ranks(counts: Tally) -> IntArray:
    """Twice the average rank of each size, an integer; zeros take the first ranks (Pratt)."""
    size = counts.plus + counts.minus
    before = np.cumsum(size, axis=-1) - size + counts.zero[..., None]
    ranks: IntArray = 2 * before + size + 1
    return ranks


def rank_biserial(counts: Tally) -> FloatArray:
    """(W+ - W-) / (W+ + W-) over the last axis; 0 where nothing differs."""
    ranks = doubled_ranks(counts)
    gap = np.asarray((ranks * (counts.plus - counts.minus)).sum(axis=-1), dtype=np.float64)
    total = (ranks * (counts.plus + counts.minus)).sum(axis=-1)
    r: FloatArray = np.divide(gap, total, out=np.zeros_like(gap), where=total > 0)
    return r
