"""The page: complete, in order, alone, and safe against every text that enters it."""

import re
from html.parser import HTMLParser
from itertools import pairwise

import polars as pl
import pytest

from edufair.audits.base import Analysis
from edufair.errors import EdufairError
from edufair.records import Turn
from edufair.reports.html import Example, ModelUse, ReportData, Side, render, write
from edufair.reports.views import endings
from reports import made_up
from reports.made_up import FOUND, HOSTILE, TESTED, replace


class Page(HTMLParser):
    """What a browser would see: tags with attributes, text by tag, and that every tag is closed."""

    VOID = frozenset({"meta", "input", "br", "img", "link", "path", "rect", "circle", "line", "use"})

    def __init__(self, text):
        super().__init__()
        self.tags, self.stack, self.words = [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.stack.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        if tag not in self.VOID:
            assert self.stack.pop() == tag

    def handle_data(self, data):
        if "style" not in self.stack:
            self.words.append(data)

    @property
    def text(self):
        return "".join(self.words)


@pytest.fixture(scope="module")
def page(full_page):
    return full_page


@pytest.fixture(scope="module")
def parsed(page):
    return Page(page)


def small(**changes):
    """A report of two findings, quick to draw."""
    whole = {
        "title": "A run", "plan": made_up.plan(), "plan_hash": "abc", "version": "0.1.0", "created": "now",
        "models": (),
        "analysis": Analysis("dialogue", (FOUND, TESTED)),
    }  # fmt: skip
    return ReportData(**(whole | changes))


def test_the_page_is_well_formed_and_has_no_script(parsed):
    names = {tag for tag, _ in parsed.tags}
    assert not names & {"script", "iframe", "object", "embed", "link", "img", "form", "base"}
    assert parsed.stack == []
    assert not [attrs for _, attrs in parsed.tags if any(name.startswith("on") for name in attrs)]


def test_a_strict_policy_is_set_before_anything_else(page):
    policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
    assert f'<meta http-equiv="Content-Security-Policy" content="{policy}">' in page
    assert page.index("Content-Security-Policy") < page.index("<style>") < page.index("<body>")


def test_nothing_points_outside_the_file(parsed, page):
    for tag, attrs in parsed.tags:
        for name in ("href", "src", "xlink:href", "action", "data"):
            assert attrs.get(name, "#").startswith("#"), (tag, attrs)
    assert "@import" not in page and "url(http" not in page


def test_sections_come_in_their_order(page):
    order = ["asked", "control", "answer", "sure", "lost", "limits", "baseline", "figures", "contrasts", "chance",
             "losses", "further", "examples", "design", "again"]  # fmt: skip
    places = [page.index(f'id="{name}"') for name in order]
    assert places == sorted(places)


def test_ids_are_unique_and_every_link_has_its_target(parsed):
    ids = [attrs["id"] for _, attrs in parsed.tags if "id" in attrs]
    assert len(ids) == len(set(ids))
    assert {attrs["href"][1:] for tag, attrs in parsed.tags if tag == "a"} <= set(ids)


def test_every_figure_has_a_name_and_a_table_behind_it(page, parsed):
    for block in re.findall(r"<figure.*?</figure>", page, re.DOTALL):
        assert "<table" in block and "<details" in block
    pictures = [attrs for tag, attrs in parsed.tags if tag == "svg" and attrs.get("aria-hidden") != "true"]
    assert pictures
    assert all(attrs["role"] == "img" and attrs["aria-label"] for attrs in pictures)


def test_every_scrolling_region_can_be_reached_by_keyboard_and_has_a_name_of_its_own(parsed):
    regions = [attrs for _, attrs in parsed.tags if attrs.get("class") == "scroll"]
    assert regions
    assert all(attrs["tabindex"] == "0" and attrs["role"] == "region" for attrs in regions)
    names = [attrs["aria-label"] for attrs in regions]
    assert len(names) == len(set(names))


def test_headings_never_skip_a_level(parsed):
    levels = [int(tag[1]) for tag, _ in parsed.tags if re.fullmatch(r"h[1-6]", tag)]
    assert levels[0] == 1 and levels.count(1) == 1
    assert all(b - a <= 1 for a, b in pairwise(levels))


def test_every_contrast_stands_in_a_table_with_n_interval_p_adjusted_p_losses_and_verdict(page):
    findings = made_up.report_data().analysis.findings
    assert page.count("Least p</th>") == len({(f.model, f.condition) for f in findings})
    rows = re.findall(r"<tr>.*?</tr>", page, re.DOTALL)
    tested = [row for row in rows if re.search(r'class="badge is-', row) and "Pairs" not in row]
    assert len(tested) == len(findings)


def test_hostile_text_stays_text_wherever_it_enters():
    turns = (Turn(1, HOSTILE, HOSTILE, reasoning=HOSTILE, finish_reason=HOSTILE),)
    side = Side(HOSTILE, turns, {HOSTILE: 0.5})
    words = {"audit": HOSTILE, "name": HOSTILE, "prompts": {HOSTILE: HOSTILE}, "arms": [HOSTILE],
             "settings": {HOSTILE: HOSTILE}, "items": {"bank": HOSTILE, "n": 3, "by_domain": {HOSTILE: 3}},
             "roles": {HOSTILE: {"models": [HOSTILE]}}}  # fmt: skip
    names = ("model", "condition", "domain", "dimension", "a", "b", "metric", "source", "note")
    finding = replace(FOUND, **dict.fromkeys(names, HOSTILE))
    frame = pl.DataFrame([{"model": HOSTILE, "condition": HOSTILE, "arm": HOSTILE, "state": HOSTILE, "n": 1, "of": 2}])
    other = pl.DataFrame({HOSTILE: [HOSTILE]})
    page = render(
        small(
            title=HOSTILE, plan=words, plan_hash=HOSTILE, version=HOSTILE, created=HOSTILE, judge_note=HOSTILE,
            models=[ModelUse(HOSTILE, HOSTILE, {HOSTILE: HOSTILE}, {}, [HOSTILE], [HOSTILE])],
            analysis=Analysis(HOSTILE, (finding,), {"losses": frame, HOSTILE: other}),
            examples=[Example(HOSTILE, HOSTILE, HOSTILE, HOSTILE, side, side, 0.5, HOSTILE, HOSTILE, HOSTILE)],
        )
    )  # fmt: skip
    parsed = Page(page)
    assert not {tag for tag, _ in parsed.tags} & {"script", "img"}
    assert not [attrs for _, attrs in parsed.tags if "onerror" in attrs]
    assert made_up.SCRIPT in parsed.text
    assert "{{ 7*7 }} &amp; ⟨U+202E⟩txt.exe⟨U+202C⟩ ⟨U+001B⟩[31m ⟨U+0000⟩ end" in parsed.text
    assert not re.search("[\x00-\x08\x0b-\x1f\u202a-\u202e]", page)


def test_a_turn_is_shown_whole_with_its_line_breaks():
    text = "one\n\n  two" + " long" * 2000 + " the end"
    side = Side("A", (Turn(1, "tutor", text),))
    page = Page(render(small(examples=[Example("a - b", "tutor_turns", "i", "q", side, side, 1.0)])))
    assert page.text.count(text) == 2


def test_reasoning_is_folded_away_and_a_cut_turn_says_so():
    side = Side("A", (Turn(1, "tutor", "Hi", reasoning="secret thought", finish_reason="length"),))
    page = render(small(examples=[Example("a - b", "tutor_turns", "i", "q", side, side, 1.0)]))
    assert re.search(r"<details><summary>Reasoning[^<]*</summary><p[^>]*>secret thought", page)
    assert "ended: length" in page


def test_without_texts_no_transcript_and_no_question_is_in_the_file():
    page = render(small(with_texts=False, examples=made_up.examples()))
    for example in made_up.examples():
        assert example.question not in page
        assert example.item_id in page
        for turn in (*example.a.turns, *example.b.turns):
            assert turn.text not in page
    assert "Texts are left out" in page


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"demo": True}, "far too weak to tutor or to judge"),
        ({"judge_checked": False}, "has not been checked against people"),
        ({"judge_checked": True, "judge_note": "Alpha 0.81 on 180 turns."}, "Alpha 0.81 on 180 turns."),
        ({"complete": False, "planned": 540, "done": 312}, "312 of 540 planned trials"),
    ],
)
def test_what_is_weak_is_said_before_any_answer(changes, said):
    page = render(small(**changes))
    assert said in page
    assert page.index(said) < page.index('id="answer"')


def test_without_a_judge_nothing_is_said_about_one():
    page = render(small(judge_checked=None))
    assert "checked against people" not in page and "judge&#39;s labels" not in page


def test_a_control_that_differs_stands_before_the_answer():
    base = replace(FOUND, condition="baseline", dimension="none", a="first asking", b="second asking")
    page = render(small(analysis=Analysis("dialogue", (base, TESTED))))
    assert 0 < page.index("differ all the same") < page.index('id="answer"')


def test_an_empty_analysis_still_gives_a_page():
    parsed = Page(render(small(plan={}, analysis=Analysis("dialogue", ()))))
    assert "Nothing has been compared yet." in parsed.text


def test_each_table_may_be_missing_and_an_unknown_one_is_shown():
    tables = made_up.report_data().analysis.tables
    for name in tables:
        one = {name: tables[name]}
        assert Page(render(small(analysis=Analysis("dialogue", (FOUND,), one)))).stack == []
    unknown = {"my_plug_in": pl.DataFrame({"score": [0.12345], "who": ["someone"]})}
    text = Page(render(small(analysis=Analysis("dialogue", (FOUND,), unknown)))).text
    assert "My plug in" in text and "0.123" in text and "someone" in text


def test_nan_is_shown_as_missing():
    rows = made_up.report_data().analysis.tables["mean_r_by_metric"].with_columns(p=float("nan"))
    text = Page(render(small(analysis=Analysis("dialogue", (FOUND,), {"mean_r_by_metric": rows})))).text
    assert "nan" not in text.lower().replace("finan", "")


def test_a_test_that_could_not_reject_says_so_and_added_contrasts_are_marked():
    page = render(small(analysis=Analysis("dialogue", (replace(TESTED, p_min=0.25, planned=False),))))
    assert "could not have reached p &lt; 0.05" in page
    assert "added after the plan" in page


def test_the_same_data_gives_the_same_page():
    assert render(small()) == render(small())


def test_a_report_is_written_as_utf8_and_a_bad_path_is_an_error_for_people(tmp_path):
    path = write(small(title="Ω 日本"), tmp_path / "deep" / "report.html")
    assert "Ω 日本" in path.read_text(encoding="utf-8")
    (tmp_path / "file").write_text("")
    with pytest.raises(EdufairError, match="Name a file you may write to"):
        write(small(), tmp_path / "file" / "report.html")


def test_mean_turns_stand_once_an_arm_when_they_are_the_arms_own():
    rows = [
        {"model": "T", "condition": "explicit", "arm": f"explicit tutor.gender={g}", "ending": e, "n": n,
         "share": n / 10, "turns_mean": turns}
        for g, turns in (("female", 4.0), ("male", 5.5)) for e, n in (("affirmed", 4), ("max_turns", 6))
    ]  # fmt: skip
    table = endings(pl.DataFrame(rows), "Endings")
    assert [header.text for header in table.headers] == ["Tutor", "Arm", "Affirmed", "Max turns", "Mean turns"]
    assert [[cell.text for cell in row[1:]] for row in table.rows] == [
        ["tutor.gender=female", "4", "6", "4.0"],
        ["tutor.gender=male", "4", "6", "5.5"],
    ]
