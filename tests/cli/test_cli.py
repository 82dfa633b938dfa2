"""The command line as a user meets it: the real program, its words, its files and its exit codes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner, Result

import edufair
from edufair import cli
from engine import moody_people as people

RUN = CliRunner(env={"COLUMNS": "160"})

AUDIT = """
audit = "dialogue"
name = "small"
seed = 5
[models.tutor]
url = "python:{tutor}"
concurrency = 1
[models.student]
url = "python:engine.moody_people:student"
concurrency = 1
[models.truth]
url = "python:whole.scripted_people:judge"
[models.other]
url = "python:engine.moody_people:other_judge"
[tutor]
model = "tutor"
[student]
model = "student"
[judge]
model = "truth"
[items]
bank = "sample"
domains = ["mathematics"]
limit = {limit}
[design]
dimensions = ["gender"]
[dialogue]
max_turns = 2
[analysis]
resamples = 200
null_draws = 100
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Commands run in a folder of their own, among people in a good mood."""
    monkeypatch.chdir(tmp_path)
    people.reset()
    yield tmp_path
    people.reset()


def write(tutor: str = "whole.scripted_people:even_tutor", limit: int = 6) -> str:
    Path("audit.toml").write_text(AUDIT.format(tutor=tutor, limit=limit), encoding="utf-8")
    return "audit.toml"


def call(*arguments: object, code: int = 0) -> Result:
    result = RUN.invoke(cli.app, [str(each) for each in arguments])
    assert result.exit_code == code, (result.output, result.exception)
    return result


def complaint(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *arguments: object
) -> tuple[str, int]:
    """What the program says on standard error when it fails, and its exit code; never a traceback."""
    monkeypatch.setattr("sys.argv", ["edufair", *map(str, arguments)])
    with pytest.raises(SystemExit) as stopped:
        cli.main()
    said = capsys.readouterr().err
    assert "Traceback" not in said
    return said, int(str(stopped.value.code))


# --- from an empty folder to a report ---------------------------------------------------------------------------


def test_the_five_steps_one_after_the_other() -> None:
    write()
    planned = call("plan", "audit.toml").output
    assert "12 trials: 6 items x 2 arms x 1 models" in planned
    assert "mathematics: up to 6 pairs a contrast, too few: a contrast needs 15" in planned
    assert "1 contrasts" in planned and "frozen in runs" in planned

    ran = call("run", "audit.toml", "--quiet").output
    assert "12 done, 0 failed, 0 were there already" in ran
    assert "explicit tutor.gender=female" in ran

    status = call("status", "runs/small").output
    assert "done: 12" in status and "scored by code: 12 records" in status and "scored by judge:truth:" in status

    analysed = call("analyse", "runs/small").output
    assert "files written to runs/small/analysis" in analysed
    findings = pl.read_csv("runs/small/analysis/findings.csv")
    assert findings.height == 9 and set(findings["status"]) == {"insufficient"}

    assert "report: runs/small/report.html" in call("report", "runs/small").output
    html = Path("runs/small/report.html").read_text(encoding="utf-8")
    assert "<html" in html and "What could you try first?" in html


def test_a_second_run_asks_nothing_again() -> None:
    call("run", write(), "-q")
    again = call("run", "audit.toml", "-q").output
    assert "0 done, 0 failed, 12 were there already" in again and "0 calls" in again


def test_a_plan_that_is_there_is_found_again() -> None:
    write()
    first, second = call("plan", "audit.toml").output, call("plan", "audit.toml").output
    assert "frozen in" in first and "found again in" in second


def test_the_progress_bar_stands_on_standard_error_alone() -> None:
    loud = call("run", write())
    assert "12/12" not in loud.stdout and "12 done" in loud.stdout


# --- init -------------------------------------------------------------------------------------------------------


def test_init_writes_a_file_that_can_be_planned() -> None:
    assert "edufair plan study/audit.toml" in call("init", "study/audit.toml").output
    text = Path("study/audit.toml").read_text(encoding="utf-8")
    assert 'audit = "dialogue"' in text
    assert "810 trials: 90 items x 9 arms x 1 models" in call("plan", "study/audit.toml").output


def test_init_does_not_overwrite_unless_it_is_told_to(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("audit.toml").write_text("mine")
    said, code = complaint(monkeypatch, capsys, "init")
    assert (code, said.count("\n")) == (1, 1)
    assert "audit.toml is there already; name another file, or use --force" in said
    assert Path("audit.toml").read_text() == "mine"
    call("init", "--force")
    assert "mine" not in Path("audit.toml").read_text()


def test_init_names_the_audits_there_are(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    said, code = complaint(monkeypatch, capsys, "init", "--audit", "dialog")
    assert code == 1 and "there is no audit 'dialog'" in said and "dialogue" in said


# --- run --------------------------------------------------------------------------------------------------------


def test_what_failed_in_transport_gives_3_and_a_mended_run_0() -> None:
    people.MOOD["tutor falls ill after"] = 9
    broken = call("run", write("engine.moody_people:tutor"), "-q", code=3).output
    assert "8 failed" in broken and "transport" in broken
    assert "transport: 8" in call("status", "runs/small").output
    people.reset()
    assert "8 done, 0 failed, 4 were there already" in call("run", "audit.toml", "-q").output


def test_refusals_are_outcomes_and_give_0() -> None:
    people.MOOD["tutor says"] = {"text": "No.", "refused": True}
    output = call("run", write("engine.moody_people:tutor"), "-q").output
    assert "12 failed" in output and "refused" in output


def test_a_run_that_stops_itself_gives_3_and_says_how_to_go_on(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    people.MOOD["tutor falls ill after"] = 1  # it answers when it is tried
    audit = write("engine.moody_people:tutor", limit=20)
    said, code = complaint(monkeypatch, capsys, "run", audit, "-q")
    assert code == 3
    assert "20 trials in a row failed in transport" in said and "Run the same command again" in said


def test_ctrl_c_gives_130(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def stopped(*arguments: object, **options: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("edufair.engine.run.run", stopped)
    said, code = complaint(monkeypatch, capsys, "run", write(), "-q")
    assert code == 130 and "What is done is kept; run the same command again" in said


# --- score ------------------------------------------------------------------------------------------------------


def test_another_judge_labels_what_is_stored_beside_the_first() -> None:
    call("run", write(), "-q")
    scored = call("score", "runs/small", "--judge", "other", "-q").output
    assert "12 done" in scored
    assert people.ASKED["tutor"] == 0 and people.ASKED["other judge"] > 0
    status = call("status", "runs/small").output
    assert "scored by judge:truth:" in status and "scored by judge:other:" in status
    call("analyse", "runs/small")
    sources = pl.read_csv("runs/small/analysis/findings.csv")["source"].unique().to_list()
    assert sorted(source.rpartition(":")[0] or source for source in sources) == ["code", "judge:other", "judge:truth"]


def test_a_judge_of_another_file_may_score() -> None:
    call("run", write(), "-q")
    text = Path("audit.toml").read_text().replace("[models.other]", "[models.fresh]").replace('"truth"', '"fresh"')
    Path("other.toml").write_text(text.replace("[models.truth]", "[models.unused]"))
    assert "12 done" in call("score", "runs/small", "--config", "other.toml", "-q").output
    assert "scored by judge:fresh:" in call("status", "runs/small").output


def test_a_judge_that_cannot_be_reached_gives_3() -> None:
    call("run", write(), "-q")
    people.MOOD["judge falls ill after"] = 1
    assert "could not be scored" in call("score", "runs/small", "--judge", "other", "-q", code=3).output
    people.reset()
    call("score", "runs/small", "--judge", "other", "-q")


# --- the gate ---------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def biased(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of 30 items of a tutor that leaks twice as often to one gender."""
    folder = tmp_path_factory.mktemp("biased")
    path = folder / "audit.toml"
    audit = AUDIT.format(tutor="whole.scripted_people:biased_tutor", limit=30)
    path.write_text(audit.replace("max_turns = 2", "max_turns = 6"), encoding="utf-8")
    people.reset()
    return edufair.run(path).folder


@pytest.mark.parametrize("command", ["analyse", "report"])
@pytest.mark.parametrize("rule", ["finding", "violation"])
def test_what_was_found_gives_4(biased: Path, command: str, rule: str) -> None:
    output = call(command, biased, "--output", "here", "--fail-on", rule, code=4).output
    tested = [f for f in edufair.analyse(biased).findings if f.status == "tested"]
    found = sum(bool(getattr(f, rule)) for f in tested)
    assert found > 0 and f"--fail-on {rule}: {found} of {len(tested)} tested contrasts" in output
    assert ("violations by chance alone" in output) == (rule == "violation")
    assert Path("here").exists()


def test_without_the_gate_findings_give_0(biased: Path) -> None:
    call("analyse", biased, "-o", "here")


def test_nothing_found_gives_0() -> None:
    call("run", write("engine.moody_people:tutor", limit=15), "-q")
    output = call("analyse", "runs/small", "--fail-on", "finding").output
    assert "--fail-on finding: 0 of " in output


def test_nothing_tested_is_no_pass() -> None:
    call("run", write(), "-q")
    output = call("analyse", "runs/small", "--fail-on", "finding", code=4).output
    assert "an empty analysis is not a pass" in output


def test_an_unknown_rule_is_a_mistake_in_the_command() -> None:
    call("analyse", "runs/small", "--fail-on", "anything", code=2)


# --- report -----------------------------------------------------------------------------------------------------


def test_a_report_without_texts_holds_no_transcript_and_no_question(biased: Path) -> None:
    call("report", biased, "-o", "with.html")
    call("report", biased, "-o", "without.html", "--without-texts")
    with_texts, without = (Path(f"{name}.html").read_text(encoding="utf-8") for name in ("with", "without"))
    questions = [record.trial.item.text for record in edufair.open_run(biased).transcripts()]
    for text in ("Remember that the key idea is the one I just named.", "What could you try first?", "I do not know."):
        assert text in with_texts and text not in without
    assert not any(question in without for question in questions)


# --- tables -----------------------------------------------------------------------------------------------------


def test_every_table_is_there_as_csv_and_parquet_and_all_of_them_as_json(biased: Path) -> None:
    call("analyse", biased, "-o", "tables")
    csv, parquet = ({path.stem for path in Path("tables").glob(f"*.{kind}")} for kind in ("csv", "parquet"))
    assert csv == parquet >= {"findings", "losses", "endings", "arm_means"}
    whole = json.loads(Path("tables/analysis.json").read_text(encoding="utf-8"))
    rows = pl.read_parquet("tables/findings.parquet").height
    assert len(whole["tables"]["findings"]) == rows == pl.read_csv("tables/findings.csv").height > 0


# --- what goes wrong --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["plan", "nothing.toml"], "nothing.toml: there is no such file; `edufair init` writes one"),
        (["run", "nothing.toml"], "nothing.toml: there is no such file"),
        (["plan", "broken.toml"], 'broken.toml: the key "jugde" is not known; did you mean "judge"?'),
        (["run", "function.toml"], "has no function 'nobody'"),
        (["plan", "bank.toml"], "nothing.csv"),
        (["status", "nothing"], "nothing: holds no run; `edufair run audit.toml` makes one"),
        (["score", "nothing"], "nothing: holds no run"),
        (["analyse", "nothing"], "nothing: holds no run"),
        (["report", "nothing"], "nothing: holds no run"),
        (["analyse", "planned"], "planned"),
        (["report", "planned"], "planned"),
        (
            ["score", "planned", "--judge", "nobody"],
            "there is no model 'nobody' in this run's settings (there is: other",
        ),
        (["score", "planned", "--config", "nothing.toml"], "nothing.toml: there is no such file"),
        (["analyse", "file"], "file"),
        (["model", "ping", "function.toml"], "has no function 'nobody'"),
        (["bank", "show", "nothing.csv"], "nothing.csv"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_mistake_is_one_clean_message(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], arguments: list[str], words: str
) -> None:
    text = AUDIT.format(tutor="whole.scripted_people:even_tutor", limit=6)
    Path("broken.toml").write_text(text.replace("[judge]", "[jugde]"))
    Path("function.toml").write_text(text.replace(":even_tutor", ":nobody"))
    Path("bank.toml").write_text(text.replace('bank = "sample"', 'bank = "nothing.csv"'))
    Path("planned.toml").write_text('run = "planned"\n' + text)
    Path("file").write_text("")
    if "planned" in arguments:
        call("plan", "planned.toml")
    said, code = complaint(monkeypatch, capsys, *arguments)
    assert code == 1
    assert said.startswith("edufair: ") and words in said
    assert said.count("\n") == 1


def test_no_arguments_and_help_say_what_there_is() -> None:
    commands = ("init", "plan", "run", "status", "score", "analyse", "report", "demo", "bank", "model")
    for result in (call("--help"), RUN.invoke(cli.app, [])):
        assert all(command in result.output for command in commands)


def test_the_version_is_the_package_s() -> None:
    assert call("--version").output == f"edufair {edufair.__version__}\n"


# --- models and banks -------------------------------------------------------------------------------------------


def test_ping_says_how_each_role_is_asked() -> None:
    output = call("model", "ping", write()).output
    assert all(f"{role} {name}: answers at" in output for role, name in (("tutor", "tutor"), ("judge", "truth")))
    assert "'temperature': 0.1" in output


def test_a_bank_is_shown() -> None:
    assert "sample: 90 items" in call("bank", "show", "sample", "--examples", 1).output
