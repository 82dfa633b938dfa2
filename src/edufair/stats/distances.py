"""Do two groups of texts lie apart? Permutation tests on the distances of their embeddings."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from itertools import combinations
from typing import Final, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from edufair.stats._arrays import FloatArray, at_least, complete, fraction
from edufair.stats._distance_matrix import Metric, distance_blocks, prepared, row_distances

Statistic = Literal["all-pairs", "paired"]
Relabelling = Literal["free", "within pairs", "reply swapped with baseline"]

TOLERANCE: Final = 1e-12  # a draw this close to what was observed is a tie, and ties are hits
DRAWS_AT_ONCE: Final = 500


@dataclass(frozen=True)
class DistanceTest:
    """What a permutation test on distances found.

    Attributes
    ----------
    observed : float
        The statistic.
    null_mean, null_low, null_high : float
        Mean and central band of the statistic over relabellings.
    p : float
        Two-sided about the permutation mean.
    d_released : float
        Cohen's d as the paper's released code has it, from all cells of the distance matrix; NaN for "paired".
    d_paired : float
        Mean over items of (distance to B - distance to the baseline) by its standard deviation; NaN without a
        baseline or where that is zero.
    statistic : {"all-pairs", "paired"}
    metric : {"cosine", "euclidean"}
    relabelling : str
        "free", "within pairs" or "reply swapped with baseline".
    method : {"enumeration", "random"}
        Whether all relabellings were seen or some drawn.
    draws : int
        Relabellings seen.
    n_a, n_b : int
        Texts in each group.
    level : float
        Share of relabellings inside the band.
    null : numpy.ndarray, (draws,)
        The statistic in every relabelling, for drawing. Not compared by ==.
    """

    observed: float
    null_mean: float
    null_low: float
    null_high: float
    p: float
    d_released: float
    d_paired: float
    statistic: Statistic
    metric: Metric
    relabelling: Relabelling
    method: Literal["enumeration", "random"]
    draws: int
    n_a: int
    n_b: int
    level: float
    null: FloatArray = field(compare=False, repr=False)


class _Null(NamedTuple):
    observed: float
    draws: FloatArray
    enumerated: bool
    relabelling: Relabelling


class _Moments(NamedTuple):
    """Count, sum and sum of squares of some cells of the distance matrix."""

    n: float
    total: float
    squares: float


def permutation_distance(
    a: ArrayLike,
    b: ArrayLike,
    *,
    baseline: ArrayLike | None = None,
    metric: Metric = "cosine",
    statistic: Statistic = "all-pairs",
    resamples: int = 5000,
    plus_one: bool = True,
    within_pairs: bool = True,
    level: float = 0.95,
    rng: np.random.Generator,
) -> DistanceTest:
    """Test whether the embeddings of two groups of texts lie further apart than relabelling explains.

    Parameters
    ----------
    a, b : array_like, (texts, dimensions)
        Row i of both is about the same item, except with free relabelling, where the groups may differ in size.
    baseline : array_like, (texts, dimensions), optional
        A second reply to A's own prompt. "paired" needs it.
    metric : {"cosine", "euclidean"}
        1 - cosine of the angle; length of the difference.
    statistic : {"all-pairs", "paired"}
        "all-pairs" is the mean of all distances from a text of A to a text of B. "paired" is the mean over items
        of d(a_i, b_i) - d(a_i, a'_i), a' the baseline.
    resamples : int
        Relabellings. Where there are no more than this altogether, all are seen.
    plus_one : bool
        p = (hits + 1) / (draws + 1). Without, hits / draws, which can be 0 and is no valid p-value: only to compare
        with tables made that way. Enumeration counts the observed labelling itself and adds nothing.
    within_pairs : bool
        For "all-pairs": swap the labels of an item's two texts, or permute all labels freely.
    level : float
    rng : numpy.random.Generator

    Returns
    -------
    DistanceTest

    Raises
    ------
    ValueError
        If the shapes do not fit, a value is NaN or infinite, a vector is zero under cosine, or "paired" lacks a
        baseline.

    Notes
    -----
    p is the share of relabellings with |T - mean of T over relabellings| at least as large as observed; ties are
    hits.

    *all-pairs, free* is the test of the paper and of its Table 5. It asks whether all labels are exchangeable, and
    they are not when texts come in pairs about one item: matched texts are near each other and always in opposite
    groups, which happens in only half of the relabellings. A model that ignores the label altogether shifts T by
    -(mean distance between items - mean distance within a pair) / (2 n), and the two-sided size is far from the
    nominal one: near 0 where few dimensions carry the variance, up to 1 where many do, as in embeddings. Use it to
    reproduce, not to judge.

    *all-pairs, within pairs* keeps matched texts in opposite groups in every relabelling, and has the right size
    where the two texts of an item are exchangeable. It sees a shift of a whole group in one direction, and under
    the Euclidean metric a group that spreads wider; it does not see replies that move each in its own direction.

    *paired* has the right size where b_i and a'_i are exchangeable given a_i: the label changes no more than asking
    again does. It sees any change of the replies beyond that, in whatever direction. It needs a second reply.

    With s the 0/1 vector of the texts labelled A and D the matrix of distances, all-pairs is s' D (1 - s) / (n_a
    n_b): every relabelling is a row of one matrix product, and D is computed once, a block of rows at a time. Held
    at once: the vectors, one block of D (16 MB), a byte for every text and relabelling.

    d_released = (mean of all cross distances - mean of all entries of both within-group matrices, the zeros of their
    diagonals included) / pooled SD (n - 1). The zeros make it positive for identical groups and its n is cells, not
    texts: reported to compare with the paper.

    References
    ----------
    Phipson and Smyth (2010), doi:10.2202/1544-6115.1585 (the + 1). Good (2005), Permutation, Parametric and Bootstrap
    Tests of Hypotheses, 3 (matched pairs).

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> essays = rng.normal(size=(30, 8))
    >>> a, again, b = (essays + rng.normal(scale=0.2, size=(30, 8)) for _ in range(3))
    >>> permutation_distance(a, b + 0.3, rng=rng).p < 0.001
    True
    >>> permutation_distance(a, b, baseline=again, statistic="paired", rng=rng).p > 0.05
    True
    """
    at_least(resamples, 1, name="resamples")
    fraction(level, name="level")
    if metric not in ("cosine", "euclidean"):
        raise ValueError(f"metric must be cosine or euclidean, got {metric!r}")
    x, y, again = _vectors(a, b, baseline, metric)
    apart = _apart(x, y, again, metric)
    if statistic == "paired":
        if apart is None:
            raise ValueError("statistic='paired' needs baseline, a second reply to A's own prompt for every item")
        null, d_released = _sign_flips(apart, resamples, rng), np.nan
    elif statistic == "all-pairs":
        if within_pairs and len(x) != len(y):
            raise ValueError(
                f"within_pairs=True needs matched rows, a has {len(x)} and b has {len(y)}: pass within_pairs=False"
            )
        null, d_released = _all_pairs(x, y, metric, resamples, within_pairs, rng)
    else:
        raise ValueError(f"statistic must be all-pairs or paired, got {statistic!r}")
    low, high = np.quantile(null.draws, [(1 - level) / 2, (1 + level) / 2])
    return DistanceTest(
        observed=null.observed,
        null_mean=float(null.draws.mean()),
        null_low=float(low),
        null_high=float(high),
        p=_p(null, plus_one),
        d_released=d_released,
        d_paired=np.nan if apart is None else _d_paired(apart),
        statistic=statistic,
        metric=metric,
        relabelling=null.relabelling,
        method="enumeration" if null.enumerated else "random",
        draws=len(null.draws),
        n_a=len(x),
        n_b=len(y),
        level=level,
        null=null.draws,
    )


def _vectors(
    a: ArrayLike, b: ArrayLike, baseline: ArrayLike | None, metric: Metric
) -> tuple[FloatArray, FloatArray, FloatArray | None]:
    x, y = (complete(v, name=name, shape=("texts", "dimensions")) for v, name in ((a, "a"), (b, "b")))
    if x.shape[1] != y.shape[1]:
        raise ValueError(f"a and b must have the same dimensions, got {x.shape[1]} and {y.shape[1]}")
    x, y = prepared(x, metric, name="a"), prepared(y, metric, name="b")
    if baseline is None:
        return x, y, None
    again = complete(baseline, name="baseline", shape=("texts", "dimensions"))
    if again.shape != x.shape or y.shape != x.shape:
        raise ValueError(f"a, b and baseline must match row by row, got {x.shape}, {y.shape} and {again.shape}")
    return x, y, prepared(again, metric, name="baseline")


def _apart(x: FloatArray, y: FloatArray, again: FloatArray | None, metric: Metric) -> FloatArray | None:
    """How much further each item's B lies from A than A's second reply does."""
    return None if again is None else row_distances(x, y, metric) - row_distances(x, again, metric)


def _d_paired(apart: FloatArray) -> float:
    spread = float(apart.std(ddof=1)) if len(apart) > 1 else 0.0
    return float(apart.mean()) / spread if spread > TOLERANCE else np.nan


def _sign_flips(apart: FloatArray, resamples: int, rng: np.random.Generator) -> _Null:
    """Swapping b_i and a'_i turns the sign of item i's difference."""
    flips, enumerated = _swaps(len(apart), resamples, rng)
    draws = [(1 - 2.0 * rows) @ apart / len(apart) for rows in np.array_split(flips, _parts(flips))]
    return _Null(float(apart.mean()), np.concatenate(draws), enumerated, "reply swapped with baseline")


def _all_pairs(
    x: FloatArray, y: FloatArray, metric: Metric, resamples: int, within_pairs: bool, rng: np.random.Generator
) -> tuple[_Null, float]:
    if within_pairs:
        swapped, enumerated = _swaps(len(x), resamples, rng)
        labels = np.concatenate([~swapped, swapped], axis=1)
    else:
        labels, enumerated = _relabellings(len(x), len(y), resamples, rng)
    cross, d_released = _cross_sums(np.concatenate([x, y]), len(x), labels, metric)
    means = cross / (len(x) * len(y))
    relabelling: Relabelling = "within pairs" if within_pairs else "free"
    return _Null(float(means[0]), means[1:], enumerated, relabelling), d_released


def _swaps(pairs: int, resamples: int, rng: np.random.Generator) -> tuple[NDArray[np.bool_], bool]:
    """Which pairs are swapped, (draws, pairs): every pattern where there are few, else random ones."""
    if pairs <= 30 and 2**pairs <= resamples:
        return (np.arange(2**pairs)[:, None] >> np.arange(pairs)) % 2 == 1, True
    return rng.integers(0, 2, size=(resamples, pairs), dtype=np.int8) == 1, False


def _relabellings(n_a: int, n_b: int, resamples: int, rng: np.random.Generator) -> tuple[NDArray[np.bool_], bool]:
    """Which texts are labelled A, (draws, texts)."""
    if math.comb(n_a + n_b, n_a) <= resamples:
        chosen = np.array(list(combinations(range(n_a + n_b), n_a)))
        labels = np.zeros((len(chosen), n_a + n_b), dtype=np.bool_)
        np.put_along_axis(labels, chosen, True, axis=1)
        return labels, True
    return rng.permuted(np.broadcast_to(np.arange(n_a + n_b) < n_a, (resamples, n_a + n_b)), axis=1), False


def _parts(rows: NDArray[np.bool_]) -> int:
    return math.ceil(len(rows) / DRAWS_AT_ONCE)


def _cross_sums(texts: FloatArray, n_a: int, labels: NDArray[np.bool_], metric: Metric) -> tuple[FloatArray, float]:
    """Sum of distances from A to B, first as observed and then for each labelling; and d as released."""
    in_a = np.arange(len(texts)) < n_a
    labels = np.concatenate([in_a[None], labels])
    sums, cross, within = np.zeros(len(labels)), _Moments(0, 0, 0), _Moments(0, 0, 0)
    for rows, block in distance_blocks(texts, metric):
        first = 0
        for part in np.array_split(labels, _parts(labels)):
            chosen = part.astype(np.float64)
            sums[first : first + len(part)] += (chosen[:, rows] * ((1 - chosen) @ block.T)).sum(axis=1)
            first += len(part)
        cross = _add(cross, block[in_a[rows]][:, ~in_a])
        within = _add(within, block[in_a[rows]][:, in_a])
        within = _add(within, block[~in_a[rows]][:, ~in_a])
    return sums, _d_released(cross, within)


def _add(moments: _Moments, cells: FloatArray) -> _Moments:
    return _Moments(
        moments.n + cells.size, moments.total + float(cells.sum()), moments.squares + float((cells**2).sum())
    )


def _d_released(cross: _Moments, within: _Moments) -> float:
    deviations = sum(m.squares - m.total**2 / m.n for m in (cross, within))
    freedom = cross.n + within.n - 2
    spread = math.sqrt(max(0.0, deviations) / freedom) if freedom > 0 else 0.0
    return (cross.total / cross.n - within.total / within.n) / spread if spread > TOLERANCE else np.nan


def _p(null: _Null, plus_one: bool) -> float:
    centre = null.draws.mean()
    hits = int((np.abs(null.draws - centre) >= abs(null.observed - centre) - TOLERANCE).sum())
    extra = 1 if plus_one and not null.enumerated else 0
    return (hits + extra) / (len(null.draws) + extra)
