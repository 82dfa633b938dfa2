"""Is the judge right? Its labels against people's, and whether it errs more in one arm than in another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from edufair.stats._arrays import FloatArray, IntArray
from edufair.stats._labels import MISSING, Level, counts_by_unit, read_labels
from edufair.stats.agreement import Agreement, PairAgreement, agreement
from edufair.stats.bootstrap import Interval, mean_interval

Labels = Sequence[object] | NDArray[np.generic]


@dataclass(frozen=True)
class ErrorRate:
    """How often the judge differs from people, in one arm.

    Attributes
    ----------
    arm : object
    n, errors : int
        Units with both a judge's label and a consensus, and those where they differ.
    rate : float
        errors / n.
    low, high : float
        Wilson interval.
    net : Interval or None
        Mean of judge minus consensus where the labels are numbers: errors that cancel do not move an arm's mean,
        these do.
    """

    arm: object
    n: int
    errors: int
    rate: float
    low: float
    high: float
    net: Interval | None


@dataclass(frozen=True)
class ErrorGap:
    """Difference of two arms' error rates, first minus second.

    Attributes
    ----------
    arms : tuple
    difference, low, high : float
    method : str
        "Newcombe" for independent units, "cluster bootstrap" where clusters were given.
    """

    arms: tuple[object, object]
    difference: float
    low: float
    high: float
    method: Literal["Newcombe", "cluster bootstrap"]


@dataclass(frozen=True)
class JudgeAgainstPeople:
    """A judge's labels beside people's.

    Attributes
    ----------
    consensus : Agreement
        The judge and the people's consensus, as two raters.
    with_each : tuple of PairAgreement
        The judge (row 0) with each person (rows 1, 2, ...).
    people : Agreement or None
        The people among themselves: what the judge can be expected to reach. None for one person.
    categories : tuple
    table : tuple of tuple of int
        Units by the judge's label (rows) and the consensus (columns), in the order of the categories.
    n_units : int
        Units handed over.
    n_no_label : int
        Units without a judge's label.
    n_no_people : int
        Units that no person labelled.
    n_tied : int
        Units on which people gave two labels equally often: no consensus.
    errors : tuple of ErrorRate
        By arm, in sorted order; one entry for the arm None where no arms were given.
    gaps : tuple of ErrorGap
        Every pair of arms.
    level : float
        Of the intervals in `errors` and `gaps`.
    """

    consensus: Agreement
    with_each: tuple[PairAgreement, ...]
    people: Agreement | None
    categories: tuple[object, ...]
    table: tuple[tuple[int, ...], ...]
    n_units: int
    n_no_label: int
    n_no_people: int
    n_tied: int
    errors: tuple[ErrorRate, ...]
    gaps: tuple[ErrorGap, ...]
    level: float


def judge_against_people(
    judge: Labels,
    people: Sequence[Labels] | NDArray[np.generic],
    *,
    level: Level = "nominal",
    domain: Sequence[object] | None = None,
    arm: Sequence[object] | None = None,
    cluster: Sequence[object] | None = None,
    resamples: int = 1000,
    confidence: float = 0.95,
    rng: np.random.Generator,
) -> JudgeAgainstPeople:
    """Compare a judge's labels with people's, over all and by arm.

    Parameters
    ----------
    judge : array_like, (units,)
        None or NaN where the judge gave no label.
    people : array_like, (people, units)
        None or NaN where a person gave none.
    level, domain
        As in `agreement`.
    arm : sequence, (units,), optional
        The arm of each unit.
    cluster : sequence, (units,), optional
        Units of one cluster are not independent (turns of a dialogue, arms of an item): they are resampled
        together for the gaps between arms.
    resamples : int
    confidence : float
    rng : numpy.random.Generator

    Returns
    -------
    JudgeAgainstPeople

    Raises
    ------
    ValueError
        If the lengths differ, or as in `agreement`.

    Notes
    -----
    The consensus is the label that most people gave; a tie is no consensus. An error is a judge's label other than
    the consensus. Rates have Wilson intervals; the gap of two arms has Newcombe's hybrid score interval (method 10),
    or with clusters a percentile bootstrap of whole clusters, which is a point where no unit is in error: read n.

    A judge that errs at the same rate in both arms weakens a difference; one that errs more, or in another
    direction, in one arm makes a difference by itself. `net` is what an arm's mean is off by.

    References
    ----------
    Newcombe (1998), doi:10.1002/(SICI)1097-0258(19980430)17:8<873::AID-SIM779>3.0.CO;2-I.

    Examples
    --------
    >>> judge, people = [1, 1, 0, 0, 1], [[1, 1, 0, 1, 1], [1, 1, 0, 1, 1]]
    >>> found = judge_against_people(judge, people, rng=np.random.default_rng(1))
    >>> found.errors[0].errors, found.errors[0].n, found.people.raw.estimate
    (1, 5, 1.0)
    """
    rows = [list(judge), *(list(row) for row in people)]
    lengths = {len(row) for row in rows}
    if len(rows) < 2 or len(lengths) != 1:
        raise ValueError("people must hold at least one row, each with a label or None for every unit of the judge")
    read = read_labels(rows, level=level, domain=domain)
    mine, theirs = read.codes[0], read.codes[1:]
    consensus, tied = _consensus(theirs, len(read.categories))
    words = [[None if code < 0 else read.categories[code] for code in row] for row in (mine, consensus)]
    both = (mine >= 0) & (consensus >= 0)
    arms = _arms(arm, len(mine))
    wrong = mine != consensus
    compare = partial(agreement, level=level, domain=read.categories, confidence=confidence, rng=rng)
    return JudgeAgainstPeople(
        consensus=compare(words, resamples=resamples),
        with_each=compare(rows, resamples=0).pairs[: len(rows) - 1],  # the pairs of row 0 come first
        people=compare(rows[1:], resamples=resamples) if len(rows) > 2 else None,
        categories=read.categories,
        table=_table(mine[both], consensus[both], len(read.categories)),
        n_units=len(mine),
        n_no_label=int((mine < 0).sum()),
        n_no_people=int((theirs < 0).all(axis=0).sum()),
        n_tied=int(tied.sum()),
        errors=_error_rates(mine, consensus, both, arms, _numbers(read.categories), confidence),
        gaps=_gaps(wrong, both, arms, cluster, resamples, confidence, rng),
        level=confidence,
    )


def _consensus(codes: IntArray, categories: int) -> tuple[IntArray, NDArray[np.bool_]]:
    """The most frequent label of each unit, -1 where there is none or two are as frequent; and where those are."""
    counts = counts_by_unit(codes, categories)
    best = counts.max(axis=1, initial=0)
    tied = (best > 0) & ((counts == best[:, None]).sum(axis=1) > 1)
    winner = counts.argmax(axis=1) if categories else np.full(codes.shape[1], MISSING)
    consensus: IntArray = np.where((best == 0) | tied, MISSING, winner)
    return consensus, tied


def _arms(arm: Sequence[object] | None, units: int) -> list[object]:
    arms: list[object] = [None] * units if arm is None else list(arm)
    if len(arms) != units:
        raise ValueError(f"arm must name an arm for each of the {units} units, got {len(arms)}")
    return arms


def _numbers(categories: tuple[object, ...]) -> FloatArray | None:
    try:
        return np.array([float(category) for category in categories])  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return None


def _table(mine: IntArray, consensus: IntArray, categories: int) -> tuple[tuple[int, ...], ...]:
    flat = np.bincount(mine * categories + consensus, minlength=categories**2)
    return tuple(tuple(int(n) for n in row) for row in flat.reshape(categories, categories))


def _error_rates(
    mine: IntArray,
    consensus: IntArray,
    both: NDArray[np.bool_],
    arms: list[object],
    numbers: FloatArray | None,
    level: float,
) -> tuple[ErrorRate, ...]:
    rates = []
    for name, here in _by_arm(arms, both):
        n, errors = int(here.sum()), int((mine != consensus)[here].sum())
        low, high = _wilson(errors, n, level)
        net = None
        if numbers is not None and n > 0:
            reach = float(np.ptp(numbers)) or 1.0
            net = mean_interval(numbers[mine[here]] - numbers[consensus[here]], level=level, bound=reach)
        rates.append(ErrorRate(name, n, errors, errors / n if n else np.nan, low, high, net))
    return tuple(rates)


def _by_arm(arms: list[object], both: NDArray[np.bool_]) -> list[tuple[object, NDArray[np.bool_]]]:
    return [(name, np.array([each == name for each in arms]) & both) for name in sorted(set(arms), key=str)]


def _wilson(errors: int, n: int, level: float) -> tuple[float, float]:
    if n == 0:
        return np.nan, np.nan
    z = float(ndtri((1 + level) / 2))
    p = errors / n
    centre, half = p + z * z / (2 * n), z * np.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    return max(0.0, float((centre - half) / (1 + z * z / n))), min(1.0, float((centre + half) / (1 + z * z / n)))


def _gaps(
    wrong: NDArray[np.bool_],
    both: NDArray[np.bool_],
    arms: list[object],
    cluster: Sequence[object] | None,
    resamples: int,
    level: float,
    rng: np.random.Generator,
) -> tuple[ErrorGap, ...]:
    if cluster is not None and len(cluster) != len(arms):
        raise ValueError(f"cluster must name a cluster for each of the {len(arms)} units, got {len(cluster)}")
    gaps = []
    for (a, in_a), (b, in_b) in combinations(_by_arm(arms, both), 2):
        if not in_a.any() or not in_b.any():
            gaps.append(ErrorGap((a, b), np.nan, np.nan, np.nan, "Newcombe"))
        elif cluster is None:
            gaps.append(_newcombe((a, b), wrong[in_a], wrong[in_b], level))
        else:
            gaps.append(_clustered((a, b), wrong, in_a, in_b, cluster, resamples, level, rng))
    return tuple(gaps)


def _newcombe(
    arms: tuple[object, object], first: NDArray[np.bool_], second: NDArray[np.bool_], level: float
) -> ErrorGap:
    p, q = float(first.mean()), float(second.mean())
    (p_low, p_high), (q_low, q_high) = (_wilson(int(x.sum()), len(x), level) for x in (first, second))
    low = p - q - np.sqrt((p - p_low) ** 2 + (q_high - q) ** 2)
    high = p - q + np.sqrt((p_high - p) ** 2 + (q - q_low) ** 2)
    return ErrorGap(arms, p - q, float(low), float(high), "Newcombe")


def _clustered(
    arms: tuple[object, object],
    wrong: NDArray[np.bool_],
    in_a: NDArray[np.bool_],
    in_b: NDArray[np.bool_],
    cluster: Sequence[object],
    resamples: int,
    level: float,
    rng: np.random.Generator,
) -> ErrorGap:
    _, place = np.unique(np.asarray(cluster), return_inverse=True)
    clusters = int(place.max()) + 1
    errors_a, n_a, errors_b, n_b = (
        np.bincount(place, weights=x.astype(np.float64), minlength=clusters)
        for x in (wrong & in_a, in_a, wrong & in_b, in_b)
    )
    weights = rng.multinomial(clusters, np.full(clusters, 1 / clusters), size=resamples).astype(np.float64)
    there = (weights @ n_a > 0) & (weights @ n_b > 0)
    weights = weights[there]
    draws = weights @ errors_a / (weights @ n_a) - weights @ errors_b / (weights @ n_b)
    difference = float(errors_a.sum() / n_a.sum() - errors_b.sum() / n_b.sum())
    if len(draws) == 0:
        return ErrorGap(arms, difference, np.nan, np.nan, "cluster bootstrap")
    low, high = np.quantile(draws, [(1 - level) / 2, (1 + level) / 2])
    return ErrorGap(arms, difference, float(low), float(high), "cluster bootstrap")
