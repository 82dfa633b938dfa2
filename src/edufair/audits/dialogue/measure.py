"""Measuring a dialogue: the judge's labels turn by turn, what code counts, and one number a dialogue for each metric."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence

from edufair.audits.base import Ask
from edufair.pairs import NOT_APPLICABLE
from edufair.records import Record, Score, Turn
from edufair.scoring import rubric
from edufair.scoring.conversation import conversation_metrics

#: The five turn-level metrics of Table 2 ("Ped.") and the four conversation-level ones ("Conv.").
PEDAGOGICAL: tuple[str, ...] = tuple(rubric.METRICS)
CONVERSATIONAL = ("tutor_turns", "tutor_avg_word", "tutor_question_rate", "tutor_student_word_ratio")

#: Beside mistake_recognize and corrective_tone, which condition on the student's mistakes.
CONDITIONING = ("student_mistake_rate", "applicable_turns")

ENDINGS = ("revealed", "affirmed", "restated", "max_turns")

#: A code metric that counts cue words in the transcript, where the judge could see them.
CUE_WORDS = "cue_words"

CODE = "code"


async def score(record: Record, ask: Ask) -> AsyncIterator[Score]:
    """Every score of a finished dialogue: code's first, then the judge's for each tutor turn and for the whole."""
    spoken = record.turns[1:]
    for metric, value in _counted(record, spoken).items():
        yield Score(record.trial.id, 0, metric, CODE, value, "" if value is not None else "undefined")
    if ask.has("judge"):
        async for scored in _judged(record, ask):
            yield scored


def _counted(record: Record, spoken: Sequence[Turn]) -> dict[str, float | None]:
    """What code measures: the conversation metrics, how the dialogue ended, flags, cue words."""
    ending = {f"ended_{name}": float(record.data["ending"] == name) for name in ENDINGS}
    flags = {f"flag_{name.replace(' ', '_')}": float(count) for name, count in record.data["flags"].items()}
    cues = {CUE_WORDS: float(rubric.count_cues(spoken, cue_words(record)))}
    return {**conversation_metrics(spoken), **ending, **flags, **cues}


def cue_words(record: Record) -> tuple[str, ...]:
    """The levels this dialogue's arm told anyone: words that would give the arm away to the judge."""
    return tuple(dict.fromkeys(level for _, _, level in record.trial.arm.levels))


async def _judged(record: Record, ask: Ask) -> AsyncIterator[Score]:
    source = ask.source("judge").id
    labelled: list[Mapping[str, rubric.Label]] = []
    for place, turn in enumerate(record.turns):
        if turn.role != "tutor" or place == 0:
            continue
        labels = await _label(record, place, ask)
        labelled.append(labels)
        for metric, label in labels.items():
            yield Score(record.trial.id, turn.number, metric, source, label.value, label.reason)
    for scored in _whole(record.trial.id, source, labelled):
        yield scored
