"""`edufair init --audit judge`, and the commands that follow it, on a scripted judge."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

import edufair
from edufair.audits.base import registry
from edufair.audits.judge import JudgeSettings
from edufair.audits.judge.tables import TABLES
from edufair.cli import app
from edufair.design.banks.stimuli import StimulusItems
from edufair.engine import settings as files
from edufair.errors import ConfigError

run = CliRunner()


def test_the_audit_is_found_by_its_entry_point() -> None:
    assert registry()["judge"].Settings is JudgeSettings


def test_the_written_file_is_valid_and_names_only_defaults_behind_its_marks(tmp_path: Path) -> None:
    path = tmp_path / "judge.toml"
    assert run.invoke(app, ["init", str(path), "--audit", "judge"]).exit_code == 0
    _, settings = files.load(path)
    assert isinstance(settings, JudgeSettings)
    assert settings.items.bank == "sample" and settings.design.pole_check
    commented = (
        path.read_text().replace('# profiles = ["novice"', 'profiles = ["novice"').replace("# low = 1", "low = 1")
    )
    commented = commented.replace("# control = true", "control = true").replace("# repetitions = 3", "repetitions = 3")
    path.write_text(commented.replace("# primary =", "primary =").replace("# resamples = 10000", "resamples = 10000"))
    again = files.load(path)[1]
    assert again == settings


def test_the_audits_to_start_from_are_those_with_a_template(tmp_path: Path) -> None:
    for name in ("demo", "../init", "nothing"):
        result = run.invoke(app, ["init", str(tmp_path / "audit.toml"), "--audit", name])
        assert isinstance(result.exception, ConfigError)
        assert "there is: " in str(result.exception)
        assert {"dialogue", "judge"} <= set(str(result.exception).partition("there is: ")[2].split(", "))


def test_plan_run_analyse_and_report_from_the_written_file(tmp_path: Path) -> None:
    path = tmp_path / "judge.toml"
    run.invoke(app, ["init", str(path), "--audit", "judge"])
    text = path.read_text().replace("embedded:smollm2", "python:audits.test_judge_command_line:always_four")
    path.write_text(text)
    planned = run.invoke(app, ["plan", str(path)])
    # 16 stimuli x (3 profiles x 2 poles + 1 pole check) x 3 repetitions
    assert "336 trials: 16 items x 21 arms x 1 models" in planned.output
    assert run.invoke(app, ["run", str(path)]).exit_code == 0
    folder = tmp_path / "runs" / "judge"
    analysed = run.invoke(app, ["analyse", str(folder), "--fail-on", "finding"])
    assert (analysed.exit_code, analysed.exception) == (0, None), analysed.output
    assert (folder / "analysis" / "ratings.csv").read_text().startswith("model,item,cluster,stratum,evidence_strength")
    assert run.invoke(app, ["report", str(folder)]).exit_code == 0
    page = (folder / "report.html").read_text()
    assert "Scale check" in page and "Learner profile" in page
    assert edufair.open_run(folder).states() == {"done": 336}


def always_four(messages: list[dict[str, str]]) -> str:
    if "reply 1" in messages[-1]["content"]:
        return '{"reply": 1}'
    return (
        '{"contingent_scaffolding": 4, "productive_struggle": 4, "assistance_calibration": 4, "elicitation": 4, '
        '"overall": 4}'
    )


@pytest.mark.parametrize("rubric", ["missing.txt", "empty.txt"])
def test_a_rubric_that_cannot_be_read_is_named(tmp_path: Path, rubric: str) -> None:
    (tmp_path / "empty.txt").write_text(" \n")
    (tmp_path / "audit.toml").write_text(
        f'audit = "judge"\n[models.m]\nurl = "python:m:f"\n[judge]\nmodel = "m"\n[rubric]\nfile = "{rubric}"\n'
    )
    with pytest.raises(ConfigError, match=rf"{rubric}: the rubric"):
        files.load(tmp_path / "audit.toml")


DOCS = Path(__file__).parents[2] / "docs" / "judge-audit.md"


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", DOCS.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("block", blocks("toml"))
def test_the_settings_that_the_page_shows_are_settings(block: str, tmp_path: Path) -> None:
    (tmp_path / "rubric.txt").write_text("Rate warmth, clarity and all of it from 1 to 7.")
    least = 'audit = "judge"\n[models.m]\nurl = "python:m:f"\n[judge]\nmodel = "m"\n'
    (tmp_path / "audit.toml").write_text(least + block)
    files.load(tmp_path / "audit.toml")


def test_the_stimulus_that_the_page_shows_is_read_but_for_its_dots(tmp_path: Path) -> None:
    (block,) = blocks("json")
    row = json.loads(block)
    row["low"] += " and the rest"
    (tmp_path / "one.jsonl").write_text(json.dumps(row))
    (item,) = StimulusItems(tmp_path / "one.jsonl")
    assert (item.domain, item.data["cluster"]) == ("weak", "percent")


def test_every_table_that_the_page_names_is_made() -> None:
    named = set(re.findall(r"`([a-z_]+)`", DOCS.read_text(encoding="utf-8")))
    assert named >= {*TABLES, "test_retest", "pole_check", "pole_check_by_stimulus", "losses", "ratings"}
