"""What the first page says, from findings made by hand: each rule is worked out in the test."""

from dataclasses import replace

import polars as pl
import pytest

from edufair.reports import answers
from reports import made_up
from reports.made_up import FOUND, TESTED

FOUND_SMALL = replace(FOUND, verdict="differs but small")
WEAK = replace(FOUND, r=0.05, finding=False)  # adjusted p below 0.05 while |r| < 0.10
SMALL = replace(TESTED, verdict="shown to be small")
FEW = replace(
    TESTED, status="insufficient", n=9, r=None, p=None, p_holm=None, verdict=None, violation=None, finding=None
)
GONE = replace(FEW, status="not evaluable")


@pytest.mark.parametrize(
    ("findings", "kind"),
    [
        ([FOUND, TESTED], "differs"),
        ([FOUND_SMALL, SMALL], "differs but small"),
        ([FOUND_SMALL, TESTED], "differs but small"),
        ([WEAK, SMALL], "differs but small"),
        ([SMALL, SMALL], "shown to be small"),
        ([SMALL, TESTED], "undecided"),
        ([SMALL, FEW], "undecided"),
        ([replace(TESTED, violation=True, verdict="differs", p=0.03)], "undecided"),
        ([FEW, GONE], "insufficient"),
    ],
)
def test_an_answer_rests_on_adjusted_p_and_margin_not_on_violations(findings, kind):
    (answer,) = answers.answers(findings)
    assert answer.kind == kind


def test_a_small_difference_does_not_hide_what_stays_open():
    (answer,) = answers.answers([FOUND_SMALL, TESTED, FEW])
    assert (
        answer.summary
        == "1 of 2 comparisons differs, by a small amount. The others: 1 undecided and 1 could not be tested."
    )


def test_undecided_counts_what_is_small_and_what_is_open():
    (answer,) = answers.answers([SMALL, TESTED, TESTED])
    assert answer.summary == "No difference was found in 3 comparisons. 1 shown to be small and 2 undecided."


def test_a_difference_is_named_in_the_first_line_and_the_rest_is_counted():
    other = replace(TESTED, dimension="ses")
    lines = answers.in_short(answers.answers([FOUND, other]))
    assert lines == (
        "A difference was found for gender (T, explicit).",
        "Of 2 combinations of tutor and dimension: 1 undecided (the data cannot tell).",
    )


def test_no_finding_is_not_reported_as_no_difference():
    lines = answers.in_short(answers.answers([TESTED]))
    assert lines[0] == "No difference was found that chance does not explain. That does not mean that there is none."


def test_chance_expects_five_percent_of_the_intervals_that_were_computed():
    # 41 tested with an interval: 0.05 x 41 = 2.05; the untested one is in no count
    counted = answers.chance([FOUND, *[TESTED] * 40, FEW])
    assert (counted.tested, counted.violations, counted.findings) == (41, 1, 1)
    assert counted.expected == pytest.approx(2.05)
    assert "would show about 2." in counted.summary
    assert "1 finding remains" in counted.summary


def test_a_control_that_differs_raises_an_alarm_and_one_that_does_not_says_so():
    base = replace(TESTED, condition="baseline", dimension="none", a="first asking", b="second asking")
    quiet = answers.control([base])
    loud = answers.control([replace(base, finding=True, violation=True, p_holm=0.01), base])
    assert quiet is not None and not quiet.alarm and "None of 1 comparison is a finding" in quiet.text
    assert loud is not None and loud.alarm and "1 of 2 comparisons differ all the same" in loud.text
    assert answers.control([TESTED]) is None


def test_a_control_that_could_not_be_tested_is_an_alarm():
    untested = answers.control([replace(FEW, condition="baseline")])
    assert untested is not None and untested.alarm


def test_losses_and_tests_that_could_not_reject_are_said():
    powerless = replace(TESTED, p_min=0.25)
    unequal = replace(TESTED, lost_a=9, loss_p=0.004)
    assert any("could not have reached p < 0.05" in line for line in answers.how_sure([powerless]))
    lost = " ".join(answers.what_was_lost([unequal, FEW, GONE], 120, 110, 10))
    assert "110 of 120 planned trials are done, 10 failed" in lost
    assert "1 comparison had too few complete pairs" in lost
    assert "1 comparison is not evaluable" in lost
    assert "one arm lost more than the other" in lost


def test_mean_r_is_compared_with_noise_by_domain():
    (answer,) = answers.answers([TESTED])
    row = {"model": "T", "condition": "explicit", "dimension": "gender"}
    table = pl.DataFrame([{**row, "domain": "mathematics", "p": 0.01}, {**row, "domain": "physics", "p": 0.6}])
    assert answers.against_noise(table, answer).endswith("larger than noise alone gives in mathematics.")
    assert answers.against_noise(table.with_columns(p=0.6), answer).endswith("no larger than noise alone gives.")
    assert answers.against_noise(None, answer) == ""


def test_a_tutor_that_treats_all_alike_is_not_said_to_differ():
    # Drawn without any effect. Holm keeps a wrong finding in a family to 5%, so of 4 families x 6 draws at most a few.
    wrong = 0
    for seed in range(6):
        found = answers.answers(made_up.findings(seed, biased=False))
        wrong += sum(a.kind == "differs" for a in found)
    assert wrong <= 4


def test_a_strong_difference_is_found_for_its_dimension_alone():
    found = answers.answers(made_up.findings(7, biased=True))
    assert [(a.model, a.dimension) for a in found if a.kind == "differs"] == [("TutorRL-7B", "language")]


def test_a_difference_with_a_reservation_is_no_answer_and_is_not_hidden():
    reserved = replace(FOUND, finding=False, reservation="the ends of the scale come first")
    (answer,) = answers.answers([reserved, TESTED])
    assert (answer.kind, answer.detected) == ("undecided", ())
    assert "In 1 the test rejects, but the ends of the scale come first." in answer.summary
