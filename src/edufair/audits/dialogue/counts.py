"""Counts by arm: how dialogues ended, what was remarkable, which turns no judge could label."""

from __future__ import annotations

from typing import TYPE_CHECKING

from edufair import pairs
from edufair.audits.dialogue.measure import CODE, CONTRADICTIONS, CUE_WORDS, ENDINGS, PEDAGOGICAL
from edufair.records import NOT_APPLICABLE

if TYPE_CHECKING:
    import polars as pl


def losses(scores: pl.DataFrame, records: pl.DataFrame) -> pl.DataFrame:
    """How the trials of each arm ended, and below them the turns that a judge left unread: n of so many."""
    import polars as pl

    ended, unread = pairs.losses(records), unread_turns(scores, records)
    return pl.concat([ended, unread], how="vertical_relaxed").sort("model", "condition", "arm", "state")


def unread_turns(scores: pl.DataFrame, records: pl.DataFrame) -> pl.DataFrame:
    """Turns that a judge left without a verdict, by arm and state: model, condition, arm, state, n, of.

    `of` counts all turns of the arm that this judge was shown. A turn is unread when any label of it was lost.
    Where several judges have scored, the state names which.
    """
    import polars as pl

    key = ["model", "condition", "arm", "source"]
    by_judge = pl.col("source").str.starts_with("judge:")  # people may have labelled turns as well
    labels = scores.filter((pl.col("turn") > 0) & pl.col("metric").is_in(PEDAGOGICAL) & by_judge)
    lost = pl.col("value").is_null() & (pl.col("reason") != NOT_APPLICABLE)
    turns = labels.group_by("trial", "turn", "source").agg(reason=pl.col("reason").filter(lost).first())
    placed = turns.join(records.select("trial", *key[:-1]), on="trial")
    state = "turn {}" if labels["source"].n_unique() < 2 else "turn {} ({})"
    unread = placed.filter(pl.col("reason").is_not_null()).group_by(*key, "reason").len("n")
    counted = unread.join(placed.group_by(key).len("of"), on=key)
    named = pl.format(state, *["reason", "source"][: state.count("{}")])
    return counted.select(*key[:-1], named.alias("state"), "n", "of")


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
