"""How numbers look. Expected texts are written out by hand."""

import math

import pytest

from edufair.reports import numbers


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.1234, "0.12"),
        (-0.1234, "−0.12"),
        (-0.001, "0.00"),
        (1234.5, "1,234.50"),
        (None, "–"),
        (math.nan, "–"),
        (math.inf, "–"),
    ],
)
def test_a_number_has_a_true_minus_and_no_sign_when_it_rounds_to_zero(value, text):
    assert numbers.number(value) == text


@pytest.mark.parametrize(
    ("value", "text"), [(0.1, "+0.10"), (-0.1, "−0.10"), (0.0, "0.00"), (0.004, "0.00"), (None, "–")]
)
def test_a_signed_number_shows_its_direction(value, text):
    assert numbers.signed(value) == text


@pytest.mark.parametrize(
    ("p", "text"),
    [(0.0123, "0.012"), (0.0004, "<0.001"), (0.0, "<0.001"), (1.0, "1.000"), (None, "–"), (math.nan, "–")],
)
def test_a_p_value_is_never_shown_as_zero(p, text):
    assert numbers.p_value(p) == text


def test_a_p_value_reads_as_a_sentence_part():
    assert numbers.p_equals(0.0001) == "p < 0.001"
    assert numbers.p_equals(0.25) == "p = 0.250"


def test_an_interval_needs_both_ends():
    assert numbers.interval(-0.1, 0.2) == "−0.10 to +0.20"
    assert numbers.interval(None, 0.2) == "–"
    assert numbers.interval(math.nan, 0.2) == "–"


def test_lists_and_plurals_read_as_sentences():
    assert numbers.listed([]) == ""
    assert numbers.listed(["a"]) == "a"
    assert numbers.listed(["a", "b", "c"]) == "a, b and c"
    assert numbers.plural(1, "pair") == "1 pair"
    assert numbers.plural(1200, "pair") == "1,200 pairs"
    assert numbers.percent(0.423) == "42%"
    assert numbers.points(0.081) == "+8.1"
