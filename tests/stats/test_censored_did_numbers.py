"""The registered numbers of the censored-scale audit, from its 990 ratings, to the printed digits."""

import csv
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest

from edufair.stats import bca_interval, cluster_means, signed_rank

DATA = Path(__file__).parents[2] / "../shared/data/judge_did"
pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason="the ratings in ../shared/data/judge_did are not here")


def rows(name):
    with (DATA / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def estimand(field, stratum, weights):
    """A weighted sum over (arm, pole) of mean ratings, averaged within source run, runs sorted."""
    ratings = defaultdict(list)
    for row in rows("ratings.csv"):
        ratings[row["stimulus"], row["arm"], row["pole"]].append(int(row[field]))
    stimuli = [row for row in rows("stimuli.csv") if row["competence"] == stratum]
    values = [
        sum(weight * np.mean(ratings[row["stimulus"], arm, pole]) for (arm, pole), weight in weights.items())
        for row in stimuli
    ]
    return cluster_means(values, [row["source_run"] for row in stimuli])


GAP = {("P_nov", "high"): 1, ("P_nov", "low"): -1, ("P_adv", "high"): -1, ("P_adv", "low"): 1}
HIGH_SHIFT = {("P_adv", "high"): 1, ("P_nov", "high"): -1}
LOW_SHIFT = {("P_adv", "low"): 1, ("P_nov", "low"): -1}


@pytest.mark.parametrize(
    ("field", "stratum", "weights", "clusters", "mean", "low", "high", "p"),
    [  # sections 6.1, 6.2 and 6.3
        ("overall", "weak", GAP, 18, 0.085, -0.167, 0.353, 0.684),
        ("overall", "strong", GAP, 10, 0.106, -0.194, 0.572, 0.914),
        ("overall", "weak", LOW_SHIFT, 18, -0.153, -0.324, -0.074, 0.00781),
        ("overall", "weak", HIGH_SHIFT, 18, -0.238, -0.469, -0.019, 0.0625),
        ("productive_struggle", "weak", GAP, 18, 0.378, None, None, 0.00195),
    ],
)
def test_estimate_interval_and_p_as_printed(field, stratum, weights, clusters, mean, low, high, p):
    values = estimand(field, stratum, weights)
    found = bca_interval(values, seed=13)
    assert found.n == clusters
    assert round(found.estimate, 3) == mean
    if low is not None:
        assert (round(found.low, 3), round(found.high, 3)) == (low, high)
    tested = signed_rank(values, zeros="wilcox")
    assert tested.method == "exact"
    assert float(f"{tested.p:.3g}") == p
