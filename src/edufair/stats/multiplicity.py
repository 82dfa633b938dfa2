"""Adjusted p-values for a family of tests. A test that could not be computed stays in it as p = 1."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from edufair.stats._arrays import FloatArray

Family = Sequence[float | None] | NDArray[np.generic]


def holm(p: Family) -> FloatArray:
    """Holm's step-down adjustment: controls the chance of any false rejection, whatever the dependence.

    Parameters
    ----------
    p : sequence of float, None or NaN; (tests,)
        The whole family. None and NaN mark tests that could not be computed: they count as p = 1 and come
        back as 1.

    Returns
    -------
    numpy.ndarray, (tests,)
        Adjusted p in the order given: reject where <= alpha.

    Raises
    ------
    ValueError
        If a p lies outside 0 to 1.

    Notes
    -----
    With p_(1) <= ... <= p_(m): adjusted p_(i) = max over j <= i of min(1, (m - j + 1) p_(j)).

    References
    ----------
    Holm (1979), A simple sequentially rejective multiple test procedure, Scandinavian Journal of Statistics
    6.

    Examples
    --------
    >>> holm([0.01, None, 0.02]).tolist()
    [0.03, 1.0, 0.04]
    """
    values = _family(p)
    order = np.argsort(values, kind="stable")
    factors = len(values) - np.arange(len(values))
    return _restore(np.maximum.accumulate(factors * values[order]), order)


def benjamini_hochberg(p: Family) -> FloatArray:
    """Benjamini and Hochberg's step-up adjustment: controls the expected share of false rejections.

    Parameters
    ----------
    p : sequence of float, None or NaN; (tests,)
        As in `holm`.

    Returns
    -------
    numpy.ndarray, (tests,)
        Adjusted p in the order given.

    Raises
    ------
    ValueError
        If a p lies outside 0 to 1.

    Notes
    -----
    With p_(1) <= ... <= p_(m): adjusted p_(i) = min over j >= i of min(1, m p_(j) / j). Holds for independent
    and for positively dependent tests.

    References
    ----------
    Benjamini and Hochberg (1995), doi:10.1111/j.2517-6161.1995.tb02031.x.

    Examples
    --------
    >>> benjamini_hochberg([0.01, None, 0.02]).tolist()
    [0.03, 1.0, 0.03]
    """
    values = _family(p)
    order = np.argsort(values, kind="stable")
    scaled = values[order] * len(values) / np.arange(1, len(values) + 1)
    return _restore(np.minimum.accumulate(scaled[::-1])[::-1], order)


def bonferroni(p: Family) -> FloatArray:
    """Bonferroni's adjustment: every p times the size of the family, at most 1.

    Parameters
    ----------
    p : sequence of float, None or NaN; (tests,)
        As in `holm`.

    Returns
    -------
    numpy.ndarray, (tests,)

    Raises
    ------
    ValueError
        If a p lies outside 0 to 1.

    Notes
    -----
    Adjusted p_i = min(1, m p_i). `holm` rejects all that this rejects, and sometimes more.

    References
    ----------
    Dunn (1961), doi:10.1080/01621459.1961.10482090.

    Examples
    --------
    >>> bonferroni([0.01, None, 0.02]).tolist()
    [0.03, 1.0, 0.06]
    """
    values = _family(p)
    return np.minimum(1.0, len(values) * values)


def _family(p: Family) -> FloatArray:
    """The family as floats, 1 for what could not be computed."""
    values = np.array([np.nan if each is None else each for each in p], dtype=np.float64)
    outside = np.flatnonzero((values < 0) | (values > 1))
    if len(outside):
        raise ValueError(f"p must lie between 0 and 1, got {values[outside[0]]} at test {outside[0]}")
    return np.where(np.isnan(values), 1.0, values)


def _restore(ordered: FloatArray, order: NDArray[np.intp]) -> FloatArray:
    """Adjusted p back in the order in which the tests came."""
    adjusted = np.empty_like(ordered)
    adjusted[order] = np.minimum(1.0, ordered)
    return adjusted
