"""One sitting of a run: models opened, roles filled, and the two things done to a trial: conduct and score."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from edufair import store as db
from edufair.audits.base import Audit
from edufair.config import Settings
from edufair.design.plan import item_hash
from edufair.engine.ask import Caller, TrialAsk
from edufair.engine.progress import Tally
from edufair.engine.roles import Seat, judges_prompt, open_models, take_seat
from edufair.errors import CallFailed
from edufair.hashing import digest
from edufair.records import Record, Source, Trial
from edufair.store import Store

CODE = Source("code", "code", "edufair", {})


@dataclass
class Sitting:
    """Everything that is open while trials are carried out."""

    audit: Audit
    settings: Settings
    store: Store
    caller: Caller
    tally: Tally
    secret: str
    sources: Mapping[str, Source]

    @property
    def judge(self) -> Source:
        """What scores in this sitting: the judge, or code where there is none."""
        return self.sources.get(self.audit.judge_role or "", CODE)

    async def conduct(self, trial: Trial) -> Record:
        """Carry out a trial and commit its record. A call that failed in transport makes a failed record."""
        ask = self._ask(trial)
        try:
            record = await self.audit.conduct(trial, ask)
        except CallFailed as error:
            record = Record(trial, "failed", "transport", data={"message": str(error), "kind": error.kind})
            await self._keep(record, ask)
            if error.fatal:
                raise
            return record
        await self._keep(record, ask)
        return record

    async def _keep(self, record: Record, ask: TrialAsk) -> None:
        row = db.record_row(record, item_hash(record.trial.item), ask.calls)
        await self.store.write(db.record, [row], replace=True)

    async def score(self, record: Record) -> bool:
        """Measure a record and commit all its scores at once. False when the judge could not be reached."""
        ask = self._ask(record.trial)
        try:
            scores = [db.score_row(score) async for score in self.audit.score(record, ask)]
        except CallFailed as error:
            self.tally.unscored += 1
            if error.fatal:
                raise
            return False
        await self.store.write(db.score, scores)
        self.tally.scored += 1
        return True

    def _ask(self, trial: Trial) -> TrialAsk:
        return TrialAsk(self.caller, trial, self.settings, self.secret, self.sources)

    def concurrency(self, roles: Iterable[str]) -> int:
        """How many calls the models in these roles take at once, each model counted once."""
        chosen = set(roles)
        models = {seat.name: seat.model.concurrency for seat in self.caller.seats.values() if seat.role in chosen}
        return max(1, sum(models.values()))

    def names(self, roles: Iterable[str]) -> set[str]:
        """The models that sit in these roles."""
        chosen = set(roles)
        return {seat.name for seat in self.caller.seats.values() if seat.role in chosen}


@asynccontextmanager
async def sit(
    audit: Audit, settings: Settings, store: Store, tally: Tally, *, roles: Iterable[str]
) -> AsyncIterator[Sitting]:
    """Open the models of these roles, try each once, and close them at the end, whatever happens."""
    filled = {role: found for role, found in settings.roles().items() if role in set(roles)}
    wanted = {role: found.models for role, found in filled.items()}
    resumed = store.has_calls()
    models = open_models(settings, [name for names in wanted.values() for name in names])
    try:
        seats: dict[tuple[str, str], Seat] = {}
        for role, names in wanted.items():
            for name in names:
                audited = role == audit.audited
                schema = settings.judge_schema() if role == (audit.judge_role or audit.audited) else None
                seat = await take_seat(store, role, name, settings, models[name], audited=audited, schema=schema)
                seats[role, name if audited else ""] = seat
        sources = _sources(audit, settings, seats)
        await store.write(db.source, [db.source_row(s) for s in (CODE, *sources.values())])
        change = settings.limits.allow_model_change
        caller = Caller(seats, store, tally, resumed=resumed, allow_model_change=change)
        yield Sitting(audit, settings, store, caller, tally, _secret(store), sources)
    finally:
        await store.drain()
        for model in models.values():
            await model.close()


def _sources(audit: Audit, settings: Settings, seats: Mapping[tuple[str, str], Seat]) -> dict[str, Source]:
    role = audit.judge_role
    seat = seats.get((role, "")) if role else None
    if role is None or seat is None:
        return {}
    section = settings.roles()[role].model_dump(mode="json")
    prompts = {name: text for name, text in settings.prompts().items() if judges_prompt(audit, name)}
    how: dict[str, Any] = {
        "model": seat.name,
        "identity": seat.effective.identity,
        "sampling": dict(seat.effective.params),
        "settings": {key: value for key, value in section.items() if key != "model"},
        "prompts": digest(prompts),
    }
    return {role: Source(f"judge:{seat.name}:{digest(how)[:8]}", "judge", seat.name, how)}


def _secret(store: Store) -> str:
    """The run's own secret, made once: fences round judged text are derived from it."""
    secret = store.get_meta("secret")
    if secret is None:
        secret = secrets.token_hex(16)
        store.set_meta("secret", secret)
    return str(secret)
