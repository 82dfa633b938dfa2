"""What Figures 2 to 5 average: mean |r|, and beside each the mean |r| that chance alone would give."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from edufair.audits.dialogue.lined import Judged, cells_of, row
from edufair.audits.dialogue.measure import CONVERSATIONAL, PEDAGOGICAL
from edufair.audits.dialogue.settings import DialogueSettings
from edufair.design import arms
from edufair.hashing import derive_seed
from edufair.pairs import Grid
from edufair.stats import mean_abs_r


def by_metric(
    grid: Grid, one: Judged, contrasts: Sequence[arms.Contrast], settings: DialogueSettings
) -> list[dict[str, Any]]:
    """Figure 2: mean |r| of each metric over the dimensions."""
    groups = _groups(grid, contrasts)
    return [
        {
            **row(grid, metric=metric),
            **_mean_r(grid, list(groups.values()), [metric], settings, "metric", metric),
        }
        for metric in one.metrics
    ]


def by_dimension(
    grid: Grid, one: Judged, contrasts: Sequence[arms.Contrast], settings: DialogueSettings
) -> list[dict[str, Any]]:
    """Figure 3: mean |r| of each dimension over the five turn-level metrics."""
    metrics = [m for m in one.metrics if m in PEDAGOGICAL]
    if not metrics:
        return []
    return [
        {
            **row(grid, dimension=dimension),
            **_mean_r(grid, [cells], metrics, settings, "dimension", dimension),
        }
        for dimension, cells in _groups(grid, contrasts).items()
    ]


def by_kind(
    grid: Grid, one: Judged, contrasts: Sequence[arms.Contrast], settings: DialogueSettings
) -> list[dict[str, Any]]:
    """Figures 4 and 5: mean |r| by what the names differ in, or by matched and mismatched, Ped. and Conv. apart."""
    rows = []
    names = {"matched": "Correct", "mismatched": "Wrong"}
    for kind in dict.fromkeys(c.kind for c in contrasts):
        cells = [(c.cell_a.label, c.cell_b.label) for c in contrasts if c.kind == kind]
        for group, wanted in (("Ped.", PEDAGOGICAL), ("Conv.", CONVERSATIONAL)):
            metrics = [m for m in one.metrics if m in wanted]
            if not metrics:
                continue
            label = {"setting": names[kind]} if kind in names else {"contrast_kind": kind}
            found = _mean_r(grid, cells, metrics, settings, kind, group)
            rows.append({**row(grid, **label, group=group), **found})
    return rows


def _groups(grid: Grid, contrasts: Sequence[arms.Contrast]) -> dict[str, tuple[str, ...]]:
    """The cells of each dimension: all its levels together, so that they are permuted within an item together."""
    groups: dict[str, tuple[str, ...]] = {}
    for contrast in contrasts:
        if grid.condition == "explicit":
            groups[contrast.dimension] = cells_of(contrast.dimension)
        else:
            groups[f"{contrast.dimension}: {contrast.a} - {contrast.b}"] = (
                contrast.cell_a.label,
                contrast.cell_b.label,
            )
    return groups


def _mean_r(
    grid: Grid,
    groups: Sequence[Sequence[str]],
    metrics: Sequence[str],
    settings: DialogueSettings,
    *purpose: str,
) -> dict[str, Any]:
    """Mean |r| with what chance alone would give: levels permuted within an item, all metrics together."""
    seed = derive_seed(settings.seed, "mean r", grid.model, grid.condition, grid.domain, *purpose)
    found = mean_abs_r(
        [grid.block(cells, metrics) for cells in groups],
        draws=settings.analysis.null_draws,
        min_pairs=settings.analysis.min_pairs,
        rng=np.random.default_rng(seed),
    )
    return {
        "mean_abs_r": _number(found.observed),
        "null_mean": _number(found.null_mean),
        "null_low": _number(found.null_low),
        "null_high": _number(found.null_high),
        "p": _number(found.p),
        "n_contrasts": found.n_contrasts,
        "n_left_out": found.n_left_out,
    }


def _number(value: float | None) -> float | None:
    return None if value is None or np.isnan(value) else float(value)
