"""MRBench's file: tutoring conversations, and several tutors' next turns that people labelled (Maurya et al. 2025).

A row is a conversation with the next turns that tutors (models and people) gave in it, each with one label on each of
eight dimensions. Rows are known by their place in the file: several share a conversation id.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from edufair.design.banks.reading import Faults, as_text, read_rows
from edufair.errors import BankError
from edufair.records import Item, Turn

#: The word between yes and no, which three of the dimensions know.
SOME = "To some extent"

_MARK = re.compile(r"(?:^|\n)[\s\xa0]*(Tutor|Student)[ \xa0]*:")
_QUESTION = "The question is:"
_ABSENT = "Not Available"


@dataclass(frozen=True, slots=True)
class Correspondence:
    """One of our metrics and the MRBench dimension that comes closest.

    `ones` and `zeros` are the words read as 1 and 0; SOME, where `graded`, is read as either. `same` says whether
    both ask about the same thing; `note` says what a reader must know of where they part.
    """

    metric: str
    dimension: str
    ones: tuple[str, ...]
    zeros: tuple[str, ...]
    graded: bool = False
    same: bool = True
    note: str = ""

    @property
    def ones_in_short(self) -> str:
        """Which words are read as 1: the one there is, or what several begin with."""
        return f"“{self.ones[0]}” = 1" if len(self.ones) == 1 else f"any “{self.ones[0].split()[0]}” = 1"

    def read(self, word: str, *, some: int) -> int | None:
        """A word as a label, SOME as `some`; None for a word that the dimension does not have."""
        if word in self.ones:
            return 1
        if word in self.zeros:
            return 0
        return some if self.graded and word == SOME else None


CORRESPONDENCES = (
    Correspondence(
        "mistake_recognize",
        "Mistake_Identification",
        ("Yes",),
        ("No",),
        graded=True,
        note="MRBench asks of every turn; the judge may find no mistake to recognise, and its label is then missing.",
    ),
    Correspondence(
        "answer_leakage",
        "Revealing_of_the_Answer",
        ("Yes (and the answer is correct)", "Yes (but the answer is incorrect)"),
        ("No",),
        note="MRBench asks about the final answer; the rubric also counts steps on the way to it.",
    ),
    Correspondence(
        "step_scaffolded",
        "Providing_Guidance",
        ("Yes",),
        ("No",),
        graded=True,
        note="MRBench also takes an explanation for guidance; the rubric wants a sub-question that is left open.",
    ),
    Correspondence("actionability", "Actionability", ("Yes",), ("No",), graded=True),
    Correspondence(
        "corrective_tone",
        "Tutor_Tone",
        ("Encouraging",),
        ("Neutral", "Offensive"),
        same=False,
        note="Not the same construct: an encouraging tone is not a softened correction.",
    ),
)


@dataclass(frozen=True, slots=True)
class PeopledTurn:
    """A tutor's turn with people's labels. `turns` is the conversation with this turn as its last.

    `row` counts the file's rows from 1; `labels` are MRBench's words by its names of the dimensions.
    """

    row: int
    tutor: str
    conversation: str
    item: Item
    turns: tuple[Turn, ...]
    labels: Mapping[str, str]

    @property
    def key(self) -> str:
        return f"{self.row:04d} {self.tutor}"


def read_mrbench(path: Path) -> list[PeopledTurn]:
    """Every labelled turn of MRBench's file, in the file's order.

    Raises BankError naming file and row (by place, from 1) where something is missing, or a label has a word that its
    dimension does not know.
    """
    if path.suffix.lower() != ".json":
        raise BankError(f"{path}: MRBench's labels are a JSON list (MRBench_V2.json)")
    faults = Faults(path)
    found: list[PeopledTurn] = []
    for row in read_rows(path, faults):
        try:
            found += _turns_of(row.number, row.values)
        except ValueError as error:
            faults.add(row.number, str(error))
    faults.raise_any()
    if not found:
        raise BankError(f"{path}: holds no labelled turn")
    return found


def _turns_of(row: int, values: Mapping[str, Any]) -> Iterator[PeopledTurn]:
    history = _text(values, "conversation_history")
    conversation, said = _text(values, "conversation_id"), _said(history)
    item = _item(row, values, said)
    answers = values.get("anno_llm_responses")
    if not isinstance(answers, dict) or not answers:
        raise ValueError("anno_llm_responses holds no tutor's turn; is this MRBench's file?")
    for tutor, given in answers.items():
        try:
            last = Turn(len(said) + 1, "tutor", _text(given, "response"))
            yield PeopledTurn(row, tutor, conversation, item, (*said, last), _labels(given))
        except ValueError as error:
            raise ValueError(f"{tutor}: {error}") from None


def _text(values: Any, key: str) -> str:
    text = as_text(values.get(key)) if isinstance(values, dict) else None
    if text is None:
        raise ValueError(f"{key} is missing or empty")
    return text.strip()


def _labels(given: Any) -> dict[str, str]:
    """The words by dimension; those we read must be there and known."""
    words = given.get("annotation")
    if not isinstance(words, dict):
        raise ValueError("annotation is missing")
    labels = {str(name): _text(words, name) for name in words}
    for one in CORRESPONDENCES:
        word = labels.get(one.dimension)
        if word is None or one.read(word, some=1) is None:
            known = ", ".join((*one.ones, *([SOME] if one.graded else []), *one.zeros))
            raise ValueError(f"{one.dimension} is {word!r}; known are: {known}")
    return labels


def _said(history: str) -> tuple[Turn, ...]:
    """The conversation's turns: each begins a line with who speaks. Two of one speaker in a row stay two."""
    marks = list(_MARK.finditer(history))
    if not marks or history[: marks[0].start()].strip():
        raise ValueError("conversation_history does not begin with 'Tutor:' or 'Student:'")
    ends = [mark.start() for mark in marks[1:]] + [len(history)]
    texts = [history[mark.end() : end].strip() for mark, end in zip(marks, ends, strict=True)]
    return tuple(Turn(n, mark[1].lower(), text) for n, (mark, text) in enumerate(zip(marks, texts, strict=True), 1))


def _item(row: int, values: Mapping[str, Any], said: tuple[Turn, ...]) -> Item:
    """The question as the judge is shown it. Where the file gives none (Bridge), the topic stands in its place."""
    solution = _text(values, "Ground_Truth_Solution")
    _, marked, question = said[0].text.partition(_QUESTION)
    topic = _text(values, "Topic")
    text = question.strip() if marked else f"(The question is not on record. Topic: {topic})"
    known = solution != _ABSENT
    data = {
        "answer": solution.splitlines()[-1].strip() if known else None,
        "support": solution if known else "",
        "collection": _text(values, "Data"),
    }
    return Item(f"mrbench-{row:04d}", "mathematics", text, data)
