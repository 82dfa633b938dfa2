"""Stimuli: what a file may hold, and what is said of one that does not."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from edufair.design.banks.stimuli import SAMPLE, StimulusItems, read_stimuli
from edufair.errors import BankError

GOOD: dict[str, Any] = {
    "id": "s1",
    "cluster": "c1",
    "question": "What is 2 + 2?",
    "dialogue": [{"role": "tutor", "text": "What is 2 + 2?"}, {"role": "student", "text": "5?"}],
    "high": "How did you get there?",
    "low": "It is 4.",
}


def write(folder: Path, *rows: dict[str, Any]) -> Path:
    path = folder / "stimuli.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    return path


def complaint(folder: Path, *rows: dict[str, Any]) -> str:
    with pytest.raises(BankError) as caught:
        list(StimulusItems(write(folder, *rows)))
    return str(caught.value)


def test_a_stimulus_becomes_an_item_with_all_it_needs(tmp_path: Path) -> None:
    row = GOOD | {"stratum": "weak", "evidence_strength": "Moderate", "subset": "corpus"}
    (item,) = StimulusItems(write(tmp_path, row))
    assert (item.id, item.domain, item.text) == ("s1", "weak", "What is 2 + 2?")
    assert item.data == {
        "cluster": "c1",
        "dialogue": GOOD["dialogue"],
        "high": "How did you get there?",
        "low": "It is 4.",
        "evidence_strength": 1,
        "subset": "corpus",
    }


def test_what_is_optional_may_be_left_out(tmp_path: Path) -> None:
    (item,) = StimulusItems(write(tmp_path, GOOD))
    assert (item.domain, item.data["evidence_strength"], item.data["subset"]) == ("all", None, "")


@pytest.mark.parametrize(("given", "code"), [(0, 0), ("1", 1), (2, 2), ("ambiguous", 0), ("strong", 2)])
def test_evidence_is_a_number_or_a_word(tmp_path: Path, given: Any, code: int) -> None:
    (item,) = StimulusItems(write(tmp_path, GOOD | {"evidence_strength": given}))
    assert item.data["evidence_strength"] == code


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"cluster": ""}, "cluster is empty"),
        ({"cluster": ["c"]}, "cluster: .* is neither text nor a number"),
        ({"high": "It is 4. "}, "high and low are the same reply"),
        ({"low": "  "}, "low is empty"),
        ({"strata": "weak"}, "unknown key 'strata'; known: id, cluster"),
        ({"evidence_strength": 3}, "evidence_strength is '3'; it must be one of"),
        ({"dialogue": "5?"}, "dialogue: a list of turns is wanted"),
        ({"dialogue": []}, "dialogue: a list of turns is wanted"),
        ({"dialogue": GOOD["dialogue"][:1]}, "dialogue ends in a tutor turn"),
        ({"dialogue": [{"role": "student"}]}, "dialogue, turn 1: an object with the keys role and text"),
        (
            {"dialogue": [{"role": "user", "text": "5"}]},
            "dialogue, turn 1: role is 'user'; it must be tutor or student",
        ),
        ({"dialogue": [{"role": "student", "text": " "}]}, "dialogue, turn 1: the text is empty"),
        ({"dialogue": [{"role": "student", "text": True}]}, "dialogue, turn 1: .* is neither text nor a number"),
    ],
)
def test_a_bad_row_is_named_with_its_file_and_number(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    said = complaint(tmp_path, GOOD | {"evidence_strength": 1}, GOOD | {"id": "s2", "evidence_strength": 1} | change)
    assert said.startswith(f"{tmp_path / 'stimuli.jsonl'}: 1 bad row")
    assert re.search(rf"row 2: {message}", said)


def test_a_missing_key_is_named(tmp_path: Path) -> None:
    assert "row 1: high is missing" in complaint(tmp_path, {k: v for k, v in GOOD.items() if k != "high"})


@pytest.mark.parametrize("key", ["stratum", "evidence_strength"])
def test_what_groups_or_grades_stands_in_every_row_or_in_none(tmp_path: Path, key: str) -> None:
    graded = GOOD | {"id": "s2", key: "strong"}
    assert f"row 2: {key} stands in this row and not in row 1" in complaint(tmp_path, GOOD, graded)
    assert f"row 2: {key} stands in row 1 and not in this row" in complaint(tmp_path, graded, GOOD)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"id": "S1"}, "differ only by type, spaces, case"),
        ({"id": "s2", "cluster": "C1"}, "the cluster 'C1' is spelled 'c1'"),
        ({"id": "s2", "stratum": "Weak"}, "the stratum 'Weak' is spelled 'weak'"),
        ({"id": "s2", "subset": "Corpus"}, "the subset 'Corpus' is spelled 'corpus'"),
    ],
)
def test_names_that_a_join_could_confuse_are_caught(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    first = GOOD | {"stratum": "weak", "subset": "corpus"}
    assert message in complaint(tmp_path, first, first | change)


def test_texts_are_kept_as_they_are_braces_and_latex_too(tmp_path: Path) -> None:
    odd = GOOD | {"high": "{FENCE} $\\frac{1}{2}$\u2028", "low": "NA"}
    (item,) = StimulusItems(write(tmp_path, odd))
    assert (item.data["high"], item.data["low"]) == (odd["high"], "NA")


def test_no_file_and_an_empty_file_say_so(tmp_path: Path) -> None:
    with pytest.raises(BankError, match="no such file of stimuli"):
        read_stimuli(str(tmp_path / "none.jsonl"))
    (tmp_path / "empty.jsonl").write_text("\n")
    with pytest.raises(BankError, match="holds no stimuli"):
        list(read_stimuli(str(tmp_path / "empty.jsonl")))


# --- the sample ------------------------------------------------------------------------------------------------------

STIMULI = {item.id: item for item in read_stimuli("sample")}


def test_the_sample_has_both_strata_in_each_of_eight_clusters() -> None:
    assert SAMPLE.is_file() and len(STIMULI) == 16
    clusters = {item.data["cluster"] for item in STIMULI.values()}
    assert len(clusters) == 8
    assert {(i.data["cluster"], i.domain) for i in STIMULI.values()} == {
        (c, s) for c in clusters for s in ("weak", "strong")
    }
    assert {i.data["evidence_strength"] for i in STIMULI.values()} == {0, 1, 2}


@pytest.mark.parametrize("item", STIMULI.values(), ids=lambda item: item.id)
def test_the_two_replies_are_alike_in_length_and_begin_alike(item: Any) -> None:
    high, low = item.data["high"].split(), item.data["low"].split()
    assert 0.8 <= len(high) / len(low) <= 1.25
    assert item.data["dialogue"][-1]["role"] == "student"


@pytest.mark.parametrize(
    ("cluster", "result"),
    [  # worked out by hand: 80 x 0.85; 5x - 7 = 2x + 8; 21/28 > 20/28; 4w + 8 = 32; 150 / 2.5; 3/8 x 2/7 = 6/56
        ("percent", "68"),
        ("equation", "x = 5"),
        ("fractions", "3/4"),
        ("rectangle", "w = 6"),
        ("speed", "60"),
        ("balls", "6/56"),
    ],
)
def test_the_low_reply_states_the_result_and_the_high_one_asks(cluster: str, result: str) -> None:
    for stratum in ("weak", "strong"):
        data = STIMULI[f"{cluster}-{stratum}"].data
        assert result in data["low"] and "?" not in data["low"]
        assert result not in data["high"]
        assert "?" in data["high"] or "tell me why" in data["high"] or "Try to say" in data["high"]
