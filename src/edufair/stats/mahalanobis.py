"""Do three or more groups of texts about the same items lie apart, seen together? By Mahalanobis distance."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import combinations, permutations, product
from typing import Final, Literal

import numpy as np
from numpy.typing import ArrayLike

from edufair.stats._arrays import FloatArray, IntArray, at_least, blocks, complete

HELD: Final = 0.9  # share of the variance that the components kept hold, where the items allow it
ITEMS_A_COMPONENT: Final = 5
TOLERANCE: Final = 1e-10


@dataclass(frozen=True)
class MahalanobisTest:
    """What a permutation test on the means of several groups found.

    Attributes
    ----------
    observed : float
        The statistic: n times the sum over groups of the squared Mahalanobis distance from the common mean.
    null_mean : float
        Its mean over relabellings.
    p : float
        Share of relabellings with a statistic at least as large.
    distances : tuple of float
        Mahalanobis distance between the means of each two groups, (0, 1), (0, 2), (1, 2), ...
    components : int
        Principal components kept.
    variance_kept : float
        Share of the variance within items that they hold.
    method : {"enumeration", "random", "identical"}
        "identical": no two texts of an item differ, p = 1.
    draws : int
    n, groups : int
        Items, and texts of each.
    null : numpy.ndarray, (draws,)
        Not compared by ==.
    """

    observed: float
    null_mean: float
    p: float
    distances: tuple[float, ...]
    components: int
    variance_kept: float
    method: Literal["enumeration", "random", "identical"]
    draws: int
    n: int
    groups: int
    null: FloatArray = field(compare=False, repr=False)


def permutation_mahalanobis(
    groups: ArrayLike,
    *,
    components: int | None = None,
    resamples: int = 5000,
    rng: np.random.Generator,
) -> MahalanobisTest:
    """Test whether groups of texts about the same items differ in their mean embedding.

    Parameters
    ----------
    groups : array_like, (groups, items, dimensions)
        Item i of every group is about the same thing, such as feedback on one essay by a male, a female and an
        unnamed author.
    components : int, optional
        Principal components to keep. By default the fewest that hold 90% of the variance within items, but no more
        than a fifth of the items: a covariance has to be estimated from them.
    resamples : int
        Relabellings within items; where there are no more than this altogether, all are seen.
    rng : numpy.random.Generator

    Returns
    -------
    MahalanobisTest

    Raises
    ------
    ValueError
        If groups is not groups x items x dimensions with two groups and two items at least, or a value is NaN or
        infinite.

    Notes
    -----
    Each item's own mean is taken away first, so that what the items are about plays no part. With R the deviations
    (items x groups rows), C = R'R / (n (G - 1)) and m_g the mean of group g's rows,

        T = n sum_g m_g' C^-1 m_g

    on the leading principal components of R. C does not change when labels are permuted within items, so the
    deviations are whitened once and T is a sum of squared means. p = (hits + 1) / (draws + 1), by the upper tail
    alone: groups can be too far apart, not too near. It sees a shift of a group's mean in the directions kept, and
    not a group whose replies only vary more. The paper reports such a check without its details: this definition
    is ours.

    References
    ----------
    Mardia, Kent and Bibby (1979), Multivariate Analysis, 12.3. Anderson (2001),
    doi:10.1111/j.1442-9993.2001.01070.pp.x (permutation within blocks).

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> texts = rng.normal(size=(40, 6)) + rng.normal(scale=0.3, size=(3, 40, 6))
    >>> texts[2] += 0.4
    >>> found = permutation_mahalanobis(texts, rng=rng)
    >>> found.p < 0.001, found.distances[0] < found.distances[1]
    (True, True)
    """
    x = complete(groups, name="groups", shape=("groups", "items", "dimensions"))
    at_least(x.shape[0], 2, name="the number of groups")
    at_least(x.shape[1], 2, name="the number of items")
    at_least(resamples, 1, name="resamples")
    if components is not None:
        at_least(components, 1, name="components")
    g, n, _ = x.shape
    whitened, kept = _whitened(x - x.mean(axis=0), components)
    if whitened is None:
        none = (0.0,) * math.comb(g, 2)
        return MahalanobisTest(0.0, 0.0, 1.0, none, 0, np.nan, "identical", 0, n, g, np.empty(0))
    means = whitened.mean(axis=1)
    observed = float(n * (means**2).sum())
    everything = math.factorial(g) ** n <= resamples
    null = np.concatenate([_statistic(whitened, orders) for orders in _orders(n, g, resamples, everything, rng)])
    hits = int((null >= observed * (1 - TOLERANCE)).sum())
    extra = 0 if everything else 1
    return MahalanobisTest(
        observed=observed,
        null_mean=float(null.mean()),
        p=(hits + extra) / (len(null) + extra),
        distances=tuple(float(np.linalg.norm(means[i] - means[j])) for i, j in combinations(range(g), 2)),
        components=whitened.shape[2],
        variance_kept=kept,
        method="enumeration" if everything else "random",
        draws=len(null),
        n=n,
        groups=g,
        null=null,
    )


def _whitened(deviations: FloatArray, components: int | None) -> tuple[FloatArray | None, float]:
    """Deviations on their leading components with unit variance, (groups, items, components); share kept."""
    g, n, d = deviations.shape
    left, sizes, _ = np.linalg.svd(deviations.reshape(g * n, d), full_matrices=False)
    variance = sizes**2
    if sizes[0] <= TOLERANCE:
        return None, np.nan
    share = np.cumsum(variance) / variance.sum()
    rank = int((sizes > sizes[0] * TOLERANCE).sum())
    enough = int(np.searchsorted(share, HELD)) + 1
    keep = min(rank, max(1, min(enough, n // ITEMS_A_COMPONENT)) if components is None else components)
    whitened: FloatArray = left[:, :keep] * math.sqrt(n * (g - 1))
    return whitened.reshape(g, n, keep), float(share[keep - 1])


def _orders(n: int, g: int, resamples: int, everything: bool, rng: np.random.Generator) -> Iterator[IntArray]:
    """Which text of each item takes which label, in blocks of (draws, items, groups)."""
    if everything:
        each = list(permutations(range(g)))
        yield np.array(list(product(each, repeat=n)))
        return
    for size in blocks(resamples, n * g):
        yield rng.permuted(np.broadcast_to(np.arange(g), (size, n, g)), axis=-1)


def _statistic(whitened: FloatArray, orders: IntArray) -> FloatArray:
    """T for each relabelling."""
    g, n, _ = whitened.shape
    flat = whitened.reshape(g * n, -1)
    total = np.zeros(len(orders))
    for label in range(g):
        chosen = np.zeros((len(orders), g, n))
        np.put_along_axis(chosen, orders[:, None, :, label], 1.0, axis=1)
        total += ((chosen.reshape(len(orders), g * n) @ flat) ** 2).sum(axis=1) / n
    return total
