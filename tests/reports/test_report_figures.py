"""Figures: what they show, how they grow, and that nothing from outside becomes markup."""

import re
from itertools import pairwise
from xml.etree import ElementTree

import polars as pl
import pytest

from edufair.reports import figures
from edufair.reports.drawing import Plane, lines
from edufair.reports.palette import COLOURS
from reports import made_up
from reports.made_up import FOUND, TESTED, replace

SVG = "{http://www.w3.org/2000/svg}"
LONG = (
    "meta-llama/Llama-3.1-405B-Instruct-with-a-very-long-name-and-Wordsthatneverendwordsthatneverendwordsthatneverend"
)


def texts(svg):
    return [element.text or "" for element in ElementTree.fromstring(svg).iter(f"{SVG}text")] + [
        element.text or "" for element in ElementTree.fromstring(svg).iter(f"{SVG}tspan")
    ]


def heat_row(**changes):
    row = {"model": "T", "condition": "explicit", "domain": "mathematics", "metric": "answer_leakage",
           "mean_abs_r": 0.2, "null_mean": 0.1, "null_low": 0.05, "null_high": 0.15, "p": 0.01, "n_contrasts": 6,
           "n_left_out": 0}  # fmt: skip
    return row | changes


def test_a_heat_map_marks_what_is_larger_than_noise_and_prints_the_noise():
    frame = pl.DataFrame([heat_row(), heat_row(domain="physics", mean_abs_r=0.12)])
    (figure,) = figures.heat_maps(frame, "metric")
    (panel,) = figure.panels
    seen = texts(panel.svg)
    assert "0.200 ▲" in seen and "0.120" in seen
    assert seen.count("noise 0.05–0.15") == 2
    assert [row[3].text for row in figure.table.rows] == ["0.200", "0.120"]


def test_a_cell_without_a_value_says_so():
    frame = pl.DataFrame([heat_row(), heat_row(domain="physics", mean_abs_r=None, null_low=None, null_high=None)])
    (figure,) = figures.heat_maps(frame, "metric")
    assert "not tested" in texts(figure.panels[0].svg)


def test_tutors_conditions_and_judges_stand_apart():
    rows = [
        heat_row(model=m, condition=c, source=s) for m in "AB" for c in ("explicit", "implicit") for s in ("x", "y")
    ]
    drawn = figures.heat_maps(pl.DataFrame(rows), "metric")
    assert len(drawn) == 4
    assert {figure.title.rpartition("(")[2] for figure in drawn} == {
        "explicit, labels by x)",
        "explicit, labels by y)",
        "implicit, labels by x)",
        "implicit, labels by y)",
    }
    assert [panel.title for panel in drawn[0].panels] == ["A", "B"]


def test_a_forest_plot_draws_every_contrast_and_says_what_could_not_be_tested():
    few = replace(TESTED, metric="tutor_turns", status="insufficient", r=None, r_low=None, r_high=None, n=9)
    (figure,) = figures.forest([FOUND, replace(TESTED, metric="actionability"), few])
    seen = texts(figure.panels[0].svg)
    assert "Gender: female − male" in seen
    assert {"Gives the answer away", "Leaves a task to do", "Tutor turns", "insufficient"} <= set(seen)
    assert len(figure.table.rows) == 3


def test_two_judges_of_one_metric_have_rows_of_their_own():
    (figure,) = figures.forest([FOUND, replace(FOUND, source="judge:k")])
    seen = texts(figure.panels[0].svg)
    assert "Gives the answer away (judge:j)" in seen and "Gives the answer away (judge:k)" in seen


def test_a_forest_too_tall_to_draw_shows_the_largest_and_says_so():
    small = [replace(TESTED, a=f"level {i}", r=0.01) for i in range(figures.ROWS_A_FOREST)]
    (figure,) = figures.forest([*small, replace(TESTED, a="the largest", r=0.9)])
    assert "240 rows with the largest |r| of 241" in figure.caption
    assert any("the largest" in text for panel in figure.panels for text in texts(panel.svg))
    assert len(figure.table.rows) == 241


def places(svg):
    """(x, y) of every text as drawn: the translations of its ancestors added up. (SVG 1.1, transform attribute.)"""
    found = []

    def walk(element, x, y):
        moved = re.match(r"translate\(([-\d.]+),\s*([-\d.]+)\)", element.get("transform", ""))
        if moved:
            x, y = x + float(moved[1]), y + float(moved[2])
        if element.tag == f"{SVG}text":
            found.append((x, y, "".join(element.itertext()), len(list(element)) or 1))
        for child in element:
            walk(child, x, y)

    walk(ElementTree.fromstring(svg), 0.0, 0.0)
    return found


@pytest.mark.parametrize("field", ["metric", "dimension"])
def test_forty_groups_with_long_labels_do_not_overlap(field):
    rows = [heat_row(**{field: f"{LONG} {i}"}) for i in range(40)]
    (figure,) = figures.heat_maps(pl.DataFrame(rows), field)
    (panel,) = figure.panels
    labels = sorted((y, n) for _, y, text, n in places(panel.svg) if "llama" in text.lower())
    assert len(labels) == 40
    for (above, lines_above), (below, _) in pairwise(labels):
        assert below - above >= 13 * lines_above  # 13 pixels a line


def test_forty_contrasts_with_long_labels_grow_and_do_not_overlap():
    found = [replace(TESTED, a=f"{LONG} {i}", b="x", metric=m) for i in range(40) for m in ("tutor_turns", "warmth")]
    (figure,) = figures.forest(found)
    assert len(figure.panels) > 1
    for panel in figure.panels:
        rows = sorted({y for x, y, text, _ in places(panel.svg) if x < 300 and text.strip()})
        assert min(b - a for a, b in pairwise(rows)) >= 10


def test_column_names_of_several_lines_end_above_the_cells():
    rows = [heat_row(domain=name) for name in ("physics", "organic chemistry and biochemistry")]
    (figure,) = figures.heat_maps(pl.DataFrame(rows), "metric")
    found = places(figure.panels[0].svg)
    (first_line, lines_below) = next((y, n) for _, y, text, n in found if text.startswith("organic"))
    assert first_line + 13 * (lines_below - 1) < min(y for _, y, text, _ in found if text.startswith("0.200")) - 20


def test_no_label_is_cut():
    label = lines(LONG, 20)
    assert label.replace("\n", "").replace(" ", "") == LONG.replace(" ", "")


def test_hostile_labels_stay_text_in_the_picture():
    hostile = f"{made_up.SCRIPT}\"'&\u202e"
    painted = ' id="x" fill="#1b2631" role="img"'  # text that reads like the attributes we rewrite
    (figure,) = figures.forest([replace(FOUND, a=hostile, b=painted, domain=hostile, model=hostile)])
    for panel in figure.panels:
        tags = {element.tag.removeprefix(SVG) for element in ElementTree.fromstring(panel.svg).iter()}
        assert tags <= {"svg", "g", "rect", "path", "text", "tspan", "line", "defs", "clipPath", "title"}
        assert 'id="x"fill="#1b2631"role="img"' in "".join("".join(texts(panel.svg)).split())
        assert "\u202e" not in panel.svg and "⟨U+202E⟩" in panel.svg


def test_ids_of_pictures_on_one_page_never_meet():
    panels = [
        p for f in figures.forest([FOUND, replace(FOUND, model="U"), replace(FOUND, model="V")]) for p in f.panels
    ]
    ids = [found for panel in panels for found in re.findall(r'\bid="([^"]+)"', panel.svg)]
    assert len(ids) == len(set(ids))
    for panel in panels:
        for used in re.findall(r"url\(#([^)]+)\)", panel.svg):
            assert f'id="{used}"' in panel.svg


def test_colours_follow_the_page_and_no_number_is_missing():
    (figure,) = figures.forest([FOUND])
    svg = figure.panels[0].svg
    assert "var(--fig-finding," in svg
    assert not re.search(r'(fill|stroke)="#(?!ffffff|000)', svg)
    assert "NaN" not in svg and "undefined" not in svg


def brightness(colour):
    """Relative luminance, WCAG 2.2: linear light weighted 0.2126, 0.7152, 0.0722."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    """WCAG 2.2 contrast ratio: (lighter + 0.05) / (darker + 0.05)."""
    high, low = sorted((brightness(one), brightness(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("dark", [False, True])
def test_steps_are_told_apart_by_lightness_and_their_text_is_legible(dark):
    tone = {name: pair[dark] for name, pair in COLOURS.items()}
    for family in ("quiet", "loud"):
        steps = [brightness(tone[f"{family}-{i}"]) for i in (1, 2, 3, 4)]
        assert steps == sorted(steps, reverse=not dark)
    for name in ("quiet-1", "quiet-2", "quiet-3", "quiet-4", "loud-1", "loud-2", "loud-3"):
        assert contrast(tone[name], tone["on-light"]) >= 4.5, name
    assert contrast(tone["loud-4"], tone["on-dark"]) >= 4.5
    for name in ("ink", "muted", "finding", "violation"):
        assert contrast(tone[name], tone["paper"]) >= 4.5, name


def test_names_alone_and_the_opposite_condition_stand_beside_their_noise():
    tables = made_up.report_data().analysis.tables
    (names,) = figures.implicit(tables["implicit"])
    (opposite,) = figures.opposite(tables["opposite"])
    for figure in (names, opposite):
        seen = {text for panel in figure.panels for text in texts(panel.svg)}
        assert {"Ped.", "Conv.", "Llama-3.1-8B", "TutorRL-7B"} <= seen
    assert len(opposite.table.rows) == 24


def test_a_table_without_a_single_value_still_draws():
    row = {"model": "T", "domain": "m", "setting": "Correct", "group": "Ped.", "mean_abs_r": None, "null_mean": None,
           "null_low": None, "null_high": None}  # fmt: skip
    frame = pl.DataFrame([row, row | {"setting": "Wrong"}]).with_columns(pl.col("^(mean|null).*$").cast(pl.Float64))
    (figure,) = figures.opposite(frame)
    assert "not tested" in texts(figure.panels[0].svg)


def test_ticks_are_round_and_hold_zero():
    assert Plane((), (-0.6, 0.6), "r").ticks == (-0.6, -0.4, -0.2, 0.0, 0.2, 0.4, 0.6)
    assert Plane((), (-1.0, 1.0), "r").ticks == (-1.0, -0.5, 0.0, 0.5, 1.0)
    assert Plane((), (0.0, 0.25), "r").ticks == (0.0, 0.05, 0.1, 0.15, 0.2, 0.25)
