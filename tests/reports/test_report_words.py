"""Sentences, and the wording guide held against everything the project can print."""

import re
from dataclasses import replace

from edufair.audits.base import Analysis
from edufair.reports import words
from edufair.reports.html import render
from reports import made_up
from reports.made_up import FOUND


def test_a_finding_reads_as_a_sentence_with_means_interval_n_r_and_adjusted_p():
    assert words.sentence(FOUND) == (
        "In mathematics, T gives away the answer, or a part of it, in 42.0% of its turns when the student's gender is "
        "given as “female”, against 34.0% for “male” (difference +8.0 points, 95% interval +4.0 to +18.0; 60 pairs; "
        "r = +0.20; Holm-adjusted p = 0.010)."
    )


def test_a_name_and_an_unknown_metric_have_their_own_words():
    named = replace(FOUND, condition="implicit", a="Wei", b="Michael", metric="warmth_{0}", mean_a=3.0, mean_b=2.5)
    text = words.sentence(named, by="judge:x")
    assert "when the student is named “Wei”, against 2.50 when named “Michael”" in text
    assert "scores 3.00 on “warmth {0}”" in text
    assert "labels by judge:x" in text


def test_dimensions_and_their_contrasts_are_spelled_out():
    assert words.dimension("ses") == "socioeconomic status"
    assert words.dimension("name (both): Wei - Jessica") == "names that differ in gender and ethnicity: Wei − Jessica"
    assert words.dimension("eye_colour") == "eye colour"


# docs/wording.md. "treats everyone alike" and "It is not a certificate" are the allowed forms.
FORBIDDEN = re.compile(
    r"\b(un)?(fair|biased)\b|\bbias\b|fairness|\bequitabl|discriminat|significan|negligible|certified|\bpass(ed|es)\b|"
    r"\bbetter\b|\bworse\b|\bbelieves\b|\bprefers\b|\bthinks\b",
    re.IGNORECASE,
)


def test_no_page_certifies_condemns_or_calls_anything_significant(full_page):
    base = replace(FOUND, condition="baseline")
    analysis = Analysis("dialogue", (base, FOUND, replace(FOUND, verdict="differs but small", model="U")))
    weak = replace(made_up.report_data(), analysis=analysis, demo=True, complete=False, examples=())
    for page in (full_page, render(weak)):
        text = re.sub(r"<style>.*?</style>|<pre.*?</pre>|<[^>]+>", " ", page, flags=re.DOTALL)
        assert [m[0] for m in FORBIDDEN.finditer(text.replace("edufair", ""))] == []


def test_undecided_is_explained_on_the_page_that_uses_it(full_page):
    assert "“Undecided” means that the data cannot tell" in full_page
    assert "That is not “no difference”" in full_page
