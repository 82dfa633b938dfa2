"""Power by simulation against plain simulation, exact binomial arithmetic and the t test's tables."""

import numpy as np
import pytest
from scipy.stats import binom

from edufair.stats import items_needed, power, signed_rank
from edufair.stats.power import _mean, _read, _tilted


def rng(seed=1):
    return np.random.default_rng(seed)


def test_power_for_normal_differences_is_a_little_below_that_of_the_t_test():
    # n = 34, d = 0.5, two-sided 0.05: t has power 0.808 (Cohen 1988; statsmodels TTestPower); the signed-rank test's
    # asymptotic relative efficiency is 3 / pi = 0.955, so about the t test's power at n = 32.5, 0.79
    found = power("normal", effect=0.5, n=34, draws=20_000, rng=rng())
    assert found.power == pytest.approx(0.785, abs=0.02)


def test_power_of_signs_alone_is_that_of_the_exact_sign_test():
    # all pairs differ by 1: W+ counts the plus signs; n = 20 rejects at <= 5 or >= 15 (2 P(X <= 5) = 0.0414)
    # mean 0.4 is P(+) = 0.7
    found = power([1, -1, 1, -1], effect=0.4, n=20, draws=40_000, rng=rng())
    expected = binom.cdf(5, 20, 0.7) + binom.sf(14, 20, 0.7)
    assert found.power == pytest.approx(expected, abs=4 * found.mc_error)
    assert found.nonzero == 1


def test_without_an_effect_power_is_the_size_of_the_test():
    found = power("rates", effect=0, n=100, draws=20_000, rng=rng())
    assert found.power == pytest.approx(0.05, abs=0.006)
    rare = power("rare", effect=0, n=60, draws=20_000, rng=rng())
    assert rare.power <= 0.05  # three pairs differ: it can seldom reject at all


def test_the_fast_way_equals_testing_every_sample():
    pilot = rng(3).integers(-2, 4, size=40) / 6
    distribution = _tilted(_read(pilot), 0.1)
    values = np.concatenate([[0], distribution.sizes, -distribution.sizes])
    shares = np.concatenate([[distribution.zero], distribution.plus, distribution.minus])
    draw, hits = rng(4), 0
    for _ in range(3000):
        hits += signed_rank(draw.choice(values, size=30, p=shares)).p <= 0.05
    found = power(pilot, effect=0.1, n=30, draws=20_000, rng=rng())
    error = np.hypot(found.mc_error, np.sqrt(hits / 3000 * (1 - hits / 3000) / 3000))
    assert found.power == pytest.approx(hits / 3000, abs=4 * error)


@pytest.mark.parametrize("effect", [0.05, -0.3, 0.9])
def test_the_tilt_has_the_mean_asked_for_on_the_pilots_own_values(effect):
    pilot = [0, 0, 0, 1 / 3, -1 / 3, 2 / 3, 1]
    tilted = _tilted(_read(pilot), effect)
    assert _mean(tilted) == pytest.approx(effect)
    assert tilted.sizes == pytest.approx([1 / 3, 2 / 3, 1])
    assert tilted.zero + tilted.plus.sum() + tilted.minus.sum() == pytest.approx(1)
    # log odds of + against - grow in proportion to the size: an exponential tilt
    odds = np.log(tilted.plus / tilted.minus) / tilted.sizes
    assert odds == pytest.approx(odds[0])


def test_the_pilots_own_mean_plays_no_part():
    pilot = np.array([0, 0, 0.5, 0.5, 1.0])
    one = power(pilot, effect=0.2, n=30, rng=rng())
    other = power(-pilot, effect=0.2, n=30, rng=rng())
    assert one.power == other.power


def test_direction_does_not_matter():
    up = power("rates", effect=0.08, n=80, draws=20_000, rng=rng(1))
    down = power("rates", effect=-0.08, n=80, draws=20_000, rng=rng(2))
    assert up.power == pytest.approx(down.power, abs=5 * up.mc_error)


def test_items_needed_reaches_the_target_and_less_does_not():
    found = items_needed("rates", effect=0.1, draws=8000, rng=rng())
    assert found.at_n.n == found.n and found.at_n.power >= 0.8
    clearly_less = power("rates", effect=0.1, n=int(found.n * 0.85), draws=8000, rng=rng(5))
    assert clearly_less.power < 0.8


def test_items_needed_gives_up_where_it_is_told_to():
    found = items_needed("rates", effect=0.001, most=500, draws=200, rng=rng())
    assert found.n is None and found.at_n.n == 500 and found.at_n.power < 0.8


def test_the_same_seed_gives_the_same_answer():
    assert items_needed("rare", effect=0.03, rng=rng(7)) == items_needed("rare", effect=0.03, rng=rng(7))


def test_what_cannot_be_simulated_is_refused():
    with pytest.raises(ValueError, match="shows no difference at all"):
        power([0.0, 0.0], effect=0.1, n=10, rng=rng())
    with pytest.raises(ValueError, match=r"largest \|d\| is 0.5"):
        power([0.0, 0.5], effect=0.5, n=10, rng=rng())
    with pytest.raises(ValueError, match="pilot holds nan at pair 1"):
        power([0.0, np.nan], effect=0.5, n=10, rng=rng())
    with pytest.raises(ValueError, match="must be normal, rates or rare"):
        power("uniform", effect=0.5, n=10, rng=rng())
    with pytest.raises(ValueError, match="effect must differ from 0"):
        items_needed("normal", effect=0, rng=rng())
