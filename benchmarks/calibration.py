"""Do the statistics keep what they promise? Size, power and coverage by simulation, as one Markdown table.

    python -m benchmarks.calibration            2,000 simulated studies a row (about three minutes)
    python -m benchmarks.calibration --short    60 a row, under a minute

Size is how often a test rejects at 0.05 where nothing differs, coverage how often a 95% interval holds the value that
a study of 400,000 items shows. The error is the Monte-Carlo standard error of the measured share.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from edufair.stats import (
    agreement,
    cluster_bootstrap,
    cluster_test,
    equivalence,
    friedman,
    mean_abs_r_null,
    mean_interval,
    normalised_bias,
    permutation_distance,
    permutation_mahalanobis,
    rank_biserial_interval,
    rating_gap,
    signed_rank,
    unequal_loss,
)

Array = NDArray[np.float64]
Rng = np.random.Generator
MANY = 400_000  # items of the study that stands for the truth


@dataclass(frozen=True)
class Row:
    """One line of the table: a share over simulated studies, and what it should be."""

    kind: str  # size, power or coverage
    what: str
    setting: str
    once: Callable[[Rng], bool]
    wanted: str


def rates(draw: Rng, n: int, a: float, b: float) -> Array:
    """Differences of two shares of 6 turns."""
    return (draw.binomial(6, a, n) - draw.binomial(6, b, n)) / 6


def rejects(p: float) -> bool:
    return p <= 0.05


def holds(low: float, high: float, truth: float) -> bool:
    return low - 1e-9 <= truth <= high + 1e-9


# ---- tests of differences


def signed_rank_of_rates(draw: Rng, n: int, a: float, b: float) -> bool:
    return rejects(signed_rank(rates(draw, n, a, b)).p)


def friedman_of_levels(draw: Rng, n: int) -> bool:
    return rejects(friedman(draw.binomial(6, 0.3, (n, 3)) / 6).p)


def mean_abs_r_of_noise(draw: Rng, n: int) -> bool:
    item = draw.normal(size=(n, 1, 1))
    return rejects(mean_abs_r_null(np.round(item + draw.normal(size=(n, 3, 5)), 1), draws=199, rng=draw).p)


def loss_by_arm(draw: Rng, n: int) -> bool:
    hard = draw.random((n, 1)) < 0.2
    return rejects(unequal_loss(draw.random((n, 2)) < np.where(hard, 0.4, 0.02)).p)


def never_small_at_the_margin(draw: Rng, n: int) -> bool:
    """Whether a mean difference of exactly the margin is called small."""
    found = equivalence(rates(draw, n, 0.35, 0.30), margin=0.05, bound=1)
    return found.verdict in ("shown to be small", "differs but small")


# ---- distances of embeddings


def replies(draw: Rng, n: int, d: int, giver: str) -> tuple[Array, Array, Array]:
    """Feedback on n essays as vectors: to A, to B, and to A again."""
    essays = draw.normal(size=(n, d))
    a, b, again = (essays + draw.normal(scale=0.5, size=(n, d)) for _ in range(3))
    if giver == "shifts its words":
        b[:, :4] += 0.4
    if giver == "changes each in its own way":
        b = b + draw.normal(scale=0.2, size=(n, d))
    return a, b, again


def distance(draw: Rng, n: int, d: int, giver: str, test: str) -> bool:
    a, b, again = replies(draw, n, d, giver)
    if test == "paired":
        found = permutation_distance(a, b, baseline=again, statistic="paired", resamples=199, rng=draw)
    else:
        found = permutation_distance(a, b, within_pairs=test == "within pairs", resamples=199, rng=draw)
    return rejects(found.p)


def mahalanobis(draw: Rng, n: int, d: int) -> bool:
    a, b, again = replies(draw, n, d, "is even-handed")
    return rejects(permutation_mahalanobis(np.stack([a, b, again]), resamples=199, rng=draw).p)


# ---- classes


def teacher(draw: Rng, n: int, effects: Array) -> Array:
    """Levels from 1 to 5 that a teacher picks for each class."""
    k = len(effects)
    return np.clip(np.rint(3 + draw.normal(size=(n, 1)) + effects + draw.normal(size=(n, k))), 1, 5)


def spread_p(draw: Rng, n: int, k: int) -> bool:
    return rejects(normalised_bias(teacher(draw, n, np.zeros(k)), resamples=199, rng=draw).p)


def spread_covers(draw: Rng, n: int, effects: Array, truth: float) -> bool:
    found = normalised_bias(teacher(draw, n, effects), resamples=1, rng=draw).spread
    return holds(found.low, found.high, truth)


# ---- bounded ratings


def judge(draw: Rng, items: int, high: float, low: float, shift_high: float, shift_low: float) -> Array:
    """Ratings (items, arms, poles, repetitions) with latent means, shifts under the second arm, and noise."""
    latent = np.array([high, low])[None, None, :, None] + draw.normal(scale=0.5, size=(items, 1, 2, 1))
    shift = np.array([[0.0, 0.0], [shift_high, shift_low]])[None, :, :, None]
    wobble = draw.normal(scale=0.3, size=(items, 2, 2, 1)) + draw.normal(scale=0.3, size=(items, 2, 2, 3))
    shown: Array = np.clip(np.rint(latent + shift + wobble), 1, 5)
    return shown


def gap(draw: Rng, items: int, latent: tuple[float, ...], verdict: str | None = None) -> bool:
    """Whether the gap is found, and with the verdict named. `latent`: means at both poles and their shifts."""
    cells = judge(draw, items, *latent)
    index = np.indices(cells.shape)
    arm, pole = np.array(["novice", "advanced"])[index[1]], np.array(["high", "low"])[index[2]]
    value, item = cells.ravel(), index[0].ravel()
    found = rating_gap(
        value, item, item // 2, arm.ravel(), pole.ravel(),
        low=1, high=5, arms=("novice", "advanced"), probit=False, resamples=50,
    )  # fmt: skip
    return rejects(found.gap.p) and (verdict is None or found.verdict == verdict)


# ---- intervals


def r_covers(draw: Rng, n: int, truth: float, method: str) -> bool:
    found = rank_biserial_interval(rates(draw, n, 0.4, 0.3), method=method, rng=draw)  # type: ignore[arg-type]
    return holds(found.low, found.high, truth)


def mean_covers(draw: Rng, n: int) -> bool:
    found = mean_interval(rates(draw, n, 0.35, 0.3), bound=1)
    return holds(found.low, found.high, 0.05)


def clusters_cover(draw: Rng, clusters: int, way: str) -> bool:
    size = draw.integers(1, 4, clusters)
    own = np.repeat(draw.exponential(size=clusters) - 1, size)
    rows, names = own + draw.normal(scale=0.5, size=size.sum()), np.repeat(np.arange(clusters), size)
    if way == "BCa of cluster means":
        found = cluster_test(rows, names, resamples=1000, seed=draw)
        return holds(found.low, found.high, 0.0)
    interval = cluster_bootstrap(rows, names, resamples=1000, rng=draw)
    return holds(interval.low, interval.high, 0.0)


def two_raters(draw: Rng, n: int, share: float) -> Array:
    """Labels of two raters who each miss one in ten."""
    truth = draw.random(n) < share
    return np.stack([truth ^ (draw.random(n) < 0.1) for _ in range(2)]).astype(np.float64)


def agreement_covers(draw: Rng, n: int, share: float, truth: float, which: str) -> bool:
    found = agreement(two_raters(draw, n, share), domain=(0, 1), resamples=500, rng=draw)
    interval = found.alpha if which == "alpha" else found.ac1
    return holds(interval.low, interval.high, truth)


def rows() -> Iterator[Row]:
    """The table, kind by kind."""
    draw = np.random.default_rng(0)
    small, large = "at most 0.05", "high"
    for n in (30, 200):
        yield Row(
            "size",
            "signed_rank",
            f"rates over 6 turns, n = {n}",
            partial(signed_rank_of_rates, n=n, a=0.3, b=0.3),
            "0.05",
        )
    yield Row("size", "friedman, 3 levels", "rates over 6 turns, n = 50", partial(friedman_of_levels, n=50), "0.05")
    yield Row("size", "mean_abs_r_null", "3 levels x 5 metrics, n = 40", partial(mean_abs_r_of_noise, n=40), "0.05")
    yield Row("size", "unequal_loss", "a fifth of items hard, n = 100", partial(loss_by_arm, n=100), small)
    yield Row(
        "size",
        "equivalence calls the margin small",
        "rates, n = 200",
        partial(never_small_at_the_margin, n=200),
        "at most 0.025",
    )
    for test in ("free", "within pairs", "paired"):
        for d in (4, 128):
            yield Row(
                "size",
                f"permutation_distance, {test}",
                f"even-handed, n = 40, {d} dimensions",
                partial(distance, n=40, d=d, giver="is even-handed", test=test),
                "0.05" if test != "free" else "0.05 (does not hold)",
            )
    yield Row(
        "size", "permutation_mahalanobis", "3 groups, n = 40, 128 dimensions", partial(mahalanobis, n=40, d=128), "0.05"
    )
    for k in (2, 6):
        yield Row(
            "size", "normalised_bias, p of the spread", f"{k} classes, n = 50", partial(spread_p, n=50, k=k), "0.05"
        )
    yield Row(
        "size",
        "rating_gap",
        "no shift, 40 items in 20 clusters",
        partial(gap, items=40, latent=(4.0, 2.5, 0.0, 0.0)),
        small,
    )
    yield Row(
        "size",
        "rating_gap, gap rejects",
        "same shift of -1 at both poles, one near the floor",
        partial(gap, items=40, latent=(4.0, 1.3, -1.0, -1.0)),
        "0.05 (does not hold)",
    )
    yield Row(
        "size",
        "rating_gap, rejects without the warning",
        "the same",
        partial(gap, items=40, latent=(4.0, 1.3, -1.0, -1.0), verdict="no sign that the scale made it"),
        small,
    )
    yield Row(
        "power",
        "rating_gap, rejects without the warning",
        "shift of -1 at one pole, off the bounds",
        partial(gap, items=40, latent=(4.0, 2.5, -1.0, 0.0), verdict="no sign that the scale made it"),
        large,
    )
    yield Row(
        "power", "signed_rank", "rates 0.4 and 0.3, n = 100", partial(signed_rank_of_rates, n=100, a=0.4, b=0.3), large
    )
    for giver in ("shifts its words", "changes each in its own way"):
        for test in ("within pairs", "paired"):
            yield Row(
                "power",
                f"permutation_distance, {test}",
                f"{giver}, n = 40, 128 dimensions",
                partial(distance, n=40, d=128, giver=giver, test=test),
                large,
            )
    r = signed_rank(rates(draw, MANY, 0.4, 0.3)).r
    for n in (30, 200):
        for method in ("percentile", "bca"):
            yield Row(
                "coverage",
                f"rank_biserial_interval, {method}",
                f"rates 0.4 and 0.3, n = {n}",
                partial(r_covers, n=n, truth=r, method=method),
                "0.95",
            )
    for n in (30, 200):
        yield Row(
            "coverage", "mean_interval, bounded", f"rates 0.35 and 0.3, n = {n}", partial(mean_covers, n=n), "0.95"
        )
    for way in ("BCa of cluster means", "cluster_bootstrap"):
        yield Row(
            "coverage", way, "18 skewed clusters of 1 to 3", partial(clusters_cover, clusters=18, way=way), "0.95"
        )
    for effect in (0.0, 0.05, 0.3):
        effects = effect * np.array([-1.0, -1.0, 1.0, 1.0])
        truth = float(teacher(draw, MANY, effects).mean(axis=0).std()) if effect else 0.0
        yield Row(
            "coverage",
            "normalised_bias, spread",
            f"4 classes of levels, spread {truth:.2f}, n = 50",
            partial(spread_covers, n=50, effects=effects, truth=truth),
            "0.95",
        )
    for share in (0.5, 0.05):
        whole = agreement(two_raters(draw, MANY, share), domain=(0, 1), resamples=0, rng=draw)
        for n in (30, 200):
            for which, truth in (("alpha", whole.alpha.estimate), ("AC1", whole.ac1.estimate)):
                yield Row(
                    "coverage",
                    f"agreement, {which} = {truth:.2f}",
                    f"{share:.0%} positive, n = {n}",
                    partial(agreement_covers, n=n, share=share, truth=truth, which=which),
                    "0.95",
                )


def mean_abs_r_by_n(draws: int) -> Iterator[str]:
    """Mean |r| of a tutor without and with a small difference, for a full bank and parts of it."""
    draw = np.random.default_rng(1)
    yield "| items | mean abs(r), no difference | a rate 0.02 higher in one arm | 0.10 or more, without and with |"
    yield "| --- | --- | --- | --- |"
    for n in (907, 500, 272, 150, 85, 30):
        none, some = (np.array([_mean_abs_r(draw, n, a) for _ in range(draws)]) for a in (0.30, 0.32))
        above = f"{(none >= 0.1).mean():.0%} and {(some >= 0.1).mean():.0%}"
        yield f"| {n} | {none.mean():.3f} | {some.mean():.3f} | {above} |"


def _mean_abs_r(draw: Rng, n: int, a: float) -> float:
    """Over five metrics and one contrast."""
    return float(np.mean([abs(signed_rank(rates(draw, n, a, 0.3)).r) for _ in range(5)]))


def main() -> int:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--short", action="store_true", help="60 simulated studies a row instead of 2,000")
    studies = 60 if parser.parse_args().short else 2000
    started = time.perf_counter()
    print("| kind | what | setting | wanted | measured | error |\n| --- | --- | --- | --- | --- | --- |", flush=True)
    for place, row in enumerate(rows()):
        draw = np.random.default_rng([2, place])
        share = sum(row.once(draw) for _ in range(studies)) / studies
        error = math.sqrt(max(share * (1 - share), 1 / studies) / studies)
        print(f"| {row.kind} | {row.what} | {row.setting} | {row.wanted} | {share:.3f} | {error:.3f} |", flush=True)
    print()
    print("\n".join(mean_abs_r_by_n(max(20, studies // 10))))
    print(f"\n{studies} simulated studies a row, {time.perf_counter() - started:.0f} s.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
