"""Permutation tests on distances against naive loops, full enumeration and repeated draws."""

from itertools import combinations, permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.spatial.distance import cdist, mahalanobis

from edufair.stats import _arrays as arrays
from edufair.stats import permutation_distance, permutation_mahalanobis


def rng(seed=1):
    return np.random.default_rng(seed)


def texts(n, d=5, seed=1, shift=0.0):
    """Pairs of texts about n items, and a second reply to the first prompt."""
    source = rng(seed)
    items = source.normal(size=(n, d)) + 2
    a, again, b = (items + source.normal(scale=0.4, size=(n, d)) for _ in range(3))
    return a, b + shift * np.resize([1, -1], d), again  # across the common direction: an angle sees it


def naive_free(a, b, metric):
    """Mean cross distance for every way to choose which texts are A."""
    x = np.concatenate([a, b])
    values = []
    for chosen in combinations(range(len(x)), len(a)):
        mask = np.isin(np.arange(len(x)), chosen)
        values.append(cdist(x[mask], x[~mask], metric).mean())
    return np.array(values)


def naive_swaps(a, b, metric):
    values = []
    for swap in product([False, True], repeat=len(a)):
        s = np.array(swap)[:, None]
        values.append(cdist(np.where(s, b, a), np.where(s, a, b), metric).mean())
    return np.array(values)


def share_as_far(values, observed):
    centre = values.mean()
    return np.mean(np.abs(values - centre) >= abs(observed - centre) - 1e-12)


@pytest.mark.parametrize("metric", ["cosine", "euclidean"])
@pytest.mark.parametrize(("within", "naive"), [(False, naive_free), (True, naive_swaps)])
def test_enumeration_equals_brute_force(metric, within, naive):
    a, b, _ = texts(4, seed=3, shift=0.3)
    found = permutation_distance(a, b, metric=metric, within_pairs=within, rng=rng())
    expected = naive(a, b, metric)
    assert found.method == "enumeration" and found.draws == len(expected)
    np.testing.assert_allclose(np.sort(found.null), np.sort(expected), atol=1e-12)
    assert found.observed == pytest.approx(cdist(a, b, metric).mean(), abs=1e-12)
    assert found.p == share_as_far(expected, found.observed)


@pytest.mark.parametrize("metric", ["cosine", "euclidean"])
@pytest.mark.parametrize("within", [True, False])
def test_random_relabellings_equal_a_plain_loop_over_the_same_labels(metric, within, monkeypatch):
    monkeypatch.setattr(arrays, "CELLS", 100)  # several blocks of the distance matrix
    a, b, _ = texts(20)
    found = permutation_distance(a, b, metric=metric, within_pairs=within, resamples=50, rng=rng(5))
    x, source, values = np.concatenate([a, b]), rng(5), []
    if within:
        swapped = source.integers(0, 2, size=(50, 20), dtype=np.int8) == 1
        labels = np.concatenate([~swapped, swapped], axis=1)
    else:
        labels = source.permuted(np.broadcast_to(np.arange(40) < 20, (50, 40)), axis=1)
    for mask in labels:
        values.append(cdist(x[mask], x[~mask], metric).mean())
    np.testing.assert_allclose(found.null, values, atol=1e-12)
    hits = np.sum(np.abs(values - np.mean(values)) >= abs(found.observed - np.mean(values)) - 1e-12)
    assert found.p == (hits + 1) / 51


@pytest.mark.parametrize("metric", ["cosine", "euclidean"])
def test_paired_is_the_mean_difference_of_rowwise_distances_with_signs_flipped(metric):
    a, b, again = texts(7, seed=2, shift=0.2)
    apart = [cdist(a[[i]], b[[i]], metric)[0, 0] - cdist(a[[i]], again[[i]], metric)[0, 0] for i in range(7)]
    found = permutation_distance(a, b, baseline=again, statistic="paired", metric=metric, rng=rng())
    values = np.array([np.mean(np.array(s) * apart) for s in product([1, -1], repeat=7)])
    assert found.observed == pytest.approx(np.mean(apart), abs=1e-12)
    np.testing.assert_allclose(np.sort(found.null), np.sort(values), atol=1e-12)
    assert found.p == share_as_far(values, found.observed)
    assert found.d_paired == pytest.approx(np.mean(apart) / np.std(apart, ddof=1))
    assert np.isnan(found.d_released)


@pytest.mark.parametrize("metric", ["cosine", "euclidean"])
def test_d_as_released_comes_from_all_cells(metric):
    a, b, again = texts(6)
    cross, within = cdist(a, b, metric).ravel(), np.concatenate([cdist(v, v, metric).ravel() for v in (a, b)])
    n, m = len(cross), len(within)
    pooled = ((n - 1) * cross.var(ddof=1) + (m - 1) * within.var(ddof=1)) / (n + m - 2)
    found = permutation_distance(a, b, baseline=again, metric=metric, rng=rng())
    assert found.d_released == pytest.approx((cross.mean() - within.mean()) / np.sqrt(pooled))
    assert (
        found.d_paired
        == permutation_distance(a, b, baseline=again, metric=metric, statistic="paired", rng=rng()).d_paired
    )


@settings(deadline=None, max_examples=40)
@given(
    hnp.arrays(np.float64, (6, 3), elements=st.floats(-10, 10).map(lambda v: round(v, 3))),
    st.sampled_from(["cosine", "euclidean"]),
)
def test_swapping_the_groups_changes_nothing(x, metric):
    x = x + np.where((x == 0).all(axis=1, keepdims=True), 1.0, 0.0)
    one = permutation_distance(x[:3], x[3:], metric=metric, rng=rng())
    other = permutation_distance(x[3:], x[:3], metric=metric, rng=rng())
    assert one.observed == pytest.approx(other.observed, abs=1e-12)
    assert one.p == other.p


def test_identical_texts_are_at_distance_zero_and_p_is_one():
    a, _, _ = texts(40, d=50)
    found = permutation_distance(a, a, baseline=a, statistic="paired", metric="euclidean", rng=rng())
    assert (found.observed, found.p) == (0, 1) and np.isnan(found.d_paired)
    twice = permutation_distance(a * 1000, a * 1000, metric="euclidean", within_pairs=True, rng=rng())
    assert twice.p == 1


def test_near_duplicates_keep_their_digits():
    a, _, _ = texts(5, d=300)
    b = a + 1e-9
    found = permutation_distance(a, b, metric="euclidean", rng=rng())
    assert found.observed == pytest.approx(cdist(a, b).mean(), abs=1e-12)


def test_groups_of_different_size_are_relabelled_freely():
    a, b = rng(1).normal(size=(5, 3)), rng(2).normal(size=(3, 3))
    found = permutation_distance(a, b, within_pairs=False, rng=rng())
    assert (found.draws, found.n_a, found.n_b) == (56, 5, 3)  # 8 choose 5
    with pytest.raises(ValueError, match="matched rows"):
        permutation_distance(a, b, rng=rng())


def test_without_plus_one_p_can_be_zero():
    a, b, _ = texts(30, shift=5.0)
    assert permutation_distance(a, b, metric="euclidean", resamples=99, rng=rng()).p == 0.01
    assert permutation_distance(a, b, metric="euclidean", resamples=99, plus_one=False, rng=rng()).p == 0


def test_a_label_blind_model_shifts_the_free_statistic_as_the_protocol_says():
    # protocols: -(between - matched) / (2 n); here n = 30 over 200 sets of replies without any effect
    shifts, predicted = [], []
    for seed in range(60):
        a, b, _ = texts(30, seed=seed)
        found = permutation_distance(a, b, within_pairs=False, resamples=400, rng=rng(seed))
        matched = np.mean([cdist(a[[i]], b[[i]], "cosine")[0, 0] for i in range(30)])
        between = (found.observed * 900 - matched * 30) / 870
        shifts.append(found.observed - found.null_mean)
        predicted.append(-(between - matched) / 60)
    assert np.mean(shifts) == pytest.approx(np.mean(predicted), rel=0.1)


def rates_of_rejection(**options):
    """How often each test rejects at 0.05 where b is just another reply."""
    hits = []
    for seed in range(200):
        a, b, again = texts(20, d=100, seed=1000 + seed)
        hits.append(permutation_distance(a, b, baseline=again, resamples=199, rng=rng(seed), **options).p <= 0.05)
    return np.mean(hits)


def test_swaps_within_pairs_and_the_paired_test_keep_their_size_and_free_relabelling_does_not():
    # 0.05 +- 3 standard errors of 0.0154
    assert rates_of_rejection(within_pairs=True) <= 0.096
    assert rates_of_rejection(statistic="paired") <= 0.096
    assert rates_of_rejection(within_pairs=False) > 0.5  # in 100 dimensions; in 5 it hardly ever rejects


def test_a_shift_is_found_by_both_right_sized_tests():
    a, b, again = texts(40, shift=0.8)
    assert permutation_distance(a, b, rng=rng()).p < 0.001
    assert permutation_distance(a, b, baseline=again, statistic="paired", rng=rng()).p < 0.001


def test_bad_input_is_refused():
    a, b, again = texts(4)
    with pytest.raises(ValueError, match="needs baseline"):
        permutation_distance(a, b, statistic="paired", rng=rng())
    with pytest.raises(ValueError, match="a holds a vector of zeros at row 2"):
        permutation_distance(np.where(np.arange(4)[:, None] == 2, 0.0, a), b, rng=rng())
    with pytest.raises(ValueError, match="same dimensions, got 5 and 4"):
        permutation_distance(a, b[:, :4], rng=rng())
    with pytest.raises(ValueError, match="match row by row"):
        permutation_distance(a, b, baseline=again[:2], rng=rng())
    with pytest.raises(ValueError, match="metric must be"):
        permutation_distance(a, b, metric="manhattan", rng=rng())
    with pytest.raises(ValueError, match="b holds nan at text 0, dimension 0"):
        permutation_distance(a, np.full((4, 5), np.nan), rng=rng())


def three(n, d=4, seed=1, shift=0.0):
    source = rng(seed)
    groups = source.normal(size=(n, d)) + source.normal(scale=0.5, size=(3, n, d))
    groups[2] += shift
    return groups


def test_mahalanobis_of_two_groups_is_that_of_the_textbook():
    # all components kept: the distance of the two means in the covariance of the deviations from the items' means
    groups = three(30)[:2]
    deviations = groups - groups.mean(axis=0)
    flat = deviations.reshape(-1, 4)
    inverse = np.linalg.inv(flat.T @ flat / 30)
    found = permutation_mahalanobis(groups, components=4, resamples=50, rng=rng())
    expected = mahalanobis(groups[0].mean(axis=0), groups[1].mean(axis=0), inverse)
    assert found.distances == (pytest.approx(expected),)
    assert found.variance_kept == pytest.approx(1)


def test_mahalanobis_enumeration_equals_brute_force():
    groups = three(4, d=3, shift=0.8)
    values = []
    for orders in product(permutations(range(3)), repeat=4):
        moved = np.stack([[groups[order[g], i] for i, order in enumerate(orders)] for g in range(3)])
        deviations = moved - moved.mean(axis=0)
        flat = deviations.reshape(-1, 3)
        inverse = np.linalg.inv(flat.T @ flat / (4 * 2))
        means = deviations.mean(axis=1)
        values.append(4 * sum(m @ inverse @ m for m in means))
    found = permutation_mahalanobis(groups, components=3, rng=rng())
    assert found.method == "enumeration" and found.draws == 6**4
    np.testing.assert_allclose(np.sort(found.null), np.sort(values), atol=1e-9)
    assert found.p == np.mean(np.array(values) >= found.observed - 1e-9)


def test_mahalanobis_keeps_its_size_and_finds_a_shift():
    hits = [permutation_mahalanobis(three(20, seed=s), resamples=199, rng=rng(s)).p <= 0.05 for s in range(200)]
    assert np.mean(hits) <= 0.096
    assert permutation_mahalanobis(three(40, shift=0.5), rng=rng()).p < 0.001


def test_mahalanobis_does_not_depend_on_units():
    groups = three(30)
    scaled = groups * np.array([1, 10, 100, 0.1]) + 7
    one = permutation_mahalanobis(groups, components=4, resamples=200, rng=rng())
    other = permutation_mahalanobis(scaled, components=4, resamples=200, rng=rng())
    assert one.distances == pytest.approx(other.distances) and one.p == other.p


def test_mahalanobis_with_more_dimensions_than_items():
    found = permutation_mahalanobis(rng().normal(size=(3, 20, 200)), resamples=99, rng=rng())
    assert found.components == 4 and 0 < found.variance_kept < 1


def test_identical_groups_are_said_to_be_identical():
    found = permutation_mahalanobis(np.ones((3, 5, 2)), rng=rng())
    assert (found.method, found.p, found.distances) == ("identical", 1.0, (0.0, 0.0, 0.0))
