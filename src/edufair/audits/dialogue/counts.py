"""Counts by arm: how dialogues ended, what was remarkable, which turns no judge could label."""

from __future__ import annotations

from typing import TYPE_CHECKING

from edufair.audits.dialogue.measure import CODE, CONTRADICTIONS, CUE_WORDS, ENDINGS

if TYPE_CHECKING:
    import polars as pl


def unread_turns(scores: pl.DataFrame) -> pl.DataFrame:
    """Turns that the judge left without a verdict, by trial and state: one metric that applies to every turn counts."""
    import polars as pl

    always = scores.filter((pl.col("turn") > 0) & (pl.col("metric") == "answer_leakage"))
    judged = always.group_by("trial").len("of")
    unread = always.filter(pl.col("value").is_null()).with_columns(state=pl.format("turn {}", "reason"))
    return unread.group_by("trial", "state").len("n").join(judged, on="trial")


def endings(scores: pl.DataFrame, records: pl.DataFrame) -> pl.DataFrame:
    """How the dialogues of each arm ended, and how long they were."""
    import polars as pl

    key = ["model", "condition", "arm"]
    placed = scores.filter(pl.col("source") == CODE).join(records.select("trial", *key), on="trial")
    turns = placed.filter(pl.col("metric") == "tutor_turns").group_by(key).agg(turns_mean=pl.col("value").mean())
    ended = placed.filter(pl.col("metric").is_in([f"ended_{name}" for name in ENDINGS]))
    shares = ended.group_by(*key, "metric").agg(n=pl.col("value").sum().cast(pl.Int64), share=pl.col("value").mean())
    shares = shares.with_columns(ending=pl.col("metric").str.strip_prefix("ended_")).drop("metric")
    return shares.join(turns, on=key).sort(*key, "ending").select(*key, "ending", "n", "share", "turns_mean")


def remarks(scores: pl.DataFrame, records: pl.DataFrame) -> pl.DataFrame:
    """What was remarkable, by arm: cue words in transcripts, sides that repeat themselves, turns cut and kept."""
    import polars as pl

    key = ["model", "condition", "arm"]
    chosen = pl.col("metric").is_in([CUE_WORDS, CONTRADICTIONS]) | pl.col("metric").str.starts_with("flag_")
    placed = scores.filter((pl.col("turn") == 0) & chosen & (pl.col("value") > 0))
    placed = placed.join(records.select("trial", *key), on="trial")
    remark = pl.col("metric").str.strip_prefix("flag_").str.replace_all("_", " ")
    counted = placed.group_by(*key, remark.alias("remark"))
    return counted.agg(dialogues=pl.len(), times=pl.col("value").sum().cast(pl.Int64)).sort(*key, "remark")
