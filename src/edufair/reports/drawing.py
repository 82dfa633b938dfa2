"""Charts as SVG for a page: labels that are never cut, rows that grow, one scale for all columns of a picture."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from html import escape
from math import ceil, floor
from textwrap import wrap
from typing import Any

import altair as alt
import orjson
import vl_convert

from edufair.reports.palette import hex_of, with_variables
from edufair.reports.safe import shown

Values = Sequence[Mapping[str, Any]]
Layer = Any  # a chart: altair gives encode() and layer() no usable type
FONT = "Helvetica, Arial, Liberation Sans, sans-serif"
LINE = 13  # pixels from one line of a label to the next


@dataclass(frozen=True, slots=True)
class Plane:
    """What the layers of one column share: the row keys in order, the ends and title of x, whether rows are named."""

    keys: tuple[str, ...]
    ends: tuple[float, float]
    title: str
    labelled: bool = True

    @property
    def step(self) -> int:
        """The height of a row, by the label with the most lines."""
        return 6 + LINE * max((key.count("\n") + 1 for key in self.keys), default=1)

    def x(self, field: str) -> alt.X:
        """A layer's place along x. Scale and axis are those of `held_open`, which every picture begins with."""
        return alt.X(f"{field}:Q", title=self.title)

    def y(self) -> alt.Y:
        """A layer's place among the rows, likewise."""
        return alt.Y("row:N", sort=None, title=None)

    def held_open(self) -> Layer:
        """An unseen layer with every row, so that each column has all rows, also where it has no value."""
        values = [{"row": key, "x": self.ends[0]} for key in self.keys]
        scale = alt.Scale(domain=list(self.ends), nice=False, zero=False)
        axis = alt.Axis(values=list(self.ticks), format="~g", labelFlush=False)
        x = alt.X("x:Q", scale=scale, title=self.title, axis=axis)
        return (
            chart_of(values)
            .mark_point(opacity=0, color=hex_of("muted"))
            .encode(x=x, y=row_axis(self.keys, labels=self.labelled))
        )

    @property
    def ticks(self) -> tuple[float, ...]:
        """Round numbers from end to end, at most ten; zero is among them."""
        low, high = self.ends
        steps = (0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0)
        step = next(step for step in steps if (high - low) / step <= 9.001 or step == steps[-1])
        first, last = ceil(low / step - 1e-9), floor(high / step + 1e-9)
        return tuple(round(step * k, 2) for k in range(first, last + 1))


def chart_of(values: Values) -> Layer:
    """A chart over plain values. They travel as one JSON text, which altair neither copies nor checks row by row."""
    text = orjson.dumps([dict(v) for v in values]).decode()
    return alt.Chart(alt.InlineData(values=text, format=alt.JsonDataFormat(type="json")))


def lines(text: str, width: int) -> str:
    """A label on as many lines as it needs, its controls written out; nothing is cut off."""
    return "\n".join(wrap(shown(text), width, break_on_hyphens=False))


def row_key(index: int, label: str, width: int = 32) -> str:
    """A row's key: r, five digits that keep it unique and in order, and the label that is shown."""
    return f"r{index:05}{lines(label, width)}"


def heading_keys(index: int, heading: str) -> list[str]:
    """A heading above rows: a row of its own for each of its lines, so that it makes no other row taller."""
    return [f"h{index + i:05}{line}" for i, line in enumerate(lines(heading, 34).split("\n"))]


def row_axis(keys: Sequence[str], *, labels: bool = True) -> alt.Y:
    """Rows named by their keys' labels; headings are bold. The expressions are fixed and only read the key."""
    axis = alt.Axis(
        title=None,
        labels=labels,
        labelExpr="split(slice(datum.value, 6), '\\n')",
        labelLimit=0,
        labelBaseline="middle",
        labelOffset=_centred(),
        labelPadding=8,
        labelLineHeight=LINE,
        labelFontWeight=_if_heading("bold", "normal"),
        labelColor=_if_heading(hex_of("ink"), hex_of("muted")),
        labelOverlap=False,
        grid=False,
        ticks=False,
        domain=False,
    )
    return alt.Y("row:N", sort=None, scale=alt.Scale(domain=list(keys)), axis=axis)


def _centred() -> Any:
    """Vega sets the first line of a label in the middle; each further line moves it up by half a line."""
    found = "length(split(slice(datum.value, 6), '\\n'))"
    steps = [{"test": f"{found} == {n}", "value": -LINE / 2 * (n - 1)} for n in range(2, 9)]
    return {"condition": steps, "value": 0}


def _if_heading(yes: str, no: str) -> Any:
    return {"condition": {"test": "slice(datum.value, 0, 1) == 'h'", "value": yes}, "value": no}


def column_axis(names: Sequence[str]) -> alt.X:
    """Columns with upright names above them, on as many lines as they need; Vega lets lines grow downwards."""
    deepest = max((name.count("\n") for name in names), default=0)
    axis = alt.Axis(
        title=None,
        orient="top",
        labelAngle=0,
        labelExpr="split(datum.value, '\\n')",
        labelLimit=0,
        labelLineHeight=LINE,
        labelPadding=8 + LINE * deepest,
        labelOverlap=False,
        ticks=False,
        domain=False,
    )
    return alt.X("column:N", sort=None, scale=alt.Scale(domain=list(names)), axis=axis)


def draw(chart: Layer, label: str) -> str:
    """A chart as SVG to stand in a page: named for screen readers, its colours the page's, its ids its own."""
    svg = vl_convert.vegalite_to_svg(_themed(chart).to_dict(validate=False), vl_version=_version())
    return _inline(svg[svg.index("<svg") :], label)


def _themed(chart: Layer) -> Layer:
    axis = alt.AxisConfig(
        labelFontSize=12,
        labelColor=hex_of("muted"),
        titleFontSize=11,
        titleFontWeight="normal",
        titleColor=hex_of("muted"),
        gridColor=hex_of("grid"),
        tickColor=hex_of("grid"),
        domainColor=hex_of("grid"),
    )
    view = alt.ViewConfig(stroke=None)
    return chart.configure(background="transparent", aria=False, padding=4, font=FONT, axis=axis, view=view)


@cache
def _version() -> str:
    """The converter's newest Vega-Lite of the major version that the charts are written for."""
    major = alt.SCHEMA_URL.rpartition("/v")[2].partition(".")[0]
    return next(v for v in reversed(vl_convert.get_vegalite_versions()) if v.partition(".")[0] == major)


_TAG = re.compile(r"<[^>]*>")
_ROLES = re.compile(r' (?:role|aria-[a-z]+)="[^"]*"')
_WIDTH = re.compile(r'\bwidth="([\d.]+)"')


def _inline(svg: str, label: str) -> str:
    """The picture as a part of a page. Only what stands inside tags is touched: a label may hold any text."""
    svg = _TAG.sub(lambda tag: with_variables(_ROLES.sub("", tag[0])), svg)
    svg = _with_own_ids(svg, label)
    width = float(_WIDTH.findall(svg)[0])
    least = f"--least: {0.8 * width:.0f}px"  # on a narrow screen it shrinks so far, then it scrolls
    return svg.replace("<svg ", f'<svg role="img" aria-label="{escape(shown(label))}" style="{least}" ', 1)


def _with_own_ids(svg: str, label: str) -> str:
    """Ids that no other picture of the page has, and the same ones each time: the converter counts on and on."""
    tags = "".join(_TAG.findall(svg))
    ids = dict.fromkeys(re.findall(r'\bid="([^"]+)"', tags))
    plain = _renamed(svg, {old: f"id-{i}" for i, old in enumerate(ids)})
    mark = blake2b((label + plain).encode("utf-8", "replace"), digest_size=4).hexdigest()
    return _renamed(svg, {old: f"f{mark}-{i}" for i, old in enumerate(ids)})


def _renamed(svg: str, names: Mapping[str, str]) -> str:
    def in_tag(tag: re.Match[str]) -> str:
        found = re.sub(r'\bid="([^"]+)"', lambda m: f'id="{names[m[1]]}"', tag[0])
        return re.sub(r"url\(#([^)]+)\)", lambda m: f"url(#{names[m[1]]})", found)

    return _TAG.sub(in_tag, svg)
