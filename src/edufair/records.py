"""The frozen records that cross rooms. They know nothing of models, stores or statistics."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

RecordStatus = Literal["done", "failed"]

FindingStatus = Literal["tested", "insufficient", "not evaluable"]

#: The reason of a score that has no value because the question does not arise: not a loss.
NOT_APPLICABLE = "not applicable"

Verdict = Literal["differs", "differs but small", "shown to be small", "undecided"]


@dataclass(frozen=True, slots=True)
class Item:
    """What is asked about: a question, a topic, an essay.

    `text` is the question (or topic, essay) word for word; `data` holds what only some audits need.
    For a dialogue: `answer` (str), `accepted` (list of str), `support` (str), `grade` (int).
    """

    id: str
    domain: str
    text: str
    data: Mapping[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        return {"id": self.id, "domain": self.domain, "text": self.text, "data": dict(self.data)}

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> Item:
        return cls(raw["id"], raw["domain"], raw["text"], raw["data"])


@dataclass(frozen=True, slots=True)
class Arm:
    """A condition and, for each role, the levels it is given.

    `levels` is a sorted tuple of (role, dimension, level); empty for the baseline.
    """

    condition: str
    levels: tuple[tuple[str, str, str], ...] = ()

    @property
    def label(self) -> str:
        """One readable, unique name: ``explicit tutor.gender=female``."""
        return " ".join([self.condition, *(f"{role}.{dim}={level}" for role, dim, level in self.levels)])

    def level(self, role: str, dimension: str) -> str | None:
        """The level this arm gives to a role on a dimension, or None."""
        return next((lv for r, d, lv in self.levels if r == role and d == dimension), None)

    def to_json(self) -> dict[str, Any]:
        return {"condition": self.condition, "levels": [list(level) for level in self.levels]}

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> Arm:
        return cls(raw["condition"], tuple((r, d, lv) for r, d, lv in raw["levels"]))


@dataclass(frozen=True, slots=True)
class Trial:
    """One (audited model, item, arm, replicate). `id` is a hash of everything that shapes its record."""

    id: str
    audit: str
    model: str
    item: Item
    arm: Arm
    replicate: int = 1


@dataclass(frozen=True, slots=True)
class Turn:
    """One utterance of a dialogue. `number` counts from 1 over both roles; reasoning is never shown to others."""

    number: int
    role: str
    text: str
    reasoning: str = ""
    finish_reason: str = ""

    def to_json(self) -> dict[str, Any]:
        return {
            "number": self.number,
            "role": self.role,
            "text": self.text,
            "reasoning": self.reasoning,
            "finish_reason": self.finish_reason,
        }


@dataclass(frozen=True, slots=True)
class Record:
    """What a trial produced.

    `status` is `done` or `failed`; a failed record gives its `reason` (one of a few short words such as
    `transport`, `refused`, `filtered`, `truncated`, `empty`, `context`, `student fault`) and keeps what was
    produced so far. `data` holds what only one audit knows (how a dialogue ended, a chosen letter).
    """

    trial: Trial
    status: RecordStatus
    reason: str = ""
    turns: tuple[Turn, ...] = ()
    data: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Score:
    """One number measured on a record; `turn` 0 is the whole record; `value` None is missing and says why."""

    trial: str
    turn: int
    metric: str
    source: str
    value: float | None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Source:
    """What measured a score: code, a judge with all its settings, or a person."""

    id: str
    kind: Literal["code", "judge", "person"]
    name: str
    settings: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Finding:
    """One contrast on one metric: level A minus level B over the items both have.

    Estimates are None when `status` is not `tested`. `violation` is the paper's rule (the 95% interval of r
    excludes zero); `finding` is ours (Holm-adjusted p < 0.05 and |r| >= 0.10). `reservation` says why a difference
    that the test finds is nevertheless no finding (a bounded scale may have made it).
    """

    audit: str
    model: str
    condition: str
    domain: str
    dimension: str
    a: str
    b: str
    metric: str
    source: str
    status: FindingStatus
    n: int
    n_items: int
    lost_a: int
    lost_b: int
    not_applicable_a: int = 0
    not_applicable_b: int = 0
    loss_p: float | None = None
    mean_a: float | None = None
    mean_b: float | None = None
    difference: float | None = None
    difference_low: float | None = None
    difference_high: float | None = None
    r: float | None = None
    r_low: float | None = None
    r_high: float | None = None
    nonzero: float | None = None
    p: float | None = None
    p_min: float | None = None
    p_holm: float | None = None
    p_bh: float | None = None
    p_bonferroni: float | None = None
    method: str = ""
    family: str = ""
    family_size: int = 0
    margin: float | None = None
    verdict: Verdict | None = None
    violation: bool | None = None
    practical: bool | None = None
    finding: bool | None = None
    reservation: str = ""
    planned: bool = True
    note: str = ""

    @property
    def contrast(self) -> str:
        return f"{self.a} - {self.b}"
