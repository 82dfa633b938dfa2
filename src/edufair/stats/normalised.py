"""How far classes lie apart: Z, MAB and MDB within a subgroup, what noise makes of them, and the raw spread."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations, product
from typing import Final, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq
from scipy.special import fdtr, ncfdtr

from edufair.stats._arrays import TINY, FloatArray, at_least, blocks, complete, fraction, settle
from edufair.stats.bootstrap import Interval

ALL_EQUAL: Final = "all classes equal"
TOLERANCE: Final = 1e-12  # a draw this close to what was observed is a tie, and ties are hits
CLEAR: Final = 1e7  # an F beyond which noise no longer shows in the interval of the spread


@dataclass(frozen=True)
class Noise:
    """What a statistic is when the classes make no difference: mean and central band over relabellings."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True)
class NormalisedBias:
    """Normalised scores of the classes of one subgroup, beside their raw spread.

    Attributes
    ----------
    means : tuple of float
        Each class's mean over items, in natural units.
    z : tuple of Interval
        Each class's mean, standardised within the subgroup.
    mab, mdb : Interval
        Mean of |Z|, and largest minus smallest Z. `resamples` counts those in which the classes were not all equal.
    mab_noise, mdb_noise : Noise
        The same from shuffling the classes' labels within each item.
    spread : Interval
        Standard deviation of the class means over the classes (divisor: number of classes), in natural units.
    spread_noise : Noise
    spread_beyond_noise : float
        The spread after the part that noise adds is taken out; 0 where noise explains all of it.
    p : float
        Share of shufflings with a spread at least as large.
    undefined : str or None
        "all classes equal" where the spread is zero: Z, MAB and MDB are then missing.
    n, k : int
        Items and classes.
    level : float
    method : {"enumeration", "random"}
        Whether all shufflings were seen or some drawn.
    draws : int
    """

    means: tuple[float, ...]
    z: tuple[Interval, ...]
    mab: Interval
    mdb: Interval
    mab_noise: Noise
    mdb_noise: Noise
    spread: Interval
    spread_noise: Noise
    spread_beyond_noise: float
    p: float
    undefined: str | None
    n: int
    k: int
    level: float
    method: Literal["enumeration", "random"]
    draws: int


@dataclass(frozen=True)
class BiasBySubgroup:
    """Normalised bias of several subgroups over the same items, and its average.

    Attributes
    ----------
    subgroups : dict of str to NormalisedBias
        In the order in which the subgroups first occur.
    mab, mdb : Interval
        Means over the subgroups in which they are defined, with intervals from resampling the items of all subgroups
        together.
    mab_noise, mdb_noise : float
        What noise alone gives for these means.
    n_undefined : int
        Subgroups with all classes equal, which are not in the means.
    """

    subgroups: dict[str, NormalisedBias]
    mab: Interval
    mdb: Interval
    mab_noise: float
    mdb_noise: float
    n_undefined: int


class _Scores(NamedTuple):
    """Statistics of class means, one row a table; NaN where all classes are equal."""

    z: FloatArray  # (tables, classes)
    mab: FloatArray
    mdb: FloatArray
    spread: FloatArray


def normalised_bias(
    f: ArrayLike, *, resamples: int = 1000, level: float = 0.95, rng: np.random.Generator
) -> NormalisedBias:
    """Standardised differences between the classes of one subgroup, what noise gives, and the raw spread.

    Parameters
    ----------
    f : array_like, (items, classes)
        A score for every item and class, such as the level chosen or the grade level of the explanation. Complete
        items only; orderings and repetitions averaged first.
    resamples : int
        Bootstrap resamples of items, and shufflings of labels. Where there are no more shufflings than this, all are
        seen.
    level : float
    rng : numpy.random.Generator

    Returns
    -------
    NormalisedBias

    Raises
    ------
    ValueError
        If f is not items x classes with two classes at least, or a score is NaN or infinite.

    Notes
    -----
    With F_s the mean of class s over items, over the K classes of the subgroup:

        Z_s = (F_s - mean F) / sd F,    MAB = mean |Z_s|,    MDB = max Z_s - min Z_s,    spread = sd F,

    sd with divisor K. The mean square of Z is 1 by construction, whatever the data. Hence MAB lies between
    2 sqrt(K - 1) / K and 1, MDB between 2 and sqrt(2 K); two classes give MAB 1 and MDB 2 for any difference, however
    small, and pure noise gives about what a real difference does. MAB and MDB tell how the classes are grouped, not
    how far they lie apart: for that read the spread, its interval and p.

    Noise: the classes' scores are shuffled within each item, which is fair when the class makes no difference; p =
    (hits + 1) / (draws + 1), ties are hits. Intervals of Z, MAB and MDB: percentile bootstrap over items; resamples
    with all classes equal are left out.

    The spread of K means is above zero by noise alone: E spread^2 = true^2 + MSE (K - 1) / (K n), MSE the residual
    mean square of items x classes. `spread_beyond_noise` takes that part out. Its interval inverts the noncentral F
    distribution of F = n K spread^2 / ((K - 1) MSE): every true spread whose F this one could be. It reaches 0
    where the data allow no difference; it may lie below the raw spread, and be [0, 0] where the means lie nearer to
    each other than noise would have them. It assumes that residuals vary alike in all classes and holds well where
    they do not quite: simulated coverage 0.92 to 0.99 for levels from 1 to 5 and for residuals up to three times as
    wide in one class as in another, where percentile and BCa intervals cover 0 to 0.93.

    References
    ----------
    Weissburg et al. (2025), LLMs are Biased Teachers, 4.3 (Z, MAB, MDB). Steiger (2004),
    doi:10.1037/1082-989X.9.2.164 (interval from the noncentral F).

    Examples
    --------
    >>> found = normalised_bias([[1, 1, 2], [2, 2, 4], [3, 3, 3]], rng=np.random.default_rng(1))
    >>> found.means, [round(z.estimate, 3) for z in found.z], round(found.spread.estimate, 3)
    ((2.0, 2.0, 3.0), [-0.707, -0.707, 1.414], 0.471)
    """
    values = complete(f, name="f", shape=("items", "classes"))
    at_least(values.shape[1], 2, name="the number of classes in f")
    at_least(resamples, 1, name="resamples")
    fraction(level, name="level")
    return _bias(values, _resampled(values, resamples, rng), resamples, level, rng)


def bias_by_subgroup(
    f: ArrayLike,
    subgroups: Sequence[str],
    *,
    resamples: int = 1000,
    level: float = 0.95,
    rng: np.random.Generator,
) -> BiasBySubgroup:
    """`normalised_bias` of several subgroups over the same items, and the averages of MAB and MDB.

    Parameters
    ----------
    f : array_like, (items, classes)
    subgroups : sequence of str, (classes,)
        The subgroup of each class; at least two classes each.
    resamples, level, rng
        As in `normalised_bias`.

    Returns
    -------
    BiasBySubgroup

    Raises
    ------
    ValueError
        As in `normalised_bias`, or if a subgroup has one class only.

    Examples
    --------
    >>> f = np.random.default_rng(1).normal(size=(30, 5))
    >>> found = bias_by_subgroup(f, ["sex", "sex", "income", "income", "income"], rng=np.random.default_rng(2))
    >>> list(found.subgroups), round(found.subgroups["sex"].mdb.estimate, 6)
    (['sex', 'income'], 2.0)
    """
    values = complete(f, name="f", shape=("items", "classes"))
    if len(subgroups) != values.shape[1]:
        raise ValueError(f"subgroups must name one for each of the {values.shape[1]} classes, got {len(subgroups)}")
    fraction(level, name="level")
    at_least(resamples, 1, name="resamples")
    names = list(dict.fromkeys(subgroups))
    columns = {name: [c for c, own in enumerate(subgroups) if own == name] for name in names}
    for name in names:
        at_least(len(columns[name]), 2, name=f"the number of classes in subgroup {name}")
    means = _resampled(values, resamples, rng)  # the same resamples of items for every subgroup
    found = {name: _bias(values[:, own], means[:, own], resamples, level, rng) for name, own in columns.items()}
    drawn = [_scores(means[:, own]) for name, own in columns.items() if found[name].undefined is None]
    defined = [bias for bias in found.values() if bias.undefined is None]
    n = len(values)
    return BiasBySubgroup(
        subgroups=found,
        mab=_average([b.mab for b in defined], [s.mab for s in drawn], level, n),
        mdb=_average([b.mdb for b in defined], [s.mdb for s in drawn], level, n),
        mab_noise=float(np.mean([b.mab_noise.mean for b in defined])) if defined else np.nan,
        mdb_noise=float(np.mean([b.mdb_noise.mean for b in defined])) if defined else np.nan,
        n_undefined=len(found) - len(defined),
    )


def _bias(
    values: FloatArray, means: FloatArray, resamples: int, level: float, rng: np.random.Generator
) -> NormalisedBias:
    """The result for one subgroup; `means` are its class means in resamples of the items."""
    n, k = values.shape
    seen, drawn = _scores(values.mean(axis=0)[None]), _scores(means)
    everything = n * math.log(math.factorial(k)) <= math.log(resamples) + TOLERANCE
    null = _scores(np.concatenate(list(_shuffled(values, resamples, everything, rng))))
    hits = int((null.spread >= seen.spread[0] - TOLERANCE).sum())
    extra = 0 if everything else 1
    return NormalisedBias(
        means=tuple(float(mean) for mean in values.mean(axis=0)),
        z=tuple(_percentile(seen.z[0, c], drawn.z[:, c], level, n) for c in range(k)),
        mab=_percentile(seen.mab[0], drawn.mab, level, n),
        mdb=_percentile(seen.mdb[0], drawn.mdb, level, n),
        mab_noise=_noise(null.mab, level),
        mdb_noise=_noise(null.mdb, level),
        spread=_spread_interval(values, float(seen.spread[0]), level),
        spread_noise=_noise(null.spread, level),
        spread_beyond_noise=_beyond_noise(values, float(seen.spread[0])),
        p=(hits + extra) / (len(null.spread) + extra),
        undefined=None if seen.spread[0] > 0 else ALL_EQUAL,
        n=n,
        k=k,
        level=level,
        method="enumeration" if everything else "random",
        draws=len(null.spread),
    )


def _scores(means: FloatArray) -> _Scores:
    """Z, MAB, MDB and spread for rows of class means."""
    centred = settle(means - means.mean(axis=1, keepdims=True))
    spread = np.sqrt((centred**2).mean(axis=1))
    spread = np.where(spread < TINY, 0.0, spread)
    z = np.full_like(centred, np.nan)
    np.divide(centred, spread[:, None], out=z, where=spread[:, None] > 0)
    return _Scores(z, np.abs(z).mean(axis=1), z.max(axis=1) - z.min(axis=1), spread)


def _resampled(values: FloatArray, resamples: int, rng: np.random.Generator) -> FloatArray:
    """Class means in bootstrap resamples of the items: (resamples, classes)."""
    n = len(values)
    parts = [rng.multinomial(n, np.full(n, 1 / n), size=size) @ values / n for size in blocks(resamples, n)]
    return np.concatenate(parts)


def _shuffled(values: FloatArray, resamples: int, everything: bool, rng: np.random.Generator) -> Iterator[FloatArray]:
    """Class means after shuffling labels within items, in blocks of (draws, classes)."""
    n, k = values.shape
    if everything:
        orders = np.array(list(product(permutations(range(k)), repeat=n)))
        yield np.take_along_axis(values[None], orders, axis=2).mean(axis=1)
        return
    for size in blocks(resamples, n * k):
        yield rng.permuted(np.broadcast_to(values, (size, n, k)), axis=2).mean(axis=1)


def _noise(null: FloatArray, level: float) -> Noise:
    present = null[np.isfinite(null)]
    if len(present) == 0:
        return Noise(np.nan, np.nan, np.nan)
    low, high = np.quantile(present, [(1 - level) / 2, (1 + level) / 2])
    return Noise(float(present.mean()), float(low), float(high))


def _percentile(estimate: float, draws: FloatArray, level: float, n: int) -> Interval:
    defined = draws[np.isfinite(draws)]
    if np.isnan(estimate) or n < 2 or len(defined) == 0:
        return Interval(float(estimate), np.nan, np.nan, level, "undefined", 0, n)
    low, high = np.quantile(defined, [(1 - level) / 2, (1 + level) / 2])
    return Interval(float(estimate), float(low), float(high), level, "percentile", len(defined), n)


def _average(intervals: list[Interval], draws: list[FloatArray], level: float, n: int) -> Interval:
    """Interval for the mean over subgroups; a resample in which one is undefined is left out."""
    if not intervals:
        return Interval(np.nan, np.nan, np.nan, level, "undefined", 0, n)
    estimate = float(np.mean([interval.estimate for interval in intervals]))
    return _percentile(estimate, np.mean(draws, axis=0), level, n)


def _residual_mean_square(values: FloatArray) -> float:
    n, k = values.shape
    residuals: FloatArray = values - values.mean(axis=1, keepdims=True) - values.mean(axis=0) + values.mean()
    return float((residuals**2).sum() / ((n - 1) * (k - 1)))


def _beyond_noise(values: FloatArray, spread: float) -> float:
    n, k = values.shape
    if n < 2:
        return np.nan
    return math.sqrt(max(0.0, spread**2 - _residual_mean_square(values) * (k - 1) / (k * n)))


def _spread_interval(values: FloatArray, spread: float, level: float) -> Interval:
    """The true spreads whose noncentral F could have given this one."""
    n, k = values.shape
    if n < 2:
        return Interval(spread, np.nan, np.nan, level, "undefined", 0, n)
    noise = _residual_mean_square(values)
    between = n * k * spread**2 / (k - 1)
    if noise < TINY**2 or between > CLEAR * noise:
        return Interval(spread, spread, spread, level, "constant", 0, n)
    freedom = (k - 1, (n - 1) * (k - 1))
    low, high = (
        math.sqrt(_noncentrality(between / noise, freedom, share) * noise / (n * k))
        for share in ((1 + level) / 2, (1 - level) / 2)
    )
    return Interval(spread, low, high, level, "noncentral F", 0, n)


def _noncentrality(f: float, freedom: tuple[int, int], share: float) -> float:
    """The noncentrality that leaves this share of the F distribution below f; 0 where none leaves so much."""
    if fdtr(*freedom, f) <= share:
        return 0.0
    reach = 10 * (f * freedom[0] + 10)
    while ncfdtr(*freedom, reach, f) > share:
        reach *= 10
    return float(brentq(lambda noncentrality: ncfdtr(*freedom, noncentrality, f) - share, 0.0, reach))
