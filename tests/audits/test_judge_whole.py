"""Judges whose doings are known, through plan, run and analyse: what the check says of each."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import polars as pl
import pytest

import edufair
from audits import scripted_judges
from edufair.records import Finding

CLUSTERS = 16

#: Qualities of the replies by stimulus, in turn: two stimuli a cluster.
FLOORED = {"high": (4, 5, 3, 4), "low": (1, 1, 0, 2)}
INSIDE = {"high": (4, 5, 4, 5), "low": (3, 3, 2, 3)}


@pytest.fixture(autouse=True)
def nobody_asked_yet() -> Iterator[None]:
    scripted_judges.asked.clear()
    scripted_judges.broken.clear()
    yield
    scripted_judges.broken.clear()


def write_stimuli(path: Path, qualities: dict[str, tuple[int, ...]], **more: Any) -> None:
    rows = [
        {
            "id": f"s{k:02}",
            "cluster": f"c{k // 2:02}",
            "question": f"Task {k}?",
            "dialogue": [{"role": "student", "text": f"I tried task {k}."}],
            "high": f"What next? (quality {qualities['high'][k % 4]})",
            "low": f"It is done. (quality {qualities['low'][k % 4]})",
            **more,
        }
        for k in range(2 * CLUSTERS)
    ]
    path.write_bytes(b"\n".join(map(orjson.dumps, rows)))


def audit(folder: Path, judge: str, **sections: Any) -> dict[str, Any]:
    return {
        "audit": "judge",
        "name": judge,
        "run": str(folder / "run"),
        "models": {"m": {"url": f"python:audits.scripted_judges:{judge}"}},
        "judge": {"model": "m"},
        "items": {"bank": str(folder / "stimuli.jsonl")},
        "design": {"repetitions": 1},
        "analysis": {"resamples": 200},
        **sections,
    }


def analysed(folder: Path, judge: str, qualities: dict[str, tuple[int, ...]]) -> edufair.Analysis:
    write_stimuli(folder / "stimuli.jsonl", qualities)
    return edufair.analyse(edufair.run(audit(folder, judge)))


def one(analysis: edufair.Analysis, dimension: str, a: str, metric: str = "overall", b: str = "") -> Finding:
    (found,) = [
        f for f in analysis.findings if (f.dimension, f.a, f.metric) == (dimension, a, metric) and (not b or f.b == b)
    ]
    return found


def only(frame: pl.DataFrame, **where: Any) -> dict[str, Any]:
    (row,) = frame.filter(**where).to_dicts()
    return row


def test_a_common_shift_on_a_floor_makes_a_gap_that_the_check_calls_a_one_pole_contrast(tmp_path: Path) -> None:
    analysis = analysed(tmp_path, "severe", FLOORED)
    # high: 4, 5, 3, 4 -> 3, 4, 2, 3, always -1. low, cut at 1: 1, 1, 1, 2 -> 1, 1, 1, 1, so 0, 0, 0, -1.
    # gap = a_L - a_H: 1, 1, 1, 0; cluster means 1 and 1/2 in turn: 0.75 over 16 clusters, all positive: p = 2 / 2^16.
    gap = one(analysis, "profile", "novice", b="advanced")
    assert (gap.status, gap.n, gap.n_items, gap.difference, gap.p) == ("tested", 16, 32, 0.75, 2**-15)
    assert gap.note.startswith("one-pole contrast: 24 of 32 items stand at a bound at pole low in every arm")
    assert gap.p_holm is not None and gap.p_holm < 0.001 and gap.practical
    assert gap.finding is False  # found by the test, and made by the scale
    assert gap.reservation == "the check of the scale says: one-pole contrast"
    # preference: novice (4+5+3+4)/4 - (1+1+1+2)/4 = 4 - 1.25; advanced 3 - 1
    assert (gap.mean_a, gap.mean_b) == (2.75, 2.0)
    high, low = (one(analysis, f"profile ({pole} pole)", "advanced") for pole in ("high", "low"))
    assert (high.difference, high.mean_a, high.mean_b, high.finding) == (-1.0, 3.0, 4.0, True)
    assert (low.difference, low.mean_a, low.mean_b) == (-0.25, 1.0, 1.25)

    tables = analysis.tables
    verdict = only(tables["scale_check"], metric="overall")
    assert (verdict["verdict"], verdict["estimate"], verdict["clusters"]) == ("one-pole contrast", 0.75, 16)
    made = only(tables["constructions"], metric="overall", form="clip", carried_from="high")
    assert (made["gap_made"], made["share_made"], made["residual"]) == (0.75, 1.0, 0.0)
    assert only(tables["attenuation"], metric="overall", pole="low")["kappa"] == 0.75  # 1 - 0.25 / 1
    pinned = only(tables["pinned"], metric="overall", pole="low", bound=1)
    assert (pinned["pinned"], pinned["gap_pinned"], pinned["gap_rest"]) == (24, 1.0, 0.0)
    room = only(tables["headroom"], metric="overall")
    assert (room["lowest_gap"], room["highest_gap"]) == (-1.25, 6.75)  # 2.75 - 4 and 2.75 + 4
    assert set(tables["preference"].filter(metric="overall")["arm"]) == {"none", "novice", "advanced"}


def test_a_preference_that_moves_away_from_the_bounds_shows_no_sign_of_the_scale(tmp_path: Path) -> None:
    analysis = analysed(tmp_path, "partial", INSIDE)
    # high 4, 5, 4, 5 -> 3, 4, 3, 4; low 3, 3, 2, 3 as it was: the gap is 1 everywhere, nothing is cut.
    gap = one(analysis, "profile", "novice", b="advanced")
    assert (gap.difference, gap.p, gap.r, gap.finding) == (1.0, 2**-15, 1.0, True)
    assert gap.note.startswith("no sign that the scale made it")
    assert only(analysis.tables["constructions"], metric="overall", form="clip", carried_from="high")["gap_made"] == 0


def test_a_judge_that_never_moves_is_told_from_nothing_it_could_have_shown(tmp_path: Path) -> None:
    gap = one(analysed(tmp_path, "steady", INSIDE), "profile", "novice", b="advanced")
    assert (gap.difference, gap.p, gap.finding) == (0.0, 1.0, False)
    assert gap.note.startswith("cannot tell: with 0 clusters that differ")


def test_the_family_is_what_the_plan_lists_and_one_test_is_planned_as_the_other(tmp_path: Path) -> None:
    analysis = analysed(tmp_path, "severe", FLOORED)
    # gap, two contrasts with the control, two pole shifts, four fields; no strata, no evidence, no subset
    assert [(f.dimension, f.a, f.b, f.metric) for f in analysis.findings] == [
        ("profile", "novice", "advanced", "overall"),
        ("profile", "novice", "none", "overall"),
        ("profile", "advanced", "none", "overall"),
        ("profile (high pole)", "advanced", "novice", "overall"),
        ("profile (low pole)", "advanced", "novice", "overall"),
        *(("profile", "novice", "advanced", field) for field in scripted_judges.FIELDS[:-1]),
    ]
    assert {f.family_size for f in analysis.findings} == {9}
    assert all(f.planned for f in analysis.findings)


def test_strata_a_subset_and_evidence_give_the_twenty_one_tests_of_the_paper(tmp_path: Path) -> None:
    write_stimuli(tmp_path / "stimuli.jsonl", FLOORED)
    rows = [orjson.loads(line) for line in (tmp_path / "stimuli.jsonl").read_bytes().splitlines()]
    for k, row in enumerate(rows):
        row |= {"stratum": ("weak", "strong")[k % 2], "evidence_strength": k % 3}
        row |= {"subset": "corpus"} if k % 4 < 2 else {}
    (tmp_path / "stimuli.jsonl").write_bytes(b"\n".join(map(orjson.dumps, rows)))
    settings = audit(tmp_path, "severe", analysis={"resamples": 200, "subset": "corpus"})
    analysis = edufair.analyse(edufair.run(settings))
    assert len(analysis.findings) == 21
    assert {f.family_size for f in analysis.findings} == {21}
    assert all(f.planned and f.status == "tested" for f in analysis.findings)
    # weak: stimuli 0 and 2 of every four, each alone in its cluster: gaps 1 and 1. strong: 1 and 3, gaps 1 and 0.
    # The subset holds 0 and 1 of every four: gaps 1 and 1.
    gaps = {(f.dimension, f.domain): (f.difference, f.n) for f in analysis.findings if f.metric == "overall"}
    assert gaps["profile (subset corpus)", "weak"] == gaps["profile (subset corpus)", "strong"] == (1.0, 8)
    others = {f.domain: (f.difference, f.n) for f in analysis.findings if f.metric == "elicitation"}
    assert others == {"weak": (1.0, 16), "strong": (0.5, 16)}
    rho = one(analysis, "evidence strength", "size of the gap")
    assert (rho.domain, rho.method, rho.n, rho.difference) == ("", "Spearman", 16, None)


def test_a_run_goes_on_where_it_stopped_and_asks_nothing_twice(tmp_path: Path) -> None:
    write_stimuli(tmp_path / "stimuli.jsonl", FLOORED)
    settings = audit(tmp_path, "severe")
    scripted_judges.broken.update({"Task 3?", "Task 30?"})
    first = edufair.run(settings)
    assert first.tally is not None
    assert (first.tally.done, first.tally.failed) == (30 * 6, 2 * 6)  # 3 profiles x 2 poles
    gap = one(edufair.analyse(first), "profile", "novice", b="advanced")
    assert (gap.n_items, gap.lost_a, gap.lost_b, gap.n) == (32, 2, 2, 16)
    scripted_judges.broken.clear()
    scripted_judges.asked.clear()
    second = edufair.run(settings)
    assert second.tally is not None and (second.tally.done, second.tally.already) == (12, 180)
    assert all("Task 3?" in shown or "Task 30?" in shown for shown in scripted_judges.asked)
    assert one(edufair.analyse(second), "profile", "novice", b="advanced").difference == 0.75
    scripted_judges.asked.clear()
    edufair.run(settings)
    assert scripted_judges.asked == []


def test_the_pole_check_comes_later_asks_no_rating_again_and_says_what_was_recovered(tmp_path: Path) -> None:
    write_stimuli(tmp_path / "stimuli.jsonl", FLOORED)
    edufair.run(audit(tmp_path, "severe", design={"repetitions": 2}))
    scripted_judges.asked.clear()
    run = edufair.run(audit(tmp_path, "severe", design={"repetitions": 2, "pole_check": True}))
    assert len(scripted_judges.asked) == 64
    assert not any("percentile" in shown for shown in scripted_judges.asked)
    tables = edufair.analyse(run).tables
    (summary,) = tables["pole_check"].to_dicts()
    assert (summary["n"], summary["recovered"], summary["always_recovered"], summary["unread"]) == (32, 1.0, 32, 0)
    assert summary["chose_reply_1"] == 0.5  # both orders of every stimulus
    assert set(tables["pole_check_by_stimulus"]["asked"]) == {2}


def test_test_retest_is_between_repetitions_without_a_profile(tmp_path: Path) -> None:
    write_stimuli(tmp_path / "stimuli.jsonl", FLOORED)
    run = edufair.run(audit(tmp_path, "severe", design={"repetitions": 2}))
    table = edufair.analyse(run).tables["test_retest"]
    assert set(table["arm"]) == {"none"}
    row = only(table, metric="overall")
    assert (row["repetitions"], row["n"], row["exact_agreement"]) == ("1 and 2", 64, 1.0)
    assert row["r"] == pytest.approx(1.0)


def test_two_judges_are_two_families(tmp_path: Path) -> None:
    write_stimuli(tmp_path / "stimuli.jsonl", INSIDE)
    models = {name: {"url": f"python:audits.scripted_judges:{name}"} for name in ("partial", "steady")}
    settings = audit(tmp_path, "steady") | {"models": models, "judge": {"model": ["partial", "steady"]}}
    found = edufair.analyse(edufair.run(settings)).findings
    assert {(f.model, f.family_size) for f in found} == {("partial", 9), ("steady", 9)}
    assert {f.model for f in found if f.finding} == {"partial"}


def test_profiles_rubric_and_scale_of_one_s_own(tmp_path: Path) -> None:
    write_stimuli(tmp_path / "stimuli.jsonl", INSIDE)
    (tmp_path / "rubric.txt").write_text("Rate {kindness} from 0 to 2.\n", encoding="utf-8")
    (tmp_path / "judge.toml").write_text(
        """
audit = "judge"
run = "run"
[models.m]
url = "python:audits.test_judge_whole:kind"
[judge]
model = "m"
[items]
bank = "stimuli.jsonl"
[design]
profiles = ["shy", "bold"]
control = false
repetitions = 1
[profiles]
shy = "The learner is shy."
bold = "The learner is bold."
[rubric]
file = "rubric.txt"
fields = ["kindness"]
primary = "kindness"
low = 0
high = 2
""",
        encoding="utf-8",
    )
    run = edufair.run(tmp_path / "judge.toml")
    (tmp_path / "rubric.txt").unlink()  # it was read once and is kept with the plan
    assert run.plans()[-1].prompts["rubric"] == "Rate {kindness} from 0 to 2."
    analysis = edufair.analyse(run)
    assert [(f.dimension, f.a, f.b) for f in analysis.findings] == [
        ("profile", "shy", "bold"),
        ("profile (high pole)", "bold", "shy"),
        ("profile (low pole)", "bold", "shy"),
    ]
    assert (
        analysis.findings[0].difference == -1.0
    )  # the judge prefers the high reply by 1 to shy, by 2 to bold learners
    assert "test_retest" not in analysis.tables  # one repetition


def kind(messages: list[dict[str, Any]]) -> str:
    """0 for the low reply; 2 for the high one, 1 where the learner is shy."""
    shown = messages[-1]["content"]
    return orjson.dumps({"kindness": 0 if "It is done" in shown else 1 if "is shy" in shown else 2}).decode()


async def test_it_runs_inside_a_running_loop(tmp_path: Path) -> None:
    write_stimuli(tmp_path / "stimuli.jsonl", INSIDE)
    run = edufair.run(audit(tmp_path, "steady"))
    assert run.states() == {"done": 32 * 6}


def test_an_unfinished_run_says_what_is_not_there(tmp_path: Path) -> None:
    write_stimuli(tmp_path / "stimuli.jsonl", INSIDE)
    scripted_judges.broken.add("93rd percentile")
    settings = audit(tmp_path, "steady", limits={"stop_after_failures": 1000})
    found = edufair.analyse(edufair.run(settings)).findings
    assert {(f.status, f.p_holm) for f in found if "advanced" in (f.a, f.b)} == {("insufficient", None)}
    assert {f.family_size for f in found} == {9}
