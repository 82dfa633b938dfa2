"""`edufair.run`: carry out a plan, from its beginning or from where it stopped."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Iterable, Iterator
from itertools import islice

from edufair import store as db
from edufair.audits.base import Audit
from edufair.config import Settings
from edufair.design.plan import Plan
from edufair.engine import settings as files
from edufair.engine.loop import run_sync
from edufair.engine.plan import freeze_in
from edufair.engine.progress import Tally, shown
from edufair.engine.runs import Run
from edufair.engine.settings import AuditFile
from edufair.engine.sitting import Sitting, sit
from edufair.errors import CallFailed, EdufairError, RunStopped
from edufair.records import Record, Trial
from edufair.store import Store

#: Trials are looked up in the store in blocks of this size: one query for many.
BLOCK = 200


def run(source: AuditFile, *, progress: bool = False) -> Run:
    """Carry out the plan of an audit file; where the run has begun already, go on from where it stopped.

    Trials that are done are not asked again, nor are refusals, filters and unreadable replies: they are outcomes.
    What failed in transport is. Works inside a running event loop.

    Raises ConfigError, BankError, ModelError; RunStopped when failures in a row or a refused key stop the run, with
    all that was done kept.
    """
    audit, settings = files.load(source)
    store = db.create(settings.run)
    try:
        frozen = freeze_in(store, audit, settings).plan
        gc.freeze()  # what has been imported need not be looked at again in every collection of a long run
        tally = run_sync(lambda: _carry_out(audit, settings, store, frozen, progress))
    finally:
        gc.unfreeze()
        store.close()
    return Run(settings.run, tally=tally)


async def _carry_out(audit: Audit, settings: Settings, store: Store, frozen: Plan, progress: bool) -> Tally:
    tally = Tally(total=frozen.n_trials)
    roles = [*audit.shaping_roles, *([audit.judge_role] if audit.judge_role else [])]
    async with sit(audit, settings, store, tally, roles=roles) as sitting:
        with shown(tally, "trials", show=progress):
            await _schedule(sitting, frozen)
    return tally


async def _schedule(sitting: Sitting, frozen: Plan) -> None:
    """Workers draw trials from one iterator; where the judge is another model, it works on records as they come."""
    streak = _Streak(sitting.settings.limits.stop_after_failures)
    waiting = _waiting(sitting, frozen)
    shaping, judge = sitting.audit.shaping_roles, sitting.audit.judge_role
    apart = judge is not None and bool(sitting.names([judge])) and not (sitting.names([judge]) & sitting.names(shaping))
    judges = sitting.concurrency([judge]) if apart and judge else 0
    finished: asyncio.Queue[Record | None] | None = asyncio.Queue(2 * judges) if apart else None
    try:
        async with asyncio.TaskGroup() as everyone:
            for _ in range(judges):
                everyone.create_task(_score_queued(sitting, finished))
            async with asyncio.TaskGroup() as conducting:
                for _ in range(sitting.concurrency(shaping)):
                    conducting.create_task(_work(sitting, waiting, streak, finished))
            for _ in range(judges):
                assert finished is not None
                await finished.put(None)
    except* EdufairError as group:
        raise _first(group) from None


async def _work(
    sitting: Sitting,
    waiting: Iterator[tuple[Trial, bool]],
    streak: _Streak,
    finished: asyncio.Queue[Record | None] | None,
) -> None:
    """Conduct one trial after the other; score each record, or hand it to the judge's own workers."""
    for trial, has_record in waiting:
        if has_record:
            record = next(sitting.store.records(trials=[trial.id]))
            sitting.tally.already += 1
        else:
            record = await _conduct(sitting, trial, streak)
        if record.status != "done":
            continue
        if finished is None:
            await _score(sitting, record)
        else:
            await finished.put(record)


async def _conduct(sitting: Sitting, trial: Trial, streak: _Streak) -> Record:
    try:
        record = await sitting.conduct(trial)
    except CallFailed as error:
        sitting.tally.failed += 1
        raise _stopped(error) from None
    if record.status == "done":
        sitting.tally.done += 1
    else:
        sitting.tally.failed += 1
        sitting.tally.reasons[record.reason] += 1
    streak.see(record)
    return record


async def _score_queued(sitting: Sitting, finished: asyncio.Queue[Record | None] | None) -> None:
    assert finished is not None
    while (record := await finished.get()) is not None:
        await _score(sitting, record)


async def _score(sitting: Sitting, record: Record) -> None:
    try:
        await sitting.score(record)
    except CallFailed as error:
        raise _stopped(error) from None


def _stopped(error: CallFailed) -> RunStopped:
    return RunStopped(f"{error}\nThe run stopped; what is done is kept. Mend this and run the same command again.")


class _Streak:
    """Failures in a row: a host that has died is not asked ten thousand times."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._length = 0

    def see(self, record: Record) -> None:
        if record.status == "failed" and record.reason == "transport":
            self._length += 1
        else:
            self._length = 0
        if self._length >= self._limit:
            raise RunStopped(
                f"{self._length} trials in a row failed in transport; the last: {record.data.get('message', '')}\n"
                "The run stopped; what is done is kept. Run the same command again to go on from here."
            )


def _waiting(sitting: Sitting, frozen: Plan) -> Iterator[tuple[Trial, bool]]:
    """The trials that still need something, in order; with each, whether it has its record and only needs scores."""
    store, tally, judge = sitting.store, sitting.tally, sitting.judge.id
    for block in _blocks(frozen.trials(store.items)):
        ids = [trial.id for trial in block]
        status = store.statuses(ids)
        scored = store.scored(ids, judge)
        for trial in block:
            state, reason = status.get(trial.id, ("", ""))
            if not state or reason == "transport":
                yield trial, False
            elif state == "done" and trial.id not in scored:
                yield trial, True
            else:
                tally.already += 1


def _blocks(trials: Iterable[tuple[Trial, str]]) -> Iterator[list[Trial]]:
    iterator = iter(trials)
    while block := [trial for trial, _ in islice(iterator, BLOCK)]:
        yield block


def _first(group: BaseExceptionGroup[EdufairError]) -> EdufairError:
    error: BaseException = group
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    assert isinstance(error, EdufairError)
    return error
