"""The report of a judge audit: its own words, what the check of the scale says, its figures; and a browser's view."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace

import polars as pl
import pytest
from rich.console import Console

import edufair
from audits.test_judge_whole import FLOORED, audit, write_stimuli
from edufair.reports import answers, scale, tables, words
from reports.test_report_browser import chromium, opened  # noqa: F401
from reports.test_report_browser import pytestmark as in_browser


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> SimpleNamespace:
    """A judge that is severe with every reply, on stimuli whose low reply stands on the floor."""
    folder: Path = tmp_path_factory.mktemp("judged")
    write_stimuli(folder / "stimuli.jsonl", FLOORED)
    run = edufair.run(audit(folder, "severe"))
    analysis = edufair.analyse(run)
    path = edufair.report(run, output=folder / "report.html")
    return SimpleNamespace(analysis=analysis, path=path, plan=run.plan_rows()[-1]["json"])


@pytest.fixture(scope="module")
def report(judged: SimpleNamespace) -> Path:
    """What `opened` opens."""
    return judged.path


def _plain(page: str) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", page[page.index("<body") :]).split())


def test_a_judge_audit_speaks_of_judges_stimuli_and_clusters(judged: SimpleNamespace) -> None:
    """But for the instruments and the material, which are shown as they are, there is no tutor in its own words."""
    page = judged.path.read_text(encoding="utf-8")
    own = _plain(page[: page.index('id="examples"')])
    assert "rated two replies to each of 32 stimuli" in own
    assert "16 clusters" in own
    assert "tutor" not in own.lower()
    assert "{" not in own


def test_the_limits_are_those_of_a_judge_audit(judged: SimpleNamespace) -> None:
    said = " ".join(answers.limits("judge", judged.analysis.findings, None))
    assert "one rubric" in said and "told to disregard" in said and "does not identify" in said
    assert "tutor" not in said and "students are played" not in said


def test_the_answer_is_what_the_check_of_the_scale_says(judged: SimpleNamespace) -> None:
    """The low reply is pinned on 24 of 32 stimuli, and the clipped shift makes the whole gap of 0.75."""
    checked = scale.checks(judged.analysis, judged.plan)
    (fields,) = scale.answers(judged.analysis.findings, checked).values()
    assert next(iter(fields)) == "Overall (primary)"
    assert {line.kind for (line,) in fields.values()} == {"one-pole contrast"}
    page = _plain(judged.path.read_text(encoding="utf-8"))
    assert "Do not read this gap as a change of preference." in page
    assert "The gap is +0.75 points" in page and "100% of the one observed" in page
    assert "A gap was found that the ends of the scale may have made: overall" in page
    assert "neither chance nor the ends of the scale explain" not in page


def test_the_drawn_means_are_those_that_the_gap_is_made_of(judged: SimpleNamespace) -> None:
    """Novice: high 4, 5, 3, 4 and low 1, 1, 1, 2, so 4 and 1.25; advanced: 3 and 1. The gap is 2.75 - 2 = 0.75."""
    ((model, check),) = scale.checks(judged.analysis, judged.plan).items()
    means = scale.means(judged.analysis.tables["ratings"].filter(model=model), check).filter(metric="overall")
    by_arm = {row["arm"]: (row["high_reply"], row["low_reply"], row["preference"]) for row in means.to_dicts()}
    assert by_arm["novice"] == (4.0, 1.25, 2.75)
    assert by_arm["advanced"] == (3.0, 1.0, 2.0)
    assert set(means["clusters"]) == {16}


def test_a_stimulus_without_a_cell_is_in_no_drawn_mean(judged: SimpleNamespace) -> None:
    """Without s01's low reply under the advanced profile, s01 counts nowhere: clusters stay, one stimulus less."""
    ((_, check),) = scale.checks(judged.analysis, judged.plan).items()
    lost = (pl.col("item") == "s01") & (pl.col("arm") == "advanced") & (pl.col("pole") == "low")
    rated = judged.analysis.tables["ratings"].with_columns(overall=pl.when(~lost).then("overall"))
    means = scale.means(rated, check).filter(metric="overall")
    assert set(means["stimuli"]) == {31} and set(means["clusters"]) == {16}


def test_both_figures_stand_there_and_no_count_by_chance(judged: SimpleNamespace) -> None:
    page = judged.path.read_text(encoding="utf-8")
    assert "Both replies on the scale: m" in page and "The gap by field: m" in page
    assert "Forest plot" not in page
    assert 'id="chance"' not in page and "by chance" not in page
    assert "2400%" not in page  # the number of pinned stimuli is a count


def test_the_shifts_of_both_replies_are_told_apart_in_the_table_of_tests(judged: SimpleNamespace) -> None:
    page = judged.path.read_text(encoding="utf-8")
    tests = page[page.index('id="tests"') : page.index('id="losses"')]
    assert "profile (high pole)" in tests and "profile (low pole)" in tests


def test_the_terminal_names_the_judge(judged: SimpleNamespace) -> None:
    console = Console(width=100, record=True, file=None, quiet=False)
    with console.capture() as said:
        console.print(tables.terminal(judged.analysis))
    assert "Judge" in said.get() and "Stratum" in said.get()
    assert "tutor" not in said.get().lower() and "0 of 0" not in said.get()


def test_an_unknown_audit_gets_neutral_words() -> None:
    neutral = words.audit("quiz")
    assert (neutral.audited, neutral.item, neutral.unit) == ("model", "item", "pair")
    assert answers.asked_of_whom("quiz", [], 2, "", []).startswith("No model was asked about 2 items.")


@pytest.mark.browser
@in_browser[1]
@pytest.mark.parametrize("width", [1280, 390])
def test_the_page_opens_without_errors_and_never_scrolls_sideways(opened, width: int) -> None:  # type: ignore[no-untyped-def]  # noqa: F811
    page = opened(width)
    assert page.said == []
    page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
