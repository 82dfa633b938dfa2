"""The paired analysis of section 3.4: contrasts, then what Figures 2 to 5 average, then what we add."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from edufair.audits.base import Analysis, View
from edufair.audits.dialogue import averages, counts, effects
from edufair.audits.dialogue.contrasts import findings, friedman_rows, pair_rows
from edufair.audits.dialogue.lined import Judged, by_judge
from edufair.audits.dialogue.settings import DialogueSettings
from edufair.design import arms

if TYPE_CHECKING:
    import polars as pl


def analyse(view: View, settings: DialogueSettings) -> Analysis:
    """Findings for every contrast and metric, by every judge that has scored, and the tables of the figures."""
    scores, records = view.scores(), view.records()
    planned = arms.contrasts(settings.design.conditions, settings.design.dimensions)
    judged = list(by_judge(scores, records))
    found = tuple(f for one in judged for f in findings(one, planned, settings))
    tables: dict[str, list[dict[str, Any]]] = {}
    for one in judged:
        for name, rows in _tables(one, planned, settings).items():
            tables.setdefault(name, []).extend({**row, "source": one.source} for row in rows)
    frames = {name: _frame(rows) for name, rows in tables.items() if rows}
    frames["losses"] = counts.losses(scores, records)
    frames["endings"] = counts.endings(scores, records)
    frames["remarks"] = counts.remarks(scores, records)
    pairs = _frame([row for one in judged for row in pair_rows(one, planned)])
    return Analysis("dialogue", found, {name: f for name, f in frames.items() if f.height}, pairs)


def _tables(
    one: Judged, contrasts: Sequence[arms.Contrast], settings: DialogueSettings
) -> dict[str, list[dict[str, Any]]]:
    tables: dict[str, list[dict[str, Any]]] = {
        "mean_r_by_metric": [],
        "mean_r_by_dimension": [],
        "implicit": [],
        "opposite": [],
        "opposite_effects": [],
        "opposite_scale": [],
        "friedman": [],
        "applicability": [],
        "arm_means": [],
    }
    for grid in one.grids:
        chosen = [c for c in contrasts if c.condition == grid.condition]
        tables["mean_r_by_metric"] += averages.by_metric(grid, one, chosen, settings)
        tables["mean_r_by_dimension"] += averages.by_dimension(grid, one, chosen, settings)
        if grid.condition in ("implicit", "opposite"):
            tables[grid.condition] += averages.by_kind(grid, one, chosen, settings)
        if grid.condition == "opposite":
            tables["opposite_effects"] += effects.opposite_effects(grid, one, settings)
            tables["opposite_scale"] += effects.scale_check(grid, one, settings)
        tables["friedman"] += friedman_rows(grid, one, settings)
        tables["applicability"] += effects.applicability(grid, one, chosen, settings)
        tables["arm_means"] += effects.arm_means(grid, one)
    tables["tutor_differences"] = effects.tutor_differences(one, contrasts, settings)
    return tables


def _frame(rows: Iterable[Mapping[str, Any]]) -> pl.DataFrame:
    import polars as pl

    return pl.DataFrame(list(rows), infer_schema_length=None)
