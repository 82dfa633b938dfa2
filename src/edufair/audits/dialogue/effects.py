"""Beside the contrasts: the opposite condition's effects, differences between tutors, and what metrics condition on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from edufair.audits.dialogue.lined import RATES, Judged, bound, pairs_of, row
from edufair.audits.dialogue.measure import CODE, CONDITIONING
from edufair.audits.dialogue.settings import DialogueSettings
from edufair.design import arms
from edufair.hashing import derive_seed
from edufair.pairs import Grid
from edufair.stats import holm, mean_interval, opposite_gap, rank_biserial_interval, signed_rank

if TYPE_CHECKING:
    from numpy.typing import NDArray


#: protocols: per item with all four cells; fm is a female student whose tutor is told male.
EFFECTS: Mapping[str, Callable[[Any, Any, Any, Any], Any]] = {
    "matched": lambda ff, fm, mf, mm: ff - mm,
    "mismatched": lambda ff, fm, mf, mm: fm - mf,
    "tutor": lambda ff, fm, mf, mm: ((ff - fm) + (mf - mm)) / 2,
    "student": lambda ff, fm, mf, mm: ((ff - mf) + (fm - mm)) / 2,
    "interaction": lambda ff, fm, mf, mm: ff - fm - mf + mm,
    "tutor told, female student": lambda ff, fm, mf, mm: ff - fm,
    "tutor told, male student": lambda ff, fm, mf, mm: mf - mm,
    "student, tutor told female": lambda ff, fm, mf, mm: ff - mf,
    "student, tutor told male": lambda ff, fm, mf, mm: fm - mm,
}


def opposite_effects(grid: Grid, one: Judged, settings: DialogueSettings) -> list[dict[str, Any]]:
    """Tutor effect, student effect, interaction and simple effects, over items with all four cells."""
    genders = arms.DIMENSIONS["gender"]
    cells = [arms.opposite_arm(student, told).label for student in genders for told in genders]
    block = grid.block(cells, one.metrics)
    rows = []
    for m, metric in enumerate(one.metrics):
        four = block[:, :, m]
        four = four[~np.isnan(four).any(axis=1)]
        for effect, combine in EFFECTS.items():
            d = combine(*four.T) if len(four) else np.empty(0)
            limit = _times(bound(metric, settings), 2 if effect == "interaction" else 1)
            estimate = _paired_estimate(d, limit, settings, grid.model, grid.domain, metric, effect)
            rows.append({**row(grid, metric=metric, effect=effect), **estimate})
    return rows


def scale_check(grid: Grid, one: Judged, settings: DialogueSettings) -> list[dict[str, Any]]:
    """Whether the bounds of a rate, 0 and 1, can have made the interaction of the opposite condition.

    A common shift is cut unequally where one kind of student's dialogues stand at a bound already: then an interaction
    appears that no interplay made (censored-scale audit, section 5; clipping form only).
    """
    genders = arms.DIMENSIONS["gender"]
    cells = [arms.opposite_arm(student, told).label for student in genders for told in genders]
    rows = []
    for metric in (m for m in one.metrics if m in RATES):
        four = grid.block(cells, [metric])[:, :, 0].reshape(-1, 2, 2)
        four = four[~np.isnan(four).any(axis=(1, 2))]
        if len(four) < settings.analysis.min_pairs:
            continue
        found = opposite_gap(four, seed=derive_seed(settings.seed, "scale", grid.model, grid.domain, metric))
        made = [c.share for c in found.constructions if not np.isnan(c.share)]
        rows.append(
            {
                **row(grid, metric=metric),
                "n": found.n_items,
                "interaction": found.gap.estimate,
                "low": found.gap.low,
                "high": found.gap.high,
                "p": found.gap.p,
                "pinned": max(each.share for each in found.pinned),
                "made_by_scale": max(made) if made else None,
                "verdict": found.verdict,
                "reason": found.reason,
            }
        )
    return rows


def _paired_estimate(
    d: NDArray[np.float64], limit: float | None, settings: DialogueSettings, *purpose: str
) -> dict[str, Any]:
    """Mean difference with its interval, r with its interval, and p; all missing below the least number of pairs.

    `limit` is the largest value that one difference can have, where there is one.
    """
    names = ("mean", "low", "high", "r", "r_low", "r_high", "p")
    if len(d) < settings.analysis.min_pairs:
        return {"n": len(d), **dict.fromkeys(names)}
    rng = np.random.default_rng(derive_seed(settings.seed, "effect", *purpose))
    test = signed_rank(d)
    interval = rank_biserial_interval(d, resamples=settings.analysis.resamples, rng=rng)
    mean = mean_interval(d, bound=limit)
    values = (mean.estimate, mean.low, mean.high, test.r, interval.low, interval.high, test.p)
    return {"n": len(d), **dict(zip(names, values, strict=True))}


def _times(limit: float | None, factor: float) -> float | None:
    return None if limit is None else limit * factor


def applicability(
    grid: Grid, one: Judged, contrasts: Sequence[arms.Contrast], settings: DialogueSettings
) -> list[dict[str, Any]]:
    """Did the cue change how often the student erred, and on how many turns the two gated metrics stand?"""
    rows = []
    for metric in (m for m in CONDITIONING if m in grid.metrics and one.source != CODE):
        for contrast in contrasts:
            pairs = pairs_of(grid, contrast, metric)
            if pairs is None:
                continue
            purpose = (grid.model, grid.condition, grid.domain, contrast.a, contrast.b, metric)
            found = _paired_estimate(pairs.d, bound(metric, settings), settings, *purpose)
            name = f"{contrast.a} - {contrast.b}"
            rows.append(
                {
                    **row(grid, dimension=contrast.dimension, contrast=name, metric=metric),
                    "n": found["n"],
                    "mean_a": float(pairs.a.mean()) if pairs.n else None,
                    "mean_b": float(pairs.b.mean()) if pairs.n else None,
                    "difference": found["mean"],
                    **{key: found[key] for key in ("low", "high", "r", "p")},
                }
            )
    return rows


def arm_means(grid: Grid, one: Judged) -> list[dict[str, Any]]:
    """Every arm's mean on every metric, over the dialogues that have a value."""
    rows = []
    for c, cell in enumerate(grid.cells):
        for metric in one.metrics:
            values = grid.values[:, c, grid.metrics.index(metric)]
            known = values[~np.isnan(values)]
            mean = float(known.mean()) if len(known) else None
            rows.append(row(grid, arm=cell, metric=metric, n=len(known), mean=mean))
    return rows


def tutor_differences(
    one: Judged, contrasts: Sequence[arms.Contrast], settings: DialogueSettings
) -> list[dict[str, Any]]:
    """Is one tutor's effect larger than another's? Differences of differences, paired by item."""
    rows: list[dict[str, Any]] = []
    for first, second in combinations(one.grids, 2):
        if (first.condition, first.domain) != (second.condition, second.domain):
            continue
        for contrast in (c for c in contrasts if c.condition == first.condition):
            for metric in one.metrics:
                d = _difference_of_effects(first, second, contrast, metric)
                purpose = (first.model, second.model, first.domain, contrast.a, contrast.b, metric)
                found = _paired_estimate(d, _times(bound(metric, settings), 2), settings, *purpose)
                rows.append(
                    {
                        "condition": first.condition,
                        "domain": first.domain,
                        "dimension": contrast.dimension,
                        "contrast": f"{contrast.a} - {contrast.b}",
                        "metric": metric,
                        "model_a": first.model,
                        "model_b": second.model,
                        "n": found["n"],
                        "difference": found["mean"],
                        **{key: found[key] for key in ("low", "high", "r", "p")},
                    }
                )
    for each, adjusted in zip(rows, holm([each["p"] for each in rows]), strict=True):
        each["p_holm"] = float(adjusted) if each["p"] is not None else None
    return rows


def _difference_of_effects(first: Grid, second: Grid, contrast: arms.Contrast, metric: str) -> NDArray[np.float64]:
    effects = []
    for grid in (first, second):
        pairs = pairs_of(grid, contrast, metric)
        if pairs is None:
            return np.empty(0)
        effects.append({grid.items[i]: float(d) for i, d in zip(pairs.index, pairs.d, strict=True)})
    common = sorted(effects[0].keys() & effects[1].keys())
    return np.array([effects[0][item] - effects[1][item] for item in common])
