"""Scores lined up as pairs: who is paired with whom, and what was lost, by arm and by kind."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import polars as pl
import pytest

from edufair.pairs import Grid, grids, losses
from edufair.records import NOT_APPLICABLE

SCORES = {"trial": pl.String, "turn": pl.Int64, "metric": pl.String, "source": pl.String, "value": pl.Float64}


def record_frame(rows: Iterable[dict[str, Any]]) -> pl.DataFrame:
    usual = {"model": "m", "domain": "d", "condition": "explicit", "replicate": 1, "status": "done", "reason": ""}
    return pl.DataFrame([{**usual, **row} for row in rows])


def score_frame(rows: Iterable[tuple[Any, ...]]) -> pl.DataFrame:
    """(trial, metric, value[, reason[, source[, turn]]])"""
    full = [
        (t, *(rest[4:5] or (0,)), rest[0], (rest[3:4] or ("code",))[0], rest[1], (rest[2:3] or ("",))[0])
        for t, *rest in rows
    ]
    return pl.DataFrame(full, schema={**SCORES, "reason": pl.String}, orient="row")


def trials(*ids: str, **change: Any) -> list[dict[str, Any]]:
    """One record for each id such as `q1a`: item q1, arm a, and `q1a2` its second replicate."""
    return [{"trial": id, "item": id[:2], "arm": id[2], "replicate": int(id[3:] or 1), **change} for id in ids]


def only(
    scores: pl.DataFrame, records: pl.DataFrame, metrics: tuple[str, ...] = ("x",), sources: tuple[str, ...] = ("code",)
) -> Grid:
    (grid,) = grids(scores, records, metrics=metrics, sources=sources)
    return grid


def test_pairs_are_joined_by_item_whatever_the_order_of_rows() -> None:
    records = record_frame(trials("q2b", "q1a", "q3a", "q1b", "q2a", "q3b"))
    scores = score_frame(
        [
            ("q3b", "x", 6.0),
            ("q1a", "x", 1.0),
            ("q2a", "x", 2.0),
            ("q2b", "x", 5.0),
            ("q3a", "x", 3.0),
            ("q1b", "x", 4.0),
        ]
    )
    grid = only(scores, records)
    pairs = grid.pairs("a", "b", "x")
    assert [grid.items[i] for i in pairs.index] == ["q1", "q2", "q3"]
    assert (pairs.a.tolist(), pairs.b.tolist(), pairs.d.tolist()) == ([1, 2, 3], [4, 5, 6], [-3, -3, -3])
    assert (pairs.n, pairs.n_items, pairs.lost_by_arm, pairs.not_applicable) == (3, 3, (0, 0), (0, 0))


def test_swapping_the_arms_flips_the_sign_and_the_losses() -> None:
    records = record_frame(
        [*trials("q1a", "q1b", "q2a", "q2b"), *trials("q3a", status="failed", reason="refused"), *trials("q3b")]
    )
    scores = score_frame(
        [("q1a", "x", 1.0), ("q1b", "x", 0.25), ("q2a", "x", 0.5), ("q2b", "x", 1.0), ("q3b", "x", 1.0)]
    )
    grid = only(scores, records)
    one, other = grid.pairs("a", "b", "x"), grid.pairs("b", "a", "x")
    assert one.d.tolist() == (-other.d).tolist() == [0.75, -0.5]
    assert one.lost_by_arm == other.lost_by_arm[::-1] == (1, 0)


def test_only_items_whose_both_arms_were_carried_out_are_asked_items() -> None:
    grid = only(
        score_frame([("q1a", "x", 1.0), ("q1b", "x", 1.0), ("q2a", "x", 1.0)]),
        record_frame(trials("q1a", "q1b", "q2a")),
    )
    pairs = grid.pairs("a", "b", "x")
    assert (pairs.n, pairs.n_items, pairs.lost_by_arm) == (1, 1, (0, 0))


def test_a_failed_trial_is_lost_and_a_metric_without_meaning_is_not() -> None:
    records = record_frame(
        [
            *trials("q1a", "q1b", "q2a", "q2b", "q3a", "q3b"),
            *trials("q4a", status="failed", reason="transport"),
            *trials("q4b"),
        ]
    )
    scores = score_frame(
        [
            ("q1a", "x", 1.0), ("q1b", "x", 0.0),
            ("q2a", "x", None, NOT_APPLICABLE), ("q2b", "x", 1.0),
            ("q3a", "x", 1.0), ("q3b", "x", None, "unparsed"),
            ("q4b", "x", 1.0),
        ]
    )  # fmt: skip
    pairs = only(scores, records).pairs("a", "b", "x")
    assert (pairs.n, pairs.n_items) == (1, 4)
    assert pairs.lost_by_arm == (1, 1)
    assert pairs.not_applicable == (1, 0)
    assert pairs.share_lost() == 0.25


def test_unequal_loss_is_tested_by_exact_mcnemar() -> None:
    # six items lost in arm a alone: p = 2 * (1/2)^6 = 0.03125
    lost = [f"q{n}a" for n in range(6)]
    rest = [f"q{n}b" for n in range(6)] + ["q6a", "q6b"]
    records = record_frame([*trials(*lost, status="failed", reason="refused"), *trials(*rest)])
    pairs = only(score_frame([(t, "x", 1.0) for t in rest]), records).pairs("a", "b", "x")
    assert pairs.loss_p() == pytest.approx(0.03125)
    assert pairs.share_lost() == pytest.approx(6 / 7)


def test_nothing_asked_is_nothing_lost() -> None:
    pairs = only(score_frame([]), record_frame(trials("q1a", "q2b"))).pairs("a", "b", "x")
    assert (pairs.n, pairs.n_items, pairs.share_lost(), pairs.loss_p()) == (0, 0, 0.0, None)


def test_replicates_are_averaged() -> None:
    records = record_frame(trials("q1a1", "q1a2", "q1a3", "q1b1"))
    scores = score_frame([("q1a1", "x", 0.0), ("q1a2", "x", 1.0), ("q1a3", "x", None, "unparsed"), ("q1b1", "x", 1.0)])
    pairs = only(scores, records).pairs("a", "b", "x")
    assert (pairs.a.tolist(), pairs.b.tolist(), pairs.lost_by_arm) == ([0.5], [1.0], (0, 0))


@pytest.mark.parametrize(
    "reasons",
    [("unparsed", NOT_APPLICABLE), (NOT_APPLICABLE, "unparsed"), (NOT_APPLICABLE, None), (None, NOT_APPLICABLE)],
)
def test_a_cell_without_a_value_is_lost_when_one_of_its_replicates_is(reasons: tuple[str | None, ...]) -> None:
    """Lost by an unread label, or (None) by a trial that failed and has no score at all."""
    records = record_frame(trials("q1a1", "q1a2", "q1b1"))
    rows = [(f"q1a{n}", "x", None, reason) for n, reason in enumerate(reasons, start=1) if reason]
    pairs = only(score_frame([*rows, ("q1b1", "x", 1.0)]), records).pairs("a", "b", "x")
    assert (pairs.lost_by_arm, pairs.not_applicable) == ((1, 0), (0, 0))


def test_a_metric_that_applies_to_no_replicate_is_not_lost() -> None:
    scores = score_frame([("q1a1", "x", None, NOT_APPLICABLE), ("q1a2", "x", None, NOT_APPLICABLE), ("q1b1", "x", 1.0)])
    pairs = only(scores, record_frame(trials("q1a1", "q1a2", "q1b1"))).pairs("a", "b", "x")
    assert (pairs.lost_by_arm, pairs.not_applicable) == ((0, 0), (1, 0))


def test_the_baseline_s_replicates_are_cells_of_their_own() -> None:
    records = record_frame([{**row, "arm": "baseline", "condition": "baseline"} for row in trials("q1a1", "q1a2")])
    grid = only(score_frame([("q1a1", "x", 3.0), ("q1a2", "x", 1.0)]), records)
    assert grid.cells == ("baseline #1", "baseline #2")
    assert grid.pairs("baseline #1", "baseline #2", "x").d.tolist() == [2.0]


def test_a_grid_for_each_model_condition_and_domain_in_order() -> None:
    records = record_frame(
        [
            *trials("q1a", model="z", domain="b"),
            *trials("q2a", model="a", domain="b"),
            *trials("q3a", model="a", domain="a"),
            *trials("q4a", model="a", domain="a", condition="baseline"),
        ]
    )
    found = [(g.model, g.condition, g.domain) for g in grids(score_frame([]), records, metrics=["x"], sources=["code"])]
    assert found == [("a", "baseline", "a"), ("a", "explicit", "a"), ("a", "explicit", "b"), ("z", "explicit", "b")]


def test_only_whole_record_scores_of_the_given_sources_are_used() -> None:
    scores = score_frame(
        [("q1a", "x", 1.0), ("q1a", "x", 0.0, "", "judge:b"), ("q1a", "x", 0.5, "", "code", 3), ("q1a", "y", 9.0)]
    )
    grid = only(scores, record_frame(trials("q1a")))
    assert grid.values.tolist() == [[[1.0]]]


def test_a_cell_that_is_not_there_is_all_missing_in_a_block() -> None:
    grid = only(score_frame([("q1a", "x", 1.0), ("q1a", "y", 2.0)]), record_frame(trials("q1a")), ("x", "y"))
    block = grid.block(["c", "a"], ["y"])
    assert block.shape == (1, 2, 1)
    assert np.isnan(block[0, 0, 0]) and block[0, 1, 0] == 2.0


def test_a_pair_points_to_the_first_replicate_s_trials() -> None:
    grid = only(score_frame([]), record_frame(trials("q1a2", "q1a1", "q1a3", "q1b1")))
    assert grid.trials.tolist() == [["q1a1", "q1b1"]]


def test_how_trials_ended_is_counted_by_arm() -> None:
    records = record_frame(
        [
            *trials("q1a", "q2a", "q1b"),
            *trials("q3a", status="failed", reason="refused"),
            *trials("q2b", status="failed", reason="truncated"),
        ]
    )
    assert losses(records).select("arm", "state", "n", "of").rows() == [
        ("a", "done", 2, 3), ("a", "refused", 1, 3), ("b", "done", 1, 2), ("b", "truncated", 1, 2),
    ]  # fmt: skip
