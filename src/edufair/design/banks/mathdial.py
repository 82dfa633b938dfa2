"""MathDial (Macina et al. 2023): word problems with human tutoring dialogues, read from the user's copy.

The paper's four filters were written for SocraTeach, whose replies are annotated one by one. MathDial
annotates the tutor's moves and how the dialogue ended, so here they read:

- four exchanges: the same;
- two student errors: two student turns that the tutor met with `focus` or `telling` (guiding back to the
  task, or telling the step), as one does with a reply that is not right yet. A stand-in, and named as one
  in the report;
- right after the last error: `self-correctness` says that the problem was solved in the end;
- no disclosure: `self-correctness` does not say that the answer had to be revealed, and no tutor turn holds
  the answer before a student turn does.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from edufair.design.banks.bank import Bank, Filters, FilterStep, make_item
from edufair.design.banks.dialogues import (
    Dialogue,
    DialogueFilter,
    Exchange,
    Reference,
    ReplyKind,
    at_least_four_exchanges,
    at_least_two_errors,
    correct_after_last_error,
    no_disclosure,
    sieve,
)
from edufair.design.banks.names import Ids
from edufair.design.banks.reading import Faults, as_text, read_rows
from edufair.errors import BankError
from edufair.records import Item

_TURN = re.compile(r"(?P<speaker>[^:]+): ?(?:\((?P<move>generic|focus|probing|telling)\))?(?P<text>.*)", re.DOTALL)
_GRADE = re.compile(r"(\d+)(?:st|nd|rd|th) grade")
_CORRECTING = ("focus", "telling")
_SOLVED = "Yes"
_REVEALED = "Yes, but I had to reveal the answer"

FILTERS = (
    DialogueFilter("at least four exchanges", at_least_four_exchanges),
    DialogueFilter("at least two replies met with focus or telling (for student errors)", at_least_two_errors),
    DialogueFilter("solved in the end (self-correctness)", correct_after_last_error),
    DialogueFilter("the tutor does not disclose the answer", no_disclosure),
)


def build_mathdial(path: Path, *, filters: Filters = "paper", grade: int | None = None) -> Bank:
    """The problems of MathDial's train.jsonl or test.jsonl, one item a problem however many dialogues it has.

    The answer is the last line of `ground_truth`, the support the lines before it. Without `grade` it is
    the one that `student_profile` states. Raises BankError for bad rows, all counted and the first ten
    named.
    """
    faults, problems = Faults(path), _Problems()
    dialogues = 0
    for row in read_rows(path, faults):
        dialogues += 1
        try:
            problems.add(row.number, _item(row.values, grade), _dialogue(row.values))
        except ValueError as error:
            faults.add(row.number, str(error))
    faults.raise_any()
    if not dialogues:
        raise BankError(f"{path}: holds no items")
    references = problems.references
    items, steps = sieve(references, FILTERS if filters == "paper" else ())
    report = (FilterStep("problems in the file", len(references), 0), *steps)
    return Bank("mathdial", items, report, (f"{dialogues} dialogues about {len(references)} problems",))


@dataclass(slots=True)
class _Problems:
    """The problems met so far; a problem's later rows add their dialogue."""

    by_id: dict[str, Reference] = field(default_factory=dict)
    ids: Ids = field(default_factory=Ids)

    @property
    def references(self) -> tuple[Reference, ...]:
        return tuple(self.by_id.values())

    def add(self, row: int, item: Item, dialogue: Dialogue) -> None:
        known = self.by_id.get(item.id)
        if known is None:
            if clash := self.ids.clash(item.id, row):
                raise ValueError(clash)
            self.by_id[item.id] = Reference(item, (dialogue,))
        elif known.item != item:
            raise ValueError(f"the problem {item.id!r} differs from an earlier row of the same qid")
        else:
            self.by_id[item.id] = replace(known, dialogues=(*known.dialogues, dialogue))


def _item(values: Mapping[str, Any], grade: int | None) -> Item:
    lines = _text(values, "ground_truth").rstrip().split("\n")
    return make_item(
        f"mathdial-{_text(values, 'qid')}",
        "mathematics",
        _text(values, "question"),
        lines[-1].strip(),
        support="\n".join(lines[:-1]).strip(),
        grade=_grade(values) if grade is None else grade,
    )


def _text(values: Mapping[str, Any], key: str) -> str:
    text = as_text(values.get(key))
    if text is None:
        raise ValueError(f"{key} is empty; is this a file of MathDial?")
    return text


def _grade(values: Mapping[str, Any]) -> int:
    stated = _GRADE.search(_text(values, "student_profile"))
    if stated is None:
        raise ValueError("student_profile states no grade; give one (--grade)")
    return int(stated[1])


def _dialogue(values: Mapping[str, Any]) -> Dialogue:
    turns = [_turn(part) for part in _text(values, "conversation").split("|EOM|")]
    exchanges: list[Exchange] = []
    for place, (speaker, _, text) in enumerate(turns):
        if speaker == "Teacher":
            exchanges.append(Exchange(text))
        elif exchanges and exchanges[-1].student is None:
            met_with = turns[place + 1][1] if place + 1 < len(turns) else None
            kind: ReplyKind = "error" if met_with in _CORRECTING else "other"
            exchanges[-1] = replace(exchanges[-1], student=text, kind=kind)
        else:
            raise ValueError(f"conversation: turn {place + 1} is a student's without a tutor's turn before it")
    outcome = as_text(values.get("self-correctness"))
    if outcome in (_SOLVED, _REVEALED):
        exchanges = _solved(exchanges)
    return Dialogue(tuple(exchanges), revealed=outcome == _REVEALED)


def _solved(exchanges: list[Exchange]) -> list[Exchange]:
    """The exchanges with the student's last reply marked as correct."""
    last = max((i for i, e in enumerate(exchanges) if e.student is not None), default=None)
    return [replace(e, kind="correct") if i == last else e for i, e in enumerate(exchanges)]


def _turn(part: str) -> tuple[str, str | None, str]:
    parsed = _TURN.fullmatch(part)
    if parsed is None:
        raise ValueError(f"conversation: a turn without a speaker: {part[:40]!r}")
    return parsed["speaker"].strip(), parsed["move"], parsed["text"].strip()
