"""`edufair bank build` and `show`, run as the real commands."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from edufair.cli.bank import app
from edufair.errors import BankError

RUN = CliRunner(env={"COLUMNS": "200"})


def table(tmp_path: Path) -> Path:
    path = tmp_path / "q.csv"
    path.write_text('No,Prompt,Key\n1,"[bold]Is[/] {x} [/] $y$ right?",NA\n2,What?,12\n', encoding="utf-8")
    return path


OPTIONS = ["--column", "id=No", "--column", "question=Prompt", "--column", "answer=Key", "--domain", "physics"]


def test_build_writes_a_bank_and_says_how_many(tmp_path: Path) -> None:
    out = tmp_path / "bank.jsonl"
    result = RUN.invoke(app, ["build", "table", str(table(tmp_path)), *OPTIONS, "--grade", "8", "-o", str(out)])
    assert result.exit_code == 0, result.output
    assert f"2 items written to {out}" in result.output
    first = json.loads(out.read_text(encoding="utf-8").splitlines()[0])
    assert first == {
        "id": "1",
        "domain": "physics",
        "question": "[bold]Is[/] {x} [/] $y$ right?",
        "answer": "NA",
        "accepted": [],
        "support": "",
        "grade": 8,
    }


def test_build_prints_what_each_filter_removed_and_the_notes(tmp_path: Path) -> None:
    turns = [{"system": "s", "user": "u", "user_type": t} for t in (1, 1, 3, 2)]
    good = {"question": "q", "analysis": "", "answer": "17", "dialogues": {"a": [*turns, {"system": "END"}]}}
    short = {**good, "dialogues": {"a": turns[:2]}}
    path = tmp_path / "SocraTeach_multi.json"
    path.write_text(json.dumps({"x": good, "y": short}), encoding="utf-8")
    out = tmp_path / "bank.jsonl"
    arguments = ["build", "socrateach", str(path), "-o", str(out), "--error-types", "1", "--correct-types", "2,3"]
    result = RUN.invoke(app, arguments)
    assert result.exit_code == 0, result.output
    (line,) = [line for line in result.output.splitlines() if "four exchanges" in line]
    assert line.replace("│", "").split()[-2:] == ["1", "1"]
    assert "Note: user_type read as a correct or partly correct reply: 2, 3" in result.output
    assert "1 items written" in result.output


def test_build_writes_the_sample_bank(tmp_path: Path) -> None:
    out = tmp_path / "sample.jsonl"
    assert RUN.invoke(app, ["build", "sample", "-o", str(out)]).exit_code == 0
    assert len(out.read_text(encoding="utf-8").splitlines()) == 90


def test_show_counts_and_prints_items_as_they_are(tmp_path: Path) -> None:
    result = RUN.invoke(app, ["show", str(table(tmp_path)), *OPTIONS, "--grade", "8"])
    assert result.exit_code == 0, result.output
    assert "2 items" in result.output
    assert "[bold]Is[/] {x} [/] $y$ right?" in result.output
    assert "Answer: NA" in result.output


def test_show_describes_the_sample_bank_by_default() -> None:
    output = RUN.invoke(app, ["show", "--examples", "1"]).output
    assert "90 items" in output
    for word in ("mathematics", "physics", "chemistry", "grade 9", "number", "math-01", "chem-01"):
        assert word in output


@pytest.mark.parametrize(
    "arguments",
    [
        ["build", "nothing"],
        ["build", "table", "absent.csv"],
        ["build", "mathdial", str(Path(__file__)), "--filters", "some"],
        ["show", "absent.jsonl"],
        ["show", "--column", "x=y"],
    ],
)
def test_errors_for_people_pass_through_to_the_main_program(tmp_path: Path, arguments: list[str]) -> None:
    extra = ["-o", str(tmp_path / "out.jsonl")] if arguments[0] == "build" else []
    result = RUN.invoke(app, [*arguments, *extra])
    assert isinstance(result.exception, BankError)
    assert not list(tmp_path.iterdir())
