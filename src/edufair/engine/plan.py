"""`edufair.plan`: expand the design, say what it will take, freeze it with its hash."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from edufair import store as db
from edufair.audits.base import Audit
from edufair.config import Load, Settings
from edufair.design.banks import order_items
from edufair.design.plan import Plan, freeze, item_hash
from edufair.engine import settings as files
from edufair.engine.roles import identities, judges_prompt
from edufair.engine.settings import AuditFile
from edufair.errors import BankError, PlanError
from edufair.hashing import canonical, derive_seed
from edufair.records import Item
from edufair.store import Store
from edufair.version import VERSION

#: EduFair-Bench section 3.4: an analysis needs at least so many pairs, where its settings do not say otherwise.
MIN_PAIRS = 15

#: A token of English text is about four characters: good enough for an estimate that says so.
CHARACTERS_PER_TOKEN = 4


@dataclass(frozen=True)
class RoleLoad:
    """What a plan will ask of one role at the most; `cost` is None where no prices are given."""

    role: str
    model: str
    calls: float
    prompt_tokens: float
    completion_tokens: float
    cost: float | None


@dataclass(frozen=True)
class Planned:
    """A frozen plan and what it will take."""

    plan: Plan
    run: str
    loads: tuple[RoleLoad, ...]
    new: bool

    @property
    def cost(self) -> float | None:
        costs = [load.cost for load in self.loads]
        return None if any(cost is None for cost in costs) else sum(cost or 0.0 for cost in costs)

    def reach(self) -> dict[str, tuple[int, bool]]:
        """By domain: how many pairs a contrast can have at the most, and whether that is enough to test it."""
        return {domain: (n, n >= self.min_pairs) for domain, n in self.plan.items_by_domain().items()}

    @property
    def min_pairs(self) -> int:
        """How many pairs the analysis needs."""
        return int(self.plan.settings.get("analysis", {}).get("min_pairs", MIN_PAIRS))


def plan(source: AuditFile) -> Planned:
    """Freeze the plan of an audit file in its run folder and say what carrying it out will take.

    Asks no model anything. Raises ConfigError, BankError or PlanError with the mend.
    """
    audit, settings = files.load(source)
    store = db.create(settings.run)
    try:
        return freeze_in(store, audit, settings)
    finally:
        store.close()


def freeze_in(store: Store, audit: Audit, settings: Settings) -> Planned:
    """Freeze the settings as a plan of this run; a plan that is there already is found again by its hash."""
    rows, question_tokens = _keep_items(store, audit, settings)
    frozen = _freeze(audit, settings, rows)
    known = {row["hash"] for row in store.plans()}
    if frozen.hash not in known:
        row = {
            "hash": frozen.hash,
            "position": len(known) + 1,
            "created": time.time(),
            "version": VERSION,
            "json": canonical(frozen.to_json()).decode(),
        }
        store.write_now(db.plan, [row])
    files.remember(store, settings, frozen)
    loads = _loads(settings, frozen, audit, question_tokens)
    return Planned(frozen, settings.run, loads, new=frozen.hash not in known)


def _freeze(audit: Audit, settings: Settings, rows: list[tuple[str, str, str]]) -> Plan:
    roles = settings.roles()
    named = {role: roles[role].models for role in roles}
    arms = [(arm, settings.replicates(arm.condition)) for arm in audit.arms(settings)]
    if not arms:
        raise PlanError("the design has no arm: name at least one condition")
    known = identities(settings, {name for names in named.values() for name in names})
    asked = {name: [known[name], settings.models[name].extra_body] for name in known}
    shaping = [role for role in audit.shaping_roles if role in roles]
    prompts = settings.prompts()
    return freeze(
        audit=audit.name,
        audit_version=audit.version,
        name=settings.name,
        seed=settings.seed,
        settings=_design_only(settings),
        identities=known,
        audited={name: asked[name] for name in named[audit.audited]},
        shaping={
            "sampling": {role: roles[role].sampling() for role in shaping},
            "roles": {role: asked[named[role][0]] for role in shaping if role != audit.audited},
            "prompts": {name: text for name, text in prompts.items() if not judges_prompt(audit, name)},
            "settings": settings.shaping(),
        },
        arms=arms,
        contrasts=settings.contrasts(),
        prompts=prompts,
        items=order_items(rows, derive_seed(settings.seed, "order")),
    )


def _design_only(settings: Settings) -> dict[str, Any]:
    """The settings as JSON, with the bank's name instead of its path: two machines agree on the hash."""
    kept = settings.model_dump(mode="json")
    kept["items"]["bank"] = Path(settings.items.bank).name
    return kept


def _keep_items(store: Store, audit: Audit, settings: Settings) -> tuple[list[tuple[str, str, str]], float]:
    """Store every item's content; give back (hash, id, domain) of each and the mean length of a text in tokens."""
    rows: list[tuple[str, str, str]] = []
    seen: dict[str, str] = {}
    characters = 0
    for block in _blocks(iter(audit.items(settings)), 1000):
        hashed = [(item_hash(item), item) for item in block]
        store.write_now(db.item, [db.item_row(key, item) for key, item in hashed])
        for key, item in hashed:
            if item.id in seen:
                raise BankError(f"the bank {settings.items.bank}: two items have the id {item.id!r}; make ids unique")
            seen[item.id] = key
            rows.append((key, item.id, item.domain))
            characters += settings.length(item)
    if not rows:
        raise BankError(f"the bank {settings.items.bank} gives no items with these settings; look at [items]")
    return rows, characters / len(rows) / CHARACTERS_PER_TOKEN


def _blocks(items: Iterator[Item], size: int) -> Iterator[list[Item]]:
    while block := list(islice(items, size)):
        yield block


def _loads(settings: Settings, frozen: Plan, audit: Audit, question_tokens: float) -> tuple[RoleLoad, ...]:
    per_trial = settings.expected_load(question_tokens)
    trials_each = frozen.n_trials / len(frozen.audited)
    loads = []
    for role, filled in settings.roles().items():
        for name in filled.models:
            share = trials_each if role == audit.audited else frozen.n_trials
            loads.append(_role_load(settings, role, name, per_trial.get(role, Load()), share))
    return tuple(loads)


def _role_load(settings: Settings, role: str, name: str, load: Load, trials: float) -> RoleLoad:
    model = settings.models[name]
    prompt, completion = load.prompt_tokens * trials, load.completion_tokens * trials
    cost = None
    if model.price_prompt is not None and model.price_completion is not None:
        cost = (prompt * model.price_prompt + completion * model.price_completion) / 1e6
    return RoleLoad(role, name, load.calls * trials, prompt, completion, cost)
