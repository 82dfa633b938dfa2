"""Is the judge right? Its labels against people's, and whether it errs more in one arm than in another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from edufair.stats._arrays import FloatArray, IntArray
from edufair.stats._labels import MISSING, Level, cluster_places, counts_by_unit, read_labels
from edufair.stats.agreement import Agreement, PairAgreement, agreement
from edufair.stats.bootstrap import Interval, mean_interval

Labels = Sequence[object] | NDArray[np.generic]
Method = Literal["Newcombe", "cluster bootstrap", "Newcombe over clusters"]
Ends = tuple[float, float]


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
        Wilson interval; with clusters, for n divided by the design effect.
    net : Interval or None
        Mean of judge minus consensus over the units where both are numbers: errors that cancel do not move an arm's
        mean, these do. None where there are no such units.
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
        "Newcombe" for independent units; "cluster bootstrap" where clusters were given; "Newcombe over clusters" where
        no resample of the clusters shows a difference.
    net : Interval or None
        Difference of the two arms' net errors: what the judge alone adds to the difference of their means.
    """

    arms: tuple[object, object]
    difference: float
    low: float
    high: float
    method: Method
    net: Interval | None


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
        Units of one cluster are not independent (turns of a dialogue, arms of an item): every resample takes whole
        clusters.
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
    the consensus. Rates have Wilson intervals; the gap of two arms has Newcombe's hybrid score interval (method 10).

    With clusters c of n_c units and e_c errors, a rate p = sum e_c / sum n_c has the design effect

        max(1, [C / (C - 1)] sum_c (e_c - p n_c)^2 / [n p (1 - p)]),

    by which n is divided before Wilson's formula; where all units or none are in error, every cluster counts as one
    unit. Gaps then have a percentile bootstrap of whole clusters. Where no resample shows a difference, that would be
    a point, and Newcombe's interval over clusters is given.

    A judge that errs at the same rate in both arms weakens a difference; one that errs more, or in another direction,
    in one arm makes a difference by itself. `net` is what an arm's mean is off by, and a gap's `net` what the judge
    adds to a difference: two arms with the same error rate can be off in opposite directions. Its interval for
    independent units is Zou and Donner's, from the two bounded t intervals.

    References
    ----------
    Newcombe (1998), doi:10.1002/(SICI)1097-0258(19980430)17:8<873::AID-SIM779>3.0.CO;2-I. Zou and
    Donner (2008), doi:10.1002/sim.3095. Dean and Pagano (2015), doi:10.1093/jssam/smv024 (Wilson in clusters).

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
    off = _Off(mine != consensus, _net(mine, consensus, both, read.categories), cluster_places(cluster, len(mine)))
    compare = partial(agreement, level=level, domain=read.categories, cluster=cluster, confidence=confidence, rng=rng)
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
        errors=tuple(_error_rate(name, off, here, resamples, confidence, rng) for name, here in _by_arm(arms, both)),
        gaps=tuple(
            _gap((a, b), off, (in_a, in_b), resamples, confidence, rng)
            for (a, in_a), (b, in_b) in combinations(_by_arm(arms, both), 2)
        ),
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


class _Off(NamedTuple):
    """Where the judge is off: by unit whether it errs, by how much (NaN where that has no number), its cluster."""

    wrong: NDArray[np.bool_]
    net: FloatArray
    places: IntArray | None

    def numbered(self, here: NDArray[np.bool_]) -> NDArray[np.bool_]:
        return here & np.isfinite(self.net)

    def clusters(self, here: NDArray[np.bool_]) -> int:
        return int(here.sum()) if self.places is None else len(np.unique(self.places[here]))


def _net(mine: IntArray, consensus: IntArray, both: NDArray[np.bool_], categories: tuple[object, ...]) -> FloatArray:
    numbers = np.array([*map(_number, categories), np.nan])  # the code of a missing label is -1: the last
    net: FloatArray = np.where(both, numbers[mine] - numbers[consensus], np.nan)
    return net


def _number(category: object) -> float:
    return float(category) if isinstance(category, (bool, int, float, np.number, np.bool_)) else np.nan


def _table(mine: IntArray, consensus: IntArray, categories: int) -> tuple[tuple[int, ...], ...]:
    flat = np.bincount(mine * categories + consensus, minlength=categories**2)
    return tuple(tuple(int(n) for n in row) for row in flat.reshape(categories, categories))


def _by_arm(arms: list[object], both: NDArray[np.bool_]) -> list[tuple[object, NDArray[np.bool_]]]:
    return [(name, np.array([each == name for each in arms]) & both) for name in sorted(set(arms), key=str)]


def _error_rate(
    name: object, off: _Off, here: NDArray[np.bool_], resamples: int, level: float, rng: np.random.Generator
) -> ErrorRate:
    n, errors = int(here.sum()), int(off.wrong[here].sum())
    p = errors / n if n else np.nan
    low, high = _wilson(p, _effective(off, here), level)
    return ErrorRate(name, n, errors, p, low, high, _arm_net(off, here, resamples, level, rng))


def _effective(off: _Off, here: NDArray[np.bool_]) -> float:
    """How many independent units the units of an arm are worth."""
    n, clusters = int(here.sum()), off.clusters(here)
    if off.places is None or n == 0:
        return float(n)
    p = off.wrong[here].mean()
    if clusters < 2 or p in (0, 1):
        return float(clusters)
    sums = np.bincount(off.places[here], weights=off.wrong[here] - p)
    effect = clusters / (clusters - 1) * (sums**2).sum() / (n * p * (1 - p))
    return float(n / max(1.0, effect))


def _wilson(p: float, n: float, level: float) -> Ends:
    if n == 0:
        return np.nan, np.nan
    z = float(ndtri((1 + level) / 2))
    centre, half = p + z * z / (2 * n), z * np.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    return max(0.0, float((centre - half) / (1 + z * z / n))), min(1.0, float((centre + half) / (1 + z * z / n)))


def _arm_net(
    off: _Off, here: NDArray[np.bool_], resamples: int, level: float, rng: np.random.Generator
) -> Interval | None:
    """The mean by which the judge is off in an arm; with clusters, where they vary, with their bootstrap."""
    here = off.numbered(here)
    if not here.any():
        return None
    simple = mean_interval(off.net[here], level=level, bound=float(np.nanmax(np.abs(off.net), initial=1.0)))
    if off.places is None:
        return simple
    draws = _means(off.net, here, _weights(off, resamples, rng), off.places)
    if not _vary(draws):
        return simple
    return Interval(simple.estimate, *_ends(draws, level), level, "percentile", len(draws), simple.n)


def _gap(
    arms: tuple[object, object],
    off: _Off,
    here: tuple[NDArray[np.bool_], NDArray[np.bool_]],
    resamples: int,
    level: float,
    rng: np.random.Generator,
) -> ErrorGap:
    if not (here[0].any() and here[1].any()):
        return ErrorGap(arms, np.nan, np.nan, np.nan, "Newcombe", None)
    p, q = (float(off.wrong[each].mean()) for each in here)
    ends: list[Ends] = [_wilson(x, _effective(off, each), level) for x, each in zip((p, q), here, strict=True)]
    low, high = _of_difference((p, q), ends)
    if off.places is None:
        return ErrorGap(arms, p - q, low, high, "Newcombe", _net_gap(off, here, None, level))
    weights = _weights(off, resamples, rng)
    net = _net_gap(off, here, weights, level)
    draws = _difference(off.wrong, here, weights, off.places)
    if not _vary(draws):
        return ErrorGap(arms, p - q, low, high, "Newcombe over clusters", net)
    return ErrorGap(arms, p - q, *_ends(draws, level), "cluster bootstrap", net)


def _net_gap(
    off: _Off, here: tuple[NDArray[np.bool_], NDArray[np.bool_]], weights: FloatArray | None, level: float
) -> Interval | None:
    first, second = off.numbered(here[0]), off.numbered(here[1])
    if not (first.any() and second.any()):
        return None
    bound = float(np.nanmax(np.abs(off.net), initial=1.0))
    a, b = (mean_interval(off.net[each], level=level, bound=bound) for each in (first, second))
    n = int(first.sum() + second.sum())
    if weights is not None and off.places is not None:
        draws = _difference(off.net, (first, second), weights, off.places)
        if _vary(draws):
            return Interval(a.estimate - b.estimate, *_ends(draws, level), level, "percentile", len(draws), n)
    ends = _of_difference((a.estimate, b.estimate), [(a.low, a.high), (b.low, b.high)])
    return Interval(a.estimate - b.estimate, *ends, level, a.method, 0, n)


def _of_difference(estimates: tuple[float, float], ends: Sequence[Ends]) -> Ends:
    """Both ends of a difference of independent estimates, from the ends of each."""
    (p, q), ((p_low, p_high), (q_low, q_high)) = estimates, ends
    low = p - q - np.sqrt((p - p_low) ** 2 + (q_high - q) ** 2)
    high = p - q + np.sqrt((p_high - p) ** 2 + (q - q_low) ** 2)
    return float(low), float(high)


def _weights(off: _Off, resamples: int, rng: np.random.Generator) -> FloatArray:
    """How often each cluster is in each resample: (resamples, clusters)."""
    assert off.places is not None
    clusters = int(off.places.max()) + 1
    return rng.multinomial(clusters, np.full(clusters, 1 / clusters), size=resamples).astype(np.float64)


def _means(
    values: NDArray[np.bool_] | FloatArray, here: NDArray[np.bool_], weights: FloatArray, places: IntArray
) -> FloatArray:
    """The mean of the values in each resample of clusters, NaN where it holds none of them."""
    clusters = weights.shape[1]
    sums = np.bincount(places[here], weights=values[here].astype(np.float64), minlength=clusters)
    n = weights @ np.bincount(places[here], minlength=clusters)
    means: FloatArray = np.divide(weights @ sums, n, out=np.full(len(weights), np.nan), where=n > 0)
    return means


def _difference(
    values: NDArray[np.bool_] | FloatArray,
    here: tuple[NDArray[np.bool_], NDArray[np.bool_]],
    weights: FloatArray,
    places: IntArray,
) -> FloatArray:
    draws = _means(values, here[0], weights, places) - _means(values, here[1], weights, places)
    return draws[np.isfinite(draws)]


def _vary(draws: FloatArray) -> bool:
    """Whether a bootstrap says anything: an interval of draws that are all alike would be a point."""
    return bool(np.ptp(draws[np.isfinite(draws)]) > 0) if np.isfinite(draws).any() else False


def _ends(draws: FloatArray, level: float) -> Ends:
    low, high = np.nanquantile(draws, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)
