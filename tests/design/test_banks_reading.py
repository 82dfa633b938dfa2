"""The one reader: encodings, quotes, line breaks, words that look like missing values, numbers as text."""

from __future__ import annotations

import csv
import json
import tempfile
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from edufair.design.banks.reading import Faults, as_text, encoding_of, read_json, read_rows
from edufair.errors import BankError

ACCENTS = 'id,question,answer\n1,"Où est le café? naïve über",Zürich\n'


def rows(path: Path) -> list[dict[str, Any]]:
    faults = Faults(path)
    read = [dict(row.values) for row in read_rows(path, faults)]
    faults.raise_any()
    return read


def written(tmp_path: Path, name: str, content: bytes) -> Path:
    path = tmp_path / name
    path.write_bytes(content)
    return path


@pytest.mark.parametrize(
    ("encoding", "mark"),
    [
        ("utf-8", b""),
        ("utf-8-sig", b""),
        ("utf-16-le", b"\xff\xfe"),
        ("utf-16-be", b"\xfe\xff"),
        ("utf-16-le", b""),
        ("utf-16-be", b""),
        ("utf-32-le", b"\xff\xfe\x00\x00"),
        ("cp1252", b""),
    ],
)
def test_a_file_reads_the_same_in_every_encoding_it_may_have(tmp_path: Path, encoding: str, mark: bytes) -> None:
    path = written(tmp_path, "q.csv", mark + ACCENTS.encode(encoding))
    assert rows(path) == [{"id": "1", "question": "Où est le café? naïve über", "answer": "Zürich"}]


def test_a_mark_does_not_become_part_of_the_first_column_of_jsonl(tmp_path: Path) -> None:
    line = json.dumps({"id": "é", "question": "q"}, ensure_ascii=False)
    for encoding in ("utf-8-sig", "utf-16"):
        assert rows(written(tmp_path, "q.jsonl", line.encode(encoding))) == [{"id": "é", "question": "q"}]


def test_curly_quotes_of_cp1252_are_read_as_curly_quotes(tmp_path: Path) -> None:
    path = written(tmp_path, "q.csv", b"id,question\n1,\x93quoted\x94 \x96 5 \x80\n")
    assert rows(path)[0]["question"] == "“quoted” – 5 €"
    assert encoding_of(path) == "cp1252"


@pytest.mark.parametrize(
    ("content", "row"),
    [
        ("id,q\n1,é\n".encode() + b"2,caf\xe9\n", 3),  # UTF-8 with one line of cp1252
        ("id,q\n1,Привет как дела\n".encode("cp1251"), 2),  # another alphabet
        ("id,q\n1,a\n2,日本語のテキスト\n".encode("shift-jis"), 3),
        (b"id,q\n1,a\n2,b\n3,\x81\x8d x\n", 4),  # bytes cp1252 does not have
    ],
)
def test_a_file_in_no_known_encoding_is_refused_by_file_row_and_mend(tmp_path: Path, content: bytes, row: int) -> None:
    path = written(tmp_path, "q.csv", content)
    with pytest.raises(BankError, match=rf"q\.csv, row {row}: .*UTF-8.*save the file as UTF-8"):
        rows(path)


def test_a_cut_utf16_file_is_refused_with_its_encoding(tmp_path: Path) -> None:
    path = written(tmp_path, "q.csv", b"\xff\xfe" + "id,q\n1,abc\n".encode("utf-16-le")[:-1])
    with pytest.raises(BankError, match="row 2: not valid utf-16"):
        rows(path)


def test_a_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BankError, match="NUL"):
        rows(written(tmp_path, "q.csv", b"PK\x03\x04\x00\x00\x00\x00\x08"))


def test_a_broken_byte_far_into_a_long_file_is_found_by_its_row(tmp_path: Path) -> None:
    content = b"id,q\n" + "1,é\n".encode() * 300_000 + b"2,\xe9\n"  # over one block of 2**20 bytes
    with pytest.raises(BankError, match="row 300002: mostly UTF-8"):
        rows(written(tmp_path, "q.csv", content))


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_line_breaks_inside_quotes_belong_to_the_cell(tmp_path: Path, newline: str) -> None:
    lines = ["id,question,answer", '1,"first line', 'second, with ""quotes""",7', "2,plain,8", ""]
    path = written(tmp_path, "q.csv", newline.join(lines).encode())
    assert rows(path) == [
        {"id": "1", "question": 'first line\nsecond, with "quotes"', "answer": "7"},
        {"id": "2", "question": "plain", "answer": "8"},
    ]


def test_unicode_line_separators_do_not_split_a_row(tmp_path: Path) -> None:
    text = "a\u2028b\u2029c\x85d\x0be\x0cf"
    assert rows(written(tmp_path, "q.jsonl", json.dumps({"q": text}, ensure_ascii=False).encode())) == [{"q": text}]
    assert rows(written(tmp_path, "q.csv", f"q\n{text}\n".encode())) == [{"q": text}]


@pytest.mark.parametrize("word", ["None", "NA", "N/A", "null", "nan", "NaN", "NULL", "#N/A", "-", "True", "0", "inf"])
def test_words_that_other_readers_drop_are_text(tmp_path: Path, word: str) -> None:
    table = written(tmp_path, "q.csv", f"answer,id\n{word},1\n".encode())
    lines = written(tmp_path, "q.jsonl", json.dumps({"answer": word, "id": "1"}).encode())
    for path in (table, lines):
        assert as_text(rows(path)[0]["answer"]) == word


@pytest.mark.parametrize("cell", ["", "   ", "\t"])
def test_only_an_empty_cell_is_missing(cell: str) -> None:
    assert as_text(cell) is None
    assert as_text(None) is None


def test_numbers_stay_as_they_are_written(tmp_path: Path) -> None:
    table = written(tmp_path, "q.csv", b"id,answer\n007,1.50\n")
    assert rows(table) == [{"id": "007", "answer": "1.50"}]
    lines = written(tmp_path, "q.jsonl", b'{"id": "007", "answer": 1.50, "big": 123456789012345678901234567890}')
    assert rows(lines) == [{"id": "007", "answer": "1.50", "big": "123456789012345678901234567890"}]


@pytest.mark.parametrize("mark", [",", ";", "\t"])
def test_the_separator_is_read_off_the_heading(tmp_path: Path, mark: str) -> None:
    content = mark.join(["id", "question", "answer"]) + "\n" + mark.join(["1", '"a, b; c\td"', "2"]) + "\n"
    assert rows(written(tmp_path, "q.csv", content.encode())) == [{"id": "1", "question": "a, b; c\td", "answer": "2"}]


def test_blank_lines_are_no_rows_and_still_count_as_lines(tmp_path: Path) -> None:
    path = written(tmp_path, "q.jsonl", b'\n{"q": 1}\n\n   \n{"q": 2}\n\n')
    assert [row.number for row in read_rows(path, Faults(path))] == [2, 5]
    path = written(tmp_path, "q.csv", b"q,a\n\n1,2\n\n3,4\n")
    assert [row.number for row in read_rows(path, Faults(path))] == [3, 5]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'q,a\n"open,1\n2,3\n', "quotation mark left open"),
        (b'q,a\n"x"y,1\n', r"row 2: .*quotation mark"),
        (b"q,a,q\n1,2,3\n", "names 'q' more than once"),
        (b"q,a\n1,2,3\n4\n5,6\n", r"2 bad rows.*\n  row 2: 3 cells under 2 headings.*\n  row 3: 1 cells"),
    ],
)
def test_a_torn_table_is_refused_by_row(tmp_path: Path, content: bytes, message: str) -> None:
    with pytest.raises(BankError, match=message):
        rows(written(tmp_path, "q.csv", content))


def test_every_bad_line_is_counted_and_the_first_ten_are_shown(tmp_path: Path) -> None:
    path = written(tmp_path, "q.jsonl", b'{"q": 1}\n' + b"{oops\n" * 25)
    with pytest.raises(BankError) as caught:
        rows(path)
    message = str(caught.value)
    assert "25 bad rows" in message
    assert "row 2: not JSON" in message
    assert "row 11: not JSON" in message
    assert "row 12:" not in message
    assert "... and 15 more" in message


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"[1, 2]", "an object"),
        (b'{"a": NaN}', "NaN is not JSON"),
        (b'{"a": 1, "a": 2}', "the key 'a' stands twice"),
        (b"[", "name a JSON list .json"),
    ],
)
def test_lines_that_are_no_objects_are_named(tmp_path: Path, line: bytes, message: str) -> None:
    with pytest.raises(BankError, match=rf"row 1: .*{message}"):
        rows(written(tmp_path, "q.jsonl", line))


def test_half_a_surrogate_pair_is_refused(tmp_path: Path) -> None:
    half = rows(written(tmp_path, "q.jsonl", rb'{"q": "\ud83d"}'))[0]["q"]
    with pytest.raises(ValueError, match="surrogate"):
        as_text(half)
    whole = rows(written(tmp_path, "q.jsonl", rb'{"q": "\ud83d\ude00"}'))[0]["q"]
    assert as_text(whole) == "😀"


@pytest.mark.parametrize("value", [True, ["a"], {"a": 1}])
def test_what_is_no_text_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match="neither text nor a number"):
        as_text(value)


def test_a_json_file_is_a_list_and_names_its_broken_line(tmp_path: Path) -> None:
    assert rows(written(tmp_path, "q.json", b'[{"q": 1}, {"q": null}]')) == [{"q": "1"}, {"q": None}]
    with pytest.raises(BankError, match="a list of objects is wanted"):
        rows(written(tmp_path, "q.json", b'{"q": 1}'))
    with pytest.raises(BankError, match=r"q\.json, line 2: not JSON"):
        read_json(written(tmp_path, "q.json", b"[\noops]"))


def test_parquet_keeps_words_and_missing_cells_apart(tmp_path: Path) -> None:
    path = tmp_path / "q.parquet"
    pl.DataFrame({"id": ["01", "02"], "answer": ["NA", None], "grade": [8, 9]}).write_parquet(path)
    assert [as_text(row["answer"]) for row in rows(path)] == ["NA", None]
    assert rows(path)[0] == {"id": "01", "answer": "NA", "grade": 8}
    with pytest.raises(BankError, match="not a Parquet file"):
        rows(written(tmp_path, "broken.parquet", b"no parquet"))


@pytest.mark.parametrize("name", ["q.xlsx", "q.txt", "q"])
def test_other_formats_and_missing_files_are_named(tmp_path: Path, name: str) -> None:
    with pytest.raises(BankError, match=r"formats \.csv"):
        rows(written(tmp_path, name, b"x"))
    with pytest.raises(BankError, match="no such file"):
        rows(tmp_path / "absent.csv")


def test_a_cell_longer_than_the_csv_module_allows_is_read(tmp_path: Path) -> None:
    long = "word " * 60_000
    assert rows(written(tmp_path, "q.csv", f'id,text\n1,"{long}"\n'.encode())) == [{"id": "1", "text": long}]


CELLS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=20)


@given(st.lists(st.tuples(CELLS, CELLS), min_size=1, max_size=5), st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]))
def test_any_table_that_is_written_reads_back(cells: list[tuple[str, str]], encoding: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "q.csv"
        with path.open("w", encoding=encoding, newline="") as file:
            csv.writer(file, quoting=csv.QUOTE_ALL).writerows([("a", "b"), *cells])
        breaks = [[cell.replace("\r\n", "\n").replace("\r", "\n") for cell in pair] for pair in cells]
        assert [list(row.values()) for row in rows(path)] == breaks
