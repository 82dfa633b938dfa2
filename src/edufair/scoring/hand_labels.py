"""Labels that people gave by hand: a table with one row a label, read strictly."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from edufair.design.banks.columns import parse_columns
from edufair.design.banks.reading import Faults, as_text, read_rows
from edufair.errors import BankError
from edufair.records import NOT_APPLICABLE
from edufair.scoring.rubric import CONDITIONAL, METRICS, STUDENT_MISTAKE

#: What a label is: 0, 1, or NOT_APPLICABLE, that the question does not arise.
Label = int | str

#: The metrics that people can label, the judge's five and what two of them condition on.
LABELLED = (*METRICS, STUDENT_MISTAKE)

_WORDS: Mapping[str, Label] = {
    **dict.fromkeys(("1", "1.0", "yes", "true"), 1),
    **dict.fromkeys(("0", "0.0", "no", "false"), 0),
    **dict.fromkeys(("-1", "-1.0", "n/a", NOT_APPLICABLE), NOT_APPLICABLE),
}


@dataclass(frozen=True, slots=True)
class LabelColumns:
    """The columns of a table of labels. The defaults are what `edufair judge sample` writes."""

    trial: str = "trial"
    turn: str = "turn"
    metric: str = "metric"
    annotator: str = "annotator"
    value: str = "value"

    @classmethod
    def parse(cls, pairs: Iterable[str]) -> LabelColumns:
        """Columns from texts such as ``value=Label``. Raises BankError for a part that does not exist."""
        return parse_columns(cls, pairs)


@dataclass(frozen=True, slots=True)
class HandLabel:
    """One person's label of one turn on one metric; `row` is where it stands in the file."""

    row: int
    trial: str
    turn: int
    metric: str
    annotator: str
    value: Label

    @property
    def cell(self) -> tuple[str, int, str, str]:
        return self.trial, self.turn, self.metric, self.annotator


@dataclass(frozen=True, slots=True)
class HandLabels:
    """A file of labels. `empty` counts rows without a value: turns that nobody has labelled yet."""

    labels: tuple[HandLabel, ...]
    empty: int


def read_hand_labels(path: Path, columns: LabelColumns | None = None) -> HandLabels:
    """The labels of a table (CSV, TSV, JSONL, Parquet).

    A value is 0, 1, or -1 for not applicable (also yes, no, true, false); an empty one is no label. Raises BankError
    naming file and rows: for a missing column, another value, a label given twice.
    """
    columns = columns or LabelColumns()
    faults, seen, empty = Faults(path), dict[tuple[str, int, str, str], int](), 0
    labels: list[HandLabel] = []
    for row in read_rows(path, faults):
        _check(path, columns, row.values)
        try:
            label = _label(row.number, row.values, columns)
        except ValueError as error:
            faults.add(row.number, str(error))
            continue
        if label is None:
            empty += 1
        elif (first := seen.setdefault(label.cell, row.number)) != row.number:
            faults.add(row.number, f"{label.annotator} has labelled {label.metric} of this turn in row {first} already")
        else:
            labels.append(label)
    faults.raise_any()
    if not labels:
        raise BankError(f"{path}: holds no label; fill in the column {columns.value!r} ({empty} rows are empty)")
    return HandLabels(tuple(labels), empty)


def _check(path: Path, columns: LabelColumns, values: Mapping[str, Any]) -> None:
    lacking = [name for name in _named(columns) if name not in values]
    if lacking:
        raise BankError(
            f"{path}: no column {', '.join(map(repr, lacking))}; it has {', '.join(map(repr, values))}. "
            "Name the columns, for example --column value=Label"
        )


def _named(columns: LabelColumns) -> Iterator[str]:
    return (getattr(columns, part.name) for part in fields(columns))


def _label(number: int, values: Mapping[str, Any], columns: LabelColumns) -> HandLabel | None:
    given = as_text(values[columns.value])
    if given is None:
        return None
    trial, turn, metric, annotator = (
        _needed(values, getattr(columns, part)) for part in ("trial", "turn", "metric", "annotator")
    )
    if metric not in LABELLED:
        raise ValueError(f"{columns.metric} is {metric!r}; known are: {', '.join(LABELLED)}")
    return HandLabel(number, trial, _turn(turn, columns), metric, annotator, _value(given, metric, columns))


def _needed(values: Mapping[str, Any], column: str) -> str:
    text = as_text(values[column])
    if text is None:
        raise ValueError(f"{column} is empty")
    return text.strip()


def _turn(text: str, columns: LabelColumns) -> int:
    plain = text.removesuffix(".0")  # a spreadsheet's way of writing a whole number
    if not (plain.isascii() and plain.isdigit()):
        raise ValueError(f"{columns.turn} is {text!r}; the number of a turn is wanted")
    return int(plain)


def _value(text: str, metric: str, columns: LabelColumns) -> Label:
    value = _WORDS.get(text.strip().lower().replace("−", "-"))
    if value is None:
        raise ValueError(f"{columns.value} is {text.strip()!r}; write 1, 0, -1 for not applicable, or nothing")
    if value == NOT_APPLICABLE and metric not in CONDITIONAL:
        raise ValueError(f"{metric} always applies; only {' and '.join(CONDITIONAL)} can be -1")
    return value
