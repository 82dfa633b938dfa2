"""Rows with questions and answers as items; our own format; ids and domains that must stay apart."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest

from edufair.design.banks import Columns, build, read_bank, write_bank
from edufair.design.banks.names import folded
from edufair.design.banks.table import TableItems
from edufair.errors import BankError
from edufair.records import Item


def jsonl(tmp_path: Path, *rows: dict[str, object], name: str = "bank.jsonl") -> Path:
    path = tmp_path / name
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def row(id: object, **others: object) -> dict[str, object]:
    return {"id": id, "domain": "physics", "question": "q?", "answer": "a", "grade": 8, **others}


def items(path: Path, **options: object) -> list[Item]:
    return list(TableItems(path, **options))  # type: ignore[arg-type]


def test_a_csv_with_its_own_headings_becomes_items(tmp_path: Path) -> None:
    (tmp_path / "q.csv").write_text('No,Prompt,Key,Notes\n007,"What is 3 + 4?",7,easy\n', encoding="utf-8")
    columns = Columns(id="No", question="Prompt", answer="Key")
    bank = read_bank("q.csv", base=tmp_path, columns=columns, domain="mathematics", grade=9)
    data = {"answer": "7", "accepted": [], "support": "", "grade": 9}
    assert list(bank) == [Item("007", "mathematics", "What is 3 + 4?", data)]


def test_a_file_is_read_anew_each_time_its_items_are_gone_through(tmp_path: Path) -> None:
    bank = read_bank(str(jsonl(tmp_path, row("1"), row("2"))), base=Path("/elsewhere"))
    assert [item.id for item in bank] == [item.id for item in bank] == ["1", "2"]


def test_braces_latex_and_template_marks_stay_as_they_are(tmp_path: Path) -> None:
    texts = [
        r"Solve $\frac{1}{2}x = \alpha$",
        "{question} {{x}} {% if %} {0}",
        "%s %(answer)s ${HOME} $x",
        r"\n \u00e9",
    ]
    path = jsonl(tmp_path, *(row(str(i), question=text, answer=text) for i, text in enumerate(texts)))
    assert [(item.text, item.data["answer"]) for item in items(path)] == [(text, text) for text in texts]
    table = tmp_path / "q.csv"
    pl.DataFrame({"id": ["1"], "question": [texts[0]], "answer": ["{a}"]}).write_csv(table)
    assert items(table, domain="x", grade=8)[0].text == texts[0]


@pytest.mark.parametrize("word", ["None", "NA", "null", "nan"])
def test_answers_that_look_like_missing_values_are_answers(tmp_path: Path, word: str) -> None:
    assert items(jsonl(tmp_path, row("1", answer=word)))[0].data["answer"] == word


def test_numbers_are_taken_as_written(tmp_path: Path) -> None:
    path = tmp_path / "bank.jsonl"
    path.write_text('{"id": 12, "domain": "m", "question": "q", "answer": 1.50, "grade": "9"}\n', encoding="utf-8")
    assert [(item.id, item.data["answer"], item.data["grade"]) for item in items(path)] == [("12", "1.50", 9)]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("a1", "A1"),
        ("a1", "a1 "),
        ("q 1", "q1"),
        ("q\u00a01", "q 1"),
        ("caf\u00e9", "cafe\u0301"),
        ("①", "1"),
        ("x\u200b1", "x1"),
        ("straße", "STRASSE"),
    ],
)
def test_ids_that_differ_only_in_form_are_refused_by_name(tmp_path: Path, first: str, second: str) -> None:
    with pytest.raises(BankError, match=r"row 2: the ids .*row 1.* differ only by type, spaces, case or Unicode") as e:
        items(jsonl(tmp_path, row(first), row(second)))
    assert repr(second) in str(e.value)


@pytest.mark.parametrize(("first", "second"), [(7, "7"), ("7", 7), ("x", "x")])
def test_the_same_id_twice_is_refused_whatever_its_type(tmp_path: Path, first: object, second: object) -> None:
    with pytest.raises(BankError, match=r"row 2: the id '.' stands in row 1 already"):
        items(jsonl(tmp_path, row(first), row(second)))


def test_a_whole_number_and_the_same_as_a_float_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BankError, match=r"'7\.0' and '7'"):
        items(jsonl(tmp_path, row(7), row(7.0)))


def test_ids_keep_their_zeros_and_zeros_tell_them_apart(tmp_path: Path) -> None:
    ids = ["1", "01", "001", "1.10", "1.1"]
    assert [item.id for item in items(jsonl(tmp_path, *map(row, ids)))] == ids


def test_folding_twice_changes_nothing() -> None:
    for name in ("A b", "①.0", "ﬀ", "\u0130x", "ſ\u0307", "7.00"):
        assert folded(folded(name)) == folded(name)


def test_a_domain_in_two_spellings_is_refused(tmp_path: Path) -> None:
    path = jsonl(tmp_path, row("1", domain="physics"), row("2", domain="Physics"))
    with pytest.raises(BankError, match="row 2: the domain 'Physics' is spelled 'physics'"):
        items(path)


def test_without_ids_an_item_is_named_by_its_content(tmp_path: Path) -> None:
    plain = {"question": "q1", "answer": "a", "domain": "d", "grade": 8}
    other = {**plain, "question": "q2"}
    one, two = items(jsonl(tmp_path, plain, other))
    assert [item.id for item in items(jsonl(tmp_path, other, plain))] == [two.id, one.id]
    with pytest.raises(BankError, match="stands in row 1 already"):
        items(jsonl(tmp_path, plain, plain))


@pytest.mark.parametrize(
    ("lacking", "message"),
    [
        ("question", r"no column 'question'; it has 'id', 'domain', 'answer', 'grade'.*question=Prompt"),
        ("answer", "no column 'answer'"),
        ("domain", r"no column 'domain'.*items\.domain in audit\.toml, --domain"),
        ("grade", r"no column 'grade'.*items\.grade in audit\.toml, --grade"),
    ],
)
def test_a_missing_column_is_named_with_what_to_give(tmp_path: Path, lacking: str, message: str) -> None:
    entry = row("1")
    del entry[lacking]
    with pytest.raises(BankError, match=message):
        items(jsonl(tmp_path, entry))


def test_a_renamed_column_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(BankError, match="no column 'why'"):
        items(jsonl(tmp_path, row("1")), columns=Columns(support="why"))


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        ({"question": ""}, "question is empty"),
        ({"answer": None}, "answer is empty"),
        ({"answer": True}, "answer: true is neither text nor a number"),
        ({"question": ["a"]}, r"question: \[.*neither"),
        ({"domain": " "}, "domain is empty"),
        ({"grade": "nine"}, "grade is 'nine'; a whole number"),
        ({"grade": 8.5}, r"grade is '8\.5'"),
        ({"grade": -1}, "grade is '-1'"),
        ({"grade": "९"}, "grade is '९'"),
        ({"id": ""}, "id is empty"),
        ({"accepted": "1/2"}, "accepted: a list of texts"),
        ({"accepted": [["a"]]}, "accepted: a list of texts"),
        ({"question": "\ud83d"}, "question: half of a surrogate"),
    ],
)
def test_a_bad_cell_is_named_by_file_row_and_column(tmp_path: Path, cells: dict[str, object], message: str) -> None:
    path = jsonl(tmp_path, row("1"), {**row("2"), **cells}, row("3"))
    with pytest.raises(BankError, match=rf"bank\.jsonl: 1 bad row; mend or delete them:\n  row 2: {message}"):
        items(path)


def test_no_item_is_given_after_the_first_bad_row(tmp_path: Path) -> None:
    walked = iter(TableItems(jsonl(tmp_path, row("1"), row(""), row("3"))))
    assert next(walked).id == "1"
    with pytest.raises(BankError):
        next(walked)


def test_a_given_domain_and_grade_fill_only_what_is_empty(tmp_path: Path) -> None:
    path = jsonl(tmp_path, row("1", domain="", grade=None), row("2", domain="optics", grade=10))
    assert [(i.domain, i.data["grade"]) for i in items(path, domain="physics", grade=8)] == [
        ("physics", 8),
        ("optics", 10),
    ]


def test_accepted_answers_are_a_list_also_in_a_cell(tmp_path: Path) -> None:
    path = tmp_path / "q.csv"
    path.write_text('question,answer,accepted\nq,1/2,"[""0.5"", 0.50]"\nr,2,\n', encoding="utf-8")
    assert [item.data["accepted"] for item in items(path, domain="d", grade=8)] == [["0.5", "0.50"], []]


def test_empty_files_hold_no_items(tmp_path: Path) -> None:
    for name, content in (("a.csv", ""), ("b.csv", "id,question\n"), ("c.jsonl", "\n"), ("d.json", "[]")):
        (tmp_path / name).write_text(content, encoding="utf-8")
        with pytest.raises(BankError, match="holds no items"):
            items(tmp_path / name)


def test_a_bank_written_and_read_again_is_the_same(tmp_path: Path) -> None:
    before = items(
        jsonl(
            tmp_path,
            row("01", question="a\r\nb\u2028{x} é", accepted=["α"], support="s"),
            row("2", answer="NA"),
        )
    )
    path = tmp_path / "again.jsonl"
    assert write_bank(before, path) == 2
    assert items(path) == before
    assert path.read_bytes().count(b"\n") == 2


def test_a_bank_that_cannot_be_finished_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    path.write_text("old", encoding="utf-8")
    with pytest.raises(BankError):
        write_bank(TableItems(jsonl(tmp_path, row("1"), row(""))), path)
    assert path.read_text(encoding="utf-8") == "old"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["bank.jsonl", "out.jsonl"]
    with pytest.raises(BankError, match="cannot be written"):
        write_bank([], tmp_path / "nowhere" / "out.jsonl")


def test_a_bank_can_be_rewritten_onto_its_own_file(tmp_path: Path) -> None:
    path = jsonl(tmp_path, row("1"), row("2"))
    assert write_bank(TableItems(path), path) == 2
    assert [item.id for item in items(path)] == ["1", "2"]


def test_a_long_file_is_read_in_little_memory(tmp_path: Path) -> None:
    path = tmp_path / "long.jsonl"
    filler = "word " * 400

    def many() -> Iterator[Item]:
        for i in range(10_000):
            yield Item(f"item-{i}", "d", filler, {"answer": "a", "accepted": [], "support": "", "grade": 8})

    write_bank(many(), path)
    tracemalloc.start()
    assert sum(1 for _ in TableItems(path)) == 10_000
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert path.stat().st_size > 20_000_000
    assert peak < 6_000_000  # the reading block and the ids; the texts alone are 20 MB


def test_references_that_lead_nowhere_say_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(BankError, match=r"edufair bank build sciq PATH -o bank\.jsonl"):
        read_bank("sciq", base=tmp_path)
    with pytest.raises(BankError, match=r"absent\.csv: there is no such bank"):
        read_bank("absent.csv", base=tmp_path)


def test_columns_are_parsed_from_pairs() -> None:
    assert Columns.parse(["question=Prompt", "answer=a=b"]) == Columns(question="Prompt", answer="a=b")
    for wrong in ("prompt=x", "question", "question="):
        with pytest.raises(BankError, match="PART=COLUMN"):
            Columns.parse([wrong])


def test_build_refuses_sources_and_options_that_do_not_exist(tmp_path: Path) -> None:
    with pytest.raises(BankError, match="no source 'scq'; the sources are sample, socrateach, sciq, mathdial, table"):
        build("scq")
    with pytest.raises(BankError, match="the source mathdial takes no domain"):
        build("mathdial", tmp_path, domain="mathematics")
    with pytest.raises(BankError, match="no filters 'some'; give one of paper, none"):
        build("mathdial", tmp_path, filters="some")  # type: ignore[arg-type]
    with pytest.raises(BankError, match="needs the path"):
        build("table")
    assert [item.id for item in build("table", jsonl(tmp_path, row("1"))).items] == ["1"]
