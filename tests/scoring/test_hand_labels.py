"""A table of labels that people gave: what is read, and what is refused with its row."""

from __future__ import annotations

from pathlib import Path

import pytest

from edufair.errors import BankError
from edufair.records import NOT_APPLICABLE
from edufair.scoring.hand_labels import LabelColumns, read_hand_labels

HEADING = "trial,turn,metric,annotator,value\n"


def written(folder: Path, text: str, *, encoding: str = "utf-8") -> Path:
    path = folder / "labels.csv"
    path.write_bytes(text.encode(encoding))
    return path


@pytest.mark.parametrize("value", ["1", "1.0", " yes ", "True"])
def test_a_one_is_written_in_several_ways(tmp_path: Path, value: str) -> None:
    [label] = read_hand_labels(written(tmp_path, f"{HEADING}t1,3,answer_leakage,ana,{value}\n")).labels
    assert (label.trial, label.turn, label.annotator, label.value, label.row) == ("t1", 3, "ana", 1, 2)


@pytest.mark.parametrize("value", ["-1", "−1", "n/a", "Not applicable"])
def test_not_applicable_is_a_label(tmp_path: Path, value: str) -> None:
    [label] = read_hand_labels(written(tmp_path, f"{HEADING}t1,3,corrective_tone,ana,{value}\n")).labels
    assert label.value == NOT_APPLICABLE


def test_an_empty_value_is_no_label_whoever_it_waits_for(tmp_path: Path) -> None:
    text = f"{HEADING}t1,3,answer_leakage,ana,0\nt1,3,actionability,,\nt1,5,actionability,ben, \n"
    found = read_hand_labels(written(tmp_path, text))
    assert len(found.labels) == 1 and found.empty == 2


def test_other_columns_marks_and_separators_are_read(tmp_path: Path) -> None:
    text = '\ufeffDialogue;No;Dim;Who;Label;Text\r\n007;3.0;student_mistake;Ána;0;"a\r\nb"\r\n'
    columns = LabelColumns.parse(["trial=Dialogue", "turn=No", "metric=Dim", "annotator=Who", "value=Label"])
    [label] = read_hand_labels(written(tmp_path, text), columns).labels
    assert (label.trial, label.turn, label.annotator) == ("007", 3, "Ána")


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ("t1,3,answer_leakage,ana,2", "row 2: value is '2'; write 1, 0, -1"),
        ("t1,3,answer_leakage,ana,NA", "row 2: value is 'NA'"),
        ("t1,3,answer_leakage,ana,-1", "row 2: answer_leakage always applies"),
        ("t1,3,leakage,ana,1", "row 2: metric is 'leakage'; known are: mistake_recognize, answer_leakage"),
        ("t1,third,answer_leakage,ana,1", "row 2: turn is 'third'"),
        (",3,answer_leakage,ana,1", "row 2: trial is empty"),
        ("t1,3,answer_leakage,,1", "row 2: annotator is empty"),
        ("t1,3,answer_leakage,ana,1\nt1,3,answer_leakage,ana,1", "row 3: ana has labelled answer_leakage of this turn"),
    ],
)
def test_a_bad_row_is_named(tmp_path: Path, row: str, says: str) -> None:
    with pytest.raises(BankError, match="bad row") as raised:
        read_hand_labels(written(tmp_path, f"{HEADING}{row}\n"))
    assert says in str(raised.value)


def test_a_missing_column_and_a_file_without_labels_are_named(tmp_path: Path) -> None:
    with pytest.raises(BankError, match="no column 'annotator', 'value'; it has 'trial', 'turn', 'metric'"):
        read_hand_labels(written(tmp_path, "trial,turn,metric\na,1,actionability\n"))
    with pytest.raises(BankError, match=r"holds no label; fill in the column 'value' \(1 rows are empty\)"):
        read_hand_labels(written(tmp_path, f"{HEADING}t1,3,actionability,ana,\n"))
    with pytest.raises(BankError, match="where PART is one of trial, turn, metric, annotator, value"):
        LabelColumns.parse(["label=x"])
