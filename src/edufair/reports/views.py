"""Tables for people: findings and frames as rows of ready text, whatever then draws them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from edufair.audits.family import ALPHA
from edufair.records import Finding
from edufair.reports import words
from edufair.reports.answers import chance, grouped, judges
from edufair.reports.numbers import MISSING, count, interval, number, p_value, percent, signed

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell: its text, a smaller note below it, and a tone (a class name of the style sheet)."""

    text: str
    note: str = ""
    tone: str = ""


@dataclass(frozen=True, slots=True)
class Header:
    text: str
    numeric: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    caption: str
    headers: tuple[Header, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""


@dataclass(frozen=True, slots=True)
class _Column:
    """A column's heading, how a row's cell is made, and whether it holds numbers."""

    header: str
    cell: Callable[[Row], Cell]
    numeric: bool = True

    def headed(self, said: words.Audit) -> Header:
        """The heading, with the audit's own words for what was audited and where."""
        text = self.header.format(audited=words.capital(said.audited), stratum=words.capital(said.stratum))
        return Header(text, self.numeric)


def _text(header: str, field: str, show: Callable[[str], str] = str) -> _Column:
    return _Column(header, lambda row: Cell(MISSING if row[field] is None else show(row[field])), numeric=False)


def _number(header: str, field: str, show: Callable[[Any], str]) -> _Column:
    return _Column(header, lambda row: Cell(show(row[field])))


def _metric_cell(row: Row) -> Cell:
    name = row["metric"]
    return Cell(words.metric_label(name), name if name in words.METRICS else "")


def _difference(header: str, field: str) -> _Column:
    return _Column(header, lambda row: Cell(words.change(row["metric"], row[field])))


def _mean(row: Row) -> Cell:
    """A mean of an arm in the metric's unit; of an effect, which is a difference, with its sign."""
    show = words.change if "effect" in row else words.value
    return Cell(show(row["metric"], row["mean"]))


def _band(row: Row) -> Cell:
    return Cell(interval(row["null_low"], row["null_high"], 3, sign=False))


def _natural_interval(row: Row) -> Cell:
    return Cell(words.change_interval(row["metric"], row["low"], row["high"]))


def three(x: float | None) -> str:
    return number(x, 3)


def _signed3(x: float | None) -> str:
    return signed(x, 3)


COLUMNS: dict[str, _Column] = {
    "model": _text("{audited}", "model"),
    "model_a": _text("{audited} A", "model_a"),
    "model_b": _text("{audited} B", "model_b"),
    "condition": _text("Condition", "condition"),
    "domain": _text("{stratum}", "domain"),
    "dimension": _text("Dimension", "dimension", words.dimension),
    "contrast": _text("Contrast (A − B)", "contrast", words.minus),
    "contrast_kind": _text("Names differ in", "contrast_kind"),
    "group": _text("Metrics", "group"),
    "setting": _text("Setting", "setting"),
    "effect": _text("Effect", "effect"),
    "arm": _text("Arm", "arm"),
    "metric": _Column("Metric", _metric_cell, numeric=False),
    "mean_abs_r": _number("Mean |r|", "mean_abs_r", three),
    "null_mean": _number("From noise", "null_mean", three),
    "null_low": _Column("95% noise band", _band),
    "n_contrasts": _number("Contrasts", "n_contrasts", count),
    "n_left_out": _number("Left out", "n_left_out", count),
    "n": _number("n", "n", count),
    "mean": _Column("Mean", _mean),
    "mean_a": _Column("Mean A", lambda row: Cell(words.value(row["metric"], row["mean_a"]))),
    "mean_b": _Column("Mean B", lambda row: Cell(words.value(row["metric"], row["mean_b"]))),
    "difference": _difference("Difference", "difference"),
    "low": _Column("95% interval", _natural_interval),
    "r": _number("r", "r", _signed3),
    "r_low": _Column("95% interval of r", lambda row: Cell(interval(row["r_low"], row["r_high"], 3))),
    "p": _number("p", "p", p_value),
    "p_holm": _number("p (Holm)", "p_holm", p_value),
    "statistic": _number("Friedman's Q", "statistic", number),
    "kendalls_w": _number("Kendall's W", "kendalls_w", three),
    "share": _number("Share", "share", percent),
    "interaction": _number("Interaction", "interaction", _signed3),
    "pinned": _number("Pinned", "pinned", percent),
    "made_by_scale": _number("Made by scale", "made_by_scale", percent),
    "turns_mean": _number("Mean turns", "turns_mean", number),
}

_UPPER_ENDS = {"null_high", "high", "r_high"}  # shown in one cell with their lower ends


def from_frame(
    frame: pl.DataFrame,
    caption: str,
    said: words.Audit = words.DIALOGUE,
    *,
    without: Sequence[str] = (),
    note: str = "",
) -> Table:
    """Any table of an analysis, column by column; a column this page does not know is shown as it is."""
    hidden = {*without, *_UPPER_ENDS}
    if "source" in frame.columns and frame["source"].n_unique() == 1:
        hidden.add("source")  # one judge: named once, with the models
    fields = [name for name in frame.columns if name not in hidden]
    columns = [_column(name, frame.schema[name], set(frame.columns)) for name in fields]
    return _table(caption, columns, frame.iter_rows(named=True), said, note)


def _column(name: str, dtype: pl.DataType, names: set[str]) -> _Column:
    """The known column; without the fields it needs (a metric's unit), or unknown: the bare values."""
    needs_metric = name in {"mean", "mean_a", "mean_b", "difference", "low"}
    counted = name == "pinned" and dtype.is_integer()  # a number of items, not a share of them
    if name in COLUMNS and not counted and (not needs_metric or "metric" in names):
        return COLUMNS[name]
    header = words.capital(name.replace("_", " ")).replace("{", "{{").replace("}", "}}")
    if dtype.is_float():
        return _number(header, name, three)
    if dtype.is_integer():
        return _number(header, name, count)
    return _text(header, name)


def _table(caption: str, columns: Sequence[_Column], rows: Iterable[Row], said: words.Audit, note: str) -> Table:
    return Table(
        caption,
        tuple(column.headed(said) for column in columns),
        tuple(tuple(column.cell(row) for column in columns) for row in rows),
        note,
    )


def contrasts(findings: Sequence[Finding], caption: str, *, dimensions: bool = False) -> Table:
    """Every contrast with means, difference, r, intervals, p-values, losses and verdict.

    `dimensions` names the dimension below each contrast: where the same two arms are compared in several ways.
    """
    several = len(judges(findings)) > 1
    said = words.audit_of(findings)
    headers = [
        Header(words.capital(said.stratum)),
        Header("Contrast (A − B)"),
        Header("Metric"),
        *(
            Header(text, numeric=True)
            for text in (f"{words.capital(said.unit)}s", "Mean A", "Mean B", "Difference", "r")
        ),
        *(Header(text, numeric=True) for text in ("p", "p (Holm)", "p (BH)", "Least p", "Lost A, B")),
        Header("Verdict"),
    ]
    return Table(caption, tuple(headers), tuple(_contrast(f, several, dimensions) for f in findings))


def _contrast(f: Finding, several_judges: bool, dimensions: bool) -> tuple[Cell, ...]:
    notes = [words.dimension(f.dimension) if dimensions else "", "added after the plan" if not f.planned else ""]
    return (
        Cell(f.domain or MISSING),
        Cell(words.minus(f.contrast), "; ".join(filter(None, notes))),
        Cell(words.metric_label(f.metric), f.source if several_judges else f.metric),
        Cell(count(f.n), f"of {count(f.n_items)}"),
        Cell(words.value(f.metric, f.mean_a)),
        Cell(words.value(f.metric, f.mean_b)),
        Cell(
            words.change(f.metric, f.difference),
            words.change_interval(f.metric, f.difference_low, f.difference_high),
        ),
        Cell(_signed3(f.r), interval(f.r_low, f.r_high, 3), "mark" if f.violation else ""),
        Cell(p_value(f.p)),
        Cell(p_value(f.p_holm), tone="mark" if f.p_holm is not None and f.p_holm < ALPHA else ""),
        Cell(p_value(f.p_bh)),
        Cell(p_value(f.p_min), tone="mark" if f.p_min is not None and f.p_min >= ALPHA else ""),
        _losses(f),
        verdict(f),
    )


def _losses(f: Finding) -> Cell:
    unequal = f.loss_p is not None and f.loss_p < ALPHA
    notes = [f"unequal, p {p_value(f.loss_p)}" if unequal else ""]
    if f.not_applicable_a or f.not_applicable_b:
        notes.append(f"not applicable: {count(f.not_applicable_a)}, {count(f.not_applicable_b)}")
    note = "; ".join(note for note in notes if note)
    return Cell(f"{count(f.lost_a)}, {count(f.lost_b)}", note, "mark" if unequal else "")


def verdict(f: Finding) -> Cell:
    """A finding's verdict; what was not tested says so instead, and a test that could not reject says that."""
    text = (f.verdict or "undecided") if f.status == "tested" else f.status
    notes = ["finding" if f.finding else "", f.note]
    if f.status == "tested" and f.p_min is not None and f.p_min >= ALPHA:
        notes.insert(1, "could not have reached p < 0.05")
    return Cell(text, "; ".join(note for note in notes if note), tone_of(text))


def tone_of(kind: str) -> str:
    """The style sheet's class for an answer, a verdict or a status."""
    return "is-" + kind.replace(" ", "-")


def violations(findings: Sequence[Finding], caption: str) -> Table:
    """Violations beside how many to expect where everyone is treated alike, and the findings that remain."""
    headers = (
        Header(words.capital(words.audit_of(findings).audited)),
        Header("Condition"),
        *(Header(text, numeric=True) for text in ("Tested", "Violations", "Expected by chance", "Findings")),
    )
    rows = []
    for (model, condition), fs in grouped(findings, "model", "condition").items():
        c = chance(fs)
        rows.append(
            (
                Cell(model),
                Cell(condition),
                Cell(count(c.tested)),
                Cell(count(c.violations)),
                Cell(number(c.expected, 1)),
                Cell(count(c.findings)),
            )
        )
    return Table(caption, headers, tuple(rows))


def losses(frame: pl.DataFrame, caption: str, said: words.Audit = words.DIALOGUE) -> Table:
    """Trials and labels by arm and state: one row an arm, one column a state, the share below the count."""
    return _by_arm(frame, "state", lambda row: _part(row["n"], row["of"]), caption, said, first="done")


def endings(frame: pl.DataFrame, caption: str, said: words.Audit = words.DIALOGUE) -> Table:
    """How the dialogues ended, by arm: count and share of each ending, and the mean number of turns."""
    by_ending = (
        frame.group_by("model", "condition", "arm").agg(pl.col("turns_mean").n_unique())["turns_mean"].max() != 1
    )

    def cell(row: Row) -> Cell:
        turns = f", {number(row['turns_mean'], 1)} turns" if by_ending else ""
        return Cell(count(row["n"]), f"{percent(row['share'])}{turns}")

    table = _by_arm(frame, "ending", cell, caption, said)
    if by_ending:
        return table
    turns = [
        Cell(number(mean, 1)) for mean in frame.unique(["model", "condition", "arm"], maintain_order=True)["turns_mean"]
    ]
    rows = tuple((*row, mean) for row, mean in zip(table.rows, turns, strict=True))
    return replace(table, headers=(*table.headers, Header("Mean turns", numeric=True)), rows=rows)


def _part(n: int, of: int) -> Cell:
    return Cell(count(n), percent(n / of if of else None, 1))


def _by_arm(
    frame: pl.DataFrame, field: str, cell: Callable[[Row], Cell], caption: str, said: words.Audit, *, first: str = ""
) -> Table:
    """A row for each (model, condition, arm) and a column for each value of `field`; an absent cell is 0."""
    kinds = sorted(frame[field].unique(maintain_order=True).to_list(), key=lambda kind: kind != first)
    arms: dict[tuple[str, str, str], dict[str, Cell]] = {}
    for row in frame.iter_rows(named=True):
        arms.setdefault((row["model"], row["condition"], row["arm"]), {})[row[field]] = cell(row)
    headers = [
        Header(words.capital(said.audited)),
        Header("Arm"),
        *(Header(words.capital(kind.replace("_", " ")), numeric=True) for kind in kinds),
    ]
    rows = [
        (Cell(model), Cell(arm_label(arm, condition), condition), *(cells.get(k, Cell("0")) for k in kinds))
        for (model, condition, arm), cells in arms.items()
    ]
    return Table(caption, tuple(headers), tuple(rows))


def arm_label(arm: str, condition: str) -> str:
    """An arm's levels without the condition that its label begins with; the baseline has none."""
    rest = arm.removeprefix(condition).strip()
    return rest or "no cue"
