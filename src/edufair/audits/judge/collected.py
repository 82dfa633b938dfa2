"""What a run has collected, as frames: its ratings, the blind checks of the poles, and a judge against itself."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from edufair.audits.base import View
from edufair.audits.judge.measure import CHOSE_FIRST, RECOVERED
from edufair.audits.judge.settings import NO_PROFILE, POLE_CHECK, POLES, RATING, JudgeSettings

if TYPE_CHECKING:
    import polars as pl

Row = dict[str, Any]


def ratings(view: View, settings: JudgeSettings) -> pl.DataFrame:
    """One row a rating that was asked for, empty where it was lost.

    Columns: trial, model, item, cluster, stratum, evidence_strength, subset, arm (the profile), pole, repetition, and
    one for each field. The same table as a file is what `check_ratings` takes.
    """
    import polars as pl

    from edufair.audits.judge import rating_arm

    told = pl.DataFrame(
        [
            {"label": rating_arm(profile, pole).label, "profile": profile, "pole": pole}
            for profile in settings.arms
            for pole in POLES
        ]
    )
    records = view.records().filter(pl.col("condition") == RATING)
    placed = records.join(told, left_on="arm", right_on="label", how="inner").join(_stimuli(view), on="item")
    fields = settings.rubric.fields
    return (
        placed.join(_scored(view, fields), on="trial", how="left")
        .select(
            *("trial", "model", "item", "cluster"),
            pl.col("domain").alias("stratum"),
            *("evidence_strength", "subset"),
            pl.col("profile").alias("arm"),
            "pole",
            pl.col("replicate").alias("repetition"),
            *fields,
        )
        .sort("model", "item", "arm", "pole", "repetition")
    )


def _stimuli(view: View) -> pl.DataFrame:
    import polars as pl

    kept = ("cluster", "evidence_strength", "subset")
    rows = [{"item": item.id, **{key: item.data[key] for key in kept}} for item in view.items().values()]
    schema = {"item": pl.String, "cluster": pl.String, "evidence_strength": pl.Int64, "subset": pl.String}
    return pl.DataFrame(rows, schema=schema)


def _scored(view: View, metrics: list[str]) -> pl.DataFrame:
    """One row a trial with a column for each metric."""
    import polars as pl

    scores = view.scores().filter((pl.col("turn") == 0) & pl.col("metric").is_in(metrics))
    wide = scores.select("trial", "metric", pl.col("value").cast(pl.Float64)).pivot(
        "metric", index="trial", values="value"
    )
    absent = [pl.lit(None, dtype=pl.Float64).alias(name) for name in metrics if name not in wide.columns]
    return wide.with_columns(absent).select("trial", *metrics)


# --- the blind check of the poles -----------------------------------------------------------------------------------


def pole_checks(view: View) -> pl.DataFrame:
    """By stimulus: how often it was asked and read, the share that recovered the intended pole, and chose reply 1."""
    import polars as pl

    records = view.records().filter(pl.col("condition") == POLE_CHECK)
    found = records.join(_scored(view, [RECOVERED, CHOSE_FIRST]), on="trial", how="left")
    return (
        found.group_by("model", "domain", "item")
        .agg(
            asked=pl.len(),
            read=pl.col(RECOVERED).count(),
            recovered=pl.col(RECOVERED).mean(),
            chose_reply_1=pl.col(CHOSE_FIRST).mean(),
        )
        .sort("model", "domain", "item")
    )


def pole_check_summary(checks: pl.DataFrame) -> pl.DataFrame:
    """By model and stratum: the mean share recovered, and how many stimuli were recovered at every asking."""
    import polars as pl

    return (
        checks.group_by("model", "domain")
        .agg(
            n=pl.len(),
            unread=(pl.col("asked") - pl.col("read")).sum(),
            recovered=pl.col("recovered").mean(),
            always_recovered=(pl.col("recovered") == 1).sum(),
            chose_reply_1=pl.col("chose_reply_1").mean(),
        )
        .sort("model", "domain")
    )


# --- the judge against itself ---------------------------------------------------------------------------------------


def test_retest(rated: pl.DataFrame, settings: JudgeSettings) -> list[Row]:
    """Between every two repetitions, in the arm without a profile (or the first one, where there is none)."""
    import polars as pl

    arm = NO_PROFILE if NO_PROFILE in settings.arms else settings.arms[0]
    rows: list[Row] = []
    for (model,), own in sorted(rated.filter(pl.col("arm") == arm).group_by("model"), key=lambda g: g[0]):
        for field in settings.rubric.fields:
            rows += [{"model": model, "arm": arm, "metric": field, **row} for row in _between_repetitions(own, field)]
    return rows


def _between_repetitions(rated: pl.DataFrame, field: str) -> Iterator[Row]:
    wide = rated.pivot("repetition", index=["item", "pole"], values=field)
    names = sorted((name for name in wide.columns if name not in ("item", "pole")), key=int)
    for first, second in combinations(names, 2):
        both = wide.select(first, second).drop_nulls()
        x, y = both[first].to_numpy(), both[second].to_numpy()
        yield {
            "repetitions": f"{first} and {second}",
            "n": len(x),
            "r": _pearson(x, y),
            "exact_agreement": float((x == y).mean()) if len(x) else None,
            "mean_first": float(x.mean()) if len(x) else None,
            "mean_second": float(y.mean()) if len(y) else None,
        }


def _pearson(x: Any, y: Any) -> float | None:
    """Undefined below two ratings, and where one of the repetitions does not vary."""
    if len(x) < 2 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return None
    return float(np.corrcoef(x, y)[0, 1])
