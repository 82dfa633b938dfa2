"""What a report and the terminal say of a judge that was compared with people."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

import edufair
from edufair.audits.base import Analysis
from edufair.engine.validate import Validated, validate_on_run, validations_of
from edufair.engine.validate_mrbench import validate_on_mrbench
from edufair.records import NOT_APPLICABLE
from edufair.reports import judge
from edufair.reports.html import render
from edufair.scoring.validation import Question, Unit, Validation, check
from engine import labelling_people as people
from engine.test_validate import MODELS, audit, labelled, mrbench
from reports import made_up
from whole.small_audit import small_audit

ARMS = ("explicit tutor.gender=female", "explicit tutor.gender=male")


def units(*, up: int, n: int = 40, annotators: int = 2) -> list[Unit]:
    """n turns an arm, of which people call half 1; in the first arm the judge says 1 for `up` of the others."""
    found = []
    for arm, wrong in zip(ARMS, (up, 0), strict=True):
        for k in range(n):
            truth = k % 2
            said = 1 if truth == 0 and k // 2 < wrong else truth
            found.append(Unit(said, {f"p{i}": truth for i in range(annotators)}, f"item {k}", arm))
    return found


def validation(*checked: Any, **changes: Any) -> Validation:
    whole: dict[str, Any] = {
        "judge": "judge:big:12345678", "name": "big", "settings": {}, "against": "hand labels of this run",
        "file": "labels.csv", "file_hash": "0", "annotators": ("p0", "p1"), "turns": 80, "of": 80, "grouped": "arm",
        "seed": 1, "created": "2026-01-01", "version": "0", "checked": checked,
    }  # fmt: skip
    return Validation(**(whole | changes))


def leak(some: list[Unit], **about: Any) -> Any:
    return check(Question("answer_leakage", "answer_leakage", (0, 1), contrasts=[ARMS], **about), some, seed=1)


def test_the_note_says_how_much_and_what_the_judge_adds_to_a_difference() -> None:
    said = judge.note([validation(leak(units(up=10)))])
    # 10 of 80 labels are wrong, all of them 1 for 0 and in one arm of 40: 88% the same, +25 points
    assert "The judge big was compared with 2 people's labels of this run's dialogues, on 80 turns." in said
    assert "88% (gives the answer away)" in said
    assert "would shift a difference between arms by up to 25.0 points" in said
    assert "tutor.gender=female − tutor.gender=male" in said
    assert "of 1 such interval, 1 excludes zero, and chance makes one in twenty do so." in said


def test_turns_without_arms_and_few_turns_are_said_to_be_so() -> None:
    said = judge.note([validation(leak(units(up=1, n=8)), grouped="tutor", against="MRBench", annotators=("MRBench",))])
    assert "people's labels in MRBench, of other tutors' turns," in said
    assert "whether it errs more for some learners than for others is not known" in said
    assert "too few of the rarer label, for a steady alpha: gives the answer away." in said
    one_arm = [unit for unit in units(up=1) if unit.arm == ARMS[0]]
    assert "hold no two arms that are contrasted" in judge.note([validation(leak(one_arm))])


def test_another_construct_is_in_the_table_and_in_no_sentence() -> None:
    tone = check(
        Question("corrective_tone", "Tutor_Tone", (0, 1), "“Encouraging” = 1", same=False, note="Another construct."),
        units(up=20),
        seed=1,
    )
    whole = validation(leak(units(up=0)), tone)
    assert "the same label in 100% (gives the answer away) of them; alpha is 1.00." in judge.note([whole])
    [_, row] = judge.agreement_table(whole).rows
    assert row[0].note == "Tutor_Tone; “Encouraging” = 1; not the same construct"


def test_what_is_undefined_is_said_to_be_and_why() -> None:
    same = [Unit(0, {"p0": 0}, str(k), ARMS[0]) for k in range(40)]
    gone = [Unit(None, {"p0": 0}, "x", ARMS[0], "unparsed"), Unit(None, {"p0": 1}, "y", ARMS[0], "refused")]
    whole = validation(leak(same + gone), annotators=("p0",))
    [row] = judge.agreement_table(whole).rows
    texts = [(cell.text, cell.note) for cell in row]
    assert texts[1] == ("40", "of 42")
    assert texts[3] == ("undefined", "all labels fall into one category")
    assert texts[7] == ("2", "1 refused, 1 unparsed")
    assert texts[8] == ("–", "one label a turn")
    assert "alpha is undefined, because there is no variation" in judge.note([whole])
    nothing = validation(leak(gone), annotators=("p0",))
    assert "On no turn do both have a label." in judge.note([nothing])


def test_confusion_counts_every_label_against_every_label() -> None:
    some = [Unit(NOT_APPLICABLE, {"p0": 1}, "a", ARMS[0]), Unit(1, {"p0": 1}, "b", ARMS[0])]
    checked = check(Question("corrective_tone", "corrective_tone", (0, 1, NOT_APPLICABLE)), some, seed=1)
    rows = {(r[1].text, r[2].text): r[3].text for r in judge.confusion_table(validation(checked)).rows}
    assert len(rows) == 9 and rows[NOT_APPLICABLE, "1"] == rows["1", "1"] == "1" and rows["0", "0"] == "0"


@pytest.mark.parametrize("width", [80, 120])
def test_the_terminal_fits(width: int) -> None:
    found = Validated((validation(leak(units(up=10))),), Path("x.json"))
    console = Console(width=width, record=True, file=open("/dev/null", "w"))  # noqa: SIM115
    console.print(judge.terminal(found))
    console.file.close()
    text = console.export_text()
    assert "88%" in text and "…" not in text and all(len(line) <= width for line in text.splitlines())


def test_the_page_shows_every_table_and_keeps_hostile_names_text() -> None:
    whole = validation(leak(units(up=10)), file="<script>alert(1)</script>.csv")
    note = judge.note([whole])
    bare = {"analysis": Analysis("dialogue", ()), "examples": ()}
    page = render(made_up.report_data(judge_checked=True, judge_note=note, validations=[whole], **bare))
    assert "The judge was checked against people." in page and "has not been checked" not in page
    assert '<h2 id="judge">The judge beside people</h2>' in page and '<a href="#judge">' in page
    for title in ("errors by arm", "add to a difference between arms", "with each annotator", "labels by people"):
        assert title in page
    assert "<script>alert(1)" not in page
    assert "No person has checked" not in page
    assert 'id="judge"' not in render(made_up.report_data(**bare))


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> edufair.Run:
    people.reset()
    return edufair.run(audit(tmp_path_factory.mktemp("judged")))


def test_a_report_says_that_nobody_has_checked_until_somebody_has(judged: edufair.Run, tmp_path: Path) -> None:
    before = edufair.report(judged, output=tmp_path / "before.html").read_text()
    assert "The judge has not been checked against people." in before
    validate_on_run(labelled(judged, tmp_path / "labels.csv"), judged)
    after = edufair.report(judged, output=tmp_path / "after.html").read_text()
    assert (
        "The judge was checked against people." in after
        and "one person's labels of this run's dialogues" in after.replace("&#39;", "'")
    )


def test_a_validation_elsewhere_is_shown_where_it_is_named(tmp_path: Path) -> None:
    run = edufair.run(audit(tmp_path))
    elsewhere = validate_on_mrbench(mrbench(tmp_path), audit(tmp_path), folder=tmp_path / "mrbench")
    page = edufair.report(run, validation=elsewhere.path.parent).read_text()
    assert "The judge was checked against people." in page and "These turns have no arms" in page
    assert "has not been checked" in edufair.report(run).read_text()
    with pytest.raises(edufair.EdufairError, match="there is no such file"):
        edufair.report(run, validation=tmp_path / "nothing")


def test_one_of_two_judges_is_not_all_of_them(tmp_path: Path) -> None:
    run = edufair.run(small_audit(tmp_path, models=MODELS))
    edufair.score(run, judge="other")
    validate_on_run(labelled(run, tmp_path / "labels.csv"), run, judge="truth")
    assert len(validations_of(run)) == 1
    page = edufair.report(run).read_text()
    assert "Not every judge has been checked against people." in page and "Nobody has checked judge:other:" in page
