"""The plan: items x arms x audited models x replicates, frozen and hashed before any record exists.

Trials are never stored before they have run: the plan expands lazily, so that a million of them cost no memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from edufair.hashing import digest
from edufair.records import Arm, Item, Trial

#: Settings that change how a run is carried out and nothing about what it is: not part of a plan's hash.
NOT_DESIGN = ("run", "limits", "models")


@dataclass(frozen=True)
class Plan:
    """A frozen design. `items` holds (hash, id, domain) in the order in which they are asked.

    `common` stands for what shapes the records of all audited models alike, `shapes` for that and the model itself.
    """

    audit: str
    audit_version: int
    name: str
    seed: int
    settings: Mapping[str, Any]
    models: Mapping[str, str]
    audited: tuple[str, ...]
    arms: tuple[tuple[Arm, int], ...]
    contrasts: tuple[Mapping[str, Any], ...]
    prompts: Mapping[str, str]
    items: tuple[tuple[str, str, str], ...]
    common: str
    shapes: Mapping[str, str]
    hash: str = field(default="", compare=False)

    @property
    def n_trials(self) -> int:
        return len(self.items) * len(self.audited) * sum(times for _, times in self.arms)

    def items_by_domain(self) -> dict[str, int]:
        counts: dict[str, int] = {}
        for _, _, domain in self.items:
            counts[domain] = counts.get(domain, 0) + 1
        return counts

    def trials(self, content: Callable[[Iterable[str]], Iterator[tuple[str, Item]]]) -> Iterator[tuple[Trial, str]]:
        """Every trial with its item's hash, item by item: all arms of an item stand close together.

        `content` gives items by hash, in order and in blocks.
        """
        for item_hash, item in content(row[0] for row in self.items):
            for model in self.audited:
                for arm, times in self.arms:
                    for replicate in range(1, times + 1):
                        yield self.trial(model, item_hash, item, arm, replicate), item_hash

    def trial(self, model: str, item_hash: str, item: Item, arm: Arm, replicate: int) -> Trial:
        return Trial(self._id(model, item_hash, arm, replicate), self.audit, model, item, arm, replicate)

    def trial_ids(self, model: str) -> Iterator[tuple[tuple[str, str, str, int], str]]:
        """The ids of a model's trials by (model, item's id, arm, replicate), without the items' content."""
        for item_hash, item_id, _ in self.items:
            for arm, times in self.arms:
                for replicate in range(1, times + 1):
                    yield (model, item_id, arm.label, replicate), self._id(model, item_hash, arm, replicate)

    def _id(self, model: str, item_hash: str, arm: Arm, replicate: int) -> str:
        return digest([self.shapes[model], item_hash, arm.to_json(), replicate])

    def to_json(self) -> dict[str, Any]:
        return {
            "audit": self.audit,
            "audit_version": self.audit_version,
            "name": self.name,
            "seed": self.seed,
            "settings": dict(self.settings),
            "models": dict(self.models),
            "audited": list(self.audited),
            "arms": [[arm.to_json(), times] for arm, times in self.arms],
            "contrasts": [dict(contrast) for contrast in self.contrasts],
            "prompts": dict(self.prompts),
            "items": [list(row) for row in self.items],
            "common": self.common,
            "shapes": dict(self.shapes),
        }

    @classmethod
    def from_json(cls, raw: Mapping[str, Any], plan_hash: str) -> Plan:
        return cls(
            audit=raw["audit"],
            audit_version=raw["audit_version"],
            name=raw["name"],
            seed=raw["seed"],
            settings=raw["settings"],
            models=raw["models"],
            audited=tuple(raw["audited"]),
            arms=tuple((Arm.from_json(arm), times) for arm, times in raw["arms"]),
            contrasts=tuple(raw["contrasts"]),
            prompts=raw["prompts"],
            items=tuple((h, i, d) for h, i, d in raw["items"]),
            common=raw["common"],
            shapes=raw["shapes"],
            hash=plan_hash,
        )


def freeze(
    *,
    audit: str,
    audit_version: int,
    name: str,
    seed: int,
    settings: Mapping[str, Any],
    identities: Mapping[str, str],
    audited: Mapping[str, Any],
    shaping: Mapping[str, Any],
    arms: Sequence[tuple[Arm, int]],
    contrasts: Sequence[Mapping[str, Any]],
    prompts: Mapping[str, str],
    items: Sequence[tuple[str, str, str]],
) -> Plan:
    """A plan with its hash.

    `identities` stand for the models (a model id, a file's SHA-256; never an address); `audited` says by name what
    stands for each audited model; `shaping` is everything but the audited model, the item, the arm and the replicate
    that shapes a record: the sampling, the other roles, prompts, the settings of the conversation. The judge and its
    prompts, the analysis, limits, prices and paths are not in it.
    """
    common = digest([audit, audit_version, shaping])
    plan = Plan(
        audit=audit,
        audit_version=audit_version,
        name=name,
        seed=seed,
        settings={key: value for key, value in settings.items() if key not in NOT_DESIGN},
        models=dict(identities),
        audited=tuple(audited),
        arms=tuple(arms),
        contrasts=tuple(contrasts),
        prompts=dict(prompts),
        items=tuple(items),
        common=common,
        shapes={model: digest([common, model, stands_for]) for model, stands_for in audited.items()},
    )
    return Plan(**{**vars(plan), "hash": digest(plan.to_json())})


def item_hash(item: Item) -> str:
    """Stands for an item's content: equal questions in two banks are one item."""
    return digest(item.to_json())
