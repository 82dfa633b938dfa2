"""The main results on a terminal, and every table as files that pandas, R and a spreadsheet can open."""

from __future__ import annotations

import types
import typing
from dataclasses import asdict, fields
from pathlib import Path

import orjson
import polars as pl
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from edufair.audits.base import Analysis
from edufair.errors import EdufairError
from edufair.records import Finding
from edufair.reports import words
from edufair.reports.answers import Answer, answers, chance, control
from edufair.reports.numbers import count, p_value, plural, signed
from edufair.reports.safe import csv_text, file_name, shown

_STYLES = {"differs": "bold red", "differs but small": "yellow", "shown to be small": "cyan"}


def terminal(analysis: Analysis, *, most: int = 12) -> RenderableType:
    """What the command line prints: the control, an answer a line, the findings, and chance. Fits 80 columns.

    `most` findings are printed, largest |r| first; the rest are counted.
    """
    parts: list[RenderableType] = []
    negative = control(analysis.findings)
    if negative:
        parts.append(Text(f"Control: {negative.text}\n", style="bold red" if negative.alarm else ""))
    found = [answer for answer in answers(analysis.findings) if answer.condition != "baseline"]
    said = words.audit(analysis.audit)
    parts.append(_answer_table(found, said))
    detected = sorted((f for answer in found for f in answer.detected), key=lambda f: -abs(f.r or 0.0))
    if detected:
        parts.append(_finding_table(detected[:most], said))
    if len(detected) > most:
        parts.append(Text(f"{plural(len(detected) - most, 'more difference')} in the tables and the report."))
    tested = chance(f for f in analysis.findings if f.condition != "baseline")
    by_chance = f"\n{tested.summary}" if tested.tested or not found else ""
    parts.append(Text(f"{by_chance}\n“Undecided” is not “no difference”."))
    return Group(*parts)


def _answer_table(found: list[Answer], said: words.Audit) -> Table:
    table = Table(title="What the data can tell", title_justify="left", box=None, pad_edge=False)
    for header in (words.capital(said.audited), "Condition", "Dimension", "Answer"):
        table.add_column(header, overflow="fold")
    for header in ("Tests", "Differ", "Small"):
        table.add_column(header, justify="right", no_wrap=True)
    for a in found:
        names = [_text(a.model), _text(a.condition), _text(a.dimension)]
        numbers = [count(a.tested), count(len(a.detected)), count(a.small)]
        table.add_row(*names, Text(a.kind, style=_STYLES.get(a.kind, "dim")), *numbers)
    return table


def _finding_table(detected: list[Finding], said: words.Audit) -> Table:
    table = Table(title="\nDifferences that chance does not explain", title_justify="left", box=None, pad_edge=False)
    for header in (words.capital(said.audited), words.capital(said.stratum), "A − B", "Metric"):
        table.add_column(header, overflow="fold")
    for header in ("A − B", "r", "p (Holm)", "n"):
        table.add_column(header, justify="right", no_wrap=True)
    for f in detected:
        table.add_row(
            *(_text(part) for part in (f.model, f.domain, f"{f.a} − {f.b}", words.metric(f.metric).label)),
            words.change(f.metric, f.difference) + (" pt" if words.metric(f.metric).rate else ""),
            signed(f.r),
            p_value(f.p_holm),
            count(f.n),
        )
    return table


def _text(text: str) -> Text:
    """Text as it is: never read as markup, its controls written out."""
    return Text(shown(text))


def findings_frame(findings: tuple[Finding, ...]) -> pl.DataFrame:
    """The findings, one row each, with the same columns and types whether there are many or none."""
    hints = typing.get_type_hints(Finding)
    schema = {field.name: _dtype(hints[field.name]) for field in fields(Finding)}
    return pl.DataFrame([asdict(f) for f in findings], schema=schema, orient="row")


def _dtype(hint: object) -> type[pl.DataType]:
    kinds: set[object] = set(typing.get_args(hint)) if isinstance(hint, types.UnionType) else {hint}
    for python, dtype in ((float, pl.Float64), (bool, pl.Boolean), (int, pl.Int64)):
        if python in kinds:
            return dtype
    return pl.String


def write_tables(analysis: Analysis, folder: Path | str) -> list[Path]:
    """Write the findings and every table as CSV and parquet, and all of them as one analysis.json.

    In CSV, a text that a spreadsheet would take for a formula begins with '; parquet and JSON hold the text as it
    is. In JSON, NaN is null. Returns the files written. Raises EdufairError when the folder cannot be written.
    """
    folder = Path(folder)
    frames = {"findings": findings_frame(analysis.findings), **analysis.tables}
    written: list[Path] = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, stem in _stems(list(frames)).items():
            csv, parquet = folder / f"{stem}.csv", folder / f"{stem}.parquet"
            csv_frame(frames[name]).write_csv(csv)
            frames[name].write_parquet(parquet)
            written += [csv, parquet]
        everything = {"audit": analysis.audit, "tables": {name: f.to_dicts() for name, f in frames.items()}}
        json = folder / "analysis.json"
        json.write_bytes(orjson.dumps(everything, option=orjson.OPT_INDENT_2, default=str))
        written.append(json)
    except OSError as e:
        raise EdufairError(f"The tables cannot be written to {folder}: {e}. Name a folder you may write to.") from e
    return written


def csv_frame(frame: pl.DataFrame) -> pl.DataFrame:
    """`frame` for a spreadsheet: text that reads as a formula defused, nested values as JSON text."""
    nested = [name for name, dtype in frame.schema.items() if dtype.is_nested()]
    frame = frame.with_columns(
        pl.Series(name, [orjson.dumps(v).decode() for v in frame[name].to_list()]) for name in nested
    )
    frame = frame.with_columns(
        pl.col(pl.String, pl.Categorical, pl.Enum).cast(pl.String).map_elements(csv_text, return_dtype=pl.String)
    )
    return frame.rename({name: csv_text(name) for name in frame.columns})


def _stems(names: list[str]) -> dict[str, str]:
    """A file name for each table; names that would fall together (also in case) are numbered."""
    stems: dict[str, str] = {}
    taken = {"analysis"}
    for name in names:
        stem = base = file_name(name)
        number = 2
        while stem.lower() in taken:
            stem = f"{base}-{number}"
            number += 1
        taken.add(stem.lower())
        stems[name] = stem
    return stems
