"""Spearman's rank correlation with its interval and test."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri, stdtr

from edufair.stats._arrays import DECIMALS, FloatArray, complete, fraction


@dataclass(frozen=True)
class Spearman:
    """What Spearman's correlation found.

    Attributes
    ----------
    rho : float
        -1 to 1; NaN where a variable does not vary.
    low, high : float
        Interval by Fisher's z; NaN below four units.
    p : float
        Two-sided; NaN where rho is, or below three units.
    n : int
    level : float
    method : {"t", "undefined"}
    """

    rho: float
    low: float
    high: float
    p: float
    n: int
    level: float
    method: Literal["t", "undefined"]


def spearman(x: ArrayLike, y: ArrayLike, *, level: float = 0.95) -> Spearman:
    """Correlation of the ranks of two variables.

    Parameters
    ----------
    x, y : array_like, (units,)
        Rounded to 12 decimals; ties get average ranks.
    level : float

    Returns
    -------
    Spearman

    Raises
    ------
    ValueError
        If the lengths differ or a value is NaN or infinite.

    Notes
    -----
    rho is Pearson's correlation of the ranks; p is from t = rho sqrt((n - 2) / (1 - rho^2)) with n - 2 degrees of
    freedom, an approximation that is good from about ten units; the interval is tanh(atanh rho -+ z sqrt((1 + rho^2
    / 2) / (n - 3))).

    References
    ----------
    Bonett and Wright (2000), doi:10.1007/BF02294183 (the interval).

    Examples
    --------
    >>> found = spearman([1, 2, 3, 4, 5], [2, 1, 4, 3, 5])
    >>> round(found.rho, 3), round(found.p, 3)
    (0.8, 0.104)
    """
    first, second = (_ranks(complete(v, name=name, shape=("units",))) for v, name in ((x, "x"), (y, "y")))
    fraction(level, name="level")
    n = len(first)
    if len(second) != n:
        raise ValueError(f"x and y must have the same length, got {n} and {len(second)}")
    if np.ptp(first) == 0 or np.ptp(second) == 0:
        return Spearman(np.nan, np.nan, np.nan, np.nan, n, level, "undefined")
    a, b = first - first.mean(), second - second.mean()
    rho = float(np.clip((a @ b) / np.sqrt((a @ a) * (b @ b)), -1, 1))
    p = _p(rho, n)
    low, high = _fisher(rho, n, level)
    return Spearman(rho, low, high, p, n, level, "t")


def _ranks(values: FloatArray) -> FloatArray:
    _, place, counts = np.unique(np.round(values, DECIMALS), return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    ranks: FloatArray = (last - (counts - 1) / 2)[place]
    return ranks


def _p(rho: float, n: int) -> float:
    if n < 3:
        return np.nan
    rest = 1 - rho * rho
    return 0.0 if rest <= 0 else 2 * float(stdtr(n - 2, -abs(rho) * np.sqrt((n - 2) / rest)))


def _fisher(rho: float, n: int, level: float) -> tuple[float, float]:
    if n < 4:
        return np.nan, np.nan
    if abs(rho) >= 1:
        return rho, rho
    half = float(ndtri((1 + level) / 2)) * np.sqrt((1 + rho * rho / 2) / (n - 3))
    return float(np.tanh(np.arctanh(rho) - half)), float(np.tanh(np.arctanh(rho) + half))
