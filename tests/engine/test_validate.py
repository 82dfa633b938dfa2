"""A judge beside people, through the whole program: scripted judges whose errors are known."""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import edufair
from edufair.engine.runs import Run
from edufair.engine.sample_labels import sample_labels
from edufair.engine.validate import Validated, read_validations, validate_on_run, validations_of
from edufair.engine.validate_mrbench import judge_alone, validate_on_mrbench
from edufair.errors import BankError, ConfigError, EdufairError, RunStopped, StoreError
from edufair.scoring.validation import Checked, Estimate
from engine import labelling_people as people
from whole.small_audit import small_audit

REAL = Path(__file__).parents[2] / "../shared/data/mrbench/MRBench_V2.json"

MODELS = {
    name: {"url": f"python:engine.labelling_people:{function}"}
    for name, function in {
        "tutor": "tutor", "student": "student", "truth": "judge", "other": "refusing_judge", "mr": "mrbench_judge",
    }.items()
}  # fmt: skip


@pytest.fixture(autouse=True)
def well_people() -> Iterator[None]:
    people.reset()
    yield
    people.reset()


def audit(folder: Path, **sections: Any) -> dict[str, Any]:
    return small_audit(folder, models=MODELS, **sections)


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """40 questions x 2 arms x 3 turns, labelled by the judge that errs in one arm more than in the other."""
    people.reset()
    folder = tmp_path_factory.mktemp("judged")
    items = {"bank": "sample", "limit": 40}
    return edufair.run(audit(folder, items=items, dialogue={"max_turns": 3}))


def labelled(run: Run, path: Path, *, annotators: Sequence[str] = ("ana",), wrong: Mapping[str, float] = {}) -> Path:
    """What people who read the truth write into a sample of every turn; `wrong` says how often each errs."""
    frame = sample_labels(run, turns=10_000, annotators=annotators).frame
    rows = [row for row in frame.iter_rows(named=True) if row["metric"] == "answer_leakage"]
    for row in rows:
        truth = people.leaks(row["tutor_turn"])
        errs = people.draw(row["annotator"], row["trial"], str(row["turn"])) < wrong.get(row["annotator"], 0.0)
        row["value"] = str(int(truth != errs))
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    return path


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def only(found: Validated, metric: str, reading: str = "") -> Checked:
    return next(c for v in found.validations for c in v.checked if c.metric == metric and c.reading.endswith(reading))


def holds(estimate: Estimate, truth: float) -> bool:
    assert estimate.low is not None and estimate.high is not None
    return estimate.low < truth < estimate.high


# --- hand labels of a run -------------------------------------------------------------------------------------


def test_known_error_rates_by_arm_come_out(judged: Run, tmp_path: Path) -> None:
    found = validate_on_run(labelled(judged, tmp_path / "labels.csv"), judged)
    [validation] = found.validations
    leak = only(found, "answer_leakage")
    assert (validation.grouped, validation.annotators, validation.against) == (
        "arm",
        ("ana",),
        "hand labels of this run",
    )
    assert leak.turns == leak.judge.n == validation.turns == 40 * 2 * 3
    rates = {one.arm: one.rate for one in leak.errors}
    # Half of the turns leak. Told female: 0.4 of the others read as leaks, 0.2 of all. Male: 0.1 of the leaks, 0.05.
    assert holds(rates["explicit tutor.gender=female"], 0.20) and holds(rates["explicit tutor.gender=male"], 0.05)
    [gap] = leak.gaps
    assert (gap.a, gap.b) == ("explicit tutor.gender=female", "explicit tutor.gender=male")
    assert holds(gap.rate, 0.15) and gap.rate.low is not None and gap.rate.low > 0
    assert holds(gap.net, 0.20 - -0.05) and gap.net.low is not None and gap.net.low > 0.1


def test_the_confusion_counts_are_those_of_the_labels(judged: Run, tmp_path: Path) -> None:
    path = labelled(judged, tmp_path / "labels.csv")
    leak = only(validate_on_run(path, judged), "answer_leakage")
    said = {(r["trial"], r["turn"]): r["value"] for r in _turn_scores(judged, "judge:", "answer_leakage")}
    rows = rows_of(path)
    counted = Counter((int(said[row["trial"], int(row["turn"])]), int(row["value"])) for row in rows)
    assert leak.table == ((counted[0, 0], counted[0, 1]), (counted[1, 0], counted[1, 1]))
    assert leak.judge.raw.value == pytest.approx((counted[0, 0] + counted[1, 1]) / len(rows))


def _turn_scores(run: Run, source: str, metric: str) -> list[dict[str, Any]]:
    mine = pl.col("source").str.starts_with(source) & (pl.col("metric") == metric) & (pl.col("turn") > 0)
    return run.raw_scores().filter(mine).to_dicts()


def test_people_are_sources_and_their_labels_scores(judged: Run, tmp_path: Path) -> None:
    path = labelled(judged, tmp_path / "labels.csv", annotators=("ana", "ben"), wrong={"ben": 0.2})
    leak = only(validate_on_run(path, judged), "answer_leakage")
    assert {s.id for s in judged.sources() if s.kind == "person"} >= {"person:ana", "person:ben"}
    kept = _turn_scores(judged, "person:ben", "answer_leakage")
    given = {(r["trial"], int(r["turn"])): float(r["value"]) for r in rows_of(path) if r["annotator"] == "ben"}
    assert {(r["trial"], r["turn"]): r["value"] for r in kept} == given
    assert leak.people is not None and leak.people.n == 240 and holds(leak.people.raw, 0.8)
    assert leak.tied == round((1 - leak.people.raw.value) * 240)  # type: ignore[operator]
    assert leak.each["ana"].raw.value > leak.each["ben"].raw.value  # type: ignore[operator]


def test_a_label_given_again_replaces_the_earlier_one_and_the_findings_stay(judged: Run, tmp_path: Path) -> None:
    before = edufair.analyse(judged)
    validate_on_run(labelled(judged, tmp_path / "one.csv"), judged)
    validate_on_run(labelled(judged, tmp_path / "two.csv", wrong={"ana": 1.0}), judged)
    kept = {(r["trial"], r["turn"]): r["value"] for r in _turn_scores(judged, "person:ana", "answer_leakage")}
    truth = {(r["trial"], int(r["turn"])): float(r["value"]) for r in rows_of(tmp_path / "one.csv")}
    assert kept == {key: 1 - value for key, value in truth.items()}
    after = edufair.analyse(judged)
    assert after.findings == before.findings
    assert after.tables["losses"].equals(before.tables["losses"])


def test_refused_and_unparsed_labels_are_counted_apart(tmp_path: Path) -> None:
    run = edufair.run(audit(tmp_path, judge={"model": "other"}))
    leak = only(validate_on_run(labelled(run, tmp_path / "labels.csv"), run), "answer_leakage")
    texts = [turn.text for r in run.transcripts() for turn in r.turns[1:] if turn.role == "tutor"]
    refused = sum(text.startswith("Well,") for text in texts)
    unparsed = sum(people.leaks(text) for text in texts if not text.startswith("Well,"))
    assert leak.missing == {"refused": refused, "unparsed": unparsed} and refused and unparsed
    assert leak.judge.n == leak.turns - refused - unparsed
    assert leak.judge.alpha.value is None and leak.judge.alpha.undefined == "all labels fall into one category"


def test_not_applicable_can_be_said_by_people_and_by_the_judge(tmp_path: Path) -> None:
    run = edufair.run(audit(tmp_path, judge={"model": "mr"}))  # it finds no mark, so no mistake, on every turn
    frame = sample_labels(run, turns=4).frame.filter(pl.col("metric") == "mistake_recognize")
    values = ["-1", "-1", "0", "1"]
    frame.with_columns(pl.Series("value", values), annotator=pl.lit("ana")).write_csv(tmp_path / "labels.csv")
    found = only(validate_on_run(tmp_path / "labels.csv", run), "mistake_recognize")
    assert found.judge.n == 4 and found.judge.raw.value == 0.5 and not found.missing
    kept = _turn_scores(run, "person:ana", "mistake_recognize")
    assert Counter((r["value"], r["reason"]) for r in kept) == {(None, "not applicable"): 2, (0.0, ""): 1, (1.0, ""): 1}


def test_several_judges_are_compared_side_by_side_or_one_is_named(tmp_path: Path) -> None:
    run = edufair.run(audit(tmp_path))
    edufair.score(run, judge="other")
    path = labelled(run, tmp_path / "labels.csv")
    assert {v.name for v in validate_on_run(path, run).validations} == {"truth", "other"}
    [one] = validate_on_run(path, run, judge="other").validations
    assert one.name == "other"
    assert {v.name for v in read_validations(run.folder)} == {"truth", "other"}
    with pytest.raises(ConfigError, match="no judge 'third' has labelled this run"):
        validate_on_run(path, run, judge="third")


def test_labels_that_are_of_no_turn_of_the_run_are_named(judged: Run, tmp_path: Path) -> None:
    trial = judged.records()["trial"][0]
    heading = "trial,turn,metric,annotator,value\n"
    (tmp_path / "x.csv").write_text(
        f"{heading}nowhere,3,actionability,ana,1\n{trial},2,actionability,ana,1\n{trial},1,actionability,ana,1\n"
    )
    with pytest.raises(BankError) as raised:
        validate_on_run(tmp_path / "x.csv", judged)
    assert "row 2: the run has no trial 'nowhere'" in str(raised.value)
    assert "row 3: turn 2 of this trial is no tutor's turn after the opening" in str(raised.value)
    assert "row 4: turn 1" in str(raised.value)  # the opening is the question itself and is not judged


def test_a_run_without_a_judge_says_so(tmp_path: Path) -> None:
    run = edufair.run(audit(tmp_path, judge=None))
    path = labelled(run, tmp_path / "labels.csv")
    with pytest.raises(ConfigError, match="no judge has labelled this run"):
        validate_on_run(path, run)
    with pytest.raises(StoreError, match="holds no run"):
        validate_on_run(path, tmp_path / "nothing")


# --- a sample to label ----------------------------------------------------------------------------------------


def test_a_sample_holds_every_group_in_its_share_and_one_turn_a_dialogue(judged: Run) -> None:
    sample = sample_labels(judged, turns=40)
    frame = sample.frame.filter(pl.col("metric") == "actionability")
    records = judged.records()
    assert sample.turns == frame.height == 40 and sample.frame.height == 40 * 5
    assert frame["trial"].n_unique() == 40
    placed = frame.join(records, on="trial")
    whole = records.group_by("domain", "arm").len()
    drawn = placed.group_by("domain", "arm").len("drawn").join(whole, on=["domain", "arm"])
    assert drawn.height == sample.strata == whole.height == 6
    assert all(abs(row["drawn"] - row["len"] / 2) <= 1 for row in drawn.to_dicts())


def test_a_sample_tells_neither_arm_nor_tutor_nor_label(judged: Run) -> None:
    sample = sample_labels(judged, turns=30)
    assert sample.frame.columns == [
        "trial", "turn", "metric", "annotator", "value", "question", "answer", "conversation", "tutor_turn",
    ]  # fmt: skip
    assert sample.frame["value"].null_count() == sample.frame.height
    records = {record.trial.id: record for record in judged.transcripts()}
    for row in sample.frame.iter_rows(named=True):
        record = records[row["trial"]]
        turn = next(turn for turn in record.turns if turn.number == row["turn"])
        assert row["tutor_turn"] == turn.text and row["question"] == record.trial.item.text
        assert row["conversation"].count("\n\n") >= row["turn"] - 2 and turn.text not in row["conversation"]
    arms = [records[t].trial.arm.label for t in sample.frame.filter(pl.col("metric") == "actionability")["trial"]]
    assert arms != sorted(arms)


def test_a_sample_is_drawn_by_its_seed_and_a_smaller_one_is_part_of_a_larger(judged: Run) -> None:
    def turns(n: int, **options: Any) -> set[tuple[str, int]]:
        return set(sample_labels(judged, turns=n, **options).frame.select("trial", "turn").iter_rows())

    assert turns(20) == turns(20) and turns(20) != turns(20, seed=9)
    assert turns(20) < turns(60) < turns(150) < turns(10_000)
    assert len(turns(150)) == 150 and len(turns(10_000)) == 240  # beyond 80 dialogues, second turns are drawn


def test_every_annotator_labels_the_same_turns(judged: Run) -> None:
    frame = sample_labels(judged, turns=10, annotators=["ana", "ben"]).frame
    ana, ben = (frame.filter(pl.col("annotator") == who).drop("annotator") for who in ("ana", "ben"))
    assert ana.equals(ben) and ana.height == 50
    with pytest.raises(BankError, match="names"):
        sample_labels(judged, annotators=["ana", "ana"])


def test_cue_words_in_the_text_are_counted_and_can_be_hidden(tmp_path: Path) -> None:
    models = {**MODELS, "tutor": {"url": "python:engine.test_validate:naming_tutor"}}
    run = edufair.run(small_audit(tmp_path, models=models))
    plain, masked = sample_labels(run, turns=8), sample_labels(run, turns=8, mask_cues=True)
    assert plain.with_cues > 0 and masked.with_cues == 0
    assert not masked.frame["tutor_turn"].str.contains("male student").any()
    assert masked.frame["tutor_turn"].str.contains(r"\[\.\.\.\] student").any()


def naming_tutor(messages: list[dict[str, str]]) -> str:
    told = "female" if " female student" in messages[0]["content"] else "male"
    return f"As a {told} student, what would you try? ({len(messages)})"


# --- MRBench --------------------------------------------------------------------------------------------------


def mrbench(folder: Path) -> Path:
    """Four rows of three tutors. Each turn holds what the judge will say; people's words are beside it."""

    def annotation(mistake: str, leak: str, guide: str, act: str, tone: str = "Neutral") -> dict[str, str]:
        return {
            "Mistake_Identification": mistake, "Revealing_of_the_Answer": leak, "Providing_Guidance": guide,
            "Actionability": act, "Tutor_Tone": tone,
        }  # fmt: skip

    def row(key: str, **answers: tuple[str, dict[str, str]]) -> dict[str, Any]:
        return {
            "conversation_id": key,
            "conversation_history": f"Tutor: The question is: {key}?\n Student: Seven.",
            "Data": "MathDial", "Topic": "Not Available", "Ground_Truth_Solution": "So it is\n 8",
            "anno_llm_responses": {name: {"response": text, "annotation": a} for name, (text, a) in answers.items()},
        }  # fmt: skip

    yes, no, some = "Yes", "No", "To some extent"
    right, wrong = "Yes (and the answer is correct)", "Yes (but the answer is incorrect)"
    rows = [
        row("one", A=("[mistake 1 leak 1 guide 1 act 1]", annotation(yes, right, yes, yes, "Encouraging")),
            B=("[mistake 1 leak 0 guide 0 act 0]", annotation(no, wrong, some, no))),
        row("one", A=("[mistake 0 leak 0 guide 1 act 1]", annotation(some, no, some, yes)),
            B=("[mistake 1 leak 0 guide 0 act 1]", annotation(yes, no, no, some))),
        row("two", A=("no mark by A", annotation(yes, no, yes, yes)), C=("no mark by C", annotation(no, no, yes, yes))),
        row("three", A=("[mistake 1 leak 1 guide 0 act 0]", annotation(yes, no, no, no)),
            C=("[mistake 0 leak 0 guide 1 act 1]", annotation(no, no, yes, yes))),
    ]  # fmt: skip
    path = folder / "MRBench.json"
    path.write_text(json.dumps(rows), encoding="utf-8")
    return path


def config(folder: Path) -> dict[str, Any]:
    return audit(folder, judge={"model": "mr"})


def test_mrbench_labels_are_compared_in_both_readings(tmp_path: Path) -> None:
    found = validate_on_mrbench(mrbench(tmp_path), config(tmp_path))
    [validation] = found.validations
    assert (validation.turns, validation.of, validation.grouped) == (8, 8, "tutor")
    assert [(c.metric, c.reading) for c in validation.checked] == [
        ("mistake_recognize", "“To some extent” = 1"), ("mistake_recognize", "“To some extent” = 0"),
        ("answer_leakage", "any “Yes” = 1"),
        ("step_scaffolded", "“To some extent” = 1"), ("step_scaffolded", "“To some extent” = 0"),
        ("actionability", "“To some extent” = 1"), ("actionability", "“To some extent” = 0"),
        ("corrective_tone", "“Encouraging” = 1"),
    ]  # fmt: skip
    # Rows of a table are the judge's 0 and 1, columns people's. Read off the file above, turn by turn.
    mistake = only(found, "mistake_recognize", "= 1")
    assert mistake.table == ((1, 1), (1, 3)) and mistake.missing == {"not applicable": 2}
    assert only(found, "mistake_recognize", "= 0").table == ((2, 0), (1, 3))
    assert only(found, "answer_leakage").table == ((5, 1), (1, 1))  # unmarked turns are said not to leak
    assert only(found, "step_scaffolded", "= 1").table == ((2, 1), (0, 5))
    assert only(found, "step_scaffolded", "= 0").table == ((3, 0), (1, 4))
    assert only(found, "actionability", "= 1").table == ((2, 0), (0, 6))
    assert only(found, "actionability", "= 0").table == ((2, 0), (1, 5))
    tone = only(found, "corrective_tone")
    assert not tone.same and "Not the same construct" in tone.note
    assert {e.arm: (e.n, e.errors) for e in only(found, "answer_leakage").errors} == {
        "A": (4, 1),
        "B": (2, 1),
        "C": (2, 0),
    }
    assert all(c.people is None and not c.gaps for c in validation.checked)


def test_every_call_is_kept_and_none_is_made_twice(tmp_path: Path) -> None:
    path = mrbench(tmp_path)
    people.MOOD["ill after"] = 4  # the first call tries it
    first = validate_on_mrbench(path, config(tmp_path))
    assert first.tally is not None and first.tally.unscored == 5 and first.tally.done == 3
    assert only(first, "answer_leakage").missing == {"not judged": 5}
    people.reset()
    second = validate_on_mrbench(path, config(tmp_path))
    assert second.tally is not None and (second.tally.already, second.tally.done) == (3, 5)
    assert len(people.ASKED) == 5
    third = validate_on_mrbench(path, config(tmp_path))
    assert len(people.ASKED) == 5 and third.validations[0].checked == second.validations[0].checked


def test_a_judge_that_is_gone_stops_it_and_keeps_what_is_done(tmp_path: Path) -> None:
    people.MOOD["ill after"] = 3
    with pytest.raises(RunStopped, match="what is done is kept"):
        validate_on_mrbench(mrbench(tmp_path), {**config(tmp_path), "limits": {"stop_after_failures": 2}})
    people.reset()
    assert validate_on_mrbench(mrbench(tmp_path), config(tmp_path)).tally.already == 2  # type: ignore[union-attr]


def test_people_of_mrbench_are_two_sources_one_a_reading(tmp_path: Path) -> None:
    found = validate_on_mrbench(mrbench(tmp_path), config(tmp_path))
    run = Run(found.path.parent)
    assert sorted(s.id for s in run.sources() if s.kind == "person") == [
        "person:MRBench (To some extent = 0)", "person:MRBench (To some extent = 1)",
    ]  # fmt: skip
    scores = run.raw_scores().filter(pl.col("source").str.starts_with("person:"))
    sums = scores.group_by("source", "metric").agg(pl.col("value").sum())
    guided = {row["source"][-2]: row["value"] for row in sums.to_dicts() if row["metric"] == "step_scaffolded"}
    assert guided == {"1": 6.0, "0": 4.0}
    words = [record.data["labels"]["Providing_Guidance"] for record in run.transcripts()]
    assert Counter(words) == {"Yes": 4, "To some extent": 2, "No": 2}


def test_a_subsample_is_drawn_by_tutor_and_is_part_of_a_larger_one(tmp_path: Path) -> None:
    path = mrbench(tmp_path)
    half = validate_on_mrbench(path, config(tmp_path), folder=tmp_path / "v", sample=0.5)
    [validation] = half.validations
    assert (validation.turns, validation.of) == (4, 8)
    assert {e.arm: e.n for e in only(half, "answer_leakage").errors} == {"A": 2, "B": 1, "C": 1}
    more = validate_on_mrbench(path, config(tmp_path), folder=tmp_path / "v", limit=6)
    assert more.tally is not None and (more.tally.already, more.tally.done) == (4, 2)
    with pytest.raises(BankError, match="a share above 0"):
        validate_on_mrbench(path, config(tmp_path), sample=1.5)


def test_the_judge_sees_question_answer_and_conversation_and_no_label_of_people(tmp_path: Path) -> None:
    validate_on_mrbench(mrbench(tmp_path), config(tmp_path))
    shown = [each for each in people.ASKED if "turn 3, tutor ===" in each]
    assert len(shown) == 8
    for each in shown:
        assert "Seven." in each and "correct answer ===\n8\n" in each and "Judge turn 3" in each
        assert not any(word in each for word in ("To some extent", "Encouraging", "the answer is correct)"))


def test_one_dimension_a_call_works_as_well(tmp_path: Path) -> None:
    models = {**MODELS, "single": {"url": "python:engine.test_validate:single_judge"}}
    source = small_audit(tmp_path, models=models, judge={"model": "single", "mode": "single"})
    found = validate_on_mrbench(mrbench(tmp_path), source)
    assert found.tally is not None and found.tally.calls == 8 * 5
    assert only(found, "actionability", "= 1").table == ((0, 0), (2, 6))


def single_judge(messages: list[dict[str, str]]) -> str:
    return json.dumps({"label": 1})


def test_a_judge_without_an_audit_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    found = validate_on_mrbench(mrbench(tmp_path), judge_alone("python:engine.labelling_people:mrbench_judge"))
    assert found.path == Path("runs/judge-mrbench/judge-validation.json") and found.path.is_file()


def test_what_is_no_dialogue_audit_with_a_judge_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"names no judge; add \[judge\]"):
        validate_on_mrbench(mrbench(tmp_path), audit(tmp_path, judge=None))


# --- found again by the report ----------------------------------------------------------------------------------


def test_a_run_finds_its_own_labels_and_a_validation_of_the_same_judge(judged: Run, tmp_path: Path) -> None:
    validate_on_run(labelled(judged, tmp_path / "labels.csv"), judged)
    [own] = validations_of(judged)
    assert own.against == "hand labels of this run"
    renamed = {**MODELS, "called otherwise": MODELS["truth"]}
    source = small_audit(tmp_path, models=renamed, judge={"model": "called otherwise"})
    elsewhere = validate_on_mrbench(mrbench(tmp_path), source)
    found = validations_of(judged, read_validations(elsewhere.path.parent))
    assert [v.against for v in found] == ["hand labels of this run", "MRBench"]
    assert {v.judge for v in found} == {own.judge}


def test_a_validation_of_another_judge_is_refused(judged: Run, tmp_path: Path) -> None:
    other = validate_on_mrbench(mrbench(tmp_path), config(tmp_path))
    with pytest.raises(EdufairError, match=r"the validation is of judge:mr:.*this run's judge is judge:truth:"):
        validations_of(judged, read_validations(other.path))
    warmer = audit(tmp_path, judge={"model": "truth", "temperature": 1.0})
    with pytest.raises(EdufairError, match="another model, sampling, mode or prompt"):
        validations_of(
            judged, read_validations(validate_on_mrbench(mrbench(tmp_path), warmer, folder=tmp_path / "w").path)
        )
    with pytest.raises(EdufairError, match="there is no such file"):
        read_validations(tmp_path / "nowhere")


@pytest.mark.skipif(not REAL.is_file(), reason=f"{REAL} is not here")
def test_a_part_of_the_released_file_goes_through_the_engine(tmp_path: Path) -> None:
    source = small_audit(tmp_path, models={**MODELS, "single": {"url": "python:engine.test_validate:yes_judge"}})
    found = validate_on_mrbench(REAL, {**source, "judge": {"model": "single"}}, sample=0.1)
    [validation] = found.validations
    assert (validation.turns, validation.of) == (166, 1655)  # 165.5, rounded to even
    tutors = {one.arm: one.n for one in only(found, "actionability", "= 1").errors}
    assert len(tutors) == 9 and all(19 <= n <= 21 for name, n in tutors.items() if name != "Novice")
    assert tutors["Novice"] in (5, 6)  # 55 of 1,655
    judged = only(found, "answer_leakage")
    assert judged.judge.n == 166 and judged.table[0] == (0, 0)  # it says yes to everything


def yes_judge(messages: list[dict[str, str]]) -> str:
    return people.verdict(answer_leakage=1)
