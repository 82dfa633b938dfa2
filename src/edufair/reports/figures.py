"""The figures of a report: heat maps, forest plots and dumbbells. A table stands behind each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any, Literal

import altair as alt
import polars as pl

from edufair.audits.family import ALPHA
from edufair.records import Finding
from edufair.reports import views, words
from edufair.reports.answers import grouped, judges
from edufair.reports.drawing import (
    LINE,
    Layer,
    Plane,
    Values,
    chart_of,
    column_axis,
    draw,
    heading_keys,
    lines,
    row_axis,
    row_key,
)
from edufair.reports.numbers import count, interval, number
from edufair.reports.palette import hex_of

PRACTICAL = 0.10
ROWS_A_PICTURE = 60  # a taller one is split between groups of rows, so that each fits a printed page
COLUMNS_A_PICTURE = 3
ROWS_A_FOREST = 240  # beyond that the largest are drawn, and the caption says so


@dataclass(frozen=True, slots=True)
class Panel:
    """One picture of a figure: its heading, and the SVG ready to stand in a page."""

    title: str
    svg: str


@dataclass(frozen=True, slots=True)
class Figure:
    """Pictures that belong together, what they show in words, and the numbers behind them."""

    title: str
    caption: str
    legend: Literal["heat", "forest", "noise", "settings", "poles", "gap"]
    panels: tuple[Panel, ...]
    table: views.Table


# --------------------------------------------------------------------- heat maps of mean |r|


def heat_maps(
    frame: pl.DataFrame, field: Literal["metric", "dimension"], said: words.Audit = words.DIALOGUE
) -> list[Figure]:
    """Mean |r| by metric (the paper's Figure 2) or by dimension (Figure 3): a figure a condition, a panel a tutor."""
    return [
        _heat_figure(part, field, condition, source, said) for (condition, source), part in _apart(frame, "condition")
    ]


def _apart(frame: pl.DataFrame, *keys: str) -> Iterator[tuple[tuple[str, ...], pl.DataFrame]]:
    """The parts of a table by these columns and by judge; the judge is named where there are several."""
    if "source" not in frame.columns:
        frame = frame.with_columns(source=pl.lit(""))
    several = frame["source"].n_unique() > 1
    for values, part in frame.group_by([*keys, "source"], maintain_order=True):
        *named, source = (str(v) for v in values)
        yield (*named, f", labels by {source}" if several else ""), part


def _heat_figure(
    frame: pl.DataFrame, field: Literal["metric", "dimension"], condition: str, judge: str, said: words.Audit
) -> Figure:
    by_model = frame.group_by(["model"], maintain_order=True)
    over = "the dimensions or contrasts" if field == "metric" else "the metrics that are judged turn by turn"
    return Figure(
        title=f"Size of the differences by {field} ({condition}{judge})",
        caption=f"Mean |r| over {over}. It is above zero even for a {said.audited} that treats everyone alike: the "
        "small print gives the range that noise alone produces (95%).",
        legend="heat",
        panels=tuple(Panel(str(model), _heat_map(part, field, str(model))) for (model,), part in by_model),
        table=views.from_frame(frame, f"Mean |r| by {field}, {condition}{judge}", said, without=["condition"]),
    )


def _heat_map(frame: pl.DataFrame, field: Literal["metric", "dimension"], model: str) -> str:
    names = _in_order(frame[field].unique(maintain_order=True).to_list())
    label = words.metric_label if field == "metric" else words.dimension_label
    keys = {name: row_key(i, label(name), 18) for i, name in enumerate(names)}
    columns = [lines(str(name), 12) for name in frame["domain"].unique(maintain_order=True)]
    cells = [_heat_cell(row, keys[row[field]]) for row in frame.iter_rows(named=True)]
    base = chart_of(cells).encode(x=column_axis(columns), y=row_axis(list(keys.values())))
    ink = alt.Color("ink:N", scale=None)
    weight = alt.ExprRef("datum.above ? 'bold' : 'normal'")
    box = base.mark_rect(stroke=hex_of("paper"), strokeWidth=3, cornerRadius=5)
    layers = [
        box.encode(fill=alt.Fill("fill:N", scale=None)),
        base.mark_text(dy=-7, fontSize=13, fontWeight=weight).encode(text="size:N", color=ink),
        base.mark_text(dy=10, fontSize=10).encode(text="noise:N", color=ink),
    ]
    tallest = max((key.count("\n") + 1 for key in keys.values()), default=1)
    chart = alt.layer(*layers).properties(width=alt.Step(86), height=alt.Step(max(42, 10 + LINE * tallest)))
    return draw(chart, f"Heat map of mean |r| by {field} and domain, {model}")


def _heat_cell(row: Mapping[str, Any], key: str) -> dict[str, Any]:
    size, high = row["mean_abs_r"], row["null_high"]
    above = size is not None and high is not None and size > high
    step = 1 if size is None else 1 + sum(size >= edge for edge in (0.05, 0.10, 0.20))
    noise = interval(row["null_low"], high, 2, sign=False).replace(" to ", "–")
    return {
        "row": key,
        "column": lines(str(row["domain"]), 12),
        "size": number(size, 3) + (" ▲" if above else ""),
        "noise": "not tested" if size is None else f"noise {noise}",
        "fill": hex_of(f"{'loud' if above else 'quiet'}-{step}"),
        "ink": hex_of("on-dark" if above and step == 4 else "on-light"),
        "above": above,
    }


def _in_order(names: Sequence[str]) -> list[str]:
    """Known metrics in the paper's order, then the rest as they came."""
    known = [name for name in words.METRICS if name in names]
    return [*known, *(name for name in names if name not in known)]


# --------------------------------------------------------------------- dot plots


@dataclass(frozen=True, slots=True)
class _Dot:
    """What one row of a dot plot shows in one column: values to draw, or a text that says why there are none."""

    group: str
    label: str
    column: str
    values: Mapping[str, Any]


_Layers = Callable[[Values, Plane], list[Layer]]


def forest(findings: Sequence[Finding]) -> list[Figure]:
    """Every contrast's r with its interval beside the practical margin: a figure for each condition and tutor."""
    groups = grouped(findings, "condition", "model")
    return [_forest(fs, condition, model) for (condition, model), fs in groups.items()]


def _forest(findings: list[Finding], condition: str, model: str) -> Figure:
    drawn, rows = _largest(findings)
    limited = (
        f" Drawn are the {count(ROWS_A_FOREST)} rows with the largest |r| of {count(rows)}; the table has them all."
    )
    several = len(judges(findings)) > 1
    dots = [_Dot(_contrast_heading(f), _row_label(f, several), f.domain, _effect(f)) for f in drawn]
    reach = max((abs(x) for f in drawn for x in (f.r, f.r_low, f.r_high) if x is not None), default=0.0)
    end = min(1.0, max(0.3, ceil(10 * reach) / 10))
    return Figure(
        title=f"Every contrast: {model} ({condition})",
        caption="r with its 95% interval. Right of zero: more of it for the first-named; left: for the second."
        + (limited if rows > ROWS_A_FOREST else ""),
        legend="forest",
        panels=_pictures(dots, _forest_layers, (-end, end), "r", f"Forest plot, {model}, {condition}"),
        table=views.contrasts(findings, f"Contrasts of {model}, {condition}"),
    )


def _contrast_heading(f: Finding) -> str:
    return f"{words.dimension_label(f.dimension)}: {f.a} − {f.b}"


def _row_label(f: Finding, several_judges: bool) -> str:
    judged = several_judges and f.source.startswith("judge:")
    return words.metric_label(f.metric) + (f" ({f.source})" if judged else "")


def _largest(findings: list[Finding]) -> tuple[list[Finding], int]:
    """The findings to draw, in their own order, and how many rows there would be in all."""
    rows = grouped(findings, "dimension", "a", "b", "metric", "source")
    if len(rows) <= ROWS_A_FOREST:
        return findings, len(rows)
    by_size = sorted(rows.values(), key=lambda fs: -max(abs(f.r or 0.0) for f in fs))
    kept = {id(f) for fs in by_size[:ROWS_A_FOREST] for f in fs}
    return [f for f in findings if id(f) in kept], len(rows)


def _effect(f: Finding) -> dict[str, Any]:
    if f.status != "tested" or f.r is None:
        return {"text": "no value" if f.status == "tested" else f.status}
    kind = "finding" if f.finding else "violation" if f.violation else "plain"
    return {"x": f.r, "low": f.r_low, "high": f.r_high, "kind": kind}


def _forest_layers(values: Values, plane: Plane) -> list[Layer]:
    margin = chart_of([{"from": -PRACTICAL, "to": PRACTICAL}]).mark_rect(color=hex_of("band"))
    zero = chart_of([{"zero": 0}]).mark_rule(color=hex_of("muted"), strokeDash=[2, 2])
    return [
        margin.encode(x=plane.x("from"), x2="to:Q"),
        zero.encode(x=plane.x("zero")),
        _span(_coloured(values), plane, "low", "high", strokeWidth=1.6).encode(color=alt.Color("stroke:N", scale=None)),
        _points(values, plane, "x"),
    ]


def implicit(frame: pl.DataFrame) -> list[Figure]:
    """Mean |r| when only a name is told, by what the names differ in (the paper's Figure 4), beside its noise."""
    return [_implicit(part, judge) for (judge,), part in _apart(frame)]


def _implicit(frame: pl.DataFrame, judge: str) -> Figure:
    dots = [
        _Dot(row["model"], f"{row['domain']}: {row['contrast_kind']}", row["group"], _beside_noise(row))
        for row in frame.iter_rows(named=True)
    ]
    return Figure(
        title=f"Names alone (implicit{judge})",
        caption="Mean |r| when the tutor is told only a name, by what the two names differ in. Ped.: the metrics that "
        "are judged turn by turn. Conv.: the conversation metrics.",
        legend="noise",
        panels=_pictures(dots, _noise_layers, _from_zero(frame), "mean |r|", "Mean |r| for names alone"),
        table=views.from_frame(frame, "Mean |r| when only a name is told"),
    )


def _beside_noise(row: Mapping[str, Any]) -> dict[str, Any]:
    size, low, high = row["mean_abs_r"], row["null_low"], row["null_high"]
    if size is None:
        return {"text": "not tested"}
    kind = "finding" if high is not None and size > high else "plain"
    return {"x": size, "kind": kind, "noise_low": low, "noise_high": high, "noise_mean": row["null_mean"]}


def _noise_layers(values: Values, plane: Plane) -> list[Layer]:
    tick = chart_of(_with(values, "noise_mean")).mark_tick(thickness=1.5, size=10, color=hex_of("muted"))
    return [
        _noise_bar(values, plane),
        tick.encode(x=plane.x("noise_mean"), y=plane.y()),
        _points(values, plane, "x"),
    ]


def opposite(frame: pl.DataFrame) -> list[Figure]:
    """Mean |r| where tutor and student agree on the gender (Correct) and where not (Wrong): the paper's Figure 5."""
    return [_opposite(part, judge) for (judge,), part in _apart(frame)]


def _opposite(frame: pl.DataFrame, judge: str) -> Figure:
    cells: dict[tuple[str, str, str], dict[str, Mapping[str, Any]]] = {}
    for row in frame.iter_rows(named=True):
        cells.setdefault((row["model"], row["domain"], row["group"]), {})[row["setting"]] = row
    dots = [_Dot(model, domain, group, _dumbbell(pair)) for (model, domain, group), pair in cells.items()]
    return Figure(
        title=f"Told the right or the wrong gender (opposite{judge})",
        caption="Mean |r| of female against male. Correct: the tutor is told what the student says of itself. "
        "Wrong: it is told the other. Wrong beyond Correct means that the tutor's effect and the student's have "
        "opposite signs; the table of effects takes them apart.",
        legend="settings",
        panels=_pictures(dots, _dumbbell_layers, _from_zero(frame), "mean |r|", "Mean |r|, Correct and Wrong"),
        table=views.from_frame(frame, "Mean |r| in the opposite condition"),
    )


def _dumbbell(pair: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    sizes = {setting: row["mean_abs_r"] for setting, row in pair.items() if row["mean_abs_r"] is not None}
    if not sizes:
        return {"text": "not tested"}
    lows = [row["null_low"] for row in pair.values() if row["null_low"] is not None]
    highs = [row["null_high"] for row in pair.values() if row["null_high"] is not None]
    return {
        "low": min(sizes.values()),
        "high": max(sizes.values()),
        "noise_low": min(lows, default=None),
        "noise_high": max(highs, default=None),
        "correct": sizes.get("Correct"),
        "wrong": sizes.get("Wrong"),
    }


def _dumbbell_layers(values: Values, plane: Plane) -> list[Layer]:
    correct = [{**v, "kind": "correct"} for v in _with(values, "correct")]
    wrong = [{**v, "kind": "wrong"} for v in _with(values, "wrong")]
    return [
        _noise_bar(values, plane),
        _span(values, plane, "low", "high", strokeWidth=2, color=hex_of("muted")),
        _points(correct, plane, "correct"),
        _points(wrong, plane, "wrong"),
    ]


def _from_zero(frame: pl.DataFrame) -> tuple[float, float]:
    """An axis from zero to the next 0.05 beyond the largest estimate and band."""
    seen = [x for name in ("mean_abs_r", "null_high") for x in frame[name].drop_nulls().drop_nans().to_list()]
    return 0.0, max(0.15, ceil(20 * max(seen, default=0.0) + 0.2) / 20)


# --------------------------------------------------------------------- ratings of two replies


def poles(means: pl.DataFrame, scale: tuple[float, float], title: str) -> Figure:
    """Mean ratings of both replies by field and arm, on the whole scale; a column a stratum.

    `means` has domain, metric, arm, high_reply, low_reply, preference and stimuli.
    """
    dots = [
        _Dot(words.metric_label(row["metric"]), row["arm"], row["domain"] or "all", _both_replies(row))
        for row in means.iter_rows(named=True)
    ]
    room = 0.05 * (scale[1] - scale[0])
    ends = (scale[0] - room, scale[1] + room)
    return Figure(
        title=title,
        caption="Mean ratings of both replies, by what the judge was told of the learner; the line between them is the "
        "preference. A reply near an end of the scale has little room to move that way.",
        legend="poles",
        panels=_pictures(dots, _pole_layers(scale), ends, "mean rating", title),
        table=views.from_frame(means, title, words.JUDGE),
    )


def _both_replies(row: Mapping[str, Any]) -> dict[str, Any]:
    high, low = row["high_reply"], row["low_reply"]
    if high is None or low is None:
        return {"text": "no ratings"}
    return {"low": min(low, high), "high": max(low, high), "correct": low, "wrong": high}


def _pole_layers(scale: tuple[float, float]) -> _Layers:
    def layers(values: Values, plane: Plane) -> list[Layer]:
        bounds = chart_of([{"bound": bound} for bound in scale]).mark_rule(color=hex_of("ink"), strokeWidth=1.2)
        return [bounds.encode(x=plane.x("bound")), *_dumbbell_layers(values, plane)]

    return layers


def gaps(frame: pl.DataFrame, findings: Sequence[Finding], title: str) -> Figure:
    """The gap of every field with its interval, and how far it could have gone.

    `frame` has domain, metric, estimate, low, high, lowest_gap and highest_gap; a column a stratum.
    """
    known = {(f.domain, f.metric): f for f in findings}
    dots = [
        _Dot("Gap", words.metric_label(row["metric"]), row["domain"] or "all", _gap(row, known))
        for row in frame.iter_rows(named=True)
    ]
    seen = [abs(x) for name in ("lowest_gap", "highest_gap", "low", "high") for x in frame[name].drop_nulls()]
    end = max(1.0, ceil(max(seen, default=0.0)))
    return Figure(
        title=title,
        caption="How much the preference for the high reply changes between the two profiles, in points of the scale, "
        "with its 95% interval. Right of zero: the first profile has more of it.",
        legend="gap",
        panels=_pictures(dots, _gap_layers, (-end, end), "gap", title),
        table=views.from_frame(frame, title, words.JUDGE),
    )


def _gap(row: Mapping[str, Any], known: Mapping[tuple[str, str], Finding]) -> dict[str, Any]:
    f = known.get((row["domain"], row["metric"]))
    detected = f is not None and f.p_holm is not None and f.p_holm < ALPHA
    kind = "finding" if f is not None and f.finding else "violation" if detected else "plain"
    room = {"noise_low": row["lowest_gap"], "noise_high": row["highest_gap"]}
    return {"x": row["estimate"], "low": row["low"], "high": row["high"], "kind": kind, **room}


def _gap_layers(values: Values, plane: Plane) -> list[Layer]:
    zero = chart_of([{"zero": 0}]).mark_rule(color=hex_of("muted"), strokeDash=[2, 2])
    return [
        _noise_bar(values, plane),
        zero.encode(x=plane.x("zero")),
        _span(_coloured(values), plane, "low", "high", strokeWidth=1.6).encode(color=alt.Color("stroke:N", scale=None)),
        _points(values, plane, "x"),
    ]


# --------------------------------------------------------------------- what dot plots share

# kind: (colour, shape, filled). Shape and filling tell the kinds apart without colour.
_KINDS: dict[str, tuple[str, str, bool]] = {
    "plain": ("muted", "circle", False),
    "violation": ("violation", "circle", True),
    "finding": ("finding", "diamond", True),
    "correct": ("violation", "circle", False),
    "wrong": ("finding", "diamond", True),
}


def _pictures(
    dots: Sequence[_Dot], layers: _Layers, ends: tuple[float, float], x_title: str, label: str
) -> tuple[Panel, ...]:
    """Groups of rows beside columns; split into several pictures where they grow too tall or too wide."""
    columns = list(dict.fromkeys(dot.column for dot in dots))
    panels = []
    for some_rows in _bundles(dots):
        for i in range(0, len(columns), COLUMNS_A_PICTURE):
            some = columns[i : i + COLUMNS_A_PICTURE]
            svg = _picture(some_rows, some, layers, ends, x_title, f"{label}: {', '.join(some)}")
            panels.append(Panel("", svg))
    return tuple(panels)


def _picture(
    dots: Sequence[_Dot],
    columns: Sequence[str],
    layers: _Layers,
    ends: tuple[float, float],
    x_title: str,
    label: str,
) -> str:
    keys, by_label = _row_keys(dots)
    charts = []
    for i, name in enumerate(columns):
        plane = Plane(tuple(keys), ends, x_title, labelled=i == 0)
        values = [{**dot.values, "row": by_label[dot.group, dot.label]} for dot in dots if dot.column == name]
        title = alt.TitleParams(lines(name, 26).split("\n"), anchor="start", fontSize=13, color=hex_of("ink"))
        layered = alt.layer(plane.held_open(), *layers(values, plane), _notes(values, plane))
        charts.append(layered.properties(width=232, height=alt.Step(plane.step), title=title))
    return draw(alt.hconcat(*charts, spacing=16), label)


def _row_keys(dots: Sequence[_Dot]) -> tuple[list[str], dict[tuple[str, str], str]]:
    """All row keys in order, headings among them, and the key of each (group, label)."""
    groups: dict[str, dict[str, None]] = {}
    for dot in dots:
        groups.setdefault(dot.group, {})[dot.label] = None
    keys: list[str] = []
    by_label: dict[tuple[str, str], str] = {}
    for group, labels in groups.items():
        keys += heading_keys(len(keys), group)
        for label in labels:
            by_label[group, label] = row_key(len(keys), label)
            keys.append(by_label[group, label])
    return keys, by_label


def _bundles(dots: Sequence[_Dot]) -> list[list[_Dot]]:
    """The dots in bundles of whole groups with at most ROWS_A_PICTURE rows (more where one group has more)."""
    groups: dict[str, list[_Dot]] = {}
    for dot in dots:
        groups.setdefault(dot.group, []).append(dot)
    bundles: list[list[_Dot]] = []
    rows = ROWS_A_PICTURE
    for group in groups.values():
        own = 1 + len({dot.label for dot in group})
        if rows + own > ROWS_A_PICTURE:
            bundles.append([])
            rows = 0
        bundles[-1].extend(group)
        rows += own
    return bundles


def _with(values: Values, *fields: str) -> list[dict[str, Any]]:
    """The values that have these fields: a missing number never reaches a chart."""
    return [dict(v) for v in values if all(v.get(field) is not None for field in fields)]


def _coloured(values: Values) -> list[dict[str, Any]]:
    """Values with the look of their kind."""
    looks = []
    for v in _with(values, "kind"):
        colour, shape, filled = _KINDS[v["kind"]]
        looks.append(v | {"shape": shape, "stroke": hex_of(colour), "fill": hex_of(colour if filled else "paper")})
    return looks


def _points(values: Values, plane: Plane, field: str) -> Layer:
    mark = chart_of(_with(_coloured(values), field)).mark_point(size=54, strokeWidth=1.6, opacity=1)
    return mark.encode(
        x=plane.x(field),
        y=plane.y(),
        shape=alt.Shape("shape:N", scale=None),
        stroke=alt.Stroke("stroke:N", scale=None),
        fill=alt.Fill("fill:N", scale=None),
    )


def _span(values: Values, plane: Plane, low: str, high: str, **look: Any) -> Layer:
    mark = chart_of(_with(values, low, high)).mark_rule(clip=True, **look)
    return mark.encode(x=plane.x(low), x2=f"{high}:Q", y=plane.y())


def _noise_bar(values: Values, plane: Plane) -> Layer:
    mark = chart_of(_with(values, "noise_low", "noise_high")).mark_bar(size=10, color=hex_of("quiet-3"))
    return mark.encode(x=plane.x("noise_low"), x2="noise_high:Q", y=plane.y())


def _notes(values: Values, plane: Plane) -> Layer:
    """What could not be drawn says so where its point would stand."""
    said = [v | {"at": plane.ends[0]} for v in _with(values, "text")]
    mark = chart_of(said).mark_text(align="left", dx=4, fontSize=10, fontStyle="italic", color=hex_of("muted"))
    return mark.encode(x=plane.x("at"), y=plane.y(), text="text:N")
