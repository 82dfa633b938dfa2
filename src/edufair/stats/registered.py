"""The registered family of tests of a judge audit: every field, stratum and contrast, adjusted together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from edufair.stats._arrays import FloatArray, settle
from edufair.stats._rating_cells import Cells, Names, means, rating_cells
from edufair.stats.bootstrap import cluster_means
from edufair.stats.cluster_test import ClusterTest, cluster_test
from edufair.stats.multiplicity import holm
from edufair.stats.rank_correlation import spearman


@dataclass(frozen=True)
class RegisteredTest:
    """One test of the family.

    Attributes
    ----------
    name : str
        "gap", "preference arm - control", "shift at pole", "gap, subset" or "Spearman with evidence".
    field : str
        The rating field.
    stratum : object
        None for a test over all strata.
    estimate, low, high : float
        Mean of cluster means with BCa interval; rho with Fisher's interval for Spearman.
    p, p_holm : float
        As it is, and adjusted over the family; a test that could not be computed has p NaN and p_holm 1.
    p_min : float
        Smallest attainable p; NaN for Spearman.
    n, n_nonzero : int
        Clusters, and clusters that differ from zero.
    disagreement : str or None
        Where interval and test disagree.
    """

    name: str
    field: str
    stratum: object
    estimate: float
    low: float
    high: float
    p: float
    p_holm: float
    p_min: float
    n: int
    n_nonzero: int
    disagreement: str | None


@dataclass(frozen=True)
class RegisteredTests:
    """The family, in its order.

    Attributes
    ----------
    tests : tuple of RegisteredTest
    n_hopeless : int
        Tests whose smallest attainable p is above 1 - level: they could not have rejected.
    level : float
    """

    tests: tuple[RegisteredTest, ...]
    n_hopeless: int
    level: float


def registered_tests(
    values: Mapping[str, ArrayLike],
    item: Names,
    cluster: Names,
    arm: Names,
    pole: Names,
    *,
    primary: str,
    low: float,
    high: float,
    arms: tuple[object, object],
    poles: tuple[object, object] = ("high", "low"),
    control: object | None = None,
    stratum: Names | None = None,
    subset: Sequence[bool] | NDArray[np.bool_] | None = None,
    evidence: ArrayLike | None = None,
    repetition: Names | None = None,
    resamples: int = 10_000,
    level: float = 0.95,
    seed: int = 13,
) -> RegisteredTests:
    """Every registered test of a judge audit, with Holm's adjustment over all of them.

    Parameters
    ----------
    values : mapping of str to array_like, (rows,)
        The rating fields.
    item, cluster, arm, pole, low, high, arms, poles, repetition, resamples, level, seed
        As in `rating_gap`; all strata together.
    primary : str
        The field with the primary endpoint; the others give one gap each.
    control : optional
        The arm without a profile; each of the two arms is contrasted with it.
    stratum : sequence, (rows,), optional
        Items of a stratum are analysed apart; a cluster may be in several.
    subset : sequence of bool, (rows,), optional
        Items for a second estimate of the primary gap.
    evidence : array_like, (rows,), optional
        Strength of evidence of each item, a number.

    Returns
    -------
    RegisteredTests

    Raises
    ------
    ValueError
        As in `rating_gap`, or if an item has two values of stratum, subset or evidence.

    Notes
    -----
    For each stratum, on the primary field: the gap; the preference for pole 0 under each arm minus that under the
    control; the shift at each pole (arm 1 - arm 0); then the gap of every other field. For each stratum the primary
    gap on the subset. Over all strata, Spearman's correlation of the cluster means of |gap| with the cluster means of
    evidence. With two strata, four other fields, a control, a subset and evidence: 2 (1 + 2 + 2 + 4) + 2 + 1 = 21.

    Ranks are taken after rounding, so that equal thirds are ties. The paper's rho = -0.179 comes from ranking them
    unrounded, where the last bit of a sum decides; rounded, its data give -0.145.

    References
    ----------
    Deng et al. (2026), 4 and 7 (arXiv 2608.27309).
    """
    if primary not in values:
        raise ValueError(f"primary must be one of {', '.join(values)}, got {primary!r}")
    names = _arm_names(arm, arms, control)
    read = {
        field: rating_cells(
            value, item, cluster, arm, pole, arms=arms, poles=poles, low=low, high=high, repetition=repetition
        )
        for field, value in values.items()
    }
    strata, inside, strength = (
        None if column is None else _by_item(item, column, name)
        for column, name in ((stratum, "stratum"), (subset, "subset"), (evidence, "evidence"))
    )
    every = [None] if strata is None else sorted(set(strata.values()), key=str)
    found = []

    def test(name: str, field: str, group: object, contrast: FloatArray, only: dict[object, object] | None) -> None:
        cells = read[field]
        chosen = np.array(
            [(strata is None or strata[each] == group) and (only is None or bool(only[each])) for each in cells.items]
        ) & np.isfinite(contrast)
        result = None
        if chosen.any():
            result = cluster_test(contrast[chosen], cells.clusters[chosen], resamples=resamples, level=level, seed=seed)
        found.append(_as_registered(name, field, group, result))

    for group in every:
        for name, contrast in _primary_contrasts(read[primary], names, poles, control).items():
            test(name, primary, group, contrast, None)
        for field in values:
            if field != primary:
                test("gap", field, group, _gap(read[field]), None)
    if inside is not None:
        for group in every:
            test("gap, subset", primary, group, _gap(read[primary]), inside)
    if strength is not None:
        found.append(_with_evidence(read[primary], strength, primary, level))
    adjusted = holm([each.p for each in found])
    tests = tuple(replace(each, p_holm=float(p)) for each, p in zip(found, adjusted, strict=True))
    return RegisteredTests(tests, sum(each.p_min > 1 - level + 1e-12 for each in tests), level)


def _arm_names(arm: Names, arms: tuple[object, object], control: object | None) -> tuple[object, ...]:
    seen = set(arm.tolist() if isinstance(arm, np.ndarray) else arm)
    if control is not None and (control not in seen or control in arms):
        raise ValueError(f"control must be a third arm that occurs, got {control!r}")
    return (*arms, *sorted(seen - set(arms), key=str))


def _by_item(item: Names, column: ArrayLike | Names, name: str) -> dict[object, object]:
    items = item.tolist() if isinstance(item, np.ndarray) else list(item)
    values = np.asarray(column).tolist()
    if len(values) != len(items):
        raise ValueError(f"{name} must have an entry for each of the {len(items)} rows, got {len(values)}")
    found: dict[object, object] = {}
    for each, value in zip(items, values, strict=True):
        if found.setdefault(each, value) != value:
            raise ValueError(f"item {each!r} has two values of {name}, {found[each]!r} and {value!r}")
    return found


def _gap(cells: Cells) -> FloatArray:
    s = means(cells.ratings)
    gap: FloatArray = (s[:, 0, 0] - s[:, 0, 1]) - (s[:, 1, 0] - s[:, 1, 1])
    return gap


def _primary_contrasts(
    cells: Cells, arms: tuple[object, ...], poles: tuple[object, object], control: object | None
) -> dict[str, FloatArray]:
    s = means(cells.ratings)
    delta = s[:, :, 0] - s[:, :, 1]
    contrasts = {"gap": _gap(cells)}
    if control is not None:
        without = arms.index(control)
        contrasts |= {f"preference {arms[i]} - {control}": delta[:, i] - delta[:, without] for i in (0, 1)}
    return contrasts | {f"shift at {pole}": s[:, 1, place] - s[:, 0, place] for place, pole in enumerate(poles)}


def _as_registered(name: str, field: str, stratum: object, test: ClusterTest | None) -> RegisteredTest:
    if test is None:
        return RegisteredTest(name, field, stratum, np.nan, np.nan, np.nan, np.nan, 1.0, np.nan, 0, 0, None)
    return RegisteredTest(
        name,
        field,
        stratum,
        test.estimate,
        test.low,
        test.high,
        test.p,
        1.0,
        test.p_min,
        test.n,
        test.n_nonzero,
        test.disagreement,
    )


def _with_evidence(cells: Cells, strength: dict[object, object], field: str, level: float) -> RegisteredTest:
    size = cluster_means(np.abs(_gap(cells)), cells.clusters)
    code = cluster_means([float(strength[each]) for each in cells.items], cells.clusters)  # type: ignore[arg-type]
    found = spearman(size, code, level=level)
    return RegisteredTest(
        "Spearman with evidence",
        field,
        None,
        found.rho,
        found.low,
        found.high,
        found.p,
        1.0,
        np.nan,
        found.n,
        int((settle(size) != 0).sum()),
        None,
    )
