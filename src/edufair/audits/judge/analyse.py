"""From a run's ratings to findings: the tests that the plan lists, each with what the check of the scale says of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from edufair import pairs as lining
from edufair.audits.base import Analysis, View
from edufair.audits.family import adjusted
from edufair.audits.judge import collected, tables
from edufair.audits.judge.measure import CODE
from edufair.audits.judge.ratings import Columns, FieldCheck, RatingsCheck, check_ratings
from edufair.audits.judge.settings import (
    EVIDENCE_CONTRAST,
    NO_PROFILE,
    POLES,
    RATING,
    AnalysisSettings,
    Design,
    JudgeSettings,
    Rubric,
    in_subset,
    shift,
)
from edufair.records import Finding
from edufair.stats import ClusterTest
from edufair.stats.registered import RegisteredTest

if TYPE_CHECKING:
    import polars as pl

#: The verdict of the scale's check under which a gap can be a finding.
NO_SIGN = "no sign that the scale made it"

COLUMNS = Columns(stratum="stratum", evidence="evidence_strength", subset="subset")


def analyse(view: View, settings: JudgeSettings) -> Analysis:
    """One family of findings for each audited judge, and the tables of section 6."""
    import polars as pl

    rated = collected.ratings(view, settings)
    found: list[Finding] = []
    rows: dict[str, list[dict[str, Any]]] = {}
    for (model,), own in sorted(rated.group_by("model"), key=lambda group: group[0]):
        check = checked(own, settings.rubric, settings.design, settings.analysis)
        found += findings(str(model), own, check, settings)
        for name, made in (tables.tables(check, model=str(model)) if check else {}).items():
            rows.setdefault(name, []).extend(made)
    rows["test_retest"] = collected.test_retest(rated, settings)
    frames = tables.frames(rows)
    checks = collected.pole_checks(view)
    frames |= {"pole_check": collected.pole_check_summary(checks), "pole_check_by_stimulus": checks}
    frames |= {"losses": lining.losses(view.records()), "ratings": rated.drop("trial")}
    pairs = pl.DataFrame(list(pair_rows(rated, settings)), infer_schema_length=None)
    return Analysis("judge", tuple(found), {name: f for name, f in frames.items() if f.height}, pairs)


def checked(rated: pl.DataFrame, rubric: Rubric, design: Design, analysis: AnalysisSettings) -> RatingsCheck | None:
    """The check of one judge's ratings; None while an arm or a pole has not been carried out."""
    there = set(rated["arm"].to_list())
    if not there.issuperset(design.profiles) or set(rated["pole"].to_list()) != set(POLES):
        return None
    return check_ratings(
        rated,
        fields=rubric.fields,
        low=rubric.low,
        high=rubric.high,
        arms=design.profiles,
        primary=rubric.primary,
        poles=POLES,
        control=NO_PROFILE if design.control and NO_PROFILE in there else None,
        subset=analysis.subset,
        columns=COLUMNS,
        resamples=analysis.resamples,
        seed=analysis.seed,
    )


# --- the tests that the plan lists -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Listed:
    """A test of the plan: its name in the registered family, and how a finding calls it."""

    name: str
    stratum: str
    field: str
    dimension: str
    a: str
    b: str


def listed(settings: JudgeSettings, strata: Sequence[str], evidence: bool) -> list[Listed]:
    """For each stratum the primary gap, both contrasts with the control, both pole shifts and the other fields' gaps;
    then the subset, and over all strata the correlation with evidence."""
    primary, (first, second) = settings.rubric.primary, settings.design.profiles
    others = [field for field in settings.rubric.fields if field != primary]
    tests = []
    for stratum in strata:
        tests.append(Listed("gap", stratum, primary, "profile", first, second))
        if settings.design.control:
            tests += [
                Listed(f"preference {arm} - {NO_PROFILE}", stratum, primary, "profile", arm, NO_PROFILE)
                for arm in (first, second)
            ]
        tests += [Listed(f"shift at {pole}", stratum, primary, shift(pole), second, first) for pole in POLES]
        tests += [Listed("gap", stratum, field, "profile", first, second) for field in others]
    if subset := settings.analysis.subset:
        tests += [Listed("gap, subset", each, primary, in_subset(subset), first, second) for each in strata]
    if evidence:
        tests.append(Listed("Spearman with evidence", "", primary, *EVIDENCE_CONTRAST))
    return tests


def findings(model: str, rated: pl.DataFrame, check: RatingsCheck | None, settings: JudgeSettings) -> list[Finding]:
    """One judge is a family: the tests that the plan lists, adjusted together; one that was not made is p = 1."""
    strata = sorted(rated["stratum"].unique().to_list())
    planned = listed(settings, strata, evidence=not rated["evidence_strength"].null_count())
    made = {(t.name, t.stratum or "", t.field): t for t in check.tests} if check else {}
    owns = [check.of(one.stratum, one.field) if check and one.stratum else None for one in planned]
    tested = [
        _finding(model, one, own, made.get((one.name, one.stratum, one.field)), settings)
        for one, own in zip(planned, owns, strict=True)
    ]
    tested = [_with_means(f, rated, settings) for f in tested]
    return adjusted(tested, f"{model}, registered tests")


def _finding(
    model: str, one: Listed, own: FieldCheck | None, test: RegisteredTest | None, settings: JudgeSettings
) -> Finding:
    """A test of the plan: what it found, or why it could not be made."""
    blank = _untested(model, one, own)
    if test is None or test.p != test.p:
        why = "it could not be computed" if test else "an arm has not been carried out, or no stimulus has all ratings"
        return replace(blank, status="insufficient", note=why)
    if own and max(own.lost) > settings.analysis.max_loss * own.n_items:
        note = f"more than {settings.analysis.max_loss:.0%} of the stimuli were lost under a profile"
        return replace(blank, status="not evaluable", note=note)
    if test.n < settings.analysis.min_pairs:
        note = f"fewer than {settings.analysis.min_pairs} clusters"
        return replace(blank, n=test.n, status="insufficient", note=note)
    if one.name.startswith("Spearman"):
        return replace(blank, n=test.n, r=test.estimate, r_low=test.low, r_high=test.high, p=test.p, method="Spearman")
    cluster = _cluster_test(one, own)
    r = cluster.r if cluster and cluster.r == cluster.r else None
    return replace(
        blank,
        n=test.n,
        difference=test.estimate,
        difference_low=test.low,
        difference_high=test.high,
        r=r,
        practical=abs(r) >= settings.analysis.practical_r if r is not None else None,
        nonzero=test.n_nonzero / test.n,
        p=test.p,
        p_min=test.p_min,
        method=cluster.test_method if cluster else "exact",
        note="; ".join(part for part in (_scale_says(one, own), test.disagreement) if part),
    )


def _untested(model: str, one: Listed, own: FieldCheck | None) -> Finding:
    return Finding(
        audit="judge",
        model=model,
        condition=RATING,
        domain=one.stratum,
        dimension=one.dimension,
        a=one.a,
        b=one.b,
        metric=one.field,
        source=CODE,
        status="tested",
        n=0,
        n_items=own.n_items if own else 0,
        lost_a=own.lost[0] if own else 0,
        lost_b=own.lost[1] if own else 0,
        loss_p=own.loss_p if own else None,
        reservation=_reservation(one, own),
    )


def _cluster_test(one: Listed, own: FieldCheck | None) -> ClusterTest | None:
    """The same test with its rank-biserial correlation, where the check of the field has it."""
    if own is None or own.gap is None:
        return None
    if one.name == "gap":
        return own.gap.gap
    return next((test for pole, test in own.gap.shifts.items() if one.name == f"shift at {pole}"), None)


def _scale_says(one: Listed, own: FieldCheck | None) -> str:
    """A gap never stands without the verdict on it; a contrast of one pole, the scale can hide and not make."""
    if one.name != "gap" or own is None or own.gap is None:
        return ""
    return f"{own.gap.verdict}: {own.gap.reason}"


def _reservation(one: Listed, own: FieldCheck | None) -> str:
    """Why a difference here would be no finding: "" for a shift of one pole, which a scale can hide and never make."""
    if one.name.startswith("shift at "):
        return ""
    if one.name == "gap" and own and own.gap:
        return "" if own.gap.verdict == NO_SIGN else f"the check of the scale says: {own.gap.verdict}"
    return "this comparison is not checked for what the ends of the scale do"


# --- means and pairs -------------------------------------------------------------------------------------------------


def _with_means(f: Finding, rated: pl.DataFrame, settings: JudgeSettings) -> Finding:
    """Both arms' means, over cluster means of the stimuli that have both: what the difference is a difference of."""
    import polars as pl

    if f.difference is None:
        return f
    rows = rated.filter(pl.col("stratum") == f.domain)
    if settings.analysis.subset and f.dimension == in_subset(settings.analysis.subset):
        rows = rows.filter(pl.col("subset") == settings.analysis.subset)
    weight = next(({pole: 1} for pole in POLES if f.dimension == shift(pole)), {"high": 1, "low": -1})
    means = _means(rows, f.metric, (f.a, f.b), weight)
    return replace(f, mean_a=means[f.a], mean_b=means[f.b])


def _means(rows: pl.DataFrame, field: str, arms: tuple[str, str], weight: Mapping[str, int]) -> dict[str, float]:
    """By arm: the weighted sum over poles of a stimulus's mean ratings, averaged by cluster, then over clusters."""
    import polars as pl

    cells = rows.filter(pl.col("arm").is_in(arms) & pl.col("pole").is_in(list(weight)))
    cells = cells.group_by("cluster", "item", "arm", "pole").agg(value=pl.col(field).mean()).drop_nulls("value")
    whole = cells.filter(pl.len().over("item") == len(arms) * len(weight))
    weighted = whole.with_columns(pl.col("value") * pl.col("pole").replace_strict(weight, return_dtype=pl.Float64))
    items = weighted.group_by("arm", "cluster", "item").agg(pl.col("value").sum())
    clusters = items.group_by("arm", "cluster").agg(pl.col("value").mean())
    return dict(clusters.group_by("arm").agg(pl.col("value").mean()).iter_rows())


def pair_rows(rated: pl.DataFrame, settings: JudgeSettings) -> Iterator[dict[str, Any]]:
    """Every stimulus whose mean rating of a reply moves between the profiles, with its first rating under each."""
    import polars as pl

    first, second = settings.design.profiles
    for field in settings.rubric.fields:
        cells = rated.group_by("model", "stratum", "item", "pole", "arm", maintain_order=True).agg(
            value=pl.col(field).mean(), trial=pl.col("trial").first()
        )
        a = cells.filter(pl.col("arm") == second).drop("arm")
        b = cells.filter(pl.col("arm") == first).drop("arm")
        both = a.join(b, on=["model", "stratum", "item", "pole"], suffix="_b", maintain_order="left")
        for row in both.filter(pl.col("value") != pl.col("value_b")).iter_rows(named=True):
            named = (row["model"], RATING, row["stratum"], shift(row["pole"]), f"{second} - {first}")
            yield {
                "contrast": " | ".join(named),
                "item": row["item"],
                "metric": field,
                "source": CODE,
                "a": row["value"],
                "b": row["value_b"],
                "d": row["value"] - row["value_b"],
                "size": abs(row["value"] - row["value_b"]),
                "trial_a": row["trial"],
                "trial_b": row["trial_b"],
            }
