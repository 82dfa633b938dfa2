"""How fast are the statistics, beside the plain way to compute the same? One Markdown table, with memory at peak.

    python -m benchmarks.stats            as the aims are stated
    python -m benchmarks.stats --short    smaller, under a minute

Each line runs in a process of its own. The plain way is timed on a part and multiplied up where it would take minutes;
the table says on how much. Memory is the process's own peak, Python, numpy and scipy (about 80 MB) included.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection

import numpy as np

TIMES, MEGABYTES = 1000, 1000  # the aims for the permutation test


@dataclass(frozen=True)
class Line:
    """One comparison: ours timed whole; the plain way timed on `part` of what it would have to do."""

    what: str
    plain_is: str
    ours: Callable[[], object]
    plain: Callable[[], object]
    part: float


def distances(short: bool) -> Line:
    from scipy.spatial.distance import cdist

    from edufair.stats import permutation_distance

    n, d, draws = (100, 512, 2000) if short else (300, 3072, 5000)
    rng = np.random.default_rng(1)
    a = rng.normal(size=(n, d))
    b = a + rng.normal(scale=0.5, size=(n, d))
    both, few = np.concatenate([a, b]), 5

    def plain() -> None:
        for _ in range(few):
            order = rng.permutation(2 * n)
            cdist(both[order[:n]], both[order[n:]], "cosine").mean()

    return Line(
        f"permutation_distance, {n} + {n} texts, {d} dimensions, {draws} relabellings",
        "cdist for every relabelling",
        lambda: permutation_distance(a, b, within_pairs=False, resamples=draws, rng=rng),
        plain,
        few / draws,
    )


def within_pairs(short: bool) -> Line:
    from scipy.spatial.distance import cdist

    from edufair.stats import permutation_distance

    n, d, draws = (100, 512, 2000) if short else (300, 3072, 5000)
    rng = np.random.default_rng(1)
    a = rng.normal(size=(n, d))
    b = a + rng.normal(scale=0.5, size=(n, d))

    def plain() -> None:
        for _ in range(5):
            swap = rng.random((n, 1)) < 0.5
            cdist(np.where(swap, b, a), np.where(swap, a, b), "cosine").mean()

    return Line(
        f"the same, labels swapped within pairs, {draws} swaps",
        "cdist for every swap",
        lambda: permutation_distance(a, b, resamples=draws, rng=rng),
        plain,
        5 / draws,
    )


def r_interval(short: bool) -> Line:
    from scipy.stats import rankdata

    from edufair.stats import rank_biserial_interval

    rng = np.random.default_rng(1)
    d = (rng.binomial(6, 0.4, 907) - rng.binomial(6, 0.3, 907)) / 6

    def plain() -> None:
        for _ in range(100):
            sample = rng.choice(d, size=len(d))
            ranks = rankdata(np.abs(sample))
            plus, minus = ranks[sample > 0].sum(), ranks[sample < 0].sum()
            _ = (plus - minus) / (plus + minus)

    return Line(
        "rank_biserial_interval, 907 pairs of rates, 1,000 resamples",
        "resampling rows and ranking them",
        lambda: rank_biserial_interval(d, rng=rng),
        plain,
        0.1,
    )


def exact_wilcoxon(short: bool) -> Line:
    from scipy.stats import PermutationMethod, wilcoxon

    from edufair.stats import signed_rank

    rng = np.random.default_rng(1)
    d = rng.integers(-3, 5, size=60) / 6

    return Line(
        "signed_rank, 60 pairs with ties and zeros, exact",
        "scipy's wilcoxon with 9,999 random sign flips (no exact p with ties)",
        lambda: signed_rank(d),
        lambda: wilcoxon(d, zero_method="pratt", method=PermutationMethod(n_resamples=9999, rng=rng)),
        1.0,
    )


def alpha(short: bool) -> Line:
    from edufair.stats import agreement

    units = 300 if short else 1000
    rng = np.random.default_rng(1)
    truth = rng.integers(1, 6, units)
    labels = np.clip(truth + rng.integers(-1, 2, (3, units)), 1, 5).astype(float)

    def plain() -> None:
        import krippendorff

        for _ in range(20):
            krippendorff.alpha(labels[:, rng.integers(0, units, units)], level_of_measurement="ordinal")

    return Line(
        f"agreement, ordinal, 3 raters x {units} units, 1,000 resamples, also AC1 and raw",
        "the krippendorff package on every resample, alpha alone",
        lambda: agreement(labels, level="ordinal", rng=rng),
        plain,
        0.02,
    )


def mean_abs_r(short: bool) -> Line:
    from edufair.stats import mean_abs_r_null, signed_rank

    n = 200 if short else 907
    rng = np.random.default_rng(1)
    x = rng.binomial(6, 0.3, size=(n, 3, 5)) / 6

    def plain() -> None:
        for _ in range(20):
            moved = np.take_along_axis(x, rng.permuted(np.tile([0, 1, 2], (n, 1)), axis=1)[:, :, None], axis=1)
            for i, j in ((0, 1), (0, 2), (1, 2)):
                for metric in range(5):
                    _ = abs(signed_rank(moved[:, i, metric] - moved[:, j, metric], method="normal").r)

    return Line(
        f"mean_abs_r_null, {n} items, 3 levels, 5 metrics, 1,000 relabellings",
        "signed_rank on every relabelled table",
        lambda: mean_abs_r_null(x, rng=rng),
        plain,
        0.02,
    )


def planning(short: bool) -> Line:
    from edufair.stats import items_needed, signed_rank

    rng = np.random.default_rng(1)
    pilot = (rng.binomial(6, 0.35, 40) - rng.binomial(6, 0.3, 40)) / 6
    draws = 500 if short else 2000
    found = items_needed(pilot, effect=0.05, draws=draws, rng=np.random.default_rng(2))
    n, few = found.n or found.most, 50

    def plain() -> None:
        for _ in range(few):
            signed_rank(rng.choice(pilot, size=n))

    return Line(
        f"items_needed from a pilot of 40 pairs ({n} items), {draws} samples a step",
        "signed_rank on every sample, for the ten or so sizes tried",
        lambda: items_needed(pilot, effect=0.05, draws=draws, rng=np.random.default_rng(2)),
        plain,
        few / (10 * draws),
    )


LINES = (distances, within_pairs, r_interval, exact_wilcoxon, alpha, mean_abs_r, planning)


def seconds(call: Callable[[], object]) -> float:
    """The shorter of two runs: the first may load libraries."""
    times = []
    for _ in range(2):
        started = time.perf_counter()
        call()
        times.append(time.perf_counter() - started)
    return min(times)


def measure(place: int, short: bool, out: Connection) -> None:
    """Time one line and send what to print."""
    line = LINES[place](short)
    ours = seconds(line.ours)
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1e6 if sys.platform == "darwin" else 1e3)
    try:
        plain: float | None = seconds(line.plain) / line.part
    except ImportError as missing:
        plain, line = None, replace(line, plain_is=f"{line.plain_is} ({missing.name} is not installed)", part=1.0)
    out.send((line.what, line.plain_is, ours, plain, line.part, megabytes))


def main() -> int:
    """Print the table; 1 where the permutation test misses its aims in the long form."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--short", action="store_true", help="smaller inputs")
    short = parser.parse_args().short
    print("| what | seconds | peak MB | the plain way | its seconds | times as fast |")
    print("| --- | --- | --- | --- | --- | --- |", flush=True)
    context, missed = multiprocessing.get_context("spawn"), False
    for place in range(len(LINES)):
        receive, send = context.Pipe(duplex=False)
        child = context.Process(target=measure, args=(place, short, send))
        child.start()
        send.close()
        try:
            what, plain_is, ours, plain, part, megabytes = receive.recv()
        except EOFError:
            print(f"{LINES[place].__name__} failed", file=sys.stderr)
            missed = True
            continue
        finally:
            child.join()
        timed = "" if part == 1 else f", timed on {part:.1%}"
        compared = "- | - |" if plain is None else f"{plain:,.2f} | {plain / ours:,.0f} |"
        print(f"| {what} | {ours:.3f} | {megabytes:.0f} | {plain_is}{timed} | {compared}", flush=True)
        if place == 0 and not short and plain is not None:
            missed |= plain / ours < TIMES or megabytes > MEGABYTES
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
