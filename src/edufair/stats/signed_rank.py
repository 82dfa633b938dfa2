"""The Wilcoxon signed-rank test with zeros and ties, and its effect size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr

from edufair.stats._arrays import IntArray, complete
from edufair.stats._ranks import doubled_ranks, tally

EXACT_LIMIT: Final = 200  # nonzero differences up to which "auto" is exact
FLOAT_LIMIT: Final = 1000  # beyond, 2**-n leaves the range of float64


@dataclass(frozen=True)
class SignedRank:
    """What a signed-rank test found.

    Attributes
    ----------
    n, n_nonzero : int
        Pairs, and pairs with a difference.
    w_plus, w_minus : float
        Sums of the ranks of |d| over positive and over negative differences.
    r : float
        Matched-pairs rank-biserial correlation, -1 to 1; positive when A is the larger.
    p : float
        Two-sided.
    p_min : float
        The smallest p that this test could have given with these ranks. Above 0.05, it could not have
        rejected.
    method : str
        What gave p: "exact", "normal", or "all zero" (nothing differs, nothing was tested).
    """

    n: int
    n_nonzero: int
    w_plus: float
    w_minus: float
    r: float
    p: float
    p_min: float
    method: Literal["exact", "normal", "all zero"]


def signed_rank(
    d: ArrayLike,
    *,
    zeros: Literal["pratt", "wilcox"] = "pratt",
    method: Literal["auto", "exact", "normal"] = "auto",
) -> SignedRank:
    """Test whether paired differences are symmetric about zero, and how far they lean to one side.

    Parameters
    ----------
    d : array_like, (pairs,)
        Differences A - B of complete pairs. Rounded to 12 decimals first; below 1e-9 is zero.
    zeros : {"pratt", "wilcox"}
        "pratt" ranks the zeros with the rest and then drops them; "wilcox" drops them before ranking.
    method : {"auto", "exact", "normal"}
        "auto" is exact up to 200 nonzero differences and normal beyond.

    Returns
    -------
    SignedRank

    Raises
    ------
    ValueError
        If there are no pairs, if a difference is NaN or infinite, or if "exact" is asked for more than 1000
        nonzero differences.

    Notes
    -----
    With R_i the average rank of |d_i| and W+ (W-) the sum of R_i over positive (negative) differences,

        r = (W+ - W-) / (W+ + W-).

    r weighs only pairs that differ: one pair in a thousand is enough for |r| = 1. Read it beside the mean
    difference and the share of nonzero pairs.

    Given |d|, the null hypothesis makes the signs of the nonzero differences independent fair coins. The
    exact p is the share of the 2^n_nonzero sign patterns with |W+ - W-| at least as large as seen, summed by
    dynamic programming over doubled ranks (integers, whatever the ties). The normal p uses z = (W+ - W-) /
    sqrt(sum R_i^2), which is already corrected for ties and zeros, without a continuity correction.

    All differences zero: r = 0, p = 1, p_min = 1. Exact p_min is 2^(1 - n_nonzero), at most 1.

    References
    ----------
    Wilcoxon (1945), doi:10.2307/3001968. Pratt (1959), doi:10.1080/01621459.1959.10501526. Kerby (2014),
    doi:10.2466/11.IT.3.1 (the simple difference formula for r).

    Examples
    --------
    >>> result = signed_rank([1, 2, 3, 4, 0])
    >>> result.w_plus, result.r, result.p, result.method
    (14.0, 1.0, 0.125, 'exact')
    """
    values = complete(d, name="d", shape=("pairs",))
    _check_choice(zeros, ("pratt", "wilcox"), name="zeros")
    _check_choice(method, ("auto", "exact", "normal"), name="method")
    counts = tally(values)
    if zeros == "wilcox":
        counts = counts._replace(zero=np.zeros_like(counts.zero))
    ranks = doubled_ranks(counts)
    plus = int((ranks * counts.plus).sum())
    minus = int((ranks * counts.minus).sum())
    each = np.repeat(ranks, counts.plus + counts.minus)
    if len(each) == 0:
        return SignedRank(len(values), 0, 0.0, 0.0, 0.0, 1.0, 1.0, "all zero")
    used = _method(method, len(each))
    p, p_min = _exact(each, plus - minus) if used == "exact" else _normal(each, plus - minus)
    r = (plus - minus) / (plus + minus)
    return SignedRank(len(values), len(each), plus / 2, minus / 2, r, p, p_min, used)


def _check_choice(value: str, choices: tuple[str, ...], *, name: str) -> None:
    if value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(choices)}, got {value!r}")


def _method(asked: str, n_nonzero: int) -> Literal["exact", "normal"]:
    if asked == "exact" and n_nonzero > FLOAT_LIMIT:
        raise ValueError(f"method='exact' reaches {FLOAT_LIMIT} nonzero differences, d has {n_nonzero}: use 'auto'")
    return "exact" if asked == "exact" or (asked == "auto" and n_nonzero <= EXACT_LIMIT) else "normal"


def _exact(ranks: IntArray, gap: int) -> tuple[float, float]:
    """p and p_min from the distribution of W+ over all sign patterns; `gap` is W+ - W- in doubled ranks."""
    step = int(np.gcd.reduce(ranks))  # ties and zeros leave common factors: a sign test needs n + 1 cells only
    ranks = ranks // step
    total = int(ranks.sum())
    mass = np.zeros(total + 1)
    mass[0] = 1.0
    reach = 0
    for rank in ranks.tolist():
        half = mass[: reach + 1] * 0.5
        mass[: reach + 1] = half
        mass[rank : rank + reach + 1] += half
        reach += rank
    upper = (total + abs(gap) // step) // 2
    p = min(1.0, 2 * float(mass[upper:].sum()))
    return p, min(1.0, 2.0 ** (1 - len(ranks)))


def _normal(ranks: IntArray, gap: int) -> tuple[float, float]:
    """p and p_min from the normal approximation."""
    spread = float(np.sqrt((ranks.astype(np.float64) ** 2).sum()))
    furthest = float(ranks.sum())
    return 2 * float(ndtr(-abs(gap) / spread)), 2 * float(ndtr(-furthest / spread))
