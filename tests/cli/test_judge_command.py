"""`edufair judge` as a user meets it: the real commands, their words and their exit codes."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

import edufair
from edufair.cli import app
from edufair.errors import ConfigError, EdufairError
from engine import labelling_people as people
from engine.test_validate import audit, labelled, mrbench

RUN = CliRunner(env={"COLUMNS": "120"})
JUDGE = "python:engine.labelling_people:mrbench_judge"


@pytest.fixture(autouse=True)
def well_people(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    people.reset()
    yield
    people.reset()


def edufair_judge(*arguments: object) -> Result:
    return RUN.invoke(app, ["judge", *map(str, arguments)])


def test_a_model_is_compared_with_mrbench_and_again_without_a_call(tmp_path: Path) -> None:
    path = mrbench(tmp_path)
    first = edufair_judge("validate", path, "--model", JUDGE, "-q", "--folder", tmp_path / "v")
    assert first.exit_code == 0, first.output
    assert "beside MRBench (MRBench.json): 8 turns" in first.output
    assert "8 turns labelled now, 0 before, 8 calls" in first.output
    assert "Not the same construct" in first.output
    assert len(json.loads((tmp_path / "v/judge-validation.json").read_text())) == 1
    again = edufair_judge("validate", path, "--model", JUDGE, "-q", "--folder", tmp_path / "v")
    assert "0 turns labelled now, 8 before, 0 calls" in again.output


def test_what_could_not_be_asked_gives_3_and_says_to_run_it_again(tmp_path: Path) -> None:
    people.MOOD["ill after"] = 5
    result = edufair_judge("validate", mrbench(tmp_path), "--model", JUDGE, "-q")
    assert result.exit_code == 3 and "4 turns could not be labelled: run the same command again" in result.output


def test_a_sample_is_labelled_and_compared_and_reported(tmp_path: Path) -> None:
    run = edufair.run(audit(tmp_path)).folder
    drawn = edufair_judge("sample", run, "-o", "labels.csv", "-n", 12, "--annotator", "ana", "--annotator", "ben")
    assert drawn.exit_code == 0, drawn.output
    assert "12 turns from 2 groups of tutor, domain and arm" in drawn.output
    assert Path("labels.csv").read_bytes().startswith(b"\xef\xbb\xbf")  # a spreadsheet then reads it as UTF-8
    with open("labels.csv", encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 12 * 5 * 2 and not any("gender" in str(row) for row in rows)
    for row in rows:
        if row["metric"] == "answer_leakage":
            row["value"] = str(int(people.leaks(row["tutor_turn"])))
    with open("done.csv", "w", encoding="utf-8-sig", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    compared = edufair_judge("validate", "done.csv", "--run", run)
    assert compared.exit_code == 0, compared.output
    assert "hand labels of this run (done.csv): 12 turns" in compared.output
    assert "96 rows of the file without a value." in compared.output
    assert "What the judge's errors add to a difference between arms" in compared.output
    report = RUN.invoke(app, ["report", str(run)])
    assert report.exit_code == 0 and "checked against people" in (Path(run) / "report.html").read_text()


def test_a_file_that_may_hold_labels_is_not_written_over(tmp_path: Path) -> None:
    run = edufair.run(audit(tmp_path)).folder
    Path("labels.csv").write_text("mine")
    result = edufair_judge("sample", run)
    assert isinstance(result.exception, ConfigError) and "may hold labels" in str(result.exception)
    assert Path("labels.csv").read_text() == "mine"


def test_columns_are_named_by_option(tmp_path: Path) -> None:
    run = edufair.run(audit(tmp_path))
    path = labelled(run, tmp_path / "labels.csv")
    path.write_text(path.read_text().replace("annotator,value", "Who,Label", 1))
    result = edufair_judge(
        "validate", path, "--run", run.folder, "--column", "annotator=Who", "--column", "value=Label"
    )
    assert result.exit_code == 0, result.output


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((), "give one of --run, --config, --model: none was given"),
        (("--run", "r", "--model", "m"), "not --run and --model"),
        (("--run", "r", "--sample", "0.2"), "--sample goes with --config or --model only"),
        (("--model", "m", "--column", "value=Label"), "--column goes with --run only"),
        (("--run", "r"), "holds no run"),
    ],
)
def test_options_that_do_not_go_together_are_named(tmp_path: Path, arguments: tuple[str, ...], says: str) -> None:
    result = edufair_judge("validate", mrbench(tmp_path), *arguments)
    assert isinstance(result.exception, EdufairError) and says in str(result.exception)


def test_a_report_refuses_the_validation_of_another_judge(tmp_path: Path) -> None:
    run = edufair.run(audit(tmp_path)).folder
    edufair_judge("validate", mrbench(tmp_path), "--model", JUDGE, "-q", "--folder", "v")
    result = RUN.invoke(app, ["report", str(run), "--validation", "v"])
    assert isinstance(result.exception, EdufairError) and "Validate this run's judge" in str(result.exception)
