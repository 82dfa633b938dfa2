"""`edufair judge validate` on MRBench: the judge labels turns that people have labelled, through the engine."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from edufair import store as db
from edufair.audits.base import Ask
from edufair.audits.dialogue import DialogueAudit
from edufair.audits.dialogue.measure import score_turn
from edufair.config import Settings
from edufair.design.banks.draw import order_items
from edufair.design.banks.mrbench import CORRESPONDENCES, SOME, Correspondence, PeopledTurn, read_mrbench
from edufair.design.plan import item_hash
from edufair.engine import settings as files
from edufair.engine.loop import run_sync
from edufair.engine.progress import Tally, shown
from edufair.engine.settings import AuditFile
from edufair.engine.sitting import Sitting, sit
from edufair.engine.validate import NOT_JUDGED, About, Said, Validated, keep, said_by, validation_of
from edufair.errors import BankError, CallFailed, ConfigError, EdufairError, RunStopped
from edufair.hashing import digest
from edufair.records import Arm, Record, Score, Source, Trial
from edufair.scoring.validation import Question, Unit, check
from edufair.store import Store

JUDGE = "judge"

#: Nothing is said about any learner here: one arm for all.
MRBENCH = Arm("mrbench")


def judge_alone(
    url: str, *, model: str | None = None, api_key_env: str | None = None, mode: Literal["joint", "single"] = "joint"
) -> dict[str, Any]:
    """An audit file's keys for a judge without an audit: the model at `url`, asked as the dialogue audit asks."""
    given = {"url": url, "model": model, "api_key_env": api_key_env}
    return {
        "audit": "dialogue",
        "name": "judge",
        "models": {"candidate": {key: value for key, value in given.items() if value is not None}},
        "tutor": {"model": "candidate"},  # a dialogue audit has all three; only the judge is asked anything here
        "student": {"model": "candidate"},
        "judge": {"model": "candidate", "mode": mode},
    }


def validate_on_mrbench(
    labels: Path | str,
    config: AuditFile,
    *,
    folder: Path | str | None = None,
    sample: float | None = None,
    limit: int | None = None,
    progress: bool = False,
) -> Validated:
    """Have the judge of an audit file label MRBench's turns with the dialogue audit's rubric, and compare.

    `sample` is a share of the turns and `limit` their largest number, drawn by the audit's seed and stratified by
    tutor; a smaller draw is part of a larger one. Everything is kept in `folder` (RUN-mrbench by default), so that
    what was asked once is not asked again. Works inside a running event loop.

    Raises BankError, ConfigError, ModelError; RunStopped when the judge cannot be reached, with all that was done kept.
    """
    settings = _dialogue_with_judge(config)
    path = Path(labels)
    turns = read_mrbench(path)
    chosen = _drawn(turns, settings.seed, sample, limit)
    records = {turn.key: _record(turn) for turn in chosen}
    store = db.create(folder or f"{settings.run}-mrbench")
    try:
        tally = Tally(total=len(records))
        judge = run_sync(lambda: _judge_all(settings, store, list(records.values()), tally, progress))
        _keep_people(store, chosen, records)
        said = said_by(store.score_frame(), judge, set(_ids(records)))
    finally:
        store.close()
    checked = [
        check(_question(one, some), _mrbench_units(one, some, chosen, records, said), seed=settings.seed)
        for one in CORRESPONDENCES
        for some in ((1, 0) if one.graded else (1,))
    ]
    about = About(path, "MRBench", ("MRBench",), len(chosen), len(turns), "tutor", settings.seed)
    validation = validation_of(judge, about, checked)
    return Validated((validation,), keep((validation,), store.folder), tally)


def _dialogue_with_judge(config: AuditFile) -> Settings:
    audit, settings = files.load(config)
    named = config if isinstance(config, str | Path) else "the settings"
    if audit.name != DialogueAudit.name:
        raise ConfigError(
            f"{named}: is of the audit {audit.name!r}; the judge that labels tutors' turns is the dialogue audit's"
        )
    if JUDGE not in settings.roles():
        raise ConfigError(f"{named}: names no judge; add [judge] with model = one of {', '.join(settings.models)}")
    return settings


def _drawn(turns: Sequence[PeopledTurn], seed: int, sample: float | None, limit: int | None) -> list[PeopledTurn]:
    """A share or a number of the turns, every tutor in its share, in the file's order."""
    if sample is not None and not 0 < sample <= 1:
        raise BankError(f"a sample of {sample} cannot be drawn: give a share above 0 and up to 1")
    if limit is not None and limit < 1:
        raise BankError(f"a limit of {limit} leaves nothing: give 1 or more")
    wanted = len(turns) if sample is None else max(1, round(sample * len(turns)))
    wanted = min(wanted, limit or wanted)
    ordered = order_items([(turn.key, turn.tutor) for turn in turns], seed, purpose="judge validation")
    drawn = {key for key, _ in ordered[:wanted]}
    return [turn for turn in turns if turn.key in drawn]


def _record(turn: PeopledTurn) -> Record:
    """A labelled turn as a record of the tutor that gave it; people's words stay with it."""
    spoken = [[each.role, each.text] for each in turn.turns]
    trial = Trial(
        digest(["mrbench", turn.key, item_hash(turn.item), spoken]), "mrbench", turn.tutor, turn.item, MRBENCH
    )
    data = {"row": turn.row, "conversation": turn.conversation, "labels": dict(turn.labels)}
    return Record(trial, "done", turns=turn.turns, data=data)


class _LastTurn(DialogueAudit):
    """The dialogue audit's judge, asked about the last turn of a conversation alone."""

    def score(self, record: Record, ask: Ask) -> AsyncIterator[Score]:
        return score_turn(record, record.turns[-1], ask)


async def _judge_all(
    settings: Settings, store: Store, records: Sequence[Record], tally: Tally, progress: bool
) -> Source:
    """Label every turn that this judge has not labelled yet; give back the judge."""
    audit = _LastTurn()
    async with sit(audit, settings, store, tally, roles=[JUDGE]) as sitting:
        await store.write_all(
            [
                (db.item, [db.item_row(item_hash(r.trial.item), r.trial.item) for r in records], False),
                (db.record, [db.record_row(r, item_hash(r.trial.item), ()) for r in records], False),
            ]
        )
        done = store.scored([record.trial.id for record in records], sitting.judge.id)
        tally.already = len(done)
        waiting = (record for record in records if record.trial.id not in done)
        with shown(tally, "turns", show=progress):
            try:
                async with asyncio.TaskGroup() as group:
                    for _ in range(sitting.concurrency([JUDGE])):
                        group.create_task(_work(sitting, waiting))
            except* EdufairError as errors:
                raise errors.exceptions[0] from None
        return sitting.judge


async def _work(sitting: Sitting, waiting: Iterator[Record]) -> None:
    limit = sitting.settings.limits.stop_after_failures
    for record in waiting:
        try:
            scored = await sitting.score(record)
        except CallFailed as error:
            raise RunStopped(f"{error}\nIt stopped; what is done is kept. Mend this and run it again.") from None
        sitting.tally.done += scored
        if sitting.tally.unscored >= limit:
            raise RunStopped(
                f"{limit} turns could not be labelled because the judge could not be reached.\n"
                "It stopped; what is done is kept. Run the same command again to go on."
            )


def _question(one: Correspondence, some: int) -> Question:
    reading = f"“{SOME}” = {some}" if one.graded else one.ones_in_short
    return Question(one.metric, one.dimension, (0, 1), reading, one.same, one.note)


def _mrbench_units(
    one: Correspondence,
    some: int,
    turns: Sequence[PeopledTurn],
    records: Mapping[str, Record],
    said: Said,
) -> list[Unit]:
    """MRBench's people label every turn: that the judge finds the question not to arise is a label it did not give."""
    units = []
    for turn in turns:
        value, state = said.get((records[turn.key].trial.id, len(turn.turns), one.metric), (None, NOT_JUDGED))
        label = one.read(turn.labels[one.dimension], some=some)
        people = {} if label is None else {"MRBench": label}
        judged = None if value is None else int(value)
        units.append(Unit(judged, people, turn.conversation, turn.tutor, state))
    return units


def _keep_people(store: Store, turns: Sequence[PeopledTurn], records: Mapping[str, Record]) -> None:
    """People's labels as scores, each of the two readings of the word between as a source of its own."""
    for some in (1, 0):
        source = Source(f"person:MRBench ({SOME} = {some})", "person", "MRBench", {SOME: some})
        scores = [
            Score(records[turn.key].trial.id, len(turn.turns), one.metric, source.id, float(label))
            for turn in turns
            for one in CORRESPONDENCES
            if (label := one.read(turn.labels[one.dimension], some=some)) is not None
        ]
        store.write_now(db.source, [db.source_row(source)])
        store.write_now(db.score, [db.score_row(score) for score in scores])


def _ids(records: Mapping[str, Record]) -> Iterator[str]:
    return (record.trial.id for record in records.values())
