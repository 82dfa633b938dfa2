"""Do raters agree? Krippendorff's alpha and Gwet's AC1 with intervals, and raw agreement beside them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from edufair.stats._arrays import FloatArray, IntArray, at_least, blocks, fraction
from edufair.stats._labels import Codes, Level, cluster_places, counts_by_unit, read_labels
from edufair.stats.bootstrap import Interval

NOTHING_SHARED: Final = "no unit has labels from two raters"
ONE_RATER: Final = "labels come from one rater only"
ONE_CATEGORY: Final = "all labels fall into one category"
ONE_POSSIBLE: Final = "only one category is known: give domain, the categories that could have been used"


@dataclass(frozen=True)
class PairAgreement:
    """Agreement of two raters on the units that both labelled.

    Attributes
    ----------
    raters : tuple of int
        Their rows in the labels.
    n : int
        Units that both labelled.
    raw : float
        Share of these with the same label; NaN for none.
    alpha, ac1 : float
        NaN where undefined.
    undefined : str or None
        Why alpha is undefined.
    """

    raters: tuple[int, int]
    n: int
    raw: float
    alpha: float
    ac1: float
    undefined: str | None


@dataclass(frozen=True)
class Agreement:
    """Agreement of several raters.

    Attributes
    ----------
    alpha : Interval
        Krippendorff's alpha: 1 is perfect, 0 is what chance gives. `resamples` counts those in which alpha was
        defined, and the interval is over these alone.
    ac1 : Interval
        Gwet's AC1, over nominal categories whatever the level.
    raw : Interval
        Share of agreeing pairs of labels, averaged over units.
    alpha_undefined, ac1_undefined : str or None
        Why a coefficient is undefined (its estimate is then NaN); None where it is defined.
    level : {"nominal", "ordinal", "interval"}
        What alpha took the labels for.
    categories : tuple
        The domain, or the labels that occur, in their order.
    n_units : int
        Units with at least one label: these are resampled.
    n_paired : int
        Units with two labels or more: agreement is about these.
    n_raters : int
        Raters with at least one label.
    n_labels, n_missing : int
        Cells of the table with and without a label.
    pairs : tuple of PairAgreement
        Every pair of raters, in order.
    """

    alpha: Interval
    ac1: Interval
    raw: Interval
    alpha_undefined: str | None
    ac1_undefined: str | None
    level: Level
    categories: tuple[object, ...]
    n_units: int
    n_paired: int
    n_raters: int
    n_labels: int
    n_missing: int
    pairs: tuple[PairAgreement, ...]


class _Coefficients(NamedTuple):
    """The three coefficients, one value for each row of unit weights; NaN where undefined."""

    alpha: FloatArray
    ac1: FloatArray
    raw: FloatArray


def agreement(
    labels: ArrayLike | Sequence[Sequence[object]],
    *,
    level: Level = "nominal",
    domain: Sequence[object] | None = None,
    cluster: Sequence[object] | None = None,
    resamples: int = 1000,
    confidence: float = 0.95,
    rng: np.random.Generator,
) -> Agreement:
    """Agreement of several raters over the same units, labels missing or not.

    Parameters
    ----------
    labels : array_like, (raters, units)
        Numbers or words; None or NaN where a rater gave no label.
    level : {"nominal", "ordinal", "interval"}
        How far apart two labels are, for alpha: equal or not; by rank; by difference.
    domain : sequence, optional
        Every label that could have been given, in its order for ordinal words. Without it, the labels that
        occur. AC1 depends on how many there are, so a judge that never used one is compared on equal terms only
        with a domain.
    cluster : sequence, (units,), optional
        Units of one cluster (turns of a dialogue) are resampled together.
    resamples : int
        Bootstrap resamples; 0 for no intervals.
    confidence : float
        Level of the intervals.
    rng : numpy.random.Generator

    Returns
    -------
    Agreement

    Raises
    ------
    ValueError
        If labels is not raters x units, a label is not in the domain, words are given an order or a distance
        that they do not have, or cluster is not as long as there are units.

    Notes
    -----
    With x_uc labels of category c on unit u, m_u their number, over units with m_u >= 2:

        alpha = 1 - (n - 1) sum_u [1 / (m_u - 1)] sum_{c,k} x_uc x_uk d_ck / sum_{c,k} n_c n_k d_ck,

    n_c = sum_u x_uc, n = sum_c n_c; the squared distance d_ck is 1 for c != k (nominal), (c - k)^2 (interval), or
    the squared difference of the categories' mid-ranks in all labels (ordinal), which is Krippendorff's
    (sum of n_g from c to k - (n_c + n_k) / 2)^2.

        raw = mean_u sum_c x_uc (x_uc - 1) / (m_u (m_u - 1)),         AC1 = (raw - e) / (1 - e),

    e = sum_c p_c (1 - p_c) / (q - 1), p_c the mean of x_uc / m_u over units with a label, q the number of
    categories.

    Alpha is undefined where two labels never meet or where all that meet are equal: without any variation there is
    nothing to tell agreement from chance by. Raw agreement says what was seen. When nearly all labels are equal,
    alpha is low and unstable although the raters nearly always agree; AC1 then stays near raw agreement. Neither is
    wrong, they take chance for different things: report both.

    Intervals: percentile bootstrap over units with at least one label, all labels of a unit together; the mid-ranks
    of ordinal alpha are those of the resample. Resamples in which a coefficient is undefined are left out and the
    rest counted. Units must be independent; where they are not, as turns of one dialogue, give their clusters and whole
    clusters are resampled. Simulated coverage is in the
    documentation; below about 30 units, or with a category in fewer than about 5, it falls short.

    References
    ----------
    Krippendorff (2011), Computing Krippendorff's Alpha-Reliability; Krippendorff (2019), Content Analysis, 12.
    Gwet (2008), doi:10.1348/000711006X126600; Gwet (2014), Handbook of Inter-Rater Reliability, 2 and 4 (missing
    labels).

    Examples
    --------
    >>> found = agreement([[0, 1, 0, 0, 1], [0, 1, 1, 0, 1]], rng=np.random.default_rng(1))
    >>> round(found.alpha.estimate, 3), found.raw.estimate, round(found.ac1.estimate, 3)
    (0.64, 0.8, 0.6)
    >>> agreement([[1, 1], [1, 1]], rng=np.random.default_rng(1)).alpha_undefined
    'all labels fall into one category'
    """
    fraction(confidence, name="confidence")
    at_least(resamples, 0, name="resamples")
    read = read_labels(labels, level=level, domain=domain)
    counts = counts_by_unit(read.codes, len(read.categories))
    places = cluster_places(cluster, len(counts))
    labelled = counts.sum(axis=1) > 0
    counts = counts[labelled]
    seen = _coefficients(counts, read, level, np.ones((1, len(counts))))
    draws = _resampled(counts, read, level, None if places is None else places[labelled], resamples, rng)
    alpha, ac1, raw = (
        _interval(float(value[0]), drawn, len(counts), confidence) for value, drawn in zip(seen, draws, strict=True)
    )
    present = read.codes >= 0
    return Agreement(
        alpha=alpha,
        ac1=ac1,
        raw=raw,
        alpha_undefined=_why_no_alpha(read.codes, counts),
        ac1_undefined=_why_no_ac1(read, counts),
        level=level,
        categories=read.categories,
        n_units=len(counts),
        n_paired=int((counts.sum(axis=1) >= 2).sum()),
        n_raters=int(present.any(axis=1).sum()),
        n_labels=int(present.sum()),
        n_missing=int((~present).sum()),
        pairs=tuple(_pair(read, level, pair) for pair in combinations(range(len(present)), 2)),
    )


def _pair(read: Codes, level: Level, raters: tuple[int, int]) -> PairAgreement:
    """Agreement of two rows of the labels on the units that both have."""
    both = read.codes[list(raters)]
    both = both[:, (both >= 0).all(axis=0)]
    counts = counts_by_unit(both, len(read.categories))
    found = _coefficients(counts, read, level, np.ones((1, len(counts))))
    return PairAgreement(
        raters,
        both.shape[1],
        float(found.raw[0]),
        float(found.alpha[0]),
        float(found.ac1[0]),
        NOTHING_SHARED if both.shape[1] == 0 else _why_no_alpha(both, counts),
    )


def _coefficients(counts: IntArray, read: Codes, level: Level, weights: FloatArray) -> _Coefficients:
    """Alpha, AC1 and raw agreement for rows of unit weights (how often each unit is in a resample)."""
    m = counts.sum(axis=1)
    paired = m >= 2
    x, m_paired, w = counts[paired].astype(np.float64), m[paired], weights[:, paired]
    agreeing = (x * (x - 1)).sum(axis=1) / (m_paired * (m_paired - 1))
    raw = _ratio(w @ agreeing, w.sum(axis=1))
    return _Coefficients(_alpha(x, w, read.scores, level), _ac1(counts, m, weights, raw), raw)


def _alpha(x: FloatArray, weights: FloatArray, scores: FloatArray, level: Level) -> FloatArray:
    """Krippendorff's alpha from counts of paired units, (units, categories), and rows of unit weights."""
    m = x.sum(axis=1)
    totals = weights @ x
    n = totals.sum(axis=1)
    if level == "nominal":
        seen = weights @ ((m**2 - (x**2).sum(axis=1)) / (m - 1))
        expected = n**2 - (totals**2).sum(axis=1)
    else:
        places = _places(totals, scores, level)
        within = m * (places**2 @ x.T) - (places @ x.T) ** 2  # half the sum of squared distances within a unit
        seen = 2 * (weights * within / (m - 1)).sum(axis=1)
        expected = 2 * (n * (totals * places**2).sum(axis=1) - (totals * places).sum(axis=1) ** 2)
    alpha = 1 - (n - 1) * _ratio(seen, expected)
    one_category = (totals > 0).sum(axis=1) <= 1  # decided by counting: a sum of squares may not be exactly zero
    defined: FloatArray = np.where(one_category, np.nan, alpha)
    return defined


def _places(totals: FloatArray, scores: FloatArray, level: Level) -> FloatArray:
    """Where each category lies, for each row of totals: its number, or its mid-rank."""
    if level == "interval":
        return np.broadcast_to(scores - (scores.mean() if len(scores) else 0.0), totals.shape)
    middle = totals.sum(axis=1, keepdims=True) / 2
    ranks: FloatArray = np.cumsum(totals, axis=1) - totals / 2 - middle
    return ranks


def _ac1(counts: IntArray, m: IntArray, weights: FloatArray, raw: FloatArray) -> FloatArray:
    categories = counts.shape[1]
    if categories < 2:
        return np.full(len(weights), np.nan)
    totals = weights @ (counts / m[:, None])
    shares = _ratio(totals, np.broadcast_to(weights.sum(axis=1, keepdims=True), totals.shape))
    chance = (shares * (1 - shares)).sum(axis=1) / (categories - 1)
    return _ratio(raw - chance, 1 - chance)


def _ratio(top: FloatArray, bottom: FloatArray) -> FloatArray:
    top = np.asarray(top, dtype=np.float64)
    out: FloatArray = np.divide(top, bottom, out=np.full_like(top, np.nan), where=bottom > 0)
    return out


def _resampled(
    counts: IntArray, read: Codes, level: Level, places: IntArray | None, resamples: int, rng: np.random.Generator
) -> _Coefficients:
    """The coefficients in bootstrap resamples of the units, or of whole clusters of them."""
    if places is None:  # units with the same counts are drawn together
        kinds, often = np.unique(counts, axis=0, return_counts=True)
        row_of = np.arange(len(kinds))
    else:
        kinds, row_of = counts, np.unique(places, return_inverse=True)[1]
        often = np.ones(row_of.max(initial=-1) + 1, dtype=np.int64)
    n = int(often.sum())
    if n < 2 or resamples == 0:
        return _Coefficients(np.empty(0), np.empty(0), np.empty(0))
    parts = [
        _coefficients(kinds, read, level, rng.multinomial(n, often / n, size=size)[:, row_of].astype(np.float64))
        for size in blocks(resamples, len(kinds) + kinds.shape[1])
    ]
    return _Coefficients(*(np.concatenate(values) for values in zip(*parts, strict=True)))


def _interval(estimate: float, draws: FloatArray, n: int, level: float) -> Interval:
    defined = draws[np.isfinite(draws)]
    if np.isnan(estimate) or len(defined) == 0:
        return Interval(estimate, np.nan, np.nan, level, "undefined", 0, n)
    low, high = np.quantile(defined, [(1 - level) / 2, (1 + level) / 2])
    return Interval(estimate, float(low), float(high), level, "percentile", len(defined), n)


def _why_no_alpha(codes: IntArray, counts: IntArray) -> str | None:
    if ((codes >= 0).any(axis=1)).sum() < 2:
        return ONE_RATER
    paired = counts[counts.sum(axis=1) >= 2]
    if len(paired) == 0:
        return NOTHING_SHARED
    return ONE_CATEGORY if (paired.sum(axis=0) > 0).sum() <= 1 else None


def _why_no_ac1(read: Codes, counts: IntArray) -> str | None:
    why = _why_no_alpha(read.codes, counts)
    if why in (ONE_RATER, NOTHING_SHARED):
        return why
    return ONE_POSSIBLE if len(read.categories) < 2 else None
