"""Precision and recall on 200 MathDial teacher turns labelled by reading them (docs/answer-matching.md).

The labels stand in tests/data/mathdial_teacher_turns.csv: the line of the dialogue in the released test file, its qid,
the number of the teacher's turn, how it was drawn and the label. The dialogues are not ours to ship.
"""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from edufair.text.answers import AnswerMatcher

ROOT = Path(__file__).parents[2]
DIALOGUES = ROOT / ".." / "shared" / "data" / "mathdial" / "test.jsonl"
LABELS = ROOT / "tests" / "data" / "mathdial_teacher_turns.csv"

pytestmark = pytest.mark.skipif(not DIALOGUES.exists(), reason="needs ../shared/data/mathdial/test.jsonl")


def dialogues() -> list[dict[str, Any]]:
    with DIALOGUES.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def turns(dialogue: dict[str, Any]) -> list[tuple[str, str]]:
    """(role, text) of each turn; the teacher's move, which opens the turn in brackets, is cut off."""
    found = []
    for turn in dialogue["conversation"].split("|EOM|"):
        who, _, text = turn.partition(":")
        teacher = who.strip() == "Teacher"
        found.append(("tutor", re.sub(r"^\(\w+\)", "", text.strip())) if teacher else ("student", text.strip()))
    return found


def answer(dialogue: dict[str, Any]) -> str:
    return str(dialogue["ground_truth"]).strip().splitlines()[-1].strip()


def predictions() -> list[tuple[str, bool, bool]]:
    """(label, revealed, affirmed) of each labelled turn."""
    bank, found = dialogues(), []
    with LABELS.open(encoding="utf-8", newline="") as rows:
        for row in csv.DictReader(rows):
            dialogue = bank[int(row["line"]) - 1]
            assert str(dialogue["qid"]) == row["qid"]
            said = turns(dialogue)
            at = [i for i, (role, _) in enumerate(said) if role == "tutor"][int(row["turn"]) - 1]
            matcher = AnswerMatcher(answer(dialogue), question=dialogue["question"])
            before = said[at - 1][1] if at else ""
            found.append((row["label"], matcher.revealed(said[at][1]), matcher.affirmed(before, said[at][1])))
    return found


def counts(truth: list[bool], predicted: list[bool]) -> tuple[int, int, int]:
    """Hits, false alarms, misses."""
    pairs = Counter(zip(truth, predicted, strict=True))
    return pairs[True, True], pairs[False, True], pairs[True, False]


@pytest.mark.parametrize(
    ("kind", "labels", "least"),
    [
        # hits, false alarms, misses, as measured when the labels were first used
        ("revealed", ("reveal", "both"), (61, 6, 5)),
        ("affirmed", ("confirm", "both"), (43, 2, 2)),
        ("either", ("reveal", "confirm", "both"), (98, 6, 5)),
    ],
)
def test_precision_and_recall_are_not_below_what_was_measured(
    kind: str, labels: tuple[str, ...], least: tuple[int, int, int]
) -> None:
    found = predictions()
    predicted = {
        "revealed": [revealed for _, revealed, _ in found],
        "affirmed": [affirmed for *_, affirmed in found],
        "either": [revealed or affirmed for _, revealed, affirmed in found],
    }[kind]
    hits, alarms, misses = counts([label in labels for label, *_ in found], predicted)
    assert hits / (hits + alarms) >= least[0] / (least[0] + least[1])
    assert hits / (hits + misses) >= least[0] / (least[0] + least[2])


def test_the_counts_of_the_whole_release() -> None:
    bank = dialogues()
    matchers = [AnswerMatcher(answer(d), question=d["question"]) for d in bank]
    pattern = [re.compile(rf"(?<![\d.]){re.escape(answer(d).replace(',', ''))}(?:\.0+)?(?!\d|\.\d)") for d in bank]
    assert sum(bool(p.search(d["question"].replace(",", ""))) for p, d in zip(pattern, bank, strict=True)) == 50
    plain_first = [
        _tutor_first(d, lambda text, p=p: bool(p.search(text.replace(",", ""))))
        for p, d in zip(pattern, bank, strict=True)
    ]
    assert sum(plain_first) == 73
    # By the rules: some of those numbers are operands or step numbers, some answers stand there as words.
    assert sum(m.holds(d["question"]) for m, d in zip(matchers, bank, strict=True)) == 50
    assert sum(_tutor_first(d, m.holds) for m, d in zip(matchers, bank, strict=True)) == 67


def _tutor_first(dialogue: dict[str, Any], holds: Callable[[str], bool]) -> bool:
    """Whether a tutor's turn holds the answer before any student's turn does."""
    return next((role == "tutor" for role, text in turns(dialogue) if holds(text)), False)
