"""Is a mean difference there, and is it small? Four verdicts from one interval and a margin."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
from numpy.typing import ArrayLike

from edufair.stats._arrays import FloatArray, complete
from edufair.stats.bootstrap import Interval, Used, mean_interval

Verdict = Literal["differs", "differs but small", "shown to be small", "undecided"]

FAR: Final = 10  # margins: the difference a pair could still show when none was seen and no bound is known


@dataclass(frozen=True)
class Equivalence:
    """A mean difference against a margin, both in natural units.

    Attributes
    ----------
    mean, low, high : float
        The mean difference A - B and its interval; NaN ends for a single pair.
    margin : float
        Mean differences nearer to zero than this count as small.
    verdict : str
        "differs", "differs but small", "shown to be small" or "undecided".
    n : int
        Pairs.
    level : float
        Coverage of the interval.
    method : str
        How the interval was made, as in `mean_interval`.
    """

    mean: float
    low: float
    high: float
    margin: float
    verdict: Verdict
    n: int
    level: float
    method: Used


def equivalence(d: ArrayLike, *, margin: float, level: float = 0.95, bound: float | None = None) -> Equivalence:
    """Say whether a mean difference differs from zero, is small, both, or cannot be told.

    Parameters
    ----------
    d : array_like, (pairs,)
        Differences A - B of complete pairs, zeros included.
    margin : float
        In the units of d; 0 allows no difference to be called small.
    level : float
        A 95% interval makes "small" two one-sided tests at 2.5% each.
    bound : float, optional
        The largest |d| that can occur, 1 for differences of rates: see `mean_interval`, and give it where
        there is one. Without it, differences that are all equal are judged as if a pair could differ by ten
        margins, because a sample without variation does not show how far it may be off; about 30 equal pairs
        are then enough for "shown to be small".

    Returns
    -------
    Equivalence

    Raises
    ------
    ValueError
        If there are no pairs, a difference is NaN or infinite, the margin is negative, or a |d| exceeds the
        bound.

    Notes
    -----
    ========================  ===================================  ===================
    interval                  lies inside (-margin, margin)        reaches beyond
    ========================  ===================================  ===================
    excludes 0                differs but small                    differs
    includes 0                shown to be small                    undecided
    ========================  ===================================  ===================

    "Small" is about the mean over all pairs. The rank-biserial r leaves identical pairs out, so that 5
    differing pairs of 907 can give |r| = 1 although the mean difference is next to nothing; here they are
    "small".

    References
    ----------
    Schuirmann (1987), doi:10.1007/BF01068419 (two one-sided tests). Lakens (2017),
    doi:10.1177/1948550617697177 (the four outcomes).

    Examples
    --------
    >>> equivalence([0.0] * 902 + [1.0] * 5, margin=0.05, bound=1).verdict
    'shown to be small'
    >>> equivalence([0.0, 0.5, -0.5], margin=0.05, bound=1).verdict
    'undecided'
    """
    values = complete(d, name="d", shape=("pairs",))
    if not 0 <= margin < np.inf:
        raise ValueError(f"margin must be zero or a positive number, got {margin}")
    found = mean_interval(values, level=level, bound=bound)
    if found.method == "constant":
        found = _cautious(values, found, reach=FAR * margin)
    return Equivalence(
        found.estimate,
        found.low,
        found.high,
        float(margin),
        _verdict(found, margin),
        found.n,
        level,
        found.method,
    )


def _cautious(values: FloatArray, found: Interval, *, reach: float) -> Interval:
    """The interval for equal differences and no known bound: as if a pair could lie `reach` away."""
    if reach == 0:
        return found
    around = mean_interval(values - found.estimate, level=found.level, bound=reach)
    return Interval(
        found.estimate,
        found.estimate + around.low,
        found.estimate + around.high,
        found.level,
        "constant",
        0,
        found.n,
    )


def _verdict(interval: Interval, margin: float) -> Verdict:
    differs = interval.low > 0 or interval.high < 0
    small = -margin < interval.low and interval.high < margin
    if differs:
        return "differs but small" if small else "differs"
    return "shown to be small" if small else "undecided"
