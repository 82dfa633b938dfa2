"""MRBench's file: rows by place, conversations cut into turns, people's words read as labels."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from edufair.design.banks.mrbench import CORRESPONDENCES, SOME, read_mrbench
from edufair.errors import BankError

REAL = Path(__file__).parents[2] / "../shared/data/mrbench/MRBench_V2.json"
real = pytest.mark.skipif(not REAL.is_file(), reason=f"{REAL} is not here")

WORDS = {
    "Mistake_Identification": "Yes",
    "Mistake_Location": "No",
    "Revealing_of_the_Answer": "Yes (but the answer is incorrect)",
    "Providing_Guidance": "To some extent",
    "Actionability": "No",
    "Tutor_Tone": "Neutral",
}
HISTORY = (
    "Tutor: Hi, please solve this. The question is: A box holds 3 pens. How many do 4 boxes hold?\xa0\n\xa0"
    "Student: 4 + 3 = 7.\nSo the Student: total is 7.\xa0\n\xa07\xa0\n\xa0Tutor: Hm.\n\xa0Tutor: Why plus?"
)


def row(**changes: Any) -> dict[str, Any]:
    whole = {
        "conversation_id": "12",
        "conversation_history": HISTORY,
        "Data": "MathDial",
        "Topic": "Not Available",
        "Ground_Truth_Solution": "Four times three.\n 12",
        "anno_llm_responses": {"GPT4": {"response": " Think of groups. ", "annotation": WORDS}},
    }
    return {**whole, **changes}


def written(folder: Path, *rows: Any) -> Path:
    path = folder / "mrbench.json"
    path.write_text(json.dumps(rows), encoding="utf-8")
    return path


def test_a_conversation_is_cut_where_a_line_says_who_speaks(tmp_path: Path) -> None:
    [turn] = read_mrbench(written(tmp_path, row()))
    assert [(t.number, t.role) for t in turn.turns] == [
        (1, "tutor"), (2, "student"), (3, "tutor"), (4, "tutor"), (5, "tutor"),
    ]  # fmt: skip
    assert turn.turns[1].text == "4 + 3 = 7.\nSo the Student: total is 7.\xa0\n\xa07"
    assert [t.text for t in turn.turns[2:]] == ["Hm.", "Why plus?", "Think of groups."]
    assert turn.item.text == "A box holds 3 pens. How many do 4 boxes hold?"
    assert turn.item.data["answer"] == "12"


def test_a_question_that_is_not_on_record_is_said_to_be_none(tmp_path: Path) -> None:
    bridge = row(
        conversation_history="Student: it cant",
        Data="Bridge",
        Topic="4.9A.Units",
        Ground_Truth_Solution="Not Available",
    )
    [turn] = read_mrbench(written(tmp_path, bridge))
    assert turn.item.text == "(The question is not on record. Topic: 4.9A.Units)"
    assert turn.item.data["answer"] is None and turn.item.data["support"] == ""


def test_rows_with_one_id_stay_apart(tmp_path: Path) -> None:
    turns = read_mrbench(written(tmp_path, row(), row()))
    assert [t.key for t in turns] == ["0001 GPT4", "0002 GPT4"]
    assert {t.conversation for t in turns} == {"12"}
    assert len({t.item.id for t in turns}) == 2


@pytest.mark.parametrize(
    ("metric", "word", "one", "zero"),
    [
        ("mistake_recognize", "Yes", 1, 1),
        ("mistake_recognize", SOME, 1, 0),
        ("mistake_recognize", "No", 0, 0),
        ("answer_leakage", "Yes (and the answer is correct)", 1, 1),
        ("answer_leakage", "Yes (but the answer is incorrect)", 1, 1),
        ("answer_leakage", "No", 0, 0),
        ("answer_leakage", SOME, None, None),
        ("step_scaffolded", SOME, 1, 0),
        ("actionability", SOME, 1, 0),
        ("corrective_tone", "Encouraging", 1, 1),
        ("corrective_tone", "Neutral", 0, 0),
        ("corrective_tone", "Offensive", 0, 0),
    ],
)
def test_words_are_read_both_ways(metric: str, word: str, one: int | None, zero: int | None) -> None:
    found = next(each for each in CORRESPONDENCES if each.metric == metric)
    assert (found.read(word, some=1), found.read(word, some=0)) == (one, zero)


def test_only_tone_is_another_construct() -> None:
    assert [each.metric for each in CORRESPONDENCES if not each.same] == ["corrective_tone"]


@pytest.mark.parametrize(
    ("bad", "says"),
    [
        (row(conversation_history=""), "row 2: conversation_history is missing or empty"),
        (row(conversation_history="Hello."), "row 2: conversation_history does not begin with"),
        (row(anno_llm_responses={}), "row 2: anno_llm_responses holds no tutor's turn"),
        (
            row(anno_llm_responses={"Phi3": {"response": "", "annotation": WORDS}}),
            "row 2: Phi3: response is missing or empty",
        ),
        (
            row(anno_llm_responses={"Phi3": {"response": "x", "annotation": {**WORDS, "Actionability": "Maybe"}}}),
            "row 2: Phi3: Actionability is 'Maybe'; known are: Yes, To some extent, No",
        ),
        (
            row(anno_llm_responses={"Phi3": {"response": "x", "annotation": {"Actionability": "No"}}}),
            "row 2: Phi3: Mistake_Identification is None",
        ),
    ],
)
def test_a_bad_row_is_named(tmp_path: Path, bad: dict[str, Any], says: str) -> None:
    with pytest.raises(BankError, match="1 bad row") as raised:
        read_mrbench(written(tmp_path, row(), bad))
    assert says in str(raised.value)


def test_another_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "labels.csv").write_text("a,b\n1,2\n")
    with pytest.raises(BankError, match="JSON list"):
        read_mrbench(tmp_path / "labels.csv")
    with pytest.raises(BankError, match="no labelled turn"):
        read_mrbench(written(tmp_path))


@real
def test_the_released_file_is_read_whole() -> None:
    # Counted in the file itself: 200 rows, 195 conversation ids, 8 tutors everywhere and a novice in the 55 of Bridge.
    turns = read_mrbench(REAL)
    assert len(turns) == 200 * 8 + 55 == 1655
    assert len({t.row for t in turns}) == 200 and len({t.conversation for t in turns}) == 195
    assert Counter(t.tutor for t in turns)["Novice"] == 55
    assert Counter(t.item.data["collection"] for t in turns if t.tutor == "Expert") == {"MathDial": 145, "Bridge": 55}
    assert all(t.turns[-1].role == "tutor" and all(turn.text for turn in t.turns) for t in turns)
    known = [t for t in turns if t.item.data["collection"] == "MathDial"]
    assert all(t.item.data["answer"].strip("-$%").replace(",", "").replace(".", "").isdigit() for t in known)
    assert not any(t.item.text.startswith("(The question") for t in known)


@real
def test_the_released_labels_are_counted() -> None:
    turns = read_mrbench(REAL)
    counted = {one.metric: Counter(t.labels[one.dimension] for t in turns) for one in CORRESPONDENCES}
    assert counted["mistake_recognize"] == {"Yes": 1326, SOME: 96, "No": 233}
    assert counted["answer_leakage"] == {
        "No": 1389, "Yes (and the answer is correct)": 237, "Yes (but the answer is incorrect)": 29,
    }  # fmt: skip
    assert counted["step_scaffolded"] == {"Yes": 960, SOME: 391, "No": 304}
    assert counted["actionability"] == {"Yes": 916, SOME: 198, "No": 541}
    assert counted["corrective_tone"] == {"Neutral": 1126, "Encouraging": 528, "Offensive": 1}
