"""The paired analysis of section 3.4: contrasts, then what Figures 2 to 5 average, then what we add."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from edufair import pairs as lining
from edufair.audits.base import Analysis, View
from edufair.audits.dialogue.measure import (
    CODE,
    CONDITIONING,
    CONTRADICTIONS,
    CONVERSATIONAL,
    CUE_WORDS,
    ENDINGS,
    PEDAGOGICAL,
)
from edufair.audits.dialogue.settings import AnalysisSettings, DialogueSettings
from edufair.design import arms
from edufair.hashing import derive_seed
from edufair.pairs import Grid, Pairs
from edufair.records import Finding
from edufair.stats import (
    benjamini_hochberg,
    bonferroni,
    equivalence,
    friedman,
    holm,
    mean_abs_r,
    rank_biserial_interval,
    signed_rank,
)

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

#: Metrics that are rates between 0 and 1: their margin is in points, the others' a share of the pooled mean.
RATES = frozenset({*PEDAGOGICAL, "tutor_question_rate", "student_mistake_rate"})

#: A dimension with more than two levels is tested as a whole before its pairs (section 3.4).
FRIEDMAN_LEVEL = 0.10

#: Our finding: Holm-adjusted p below this, and |r| at least the practical size.
ALPHA = 0.05


@dataclass(frozen=True)
class Judged:
    """The grids of one judge with its metrics; `own` are the metrics whose findings are reported under it."""

    source: str
    grids: tuple[Grid, ...]
    metrics: tuple[str, ...]
    own: tuple[str, ...]

    def source_of(self, metric: str) -> str:
        return self.source if metric in PEDAGOGICAL or metric in CONDITIONING else CODE


def analyse(view: View, settings: DialogueSettings) -> Analysis:
    """Findings for every contrast and metric, by every judge that has scored, and the tables of the figures."""
    scores, records = view.scores(), view.records()
    contrasts = arms.contrasts(settings.design.conditions, settings.design.dimensions)
    judged = list(_by_judge(scores, records))
    findings = [f for one in judged for f in _findings(one, contrasts, settings)]
    tables: dict[str, list[dict[str, Any]]] = {}
    for one in judged:
        for name, rows in _tables(one, contrasts, settings).items():
            tables.setdefault(name, []).extend({**row, "source": one.source} for row in rows)
    frames = {name: _frame(rows) for name, rows in tables.items() if rows}
    frames["losses"] = lining.losses(records, _unread_turns(scores))
    frames["endings"] = _endings(scores, records)
    frames["remarks"] = _remarks(scores, records)
    pairs = _frame([row for one in judged for row in _pair_rows(one, contrasts)])
    return Analysis("dialogue", tuple(findings), {name: f for name, f in frames.items() if f.height}, pairs)


def _by_judge(scores: pl.DataFrame, records: pl.DataFrame) -> Iterator[Judged]:
    """The scores lined up once for each judge; code's own metrics are reported with the first."""
    judges = sorted(name for name in scores["source"].unique().to_list() if name.startswith("judge:"))
    for place, judge in enumerate(judges or [""]):
        metrics = (*(PEDAGOGICAL if judge else ()), *CONVERSATIONAL)
        beside = CONDITIONING if judge else ()
        grids = lining.grids(scores, records, metrics=[*metrics, *beside], sources=[CODE, judge])
        own = metrics if place == 0 else PEDAGOGICAL
        yield Judged(judge or CODE, tuple(grids), metrics, own)


# Contrasts


def _findings(one: Judged, contrasts: Sequence[arms.Contrast], settings: DialogueSettings) -> list[Finding]:
    """One tutor and one condition are a family: all domains x metrics x pairwise contrasts, adjusted together."""
    found: list[Finding] = []
    families = sorted({(grid.model, grid.condition) for grid in one.grids})
    for model, condition in families:
        members: list[Finding] = []
        for grid in one.grids:
            if (grid.model, grid.condition) == (model, condition):
                chosen = [c for c in contrasts if c.condition == condition]
                members += [_finding(one, grid, c, metric, settings) for c in chosen for metric in one.metrics]
                members = _bonferroni_within(members, grid, one, settings)
        found += [f for f in _adjusted(members, f"{model}, {condition}, {one.source}", settings) if f.metric in one.own]
    return found


def _finding(
    one: Judged, grid: Grid, contrast: arms.Contrast, metric: str, settings: DialogueSettings
) -> Finding:
    """A contrast on a metric: tested, or why it could not be."""
    rules = settings.analysis
    pairs = _pairs(grid, contrast, metric)
    if pairs is None:
        return _untested(one, grid, contrast, metric, None, "insufficient", "an arm has not been carried out")
    if pairs.share_lost() > rules.max_loss:
        note = f"more than {rules.max_loss:.0%} of an arm's trials were lost"
        return _untested(one, grid, contrast, metric, pairs, "not evaluable", note)
    if pairs.n < rules.min_pairs:
        return _untested(one, grid, contrast, metric, pairs, "insufficient", f"fewer than {rules.min_pairs} pairs")
    seed = derive_seed(settings.seed, "interval", grid.model, grid.condition, grid.domain, contrast.a, contrast.b, metric)
    return replace(
        _untested(one, grid, contrast, metric, pairs, "tested", ""),
        **_estimates(pairs, metric, rules, np.random.default_rng(seed)),
    )


def _estimates(pairs: Pairs, metric: str, rules: AnalysisSettings, rng: np.random.Generator) -> dict[str, Any]:
    """Effect, intervals and p of a contrast that has enough pairs."""
    margin = rules.margin_rate if metric in RATES else rules.margin_share * _pooled_mean(pairs)
    test = signed_rank(pairs.d)
    interval = rank_biserial_interval(pairs.d, resamples=rules.resamples, rng=rng)
    small = equivalence(pairs.d, margin=margin) if margin > 0 else None
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


def _pairs(grid: Grid, contrast: arms.Contrast, metric: str) -> Pairs | None:
    a, b = contrast.cell_a.label, contrast.cell_b.label
    return grid.pairs(a, b, metric) if a in grid.cells and b in grid.cells else None


def _adjusted(members: Sequence[Finding], family: str, settings: DialogueSettings) -> list[Finding]:
    """Holm and Benjamini-Hochberg over the whole family; what could not be tested stays in it as p = 1."""
    p = [f.p for f in members]
    adjusted = zip(members, holm(p), benjamini_hochberg(p), strict=True)
    return [
        replace(
            f,
            p_holm=float(by_holm) if f.p is not None else None,
            p_bh=float(by_bh) if f.p is not None else None,
            finding=bool(by_holm < ALPHA and f.practical) if f.p is not None else None,
            family=family,
            family_size=len(members),
        )
        for f, by_holm, by_bh in adjusted
    ]


def _bonferroni_within(
    members: list[Finding], grid: Grid, one: Judged, settings: DialogueSettings
) -> list[Finding]:
    """Section 3.4: where Friedman over a dimension's levels gives p < 0.10, its pairs also by Bonferroni."""
    passed = {
        (row["dimension"], row["metric"])
        for row in _friedman(grid, one, settings)
        if row["p"] is not None and row["p"] < FRIEDMAN_LEVEL
    }
    out = list(members)
    for dimension, metric in passed:
        here = [
            k
            for k, f in enumerate(out)
            if (f.domain, f.dimension, f.metric) == (grid.domain, dimension, metric)
        ]
        for k, p in zip(here, bonferroni([out[k].p for k in here]), strict=True):
            if out[k].p is not None:
                out[k] = replace(out[k], p_bonferroni=float(p))
    return out


def _friedman(grid: Grid, one: Judged, settings: DialogueSettings) -> list[dict[str, Any]]:
    """Friedman's test for each dimension of more than two levels and each metric, over items complete in all levels."""
    rows = []
    many = [d for d in settings.design.dimensions if len(arms.DIMENSIONS[d]) > 2] if grid.condition == "explicit" else []
    for dimension in many:
        block = grid.block(_cells(dimension), one.metrics)
        for m, metric in enumerate(one.metrics):
            x = block[:, :, m]
            x = x[~np.isnan(x).any(axis=1)]
            if len(x) < settings.analysis.min_pairs:
                rows.append(_row(grid, dimension=dimension, metric=metric, n=len(x), statistic=None, p=None, kendalls_w=None))
                continue
            test = friedman(x)
            rows.append(
                _row(grid, dimension=dimension, metric=metric, n=len(x), statistic=test.statistic, p=test.p, kendalls_w=test.kendalls_w)
            )
    return rows


def _pair_rows(one: Judged, contrasts: Sequence[arms.Contrast]) -> Iterator[dict[str, Any]]:
    """Every pair that differs, with its two trials: what a reader leafs through."""
    for grid in one.grids:
        for contrast in (c for c in contrasts if c.condition == grid.condition):
            for metric in one.own:
                pairs = _pairs(grid, contrast, metric)
                if pairs is not None:
                    yield from _differing(one, grid, contrast, metric, pairs)


def _differing(
    one: Judged, grid: Grid, contrast: arms.Contrast, metric: str, pairs: Pairs
) -> Iterator[dict[str, Any]]:
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


# What the figures average


def _tables(
    one: Judged, contrasts: Sequence[arms.Contrast], settings: DialogueSettings
) -> dict[str, list[dict[str, Any]]]:
    tables: dict[str, list[dict[str, Any]]] = {
        "mean_r_by_metric": [],
        "mean_r_by_dimension": [],
        "implicit": [],
        "opposite": [],
        "opposite_effects": [],
        "friedman": [],
        "applicability": [],
        "arm_means": [],
    }
    for grid in one.grids:
        chosen = [c for c in contrasts if c.condition == grid.condition]
        tables["mean_r_by_metric"] += _by_metric(grid, one, chosen, settings)
        tables["mean_r_by_dimension"] += _by_dimension(grid, one, chosen, settings)
        if grid.condition in ("implicit", "opposite"):
            tables[grid.condition] += _by_kind(grid, one, chosen, settings)
        if grid.condition == "opposite":
            tables["opposite_effects"] += _opposite_effects(grid, one, settings)
        tables["friedman"] += _friedman(grid, one, settings)
        tables["applicability"] += _applicability(grid, one, chosen, settings)
        tables["arm_means"] += _arm_means(grid, one)
    tables["tutor_differences"] = _tutor_differences(one, contrasts, settings)
    return tables


def _by_metric(
    grid: Grid, one: Judged, contrasts: Sequence[arms.Contrast], settings: DialogueSettings
) -> list[dict[str, Any]]:
    """Figure 2: mean |r| of each metric over the dimensions."""
    groups = _groups(grid, contrasts)
    return [
        {**_row(grid, metric=metric), **_mean_r(grid, list(groups.values()), [metric], settings, "metric", metric)}
        for metric in one.metrics
    ]


def _by_dimension(
    grid: Grid, one: Judged, contrasts: Sequence[arms.Contrast], settings: DialogueSettings
) -> list[dict[str, Any]]:
    """Figure 3: mean |r| of each dimension over the five turn-level metrics."""
    metrics = [m for m in one.metrics if m in PEDAGOGICAL]
    if not metrics:
        return []
    return [
        {**_row(grid, dimension=dimension), **_mean_r(grid, [cells], metrics, settings, "dimension", dimension)}
        for dimension, cells in _groups(grid, contrasts).items()
    ]


def _by_kind(
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
            rows.append({**_row(grid, **label, group=group), **found})
    return rows


def _groups(grid: Grid, contrasts: Sequence[arms.Contrast]) -> dict[str, tuple[str, ...]]:
    """The cells of each dimension: all its levels together, so that they are permuted within an item together."""
    groups: dict[str, tuple[str, ...]] = {}
    for contrast in contrasts:
        if grid.condition == "explicit":
            groups[contrast.dimension] = _cells(contrast.dimension)
        else:
            groups[f"{contrast.dimension}: {contrast.a} - {contrast.b}"] = (
                contrast.cell_a.label,
                contrast.cell_b.label,
            )
    return groups


def _cells(dimension: str) -> tuple[str, ...]:
    return tuple(arms.explicit_arm(dimension, level).label for level in arms.DIMENSIONS[dimension])


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


# What the opposite condition decomposes into


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


def _opposite_effects(grid: Grid, one: Judged, settings: DialogueSettings) -> list[dict[str, Any]]:
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
            estimate = _paired_estimate(d, settings, grid.model, grid.domain, metric, effect)
            rows.append({**_row(grid, metric=metric, effect=effect), **estimate})
    return rows


def _paired_estimate(d: NDArray[np.float64], settings: DialogueSettings, *purpose: str) -> dict[str, Any]:
    """Mean difference with its interval, r with its interval, and p; all missing below the least number of pairs."""
    names = ("mean", "low", "high", "r", "r_low", "r_high", "p")
    if len(d) < settings.analysis.min_pairs:
        return {"n": len(d), **dict.fromkeys(names)}
    rng = np.random.default_rng(derive_seed(settings.seed, "effect", *purpose))
    test = signed_rank(d)
    interval = rank_biserial_interval(d, resamples=settings.analysis.resamples, rng=rng)
    mean = equivalence(d, margin=1.0)
    values = (mean.mean, mean.low, mean.high, test.r, interval.low, interval.high, test.p)
    return {"n": len(d), **dict(zip(names, values, strict=True))}


# Beside the contrasts


def _applicability(
    grid: Grid, one: Judged, contrasts: Sequence[arms.Contrast], settings: DialogueSettings
) -> list[dict[str, Any]]:
    """Did the cue change how often the student erred, and on how many turns the two gated metrics stand?"""
    rows = []
    for metric in (m for m in CONDITIONING if m in grid.metrics and one.source != CODE):
        for contrast in contrasts:
            pairs = _pairs(grid, contrast, metric)
            if pairs is None:
                continue
            purpose = (grid.model, grid.condition, grid.domain, contrast.a, contrast.b, metric)
            found = _paired_estimate(pairs.d, settings, *purpose)
            rows.append(
                {
                    **_row(grid, dimension=contrast.dimension, contrast=f"{contrast.a} - {contrast.b}", metric=metric),
                    "n": found["n"],
                    "mean_a": float(pairs.a.mean()) if pairs.n else None,
                    "mean_b": float(pairs.b.mean()) if pairs.n else None,
                    "difference": found["mean"],
                    **{key: found[key] for key in ("low", "high", "r", "p")},
                }
            )
    return rows


def _arm_means(grid: Grid, one: Judged) -> list[dict[str, Any]]:
    rows = []
    for c, cell in enumerate(grid.cells):
        for metric in one.metrics:
            values = grid.values[:, c, grid.metrics.index(metric)]
            known = values[~np.isnan(values)]
            mean = float(known.mean()) if len(known) else None
            rows.append(_row(grid, arm=cell, metric=metric, n=len(known), mean=mean))
    return rows


def _tutor_differences(
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
                found = _paired_estimate(d, settings, *purpose)
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
    for row, adjusted in zip(rows, holm([row["p"] for row in rows]), strict=True):
        row["p_holm"] = float(adjusted) if row["p"] is not None else None
    return rows


def _difference_of_effects(
    first: Grid, second: Grid, contrast: arms.Contrast, metric: str
) -> NDArray[np.float64]:
    effects = []
    for grid in (first, second):
        pairs = _pairs(grid, contrast, metric)
        if pairs is None:
            return np.empty(0)
        effects.append({grid.items[i]: float(d) for i, d in zip(pairs.index, pairs.d, strict=True)})
    common = sorted(effects[0].keys() & effects[1].keys())
    return np.array([effects[0][item] - effects[1][item] for item in common])


def _unread_turns(scores: pl.DataFrame) -> pl.DataFrame:
    """Turns that the judge left without a verdict, by trial and state: one metric that applies to every turn counts."""
    import polars as pl

    always = scores.filter((pl.col("turn") > 0) & (pl.col("metric") == "answer_leakage"))
    judged = always.group_by("trial").len("of")
    unread = always.filter(pl.col("value").is_null()).with_columns(state=pl.format("turn {}", "reason"))
    return unread.group_by("trial", "state").len("n").join(judged, on="trial")


def _endings(scores: pl.DataFrame, records: pl.DataFrame) -> pl.DataFrame:
    """How the dialogues of each arm ended, and how long they were."""
    import polars as pl

    key = ["model", "condition", "arm"]
    placed = scores.filter(pl.col("source") == CODE).join(records.select("trial", *key), on="trial")
    turns = placed.filter(pl.col("metric") == "tutor_turns").group_by(key).agg(turns_mean=pl.col("value").mean())
    ended = placed.filter(pl.col("metric").is_in([f"ended_{name}" for name in ENDINGS]))
    shares = ended.group_by(*key, "metric").agg(n=pl.col("value").sum().cast(pl.Int64), share=pl.col("value").mean())
    shares = shares.with_columns(ending=pl.col("metric").str.strip_prefix("ended_")).drop("metric")
    return shares.join(turns, on=key).sort(*key, "ending").select(*key, "ending", "n", "share", "turns_mean")


def _remarks(scores: pl.DataFrame, records: pl.DataFrame) -> pl.DataFrame:
    """What was remarkable, by arm: cue words in transcripts, sides that repeat themselves, turns cut and kept."""
    import polars as pl

    key = ["model", "condition", "arm"]
    chosen = pl.col("metric").is_in([CUE_WORDS, CONTRADICTIONS]) | pl.col("metric").str.starts_with("flag_")
    placed = scores.filter((pl.col("turn") == 0) & chosen & (pl.col("value") > 0))
    placed = placed.join(records.select("trial", *key), on="trial")
    remark = pl.col("metric").str.strip_prefix("flag_").str.replace_all("_", " ")
    counted = placed.group_by(*key, remark.alias("remark"))
    return counted.agg(dialogues=pl.len(), times=pl.col("value").sum().cast(pl.Int64)).sort(*key, "remark")


def _row(grid: Grid, **more: Any) -> dict[str, Any]:
    return {"model": grid.model, "condition": grid.condition, "domain": grid.domain, **more}


def _number(value: float | None) -> float | None:
    return None if value is None or np.isnan(value) else float(value)


def _frame(rows: Iterable[Mapping[str, Any]]) -> pl.DataFrame:
    import polars as pl

    return pl.DataFrame(list(rows), infer_schema_length=None)
