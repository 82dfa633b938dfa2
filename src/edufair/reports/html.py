"""The report: one HTML file that stands alone. No script, nothing fetched, every text from outside kept as text."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson
import polars as pl

from edufair.audits.base import Analysis
from edufair.errors import EdufairError
from edufair.records import Arm, Finding, Turn
from edufair.reports import answers, figures, judge, numbers, scale, views, words
from edufair.reports.page import environment, style
from edufair.scoring.validation import Validation


@dataclass(frozen=True, slots=True)
class ModelUse:
    """How one model was asked in one role, and what that took. Token counts are None where the host said nothing."""

    name: str
    role: str
    requested: Mapping[str, Any]
    effective: Mapping[str, Any]
    adapted: Sequence[str] = ()
    returned: Sequence[str] = ()
    calls: int = 0
    failed_attempts: int = 0
    prompt_tokens: int | None = None
    cached_tokens: int | None = None
    completion_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Side:
    """One arm's record of an example: the arm's label, its turns, and its scores by metric (None is missing)."""

    label: str
    turns: Sequence[Turn]
    scores: Mapping[str, float | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Example:
    """A pair of records of one item that differ much: `difference` is a minus b on `metric`."""

    contrast: str
    metric: str
    item_id: str
    question: str
    a: Side
    b: Side
    difference: float
    model: str = ""
    condition: str = ""
    domain: str = ""


@dataclass(frozen=True)
class ReportData:
    """All that a report is made of.

    `plan` is the frozen plan as JSON. `demo` says that the bundled demo model was used. `judge_checked` says whether
    a judge's labels were compared with people's (None: no judge was used), `judge_note` how and with what result,
    `validations` every number of it.
    `planned`, `done` and `failed` count trials. `with_texts` False leaves out every transcript and question.
    """

    title: str
    plan: Mapping[str, Any]
    plan_hash: str
    version: str
    created: str
    models: Sequence[ModelUse]
    analysis: Analysis
    examples: Sequence[Example] = ()
    demo: bool = False
    judge_checked: bool | None = False
    judge_note: str = ""
    validations: Sequence[Validation] = ()
    complete: bool = True
    planned: int = 0
    done: int = 0
    failed: int = 0
    with_texts: bool = True


def write(data: ReportData, path: Path | str) -> Path:
    """Write the report to `path` and return it. Raises EdufairError when it cannot be written."""
    path = Path(path)
    page = render(data)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(page, encoding="utf-8")
    except OSError as e:
        raise EdufairError(f"The report cannot be written to {path}: {e}. Name a file you may write to.") from e
    return path


def render(data: ReportData) -> str:
    """The whole report as one HTML page."""
    return environment().get_template("report.html").render(_context(data))


def _context(data: ReportData) -> dict[str, Any]:
    """All that the template shows, made ready: it holds no logic beyond loops and conditions."""
    findings = data.analysis.findings
    tables = {name: frame for name, frame in data.analysis.tables.items() if not frame.is_empty()}
    said = words.audit(_audit(data))
    return {
        "data": data,
        "said": said,
        "css": style(),
        **_first_page(data, findings, tables, said),
        "baseline": figures.forest([f for f in findings if f.condition == "baseline"])
        + _heat_maps(tables, pl.col("condition") == "baseline", said),
        "figures": _figures(tables, said),
        "forests": figures.forest([f for f in findings if f.condition != "baseline"]),
        "tests": None,
        "violations": _violations(findings, said),
        "losses_title": "Losses and endings" if "endings" in tables or "losses" not in tables else "Losses",
        "losses": _tables_of(tables, LOSSES, said),
        "validations": [(judge.title(v), judge.remarks(v), judge.tables(v)) for v in data.validations],
        "further": _tables_of(tables, FURTHER, said) + _unknown(tables, said),
        "metrics": [(name, words.metric(name)) for name in dict.fromkeys(f.metric for f in findings)],
        **_design(data),
        **_of_the_scale(data),
    }


def _of_the_scale(data: ReportData) -> dict[str, Any]:
    """What the judge audit says in place of answers by dimension: the check of the scale, its figures, its tests."""
    checked = scale.checks(data.analysis, data.plan)
    if not checked:
        return {}
    findings = data.analysis.findings
    return {
        "in_short": scale.in_short(findings, checked),
        "answers": scale.answers(findings, checked),
        "meanings": scale.MEANINGS,
        "figures": scale.figures(data.analysis, checked),
        "forests": (),
        "tests": views.contrasts(findings, "Every registered test", dimensions=True),
    }


def _violations(findings: Sequence[Finding], said: words.Audit) -> views.Table | None:
    """None where the audit has no violation to count."""
    if findings and all(f.violation is None for f in findings):
        return None
    return views.violations(findings, f"Violations and findings, by {said.audited} and condition")


def _audit(data: ReportData) -> str:
    return str(data.plan.get("audit", data.analysis.audit))


def _first_page(
    data: ReportData, findings: Sequence[Finding], tables: Mapping[str, pl.DataFrame], said: words.Audit
) -> dict[str, Any]:
    found = [a for a in answers.answers(findings) if a.condition != "baseline"]
    conditions = dict.fromkeys(f.condition for f in findings)
    return {
        "asked": answers.asked_of_whom(_audit(data), _audited(data), **_items(data.plan)),
        "conditions": [(name, said.conditions.get(name, "")) for name in conditions],
        "control": answers.control(findings),
        "judges": answers.judges(findings),
        "in_short": answers.in_short(found),
        "answers": _by_dimension(found, tables.get("mean_r_by_dimension")),
        "meanings": answers.MEANINGS,
        "sure": answers.how_sure(findings),
        "lost": answers.what_was_lost(findings, data.planned, data.done, data.failed),
        "limits": answers.limits(_audit(data), findings, data.judge_checked),
    }


def _audited(data: ReportData) -> list[str]:
    """The audited models: those with findings; before there are any, those that the plan names."""
    found = list(dict.fromkeys(f.model for f in data.analysis.findings))
    first_role: Mapping[str, Any] = next(iter(data.plan.get("roles", {}).values()), {})
    return found or [str(name) for name in first_role.get("models", ())]


def _items(plan: Mapping[str, Any]) -> dict[str, Any]:
    items = plan.get("items", {})
    by_domain = [(str(name), int(n)) for name, n in items.get("by_domain", {}).items()]
    return {"items": items.get("n"), "bank": str(items.get("bank", "")), "by_domain": by_domain}


def _by_dimension(
    found: Sequence[answers.Answer], noise: pl.DataFrame | None
) -> dict[str, dict[str, list[scale.Line]]]:
    """Answers by condition and dimension, a line a tutor."""
    page: dict[str, dict[str, list[scale.Line]]] = {}
    judges = answers.judges(f for a in found for f in a.findings)
    for a in found:
        largest = _largest(a, several_judges=len(judges) > 1)
        said = f"{a.summary} {answers.against_noise(noise, a)}"
        line = scale.Line(a.model, a.kind, said, largest and f"Largest: {largest}")
        page.setdefault(a.condition, {}).setdefault(words.dimension_label(a.dimension), []).append(line)
    return page


def _largest(answer: answers.Answer, *, several_judges: bool) -> str:
    if not answer.detected:
        return ""
    f = answer.detected[0]
    return words.sentence(f, by=f.source if several_judges and f.source.startswith("judge:") else "")


def _figures(tables: Mapping[str, pl.DataFrame], said: words.Audit) -> list[figures.Figure]:
    """The paper's Figures 2 to 5, of those tables that are there; then the same means for the other conditions."""
    explicit, others = pl.col("condition") == "explicit", ~pl.col("condition").is_in(["explicit", "baseline"])
    drawn = _heat_maps(tables, explicit, said)
    if "implicit" in tables:
        drawn += figures.implicit(tables["implicit"])
    if "opposite" in tables:
        drawn += figures.opposite(tables["opposite"])
    return drawn + _heat_maps(tables, others, said)


def _heat_maps(tables: Mapping[str, pl.DataFrame], chosen: pl.Expr, said: words.Audit) -> list[figures.Figure]:
    drawn: list[figures.Figure] = []
    if "mean_r_by_metric" in tables:
        drawn += figures.heat_maps(tables["mean_r_by_metric"].filter(chosen), "metric", said)
    if "mean_r_by_dimension" in tables:
        drawn += figures.heat_maps(tables["mean_r_by_dimension"].filter(chosen), "dimension", said)
    return drawn


@dataclass(frozen=True, slots=True)
class _Known:
    """A table of the analysis: its title, how it is laid out, and what a reader must know about it."""

    title: str
    note: str = ""
    view: Callable[[pl.DataFrame, str, words.Audit], views.Table] = views.from_frame


LOSSES = {
    "losses": _Known(
        "Losses by arm",
        "Each state is counted apart. An arm that loses more than another may seem to differ for that reason alone.",
        views.losses,
    ),
    "endings": _Known(
        "How the dialogues ended",
        "Share of the arm's dialogues, and their mean turns after the opening.",
        views.endings,
    ),
}

FURTHER = {
    "opposite_effects": _Known(
        "Opposite condition: effects taken apart",
        "Matched (Correct) is the student's effect plus the tutor's; mismatched (Wrong) is the student's minus the "
        "tutor's. So Wrong beyond Correct means that the two have opposite signs. Interaction: what neither explains.",
    ),
    "opposite_scale": _Known(
        "Opposite condition: can the bounds of a rate have made the interaction?",
        "A rate cannot go below 0 or above 1. Where one kind of student's dialogues stand at a bound, a shift that is "
        "common to both kinds is cut unequally, and an interaction appears that no interplay made. Pinned: the largest "
        "share of questions at a bound in both arms. Made by scale: what such a cut alone gives of the interaction.",
    ),
    "tutor_differences": _Known(
        "One tutor against another",
        "The effect on tutor A minus the effect on tutor B, paired by question.",
    ),
    "applicability": _Known(
        "Mistakes and applicable turns",
        "“Recognises the mistake” and “softens the correction” are measured only on turns that follow a student "
        "mistake. If the number of those differs between arms, the two measures compare unlike turns.",
    ),
    "friedman": _Known(
        "Dimensions with three levels or more",
        "Friedman's test over all levels at once; Kendall's W is its size, from 0 to 1.",
    ),
    "arm_means": _Known("Means by arm"),
    "scale_check": _Known(
        "Scale check: the gap and what the scale has to do with it",
        "The verdict on every gap, with its reason. A gap is the preference for the high reply under the first profile "
        "minus that under the second.",
    ),
    "preference": _Known("Preference by arm", "The high reply minus the low one, in points of the scale."),
    "pole_shifts": _Known(
        "Shift of each reply", "The second profile minus the first, one reply at a time. Gap: shift of low − of high."
    ),
    "pinned": _Known(
        "Replies at an end of the scale",
        "Pinned: stimuli whose reply stands at that bound in every arm. On these, the gap is the other reply's shift.",
    ),
    "constructions": _Known(
        "Gaps made without any preference",
        "One reply's shift carried over to the other and cut by the scale. What comes out holds no change of "
        "preference; its share of the observed gap stands beside it.",
    ),
    "attenuation": _Known(
        "What the scale cuts", "Kappa: the share of a common shift that is cut at a reply; 0 is none."
    ),
    "headroom": _Known("How far the gap could have gone", "The first profile's ratings held fixed."),
    "test_retest": _Known("The judge against itself", "Between repetitions of the same rating, in one arm."),
    "pole_check": _Known(
        "Are the replies what they were meant to be?",
        "Told of no learner, how often the judge finds the reply that leaves the next step to the student.",
    ),
    "pole_check_by_stimulus": _Known("The same, by stimulus"),
}

_DRAWN = {"mean_r_by_metric", "mean_r_by_dimension", "implicit", "opposite", "ratings"}


def _tables_of(
    tables: Mapping[str, pl.DataFrame], known: Mapping[str, _Known], said: words.Audit
) -> list[tuple[_Known, views.Table]]:
    return [(k, k.view(tables[name], k.title, said)) for name, k in known.items() if name in tables]


def _unknown(tables: Mapping[str, pl.DataFrame], said: words.Audit) -> list[tuple[_Known, views.Table]]:
    """Tables that this page has no words for are shown as they are: nothing is dropped."""
    names = [name for name in tables if name not in {*LOSSES, *FURTHER, *_DRAWN}]
    titles = [words.capital(name.replace("_", " ")) for name in names]
    return [
        (_Known(title), views.from_frame(tables[name], title, said)) for name, title in zip(names, titles, strict=True)
    ]


def _design(data: ReportData) -> dict[str, Any]:
    plan = data.plan
    return {
        "models": _models(data.models),
        "adapted": [(use, note) for use in data.models for note in use.adapted],
        "settings": _settings(plan),
        "arms": [_arm_label(arm) for arm in plan.get("arms", ())],
        "prompts": [(str(name), str(text)) for name, text in plan.get("prompts", {}).items()],
        "plan_json": orjson.dumps(plan, option=orjson.OPT_INDENT_2, default=str).decode(),
    }


def _models(used: Sequence[ModelUse]) -> views.Table:
    texts = [views.Header(text) for text in ("Model", "Requested", "Effective", "Returned name")]
    counts = [views.Header(text, numeric=True) for text in ("Calls", "Prompt tokens", "Completion tokens")]
    rows = tuple(_model_row(use) for use in used)
    return views.Table("Models as requested and as really asked", (*texts, *counts), rows)


def _model_row(use: ModelUse) -> tuple[views.Cell, ...]:
    changed = "differs from the request" if dict(use.requested) != dict(use.effective) else ""
    failed = f"{numbers.plural(use.failed_attempts, 'failed attempt')}" if use.failed_attempts else ""
    cached = f"{numbers.count(use.cached_tokens)} cached" if use.cached_tokens is not None else ""
    return (
        views.Cell(use.name, use.role),
        views.Cell(_params(use.requested), tone="params"),
        views.Cell(_params(use.effective), changed, tone="params"),
        views.Cell("\n".join(use.returned) or numbers.MISSING),
        views.Cell(numbers.count(use.calls), failed),
        views.Cell(numbers.count(use.prompt_tokens), cached),
        views.Cell(numbers.count(use.completion_tokens)),
    )


def _params(params: Mapping[str, Any]) -> str:
    return "\n".join(f"{name}: {_plain(value)}" for name, value in params.items()) or "host's defaults"


def _settings(plan: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The plan's own settings, one a line: dotted names and their values."""
    rows = [(name, _plain(plan[name])) for name in ("audit", "name", "seed", "replicates") if name in plan]
    items = plan.get("items", {})
    rows += [(f"items.{name}", _plain(items[name])) for name in ("bank", "n", "by_domain") if name in items]
    settings = {**plan.get("settings", {}), "analysis": plan.get("analysis", {})}
    return rows + [row for row in _leaves(settings) if row[0] not in dict(rows)]


def _leaves(settings: Mapping[str, Any], prefix: str = "") -> list[tuple[str, str]]:
    """Nested settings as dotted names, in their own order."""
    rows: list[tuple[str, str]] = []
    for name, value in settings.items():
        dotted = f"{prefix}{name}"
        rows += _leaves(value, f"{dotted}.") if isinstance(value, Mapping) else [(dotted, _plain(value))]
    return rows


def _plain(value: Any) -> str:
    """A setting as a person would write it: text bare, anything else as JSON."""
    return value if isinstance(value, str) else orjson.dumps(value, default=str).decode()


def _arm_label(arm: Any) -> str:
    return Arm.from_json(arm).label if isinstance(arm, Mapping) else str(arm)
