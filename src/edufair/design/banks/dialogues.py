"""The paper's four filters on reference dialogues (section 3.1.2): which questions make good tutoring.

A question stays while at least one of its dialogues passes every filter so far.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from edufair.design.banks.bank import FilterStep
from edufair.errors import BankError
from edufair.records import Item
from edufair.text.answers import AnswerMatcher

ReplyKind = Literal["error", "correct", "other"]


@dataclass(frozen=True, slots=True)
class Exchange:
    """What the tutor said and, but for the last turn of a finished dialogue, what the student answered."""

    tutor: str
    student: str | None = None
    kind: ReplyKind = "other"


@dataclass(frozen=True, slots=True)
class Dialogue:
    """One reference dialogue. `revealed`: the source itself says that the tutor gave the answer away."""

    exchanges: tuple[Exchange, ...]
    revealed: bool = False


@dataclass(frozen=True, slots=True)
class Reference:
    """An item with the dialogues its source holds about it."""

    item: Item
    dialogues: tuple[Dialogue, ...]


@dataclass(frozen=True, slots=True)
class DialogueFilter:
    name: str
    passes: Callable[[Dialogue, AnswerMatcher], bool]


def at_least_four_exchanges(dialogue: Dialogue, answer: AnswerMatcher) -> bool:
    return sum(exchange.student is not None for exchange in dialogue.exchanges) >= 4


def at_least_two_errors(dialogue: Dialogue, answer: AnswerMatcher) -> bool:
    return _kinds(dialogue).count("error") >= 2


def correct_after_last_error(dialogue: Dialogue, answer: AnswerMatcher) -> bool:
    kinds = _kinds(dialogue)
    after = len(kinds) - kinds[::-1].index("error") if "error" in kinds else 0
    return "correct" in kinds[after:]


def no_disclosure(dialogue: Dialogue, answer: AnswerMatcher) -> bool:
    """The tutor does not say the answer before the student has said it."""
    if dialogue.revealed:
        return False
    for exchange in dialogue.exchanges:
        if answer.holds(exchange.tutor):
            return False
        if exchange.student is not None and answer.holds(exchange.student):
            return True
    return True


PAPER = (
    DialogueFilter("at least four exchanges", at_least_four_exchanges),
    DialogueFilter("at least two student errors", at_least_two_errors),
    DialogueFilter("a correct or partly correct reply after the last error", correct_after_last_error),
    DialogueFilter("the tutor does not disclose the answer", no_disclosure),
)


def sieve(
    references: Sequence[Reference], filters: Sequence[DialogueFilter]
) -> tuple[tuple[Item, ...], tuple[FilterStep, ...]]:
    """The items with a dialogue that passes every filter, and what each filter removed.

    Raises BankError for an answer that cannot be looked for in a text, MissingExtra for algebra without math-verify.
    """
    left = list(references)
    answers = {reference.item.id: _matcher(reference.item) for reference in references} if filters else {}
    steps = []
    for rule in filters:
        passed = [_passing(reference, rule, answers[reference.item.id]) for reference in left]
        kept = [reference for reference in passed if reference.dialogues]
        steps.append(FilterStep(rule.name, len(kept), len(left) - len(kept)))
        left = kept
    return tuple(reference.item for reference in left), tuple(steps)


def _matcher(item: Item) -> AnswerMatcher:
    try:
        return AnswerMatcher(item.data["answer"])
    except ValueError as error:
        raise BankError(f"item {item.id!r}: {error}; mend the answer, or build without filters") from None


def _passing(reference: Reference, rule: DialogueFilter, answer: AnswerMatcher) -> Reference:
    return Reference(reference.item, tuple(d for d in reference.dialogues if rule.passes(d, answer)))


def _kinds(dialogue: Dialogue) -> list[ReplyKind]:
    return [exchange.kind for exchange in dialogue.exchanges if exchange.student is not None]
