"""Tables as files and on a terminal."""

import csv
import json
import math
from io import StringIO

import polars as pl
import pytest
from rich.console import Console

from edufair.audits.base import Analysis
from edufair.errors import EdufairError
from edufair.reports.tables import csv_frame, findings_frame, terminal, write_tables
from reports import made_up
from reports.made_up import FOUND


def printed(analysis, width):
    console = Console(width=width, file=StringIO(), color_system=None)
    console.print(terminal(analysis))
    return console.file.getvalue()


@pytest.mark.parametrize("width", [80, 120])
def test_the_terminal_table_fits_its_width_and_names_every_tutor(width):
    text = printed(made_up.report_data().analysis, width)
    assert max(len(line) for line in text.splitlines()) <= width
    assert "Llama-3.1-8B" in text and "TutorRL-7B" in text
    assert text.startswith("Control: With nothing said about the learner")
    assert "would show about" in text


def test_the_terminal_never_reads_a_name_as_markup_or_a_control():
    hostile = Analysis("dialogue", (made_up.replace(FOUND, model="[red]x[/red]\x1b[2J"),))
    text = printed(hostile, 120)
    assert "[red]x[/red]⟨U+001B⟩[2J" in text
    assert "\x1b" not in text


def test_findings_have_the_same_columns_and_types_when_there_are_none():
    some = findings_frame(made_up.report_data().analysis.findings)
    none = findings_frame(())
    assert none.schema == some.schema
    assert some.schema["p_holm"] == pl.Float64 and some.schema["n"] == pl.Int64
    assert some.schema["finding"] == pl.Boolean and some.schema["verdict"] == pl.String


def test_every_table_is_written_as_csv_parquet_and_json(tmp_path):
    analysis = made_up.report_data().analysis
    written = write_tables(analysis, tmp_path / "new" / "tables")
    names = {path.name for path in written}
    assert {f"{name}{end}" for name in ("findings", *analysis.tables) for end in (".csv", ".parquet")} < names
    assert all(path.is_file() for path in written)
    again = pl.read_parquet(tmp_path / "new" / "tables" / "findings.parquet")
    assert again.equals(findings_frame(analysis.findings))
    everything = json.loads((tmp_path / "new" / "tables" / "analysis.json").read_text())
    assert len(everything["tables"]["findings"]) == len(analysis.findings)


def test_nan_is_null_in_json_and_the_file_is_strict_json(tmp_path):
    table = pl.DataFrame({"x": [math.nan, math.inf, 1.0]})
    write_tables(Analysis("dialogue", (), {"t": table}), tmp_path)

    def refuse(constant):
        raise AssertionError(constant)

    read = json.loads((tmp_path / "analysis.json").read_text(), parse_constant=refuse)
    assert read["tables"]["t"] == [{"x": None}, {"x": None}, {"x": 1.0}]


def test_formulas_in_text_cells_are_defused_and_numbers_stay_numbers(tmp_path):
    table = pl.DataFrame({"name": ["=HYPERLINK(1)", "plain", None], "d": [-1.5, 2.0, None], "=h": ["@x", "-y", "+z"]})
    write_tables(Analysis("dialogue", (), {"t": table}), tmp_path)
    with (tmp_path / "t.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    assert rows == [
        ["name", "d", "'=h"],
        ["'=HYPERLINK(1)", "-1.5", "'@x"],
        ["plain", "2.0", "'-y"],
        ["", "", "'+z"],
    ]
    assert pl.read_parquet(tmp_path / "t.parquet").equals(table)


def test_nested_cells_become_json_text_in_csv():
    frame = csv_frame(pl.DataFrame({"xs": [[1, 2], []]}))
    assert frame["xs"].to_list() == ["[1,2]", "[]"]


def test_table_names_never_leave_the_folder_and_never_overwrite_each_other(tmp_path):
    folder = tmp_path / "out"
    tables = {name: pl.DataFrame({"x": [i]}) for i, name in enumerate(["../up", "a/b", "a b", "A-b", "analysis"])}
    written = write_tables(Analysis("dialogue", (), tables), folder)
    assert {path.parent for path in written} == {folder}
    assert len({path.name.lower() for path in written}) == len(written) == 2 * 6 + 1
    assert sorted(p.name for p in tmp_path.iterdir()) == ["out"]


def test_a_folder_that_cannot_be_written_says_so(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(EdufairError, match="Name a folder you may write to"):
        write_tables(Analysis("dialogue", ()), tmp_path / "file")
