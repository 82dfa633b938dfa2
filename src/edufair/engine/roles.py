"""Who sits in which role: the models of a run, opened once, tried once, and how each is really asked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson

from edufair import store as db
from edufair.audits.base import Audit
from edufair.config import ModelSettings, Settings
from edufair.hashing import canonical, digest
from edufair.models import open_model
from edufair.models.base import Effective, Model
from edufair.models.identity import identity
from edufair.store import Store

#: Settings of a model that are not handed to its constructor.
_NOT_FOR_MODEL = ("price_prompt", "price_completion")


@dataclass(slots=True)
class Seat:
    """One role filled by one model. `shared` calls are asked once for all trials."""

    role: str
    name: str
    model: Model
    effective: Effective
    id: str
    shared: bool
    key_prefix: bytes = field(repr=False, default=b"")


def open_models(settings: Settings, names: Iterable[str]) -> dict[str, Model]:
    """The models of these names, opened and not yet asked."""
    return {name: open_model(name, model_arguments(settings.models[name])) for name in sorted(set(names))}


def model_arguments(settings: ModelSettings) -> dict[str, Any]:
    """What a model's constructor is handed: all but the prices."""
    return {key: value for key, value in settings.model_dump().items() if key not in _NOT_FOR_MODEL}


def identities(settings: Settings, names: Iterable[str]) -> dict[str, str]:
    """What stands for each model in hashes: a model id or a file's SHA-256, never an address."""
    return {name: identity(name, model_arguments(settings.models[name])) for name in sorted(set(names))}


def judges_prompt(audit: Audit, name: str) -> bool:
    """Whether a prompt is the judge's: its name says so, in an audit that has a judge. It shapes no record."""
    return audit.judge_role is not None and name.startswith(audit.judge_role)


async def take_seat(
    store: Store,
    role: str,
    name: str,
    settings: Settings,
    model: Model,
    *,
    audited: bool,
    schema: Mapping[str, Any] | None,
) -> Seat:
    """Fill a role: as frozen when the run began, or else by trying the model once.

    Raises ModelError, with a message for people, when the model cannot be asked.
    """
    sampling = settings.roles()[role].sampling()
    requested = {**sampling, **(settings.models[name].extra_body or {})}
    effective = _frozen(store, role, name, requested, identities(settings, [name])[name])
    if effective is None:
        effective = await model.probe(sampling, schema=schema)
        row = {
            "id": _effective_id(role, name, effective),
            "role": role,
            "model": name,
            "json": orjson.dumps(effective.to_json()).decode(),
        }
        await store.write(db.effective, [row])
    shared = not audited and effective.params.get("temperature") == 0
    prefix = canonical([name, effective.identity, effective.params])
    return Seat(role, name, model, effective, _effective_id(role, name, effective), shared, prefix)


def _effective_id(role: str, name: str, effective: Effective) -> str:
    return digest([role, name, effective.to_json()])


def _frozen(store: Store, role: str, name: str, requested: Mapping[str, Any], identity: str) -> Effective | None:
    """How this role asked before. Another model under the same name has its own way, and so have other parameters."""
    wanted = (role, name, requested, identity)
    for row in store.effectives():
        if (row["role"], row["model"], row["json"]["requested"], row["json"]["identity"]) == wanted:
            return Effective.from_json(row["json"])
    return None
