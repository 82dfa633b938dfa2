"""Intervals against scipy.stats.bootstrap, full enumeration of resamples, and simulation."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from edufair.stats import (
    bca_interval,
    cluster_bootstrap,
    cluster_means,
    mean_interval,
    rank_biserial_interval,
    signed_rank,
)


def rng(seed=1):
    return np.random.default_rng(seed)


# --- rank-biserial ---


def test_r_interval_has_the_quantiles_of_all_possible_row_resamples():
    d = [2, 1, 1, -1, 0, 3]
    every = [signed_rank([d[i] for i in rows]).r for rows in product(range(6), repeat=6)]
    found = rank_biserial_interval(d, resamples=200_000, level=0.8, rng=rng())
    below = [np.mean(np.array(every) <= end) for end in (found.low, found.high)]
    short = [np.mean(np.array(every) < end) for end in (found.low, found.high)]
    # the ends are the 10% and 90% points of the enumerated distribution, up to the error of 200,000 draws
    assert short[0] - 0.002 <= 0.1 <= below[0] + 0.002
    assert short[1] - 0.002 <= 0.9 <= below[1] + 0.002
    assert found.estimate == signed_rank(d).r


@pytest.mark.parametrize("method", ["percentile", "bca"])
@pytest.mark.parametrize("kind", ["rates", "continuous"])
def test_r_interval_agrees_with_scipys_row_bootstrap(method, kind):
    draw = rng(5)
    d = draw.binomial(6, 0.4, 60) / 6 - draw.binomial(6, 0.3, 60) / 6 if kind == "rates" else draw.normal(0.3, 1, 40)
    expected = scipy_stats.bootstrap(
        (d,),
        lambda sample: signed_rank(sample).r,
        vectorized=False,
        n_resamples=2000,
        method={"percentile": "percentile", "bca": "BCa"}[method],
        rng=rng(1),
    ).confidence_interval
    found = rank_biserial_interval(d, resamples=20_000, method=method, rng=rng(2))
    assert found.method == method
    assert found.low == pytest.approx(expected.low, abs=0.03)  # two bootstraps: Monte Carlo error of the ends
    assert found.high == pytest.approx(expected.high, abs=0.03)


def test_r_interval_repeats_with_the_seed():
    d = rng(3).normal(size=30)
    assert rank_biserial_interval(d, rng=rng(7)) == rank_biserial_interval(d, rng=rng(7))
    assert rank_biserial_interval(d, rng=rng(7)) != rank_biserial_interval(d, rng=rng(8))


def test_r_interval_for_many_distinct_values_is_drawn_in_blocks():
    d = rng(3).normal(size=3000)
    found = rank_biserial_interval(d, resamples=1500, method="bca", rng=rng())
    assert found.resamples == 1500
    assert found.low < found.estimate < found.high


@pytest.mark.parametrize("method", ["percentile", "bca"])
def test_constant_differences_give_a_point(method):
    for value, r in ((0.0, 0.0), (0.5, 1.0), (-0.5, -1.0)):
        found = rank_biserial_interval([value] * 20, method=method, rng=rng())
        assert (found.estimate, found.low, found.high) == (r, r, r)
        assert found.method == "constant"


def test_bca_falls_back_to_percentile_and_says_so():
    # all positive: r = 1 in every resample, so there is neither bias nor acceleration
    found = rank_biserial_interval([1, 2, 3, 4], method="bca", rng=rng())
    assert (found.low, found.high, found.method) == (1, 1, "percentile (bca undefined)")


def test_one_pair_has_an_estimate_and_no_interval():
    found = rank_biserial_interval([-2], rng=rng())
    assert (found.estimate, found.method, found.n) == (-1, "undefined", 1)
    assert np.isnan(found.low) and np.isnan(found.high)


@settings(deadline=None, max_examples=40)
@given(st.lists(st.integers(-3, 3), min_size=2, max_size=30), st.sampled_from(["percentile", "bca"]))
def test_r_interval_is_ordered_and_within_range(d, method):
    found = rank_biserial_interval(d, resamples=200, method=method, rng=rng())
    assert -1 <= found.low <= found.high <= 1


def test_r_interval_covers_the_population_value():
    # differences 1 (40%), 0 (40%), -1 (20%): sizes are equal, so r = (0.4 - 0.2) / 0.6 = 1/3
    draw, covered = rng(11), 0
    for _ in range(400):
        d = draw.choice([1, 0, -1], p=[0.4, 0.4, 0.2], size=80)
        found = rank_biserial_interval(d, resamples=400, rng=draw)
        covered += found.low <= 1 / 3 <= found.high
    assert 0.91 <= covered / 400 <= 0.98


# --- means ---


def test_t_interval_equals_scipy():
    d = rng(2).normal(0.2, 1, 25)
    expected = scipy_stats.ttest_1samp(d, 0).confidence_interval(0.9)
    found = mean_interval(d, level=0.9)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), rel=1e-12)
    assert (found.method, found.n, found.resamples) == ("t", 25, 0)


def test_bounded_interval_is_the_t_interval_with_a_pair_more_at_each_bound():
    d = [0, 0, 0.5, -0.25, 0, 0.25]
    expected = scipy_stats.ttest_1samp([*d, 1, -1], 0).confidence_interval(0.95)
    found = mean_interval(d, bound=1)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), rel=1e-12)
    assert found.estimate == pytest.approx(0.5 / 6)  # the plain mean
    assert (found.method, found.n) == ("t, bounded", 6)


def test_bounded_interval_never_leaves_the_scale():
    assert mean_interval([1.0] * 5, bound=1).high == 1
    assert mean_interval([-1.0] * 5, bound=1).low == -1


def test_a_sample_without_differences_leaves_room_for_rare_ones():
    # 907 equal pairs: (1 - q)^907 = 0.025 for q = 3.7 / 907, the exact limit for the share that differs
    found = mean_interval([0.0] * 907, bound=1)
    assert found.low == -found.high
    assert 0.9 * 3.0 / 907 < found.high < 3.7 / 907


@pytest.mark.parametrize(("share", "n"), [(0.05, 30), (0.02, 100), (0.005, 100)])
def test_bounded_interval_keeps_its_coverage_where_t_does_not(share, n):
    draw = rng(4)
    samples = (draw.random((500, n)) < share).astype(float)
    covered = {
        bound: np.mean([i.low <= share <= i.high for i in (mean_interval(d, bound=bound) for d in samples)])
        for bound in (None, 1)
    }
    assert covered[1] >= 0.95
    assert covered[None] < 0.9


def test_a_bound_that_the_data_break_is_refused():
    with pytest.raises(ValueError, match="no smaller than any"):
        mean_interval([0.5, 1.5], bound=1)
    with pytest.raises(ValueError, match="bound must be positive"):
        mean_interval([0.0, 0.0], bound=0)


def test_mean_interval_of_constant_or_single_values():
    assert mean_interval([0.25] * 4).method == "constant"
    assert (mean_interval([0.25] * 4).low, mean_interval([0.25] * 4).high) == (0.25, 0.25)
    for bound in (None, 1):
        single = mean_interval([0.25], bound=bound)
        assert single.method == "undefined" and np.isnan(single.low)


@given(st.lists(st.integers(-4, 4), min_size=2, max_size=20), st.sampled_from([None, 1.0]))
def test_swapping_the_arms_mirrors_the_mean_interval(d, bound):
    one, other = mean_interval(np.array(d) / 4, bound=bound), mean_interval(np.array(d) / -4, bound=bound)
    assert (other.low, other.high) == pytest.approx((-one.high, -one.low))


# --- BCa ---


@pytest.mark.parametrize(("n", "seed"), [(10, 13), (18, 13), (57, 1), (450, 2)])  # 450 x 10,000 takes several blocks
def test_bca_gives_scipys_digits(n, seed):
    assert_scipys_digits(rng(seed).gamma(1.5, size=n), "mean", seed)


def test_bca_of_the_median_gives_scipys_digits():
    assert_scipys_digits(rng(4).gamma(1.5, size=21), "median", 4)


def assert_scipys_digits(values, statistic, seed):
    expected = scipy_stats.bootstrap(
        (values,),
        {"mean": np.mean, "median": np.median}[statistic],
        n_resamples=10_000,
        method="BCa",
        rng=rng(seed),
    ).confidence_interval
    found = bca_interval(values, statistic=statistic, seed=seed)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), rel=1e-9)
    assert (found.method, found.resamples, found.n) == ("bca", 10_000, len(values))


def test_bca_takes_a_generator_as_well_as_a_seed():
    values = [0.1, 0.5, -0.2, 0.9]
    assert bca_interval(values, seed=5) == bca_interval(values, seed=rng(5))


def test_bca_of_constant_and_single_values():
    assert bca_interval([0.2] * 9, seed=1).method == "constant"
    assert bca_interval([0.1 + 0.2, 0.3, 0.3], seed=1).method == "constant"
    assert bca_interval([0.2], seed=1).method == "undefined"


def test_bca_refuses_unknown_statistics_and_bad_numbers():
    with pytest.raises(ValueError, match="statistic must be one of mean, median, got 'mode'"):
        bca_interval([1, 2], statistic="mode", seed=1)
    with pytest.raises(ValueError, match="values holds nan at unit 1"):
        bca_interval([1, np.nan], seed=1)
    with pytest.raises(ValueError, match=r"level must lie between 0 and 1, got 95"):
        bca_interval([1, 2], level=95, seed=1)
    with pytest.raises(ValueError, match="resamples must be at least 1, got 0"):
        bca_interval([1, 2], resamples=0, seed=1)


def test_bca_counts_resamples_that_equal_the_estimate_as_ties_whatever_the_last_bit():
    # means of thirds: adding a whole number changes every rounding error and nothing else
    values = np.array([0, 1, 1, 2, -1, 0, 3, -2, 1, 0]) / 3
    one = bca_interval(values, seed=13)
    for shift in (1, 7, 1000):
        other = bca_interval(values + shift, seed=13)
        assert (other.low - shift, other.high - shift) == pytest.approx((one.low, one.high), abs=1e-9)


# --- clusters ---


def test_cluster_means_come_in_sorted_order():
    assert cluster_means([1, 2, 6, 5], ["b", "a", "a", "c"]).tolist() == [4, 1, 5]
    assert cluster_means([1, 2, 6], [10, 2, 2]).tolist() == [4, 1]


def test_cluster_means_need_a_cluster_for_every_row():
    with pytest.raises(ValueError, match="a cluster for each of the 2 rows"):
        cluster_means([1, 2], ["a"])


def test_clusters_of_one_row_are_the_ordinary_bootstrap():
    values = rng(6).normal(size=20)
    expected = scipy_stats.bootstrap((values,), np.mean, n_resamples=5000, method="BCa", rng=rng(3)).confidence_interval
    found = cluster_bootstrap(values, np.arange(20), resamples=5000, method="bca", rng=rng(3))
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), rel=1e-9)


def test_clusters_are_resampled_whole():
    # each dialogue is all 1 or all 0: ten rows a cluster say no more than one
    clusters = np.repeat(np.arange(12), 10)
    values = (clusters < 6).astype(float)
    whole = cluster_bootstrap(values, clusters, rng=rng())
    single = cluster_bootstrap(values[::10], clusters[::10], rng=rng())
    assert (whole.low, whole.high) == pytest.approx((single.low, single.high))
    assert (whole.n, whole.estimate) == (12, 0.5)


def test_large_clusters_weigh_more():
    assert cluster_bootstrap([1, 1, 1, 0], ["a", "a", "a", "b"], rng=rng()).estimate == 0.75


def test_cluster_bootstrap_of_one_cluster_has_no_interval():
    found = cluster_bootstrap([1, 2, 3], ["a", "a", "a"], rng=rng())
    assert (found.estimate, found.n, found.method) == (2, 1, "undefined")
