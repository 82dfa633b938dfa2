"""Going on with a run: what is there is not asked again, what failed in transport is, and what changed is new."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import edufair
from edufair.errors import RunStopped, StoreError
from engine import moody_people as people
from whole.small_audit import small_audit

MODELS = {
    name: {"url": f"python:engine.moody_people:{function}", "concurrency": 1}
    for name, function in {"tutor": "tutor", "student": "student", "truth": "judge", "second": "other_tutor"}.items()
}
PROBES = 3  # each of tutor, student and judge is tried once


@pytest.fixture(autouse=True)
def well_people() -> Iterator[None]:
    people.reset()
    yield
    people.reset()


def audit(folder: Path, **sections: Any) -> dict[str, Any]:
    return small_audit(folder, models=sections.pop("models", MODELS), **sections)


def renamed(role: str, function: str) -> dict[str, Any]:
    """The same names, with another function behind one of them."""
    return {**MODELS, role: {**MODELS[role], "url": f"python:engine.moody_people:{function}"}}


# --- nothing twice ----------------------------------------------------------------------------------------------


def test_a_finished_run_asks_nothing_again(tmp_path: Path) -> None:
    first = edufair.run(audit(tmp_path))
    calls = first.calls()
    people.reset()
    second = edufair.run(audit(tmp_path))
    assert second.tally is not None
    assert (second.tally.already, second.tally.done, second.tally.calls) == (12, 0, 0)
    assert not people.ASKED  # not even tried: how each is asked was kept
    assert second.calls().equals(calls)
    assert not first.unfinished() and not second.unfinished()


def test_what_failed_in_transport_is_asked_again_and_totals_add_up(tmp_path: Path) -> None:
    people.MOOD["tutor falls ill after"] = 9
    broken = edufair.run(audit(tmp_path))
    assert broken.unfinished() and broken.states() == {"done": 4, "transport": 8}
    people.reset()
    mended = edufair.run(audit(tmp_path))
    assert not mended.unfinished() and mended.states() == {"done": 12}
    assert mended.tally is not None and (mended.tally.already, mended.tally.done) == (4, 8)
    assert people.ASKED["tutor"] == 2 * 8
    calls = mended.calls().filter(pl.col("status") != "failed")
    assert calls.filter(pl.col("role") == "tutor").height == 2 * 12
    assert calls.group_by("key").len()["len"].to_list() == [1] * calls.height


@pytest.mark.parametrize("says", [{"text": "No.", "refused": True}, {"text": "", "filtered": True}, ""])
def test_outcomes_that_are_no_text_are_outcomes(tmp_path: Path, says: Any) -> None:
    people.MOOD["tutor says"] = says
    first = edufair.run(audit(tmp_path))
    assert not first.unfinished() and first.states()["done"] == 0
    people.reset()
    assert edufair.run(audit(tmp_path)).tally.calls == 0  # type: ignore[union-attr]


def test_labels_that_are_missing_are_asked_for_without_asking_the_tutor(tmp_path: Path) -> None:
    people.MOOD["judge falls ill after"] = 1  # it answers when it is tried
    first = edufair.run(audit(tmp_path))
    assert first.unfinished() and first.tally is not None and first.tally.unscored == 12
    people.reset()
    second = edufair.run(audit(tmp_path))
    assert not second.unfinished()
    assert people.ASKED["tutor"] == people.ASKED["student"] == 0 < people.ASKED["judge"]
    assert second.scored_by().keys() == {"code", *(s.id for s in second.sources() if s.kind == "judge")}


def test_a_streak_of_failures_stops_the_run_and_keeps_what_is_done(tmp_path: Path) -> None:
    people.MOOD["tutor falls ill after"] = 5
    with pytest.raises(RunStopped, match=r"3 trials in a row failed in transport; the last: .*the tutor is ill"):
        edufair.run(audit(tmp_path, limits={"stop_after_failures": 3}))
    found = edufair.open_run(tmp_path / "run")
    states = found.states()
    assert states["done"] == 2 and 3 <= states["transport"] <= 4  # a second worker's trial may end meanwhile
    assert states["waiting"] == 12 - states["done"] - states["transport"]
    people.reset()
    assert edufair.run(audit(tmp_path)).states() == {"done": 12}


# --- another plan -----------------------------------------------------------------------------------------------


def test_a_wider_design_reuses_the_trials_that_are_there(tmp_path: Path) -> None:
    edufair.run(audit(tmp_path))
    people.reset()
    wider = edufair.run(audit(tmp_path, design={"dimensions": ["gender", "ses"]}))
    assert wider.tally is not None and (wider.tally.already, wider.tally.done) == (12, 18)
    assert people.ASKED["tutor"] == 2 * 18
    found = edufair.analyse(wider).findings
    assert {f.dimension: f.planned for f in found} == {"gender": True, "ses": False}


def test_an_arm_of_an_earlier_plan_is_analysed_with_the_last(tmp_path: Path) -> None:
    edufair.run(audit(tmp_path))
    last = edufair.run(audit(tmp_path, design={"conditions": ["baseline"], "dimensions": ["gender"]}))
    assert {f.condition for f in edufair.analyse(last).findings} == {"explicit", "baseline"}


def test_a_second_tutor_added_later_is_analysed_beside_the_first(tmp_path: Path) -> None:
    edufair.run(audit(tmp_path))
    last = edufair.run(audit(tmp_path, tutor={"model": "second"}))
    assert {(f.model, f.planned) for f in edufair.analyse(last).findings} == {("tutor", True), ("second", False)}


def test_trials_shaped_otherwise_are_left_out(tmp_path: Path) -> None:
    """A second tutor that talks for one turn cannot be set beside a first that talked for two."""
    edufair.run(audit(tmp_path))
    last = edufair.run(audit(tmp_path, tutor={"model": "second"}, dialogue={"max_turns": 1}))
    analysis = edufair.analyse(last)
    assert {f.model for f in analysis.findings} == {"second"}
    assert last.states() == {"done": 12}


def test_losses_count_the_trials_that_are_analysed_and_no_others(tmp_path: Path) -> None:
    edufair.run(audit(tmp_path))
    run = edufair.run(audit(tmp_path, dialogue={"max_turns": 1}))
    assert run.records().height == 24
    assert run.losses()["n"].sum() == run.states().total() == 12


def test_going_back_to_an_earlier_plan_analyses_that_one(tmp_path: Path) -> None:
    edufair.run(audit(tmp_path))
    edufair.run(audit(tmp_path, dialogue={"max_turns": 1}))
    back = edufair.run(audit(tmp_path))
    assert back.tally is not None and back.tally.already == 12
    means = edufair.analyse(back).tables["arm_means"].filter(pl.col("metric") == "tutor_turns")["mean"].to_list()
    assert means == [2.0, 2.0]
    assert [row["position"] for row in back.plan_rows()] == [2, 1]


def test_a_run_is_finished_when_its_plan_in_force_is(tmp_path: Path) -> None:
    edufair.plan(audit(tmp_path))  # frozen, never carried out
    done = edufair.run(audit(tmp_path, dialogue={"max_turns": 1}))
    assert not done.unfinished()
    assert done.states() == {"done": 12}


@pytest.mark.parametrize("judge", [None, {"model": "truth", "mode": "single"}, {"model": "truth", "temperature": 0.5}])
def test_another_judge_or_none_asks_no_tutor_again(tmp_path: Path, judge: dict[str, Any] | None) -> None:
    edufair.run(audit(tmp_path))
    people.reset()
    edufair.run(audit(tmp_path, judge=judge))
    assert people.ASKED["tutor"] == people.ASKED["student"] == 0


def test_a_judge_added_later_labels_what_is_there(tmp_path: Path) -> None:
    edufair.run(audit(tmp_path, judge=None))
    people.reset()
    later = edufair.run(audit(tmp_path))
    assert people.ASKED["tutor"] == 0 < people.ASKED["judge"]
    assert not later.unfinished() and len(later.scored_by()) == 2


# --- another model under an old name ----------------------------------------------------------------------------


def test_another_student_under_the_same_name_is_asked_itself(tmp_path: Path) -> None:
    edufair.run(audit(tmp_path))
    people.reset()
    other = edufair.run(audit(tmp_path, models=renamed("student", "other_student")))
    assert other.tally is not None and other.tally.done == 12
    assert people.ASKED["other student"] > 1
    mine = {trial for row in other.plans()[-1:] for _, trial in row.trial_ids("tutor")}
    said = [turn.text for record in other.transcripts(sorted(mine)) for turn in record.turns if turn.role == "student"]
    assert len(said) == 24 and all(text.startswith("No idea.") for text in said)


def test_another_judge_under_the_same_name_is_a_source_of_its_own(tmp_path: Path) -> None:
    edufair.run(audit(tmp_path))
    people.reset()
    other = edufair.run(audit(tmp_path, models=renamed("truth", "other_judge")))
    assert people.ASKED["tutor"] == 0 < people.ASKED["other judge"]
    assert len([source for source in other.sources() if source.kind == "judge"]) == 2


def test_another_tutor_under_the_same_name_is_audited_anew(tmp_path: Path) -> None:
    edufair.run(audit(tmp_path))
    other = edufair.run(audit(tmp_path, models=renamed("tutor", "other_tutor")))
    assert other.tally is not None and other.tally.done == 12
    assert edufair.analyse(other).findings[0].n_items == 6


# --- odd replies ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("odd", ["half \ud800 a pair", "NUL \x00 inside", "line\u2028separator", "\x1b[31mred"])
def test_odd_characters_in_a_reply_stop_nothing(tmp_path: Path, odd: str) -> None:
    people.MOOD["student says"] = odd
    result = edufair.run(audit(tmp_path))
    assert result.states() == {"done": 12}
    said = next(iter(result.transcripts())).turns[1].text
    assert said == odd or "\ud800" in odd
    assert edufair.run(audit(tmp_path)).tally.calls == 0  # type: ignore[union-attr]


# --- scoring again ----------------------------------------------------------------------------------------------


def test_scoring_again_asks_the_other_judge_alone(tmp_path: Path) -> None:
    result = edufair.run(audit(tmp_path))
    people.reset()
    again = edufair.score(result, judge="second")
    assert people.ASKED.keys() == {"other tutor"}
    assert again.tally is not None and (again.tally.total, again.tally.done) == (12, 12)
    assert edufair.score(result, judge="second").tally.calls == 0  # type: ignore[union-attr]


def test_scoring_a_folder_without_a_run_makes_none(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="holds no run"):
        edufair.score(tmp_path / "nothing")
    assert not (tmp_path / "nothing").exists()
