"""Tutors whose bias is known, through the whole program; and fair tutors, many times, through the analysis."""

from __future__ import annotations

from itertools import product
from math import comb
from pathlib import Path

import numpy as np
import orjson
import pytest

import edufair
from edufair.audits.dialogue import DialogueSettings
from edufair.audits.dialogue.contrasts import findings
from edufair.audits.dialogue.lined import Judged
from edufair.audits.dialogue.measure import PEDAGOGICAL
from edufair.design import arms
from edufair.pairs import Grid
from servers.openai_server import OpenAIServer, serve
from whole.people_server import answer, audit_toml

TURNS = 4
ITEMS = 90  # a domain
DOMAINS = ("mathematics", "physics", "chemistry")

DESIGN = f"""
[items]
bank = "bank.jsonl"
[design]
dimensions = ["gender"]
[dialogue]
max_turns = {TURNS}
"""


def population_r(p_a: float, p_b: float, turns: int) -> float:
    """The rank-biserial correlation of infinitely many pairs of rates over `turns` turns, Pratt ranks.

    d = (X - Y) / turns with X, Y binomial; the rank of |d| is P(|D| < |d|) + P(|D| = |d|) / 2.
    """

    def binomial(k: int, p: float) -> float:
        return comb(turns, k) * p**k * (1 - p) ** (turns - k)

    mass: dict[int, float] = {}
    for x, y in product(range(turns + 1), repeat=2):
        mass[x - y] = mass.get(x - y, 0.0) + binomial(x, p_a) * binomial(y, p_b)
    size: dict[int, float] = {}
    for d, p in mass.items():
        size[abs(d)] = size.get(abs(d), 0.0) + p
    rank = {s: sum(p for t, p in size.items() if t < s) + size[s] / 2 for s in size}
    weighted = {d: p * rank[abs(d)] for d, p in mass.items() if d}
    return sum(w if d > 0 else -w for d, w in weighted.items()) / sum(weighted.values())


def test_the_population_value_is_that_of_a_large_sample() -> None:
    from edufair.stats import signed_rank

    rng = np.random.default_rng(1)
    d = (rng.binomial(TURNS, 0.6, 200_000) - rng.binomial(TURNS, 0.3, 200_000)) / TURNS
    assert signed_rank(d, method="normal").r == pytest.approx(population_r(0.6, 0.3, TURNS), abs=0.01)


def _write_bank(folder: Path) -> None:
    rows = [
        {"id": f"{domain}-{k}", "domain": domain, "question": f"Task {k}: name it.", "answer": "zebra", "grade": 9}
        for domain in DOMAINS
        for k in range(ITEMS)
    ]
    (folder / "bank.jsonl").write_bytes(b"\n".join(map(orjson.dumps, rows)))


async def _audit(folder: Path, tutor: str) -> edufair.Analysis:
    """A whole audit of a scripted tutor over HTTP, from inside a running event loop."""
    _write_bank(folder)
    async with serve(OpenAIServer(answer)) as url:
        audit = folder / f"{tutor}.toml"
        audit.write_text(audit_toml(url, folder / tutor, tutor=tutor, extra=DESIGN))
        import asyncio

        run = await asyncio.to_thread(edufair.run, audit)
    return edufair.analyse(run)


def _leakage(analysis: edufair.Analysis) -> list[edufair.Finding]:
    found = [f for f in analysis.findings if f.metric == "answer_leakage"]
    assert [(f.a, f.b, f.n, f.status) for f in found] == [("female", "male", ITEMS, "tested")] * len(DOMAINS)
    return found


async def test_a_tutor_that_leaks_more_to_one_level_is_found_and_measured(tmp_path: Path) -> None:
    leakage = _leakage(await _audit(tmp_path, "biased"))
    assert all(0 < (f.r_low or 0) <= (f.r or 0) <= (f.r_high or 0) for f in leakage)
    assert all(f.finding and f.violation and f.verdict == "differs" for f in leakage)
    # Each 95% interval misses the population value once in twenty; two of three missing has a chance of 0.7%.
    truth = population_r(0.6, 0.3, TURNS)
    assert sum((f.r_low or 0) <= truth <= (f.r_high or 0) for f in leakage) >= 2
    assert sum((f.difference_low or 0) <= 0.3 <= (f.difference_high or 0) for f in leakage) >= 2


async def test_a_tutor_that_treats_all_alike_gives_no_finding(tmp_path: Path) -> None:
    analysis = await _audit(tmp_path, "even")
    assert not any(f.finding for f in analysis.findings)
    assert sum((f.difference_low or 0) <= 0 <= (f.difference_high or 0) for f in _leakage(analysis)) >= 2


# Fair tutors, analysis only

TUTORS = 200
DIMENSIONS = ["gender", "language"]
METRICS = (*PEDAGOGICAL[:4], "tutor_avg_word")


def _fair_grid(rng: np.random.Generator, n: int) -> Grid:
    """Scores of a tutor that ignores the cue: rates over 3 to 10 turns at one rate an item, and free numbers."""
    cells = [arms.explicit_arm(d, level).label for d in DIMENSIONS for level in arms.DIMENSIONS[d]]
    shape = (n, len(cells), len(METRICS))
    turns = rng.integers(3, 11, shape)
    rate = rng.uniform(0.05, 0.95, (n, 1, len(METRICS)))
    values = rng.binomial(turns, np.broadcast_to(rate, shape)) / turns
    free = METRICS.index("tutor_avg_word")
    values[:, :, free] = rng.normal(30, 8, (n, 1)) + rng.normal(0, 5, shape[:2])
    items = tuple(f"q{k}" for k in range(n))
    full = np.ones(shape[:2], dtype=bool)
    none = np.zeros(shape, dtype=bool)
    return Grid("fair", "explicit", "physics", items, tuple(cells), METRICS, values, none, full, np.full(shape[:2], ""))


@pytest.mark.parametrize("n", [30, 100, 500])
def test_fair_tutors_show_the_stated_share_of_violations_and_hardly_ever_a_finding(n: int) -> None:
    settings = DialogueSettings.model_validate(
        {
            "audit": "dialogue",
            "models": {"m": {"url": "python:m:f"}},
            "tutor": {"model": "m"},
            "student": {"model": "m"},
            "design": {"dimensions": DIMENSIONS},
            "analysis": {"resamples": 400},
        }
    )
    contrasts = arms.contrasts(["explicit"], DIMENSIONS)
    violations = tested = with_finding = 0
    for tutor in range(TUTORS):
        rng = np.random.default_rng([n, tutor])
        judged = Judged("judge:j:1", (_fair_grid(rng, n),), METRICS, METRICS)
        found = findings(judged, contrasts, settings.model_copy(update={"seed": tutor}))
        violations += sum(bool(f.violation) for f in found)
        tested += sum(f.status == "tested" for f in found)
        with_finding += any(f.finding for f in found)
    assert tested == TUTORS * len(contrasts) * len(METRICS)
    assert 0.03 <= violations / tested <= 0.08
    # 5% plus two Monte-Carlo errors of a share of 5% among 200
    assert with_finding / TUTORS <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / TUTORS)
