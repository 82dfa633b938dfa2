"""unequal_loss against statsmodels, scipy and enumeration."""

from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import stats as scipy_stats
from statsmodels.stats.contingency_tables import cochrans_q, mcnemar

from edufair.stats import unequal_loss

two_arms = hnp.arrays(np.bool_, st.tuples(st.integers(1, 40), st.just(2)))
three_arms = hnp.arrays(np.bool_, st.tuples(st.integers(1, 5), st.just(3)))


@given(two_arms)
def test_two_arms_equal_the_exact_mcnemar_of_statsmodels(lost):
    a, b = lost.T
    table = [[(a & b).sum(), (a & ~b).sum()], [(~a & b).sum(), (~a & ~b).sum()]]
    found = unequal_loss(lost)
    if (a ^ b).any():
        assert found.p == pytest.approx(mcnemar(table, exact=True).pvalue)
    else:
        assert found.p == 1
    assert found.counts == (a.sum(), b.sum())
    assert found.n_uneven == (a ^ b).sum()


def test_mcnemar_by_hand():
    # 8 against 2: 2 (1 + 10 + 45) / 2^10
    lost = [[True, False]] * 8 + [[False, True]] * 2 + [[True, True]] * 5 + [[False, False]] * 100
    found = unequal_loss(lost)
    assert found.p == pytest.approx(2 * 56 / 1024)
    assert (found.counts, found.n, found.n_uneven, found.method) == ((13, 7), 115, 10, "exact McNemar")


@settings(deadline=None, max_examples=40)
@given(three_arms.filter(lambda lost: lost.any()))
def test_few_uneven_items_are_enumerated(lost):
    def spread(rows):
        sums = np.sum(rows, axis=0)
        return ((sums - sums.mean()) ** 2).sum()

    every = [spread(np.array(rows)) for rows in product(*[list(permutations(row)) for row in lost.tolist()])]
    expected = np.mean(np.array(every) >= spread(lost) - 1e-9)
    assert unequal_loss(lost).p == pytest.approx(expected)
    assert unequal_loss(lost).method == "exact Cochran's Q"


def test_many_uneven_items_have_cochrans_q_of_statsmodels():
    lost = np.random.default_rng(1).random((400, 4)) < [0.3, 0.2, 0.25, 0.2]
    found = unequal_loss(lost)
    expected = cochrans_q(lost.astype(int))
    assert found.p == pytest.approx(expected.pvalue)
    assert expected.pvalue == pytest.approx(scipy_stats.chi2.sf(expected.statistic, 3))
    assert found.method == "Cochran's Q"


@pytest.mark.parametrize("arms", [2, 3])
def test_nothing_lost_says_so(arms):
    found = unequal_loss(np.zeros((10, arms), dtype=bool))
    assert (found.p, found.method, found.counts, found.n) == (1, "none lost", (0,) * arms, 10)


@pytest.mark.parametrize("arms", [2, 3])
def test_items_lost_in_every_arm_say_nothing(arms):
    found = unequal_loss([[True] * arms] * 4 + [[False] * arms] * 4)
    assert (found.p, found.counts, found.n_uneven) == (1, (4,) * arms, 0)
    assert found.method != "none lost"


@given(two_arms)
def test_swapping_the_arms_swaps_the_counts_only(lost):
    one, other = unequal_loss(lost), unequal_loss(lost[:, ::-1])
    assert (other.p, other.counts) == (one.p, one.counts[::-1])


def test_zeros_and_ones_are_taken_and_other_numbers_refused():
    assert unequal_loss([[1, 0], [0, 0]]).counts == (1, 0)
    with pytest.raises(ValueError, match="True and False only"):
        unequal_loss([[0.5, 0], [np.nan, 1]])


@pytest.mark.parametrize("lost", [[True, False], [[True], [False]], np.empty((0, 2), dtype=bool)])
def test_other_shapes_are_refused(lost):
    with pytest.raises(ValueError, match="items x arms with at least one item and two arms"):
        unequal_loss(lost)
