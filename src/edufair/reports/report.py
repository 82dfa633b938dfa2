"""`edufair.report`: gather what a report is made of from a run, and write it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl

from edufair.audits.base import Analysis
from edufair.engine.analyse import analyse
from edufair.engine.runs import Run, current_trials, open_run
from edufair.engine.validate import read_validations, validations_of
from edufair.models.cache import is_demo
from edufair.records import Record, Source
from edufair.reports import judge
from edufair.reports.html import Example, ModelUse, ReportData, Side, write
from edufair.reports.numbers import listed
from edufair.scoring.validation import Validation
from edufair.version import VERSION

#: How many of the most different pairs a report shows side by side.
EXAMPLES = 6


def report(
    run: Run | Path | str,
    *,
    output: Path | str | None = None,
    with_texts: bool = True,
    analysis: Analysis | None = None,
    validation: Path | str | None = None,
) -> Path:
    """Write a run's report, one HTML file that stands alone, and give back its path (RUN/report.html by default).

    `with_texts` False leaves out every transcript and question. `validation` is a folder or file in which `edufair
    judge validate` compared this run's judge with people; what it found on hand labels of this run is shown anyway.
    Raises StoreError when there is no run, EdufairError for a validation of another judge.
    """
    run = run if isinstance(run, Run) else open_run(run)
    analysis = analysis if analysis is not None else analyse(run)
    checked = validations_of(run, read_validations(validation) if validation is not None else ())
    data = gather(run, analysis, with_texts=with_texts, validations=checked)
    return write(data, Path(output or run.folder / "report.html"))


def gather(run: Run, analysis: Analysis, *, with_texts: bool, validations: Sequence[Validation] = ()) -> ReportData:
    """Everything that a report shows, from the run's store."""
    rows = run.plan_rows()
    last = rows[-1]
    records = run.records()
    current = current_trials(run.plans())
    mine = records.filter(pl.col("trial").is_in(list(current)))
    failed = mine.filter(pl.col("status") == "failed").height
    judges = [source for source in run.sources() if source.kind == "judge"]
    return ReportData(
        title=last["json"]["name"],
        plan=plan_for_report(run, last["json"]),
        plan_hash=last["hash"],
        version=VERSION,
        created=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        models=models_used(run),
        analysis=analysis,
        examples=examples(run, analysis) if with_texts else (),
        demo=any(is_demo(identity) for identity in last["json"]["models"].values()),
        judge_checked=not _unchecked(judges, validations) if judges else None,
        judge_note=_judge_note(judges, validations),
        validations=validations,
        complete=mine.height == len(current) and not mine.filter(pl.col("reason") == "transport").height,
        planned=len(current),
        done=mine.height - failed,
        failed=failed,
        with_texts=with_texts,
    )


def _unchecked(judges: Sequence[Source], validations: Sequence[Validation]) -> list[str]:
    """The judges that nobody has compared with people, by name."""
    checked = {validation.judge for validation in validations}
    return [source.id for source in judges if source.id not in checked]


def _judge_note(judges: Sequence[Source], validations: Sequence[Validation]) -> str:
    """What the checks say; with several judges, which of them have none."""
    open_ones = _unchecked(judges, validations)
    rest = f" Nobody has checked {listed(open_ones)}." if validations and open_ones else ""
    return f"{judge.note(validations)}{rest}"


def plan_for_report(run: Run, raw: dict[str, Any]) -> dict[str, Any]:
    """The frozen plan with its items counted, and with its roles as they are filled."""
    settings = raw["settings"]
    by_domain: dict[str, int] = {}
    for _, _, domain in raw["items"]:
        by_domain[domain] = by_domain.get(domain, 0) + 1
    roles = {
        name: {"models": _listed(section["model"]), "sampling": _sampling(section)}
        for name, section in settings.items()
        if isinstance(section, dict) and "model" in section
    }
    return {
        **{key: raw[key] for key in ("audit", "name", "seed", "prompts", "contrasts")},
        "settings": settings,
        "analysis": settings.get("analysis", {}),
        "models": {name: {"identity": identity} for name, identity in raw["models"].items()},
        "roles": roles,
        "arms": [arm for arm, _ in raw["arms"]],
        "replicates": max(times for _, times in raw["arms"]),
        "items": {"bank": settings["items"]["bank"], "n": len(raw["items"]), "by_domain": by_domain},
        "folder": str(run.folder),
    }


def _listed(model: str | Sequence[str]) -> list[str]:
    return [model] if isinstance(model, str) else list(model)


def _sampling(section: dict[str, Any]) -> dict[str, Any]:
    return {key: section[key] for key in ("temperature", "top_p", "max_tokens", "seed") if section.get(key) is not None}


def models_used(run: Run) -> list[ModelUse]:
    """How each role asked its model, and what that took."""
    calls = run.calls()
    used = []
    for row in run.effectives():
        mine = calls.filter(pl.col("effective") == row["id"])
        finished = mine.filter(pl.col("status") != "failed")
        effective = row["json"]
        used.append(
            ModelUse(
                name=row["model"],
                role=row["role"],
                requested=effective["requested"],
                effective=effective["params"],
                adapted=effective["adapted"],
                returned=sorted(name for name in finished["returned_model"].unique().to_list() if name),
                calls=finished.height,
                failed_attempts=mine.height - finished.height,
                prompt_tokens=_sum(finished["prompt_tokens"]),
                cached_tokens=_sum(finished["cached_tokens"]),
                completion_tokens=_sum(finished["completion_tokens"]),
            )
        )
    return used


def _sum(column: pl.Series) -> int | None:
    return None if column.null_count() == len(column) else int(column.sum())


def examples(run: Run, analysis: Analysis) -> list[Example]:
    """The pairs that differ most, one a metric where possible, with both transcripts and their scores."""
    if analysis.pairs is None or not analysis.pairs.height:
        return []
    ranked = analysis.pairs.sort("size", "contrast", "item", "metric", descending=[True, False, False, False])
    rows = ranked.unique("metric", keep="first", maintain_order=True).head(EXAMPLES).to_dicts()
    trials = sorted({row[side] for row in rows for side in ("trial_a", "trial_b")})
    records = {record.trial.id: record for record in run.transcripts(trials)}
    scores = run.raw_scores().filter(pl.col("trial").is_in(trials) & (pl.col("turn") == 0))
    return [_example(row, records, scores) for row in rows]


def _example(row: dict[str, Any], records: dict[str, Record], scores: pl.DataFrame) -> Example:
    a, b = records[row["trial_a"]], records[row["trial_b"]]
    model, condition, domain, _, contrast = row["contrast"].split(" | ", 4)
    label_a, label_b = contrast.split(" - ", 1)
    return Example(
        contrast=contrast,
        metric=row["metric"],
        item_id=row["item"],
        question=a.trial.item.text,
        a=_side(a, label_a, scores, row["source"]),
        b=_side(b, label_b, scores, row["source"]),
        difference=row["d"],
        model=model,
        condition=condition,
        domain=domain,
    )


def _side(record: Record, label: str, scores: pl.DataFrame, source: str) -> Side:
    mine = scores.filter((pl.col("trial") == record.trial.id) & pl.col("source").is_in([source, "code"]))
    shown = _shown_metrics(mine["metric"].to_list())
    values = {row["metric"]: row["value"] for row in mine.to_dicts() if row["metric"] in shown}
    return Side(label, record.turns, values)


def _shown_metrics(names: Iterable[str]) -> set[str]:
    """The metrics themselves, without counts and flags."""
    return {name for name in names if not name.startswith(("ended_", "flag_", "contradictions", "cue_words"))}
