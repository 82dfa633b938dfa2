"""The check of a ratings table as a user meets it: on the command line, as JSON and as a page."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from edufair.cli import app
from edufair.errors import BankError

DATA = Path(__file__).parents[2] / "../shared/data/judge_did"
released = pytest.mark.skipif(not DATA.is_dir(), reason="the ratings in ../shared/data/judge_did are not here")

FIELDS = ("scaffolding", "productive_struggle", "assistance_calibration", "elicitation", "overall")


def _check(*arguments: str) -> str:
    result = CliRunner().invoke(app, ["ratings", "check", *arguments], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def _write(path: Path, rows: list[dict[str, object]]) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


def _floored(path: Path) -> Path:
    """Ten items: the high reply falls by one under the advanced profile, the low one stands on the floor."""
    rating = {("novice", "high"): 5, ("advanced", "high"): 4, ("novice", "low"): 1, ("advanced", "low"): 1}
    rows = [
        {"item": f"s{k}", "arm": arm, "pole": pole, "overall": value - (k % 2) * (pole == "high")}
        for k in range(10)
        for (arm, pole), value in rating.items()
    ]
    return _write(path, rows)


@released
def test_the_released_ratings_give_the_papers_family_on_the_command_line(tmp_path: Path) -> None:
    """Printed in the paper, sections 6.3 and 7: +0.378, p = 0.00195, Holm 0.041 over 21 tests; low pole Holm 0.16."""
    page, data = tmp_path / "page.html", tmp_path / "data.json"
    fields = [part for name in FIELDS for part in ("--field", name)]
    columns = ["--item", "stimulus", "--repetition", "rep", "--cluster", "source_run", "--stratum", "competence"]
    subset = ["--subset", "r_high_provenance=corpus", "--subset", "r_low_provenance=corpus"]
    said = _check(
        str(DATA / "ratings.csv"),
        *("--beside", str(DATA / "stimuli.csv"), "--arms", "P_nov,P_adv", "--control", "D"),
        *(*fields, *columns, *subset, "--evidence", "evidence_strength"),
        *("--json", str(data), "--html", str(page)),
    )
    assert "21 tests" in said
    tests = json.loads(data.read_bytes())["tests"]
    assert len(tests) == 21
    by_name = {(t["stratum"], t["name"], t["field"]): t for t in tests}
    struggle = by_name["weak", "gap", "productive_struggle"]
    assert round(struggle["estimate"], 3) == 0.378
    assert round(struggle["p"], 5) == 0.00195
    assert round(struggle["p_holm"], 3) == 0.041
    assert round(by_name["weak", "shift at low", "overall"]["p_holm"], 2) == 0.16
    html = page.read_text(encoding="utf-8")
    assert "productive_struggle: one-pole contrast" in html
    assert "85% of the one observed" in html


def test_a_shift_cut_by_the_floor_is_told_from_a_change_of_preference(tmp_path: Path) -> None:
    said = _check(str(_floored(tmp_path / "ratings.csv")), "--field", "overall")
    assert "one-pole contrast" in said
    assert "Do not read this gap as a change of preference" in " ".join(said.split())


def test_a_table_without_poles_is_a_single_contrast(tmp_path: Path) -> None:
    rows = [
        {"item": k, "arm": arm, "overall": 3 + (arm == "novice")} for k in range(8) for arm in ("novice", "advanced")
    ]
    said = " ".join(_check(str(_write(tmp_path / "r.csv", rows)), "--field", "overall", "--poles", "").split())
    assert "The difference is +1.00 points" in said
    assert "gap" not in said


def test_hostile_names_stay_text_on_the_page(tmp_path: Path) -> None:
    hostile = "<script>alert(1)</script>"
    rows = [
        {"item": k, "arm": arm, "pole": pole, hostile: 1 + (k + len(arm)) % 5}
        for k in range(8)
        for arm in ("novice", "advanced")
        for pole in ("high", "low")
    ]
    page = tmp_path / "page.html"
    _check(str(_write(tmp_path / "r.csv", rows)), "--field", hostile, "--html", str(page))
    html = page.read_text(encoding="utf-8")
    assert hostile not in html
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in html


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--field", "nothing"], "has no column 'nothing'"),
        (["--field", "overall", "--arms", "novice"], "two names with a comma"),
        (["--field", "overall", "--arms", "novice,expert"], "no rating has the arm 'expert'"),
        (["--field", "overall", "--high", "4"], "outside the scale from 1 to 4"),
        (["--field", "overall", "--subset", "overall"], "COLUMN=VALUE"),
    ],
)
def test_a_table_that_cannot_be_read_so_is_named_with_its_mend(
    tmp_path: Path, arguments: list[str], words: str
) -> None:
    file = _floored(tmp_path / "ratings.csv")
    with pytest.raises(BankError, match=words):
        CliRunner().invoke(app, ["ratings", "check", str(file), *arguments], catch_exceptions=False)
