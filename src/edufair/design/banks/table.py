"""Rows with a question and an answer (CSV, TSV, JSONL, JSON, Parquet) as items; the project's own format."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import orjson

from edufair.design.banks.bank import Bank, make_item
from edufair.design.banks.columns import parse_columns
from edufair.design.banks.names import Domains, Ids
from edufair.design.banks.reading import Faults, as_text, read_rows
from edufair.errors import BankError
from edufair.hashing import digest
from edufair.records import Item


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns (or JSON keys) of a file that hold an item's parts. The defaults are our own format."""

    id: str = "id"
    domain: str = "domain"
    question: str = "question"
    answer: str = "answer"
    accepted: str = "accepted"
    support: str = "support"
    grade: str = "grade"

    @classmethod
    def parse(cls, pairs: Iterable[str]) -> Columns:
        """Columns from texts such as ``question=Prompt``. Raises BankError for a part that does not exist."""
        return parse_columns(cls, pairs)


@dataclass(frozen=True, slots=True)
class TableItems:
    """The items of one file, read anew, row by row, each time they are gone through.

    `domain` and `grade` fill the cells a file leaves empty. Going through them raises BankError: at once
    where a column is missing, and at the end, with the first ten bad rows and their count, where rows are
    bad (nothing more is given after the first bad row).
    """

    path: Path
    columns: Columns = Columns()
    domain: str | None = None
    grade: int | None = None

    def __iter__(self) -> Iterator[Item]:
        faults, ids, domains = Faults(self.path), Ids(), Domains()
        count = 0
        for row in read_rows(self.path, faults):
            if not count:
                self._check_columns(row.values)
            count += 1
            try:
                item = self._item(row.values)
            except ValueError as error:
                faults.add(row.number, str(error))
                continue
            if clash := ids.clash(item.id, row.number) or domains.clash(item.domain):
                faults.add(row.number, clash)
            elif not faults.count:
                yield item
        faults.raise_any()
        if not count:
            raise BankError(f"{self.path}: holds no items")

    def _check_columns(self, values: Mapping[str, Any]) -> None:
        wanted = {self.columns.question, self.columns.answer}
        wanted |= {getattr(self.columns, p.name) for p in fields(Columns) if self._renamed(p.name)}
        if lacking := sorted(wanted - values.keys()):
            raise BankError(
                f"{self.path}: no column {_listed(lacking)}; it has {_listed(values)}. "
                "Name the columns, for example question=Prompt (items.columns in audit.toml, --column)"
            )
        for part, given in (("domain", self.domain), ("grade", self.grade)):
            column = getattr(self.columns, part)
            if given is None and column not in values:
                raise BankError(
                    f"{self.path}: no column {column!r}; name the column that holds the {part}, or give one "
                    f"{part} for all items (items.{part} in audit.toml, --{part})"
                )

    def _renamed(self, part: str) -> bool:
        return bool(getattr(self.columns, part) != getattr(Columns(), part))

    def _item(self, values: Mapping[str, Any]) -> Item:
        question, answer = self._needed(values, "question"), self._needed(values, "answer")
        return make_item(
            self._id(values, question, answer),
            (self._cell(values, "domain") or self.domain or self._needed(values, "domain")).strip(),
            question,
            answer,
            grade=self._grade(values),
            accepted=self._accepted(values),
            support=self._cell(values, "support") or "",
        )

    def _cell(self, values: Mapping[str, Any], part: str) -> str | None:
        column = getattr(self.columns, part)
        try:
            return as_text(values.get(column))
        except ValueError as error:
            raise ValueError(f"{column}: {error}") from None

    def _needed(self, values: Mapping[str, Any], part: str) -> str:
        cell = self._cell(values, part)
        if cell is None:
            raise ValueError(f"{getattr(self.columns, part)} is empty")
        return cell

    def _id(self, values: Mapping[str, Any], question: str, answer: str) -> str:
        """The row's id; without a column of ids one made from the content, so that order does not matter."""
        if self.columns.id in values:
            return self._needed(values, "id")
        return digest([question, answer])[:12]

    def _grade(self, values: Mapping[str, Any]) -> int:
        cell = self._cell(values, "grade")
        if cell is None and self.grade is not None:
            return self.grade
        text = self._needed(values, "grade").strip()
        if not (text.isascii() and text.isdigit()):
            raise ValueError(f"{self.columns.grade} is {text!r}; a whole number such as 9 is wanted")
        return int(text)

    def _accepted(self, values: Mapping[str, Any]) -> list[str]:
        """Other right answers: a list, in a table's cell written as JSON."""
        column = self.columns.accepted
        given = values.get(column)
        if given is None or given == "":
            return []
        try:
            listed = json.loads(given, parse_int=str, parse_float=str) if isinstance(given, str) else given
        except ValueError:
            listed = None
        if not isinstance(listed, list) or not all(isinstance(v, str) and as_text(v) for v in listed):
            raise ValueError(f'{column}: a list of texts is wanted, such as ["1/2", "0.5"]')
        return listed


def _listed(names: Iterable[str]) -> str:
    return ", ".join(map(repr, names))


def build_table(
    path: Path, *, columns: Columns | None = None, domain: str | None = None, grade: int | None = None
) -> Bank:
    """Any file with a question and an answer in each row; nothing is filtered."""
    return Bank(path.name, TableItems(path, columns or Columns(), domain, grade))


def write_bank(items: Iterable[Item], path: Path) -> int:
    """Write items in the project's own format (JSONL, UTF-8), whole or not at all; how many there are.

    Raises BankError where the file cannot be written.
    """
    unfinished = path.with_name(f"{path.name}.part")
    count = 0
    try:
        with unfinished.open("wb") as file:
            for item in items:
                file.write(_line(item))
                count += 1
        os.replace(unfinished, path)
    except OSError as error:
        raise BankError(f"{path}: cannot be written: {error.strerror}") from None
    finally:
        unfinished.unlink(missing_ok=True)
    return count


def _line(item: Item) -> bytes:
    keys = {"id": item.id, "domain": item.domain, "question": item.text, **item.data}
    return orjson.dumps(keys, option=orjson.OPT_APPEND_NEWLINE)
