"""friedman and page_trend against R, scipy, printed tables and enumeration of every order."""

from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import stats as scipy_stats

from edufair.stats import friedman, page_trend

# R, ?friedman.test: seconds to round first base (Hollander and Wolfe 1973, p. 140), three methods, 22 players
ROUNDING_TIMES = np.fromstring(
    """
    5.40 5.50 5.55  5.85 5.70 5.75  5.20 5.60 5.50  5.55 5.50 5.40  5.90 5.85 5.70  5.45 5.55 5.60
    5.40 5.40 5.35  5.45 5.50 5.35  5.25 5.15 5.00  5.85 5.80 5.70  5.25 5.20 5.10  5.65 5.55 5.45
    5.60 5.35 5.45  5.05 5.00 4.95  5.50 5.50 5.40  5.45 5.55 5.50  5.55 5.55 5.35  5.45 5.50 5.55
    5.50 5.45 5.25  5.65 5.60 5.40  5.70 5.65 5.55  6.30 6.30 6.25
    """,
    sep=" ",
).reshape(22, 3)

small = st.tuples(st.integers(1, 4), st.integers(2, 3)).flatmap(
    lambda shape: hnp.arrays(np.int64, shape, elements=st.integers(0, 3))
)
tables = st.tuples(st.integers(1, 12), st.integers(2, 4)).flatmap(
    lambda shape: hnp.arrays(np.int64, shape, elements=st.integers(0, 3))
)


def every_relabelling(x):
    """All (k!)^n tables with each item's values in some order."""
    for rows in product(*[list(permutations(row)) for row in x.tolist()]):
        yield np.array(rows)


def rank_sum_spread(x):
    ranks = scipy_stats.rankdata(x, axis=1)
    return ((ranks.sum(axis=0) - len(x) * (x.shape[1] + 1) / 2) ** 2).sum()


def page_excess(x):
    ranks = scipy_stats.rankdata(x, axis=1) - (x.shape[1] + 1) / 2
    return abs((ranks @ np.arange(1, x.shape[1] + 1)).sum())


def test_rounding_times_as_in_the_r_manual():
    # R prints: Friedman chi-squared = 11.143, df = 2, p-value = 0.003805
    found = friedman(ROUNDING_TIMES, method="chi2")
    assert found.statistic == pytest.approx(11.143, abs=5e-4)
    assert found.p == pytest.approx(0.003805, abs=5e-7)
    assert found.kendalls_w == pytest.approx(found.statistic / 44)


@pytest.mark.parametrize(("n", "statistic", "p"), [(3, 6.0, 0.028), (4, 8.0, 0.0046), (5, 10.0, 0.00077)])
def test_perfect_agreement_on_three_levels_has_the_tabled_p(n, statistic, p):
    # Friedman (1937), table V; also 6 / 6^n by hand: of the 6^n orders, 6 agree on one
    found = friedman([[1, 2, 3]] * n)
    assert (found.statistic, found.method) == (statistic, "exact")
    assert found.p == pytest.approx(6 / 6**n, rel=1e-12)
    assert found.p == pytest.approx(p, rel=0.02)
    assert found.kendalls_w == 1


@settings(deadline=None, max_examples=60)
@given(small)
def test_exact_p_equals_enumeration_of_all_orders(x):
    found = friedman(x)
    seen = rank_sum_spread(x)
    expected = np.mean([rank_sum_spread(other) >= seen - 1e-9 for other in every_relabelling(x)])
    assert found.p == pytest.approx(expected, abs=1e-12)


@settings(deadline=None)
@given(tables)
def test_statistic_equals_scipy(x):
    found = friedman(x, method="chi2")
    if np.ptp(x, axis=1).max() == 0:
        assert (found.statistic, found.p, found.kendalls_w, found.method) == (0, 1, 0, "constant")
    elif x.shape[1] > 2 and len(x) > 1:
        expected = scipy_stats.friedmanchisquare(*x.T)
        assert (found.statistic, found.p) == pytest.approx((expected.statistic, expected.pvalue), abs=1e-9)


@given(st.lists(st.integers(-1, 1), min_size=1, max_size=40).filter(any))
def test_two_levels_are_the_sign_test(signs):
    found = friedman([[s, 0] for s in signs])
    plus, minus = signs.count(1), signs.count(-1)
    assert found.statistic == pytest.approx((plus - minus) ** 2 / (plus + minus))
    assert found.p == pytest.approx(scipy_stats.binomtest(plus, plus + minus).pvalue)


def test_permutation_p_approaches_the_exact_one():
    x = np.random.default_rng(2).integers(0, 5, size=(8, 4))
    exact = friedman(x)
    drawn = friedman(x, method="permutation", draws=20_000, rng=np.random.default_rng(1))
    assert (exact.method, drawn.method) == ("exact", "permutation")
    assert drawn.p == pytest.approx(exact.p, abs=4 * np.sqrt(exact.p * (1 - exact.p) / 20_000) + 1 / 20_000)


def test_permutation_p_is_never_zero():
    found = friedman([[1, 2, 3]] * 30, method="permutation", draws=99, rng=np.random.default_rng(1))
    assert found.p == 1 / 100


def test_auto_falls_back_to_draws_with_a_generator_and_to_chi_square_without():
    x = np.random.default_rng(2).normal(size=(21, 4))
    assert friedman(x[:20]).method == "exact"
    assert friedman(x).method == "chi2"
    assert friedman(x, rng=np.random.default_rng(1), draws=200).method == "permutation"


def test_many_levels_and_few_items_can_be_drawn():
    x = np.random.default_rng(2).normal(size=(3, 27))
    assert friedman(x, rng=np.random.default_rng(1), draws=500).method == "permutation"


def test_rounding_errors_are_ties():
    assert friedman([[0.1 + 0.2, 0.3, 0.3], [0.3, 0.3, 0.3]]).method == "constant"


@given(tables, st.randoms(use_true_random=False))
def test_the_order_of_items_and_levels_is_irrelevant(x, random):
    rows, columns = list(range(x.shape[0])), list(range(x.shape[1]))
    random.shuffle(rows)
    random.shuffle(columns)
    assert friedman(x[rows][:, columns]).p == pytest.approx(friedman(x).p)


def test_methods_that_do_not_fit_are_refused_with_the_mend():
    x = np.zeros((101, 3)) + np.arange(3)
    with pytest.raises(ValueError, match="x has 101 items at 3: use 'permutation'"):
        friedman(x, method="exact")
    with pytest.raises(ValueError, match=r"pass rng=numpy.random.default_rng\(seed\)"):
        friedman(x, method="permutation")
    with pytest.raises(ValueError, match="method must be auto, exact, permutation or chi2"):
        friedman(x, method="f")


def test_bad_tables_are_refused():
    with pytest.raises(ValueError, match="x holds nan at item 0, level 1: leave incomplete items out"):
        friedman([[1, np.nan, 2]])
    with pytest.raises(ValueError, match="the number of levels in x must be at least 2, got 1"):
        friedman([[1], [2]])
    with pytest.raises(ValueError, match="x is empty"):
        friedman(np.empty((0, 3)))


# --- Page ---


@pytest.mark.parametrize(("n", "k"), [(3, 3), (6, 4), (10, 5)])
def test_page_equals_scipy_without_ties(n, k):
    x = np.random.default_rng(n).normal(size=(n, k)) + 0.4 * np.arange(k)
    expected = scipy_stats.page_trend_test(x, method="exact")
    found = page_trend(x)
    assert found.statistic == expected.statistic
    assert min(1, 2 * expected.pvalue) == pytest.approx(found.p, rel=1e-9)  # scipy's is one-sided and upwards
    assert page_trend(x, method="normal").p == pytest.approx(
        2 * scipy_stats.page_trend_test(x, method="asymptotic").pvalue, rel=1e-9
    )


@settings(deadline=None, max_examples=60)
@given(small)
def test_exact_trend_p_equals_enumeration_of_all_orders(x):
    seen = page_excess(x)
    expected = np.mean([page_excess(other) >= seen - 1e-9 for other in every_relabelling(x)])
    assert page_trend(x).p == pytest.approx(expected, abs=1e-12)


def test_z_is_standardised_by_the_enumerated_variance():
    x = np.array([[1, 1, 2], [0, 3, 3], [2, 1, 0]])  # ties
    signed = [((scipy_stats.rankdata(other, axis=1) - 2) @ [1, 2, 3]).sum() for other in every_relabelling(x)]
    found = page_trend(x)
    assert found.z == pytest.approx((found.statistic - 36) / np.std(signed))  # E(L) = 3 * 3 * 16 / 4 = 36


def test_trend_is_the_mean_spearman_correlation_with_the_levels():
    x = np.array([[3, 1, 2, 4], [1, 2, 3, 4], [2, 1, 4, 3]])
    expected = np.mean([scipy_stats.spearmanr([1, 2, 3, 4], row).statistic for row in x])
    assert page_trend(x).trend == pytest.approx(expected)


@given(tables)
def test_reversing_the_levels_flips_the_trend(x):
    one, other = page_trend(x), page_trend(x[:, ::-1])
    assert (other.z, other.trend) == pytest.approx((-one.z, -one.trend))
    assert other.p == pytest.approx(one.p)


def test_a_trend_is_found_where_friedman_sees_less():
    x = np.random.default_rng(1).normal([0, 0.5, 1], size=(30, 3))
    assert page_trend(x).p < friedman(x).p


def test_constant_items_have_no_trend():
    found = page_trend([[2, 2, 2], [5, 5, 5]])
    assert (found.z, found.p, found.trend, found.method) == (0, 1, 0, "constant")


def test_trend_limits_are_stated():
    assert page_trend(np.random.default_rng(1).normal(size=(201, 3))).method == "normal"
    with pytest.raises(ValueError, match="x has 7 and 2: use 'normal'"):
        page_trend([list(range(7))] * 2, method="exact")
    with pytest.raises(ValueError, match="method must be auto, exact or normal"):
        page_trend([[1, 2]], method="chi2")
