"""What mean |r| is when nothing differs: its null distribution from permuting levels within items."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from edufair.stats._arrays import FloatArray, IntArray, at_least, blocks, fraction, settle, shaped
from edufair.stats._ranks import Tally, rank_biserial

TOLERANCE: Final = 1e-12  # a draw this close to what was observed is a tie, and ties are hits


@dataclass(frozen=True)
class MeanAbsR:
    """Mean |r| beside what noise alone gives.

    Attributes
    ----------
    observed : float
        Mean |r|; NaN where no contrast had enough pairs (then the null and p are NaN too).
    null_mean, null_low, null_high : float
        Mean and central band of mean |r| over relabellings: what an even-handed tutor would show.
    p : float
        Share of relabellings with a mean |r| at least as large, (hits + 1) / (draws + 1).
    level : float
        Share of relabellings inside the band.
    draws : int
        Relabellings drawn.
    n_contrasts : int
        Contrasts (pairs of levels, for each metric) in the observed mean.
    n_left_out : int
        Contrasts left out for having fewer than `min_pairs` complete pairs.
    min_pairs : int
    """

    observed: float
    null_mean: float
    null_low: float
    null_high: float
    p: float
    level: float
    draws: int
    n_contrasts: int
    n_left_out: int
    min_pairs: int


def mean_abs_r_null(
    x: ArrayLike,
    *,
    draws: int = 1000,
    level: float = 0.95,
    min_pairs: int = 15,
    rng: np.random.Generator,
) -> MeanAbsR:
    """Mean |r| of one dimension over its contrasts and metrics, with its null distribution.

    `mean_abs_r` for a single dimension; see there.

    Parameters
    ----------
    x : array_like, (items, levels, metrics)
        Scores; NaN where missing.
    draws, level, min_pairs, rng
        As in `mean_abs_r`.

    Returns
    -------
    MeanAbsR

    Raises
    ------
    ValueError
        As in `mean_abs_r`.

    Examples
    --------
    >>> rng = np.random.default_rng(2)
    >>> found = mean_abs_r_null(rng.normal(size=(30, 2, 5)), rng=rng)
    >>> found.observed < found.null_high, found.null_mean > 0.1, found.n_contrasts
    (True, True, 5)
    """
    return mean_abs_r([x], draws=draws, level=level, min_pairs=min_pairs, rng=rng)


def mean_abs_r(
    groups: Sequence[ArrayLike],
    *,
    draws: int = 1000,
    level: float = 0.95,
    min_pairs: int = 15,
    rng: np.random.Generator,
) -> MeanAbsR:
    """Mean |r| over several dimensions and metrics, with its null distribution.

    Parameters
    ----------
    groups : sequence of array_like, each (items, levels, metrics)
        One array a dimension, each with its own items, levels and metrics. NaN where a score is missing, also
        for a whole metric. To average one metric over dimensions, hand over arrays with that metric alone.
    draws : int
        Random relabellings.
    level : float
        Share of them that the band holds.
    min_pairs : int
        Contrasts with fewer complete pairs leave the mean, in the data and in every relabelling.
    rng : numpy.random.Generator

    Returns
    -------
    MeanAbsR

    Raises
    ------
    ValueError
        If there is no group, or one is not items x levels x metrics with at least one item and two levels, or
        holds an infinite value.

    Notes
    -----
    r is the matched-pairs rank-biserial with Pratt ranks (`signed_rank`) over the pairs complete on that
    metric. |r| is averaged over the pairwise contrasts of a dimension first, for each metric, and those means
    over dimensions and metrics: three levels weigh no more than two.

    |r| is never negative, so its mean is above zero by noise alone, about 0.92 / sqrt(pairs) for untied
    differences: 0.10 and more below 85 pairs. Hence the null: were the levels exchangeable within an item,
    the item's scores could have been handed to the levels in any order. A relabelling permutes each item's
    levels at random (two levels: a coin flip of the sign), the same way for all metrics, which keeps the
    metrics' dependence; dimensions are relabelled independently. Missing scores move with their level. A
    relabelling in which no contrast is left counts as a hit and has no place in the band.

    The relabellings are always drawn, never enumerated: with 15 pairs there are 32,768 already.

    There is no bootstrap interval for mean |r|, because resampling items adds the same upward noise a second
    time.

    References
    ----------
    Phipson and Smyth (2010), doi:10.2202/1544-6115.1585 (the + 1). Pesarin and Salmaso (2010), Permutation
    Tests for Complex Data, 4 (several dependent variables).

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> gender, status = rng.normal(size=(40, 2, 3)), rng.normal(size=(40, 3, 3))
    >>> gender[:, 0] += 1
    >>> found = mean_abs_r([gender, status], rng=rng)
    >>> found.n_contrasts, found.observed > found.null_high
    (12, True)
    """
    at_least(draws, 1, name="draws")
    at_least(min_pairs, 1, name="min_pairs")
    fraction(level, name="level")
    if len(groups) == 0:
        raise ValueError("groups is empty: at least one array of items x levels x metrics is needed")
    dimensions = [_dimension(x) for x in groups]
    seen = [_abs_r(dimension, _unpermuted(dimension), min_pairs)[0] for dimension in dimensions]
    observed = float(_mean_present(np.concatenate([_mean_present(r, axis=0) for r in seen]), axis=0))
    used = sum(int(np.isfinite(r).sum()) for r in seen)
    left_out = sum(r.size for r in seen) - used
    if used == 0:
        return MeanAbsR(np.nan, np.nan, np.nan, np.nan, np.nan, level, draws, 0, left_out, min_pairs)
    cells = [_null_cells(dimension, draws, min_pairs, rng) for dimension in dimensions]
    null = _mean_present(np.concatenate(cells, axis=1), axis=1)
    hits = int((~(null < observed - TOLERANCE)).sum())
    low, high = _band(null, level)
    return MeanAbsR(
        observed=observed,
        null_mean=float(_mean_present(null, axis=0)),
        null_low=low,
        null_high=high,
        p=(hits + 1) / (draws + 1),
        level=level,
        draws=draws,
        n_contrasts=used,
        n_left_out=left_out,
        min_pairs=min_pairs,
    )


class _Metric(NamedTuple):
    """One metric's differences between any two levels of an item, as codes for counting.

    0..sizes-1: positive, by size; sizes..2 sizes - 1: negative, by size; 2 sizes: none; 2 sizes + 1: missing.
    """

    codes: IntArray  # (items * levels * levels,): first level minus second
    sizes: int


class _Dimension(NamedTuple):
    items: int
    levels: int
    metrics: tuple[_Metric, ...]


def _dimension(x: ArrayLike) -> _Dimension:
    values = shaped(x, name="x", shape=("items", "levels", "metrics"))
    at_least(values.shape[1], 2, name="the number of levels in x")
    at_least(values.shape[2], 1, name="the number of metrics in x")
    if np.isinf(values).any():
        raise ValueError("x holds an infinite value: a missing score is NaN")
    metrics = tuple(_metric(values[:, :, metric]) for metric in range(values.shape[2]))
    return _Dimension(values.shape[0], values.shape[1], metrics)


def _metric(values: FloatArray) -> _Metric:
    d = settle(values[:, :, None] - values[:, None, :]).ravel()
    distinct = np.unique(np.abs(d[np.isfinite(d) & (d != 0)]))
    sizes = len(distinct)
    place = np.searchsorted(distinct, np.abs(d))
    codes = np.where(d > 0, place, place + sizes)
    codes[d == 0] = 2 * sizes
    codes[np.isnan(d)] = 2 * sizes + 1
    return _Metric(codes, sizes)


def _unpermuted(dimension: _Dimension) -> IntArray:
    return np.broadcast_to(np.arange(dimension.levels), (1, dimension.items, dimension.levels))


def _relabellings(dimension: _Dimension, draws: int, rng: np.random.Generator) -> Iterator[IntArray]:
    """Random orders of the levels within each item, in blocks of (draws, items, levels)."""
    widest = max(2 * metric.sizes + 2 for metric in dimension.metrics)
    levels = np.arange(dimension.levels)
    for size in blocks(draws, max(widest, dimension.items * dimension.levels)):
        yield rng.permuted(np.broadcast_to(levels, (size, dimension.items, dimension.levels)), axis=-1)


def _null_cells(dimension: _Dimension, draws: int, min_pairs: int, rng: np.random.Generator) -> FloatArray:
    """|r| averaged over contrasts, (draws, metrics), under random relabelling."""
    parts = [
        _mean_present(_abs_r(dimension, orders, min_pairs), axis=1) for orders in _relabellings(dimension, draws, rng)
    ]
    return np.concatenate(parts)


def _abs_r(dimension: _Dimension, orders: IntArray, min_pairs: int) -> FloatArray:
    """|r| by relabelling, contrast and metric; NaN where a contrast has fewer than `min_pairs` pairs."""
    start = np.arange(dimension.items) * dimension.levels**2
    contrasts = list(combinations(range(dimension.levels), 2))
    r = np.empty((len(orders), len(contrasts), len(dimension.metrics)))
    for i, (first, second) in enumerate(contrasts):
        cell = start + orders[:, :, first] * dimension.levels + orders[:, :, second]
        for j, metric in enumerate(dimension.metrics):
            r[:, i, j] = _abs_r_of_codes(metric.codes[cell], metric.sizes, min_pairs)
    return r


def _abs_r_of_codes(codes: IntArray, sizes: int, min_pairs: int) -> FloatArray:
    """|r| for each row of codes, by counting how often each occurs."""
    kinds = 2 * sizes + 2
    rows = np.arange(len(codes))[:, None] * kinds
    counts = np.bincount((codes + rows).ravel(), minlength=len(codes) * kinds).reshape(-1, kinds)
    tally = Tally(counts[:, :sizes], counts[:, sizes : 2 * sizes], counts[:, 2 * sizes])
    pairs = counts[:, :-1].sum(axis=1)
    return np.where(pairs >= min_pairs, np.abs(rank_biserial(tally)), np.nan)


def _mean_present(values: FloatArray, *, axis: int) -> FloatArray:
    """The mean of what is not NaN; NaN where nothing is."""
    present = np.isfinite(values)
    count = np.asarray(present.sum(axis=axis), dtype=np.float64)
    total = np.where(present, values, 0.0).sum(axis=axis)
    mean: FloatArray = np.divide(total, count, out=np.full_like(count, np.nan), where=count > 0)
    return mean


def _band(null: FloatArray, level: float) -> tuple[float, float]:
    present = null[np.isfinite(null)]
    if len(present) == 0:
        return np.nan, np.nan
    low, high = np.quantile(present, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)
