"""Do several levels differ, within items? Friedman's test, and Page's for levels that have an order."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import permutations
from typing import Final, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import chdtrc, ndtr

from edufair.stats._arrays import DECIMALS, FloatArray, IntArray, at_least, blocks, complete

EXACT_ITEMS: Final = {2: 1000, 3: 100, 4: 20, 5: 8, 6: 4}  # levels -> items up to which Friedman's p is exact
EXACT_TREND_LEVELS: Final = 6
EXACT_TREND_ITEMS: Final = 200

FriedmanMethod = Literal["auto", "exact", "permutation", "chi2"]


@dataclass(frozen=True)
class Friedman:
    """What Friedman's test found.

    Attributes
    ----------
    statistic : float
        Chi-square statistic, corrected for ties.
    p : float
        That no level is preferred over another within items.
    kendalls_w : float
        Agreement of the items on the order of the levels, 0 to 1.
    n, k : int
        Items and levels.
    method : str
        What gave p: "exact", "permutation", "chi2", or "constant" (no item tells its levels apart).
    """

    statistic: float
    p: float
    kendalls_w: float
    n: int
    k: int
    method: Literal["exact", "permutation", "chi2", "constant"]


@dataclass(frozen=True)
class PageTrend:
    """What Page's test found.

    Attributes
    ----------
    statistic : float
        L, the sum over levels of position times rank sum.
    z : float
        L minus its expectation, in standard deviations corrected for ties; positive when values rise with the
        levels.
    p : float
        Two-sided.
    trend : float
        -1 to 1: the mean over items of Spearman's rho between level and value; ties within an item pull it to
        zero.
    n, k : int
        Items and levels.
    method : str
        What gave p: "exact", "normal", or "constant".
    """

    statistic: float
    z: float
    p: float
    trend: float
    n: int
    k: int
    method: Literal["exact", "normal", "constant"]


def friedman(
    x: ArrayLike,
    *,
    method: FriedmanMethod = "auto",
    draws: int = 10_000,
    rng: np.random.Generator | None = None,
) -> Friedman:
    """Test whether k levels measured on the same items differ.

    Parameters
    ----------
    x : array_like, (items, levels)
        Complete items only. Values are rounded to 12 decimals before ranking.
    method : {"auto", "exact", "permutation", "chi2"}
        "auto" is exact up to 1000, 100, 20, 8, 4 items for 2, 3, 4, 5, 6 levels; beyond, "permutation" where
        `rng` is given and "chi2" where it is not. "exact" can be asked for within those sizes only.
    draws : int
        Relabellings for "permutation".
    rng : numpy.random.Generator, optional
        Needed for "permutation".

    Returns
    -------
    Friedman

    Raises
    ------
    ValueError
        If there are no items or fewer than two levels, a value is NaN or infinite, or the method asked for
        does not fit the data.

    Notes
    -----
    With r_ij the average rank of level j within item i and R_j its sum over items,

        Q = (k - 1) sum_j (R_j - n (k+1)/2)^2 / (sum_ij (r_ij - (k+1)/2)^2),      W = Q / (n (k - 1)).

    Under the null hypothesis every order of an item's values is equally likely. "exact" sums over all of them
    (by dynamic programming over rank sums); "permutation" draws them: (hits + 1) / (draws + 1), ties are
    hits. The chi-square p, with k - 1 degrees of freedom, is too large for few items.

    Two levels: Q is the sign test's (n+ - n-)^2 / (n+ + n-), and exact is the exact sign test. It sees the
    sign of a difference and not its size; for two levels `signed_rank` is usually meant. Zeros and ones: Q is
    Cochran's Q.

    References
    ----------
    Friedman (1937), doi:10.1080/01621459.1937.10503522. Hollander, Wolfe and Chicken (2014), Nonparametric
    Statistical Methods, 7.1 (ties) and 7.2. Kendall and Babington Smith (1939), doi:10.1214/aoms/1177732186.

    Examples
    --------
    >>> result = friedman([[1, 2, 3], [1, 2, 3], [1, 3, 2]])
    >>> round(result.statistic, 3), round(result.p, 4), round(result.kendalls_w, 3), result.method
    (4.667, 0.1944, 0.778, 'exact')
    """
    ranks = _doubled_ranks(x)
    n, k = ranks.shape
    used = _friedman_method(method, n, k, rng)
    centred = ranks - (k + 1)
    within = int((centred**2).sum())
    if within == 0:
        return Friedman(0.0, 1.0, 0.0, n, k, "constant")
    spread = _spread(centred)
    statistic = (k - 1) * spread / within
    if used == "exact":
        p = _exact_p(centred, spread)
    elif used == "permutation" and rng is not None:
        p = _permutation_p(centred, spread, at_least(draws, 1, name="draws"), rng)
    else:
        p = float(chdtrc(k - 1, statistic))
    return Friedman(statistic, p, statistic / (n * (k - 1)), n, k, used)


def _friedman_method(
    asked: FriedmanMethod, n: int, k: int, rng: np.random.Generator | None
) -> Literal["exact", "permutation", "chi2"]:
    feasible = n <= EXACT_ITEMS.get(k, 0)
    match asked:
        case "auto":
            beyond: Literal["permutation", "chi2"] = "chi2" if rng is None else "permutation"
            return "exact" if feasible else beyond
        case "exact" if not feasible:
            limits = ", ".join(f"{items} items at {levels} levels" for levels, items in EXACT_ITEMS.items())
            raise ValueError(f"method='exact' reaches {limits}; x has {n} items at {k}: use 'permutation'")
        case "permutation" if rng is None:
            raise ValueError("method='permutation' draws at random: pass rng=numpy.random.default_rng(seed)")
        case "exact" | "permutation" | "chi2":
            return asked
    raise ValueError(f"method must be auto, exact, permutation or chi2, got {asked!r}")


def _doubled_ranks(x: ArrayLike) -> IntArray:
    """Twice the average ranks within each item: integers from 2 to 2k."""
    values = np.round(complete(x, name="x", shape=("items", "levels")), DECIMALS)
    at_least(values.shape[1], 2, name="the number of levels in x")
    own, others = values[:, :, None], values[:, None, :]
    ranks: IntArray = 2 * (others < own).sum(axis=2) + (others == own).sum(axis=2) + 1
    return ranks


def _spread(centred: IntArray) -> int:
    """Sum of squares of the levels' rank sums about their expectation, in doubled ranks."""
    return int((centred.sum(axis=0) ** 2).sum())


def _orders(row: IntArray) -> IntArray:
    """The different orders of an item's ranks: (orders, levels). All are equally likely."""
    return np.array(sorted(set(permutations(row.tolist()))), dtype=np.int64)


def _exact_p(centred: IntArray, spread: int) -> float:
    """P(spread as large as seen), building up the distribution of rank sums an item at a time.

    Levels are exchangeable, so rank sums are kept sorted: that leaves about 1/k! of the states.
    """
    n, k = centred.shape
    digits = (2 * n * k + 1) ** np.arange(k)
    states: IntArray = np.zeros((1, k), dtype=np.int64)
    mass: FloatArray = np.ones(1)
    for row in centred:
        orders = _orders(row)
        sums = np.sort((states[:, None, :] + orders).reshape(-1, k), axis=1)
        _, first, place = np.unique(sums @ digits, return_index=True, return_inverse=True)
        mass = np.bincount(place, np.repeat(mass / len(orders), len(orders))).astype(np.float64)
        states = sums[first]
    return min(1.0, float(mass[(states**2).sum(axis=1) >= spread].sum()))


def _permutation_p(centred: IntArray, spread: int, draws: int, rng: np.random.Generator) -> float:
    hits = 0
    for size in blocks(draws, centred.size):
        relabelled = rng.permuted(np.broadcast_to(centred, (size, *centred.shape)), axis=-1)
        hits += int(((relabelled.sum(axis=1) ** 2).sum(axis=1) >= spread).sum())
    return (hits + 1) / (draws + 1)


def page_trend(x: ArrayLike, *, method: Literal["auto", "exact", "normal"] = "auto") -> PageTrend:
    """Test whether values rise or fall along ordered levels, such as low, middle and high status.

    Parameters
    ----------
    x : array_like, (items, levels)
        Levels in their order; complete items only. Values are rounded to 12 decimals before ranking.
    method : {"auto", "exact", "normal"}
        "auto" is exact up to 6 levels and 200 items and normal beyond.

    Returns
    -------
    PageTrend

    Raises
    ------
    ValueError
        If there are no items or fewer than two levels, a value is NaN or infinite, or "exact" is asked for
        beyond its limits.

    Notes
    -----
    With R_j the rank sum of level j = 1..k: L = sum_j j R_j; E(L) = n k (k+1)^2 / 4; Var(L) = sum_i [k (k^2 -
    1) / 12] [sum_j (r_ij - (k+1)/2)^2 / (k - 1)], which is corrected for ties; trend = (L - E(L)) / (n k (k^2
    - 1) / 12). The two-sided p is P(|L - E(L)| at least as large as seen); the null distribution is
    symmetric. It has more power than Friedman's test against a monotone difference, and none against one that
    rises and falls.

    References
    ----------
    Page (1963), doi:10.1080/01621459.1963.10500843.

    Examples
    --------
    >>> result = page_trend([[1, 2, 3], [1, 2, 3], [1, 3, 2]])
    >>> result.statistic, round(result.p, 4), round(result.trend, 3), result.method
    (41.0, 0.0648, 0.833, 'exact')
    """
    centred = _doubled_ranks(x)
    n, k = centred.shape
    centred = centred - (k + 1)
    used = _trend_method(method, n, k)
    positions = 2 * np.arange(1, k + 1) - (k + 1)  # doubled and centred, as the ranks are
    excess = int((centred @ positions).sum())  # four times L - E(L)
    furthest = k * (k * k - 1) / 12
    statistic = n * k * (k + 1) ** 2 / 4 + excess / 4
    variance = furthest * float((centred**2).sum()) / 4 / (k - 1)
    if variance == 0:
        return PageTrend(statistic, 0.0, 1.0, 0.0, n, k, "constant")
    z = excess / 4 / math.sqrt(variance)
    p = _exact_trend_p(centred, positions, excess) if used == "exact" else 2 * float(ndtr(-abs(z)))
    return PageTrend(statistic, z, p, excess / 4 / (n * furthest), n, k, used)


def _trend_method(asked: str, n: int, k: int) -> Literal["exact", "normal"]:
    if asked not in ("auto", "exact", "normal"):
        raise ValueError(f"method must be auto, exact or normal, got {asked!r}")
    feasible = k <= EXACT_TREND_LEVELS and n <= EXACT_TREND_ITEMS
    if asked == "exact" and not feasible:
        raise ValueError(
            f"method='exact' reaches {EXACT_TREND_LEVELS} levels and {EXACT_TREND_ITEMS} items, "
            f"x has {k} and {n}: use 'normal'"
        )
    return "exact" if asked != "normal" and feasible else "normal"


def _exact_trend_p(centred: IntArray, positions: IntArray, excess: int) -> float:
    """P(|L - E(L)| as large as seen), convolving the items' own distributions."""
    patterns, repeats = np.unique(np.sort(centred, axis=1), axis=0, return_counts=True)
    mass: FloatArray = np.ones(1)
    offset = 0
    for pattern, repeat in zip(patterns, repeats.tolist(), strict=True):
        own = _orders(pattern) @ positions
        reach = int(own.max())  # the distribution of one item is symmetric about 0
        single = np.bincount(own + reach) / len(own)
        for _ in range(repeat):
            mass = np.convolve(mass, single).astype(np.float64)
        offset += repeat * reach
    values = np.arange(len(mass)) - offset
    return min(1.0, float(mass[np.abs(values) >= abs(excess)].sum()))
