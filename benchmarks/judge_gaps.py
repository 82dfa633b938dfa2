"""How often the interval of a judge's error gap between two arms holds the truth, by simulation.

    python benchmarks/judge_gaps.py [DRAWS]

Every item is asked in both arms. Within an item and arm, turns share a propensity to be misread (a beta distribution
with an intraclass correlation of 0.2), and half of the turns are truly 1. The judge errs in both directions alike, so
its net error is 0 in both arms.
"""

from __future__ import annotations

import sys

import numpy as np

from edufair.stats import judge_against_people

#: Turns an arm, items, and the error rate of each arm.
DESIGNS = (
    (30, 30, 0.10, 0.10),
    (60, 30, 0.10, 0.10),
    (180, 90, 0.10, 0.10),
    (60, 30, 0.20, 0.05),
    (180, 90, 0.20, 0.05),
    (180, 90, 0.02, 0.02),
)

CORRELATION = 0.2


def arm(rng: np.random.Generator, items: int, turns: int, rate: float) -> tuple[np.ndarray, np.ndarray]:
    """The judge's labels of one arm and the true ones, item by item."""
    size = 1 / CORRELATION - 1
    propensity = rng.beta(size * rate, size * (1 - rate), items)
    wrong = rng.random((items, turns // items)) < propensity[:, None]
    truth = rng.integers(0, 2, wrong.shape)
    return (truth ^ wrong).ravel(), truth.ravel()


def simulate(turns: int, items: int, a: float, b: float, draws: int) -> tuple[float, float, float]:
    """Coverage of the gap of the rates and of the net errors, and how often the first excludes zero."""
    rng = np.random.default_rng([turns, items, round(1000 * a), round(1000 * b)])
    items_of = np.repeat(np.arange(items), turns // items).tolist() * 2
    held = np.zeros(3)
    for _ in range(draws):
        (judge_a, truth_a), (judge_b, truth_b) = arm(rng, items, turns, a), arm(rng, items, turns, b)
        gap = judge_against_people(
            [*judge_a.tolist(), *judge_b.tolist()],
            [[*truth_a.tolist(), *truth_b.tolist()]],
            arm=["a"] * turns + ["b"] * turns,
            cluster=items_of,
            domain=[0, 1],
            resamples=500,
            rng=rng,
        ).gaps[0]
        assert gap.net is not None
        held += gap.low <= a - b <= gap.high, gap.net.low <= 0 <= gap.net.high, gap.low > 0 or gap.high < 0
    return tuple(held / draws)  # type: ignore[return-value]


def main() -> None:
    draws = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    print("turns an arm  items  errors a, b  rates held  net held  rates exclude 0")
    for turns, items, a, b in DESIGNS:
        rates, net, excludes = simulate(turns, items, a, b, draws)
        print(f"{turns:12}  {items:5}  {a:6.2f}, {b:.2f}  {rates:10.3f}  {net:8.3f}  {excludes:15.3f}", flush=True)


if __name__ == "__main__":
    main()
