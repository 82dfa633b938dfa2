"""`edufair judge sample`: turns of a run for people to label, without anything that tells the arm or the judge."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice, zip_longest
from pathlib import Path

import polars as pl

from edufair.audits.dialogue.measure import cue_words
from edufair.design.banks.draw import by_draw, order_items
from edufair.engine.runs import Run, current_trials, open_run
from edufair.engine.validate import judged_turns
from edufair.errors import BankError
from edufair.hashing import derive_seed
from edufair.records import Record, Turn
from edufair.scoring import rubric

#: How many turns EduFair-Bench's annotators labelled (section 3.3).
TURNS = 180

_BLOCK = 200

_SCHEMA = ("trial", "turn", "metric", "annotator", "value", "question", "answer", "conversation", "tutor_turn")


@dataclass(frozen=True)
class LabelSample:
    """A blinded sample: `frame` has a row for each annotator, turn and metric, `value` still empty.

    `turns` were drawn from `strata` groups of tutor, domain and arm; in `with_cues` of them the text itself holds a
    word that gives the arm away.
    """

    frame: pl.DataFrame
    turns: int
    strata: int
    with_cues: int


def sample_labels(
    run: Run | Path | str,
    *,
    turns: int = TURNS,
    annotators: Sequence[str] = (),
    seed: int | None = None,
    mask_cues: bool = False,
) -> LabelSample:
    """Draw turns of a run for hand-labelling, stratified by tutor, domain and arm, one a dialogue while they last.

    The texts are what the judge saw: question, correct answer, conversation, the turn. Which tutor, which arm and what
    the judge said is not in it, and the order tells nothing. `seed` is the run's unless given: with it, a smaller
    sample is drawn from the same dialogues as a larger one. `mask_cues` hides the cue words in the texts.

    Raises StoreError when there is no run, BankError when it has no turn to label.
    """
    run = run if isinstance(run, Run) else open_run(run)
    if turns < 1:
        raise BankError(f"a sample of {turns} turns: ask for 1 or more")
    if len(set(annotators)) != len(annotators) or not all(name.strip() for name in annotators):
        raise BankError("the annotators must have names, each another one")
    plans = run.plans()
    seed = plans[-1].seed if seed is None else seed
    records = run.records().filter((pl.col("status") == "done") & pl.col("trial").is_in(list(current_trials(plans))))
    rows = [(trial, "\x1f".join(stratum)) for trial, *stratum in records.select(*_STRATUM).iter_rows()]
    ordered = [trial for trial, _ in order_items(rows, seed, purpose="label sample")]
    drawn = _drawn(run, ordered, turns, seed)
    if not drawn:
        raise BankError(f"{run.folder}: has no finished dialogue with a tutor's turn to label yet")
    shown = [_shown(record, turn, mask_cues) for record, turn in drawn]
    cells = [
        (record.trial.id, turn.number, metric, annotator, None, *texts)
        for annotator in annotators or (None,)
        for (record, turn), texts in zip(drawn, shown, strict=True)
        for metric in rubric.METRICS
    ]
    types = {name: pl.Int64 if name == "turn" else pl.String for name in _SCHEMA}
    return LabelSample(
        pl.DataFrame(cells, schema=types, orient="row"),
        turns=len(drawn),
        strata=len({stratum for _, stratum in rows}),
        with_cues=sum(_has_cues(record, turn) for record, turn in drawn) if not mask_cues else 0,
    )


_STRATUM = ("trial", "model", "domain", "arm")


def _drawn(run: Run, ordered: Sequence[str], wanted: int, seed: int) -> list[tuple[Record, Turn]]:
    """A turn of each dialogue, in the order of the draw; then, if they are too few, a second one of each, and so on."""
    dialogues = list(islice(_dialogues(run, ordered, seed), wanted))
    rounds = chain.from_iterable(zip_longest(*dialogues))
    drawn = list(islice((one for one in rounds if one is not None), wanted))
    return sorted(drawn, key=lambda one: derive_seed(seed, "label order", one[0].trial.id, one[1].number))


def _dialogues(run: Run, ordered: Sequence[str], seed: int) -> Iterator[list[tuple[Record, Turn]]]:
    """The turns to label of each dialogue that has any, in a random order of their own."""
    for start in range(0, len(ordered), _BLOCK):
        block = list(ordered[start : start + _BLOCK])
        found = {record.trial.id: record for record in run.transcripts(block)}
        for trial in block:
            record = found[trial]
            by_number = {str(turn.number): turn for turn in record.turns if turn.number in judged_turns(record)}
            if by_number:
                yield [(record, by_number[n]) for n in by_draw(by_number, seed, f"label turn {trial}")]


def _shown(record: Record, turn: Turn, mask: bool) -> tuple[str, str, str, str]:
    """What a person sees: question, answer, the conversation before the turn, and the turn."""
    words = cue_words(record) if mask else ()
    before = [each for each in record.turns if each.number < turn.number]
    said = "\n\n".join(f"{each.role.capitalize()}: {rubric.mask_cues(each.text, words)}" for each in before)
    item = record.trial.item
    return item.text, item.data.get("answer") or "", said, rubric.mask_cues(turn.text, words)


def _has_cues(record: Record, turn: Turn) -> bool:
    shown = [each for each in record.turns[1:] if each.number <= turn.number]
    return rubric.count_cues(shown, cue_words(record)) > 0
