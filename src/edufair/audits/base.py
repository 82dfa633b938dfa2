"""The Audit protocol: five verbs that every audit has, and the registry that finds them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from edufair.config import Settings
from edufair.models.base import Message, Reply
from edufair.records import Arm, Finding, Item, Record, Score, Source, Trial

if TYPE_CHECKING:
    import polars as pl


class Ask(Protocol):
    """The only way an audit reaches a model. The engine stands behind it: cache, store, limits, retries."""

    @property
    def settings(self) -> Any:
        """The audit's settings, as the plan froze them."""
        ...

    def has(self, role: str) -> bool:
        """Whether a role is filled (an audit without a judge measures what needs none)."""
        ...

    async def chat(
        self,
        role: str,
        messages: Sequence[Message],
        *,
        schema: Mapping[str, Any] | None = None,
        retry: int = 0,
        budget: float = 1.0,
    ) -> Reply:
        """Ask a role's model. `retry` numbers a deliberate second asking of the same thing; `budget` multiplies
        the token limit. Raises CallFailed when transport failed: let it pass, the engine makes it a failed record."""
        ...

    async def embed(self, role: str, texts: Sequence[str]) -> Sequence[Sequence[float]]: ...

    def secret(self, *purpose: str) -> str:
        """A word no text can know: derived from a secret of the run and `purpose`; the same at every call."""
        ...

    def source(self, role: str) -> Source:
        """What measures when this role does: its model, sampling, prompts and settings. A changed one is a new one."""
        ...


class View(Protocol):
    """A run, read only."""

    def items(self) -> Mapping[str, Item]:
        """The items of its plans, by id."""
        ...

    def scores(self) -> pl.DataFrame: ...

    def records(self) -> pl.DataFrame: ...

    def vectors(self) -> pl.DataFrame: ...


@dataclass(frozen=True)
class Analysis:
    """What an analysis gives: tidy findings, and the tables the paper's figures need, by name.

    `pairs` has the pairs behind the findings (contrast, item, metric, source, a, b, d, size, trial_a, trial_b).
    """

    audit: str
    findings: tuple[Finding, ...]
    tables: Mapping[str, pl.DataFrame] = field(default_factory=dict)
    pairs: pl.DataFrame | None = None

    def to_frame(self) -> pl.DataFrame:
        """The findings, one row each."""
        from dataclasses import asdict

        import polars as pl

        return pl.DataFrame([asdict(f) for f in self.findings], infer_schema_length=None)


class Audit(Protocol):
    """An audit, top to bottom like its paper. `conduct` and `score` are pure functions of record and replies."""

    name: ClassVar[str]
    version: ClassVar[int]
    audited: ClassVar[str]
    shaping_roles: ClassVar[tuple[str, ...]]
    judge_role: ClassVar[str | None]
    Settings: ClassVar[type[Settings]]

    def items(self, settings: Any) -> Iterable[Item]: ...

    def arms(self, settings: Any) -> Sequence[Arm]: ...

    async def conduct(self, trial: Trial, ask: Ask) -> Record: ...

    def score(self, record: Record, ask: Ask) -> AsyncIterator[Score]: ...

    def analyse(self, view: View, settings: Any) -> Analysis: ...


def registry() -> dict[str, Audit]:
    """Every installed audit by name: ours and plug-ins alike, found by the entry point `edufair.audits`."""
    from importlib.metadata import entry_points

    found: dict[str, Audit] = {}
    for point in sorted(entry_points(group="edufair.audits"), key=lambda p: p.name):
        found[point.name] = point.load()()
    return found
