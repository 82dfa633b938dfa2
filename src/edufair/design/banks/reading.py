"""The one reader of input files: rows of CSV, TSV, JSONL, JSON and Parquet, whatever their encoding.

Every value is the text that stands in the file: numbers keep their digits and leading zeros, `NA`, `None`,
`null` and `nan` in a cell are words, and only an empty cell (or JSON's null) is missing. Line breaks inside
a cell become "\\n", so that a file means the same whichever system saved it.
"""

from __future__ import annotations

import codecs
import csv
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO

from edufair.errors import BankError

FORMATS = (".csv", ".tsv", ".jsonl", ".ndjson", ".json", ".parquet")

_BLOCK = 1 << 20
_LONGEST_CELL = 1 << 24  # characters; the csv module stops at 131,072, less than a long essay
_SHOWN = 10

_BOMS = (  # UTF-32 first: its little-endian mark begins with UTF-16's
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_UTF8_SEQUENCE = re.compile(rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}")
_LONG_RUN = re.compile(rb"[\x80-\xff]{4,}")


@dataclass(frozen=True, slots=True)
class Row:
    """One row. `number` is a JSONL file's line, a CSV's row in a spreadsheet, else the place in the list."""

    number: int
    values: Mapping[str, Any]


@dataclass(slots=True)
class Faults:
    """The bad rows of one file: the first ten by number, all of them counted."""

    path: Path
    count: int = 0
    shown: list[str] = field(default_factory=list)

    def add(self, row: int, message: str) -> None:
        self.count += 1
        if len(self.shown) < _SHOWN:
            self.shown.append(f"row {row}: {message}")

    def raise_any(self) -> None:
        """Raise BankError with the rows found bad, if there are any."""
        if not self.count:
            return
        rest = f"\n  ... and {self.count - len(self.shown)} more" if self.count > len(self.shown) else ""
        rows = "row" if self.count == 1 else "rows"
        listed = "".join(f"\n  {line}" for line in self.shown)
        raise BankError(f"{self.path}: {self.count} bad {rows}; mend or delete them:{listed}{rest}")


def read_rows(path: Path, faults: Faults) -> Iterator[Row]:
    """The rows of a file, one at a time; rows that cannot be read go to `faults`. Blank lines are no rows.

    Raises BankError where the file as a whole cannot be read (missing, unknown format or encoding, an open
    quote).
    """
    suffix = path.suffix.lower()
    if suffix not in FORMATS:
        raise BankError(f"{path}: a bank is a file of one of the formats {', '.join(FORMATS)}; save it as one of them")
    if not path.is_file():
        raise BankError(f"{path}: there is no such file")
    if suffix in (".csv", ".tsv"):
        return _csv_rows(path, faults)
    if suffix in (".jsonl", ".ndjson"):
        return _jsonl_rows(path, faults)
    if suffix == ".json":
        return _json_rows(path, faults)
    return _parquet_rows(path)


def read_json(path: Path) -> Any:
    """The content of a JSON file, numbers as the text they are written in. Raises BankError with the line."""
    with open_text(path) as file:
        content = file.read()
    try:
        return _parse_json(content)
    except json.JSONDecodeError as error:
        raise BankError(f"{path}, line {error.lineno}: not JSON: {error.msg}") from None
    except ValueError as error:
        raise BankError(f"{path}: not JSON: {error}") from None


def open_text(path: Path) -> TextIO:
    """A text file opened in its own encoding, line breaks as "\\n". Raises BankError naming file and row."""
    if not path.is_file():
        raise BankError(f"{path}: there is no such file")
    return path.open(encoding=encoding_of(path), newline=None)


def encoding_of(path: Path) -> str:
    """The encoding the whole file decodes in: by its mark, else UTF-16 by its NULs, UTF-8, or cp1252.

    cp1252 is read only from a file that holds no UTF-8 sequence and no long run of non-ASCII bytes: a file of
    mixed encodings, or of another alphabet, is refused and never read as nonsense.
    """
    encoding = _declared(path)
    broken = _undecodable_line(path, encoding)
    if broken is None:
        return encoding
    if encoding != "utf-8":
        raise BankError(f"{path}, row {broken}: not valid {encoding}; save the file as UTF-8")
    content = path.read_bytes()
    if _UTF8_SEQUENCE.search(content):
        raise BankError(f"{path}, row {broken}: mostly UTF-8, but this row is not; save the file as UTF-8")
    unreadable = _undecodable_line(path, "cp1252")
    if _LONG_RUN.search(content) or unreadable is not None:
        raise BankError(f"{path}, row {unreadable or broken}: neither UTF-8, UTF-16 nor cp1252; save the file as UTF-8")
    return "cp1252"


def as_text(value: Any) -> str | None:
    """A cell as text, None if missing. Raises ValueError for what is no text: true, a list, half a letter."""
    if isinstance(value, bool) or not (value is None or isinstance(value, str | int | float)):
        raise ValueError(f"{json.dumps(value, ensure_ascii=False, default=str)[:60]} is neither text nor a number")
    text = "" if value is None else str(value)
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError("half of a surrogate pair (a character cut in two)") from None
    return text if text.strip() else None


def _declared(path: Path) -> str:
    with path.open("rb") as file:
        head = file.read(4096)
    for mark, encoding in _BOMS:
        if head.startswith(mark):
            return encoding
    even, odd = head[::2].count(0), head[1::2].count(0)
    if even and odd:
        raise BankError(f"{path}: holds NUL bytes and is no text file; save it as UTF-8")
    return "utf-16-le" if odd else "utf-16-be" if even else "utf-8"


def _undecodable_line(path: Path, encoding: str) -> int | None:
    decoder = codecs.getincrementaldecoder(encoding)()
    line = 1
    with path.open("rb") as file:
        while True:
            block = file.read(_BLOCK)
            try:
                line += decoder.decode(block, final=not block).count("\n")
            except UnicodeDecodeError as error:
                return line + error.object[: error.start].count(b"\n")
            if not block:
                return None


def _csv_rows(path: Path, faults: Faults) -> Iterator[Row]:
    csv.field_size_limit(max(csv.field_size_limit(), _LONGEST_CELL))
    with open_text(path) as file:
        records = csv.reader(file, delimiter=_delimiter(path), strict=True)
        number, header = 0, None
        try:
            for number, cells in enumerate(records, start=1):
                if not cells:
                    continue
                if header is None:
                    header = _header(path, cells)
                elif len(cells) != len(header):
                    faults.add(
                        number,
                        f"{len(cells)} cells under {len(header)} headings; a separator without quotes?",
                    )
                else:
                    yield Row(number, dict(zip(header, cells, strict=True)))
        except csv.Error as error:
            raise BankError(
                f"{path}, row {number + 1}: {error}; is a quotation mark left open, or not doubled in a cell?"
            ) from None


def _delimiter(path: Path) -> str:
    """The separator that gives the heading most columns: Excel writes semicolons in much of the world."""
    if path.suffix.lower() == ".tsv":
        return "\t"
    with open_text(path) as file:
        heading = next((line for line in file if line.strip()), "")
    return max(",;\t", key=lambda mark: len(next(csv.reader([heading], delimiter=mark), [])))


def _header(path: Path, cells: list[str]) -> list[str]:
    names = [cell.strip() for cell in cells]
    twice = sorted({name for name in names if name and names.count(name) > 1})
    if twice:
        raise BankError(f"{path}: the heading names {', '.join(map(repr, twice))} more than once; rename one")
    return names


def _jsonl_rows(path: Path, faults: Faults) -> Iterator[Row]:
    with open_text(path) as file:
        for number, line in enumerate(file, start=1):
            if not line.strip():
                continue
            try:
                yield Row(number, _object(_parse_json(line)))
            except json.JSONDecodeError as error:
                hint = "; one object a line? (name a JSON list .json)" if number == 1 else ""
                faults.add(number, f"not JSON: {error.msg} at character {error.pos + 1}{hint}")
            except ValueError as error:
                faults.add(number, str(error))


def _json_rows(path: Path, faults: Faults) -> Iterator[Row]:
    content = read_json(path)
    if not isinstance(content, list):
        raise BankError(f"{path}: a list of objects is wanted: [{{...}}, {{...}}]")
    for number, entry in enumerate(content, start=1):
        try:
            yield Row(number, _object(entry))
        except ValueError as error:
            faults.add(number, str(error))


def _parquet_rows(path: Path) -> Iterator[Row]:
    import polars as pl

    try:
        frame = pl.read_parquet(path)
    except (OSError, pl.exceptions.PolarsError) as error:
        raise BankError(f"{path}: not a Parquet file that can be read: {error}") from None
    for number, values in enumerate(frame.iter_rows(named=True), start=1):
        yield Row(number, values)


def _parse_json(content: str) -> Any:
    return json.loads(
        content, parse_int=str, parse_float=str, parse_constant=_no_constant, object_pairs_hook=_distinct_keys
    )


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON; write null for a missing value")


def _distinct_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    entries = dict(pairs)
    if len(entries) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key {twice!r} stands twice in one object")
    return entries


def _object(entry: Any) -> Mapping[str, Any]:
    if not isinstance(entry, dict):
        raise ValueError("an object {...} is wanted")
    return entry
