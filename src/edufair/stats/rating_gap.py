"""A difference in differences of bounded ratings: the registered analysis, and whether the scale could have made it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from edufair.stats._arrays import FloatArray, complete
from edufair.stats._construction import constructions
from edufair.stats._pinned import pinned_items
from edufair.stats._rating_cells import Cells, Names, at_bound, means, rating_cells
from edufair.stats.censoring import Construction, GapVerdict, Headroom, Pinned, gap_verdict
from edufair.stats.cluster_test import ClusterTest, cluster_test


@dataclass(frozen=True)
class RatingGap:
    """A gap of ratings with the check whether the scale could have made it.

    Attributes
    ----------
    arms, poles : tuple
        In their order: the gap is (arm 0: pole 0 - pole 1) - (arm 1: pole 0 - pole 1).
    low, high : float
        Bounds of the scale.
    gap : ClusterTest
    preference : dict of object to ClusterTest
        Pole 0 minus pole 1 under every arm of the table.
    shifts : dict of object to ClusterTest
        By pole, arm 1 minus arm 0 (the paper's sign): gap = shift of pole 1 - shift of pole 0.
    pinned : tuple of Pinned
        By pole and bound.
    headroom : Headroom
    constructions : tuple of Construction
        Zero-differential constructions, both directions, each form.
    form_left_out : str or None
        Why a form of the construction is not there.
    kappa : dict of object to float
        Attenuation by pole: from the clipping construction onto it; 1 where all of its items are pinned.
    verdict : {"cannot tell", "one-pole contrast", "no sign that the scale made it"}
    reason : str
        The verdict's ground, in words.
    disagreement : str or None
        Where interval and exact test of the gap or of a shift disagree, in words.
    n_items, n_incomplete, n_missing : int
        Items used; items left out because a cell has no rating; rows without a value.
    """

    arms: tuple[object, object]
    poles: tuple[object, object]
    low: float
    high: float
    gap: ClusterTest
    preference: dict[object, ClusterTest]
    shifts: dict[object, ClusterTest]
    pinned: tuple[Pinned, ...]
    headroom: Headroom
    constructions: tuple[Construction, ...]
    form_left_out: str | None
    kappa: dict[object, float]
    verdict: GapVerdict
    reason: str
    disagreement: str | None
    n_items: int
    n_incomplete: int
    n_missing: int


@dataclass(frozen=True)
class RatingContrast:
    """A single contrast of ratings, without poles.

    Attributes
    ----------
    arms : tuple
    difference : ClusterTest
        arm 0 minus arm 1.
    means : tuple of float
        Of both arms, over items.
    at_low, at_high : tuple of float
        Share of items at the bound in both arms, in the first only, in the second only.
    headroom : Headroom
    note : str
        What the scale can have done, in words.
    n_items, n_incomplete, n_missing : int
    """

    arms: tuple[object, object]
    difference: ClusterTest
    means: tuple[float, float]
    at_low: tuple[float, float, float]
    at_high: tuple[float, float, float]
    headroom: Headroom
    note: str
    n_items: int
    n_incomplete: int
    n_missing: int


def rating_gap(
    value: ArrayLike,
    item: Names,
    cluster: Names,
    arm: Names,
    pole: Names,
    *,
    low: float,
    high: float,
    arms: tuple[object, object],
    poles: tuple[object, object] = ("high", "low"),
    repetition: Names | None = None,
    control: object | None = None,
    probit: bool = True,
    resamples: int = 10_000,
    level: float = 0.95,
    seed: int = 13,
) -> RatingGap:
    """Analyse one field of ratings of two poles under two arms, as registered, with the identifiability check.

    Parameters
    ----------
    value : array_like, (rows,)
        One rating a row; NaN where there is none. Rows of one item, arm and pole are repetitions.
    item, cluster, arm, pole : sequence, (rows,)
        What is rated; the independent unit it belongs to; what the judge was told; which of two responses.
    low, high : float
        Bounds of the scale, such as 1 and 5.
    arms : tuple
        The two arms compared, such as (novice, advanced). Others in the table count for "pinned in every arm".
    poles : tuple
        The two poles.
    repetition : sequence, (rows,), optional
        Only to catch a row that is there twice.
    control : optional
        An arm by whose ratings the gap is also split, at a bound and off it.
    probit : bool
        Whether to fit the ordered-probit form of the construction (integer ratings only).
    resamples, level, seed
        Of the intervals.

    Returns
    -------
    RatingGap

    Raises
    ------
    ValueError
        If lengths differ, a value lies outside the bounds, an item is in two clusters, a named arm or pole does not
        occur, a third pole does, or no item has every cell.

    Notes
    -----
    S is the mean over repetitions, Delta(arm) = S(pole 0) - S(pole 1), gap = Delta(arm 0) - Delta(arm 1), averaged
    within cluster before anything is tested (`cluster_test`). a_j = S_j(arm 1) - S_j(arm 0), so gap = a_1 - a_0.

    A shift common to both poles cancels in the gap only if the scale cuts it alike at both. It does not where one pole
    stands at a bound: an item pinned at a pole in every arm has a_j = 0 whatever was meant, and its gap is the other
    pole's shift.

    *Construction.* Each item's own shift at one pole is carried over to the other pole's ratings in arm 0, and cut by
    the scale: on a scale without bounds this makes no gap. Three forms: "clip" (add, clip, average), "round" (add,
    round to the nearest integer, halves up, clip), "ordered probit" (`ordered_probit`: on the latent scale, expected
    ratings before and after). The verdict goes by "clip" alone, where any gap comes from unequal clipping; the other
    two show what rounding and noise change. On the released ratings the ordered probit reproduces 79% of the
    productive-struggle gap (the paper's, whose details are not printed, 69 to 77%).

    *Headroom.* With arm 0 held fixed, Delta(arm 1) can reach from -(high - low) to high - low.

    *Verdicts*, in order. "cannot tell": the test could not have rejected, or neither the gap nor either shift was
    detected. "one-pole contrast": half or more of the items are pinned at one pole in every arm, or a construction in
    either direction makes half or more of the gap. Else "no sign that the scale made it", which never means that a
    preference is identified.

    Strata are analysed apart: hand over the rows of one.

    References
    ----------
    Deng et al. (2026), Difference-in-Differences on a Censored Rating Scale Can Manufacture an Effect, 4 to 6 (arXiv
    2608.27309). Puhani (2012), doi:10.1016/j.econlet.2011.11.025.

    Examples
    --------
    >>> rows = [(i, arm, pole) for i in range(8) for arm in ("novice", "advanced") for pole in ("high", "low")]
    >>> value = [{"high": 5 - (arm == "advanced") - (i % 2), "low": 1}[pole] for i, arm, pole in rows]
    >>> item, arm, pole = zip(*rows)
    >>> found = rating_gap(value, item, item, arm, pole, low=1, high=5, arms=("novice", "advanced"))
    >>> found.gap.estimate, found.verdict
    (1.0, 'one-pole contrast')
    """
    cells = rating_cells(
        value, item, cluster, arm, pole, arms=arms, poles=poles, low=low, high=high, repetition=repetition
    )
    others = sorted(set(_listed(arm)) - set(arms), key=str)
    names = (*arms, *others)
    if control is not None and control not in names:
        raise ValueError(f"control must be one of {', '.join(map(repr, names))}, got {control!r}")
    where = None if control is None else names.index(control)
    return _gap_of_cells(
        cells,
        names,
        poles,
        low=low,
        high=high,
        control=where,
        probit=probit,
        resamples=resamples,
        level=level,
        seed=seed,
    )


def opposite_gap(
    cells: ArrayLike,
    cluster: Names | None = None,
    *,
    poles: tuple[object, object] = ("female student", "male student"),
    arms: tuple[object, object] = ("told female", "told male"),
    low: float = 0.0,
    high: float = 1.0,
    resamples: int = 10_000,
    level: float = 0.95,
    seed: int = 13,
) -> RatingGap:
    """The opposite condition's interaction with the bounded-scale check: poles are students, arms tutors' cues.

    Parameters
    ----------
    cells : array_like, (items, 2, 2)
        A rate for each item by student (first axis: poles) and what the tutor was told (second: arms); complete items.
    cluster : sequence, (items,), optional
        The independent unit of each item; each item its own by default.
    poles, arms : tuple
        Names for both axes.
    low, high : float
    resamples, level, seed

    Returns
    -------
    RatingGap
        `gap` is the interaction ff - fm - mf + mm of the design, ff standing first in both axes.

    Raises
    ------
    ValueError
        If cells is not items x 2 x 2, incomplete, or outside the bounds.

    Notes
    -----
    As `rating_gap`, with the clipping form of the construction alone: rates are no integers.

    Examples
    --------
    >>> found = opposite_gap([[[0.5, 0.5], [0.5, 0.5]], [[0.75, 0.5], [0.25, 0.5]]])
    >>> found.gap.estimate, found.form_left_out
    (0.25, 'ratings are not integers: clipping form only')
    """
    values = complete(cells, name="cells", shape=("items", "students", "tutors"))
    if values.shape[1:] != (2, 2):
        raise ValueError(f"cells must be items x 2 students x 2 tutors, got an array of shape {values.shape}")
    if values.min() < low or values.max() > high:
        raise ValueError(f"cells must lie between {low} and {high}, got {values.min()} to {values.max()}")
    items = np.arange(len(values))
    if cluster is not None and len(cluster) != len(values):
        raise ValueError(f"cluster must have an entry for each of the {len(values)} items, got {len(cluster)}")
    own = items if cluster is None else np.asarray(cluster)
    ratings = values.transpose(0, 2, 1)[..., None]
    read = Cells(ratings, tuple(items.tolist()), own, 0, 0)
    return _gap_of_cells(
        read, arms, poles, low=low, high=high, control=None, probit=False, resamples=resamples, level=level, seed=seed
    )


def rating_contrast(
    value: ArrayLike,
    item: Names,
    cluster: Names,
    arm: Names,
    *,
    low: float,
    high: float,
    arms: tuple[object, object],
    repetition: Names | None = None,
    resamples: int = 10_000,
    level: float = 0.95,
    seed: int = 13,
) -> RatingContrast:
    """Analyse one field of ratings under two arms, without poles: the contrast and what the bounds leave it.

    Parameters
    ----------
    value, item, cluster, arm, low, high, arms, repetition, resamples, level, seed
        As in `rating_gap`. Arms beyond the two are not used.

    Returns
    -------
    RatingContrast

    Raises
    ------
    ValueError
        As in `rating_gap`.

    Notes
    -----
    Clipping brings two ratings nearer to each other and never further apart: for a single contrast the scale can
    hide a difference and cannot make one. There is no construction; what is shown is the room.

    Examples
    --------
    >>> value, item, arm = [5, 5, 5, 4, 3, 2], [1, 1, 2, 2, 3, 3], ["a", "b"] * 3
    >>> found = rating_contrast(value, item, item, arm, low=1, high=5, arms=("a", "b"))
    >>> round(found.difference.estimate, 3), [round(share, 2) for share in found.at_high]
    (0.667, [0.33, 0.33, 0.0])
    """
    cells = rating_cells(
        value, item, cluster, arm, None, arms=arms, poles=("",), low=low, high=high, repetition=repetition
    )
    ratings = cells.ratings[:, :2, 0]
    s = means(ratings)
    shares = [_shares(at_bound(ratings, bound)) for bound in (low, high)]
    stuck = shares[0][0] + shares[1][0]
    return RatingContrast(
        arms=arms,
        difference=cluster_test(s[:, 0] - s[:, 1], cells.clusters, resamples=resamples, level=level, seed=seed),
        means=(float(s[:, 0].mean()), float(s[:, 1].mean())),
        at_low=shares[0],
        at_high=shares[1],
        headroom=Headroom(up=float((s[:, 0] - low).mean()), down=float((high - s[:, 0]).mean())),
        note=(
            f"{stuck:.0%} of the items stand at a bound in both arms and can show no difference; the scale can hide a "
            "difference of two arms, it cannot make one"
        ),
        n_items=len(s),
        n_incomplete=cells.n_incomplete,
        n_missing=cells.n_missing,
    )


def _listed(names: Names) -> list[object]:
    listed: list[object] = names.tolist() if isinstance(names, np.ndarray) else list(names)
    return listed


def _shares(there: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]) -> tuple[float, float, float]:
    a, b = there[:, 0], there[:, 1]
    return float((a & b).mean()), float((a & ~b).mean()), float((~a & b).mean())


def _gap_of_cells(
    cells: Cells,
    arms: tuple[object, ...],
    poles: tuple[object, object],
    *,
    low: float,
    high: float,
    control: int | None,
    probit: bool,
    resamples: int,
    level: float,
    seed: int,
) -> RatingGap:
    def tested(values: FloatArray) -> ClusterTest:
        there = np.isfinite(values)  # an arm beyond the two compared may lack an item
        return cluster_test(values[there], cells.clusters[there], resamples=resamples, level=level, seed=seed)

    s = means(cells.ratings)
    delta = s[:, :, 0] - s[:, :, 1]
    values = delta[:, 0] - delta[:, 1]
    gap = tested(values)
    shifts = {pole: tested(s[:, 1, place] - s[:, 0, place]) for place, pole in enumerate(poles)}
    pinned = pinned_items(
        cells, values, poles, low=low, high=high, control=control, resamples=resamples, level=level, seed=seed
    )
    made, left_out = constructions(cells, poles, low=low, high=high, probit=probit)
    verdict, reason = gap_verdict(gap, shifts, pinned, made)
    return RatingGap(
        arms=(arms[0], arms[1]),
        poles=poles,
        low=low,
        high=high,
        gap=gap,
        preference={name: tested(delta[:, i]) for i, name in enumerate(arms) if np.isfinite(delta[:, i]).any()},
        shifts=shifts,
        pinned=pinned,
        headroom=Headroom(up=float(high - low + delta[:, 0].mean()), down=float(high - low - delta[:, 0].mean())),
        constructions=made,
        form_left_out=left_out,
        kappa={pole: _kappa(pole, pinned, made) for pole in poles},
        verdict=verdict,
        reason=reason,
        disagreement=_disagreement(gap, shifts),
        n_items=len(values),
        n_incomplete=cells.n_incomplete,
        n_missing=cells.n_missing,
    )


def _kappa(pole: object, pinned: tuple[Pinned, ...], made: tuple[Construction, ...]) -> float:
    if sum(each.share for each in pinned if each.pole == pole) >= 1:
        return 1.0
    return next(each.kappa for each in made if each.form == "clip" and each.target == pole)


def _disagreement(gap: ClusterTest, shifts: dict[object, ClusterTest]) -> str | None:
    named = {"gap": gap} | {f"shift at pole {pole}": shift for pole, shift in shifts.items()}
    said = [f"{name}: {test.disagreement}" for name, test in named.items() if test.disagreement]
    return "; ".join(said) or None
