"""signed_rank against R, scipy, hand counts and enumeration of every sign pattern."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from edufair.stats import signed_rank

# small integers: ties and zeros in almost every example
few = st.lists(st.integers(-3, 3), min_size=1, max_size=9)
many = st.lists(st.integers(-4, 4), min_size=1, max_size=60)


def enumerated(d, zeros):
    """p over all 2^m sign patterns of the nonzero differences, straight from the definition."""
    d = np.array(d, dtype=float)
    if zeros == "wilcox":
        d = d[d != 0]
    ranks = scipy_stats.rankdata(np.abs(d))[d != 0]
    signs = np.sign(d[d != 0])
    seen = abs(signs @ ranks)
    null = [abs(np.array(pattern) @ ranks) for pattern in product([-1, 1], repeat=len(ranks))]
    return np.mean(np.array(null) >= seen - 1e-9)


@settings(deadline=None, max_examples=150)
@given(few, st.sampled_from(["pratt", "wilcox"]))
def test_exact_p_equals_enumeration_of_all_sign_patterns(d, zeros):
    found = signed_rank(d, zeros=zeros)
    assert found.p == pytest.approx(enumerated(d, zeros), abs=1e-12)
    assert found.p >= found.p_min


@settings(deadline=None)
@given(many)
def test_normal_p_equals_scipy_with_pratt_zeros(d):
    found = signed_rank(d, method="normal")
    if not any(d):
        assert (found.p, found.method) == (1, "all zero")
        return
    expected = scipy_stats.wilcoxon(d, zero_method="pratt", correction=False, method="asymptotic").pvalue
    assert found.p == pytest.approx(expected, rel=1e-9)


@settings(deadline=None)
@given(many.filter(any))
def test_normal_p_equals_scipy_with_dropped_zeros(d):
    expected = scipy_stats.wilcoxon(d, zero_method="wilcox", correction=False, method="asymptotic").pvalue
    assert signed_rank(d, zeros="wilcox", method="normal").p == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("n", [5, 20, 50])
def test_exact_p_without_ties_equals_scipy(n):
    d = np.random.default_rng(n).normal(0.3, 1, n)
    expected = scipy_stats.wilcoxon(d, method="exact")
    found = signed_rank(d)
    assert found.p == pytest.approx(expected.pvalue, rel=1e-10)
    assert min(found.w_plus, found.w_minus) == expected.statistic


def test_depression_scores_as_in_the_r_manual():
    # R, ?wilcox.test: with paired = TRUE, alternative = "greater" it prints V = 40, p-value = 0.01953
    x = [1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30]
    y = [0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29]
    found = signed_rank(np.subtract(x, y))
    assert found.w_plus == 40
    assert found.p / 2 == pytest.approx(0.01953, abs=5e-6)
    assert found.method == "exact"


def test_darwins_maize():
    # Darwin's 15 height differences (eighths of an inch), from Fisher, The Design of Experiments, 17
    # |d| sorted: 6 8 14 16 23 24 28 29 41 48 49 56 60 67 75 -> 48 is rank 10, 67 rank 14, together 24.
    d = [49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48]
    found = signed_rank(d)
    assert (found.w_plus, found.w_minus) == (96, 24)
    assert found.r == pytest.approx(72 / 120)
    assert found.p == pytest.approx(0.0413, abs=5e-5)  # R: wilcox.test(d) prints V = 96, p-value = 0.04126


def test_pratt_ranks_zeros_and_then_drops_them():
    # |d| = 0 0 1 2 2: ranks (1.5 1.5) 3 4.5 4.5; W+ = 3 + 4.5, W- = 4.5; r = 3 / 12
    found = signed_rank([0, 0, 1, 2, -2])
    assert (found.w_plus, found.w_minus, found.r) == (7.5, 4.5, 0.25)
    assert (found.n, found.n_nonzero) == (5, 3)


def test_wilcox_drops_zeros_before_ranking():
    # |d| = 1 2 2: ranks 1 2.5 2.5; W+ = 3.5, W- = 2.5; r = 1 / 6
    found = signed_rank([0, 0, 1, 2, -2], zeros="wilcox")
    assert (found.w_plus, found.w_minus) == (3.5, 2.5)
    assert found.r == pytest.approx(1 / 6)
    assert (found.n, found.n_nonzero) == (5, 3)


def test_equal_sizes_give_the_sign_test():
    d = [1] * 60 + [-1] * 40 + [0] * 807
    assert signed_rank(d).p == pytest.approx(scipy_stats.binomtest(60, 100).pvalue, rel=1e-10)


@pytest.mark.parametrize("n", [1, 2, 15, 907])
def test_all_zero_is_no_effect_for_every_n(n):
    found = signed_rank([0.0] * n)
    assert (found.r, found.p, found.p_min, found.method, found.n, found.n_nonzero) == (
        0,
        1,
        1,
        "all zero",
        n,
        0,
    )


def test_identical_arms_up_to_floating_point_are_identical():
    assert signed_rank([0.1 + 0.2 - 0.3, 1e-10, -4e-10]).method == "all zero"


def test_thirds_that_differ_by_a_rounding_error_are_ties():
    # 2/3 - 1/3 and 1 - 2/3 are both a third and differ in the last bit
    d = np.array([2 / 3 - 1 / 3, -(1 - 2 / 3), 4 / 3 - 1])
    assert len(set(np.abs(d))) > 1
    found = signed_rank(d)
    assert (found.w_plus, found.w_minus) == (4, 2)


@given(many)
def test_swapping_the_arms_flips_the_sign_only(d):
    one, other = signed_rank(d), signed_rank([-x for x in d])
    assert other.r == -one.r
    assert (other.w_plus, other.w_minus) == (one.w_minus, one.w_plus)
    assert (other.p, other.p_min, other.n_nonzero) == (one.p, one.p_min, one.n_nonzero)


@given(many, st.randoms(use_true_random=False))
def test_the_order_of_pairs_is_irrelevant(d, random):
    shuffled = list(d)
    random.shuffle(shuffled)
    assert signed_rank(shuffled) == signed_rank(d)


@given(many, st.sampled_from([0.1, 1 / 3, 7.0, 250.0]))
def test_the_unit_is_irrelevant(d, factor):
    assert signed_rank(np.multiply(d, factor)) == signed_rank(d)


@given(many)
def test_ranks_and_p_stay_in_their_ranges(d):
    found = signed_rank(d)
    zeros = found.n - found.n_nonzero
    total = (found.n * (found.n + 1) - zeros * (zeros + 1)) / 2
    assert found.w_plus + found.w_minus == total
    assert -1 <= found.r <= 1
    assert 0 < found.p_min <= found.p <= 1


@pytest.mark.parametrize(("n_nonzero", "p_min"), [(1, 1), (2, 0.5), (5, 0.0625), (6, 0.03125)])
def test_p_min_is_what_one_sided_differences_give(n_nonzero, p_min):
    found = signed_rank([2.0] * n_nonzero + [0.0] * 30)
    assert found.p_min == p_min == found.p


def test_p_min_of_the_normal_method_is_its_own():
    # ranks 1 2 3 4: z = 10 / sqrt(30)
    found = signed_rank([1, 2, 3, -4], method="normal")
    assert found.p_min == pytest.approx(2 * scipy_stats.norm.sf(10 / np.sqrt(30)))


def test_auto_is_exact_up_to_200_nonzero_differences():
    assert signed_rank([1.0] * 200 + [0.0] * 700).method == "exact"
    assert signed_rank([1.0] * 201).method == "normal"


def test_exact_and_normal_agree_where_auto_changes_over():
    d = np.random.default_rng(3).normal(0.15, 1, 201)
    assert signed_rank(d).p == pytest.approx(signed_rank(d, method="exact").p, rel=0.05)


def test_exact_beyond_float_range_is_refused_with_the_mend():
    with pytest.raises(ValueError, match="reaches 1000 nonzero differences, d has 1001: use 'auto'"):
        signed_rank([1.0] * 1001, method="exact")


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_value_that_is_no_number_is_named(bad):
    with pytest.raises(ValueError, match=f"d holds {bad} at pair 1: leave incomplete pairs out"):
        signed_rank([0.5, bad])


def test_no_pairs_and_wrong_shapes_are_refused():
    with pytest.raises(ValueError, match="d is empty"):
        signed_rank([])
    with pytest.raises(ValueError, match=r"d must be pairs, got an array of shape \(2, 2\)"):
        signed_rank([[1, 2], [3, 4]])


def test_unknown_options_are_refused():
    with pytest.raises(ValueError, match="zeros must be one of pratt, wilcox, got 'drop'"):
        signed_rank([1], zeros="drop")
    with pytest.raises(ValueError, match="method must be one of auto, exact, normal"):
        signed_rank([1], method="monte carlo")
