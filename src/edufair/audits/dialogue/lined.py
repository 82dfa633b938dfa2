"""Scores lined up for one judge: its grids, its metrics, and small things every table needs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from edufair import pairs as lining
from edufair.audits.dialogue.measure import CODE, CONDITIONING, CONVERSATIONAL, PEDAGOGICAL
from edufair.audits.dialogue.settings import DialogueSettings
from edufair.design import arms
from edufair.pairs import Grid, Pairs

if TYPE_CHECKING:
    import polars as pl

#: Metrics that are rates between 0 and 1: their margin is in points, the others' a share of the pooled mean.
RATES = frozenset({*PEDAGOGICAL, "tutor_question_rate", "student_mistake_rate"})


@dataclass(frozen=True)
class Judged:
    """The grids of one judge with its metrics; `own` are the metrics whose findings are reported under it."""

    source: str
    grids: tuple[Grid, ...]
    metrics: tuple[str, ...]
    own: tuple[str, ...]

    def source_of(self, metric: str) -> str:
        return self.source if metric in PEDAGOGICAL or metric in CONDITIONING else CODE


def by_judge(scores: pl.DataFrame, records: pl.DataFrame) -> Iterator[Judged]:
    """The scores lined up once for each judge; code's own metrics are reported with the first."""
    judges = sorted(name for name in scores["source"].unique().to_list() if name.startswith("judge:"))
    for place, judge in enumerate(judges or [""]):
        metrics = (*(PEDAGOGICAL if judge else ()), *CONVERSATIONAL)
        beside = CONDITIONING if judge else ()
        grids = lining.grids(scores, records, metrics=[*metrics, *beside], sources=[CODE, judge])
        own = metrics if place == 0 else PEDAGOGICAL
        yield Judged(judge or CODE, tuple(grids), metrics, own)


def pairs_of(grid: Grid, contrast: arms.Contrast, metric: str) -> Pairs | None:
    """The pairs of a contrast, None where an arm has not been carried out at all."""
    a, b = contrast.cell_a.label, contrast.cell_b.label
    return grid.pairs(a, b, metric) if a in grid.cells and b in grid.cells else None


def bound(metric: str, settings: DialogueSettings) -> float | None:
    """The largest difference a metric can have between two dialogues, where there is one."""
    if metric in RATES:
        return 1.0
    counts = {"tutor_turns": settings.dialogue.max_turns - 1, "applicable_turns": settings.dialogue.max_turns}
    return float(max(counts[metric], 1)) if metric in counts else None


def cells_of(dimension: str) -> tuple[str, ...]:
    """The cells of a dimension's levels in the explicit condition."""
    return tuple(arms.explicit_arm(dimension, level).label for level in arms.DIMENSIONS[dimension])


def row(grid: Grid, **more: Any) -> dict[str, Any]:
    """A row of a table: whose grid it is, and what it says."""
    return {"model": grid.model, "condition": grid.condition, "domain": grid.domain, **more}
