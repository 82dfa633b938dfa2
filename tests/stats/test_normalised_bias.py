"""Z, MAB, MDB and the raw spread against arithmetic, brute force, theory and repeated draws."""

from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.stats import ncf

from edufair.stats import bias_by_subgroup, normalised_bias


def rng(seed=1):
    return np.random.default_rng(seed)


def test_z_mab_and_mdb_by_hand():
    # class means 2, 3, 4, 7: mean 4, deviations -2, -1, 0, 3, sd = sqrt(14 / 4)
    found = normalised_bias([[1, 3, 4, 8], [3, 3, 4, 6]], rng=rng())
    sd = np.sqrt(3.5)
    assert found.means == (2, 3, 4, 7)
    assert [z.estimate for z in found.z] == pytest.approx([-2 / sd, -1 / sd, 0, 3 / sd])
    assert found.mab.estimate == pytest.approx(6 / 4 / sd)
    assert found.mdb.estimate == pytest.approx(5 / sd)
    assert found.spread.estimate == pytest.approx(sd)
    assert (found.n, found.k, found.undefined) == (2, 4, None)


@settings(deadline=None)
@given(hnp.arrays(np.float64, st.tuples(st.integers(2, 6), st.integers(2, 5)), elements=st.sampled_from([1, 2, 3, 5])))
def test_z_always_has_mean_zero_and_mean_square_one_so_mab_cannot_exceed_one(f):
    found = normalised_bias(f, resamples=20, rng=rng())
    z = np.array([each.estimate for each in found.z])
    if np.ptp(f.mean(axis=0)) < 1e-9:
        assert found.undefined == "all classes equal"
        assert np.isnan(z).all() and np.isnan(found.mab.estimate) and np.isnan(found.mdb.estimate)
    else:
        assert z.mean() == pytest.approx(0, abs=1e-9) and (z**2).mean() == pytest.approx(1)
        assert found.mab.estimate <= 1 + 1e-12
        assert 2 - 1e-9 <= found.mdb.estimate <= np.sqrt(2 * len(z)) + 1e-9


def test_two_classes_always_give_mab_one_and_mdb_two_however_small_the_difference():
    f = rng().normal(size=(50, 1)) + np.array([0, 1e-6])
    found = normalised_bias(f, rng=rng())
    assert found.mab.estimate == pytest.approx(1) and found.mdb.estimate == pytest.approx(2)
    assert found.mab_noise.mean == pytest.approx(1) and found.mdb_noise.high == pytest.approx(2)


def test_equal_classes_are_missing_not_zero():
    found = normalised_bias(np.repeat(rng().normal(size=(20, 1)), 4, axis=1), rng=rng())
    assert found.undefined == "all classes equal"
    assert np.isnan(found.mab.estimate) and found.mab.method == "undefined"
    assert (found.spread.estimate, found.p) == (0, 1)


def test_means_of_thirds_that_are_equal_are_equal():
    a = [1 / 3, 2 / 3, 1.0, 0.1, 0.2, 0.7]
    f = np.array([a, a[::-1]]).T  # the same values summed in another order
    assert normalised_bias(f, rng=rng()).undefined == "all classes equal"


def test_shuffling_equals_full_enumeration():
    f = rng(3).integers(1, 6, size=(3, 3)).astype(float)
    spreads = []
    for orders in product(permutations(range(3)), repeat=3):
        moved = np.array([[row[i] for i in order] for row, order in zip(f, orders, strict=True)])
        spreads.append(moved.mean(axis=0).std())
    found = normalised_bias(f, rng=rng())
    assert (found.method, found.draws) == ("enumeration", 216)
    assert found.p == np.mean(np.array(spreads) >= found.spread.estimate - 1e-12)
    assert found.spread_noise.mean == pytest.approx(np.mean(spreads))
    drawn = normalised_bias(f, resamples=215, rng=rng())
    assert (drawn.method, drawn.draws) == ("random", 215)
    assert drawn.spread_noise.mean == pytest.approx(np.mean(spreads), abs=0.1)


def test_the_interval_of_the_spread_inverts_the_noncentral_f():
    f = rng(2).normal(size=(40, 4)) + np.array([0, 0.4, 0.8, 1.2])
    found = normalised_bias(f, rng=rng())
    residuals = f - f.mean(axis=1, keepdims=True) - f.mean(axis=0) + f.mean()
    noise = (residuals**2).sum() / (39 * 3)
    ratio = 40 * 4 * found.spread.estimate**2 / 3 / noise
    for end, share in ((found.spread.low, 0.975), (found.spread.high, 0.025)):
        assert ncf.cdf(ratio, 3, 117, 160 * end**2 / noise) == pytest.approx(share, abs=1e-6)
    assert found.spread.method == "noncentral F"


@pytest.mark.parametrize("true", [0.0, 0.05, 0.3])
def test_the_interval_of_the_spread_covers_it(true):
    effects, draw, hits = true * np.array([-1, -1, 1, 1]), rng(4), 0
    for _ in range(300):
        f = draw.normal(size=(30, 1)) + effects + draw.normal(size=(30, 4))
        found = normalised_bias(np.round(f, 1), resamples=10, rng=draw)
        hits += found.spread.low - 1e-9 <= true <= found.spread.high
    assert hits / 300 >= 0.91  # 0.95 - 3 standard errors of 0.0126


def test_noise_free_differences_are_a_point():
    found = normalised_bias(rng().normal(size=(20, 1)) + np.array([0, 1, 2]), rng=rng())
    assert found.spread.method == "constant"
    assert found.spread.low == found.spread.high == pytest.approx(np.std([0, 1, 2]))
    assert found.p == 1 / 1001


def test_fair_teachers_leave_the_noise_at_the_stated_rate():
    draw, hits, above = rng(6), 0, 0
    for _ in range(300):
        f = np.clip(np.round(3 + draw.normal(size=(20, 1)) + draw.normal(size=(20, 4))), 1, 5)
        found = normalised_bias(f, resamples=199, rng=draw)
        hits += found.p <= 0.05
        above += found.mab.estimate > found.mab_noise.high
    assert 0.015 <= hits / 300 <= 0.09
    assert above / 300 <= 0.07


def test_a_biased_teacher_leaves_it():
    f = rng(7).normal(size=(40, 4)) + np.array([0, 0, 0, 1.0])
    found = normalised_bias(f, rng=rng())
    assert found.p == 1 / 1001 and found.spread.low > 0
    assert found.spread.estimate > found.spread_noise.high
    assert found.spread_beyond_noise < found.spread.estimate


def test_mab_of_noise_is_about_that_of_a_real_difference():
    # which is why the raw spread stands beside it
    noise = normalised_bias(rng(8).normal(size=(50, 6)), rng=rng())
    real = normalised_bias(rng(8).normal(size=(50, 6)) + np.linspace(0, 5, 6), rng=rng())
    assert abs(noise.mab_noise.mean - real.mab.estimate) < 0.1


@settings(deadline=None, max_examples=25)
@given(st.floats(0.1, 100), st.floats(-1000, 1000), st.randoms(use_true_random=False))
def test_units_and_the_order_of_items_and_classes_do_not_matter(scale, shift, random):
    f = rng(9).normal(size=(8, 4))
    rows, columns = list(range(8)), list(range(4))
    random.shuffle(rows)
    random.shuffle(columns)
    one = normalised_bias(f, resamples=5, rng=rng())
    other = normalised_bias(f[rows][:, columns] * scale + shift, resamples=5, rng=rng())
    assert other.mab.estimate == pytest.approx(one.mab.estimate)
    assert [z.estimate for z in other.z] == pytest.approx([one.z[c].estimate for c in columns], abs=1e-6)
    assert other.spread.high == pytest.approx(one.spread.high * scale, rel=1e-6)


def test_bootstrap_intervals_are_those_of_resampled_items():
    f, draws, source = rng(2).normal(size=(25, 3)) + np.array([0, 0.3, 1]), [], rng(5)
    for _ in range(4000):
        means = f[source.integers(0, 25, size=25)].mean(axis=0)
        z = (means - means.mean()) / means.std()
        draws.append([*z, np.abs(z).mean(), np.ptp(z)])
    low, high = np.quantile(draws, [0.025, 0.975], axis=0)
    found = normalised_bias(f, resamples=4000, rng=rng())
    intervals = [*found.z, found.mab, found.mdb]
    assert [i.low for i in intervals] == pytest.approx(low, abs=0.06)
    assert [i.high for i in intervals] == pytest.approx(high, abs=0.06)


def test_subgroups_are_normalised_apart_and_averaged():
    f = rng(3).normal(size=(30, 7))
    f[:, 5] = f[:, 6]
    names = ["sex", "sex", "income", "income", "income", "equal", "equal"]
    found = bias_by_subgroup(f, names, rng=rng())
    alone = normalised_bias(f[:, 2:5], rng=rng())
    assert found.subgroups["income"].mab.estimate == alone.mab.estimate
    assert found.n_undefined == 1 and found.subgroups["equal"].undefined == "all classes equal"
    assert found.mab.estimate == pytest.approx((1 + alone.mab.estimate) / 2)
    assert found.mdb.low <= found.mdb.estimate <= found.mdb.high
    assert found.mab_noise == pytest.approx((1 + found.subgroups["income"].mab_noise.mean) / 2)


def test_one_item_has_no_interval():
    found = normalised_bias([[1.0, 2.0, 4.0]], rng=rng())
    assert np.isnan(found.mab.low) and found.spread.method == "undefined"
    assert found.mab.estimate > 0


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match="f holds nan at item 1, class 0"):
        normalised_bias([[1, 2], [np.nan, 2]], rng=rng())
    with pytest.raises(ValueError, match="number of classes in f must be at least 2"):
        normalised_bias([[1], [2]], rng=rng())
    with pytest.raises(ValueError, match="classes in subgroup b must be at least 2"):
        bias_by_subgroup(np.zeros((3, 3)), ["a", "a", "b"], rng=rng())
    with pytest.raises(ValueError, match="each of the 3 classes"):
        bias_by_subgroup(np.zeros((3, 3)), ["a", "a"], rng=rng())
