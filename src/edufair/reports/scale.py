"""The judge audit on the page: for each gap what the check of the scale says, in sentences and in two figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from edufair.audits.base import Analysis
from edufair.audits.family import ALPHA
from edufair.audits.judge.analyse import checked
from edufair.audits.judge.ratings import RatingsCheck
from edufair.audits.judge.settings import POLES, AnalysisSettings, Design, Rubric
from edufair.records import Finding
from edufair.reports import words
from edufair.reports.figures import Figure, gaps, poles
from edufair.reports.numbers import count, listed, plural
from edufair.reports.ratings import MEANING, sentences

#: The verdicts on a gap, and what stands in their place where it was not tested.
MEANINGS = {
    **MEANING,
    "insufficient": "There was too little usable material to test anything.",
    "not evaluable": "Too many of the stimuli were lost under one of the profiles.",
}


@dataclass(frozen=True, slots=True)
class Line:
    """One audited model's answer on the first page: its kind as a badge, what is said, and something smaller below."""

    model: str
    kind: str
    said: str
    aside: str = ""


def checks(analysis: Analysis, plan: Mapping[str, Any]) -> dict[str, RatingsCheck]:
    """By judge, the check of its ratings, made again from the table of ratings; none for another audit."""
    rated = analysis.tables.get("ratings")
    if analysis.audit != "judge" or rated is None:
        return {}
    settings = plan["settings"]
    parts = (
        Rubric.model_validate(settings["rubric"]),
        Design.model_validate(settings["design"]),
        AnalysisSettings.model_validate(settings["analysis"]),
    )
    made = {str(model): checked(own, *parts) for (model,), own in rated.group_by("model", maintain_order=True)}
    return {model: check for model, check in made.items() if check is not None}


def answers(findings: Sequence[Finding], made: Mapping[str, RatingsCheck]) -> dict[str, dict[str, list[Line]]]:
    """Lines by stratum and field, the primary field first."""
    page: dict[str, dict[str, list[Line]]] = {}
    for f in _gaps(findings, made):
        check = made[f.model]
        label = words.metric_label(f.metric) + (" (primary)" if f.metric == check.primary else "")
        heading = f"stratum: {f.domain}" if f.domain else "all stimuli"
        if f.status != "tested":
            line = Line(f.model, f.status, f"{words.capital(f.note)}.")
        else:
            estimate, meaning, *rest = sentences(check.of(f.domain, f.metric))
            line = Line(f.model, _kind(f, made), f"{meaning} {estimate}", " ".join(rest))
        page.setdefault(heading, {}).setdefault(label, []).append(line)
    return page


def in_short(findings: Sequence[Finding], made: Mapping[str, RatingsCheck]) -> tuple[str, ...]:
    """The first lines: which gaps are findings, which ones the test finds and the scale may have made, and the rest."""
    own = _gaps(findings, made)
    detected = [f for f in own if f.p_holm is not None and f.p_holm < ALPHA]
    said = []
    if found := [f for f in detected if f.finding]:
        said.append(f"A gap that neither chance nor the ends of the scale explain was found for {_named(found)}.")
    if reserved := [f for f in detected if f.reservation]:
        said.append(f"A gap was found that the ends of the scale may have made: {_named(reserved)}.")
    if not detected:
        said.append("No gap was found that chance does not explain. That does not mean that there is none.")
    counted = {kind: sum(_kind(f, made) == kind for f in own) for kind in MEANINGS}
    rest = listed([f"{count(n)} “{kind}”" for kind, n in counted.items() if n])
    return (*said, f"The check of the scale on {plural(len(own), 'gap')}: {rest}.")


def _named(found: Sequence[Finding]) -> str:
    return listed([f"{words.metric(f.metric).label} ({', '.join(filter(None, (f.model, f.domain)))})" for f in found])


def _gaps(findings: Sequence[Finding], made: Mapping[str, RatingsCheck]) -> list[Finding]:
    """The findings that are gaps: the preference under one profile against that under the other, on all stimuli."""
    return [f for f in findings if f.dimension == "profile" and f.model in made and (f.a, f.b) == made[f.model].arms]


def _kind(f: Finding, made: Mapping[str, RatingsCheck]) -> str:
    """The verdict on a gap that was tested, else why it was not."""
    gap = made[f.model].of(f.domain, f.metric).gap
    return gap.verdict if f.status == "tested" and gap else f.status


def figures(analysis: Analysis, made: Mapping[str, RatingsCheck]) -> list[Figure]:
    """For each judge, where both replies stand on the scale, and the gaps with their intervals."""
    drawn = []
    for model, check in made.items():
        own = analysis.tables["ratings"].filter(model=model)
        scale = (check.low, check.high)
        drawn.append(poles(means(own, check), scale, f"Both replies on the scale: {model}"))
        if "scale_check" in analysis.tables:
            found = [f for f in _gaps(analysis.findings, made) if f.model == model]
            drawn.append(gaps(_with_room(analysis, model), found, f"The gap by field: {model}"))
    return drawn


def means(rated: pl.DataFrame, check: RatingsCheck) -> pl.DataFrame:
    """Mean ratings by stratum, field and arm, of the stimuli that the gap is estimated on.

    Means over repetitions, then over the stimuli of a cluster, then over clusters: under the two profiles, preference
    minus preference is the gap.
    """
    arms = [*check.arms, *([check.control] if check.control else [])]
    rows = [
        {"domain": one.stratum, "metric": one.field, "arm": arm, **row}
        for one in check.fields
        for cells in [_complete(rated.filter(stratum=one.stratum), one.field, check.arms)]
        for arm in arms
        for row in [_arm_means(cells.filter(arm=arm))]
    ]
    return pl.DataFrame(rows, infer_schema_length=None)


def _complete(rated: pl.DataFrame, field: str, arms: tuple[str, str]) -> pl.DataFrame:
    """Item, cluster, arm and a column for each pole; only items with both replies rated under both profiles."""
    cells = rated.group_by("cluster", "item", "arm", "pole").agg(value=pl.col(field).mean())
    wide = cells.pivot("pole", index=["cluster", "item", "arm"], values="value").drop_nulls()
    whole = wide.filter(pl.col("arm").is_in(arms)).group_by("item").agg(n=pl.len()).filter(n=2)
    return wide.join(whole, on="item", how="semi")


def _arm_means(cells: pl.DataFrame) -> dict[str, Any]:
    by_cluster = cells.group_by("cluster").agg(pl.col(POLES).mean())
    high, low = (by_cluster[pole].mean() for pole in POLES)
    preference = None if high is None or low is None else float(high) - float(low)  # type: ignore[arg-type]
    return {
        "high_reply": high,
        "low_reply": low,
        "preference": preference,
        "stimuli": cells.height,
        "clusters": by_cluster.height,
    }


def _with_room(analysis: Analysis, model: str) -> pl.DataFrame:
    """The gaps of a judge, with the farthest that each could have gone."""
    of = ["model", "domain", "metric"]
    shown = analysis.tables["scale_check"].select(*of, "estimate", "low", "high", "p", "p_holm", "clusters", "verdict")
    room = analysis.tables["headroom"].select(*of, "lowest_gap", "highest_gap")
    return shown.filter(model=model).join(room, on=of, maintain_order="left").drop("model")
