"""A paper-sized analysis beside a plain scipy loop, and reading scores from a store beside a bare sqlite3 fetch.

    python -m benchmarks.analysis            5 tutors x 3 domains x 9 metrics x 6 contrasts, 907/500/500 items; 2.9 million scores
    python -m benchmarks.analysis --short    1 tutor; 290,000 scores

Aims: 30 times the plain loop, and at most twice the bare fetch. The plain loop (scipy's wilcoxon with Pratt zeros and
scipy's percentile bootstrap of the same rank-biserial correlation, 1,000 resamples) is timed on a part of the cells and
multiplied up. Exits with 1 when an aim is missed.
"""  # noqa: E501

from __future__ import annotations

import argparse
import sqlite3
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import polars  # noqa: F401  (loaded before anything is timed)
from scipy import stats as scipy_stats

from edufair import store as db
from edufair.audits.dialogue import DialogueSettings
from edufair.audits.dialogue.contrasts import findings
from edufair.audits.dialogue.lined import Judged
from edufair.audits.dialogue.measure import CONVERSATIONAL, PEDAGOGICAL
from edufair.design import arms
from edufair.pairs import Grid

METRICS = (*PEDAGOGICAL, *CONVERSATIONAL)
DOMAINS = {"mathematics": 907, "physics": 500, "chemistry": 500}
DIMENSIONS = list(arms.DIMENSIONS)
TIMES, FETCHES = 30, 2


def grids(tutors: int) -> list[Grid]:
    """Scores of tutors that ignore the cue: rates over 3 to 10 turns, numbers of turns, words and ratios."""
    rng = np.random.default_rng(1)
    cells = tuple(arms.explicit_arm(d, level).label for d in DIMENSIONS for level in arms.DIMENSIONS[d])
    made = []
    for tutor in range(tutors):
        for domain, n in DOMAINS.items():
            shape = (n, len(cells), len(METRICS))
            turns = np.broadcast_to(rng.integers(3, 11, shape[:2])[:, :, None], shape)
            values = rng.binomial(turns, rng.uniform(0.05, 0.95, (n, 1, len(METRICS)))) / turns
            values[:, :, METRICS.index("tutor_turns")] = turns[:, :, 0]
            for metric, mean in (("tutor_avg_word", 40.0), ("tutor_student_word_ratio", 2.0)):
                values[:, :, METRICS.index(metric)] = mean * rng.lognormal(0, 0.2, shape[:2])
            items = tuple(f"{domain}-{k}" for k in range(n))
            full, none = np.ones(shape[:2], dtype=bool), np.zeros(shape, dtype=bool)
            names = np.full(shape[:2], "", dtype=object)
            made.append(Grid(f"tutor-{tutor}", "explicit", domain, items, cells, METRICS, values, none, full, names))
    return made


def settings() -> DialogueSettings:
    return DialogueSettings.model_validate(
        {
            "audit": "dialogue",
            "models": {"m": {"url": "python:m:f"}},
            "tutor": {"model": "m"},
            "student": {"model": "m"},
        }
    )


def rank_biserial(d: np.ndarray[Any, Any]) -> float:
    ranks = scipy_stats.rankdata(np.abs(d))
    up, down = ranks[d > 0].sum(), ranks[d < 0].sum()
    return float((up - down) / (up + down)) if up + down else 0.0


def plain(grid: Grid, a: str, b: str, metric: str) -> None:
    pairs = grid.pairs(a, b, metric)
    scipy_stats.wilcoxon(pairs.d, zero_method="pratt", method="approx")
    rng = np.random.default_rng(1)
    scipy_stats.bootstrap((pairs.d,), rank_biserial, n_resamples=1000, method="percentile", vectorized=False, rng=rng)


def paper_sized(tutors: int) -> float:
    """Times as fast as the plain loop."""
    made, chosen = grids(tutors), arms.contrasts(["explicit"], DIMENSIONS)
    begun = time.perf_counter()
    found = findings(Judged("judge:j:1", tuple(made), METRICS, METRICS), chosen, settings())
    ours = time.perf_counter() - begun
    sampled = [(grid, c, m) for grid in made[:3] for c in chosen[:2] for m in METRICS[::2]]
    begun = time.perf_counter()
    for grid, contrast, metric in sampled:
        plain(grid, contrast.cell_a.label, contrast.cell_b.label, metric)
    loop = (time.perf_counter() - begun) * len(found) / len(sampled)
    print(
        f"| {len(found)} contrasts with interval, test, equivalence, Holm | {ours:.1f} s | scipy loop, timed on "
        f"{len(sampled)} | {loop:.1f} s | {loop / ours:.0f} times |"
    )
    return loop / ours


def reading(rows: int) -> float:
    """Our reading in times of a bare fetch."""
    with tempfile.TemporaryDirectory() as folder:
        store = db.create(folder)
        path = Path(folder) / db.FILE_NAME
        metrics = [*METRICS, "student_mistake"]
        with sqlite3.connect(path) as connection:
            connection.executemany(
                "INSERT INTO score VALUES (?, ?, ?, ?, ?, ?)",
                (
                    (f"{k // 100:032x}", k // 10 % 10, metrics[k % 10], "judge:j:12345678", float(k % 2), "")
                    for k in range(rows)
                ),
            )
        begun = time.perf_counter()
        frame = store.score_frame()
        ours = time.perf_counter() - begun
        assert frame.height == rows
        with sqlite3.connect(path) as connection:
            begun = time.perf_counter()
            fetched = connection.execute("SELECT trial, turn, metric, source, value, reason FROM score").fetchall()
            bare = time.perf_counter() - begun
        assert len(fetched) == rows
        store.close()
    kind = f"{rows:,} scores read as a frame"
    print(f"| {kind} | {ours:.1f} s | sqlite3 fetchall | {bare:.1f} s | {ours / bare:.2f} of it |")
    return ours / bare


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--short", action="store_true")
    short = parser.parse_args().short
    print("| what | ours | the plain way | its time | ratio |\n| --- | --- | --- | --- | --- |")
    times = paper_sized(1 if short else 5)
    fetches = reading(290_000 if short else 2_900_000)
    return 0 if times >= TIMES and fetches <= FETCHES else 1


if __name__ == "__main__":
    sys.exit(main())
