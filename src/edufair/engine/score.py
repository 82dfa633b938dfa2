"""`edufair.score`: measure stored records again, without asking the audited model again."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

from edufair import store as db
from edufair.audits.base import Audit
from edufair.config import Settings
from edufair.engine import settings as files
from edufair.engine.loop import run_sync
from edufair.engine.progress import Tally, shown
from edufair.engine.runs import Run
from edufair.engine.settings import AuditFile
from edufair.engine.sitting import Sitting, sit
from edufair.errors import CallFailed, ConfigError, EdufairError, RunStopped
from edufair.records import Record
from edufair.store import Store


def score(
    run: Run | Path | str,
    *,
    judge: str | None = None,
    config: AuditFile | None = None,
    progress: bool = False,
) -> Run:
    """Score every stored record that this judge has not scored yet; labels of other judges stay beside its own.

    `judge` names a model of the run's settings, or of `config`, an audit file whose models and judge are used
    instead. Works inside a running event loop. Raises ConfigError, StoreError, ModelError, RunStopped.
    """
    folder = run.folder if isinstance(run, Run) else Path(run)
    db.open_store(folder).close()  # says so where there is no run, before a folder is made
    store = db.create(folder)
    try:
        audit, settings = files.recall(store)
        if config is not None:
            given_audit, given = files.load(config)
            if given_audit.name != audit.name:
                raise ConfigError(f"the run is of the audit {audit.name!r}, the settings are for {given_audit.name!r}")
            judged = {audit.judge_role: getattr(given, audit.judge_role)} if audit.judge_role else {}
            settings = settings.model_copy(update={"models": {**settings.models, **given.models}, **judged})
        settings = _with_judge(audit, settings, judge)
        tally = run_sync(lambda: _score_all(audit, settings, store, progress))
    finally:
        store.close()
    return Run(folder, tally=tally)


def _with_judge(audit: Audit, settings: Settings, judge: str | None) -> Settings:
    role = audit.judge_role
    if judge is None:
        return settings
    if role is None:
        raise ConfigError(f"the audit {audit.name!r} has no judge")
    if judge not in settings.models:
        known = ", ".join(sorted(settings.models))
        raise ConfigError(f"there is no model {judge!r} in this run's settings (there is: {known}); give an audit file")
    current = settings.roles().get(role)
    if current is None:
        section = type(settings).model_fields[role].annotation
        kind = next(k for k in (section, *getattr(section, "__args__", ())) if isinstance(k, type))
        return settings.model_copy(update={role: kind(model=judge)})
    return settings.model_copy(update={role: current.model_copy(update={"model": judge})})


async def _score_all(audit: Audit, settings: Settings, store: Store, progress: bool) -> Tally:
    tally = Tally()
    roles = [audit.judge_role] if audit.judge_role else []
    async with sit(audit, settings, store, tally, roles=roles) as sitting:
        waiting = _unscored(sitting)
        with shown(tally, "records", show=progress):
            try:
                async with asyncio.TaskGroup() as group:
                    for _ in range(sitting.concurrency(roles)):
                        group.create_task(_work(sitting, waiting))
            except* EdufairError as errors:
                raise errors.exceptions[0] from None
    return tally


async def _work(sitting: Sitting, waiting: Iterator[Record]) -> None:
    for record in waiting:
        try:
            if await sitting.score(record):
                sitting.tally.done += 1
        except CallFailed as error:
            raise RunStopped(f"{error}\nScoring stopped; what is done is kept. Run the same command again.") from None


def _unscored(sitting: Sitting) -> Iterator[Record]:
    store, tally = sitting.store, sitting.tally
    done = store.record_ids(sitting.audit.name)
    tally.total = len(done)
    for start in range(0, len(done), 200):
        block = done[start : start + 200]
        scored = store.scored(block, sitting.judge.id)
        tally.already += len(scored)
        yield from store.records(trials=[trial for trial in block if trial not in scored])
