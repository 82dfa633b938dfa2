"""The four verdicts, against two one-sided t tests and by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats
from statsmodels.stats.weightstats import DescrStatsW

from edufair.stats import equivalence, signed_rank


def around(mean, spread, n=400):
    """n differences with exactly this mean, and this standard deviation (divisor n)."""
    return mean + spread * np.tile([-1.0, 1.0], n // 2)


@pytest.mark.parametrize(
    ("mean", "spread", "verdict"),
    [  # margin 0.05; the 95% interval is mean +- 1.97 spread / 20
        (0.20, 0.1, "differs"),  # 0.19 to 0.21
        (-0.20, 0.1, "differs"),
        (0.06, 0.2, "differs"),  # 0.04 to 0.08: reaches into the margin, but not all of it
        (0.03, 0.1, "differs but small"),  # 0.02 to 0.04
        (-0.03, 0.1, "differs but small"),
        (0.00, 0.1, "shown to be small"),  # -0.01 to 0.01
        (0.00, 1.0, "undecided"),  # -0.1 to 0.1
        (0.04, 0.5, "undecided"),  # -0.01 to 0.09
    ],
)
def test_the_four_verdicts(mean, spread, verdict):
    assert equivalence(around(mean, spread), margin=0.05).verdict == verdict


def test_almost_identical_arms_are_small_although_r_is_one():
    # 5 of 907 pairs differ, all one way: mean 5/907 = 0.0055; exact p = 2/2^5 = 0.0625
    d = [1.0] * 5 + [0.0] * 902
    found = equivalence(d, margin=0.05, bound=1)
    assert found.verdict == "shown to be small"
    assert found.mean == pytest.approx(5 / 907)
    assert signed_rank(d).r == 1
    assert signed_rank(d).p == 0.0625


def test_many_rare_differences_differ_but_are_small():
    found = equivalence([1.0] * 12 + [0.0] * 895, margin=0.05, bound=1)
    assert found.verdict == "differs but small"


@given(
    st.lists(st.floats(-1, 1).map(lambda v: round(v, 3)), min_size=3, max_size=40),
    st.sampled_from([0.02, 0.1, 0.5]),
)
def test_small_is_two_one_sided_t_tests_at_two_and_a_half_percent(d, margin):
    if np.std(d) < 1e-6:
        return
    found = equivalence(d, margin=margin)
    p = DescrStatsW(d).ttost_mean(-margin, margin)[0]
    if abs(p - 0.025) > 1e-6:
        assert (found.verdict in ("differs but small", "shown to be small")) == (p < 0.025)
    p_zero = scipy_stats.ttest_1samp(d, 0).pvalue
    if abs(p_zero - 0.05) > 1e-6:
        assert found.verdict.startswith("differs") == (p_zero < 0.05)


def test_a_few_equal_pairs_show_nothing_and_many_do():
    for bound in (None, 1):
        assert equivalence([0.0] * 15, margin=0.05, bound=bound).verdict == "undecided"
        assert equivalence([0.0] * 907, margin=0.05, bound=bound).verdict == "shown to be small"
    assert equivalence([0.0] * 907, margin=0.05).method == "constant"


def test_equal_pairs_away_from_zero_differ():
    assert equivalence([3.0] * 50, margin=0.5).verdict == "differs"
    assert equivalence([0.3] * 200, margin=0.5).verdict == "differs but small"


def test_a_single_pair_is_undecided():
    found = equivalence([0.0], margin=0.05)
    assert (found.verdict, found.method, found.n) == ("undecided", "undefined", 1)
    assert np.isnan(found.low)


def test_a_zero_margin_calls_nothing_small():
    assert equivalence([0.0] * 50, margin=0).verdict == "undecided"
    assert equivalence(around(0.2, 0.1), margin=0).verdict == "differs"


@given(st.lists(st.integers(-6, 6), min_size=2, max_size=40), st.sampled_from([None, 1.0]))
def test_swapping_the_arms_keeps_the_verdict(d, bound):
    one = equivalence(np.array(d) / 6, margin=0.1, bound=bound)
    other = equivalence(np.array(d) / -6, margin=0.1, bound=bound)
    assert other.verdict == one.verdict
    assert other.mean == -one.mean
    assert (other.low, other.high) == pytest.approx((-one.high, -one.low))


def test_the_unit_is_irrelevant():
    d = np.random.default_rng(1).normal(0.02, 0.1, 50)
    one, other = equivalence(d, margin=0.05), equivalence(100 * d, margin=5)
    assert (one.verdict, other.low) == (other.verdict, pytest.approx(100 * one.low))


@pytest.mark.parametrize("margin", [-0.1, np.nan, np.inf])
def test_a_margin_must_be_a_size(margin):
    with pytest.raises(ValueError, match="margin must be zero or a positive number"):
        equivalence([0.1, 0.2], margin=margin)


def test_missing_pairs_are_refused():
    with pytest.raises(ValueError, match="d holds nan at pair 1"):
        equivalence([0.1, np.nan], margin=0.05)
