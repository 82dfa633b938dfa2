"""Was more lost in one arm than in another? Loss that differs by arm can invent a difference."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import bdtr

from edufair.stats.friedman import friedman


@dataclass(frozen=True)
class Loss:
    """What a test of unequal loss found.

    Attributes
    ----------
    p : float
        Two-sided, that an item's loss falls on every arm alike.
    method : str
        "none lost", "exact McNemar" (two arms), "exact Cochran's Q" or "Cochran's Q" (more).
    counts : tuple of int
        Items lost in each arm, in the order of the arms.
    n : int
        Items.
    n_uneven : int
        Items lost in some arms and kept in others: all that the test can go by.
    """

    p: float
    method: Literal["none lost", "exact McNemar", "exact Cochran's Q", "Cochran's Q"]
    counts: tuple[int, ...]
    n: int
    n_uneven: int


def unequal_loss(lost: ArrayLike) -> Loss:
    """Test whether losses differ between the arms that the same items went through.

    Parameters
    ----------
    lost : array_like of bool, (items, arms)
        True where a score is missing for whatever reason: failed, refused, unparsed.

    Returns
    -------
    Loss

    Raises
    ------
    ValueError
        If there are no items or fewer than two arms, or a value is neither True nor False.

    Notes
    -----
    Two arms: with b items lost in the first arm only and c in the second only, p is the two-sided exact sign
    test of b against c, min(1, 2 P(Binomial(b + c, 1/2) <= min(b, c))). More arms: Cochran's Q, which is
    Friedman's statistic on zeros and ones, over the uneven items; its p is exact for few of them and
    chi-square beyond (see `friedman`). Nothing lost: p = 1. A large p from few uneven items is no evidence of
    equal loss.

    References
    ----------
    McNemar (1947), doi:10.1007/BF02295996. Cochran (1950), doi:10.1093/biomet/37.3-4.256.

    Examples
    --------
    >>> unequal_loss([[True, False]] * 6 + [[False, False]] * 20)
    Loss(p=0.03125, method='exact McNemar', counts=(6, 0), n=26, n_uneven=6)
    """
    table = _as_bool(lost)
    counts = tuple(int(count) for count in table.sum(axis=0))
    uneven = table[table.any(axis=1) & ~table.all(axis=1)]
    if not any(counts):
        return Loss(1.0, "none lost", counts, len(table), 0)
    if table.shape[1] == 2:
        return Loss(_mcnemar(uneven), "exact McNemar", counts, len(table), len(uneven))
    if len(uneven) == 0:
        return Loss(1.0, "exact Cochran's Q", counts, len(table), 0)
    found = friedman(uneven.astype(np.float64))
    method: Literal["exact Cochran's Q", "Cochran's Q"] = (
        "exact Cochran's Q" if found.method == "exact" else "Cochran's Q"
    )
    return Loss(found.p, method, counts, len(table), len(uneven))


def _as_bool(lost: ArrayLike) -> NDArray[np.bool_]:
    table = np.asarray(lost)
    if table.ndim != 2 or len(table) == 0 or table.shape[1] < 2:
        raise ValueError(f"lost must be items x arms with at least one item and two arms, got shape {table.shape}")
    if not np.isin(table, (0, 1)).all():
        raise ValueError("lost must hold True and False only")
    return table.astype(np.bool_)


def _mcnemar(uneven: NDArray[np.bool_]) -> float:
    fewer = int(min(uneven.sum(axis=0))) if len(uneven) else 0
    return min(1.0, 2 * float(bdtr(fewer, len(uneven), 0.5)))
