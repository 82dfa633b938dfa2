"""Measuring a dialogue: what code counts, the judge's labels turn by turn, and one number for each metric."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from edufair.audits.base import Ask
from edufair.records import NOT_APPLICABLE, Record, Score, Turn
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

#: How often a judge's label disagreed with what it said of the student's turn.
CONTRADICTIONS = "contradictions"

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
    """The judge's labels of every tutor turn after the opening, in order (turns of a dialogue share a prefix)."""
    source = ask.source("judge").id
    labelled: list[Labelled] = []
    for turn in record.turns[1:]:
        if turn.role != "tutor":
            continue
        labelled.append(await _label(record, turn, ask))
        for scored in _of_turn(record, turn, labelled[-1], source):
            yield scored
    contradictions = sum(each.contradictions for each in labelled)
    yield Score(record.trial.id, 0, CONTRADICTIONS, source, float(contradictions))
    for metric, value in rubric.per_dialogue([each.values for each in labelled]).items():
        yield Score(record.trial.id, 0, metric, source, value, _why_missing(value, metric, labelled))


async def score_turn(record: Record, turn: Turn, ask: Ask) -> AsyncIterator[Score]:
    """The judge's labels of one tutor turn alone: how a judge is tried on turns that people have labelled."""
    for scored in _of_turn(record, turn, await _label(record, turn, ask), ask.source("judge").id):
        yield scored


def _of_turn(record: Record, turn: Turn, one: Labelled, source: str) -> Iterator[Score]:
    for metric in (*PEDAGOGICAL, rubric.STUDENT_MISTAKE):
        value = one.values.get(metric)
        yield Score(record.trial.id, turn.number, metric, source, value, _why_missing(value, metric, [one]))


@dataclass(frozen=True)
class Labelled:
    """One turn's labels by metric, and for each metric left unread the state in which the judge left it."""

    values: Mapping[str, float | None]
    unread: Mapping[str, str]
    contradictions: int = 0


def _why_missing(value: float | None, metric: str, turns: Sequence[Labelled]) -> str:
    """A value is lost when a turn that might have given it was left unread; otherwise the question did not arise."""
    if value is not None:
        return ""
    asked = rubric.STUDENT_MISTAKE if metric in CONDITIONING else metric
    return next((each.unread[asked] for each in turns if asked in each.unread), NOT_APPLICABLE)


async def _label(record: Record, turn: Turn, ask: Ask) -> Labelled:
    """One call for all dimensions, or one for each; a dimension left unread leaves its own label missing."""
    if ask.settings.judge.mode == "joint":
        return _read(await _judge(record, turn, ask, None), (*PEDAGOGICAL, rubric.STUDENT_MISTAKE))
    values: dict[str, float | None] = {}
    unread: dict[str, str] = {}
    for dimension in PEDAGOGICAL:
        one = _read(await _judge(record, turn, ask, dimension), _told_by(dimension))
        values.update(one.values)
        unread.update(one.unread)
    return Labelled(values, unread)


def _told_by(dimension: str) -> tuple[str, ...]:
    """Asked one dimension a call, whether there was a mistake is told by the label of mistake_recognize."""
    return (dimension, rubric.STUDENT_MISTAKE) if dimension == "mistake_recognize" else (dimension,)


async def _judge(record: Record, turn: Turn, ask: Ask, dimension: str | None) -> rubric.Judged:
    rules, item = ask.settings.judge, record.trial.item
    messages = rubric.judge_messages(
        item.text,
        item.data["answer"] if rules.knows_answer else None,
        record.turns,
        turn.number,
        ask.secret("fence", item.id),
        mode=rules.mode,
        dimension=dimension,
        mask=cue_words(record) if rules.mask_cues else (),
    )
    return await rubric.judge_turn(partial(ask.chat, "judge"), messages, dimension=dimension, turn=turn.number)


def _read(judged: rubric.Judged, wanted: Sequence[str]) -> Labelled:
    if judged.labels is None:
        return Labelled({}, dict.fromkeys(wanted, judged.state))
    return Labelled(dict(judged.labels.values), {}, len(judged.labels.contradictions))
