"""The null of mean |r| against signed_rank on relabelled tables, enumeration, theory and repeated draws."""

from itertools import combinations, permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from edufair.stats import mean_abs_r, mean_abs_r_null, signed_rank
from edufair.stats.permutation import _abs_r, _dimension


def rng(seed=1):
    return np.random.default_rng(seed)


def abs_r(x, a, b, metric, min_pairs):
    """|r| of one contrast, straight from the definition; NaN below min_pairs."""
    d = x[:, a, metric] - x[:, b, metric]
    d = d[~np.isnan(d)]
    return abs(signed_rank(d).r) if len(d) >= min_pairs else np.nan


def all_abs_r(x, min_pairs):
    """|r| by contrast and metric."""
    contrasts = combinations(range(x.shape[1]), 2)
    return np.array([[abs_r(x, a, b, m, min_pairs) for m in range(x.shape[2])] for a, b in contrasts])


def plain(x, min_pairs=15):
    """Mean |r| for each metric over the contrasts that have it; NaN where none has."""
    columns = [r[~np.isnan(r)] for r in all_abs_r(x, min_pairs).T]
    return np.array([r.mean() if len(r) else np.nan for r in columns])


scores = st.tuples(st.integers(1, 8), st.integers(2, 4), st.integers(1, 3)).flatmap(
    lambda shape: hnp.arrays(np.float64, shape, elements=st.sampled_from([0, 0.5, 1, 1 / 3, 2 / 3, np.nan]))
)


@settings(deadline=None)
@given(scores)
def test_observed_is_the_mean_of_signed_rank_sizes(x):
    cells = plain(x, min_pairs=3)
    found = mean_abs_r_null(x, draws=5, min_pairs=3, rng=rng())
    if np.isnan(cells).all():
        assert np.isnan(found.observed) and found.n_contrasts == 0
    else:
        assert found.observed == pytest.approx(np.nanmean(cells), abs=1e-12)


@settings(deadline=None, max_examples=40)
@given(scores, st.integers(0, 2**32 - 1))
def test_relabelled_r_equals_signed_rank_on_the_relabelled_table(x, seed):
    orders = rng(seed).permuted(np.broadcast_to(np.arange(x.shape[1]), (4, *x.shape[:2])), axis=-1)
    found = _abs_r(_dimension(x), orders, min_pairs=2)
    for draw, order in enumerate(orders):
        relabelled = np.take_along_axis(x, order[:, :, None], axis=1)
        expected = all_abs_r(relabelled, min_pairs=2)
        np.testing.assert_allclose(found[draw], expected, atol=1e-12)


@pytest.mark.parametrize(("items", "levels"), [(6, 2), (4, 3)])
def test_null_and_p_approach_full_enumeration(items, levels):
    x = rng(4).integers(0, 4, size=(items, levels, 2)) / 3
    orders = list(permutations(range(levels)))
    null = []
    for chosen in product(orders, repeat=items):  # 2^6 or 6^4 relabellings
        relabelled = np.take_along_axis(x, np.array(chosen)[:, :, None], axis=1)
        null.append(plain(relabelled, min_pairs=1).mean())
    found = mean_abs_r_null(x, draws=20_000, min_pairs=1, rng=rng(2))
    p = np.mean(np.array(null) >= plain(x, min_pairs=1).mean() - 1e-12)
    assert found.null_mean == pytest.approx(np.mean(null), abs=4 * np.std(null) / np.sqrt(20_000))
    assert found.p == pytest.approx(p, abs=4 * np.sqrt(p * (1 - p) / 20_000) + 1e-4)


@pytest.mark.parametrize("n", [30, 200])
def test_null_mean_of_untied_differences_is_the_half_normal_one(n):
    # r has variance sum(i^2) / (sum i)^2, about 4 / (3 n), and E|N(0, s)| = s sqrt(2 / pi)
    x = rng(3).normal(size=(n, 2, 4))
    i = np.arange(1, n + 1)
    expected = np.sqrt((i**2).sum()) / i.sum() * np.sqrt(2 / np.pi)
    assert mean_abs_r_null(x, draws=4000, rng=rng()).null_mean == pytest.approx(expected, rel=0.03)


@pytest.mark.parametrize("levels", [2, 3])
def test_false_positives_stay_at_the_stated_rate(levels):
    draw, hits, above = rng(8), 0, 0
    for _ in range(300):
        item = draw.normal(size=(20, 1, 1))
        x = np.round(item + draw.normal(size=(20, levels, 3)))  # ties, and metrics that hang together by item
        found = mean_abs_r_null(x, draws=199, rng=draw)
        hits += found.p <= 0.05
        above += found.observed > found.null_high
    assert 0.02 <= hits / 300 <= 0.09  # 0.05 +- 3 standard errors of 0.0126
    assert above / 300 <= 0.06


def test_a_shift_in_one_level_is_found():
    x = rng(5).normal(size=(60, 3, 4))
    x[:, 2] += 0.8
    found = mean_abs_r_null(x, rng=rng())
    assert found.p == 1 / 1001
    assert found.observed > found.null_high > found.null_mean > found.null_low > 0


def test_metrics_are_relabelled_together():
    # five copies of one metric are one metric: the band must not shrink as it does for five independent ones
    one = rng(6).normal(size=(100, 2, 1))
    single = mean_abs_r_null(one, rng=rng(1))
    copies = mean_abs_r_null(np.repeat(one, 5, axis=2), rng=rng(1))
    independent = mean_abs_r_null(rng(7).normal(size=(100, 2, 5)), rng=rng(1))
    assert (copies.null_low, copies.null_high) == pytest.approx((single.null_low, single.null_high))
    assert independent.null_high - independent.null_low < 0.6 * (single.null_high - single.null_low)


def test_identical_arms_give_zero_and_p_one():
    x = np.repeat(rng(1).normal(size=(40, 1, 2)), 3, axis=1)
    found = mean_abs_r_null(x, rng=rng())
    assert (found.observed, found.null_mean, found.null_high, found.p) == (0, 0, 0, 1)


def test_contrasts_without_enough_pairs_leave_the_mean_and_are_counted():
    x = rng(2).normal(size=(20, 3, 2))
    x[6:, 2, 0] = np.nan  # metric 0: level 2 has 6 items left, so 2 of its 3 contrasts fall below 15 pairs
    found = mean_abs_r_null(x, draws=50, rng=rng())
    assert (found.n_contrasts, found.n_left_out, found.min_pairs) == (4, 2, 15)
    assert found.observed == pytest.approx(plain(x).mean())


def test_a_metric_that_is_missing_altogether_changes_nothing_else():
    x = rng(2).normal(size=(30, 2, 2))
    with_gap = np.concatenate([x, np.full((30, 2, 1), np.nan)], axis=2)
    one, other = mean_abs_r_null(x, rng=rng(3)), mean_abs_r_null(with_gap, rng=rng(3))
    assert (other.observed, other.p, other.null_high) == (one.observed, one.p, one.null_high)
    assert (other.n_contrasts, other.n_left_out) == (2, 1)


def test_too_few_items_are_undefined_not_zero():
    found = mean_abs_r_null(rng().normal(size=(14, 2, 3)), rng=rng())
    assert (found.n_contrasts, found.n_left_out) == (0, 3)
    assert all(np.isnan(v) for v in (found.observed, found.null_mean, found.null_low, found.null_high, found.p))


def test_dimensions_are_averaged_after_their_contrasts():
    gender, status = rng(1).normal(size=(25, 2, 2)), rng(2).normal(size=(40, 3, 2))
    found = mean_abs_r([gender, status], draws=20, rng=rng())
    # three contrasts of status weigh as much as the one of gender
    assert found.observed == pytest.approx((plain(gender).mean() + plain(status).mean()) / 2)
    assert found.n_contrasts == 2 + 6


def test_one_dimension_is_the_single_array_function():
    x = rng(1).normal(size=(25, 3, 2))
    assert mean_abs_r([x], rng=rng(4)) == mean_abs_r_null(x, rng=rng(4))


def test_dimensions_are_relabelled_independently():
    # the mean of four independent |r| varies half as much as one
    groups = [rng(seed).normal(size=(50, 2, 1)) for seed in range(4)]
    one, four = mean_abs_r(groups[:1], rng=rng()), mean_abs_r(groups, rng=rng())
    assert (four.null_high - four.null_low) == pytest.approx((one.null_high - one.null_low) / 2, rel=0.25)


@settings(deadline=None, max_examples=25)
@given(scores.filter(lambda x: x.shape[1] == 2), st.randoms(use_true_random=False))
def test_swapping_levels_and_reordering_items_leave_the_observed_mean(x, random):
    rows = list(range(len(x)))
    random.shuffle(rows)
    one = mean_abs_r_null(x, draws=1, min_pairs=1, rng=rng())
    other = mean_abs_r_null(x[rows][:, ::-1], draws=1, min_pairs=1, rng=rng())
    np.testing.assert_equal(other.observed, one.observed)


def test_ties_are_hits():
    # one pair: |r| = 1 under both signs
    assert mean_abs_r_null([[[1.0], [0.0]]], draws=19, min_pairs=1, rng=rng()).p == 1


def test_the_same_seed_gives_the_same_digits_also_in_blocks():
    x = rng(1).normal(size=(800, 3, 1))  # 2,400 distinct sizes: several blocks
    assert mean_abs_r_null(x, rng=rng(4)) == mean_abs_r_null(x, rng=rng(4))


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match="x must be items x levels x metrics"):
        mean_abs_r_null(np.zeros((5, 2)), rng=rng())
    with pytest.raises(ValueError, match="number of levels in x must be at least 2, got 1"):
        mean_abs_r_null(np.zeros((5, 1, 1)), rng=rng())
    with pytest.raises(ValueError, match="infinite"):
        mean_abs_r_null(np.full((5, 2, 1), np.inf), rng=rng())
    with pytest.raises(ValueError, match="groups is empty"):
        mean_abs_r([], rng=rng())
