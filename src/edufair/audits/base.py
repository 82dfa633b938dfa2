"""The Audit protocol: five verbs that every audit has, and the registry that finds them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from edufair.models.base import Message, Reply
from edufair.records import Arm, Finding, Item, Record, Score, Source, Trial

if TYPE_CHECKING:
    import polars as pl


class Ask(Protocol):
    """The only way an audit reaches a model. The engine stands behind it: cache, store, limits, retries."""

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

    def source(self, role: str, settings: Mapping[str, Any]) -> Source:
        """The source for scores a judge gives with these settings (prompt hash, mode, ...)."""
        ...


class View(Protocol):
    """A run, read only."""

    def scores(self) -> pl.DataFrame: ...

    def records(self) -> pl.DataFrame: ...

    def vectors(self) -> pl.DataFrame: ...


@dataclass(frozen=True)
class Analysis:
    """What an analysis gives: tidy findings, and the tables the paper's figures need, by name."""

    audit: str
    findings: tuple[Finding, ...]
    tables: Mapping[str, pl.DataFrame] = field(default_factory=dict)

    def to_frame(self) -> pl.DataFrame:
        """The findings, one row each."""
        from dataclasses import asdict

        import polars as pl

        return pl.DataFrame([asdict(f) for f in self.findings], infer_schema_length=None)


class Audit(Protocol):
    """An audit, top to bottom like its paper. `conduct` and `score` are pure functions of record and replies."""

    name: ClassVar[str]
    version: ClassVar[int]
    roles: ClassVar[tuple[str, ...]]
    audited: ClassVar[str]
    Settings: ClassVar[type]

    def items(self, settings: Any) -> Iterable[Item]: ...

    def arms(self, settings: Any) -> Sequence[Arm]: ...

    async def conduct(self, trial: Trial, ask: Ask) -> Record: ...

    def score(self, record: Record, ask: Ask) -> AsyncIterator[Score]: ...

    def analyse(self, view: View, settings: Any) -> Analysis: ...
