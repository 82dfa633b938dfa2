"""One estimand of a clustered design: mean of cluster means, its interval, and the exact test beside it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
from numpy.typing import ArrayLike

from edufair.stats._arrays import FloatArray, complete
from edufair.stats.bootstrap import Used, bca_interval, cluster_means
from edufair.stats.signed_rank import signed_rank

WALSH_LIMIT: Final = 2000  # clusters up to which the pseudomedian is computed: it takes all pairs


@dataclass(frozen=True)
class ClusterTest:
    """A mean over clusters with interval and test.

    Attributes
    ----------
    estimate : float
        Mean of the cluster means: every cluster weighs the same.
    low, high : float
        BCa interval over clusters; NaN for one cluster.
    interval_method : str
        What the interval really is, as in `bca_interval`.
    pseudomedian : float
        Median of all pairwise means of cluster means: what the signed-rank test is about. NaN beyond 2,000 clusters.
    r : float
        Rank-biserial, zeros dropped.
    p, p_min : float
        Two-sided Wilcoxon p, zeros dropped, and the smallest it could have been.
    test_method : str
        "exact", "normal" (beyond 200 nonzero clusters) or "all zero".
    n, n_nonzero, n_items : int
        Clusters, clusters that differ from zero, and items.
    level : float
        Of the interval.
    """

    estimate: float
    low: float
    high: float
    interval_method: Used
    pseudomedian: float
    r: float
    p: float
    p_min: float
    test_method: Literal["exact", "normal", "all zero"]
    n: int
    n_nonzero: int
    n_items: int
    level: float

    @property
    def detected(self) -> bool:
        """Whether the test rejects at 1 - level."""
        return self.p <= 1 - self.level + 1e-12

    @property
    def disagreement(self) -> str | None:
        """In words, where the interval and the test say different things; None where they agree."""
        excludes = self.low > 0 or self.high < 0
        if excludes == self.detected or np.isnan(self.low):
            return None
        if excludes:
            could = (
                "" if self.p_min <= 1 - self.level else f", and could not have (smallest attainable p {self.p_min:.3g})"
            )
            return f"the interval excludes 0, the {self.test_method} test does not reject (p = {self.p:.3g}){could}"
        return f"the {self.test_method} test rejects (p = {self.p:.3g}), the interval includes 0"


def cluster_test(
    values: ArrayLike,
    clusters: ArrayLike,
    *,
    resamples: int = 10_000,
    level: float = 0.95,
    seed: int | np.random.Generator = 13,
) -> ClusterTest:
    """Mean of cluster means with BCa interval and exact two-sided Wilcoxon test.

    Parameters
    ----------
    values : array_like, (items,)
        A contrast for each item.
    clusters : array_like, (items,)
        The independent unit of each item: strings or numbers.
    resamples : int
    level : float
    seed : int or numpy.random.Generator
        The default and the sorted order of clusters give the digits of the registered analysis.

    Returns
    -------
    ClusterTest

    Raises
    ------
    ValueError
        As in `cluster_means`.

    Notes
    -----
    The test drops zeros, gives ties average ranks, and is exact (all sign patterns) up to 200 nonzero clusters. It is
    exact under symmetry about zero and about the pseudomedian, not the mean; with few nonzero clusters it cannot reject
    at all: read p_min.

    References
    ----------
    Deng et al. (2026), Difference-in-Differences on a Censored Rating Scale, 4 (arXiv 2608.27309).

    Examples
    --------
    >>> found = cluster_test([0.5, 0.5, 1.0, 0.0], ["a", "a", "b", "c"])
    >>> found.estimate, found.n, found.n_nonzero, found.p
    (0.5, 3, 2, 0.5)
    """
    rows = complete(values, name="values", shape=("items",))
    means = cluster_means(rows, clusters)  # not rounded here: rounding twice would part what is equal
    interval = bca_interval(means, resamples=resamples, level=level, seed=seed)
    test = signed_rank(means, zeros="wilcox")
    return ClusterTest(
        estimate=interval.estimate,
        low=interval.low,
        high=interval.high,
        interval_method=interval.method,
        pseudomedian=_pseudomedian(means),
        r=test.r,
        p=test.p,
        p_min=test.p_min,
        test_method=test.method,
        n=len(means),
        n_nonzero=test.n_nonzero,
        n_items=len(rows),
        level=level,
    )


def _pseudomedian(means: FloatArray) -> float:
    if len(means) > WALSH_LIMIT:
        return np.nan
    i, j = np.triu_indices(len(means))
    return float(np.median((means[i] + means[j]) / 2))
