"""Adjusted p-values against statsmodels, R and a printed example."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from edufair.stats import benjamini_hochberg, bonferroni, holm

ADJUST = {"holm": holm, "fdr_bh": benjamini_hochberg, "bonferroni": bonferroni}
families = st.lists(st.floats(0, 1) | st.none(), min_size=1, max_size=30)


@pytest.mark.parametrize("name", ADJUST)
@settings(deadline=None, max_examples=10)
@given(p=families)
def test_adjusted_p_equals_statsmodels_with_one_for_what_could_not_be_computed(name, p):
    filled = [1.0 if each is None else each for each in p]
    assert ADJUST[name](p) == pytest.approx(multipletests(filled, method=name)[1])


def test_benjamini_and_hochbergs_own_example():
    # Benjamini and Hochberg (1995), section 4.1: at 0.05 theirs rejects 4, Bonferroni 3
    p = [0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262, 0.5719]
    p += [0.6528, 0.7590, 1.0000]
    assert (benjamini_hochberg(p) <= 0.05).sum() == 4
    assert (bonferroni(p) <= 0.05).sum() == 3
    assert (holm(p) <= 0.05).sum() == 3


def test_holm_by_hand():
    # sorted 0.01 0.02 0.03 0.04, factors 4 3 2 1: 0.04, 0.06, max(0.06, 0.06), max(0.06, 0.04)
    assert holm([0.04, 0.01, 0.03, 0.02]) == pytest.approx([0.06, 0.04, 0.06, 0.06])


@pytest.mark.parametrize("adjust", ADJUST.values())
def test_a_test_that_could_not_be_computed_keeps_its_place_in_the_family(adjust):
    with_gap = adjust([0.01, None, float("nan"), 0.02])
    assert with_gap.tolist() == adjust([0.01, 1.0, 1.0, 0.02]).tolist()
    assert with_gap[1] == with_gap[2] == 1
    assert with_gap[0] > adjust([0.01, 0.02])[0]


@pytest.mark.parametrize("adjust", ADJUST.values())
def test_arrays_lists_and_empty_families_are_taken(adjust):
    assert adjust(np.array([0.2])).tolist() == [0.2]
    assert adjust([]).tolist() == []


@pytest.mark.parametrize("adjust", ADJUST.values())
def test_a_number_that_is_no_p_is_named(adjust):
    with pytest.raises(ValueError, match=r"p must lie between 0 and 1, got 1.2 at test 1"):
        adjust([0.1, 1.2])


@given(families)
def test_holm_is_never_milder_than_benjamini_hochberg_nor_stricter_than_bonferroni(p):
    assert (benjamini_hochberg(p) <= holm(p) + 1e-12).all()
    assert (holm(p) <= bonferroni(p) + 1e-12).all()


@given(families)
def test_adjusting_keeps_the_order(p):
    raw = np.array([1.0 if each is None else each for each in p])
    for adjust in ADJUST.values():
        assert (np.diff(adjust(p)[np.argsort(raw, kind="stable")]) >= 0).all()
