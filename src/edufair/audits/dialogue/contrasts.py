"""Section 3.4: every contrast on every metric, tested in pairs, and adjusted over its family."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from edufair.audits.dialogue.lined import RATES, Judged, bound, cells_of, pairs_of, row
from edufair.audits.dialogue.settings import DialogueSettings
from edufair.audits.family import adjusted
from edufair.design import arms
from edufair.hashing import derive_seed
from edufair.pairs import Grid, Pairs
from edufair.records import Finding
from edufair.stats import (
    bonferroni,
    equivalence,
    friedman,
    rank_biserial_interval,
    signed_rank,
)

#: A dimension with more than two levels is tested as a whole before its pairs (section 3.4).
FRIEDMAN_LEVEL = 0.10


def findings(one: Judged, contrasts: Sequence[arms.Contrast], settings: DialogueSettings) -> list[Finding]:
    """One tutor and one condition are a family: all domains x metrics x pairwise contrasts, adjusted together."""
    found: list[Finding] = []
    for model, condition in sorted({(grid.model, grid.condition) for grid in one.grids}):
        members = [
            finding
            for grid in one.grids
            if (grid.model, grid.condition) == (model, condition)
            for finding in _of_grid(one, grid, [c for c in contrasts if c.condition == condition], settings)
        ]
        family = f"{model}, {condition}, {one.source}"
        found += [f for f in adjusted(members, family) if f.metric in one.own]
    return found


def _of_grid(one: Judged, grid: Grid, contrasts: Sequence[arms.Contrast], settings: DialogueSettings) -> list[Finding]:
    tested = [_finding(one, grid, contrast, metric, settings) for contrast in contrasts for metric in one.metrics]
    return _bonferroni_within(tested, friedman_rows(grid, one, settings))


def _finding(one: Judged, grid: Grid, contrast: arms.Contrast, metric: str, settings: DialogueSettings) -> Finding:
    """A contrast on a metric: tested, or why it could not be."""
    rules = settings.analysis
    pairs = pairs_of(grid, contrast, metric)
    if pairs is None:
        return _untested(one, grid, contrast, metric, None, "insufficient", "an arm has not been carried out")
    if pairs.share_lost() > rules.max_loss:
        note = f"more than {rules.max_loss:.0%} of an arm's trials were lost"
        return _untested(one, grid, contrast, metric, pairs, "not evaluable", note)
    if pairs.n < rules.min_pairs:
        return _untested(one, grid, contrast, metric, pairs, "insufficient", f"fewer than {rules.min_pairs} pairs")
    seed = derive_seed(
        settings.seed, "interval", grid.model, grid.condition, grid.domain, contrast.a, contrast.b, metric
    )
    return replace(
        _untested(one, grid, contrast, metric, pairs, "tested", ""),
        **_estimates(pairs, metric, settings, np.random.default_rng(seed)),
    )


def _estimates(pairs: Pairs, metric: str, settings: DialogueSettings, rng: np.random.Generator) -> dict[str, Any]:
    """Effect, intervals and p of a contrast that has enough pairs."""
    rules = settings.analysis
    margin = rules.margin_rate if metric in RATES else rules.margin_share * _pooled_mean(pairs)
    test = signed_rank(pairs.d)
    interval = rank_biserial_interval(pairs.d, resamples=rules.resamples, rng=rng)
    small = equivalence(pairs.d, margin=margin, bound=bound(metric, settings)) if margin > 0 else None
    return {
        "mean_a": float(pairs.a.mean()),
        "mean_b": float(pairs.b.mean()),
        "difference": float(pairs.d.mean()),
        "difference_low": small.low if small else 0.0,
        "difference_high": small.high if small else 0.0,
        "margin": margin,
        "verdict": small.verdict if small else "shown to be small",
        "r": test.r,
        "r_low": interval.low,
        "r_high": interval.high,
        "nonzero": test.n_nonzero / test.n,
        "p": test.p,
        "p_min": test.p_min,
        "method": test.method,
        "violation": not interval.low <= 0 <= interval.high,
        "practical": abs(test.r) >= rules.practical_r,
    }


def _pooled_mean(pairs: Pairs) -> float:
    return float(abs(np.concatenate([pairs.a, pairs.b]).mean()))


def _untested(
    one: Judged, grid: Grid, contrast: arms.Contrast, metric: str, pairs: Pairs | None, status: Any, note: str
) -> Finding:
    """What a finding says whether or not it could be tested: who, what, how many, and what was lost."""
    lost_a, lost_b = pairs.lost_by_arm if pairs else (0, 0)
    return Finding(
        audit="dialogue",
        model=grid.model,
        condition=grid.condition,
        domain=grid.domain,
        dimension=contrast.dimension,
        a=contrast.a,
        b=contrast.b,
        metric=metric,
        source=one.source_of(metric),
        status=status,
        n=pairs.n if pairs else 0,
        n_items=pairs.n_items if pairs else 0,
        lost_a=lost_a,
        lost_b=lost_b,
        not_applicable_a=pairs.not_applicable[0] if pairs else 0,
        not_applicable_b=pairs.not_applicable[1] if pairs else 0,
        loss_p=pairs.loss_p() if pairs else None,
        note=note,
    )


def _bonferroni_within(tested: Sequence[Finding], friedmans: Sequence[dict[str, Any]]) -> list[Finding]:
    """Section 3.4: where Friedman over a dimension's levels gives p < 0.10, its pairs also by Bonferroni."""
    passed = {(r["dimension"], r["metric"]) for r in friedmans if r["p"] is not None and r["p"] < FRIEDMAN_LEVEL}
    out = list(tested)
    for dimension, metric in sorted(passed):
        here = [k for k, f in enumerate(out) if (f.dimension, f.metric) == (dimension, metric)]
        for k, p in zip(here, bonferroni([out[k].p for k in here]), strict=True):
            if out[k].p is not None:
                out[k] = replace(out[k], p_bonferroni=float(p))
    return out


def friedman_rows(grid: Grid, one: Judged, settings: DialogueSettings) -> list[dict[str, Any]]:
    """Friedman's test for each dimension of more than two levels and each metric, over items with all its levels."""
    if grid.condition != "explicit":
        return []
    rows = []
    for dimension in (d for d in settings.design.dimensions if len(arms.DIMENSIONS[d]) > 2):
        block = grid.block(cells_of(dimension), one.metrics)
        for m, metric in enumerate(one.metrics):
            x = block[:, :, m]
            x = x[~np.isnan(x).any(axis=1)]
            tested = _friedman(x) if len(x) >= settings.analysis.min_pairs else _NOT_TESTED
            rows.append({**row(grid, dimension=dimension, metric=metric, n=len(x)), **tested})
    return rows


_NOT_TESTED: dict[str, Any] = {"statistic": None, "p": None, "kendalls_w": None}


def _friedman(x: Any) -> dict[str, Any]:
    test = friedman(x)
    return {"statistic": test.statistic, "p": test.p, "kendalls_w": test.kendalls_w}


def pair_rows(one: Judged, contrasts: Sequence[arms.Contrast]) -> Iterator[dict[str, Any]]:
    """Every pair that differs, with its two trials: what a reader leafs through."""
    for grid in one.grids:
        for contrast in (c for c in contrasts if c.condition == grid.condition):
            for metric in one.own:
                pairs = pairs_of(grid, contrast, metric)
                if pairs is not None:
                    yield from _differing(one, grid, contrast, metric, pairs)


def _differing(one: Judged, grid: Grid, contrast: arms.Contrast, metric: str, pairs: Pairs) -> Iterator[dict[str, Any]]:
    column_a, column_b = grid.cells.index(contrast.cell_a.label), grid.cells.index(contrast.cell_b.label)
    name = f"{grid.model} | {grid.condition} | {grid.domain} | {contrast.dimension} | {contrast.a} - {contrast.b}"
    for place, a, b in zip(pairs.index, pairs.a, pairs.b, strict=True):
        if a != b:
            yield {
                "contrast": name,
                "item": grid.items[place],
                "metric": metric,
                "source": one.source_of(metric),
                "a": float(a),
                "b": float(b),
                "d": float(a - b),
                "size": abs(float(a - b)),
                "trial_a": grid.trials[place, column_a],
                "trial_b": grid.trials[place, column_b],
            }
