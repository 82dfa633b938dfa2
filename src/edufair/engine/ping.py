"""Try every model of an audit file once, as a run would before its first trial; keep nothing."""

from __future__ import annotations

from dataclasses import dataclass

from edufair.config import Settings
from edufair.engine import settings as files
from edufair.engine.loop import run_sync
from edufair.engine.roles import open_models
from edufair.engine.settings import AuditFile
from edufair.models.base import Effective


@dataclass(frozen=True)
class Answered:
    """A model that answered in a role, and how it will be asked."""

    role: str
    name: str
    effective: Effective


def ping(source: AuditFile) -> list[Answered]:
    """Raises ModelError, with a message for people, for the first model that does not answer."""
    audit, settings = files.load(source)
    return run_sync(lambda: _ping(settings, audit.judge_role or audit.audited))


async def _ping(settings: Settings, judge_role: str | None) -> list[Answered]:
    roles = settings.roles()
    models = open_models(settings, [name for role in roles.values() for name in role.models])
    answered = []
    try:
        for role, filled in roles.items():
            schema = settings.judge_schema() if role == judge_role else None
            for name in filled.models:
                effective = await models[name].probe(filled.sampling(), schema=schema)
                answered.append(Answered(role, name, effective))
    finally:
        for model in models.values():
            await model.close()
    return answered
