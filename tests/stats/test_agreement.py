"""Alpha and AC1 against printed examples, R's output, the krippendorff package and brute force."""

from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from edufair.stats import agreement, judge_against_people

N = None
# Krippendorff (2011), Computing Krippendorff's Alpha-Reliability, C and D: 4 observers, 12 units. The same table is
# "nmm" in R's irr::kripp.alpha and cac.raw4raters in irrCAC.
FOUR = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, N, N, N],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, N, 3],
    [N, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, N],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, N],
]
# irrCAC's distrib.6raters (Fleiss's psychiatrists): patients by how many of 6 raters chose each of 5 diagnoses
SIX = [
    (0, 0, 0, 6, 0), (0, 3, 0, 0, 3), (0, 1, 4, 0, 1), (0, 0, 0, 0, 6), (0, 3, 0, 3, 0),
    (2, 0, 4, 0, 0), (0, 0, 4, 0, 2), (2, 0, 3, 1, 0), (2, 0, 0, 4, 0), (0, 0, 0, 0, 6),
    (1, 0, 0, 5, 0), (1, 1, 0, 4, 0), (0, 3, 3, 0, 0), (1, 0, 0, 5, 0), (0, 2, 0, 3, 1),
]  # fmt: skip


def rng(seed=1):
    return np.random.default_rng(seed)


def spread(counts):
    """One row a rater, from counts by unit; which rater said what does not matter to the coefficients."""
    return np.array([np.repeat(np.arange(len(row)), row) for row in counts]).T.tolist()


@pytest.mark.parametrize(("level", "alpha"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)])
def test_alpha_of_four_observers_as_printed(level, alpha):
    assert round(agreement(FOUR, level=level, rng=rng()).alpha.estimate, 3) == alpha


def test_alpha_of_two_observers_and_binary_data_as_printed():
    # Krippendorff (2011), A: ten units, alpha = 0.095
    labels = [[0, 1, 0, 0, 0, 0, 0, 0, 1, 0], [1, 1, 1, 0, 0, 1, 0, 0, 0, 0]]
    assert round(agreement(labels, rng=rng()).alpha.estimate, 3) == 0.095


def test_ac1_with_missing_labels_as_irr_cac_prints():
    # R> gwet.ac1.raw(cac.raw4raters): pa 0.8181818, coeff.val 0.77544; krippen.alpha.raw: 0.74342
    found = agreement(FOUR, rng=rng())
    assert found.raw.estimate == pytest.approx(0.8181818, abs=1e-7)
    assert round(found.ac1.estimate, 5) == 0.77544
    assert round(found.alpha.estimate, 5) == 0.74342
    assert (found.n_units, found.n_paired, found.n_labels, found.n_missing) == (12, 11, 41, 7)


def test_ac1_of_six_raters_as_irr_cac_prints():
    # R> gwet.ac1.dist(distrib.6raters): 0.4448007, pa 0.5511111; krippen.alpha.dist: 0.4204384
    found = agreement(spread(SIX), rng=rng())
    assert found.raw.estimate == pytest.approx(0.5511111, abs=1e-7)
    assert found.ac1.estimate == pytest.approx(0.4448007, abs=1e-7)
    assert found.alpha.estimate == pytest.approx(0.4204384, abs=1e-7)


def test_ac1_of_a_contingency_table_as_irr_cac_prints():
    # R> gwet.ac1.table(cont3x3abstractors): 0.8493305; krippen2.table: 0.7972585; pa2.table: 0.89
    table = [(13, 0, 0), (0, 20, 7), (0, 4, 56)]
    pairs = [("EAN"[i], "EAN"[j]) for i, row in enumerate(table) for j, n in enumerate(row) for _ in range(n)]
    found = agreement(list(zip(*pairs, strict=True)), rng=rng())
    assert found.ac1.estimate == pytest.approx(0.8493305, abs=1e-7)
    assert found.alpha.estimate == pytest.approx(0.7972585, abs=1e-7)
    assert found.raw.estimate == pytest.approx(0.89)


tables = st.tuples(st.integers(2, 4), st.integers(2, 12)).flatmap(
    lambda shape: hnp.arrays(np.float64, shape, elements=st.sampled_from([1, 2, 3, 7, np.nan]))
)


@settings(deadline=None)
@given(tables, st.sampled_from(["nominal", "ordinal", "interval"]))
def test_alpha_equals_the_krippendorff_package(labels, level):
    krippendorff = pytest.importorskip("krippendorff")
    paired = labels[:, (~np.isnan(labels)).sum(axis=0) >= 2]
    assume(len(np.unique(paired[~np.isnan(paired)])) >= 2)
    expected = krippendorff.alpha(reliability_data=labels, level_of_measurement=level)
    found = agreement(labels, level=level, resamples=0, rng=rng())
    assert found.alpha.estimate == pytest.approx(expected, abs=1e-10)
    assert found.alpha_undefined is None


def plain_alpha(labels, level):
    """Krippendorff's definition, pair by pair."""
    values = sorted({v for row in labels for v in row if v is not None})
    units = [[row[u] for row in labels if row[u] is not None] for u in range(len(labels[0]))]
    units = [unit for unit in units if len(unit) >= 2]
    flat = [v for unit in units for v in unit]
    n = {v: flat.count(v) for v in values}

    def distance(c, k):
        c, k = min(c, k), max(c, k)
        if level == "nominal":
            return float(c != k)
        if level == "interval":
            return (c - k) ** 2
        return (sum(n[g] for g in values if c <= g <= k) - (n[c] + n[k]) / 2) ** 2

    seen = sum(distance(a, b) / (len(u) - 1) for u in units for a, b in product(u, u)) / len(flat)
    chance = sum(distance(a, b) for a, b in product(flat, flat)) / (len(flat) * (len(flat) - 1))
    return 1 - seen / chance


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval"])
def test_alpha_is_its_definition_pair_by_pair(level):
    found = agreement(FOUR, level=level, rng=rng()).alpha.estimate
    assert found == pytest.approx(plain_alpha(FOUR, level), abs=1e-12)


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval"])
def test_the_interval_is_that_of_resampling_columns(level):
    # a plain bootstrap of units by another route: quantiles agree within their Monte-Carlo error
    table, draws, source = np.array(FOUR, dtype=object), [], rng(2)
    for _ in range(1500):
        columns = table[:, source.integers(0, 12, size=12)].tolist()
        draws.append(agreement(columns, level=level, resamples=0, rng=source).alpha.estimate)
    found = agreement(FOUR, level=level, resamples=20_000, rng=rng(3)).alpha
    expected = np.nanquantile(draws, [0.025, 0.975])
    assert (found.low, found.high) == pytest.approx(tuple(expected), abs=0.05)


def test_one_category_is_undefined_beside_full_raw_agreement():
    found = agreement([[1, 1, 1], [1, 1, 1]], rng=rng())
    assert np.isnan(found.alpha.estimate) and found.alpha.method == "undefined"
    assert found.alpha_undefined == "all labels fall into one category"
    assert found.raw.estimate == 1
    assert np.isnan(found.ac1.estimate) and "give domain" in found.ac1_undefined


def test_one_category_of_a_known_domain_has_ac1():
    # p = (1, 0): chance is 0, so AC1 = raw = 1
    found = agreement([[1, 1, 1], [1, 1, 1]], domain=(0, 1), rng=rng())
    assert found.ac1.estimate == 1 and found.ac1_undefined is None
    assert np.isnan(found.alpha.estimate)


@pytest.mark.parametrize(
    ("labels", "why"),
    [
        ([[1, 0, 1]], "one rater"),
        ([[1, 0, 1], [N, N, N]], "one rater"),
        ([[1, N, 0], [N, 1, N]], "no unit has labels from two raters"),
    ],
)
def test_nothing_to_compare_is_undefined_with_its_reason(labels, why):
    found = agreement(labels, rng=rng())
    assert np.isnan([found.alpha.estimate, found.ac1.estimate, found.raw.estimate]).all()
    assert why in found.alpha_undefined and why in found.ac1_undefined


def test_no_label_at_all_is_undefined():
    found = agreement([[N, N], [np.nan, N]], rng=rng())
    assert (found.n_units, found.n_labels, found.n_missing) == (0, 0, 4)
    assert np.isnan(found.alpha.estimate) and found.alpha_undefined


def test_pairs_are_compared_on_what_both_labelled():
    found = agreement(FOUR, rng=rng())
    pair = found.pairs[0]
    # raters 0 and 1 share units 0-8 and differ on unit 5 alone
    assert (pair.raters, pair.n, pair.raw) == ((0, 1), 9, pytest.approx(8 / 9))
    assert pair.alpha == pytest.approx(plain_alpha([FOUR[0][:9], FOUR[1][:9]], "nominal"), abs=1e-12)
    assert len(found.pairs) == 6


def test_skewed_labels_drop_alpha_and_keep_ac1():
    # 95 units both say no, 5 they differ on: alpha = 1 - 199 * 10 / (200^2 - 195^2 - 5^2) = -0.0205
    labels = [[0] * 95 + [1, 0, 1, 0, 1], [0] * 95 + [0, 1, 0, 1, 0]]
    found = agreement(labels, rng=rng())
    assert found.alpha.estimate == pytest.approx(1 - 199 * 10 / (200**2 - 195**2 - 5**2))
    assert found.raw.estimate == 0.95
    e = 2 * 0.025 * 0.975
    assert found.ac1.estimate == pytest.approx((0.95 - e) / (1 - e))


@settings(deadline=None, max_examples=30)
@given(tables, st.randoms(use_true_random=False))
def test_order_of_raters_and_units_is_irrelevant(labels, random):
    rows, columns = list(range(labels.shape[0])), list(range(labels.shape[1]))
    random.shuffle(rows)
    random.shuffle(columns)
    one = agreement(labels, level="ordinal", resamples=0, rng=rng())
    other = agreement(labels[rows][:, columns], level="ordinal", resamples=0, rng=rng())
    np.testing.assert_allclose(
        [one.alpha.estimate, one.ac1.estimate], [other.alpha.estimate, other.ac1.estimate], atol=1e-12
    )


def test_words_in_an_order_are_like_their_ranks():
    words = {1: "no", 2: "partly", 3: "mostly", 4: "yes", 5: "fully"}
    worded = [[None if v is None else words[v] for v in row] for row in FOUR]
    found = agreement(worded, level="ordinal", domain=list(words.values()), rng=rng())
    assert round(found.alpha.estimate, 3) == 0.815


def test_interval_alpha_is_exact_far_from_zero():
    near = agreement(FOUR, level="interval", resamples=0, rng=rng()).alpha.estimate
    far = [[None if v is None else v + 1e6 for v in row] for row in FOUR]
    assert agreement(far, level="interval", resamples=0, rng=rng()).alpha.estimate == pytest.approx(near, abs=1e-9)


def test_bad_labels_are_refused():
    with pytest.raises(ValueError, match="raters x units"):
        agreement([1, 2, 3], rng=rng())
    with pytest.raises(ValueError, match="raters x units"):
        agreement([[1, 2], [1]], rng=rng())
    with pytest.raises(ValueError, match="holds 3, which the domain lacks"):
        agreement([[1, 3], [1, 2]], domain=(1, 2), rng=rng())
    with pytest.raises(ValueError, match="holds words: give domain"):
        agreement([["a", "b"], ["a", "b"]], level="ordinal", rng=rng())
    with pytest.raises(ValueError, match="needs numbers"):
        agreement([["a", "b"], ["a", "b"]], level="interval", rng=rng())
    with pytest.raises(ValueError, match="level must be"):
        agreement([[1, 2], [1, 2]], level="ratio", rng=rng())


JUDGE = [1, 1, 0, 0, 1, N, 1]
PEOPLE = [[1, 0, 0, 0, 1, 1, N], [1, 0, 0, 1, 1, 1, N], [1, 1, 0, N, 0, 1, N]]


def test_consensus_ties_and_gaps_are_counted():
    found = judge_against_people(JUDGE, PEOPLE, rng=rng())
    assert (found.n_units, found.n_no_label, found.n_no_people, found.n_tied) == (7, 1, 1, 1)
    # units 0, 1, 2, 4 have a label and a consensus of 1, 0, 0, 1: the judge is off on unit 1
    assert found.table == ((1, 0), (1, 2))
    assert (found.errors[0].n, found.errors[0].errors) == (4, 1)
    assert found.consensus.raw.estimate == 0.75
    assert [pair.raters for pair in found.with_each] == [(0, 1), (0, 2), (0, 3)]
    assert found.with_each[0].raw == pytest.approx(4 / 5)
    assert found.people.n_raters == 3


def test_wilson_and_newcombe_as_published():
    # Newcombe (1998), example (a): 56/70 against 48/80, method 10: 0.2 [0.0524, 0.3339]
    judge = [1] * 56 + [0] * 14 + [1] * 48 + [0] * 32
    people = [[0] * 150]
    found = judge_against_people(judge, people, arm=["a"] * 70 + ["b"] * 80, rng=rng())
    gap = found.gaps[0]
    assert gap.arms == ("a", "b") and gap.difference == pytest.approx(0.2)
    assert (round(gap.low, 4), round(gap.high, 4)) == (0.0524, 0.3339)


def test_errors_that_cancel_have_no_net_effect():
    judge, people = [1, 0, 1, 0] * 5, [[0, 1, 1, 0] * 5]
    found = judge_against_people(judge, people, rng=rng())
    assert found.errors[0].rate == 0.5 and found.errors[0].net.estimate == 0
    words = judge_against_people(["x", "y"], [["y", "y"]], rng=rng())
    assert words.errors[0].net is None


def test_clusters_widen_the_gap_between_arms():
    # 20 dialogues, all of their 10 turns alike
    wrong = [1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0]
    judge, arm = np.repeat(wrong, 10).tolist(), ["a"] * 100 + ["b"] * 100
    people = [[0] * 200]
    turns = judge_against_people(judge, people, arm=arm, rng=rng()).gaps[0]
    dialogues = np.repeat(np.arange(20), 10).tolist()
    whole = judge_against_people(judge, people, arm=arm, cluster=dialogues, rng=rng()).gaps[0]
    assert whole.method == "cluster bootstrap" and whole.difference == pytest.approx(turns.difference)
    assert whole.high - whole.low > 2 * (turns.high - turns.low)


def test_whole_clusters_are_resampled():
    few = rng(3).integers(0, 2, (2, 40)).tolist()
    many = np.repeat(few, 10, axis=1).tolist()
    each = agreement(few, cluster=list(range(40)), rng=rng())
    clustered = agreement(many, cluster=np.repeat(np.arange(40), 10).tolist(), rng=rng())
    # ten copies of a unit in one cluster: the share that agrees is that of the units, draw by draw
    assert (clustered.raw.low, clustered.raw.high) == pytest.approx((each.raw.low, each.raw.high), abs=1e-12)
    apart = agreement(many, rng=rng())
    assert clustered.alpha.high - clustered.alpha.low > 2.5 * (apart.alpha.high - apart.alpha.low)  # sqrt(10) in theory


def test_clusters_of_one_unit_are_units():
    labels = rng(4).integers(0, 2, (2, 60)).tolist()
    one, plain = agreement(labels, cluster=list(range(60)), rng=rng()), agreement(labels, rng=rng())
    assert one.alpha.low == pytest.approx(plain.alpha.low, abs=0.05)
    assert one.alpha.high == pytest.approx(plain.alpha.high, abs=0.05)


def test_a_unit_without_labels_takes_its_cluster_along():
    found = agreement([[1, N, 0, 1], [1, N, 1, 1]], cluster=["a", "b", "c", "c"], rng=rng())
    assert found.n_units == 3 and found.raw.estimate == pytest.approx(2 / 3)


def test_an_error_rate_in_clusters_is_worth_fewer_units():
    # 10 clusters of 10 equal units, 3 of them in error: the design effect is 10/9 x 10, so that 100 units count as 9.
    judge, people = np.repeat([1, 1, 1, 0, 0, 0, 0, 0, 0, 0], 10).tolist(), [[0] * 100]
    found = judge_against_people(judge, people, cluster=np.repeat(np.arange(10), 10).tolist(), rng=rng()).errors[0]
    z, p, n = 1.959964, 0.3, 9
    centre, half = p + z * z / (2 * n), z * np.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    assert (found.low, found.high) == pytest.approx(
        ((centre - half) / (1 + z * z / n), (centre + half) / (1 + z * z / n)), abs=1e-5
    )


def test_a_sample_without_errors_is_no_proof_of_none():
    arm, cluster = ["a"] * 30 + ["b"] * 30, np.repeat(np.arange(12), 5).tolist()
    found = judge_against_people([1] * 60, [[1] * 60], arm=arm, cluster=cluster, rng=rng())
    gap = found.gaps[0]
    assert gap.method == "Newcombe over clusters" and gap.difference == 0
    assert gap.low == -gap.high and gap.high > 0.3  # 6 clusters an arm: Wilson's upper end for 0 of 6 is 0.39
    assert gap.net is not None and gap.net.low < 0 < gap.net.high


@pytest.mark.parametrize("clusters", [None, list(range(200))])
def test_equal_error_rates_in_opposite_directions_make_a_difference(clusters):
    # In a 20 of 100 labels are 1 for 0, in b 20 of 100 are 0 for 1: no gap in the rates, +0.2 - (-0.2) in the means.
    judge = [1] * 20 + [0] * 80 + [0] * 20 + [1] * 80
    people = [[0] * 100 + [1] * 100]
    gap = judge_against_people(judge, people, arm=["a"] * 100 + ["b"] * 100, cluster=clusters, rng=rng()).gaps[0]
    assert gap.difference == 0
    assert gap.net is not None and gap.net.estimate == pytest.approx(0.4)
    # two independent means of sd 0.4 over 100 units: 1.96 sqrt(2 x 0.16 / 100) = 0.11
    assert gap.net.low == pytest.approx(0.29, abs=0.03) and gap.net.high == pytest.approx(0.51, abs=0.03)


def test_words_beside_numbers_have_no_net():
    labels = ["not applicable", 0, 1, 1]
    people = [[0, "not applicable", 1, 0]]
    found = judge_against_people(labels, people, domain=[0, 1, "not applicable"], rng=rng()).errors[0]
    assert (found.n, found.errors) == (4, 3)
    assert found.net is not None and (found.net.n, found.net.estimate) == (2, 0.5)


def test_lengths_must_agree():
    with pytest.raises(ValueError, match="every unit of the judge"):
        judge_against_people([1, 0], [[1]], rng=rng())
    with pytest.raises(ValueError, match="each of the 2 units"):
        judge_against_people([1, 0], [[1, 0]], arm=["a"], rng=rng())
    with pytest.raises(ValueError, match="a cluster for each of the 2 units"):
        judge_against_people([1, 0], [[1, 0]], cluster=["a"], rng=rng())
