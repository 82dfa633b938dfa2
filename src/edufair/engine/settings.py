"""From what a user gives (a file, a mapping, a run folder) to an audit and its settings."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from edufair import config
from edufair.audits.base import Audit, registry
from edufair.config import Settings
from edufair.design.plan import Plan
from edufair.errors import StoreError
from edufair.store import Row, Store

AuditFile = str | Path | Mapping[str, Any]


def load(source: AuditFile) -> tuple[Audit, Settings]:
    """The audit and its validated settings, from audit.toml's path or a mapping of the same keys."""
    audits = registry()
    kinds = {name: audit.Settings for name, audit in audits.items()}
    if isinstance(source, Mapping):
        settings = config.validate(source, kinds, where="audit")
    else:
        settings = config.load(source, kinds)
    return audits[settings.audit], settings


def remember(store: Store, settings: Settings, plan: Plan) -> None:
    """Keep the settings with the run, so that its folder alone is enough to score it again. They hold no key.

    Of several plans, `plan` is the one that these settings carry out: the one in force.
    """
    store.set_meta("settings", settings.model_dump(mode="json"))
    store.set_meta("plan", plan.hash)


def plan_rows(store: Store) -> list[Row]:
    """The stored plans in the order in which they were frozen, but for the one in force, which comes last."""
    in_force = store.get_meta("plan")
    return sorted(store.plans(), key=lambda row: row["hash"] == in_force)


def recall(store: Store) -> tuple[Audit, Settings]:
    """The audit and the settings that a run was last carried out with."""
    raw = store.get_meta("settings")
    audits = registry()
    if raw is None:
        raise StoreError(f"{store.folder}: holds no plan yet; `edufair run audit.toml` makes one")
    if raw["audit"] not in audits:
        raise StoreError(f"{store.folder}: was made by the audit {raw['audit']!r}, which is not installed here")
    audit = audits[raw["audit"]]
    return audit, audit.Settings.model_validate({**raw, "run": str(store.folder)})
