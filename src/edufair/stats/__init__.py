"""Statistics for paired designs: arrays in, a frozen dataclass out; no models, no stores."""

from edufair.stats.agreement import Agreement, PairAgreement, agreement
from edufair.stats.bootstrap import (
    Interval,
    bca_interval,
    cluster_bootstrap,
    cluster_means,
    mean_interval,
    rank_biserial_interval,
)
from edufair.stats.censoring import Construction, Headroom, Pinned, Split, gap_verdict
from edufair.stats.cluster_test import ClusterTest, cluster_test
from edufair.stats.distances import DistanceTest, permutation_distance
from edufair.stats.equivalence import Equivalence, Verdict, equivalence
from edufair.stats.friedman import Friedman, PageTrend, friedman, page_trend
from edufair.stats.judge_against_people import ErrorGap, ErrorRate, JudgeAgainstPeople, judge_against_people
from edufair.stats.loss import Loss, unequal_loss
from edufair.stats.mahalanobis import MahalanobisTest, permutation_mahalanobis
from edufair.stats.multiplicity import benjamini_hochberg, bonferroni, holm
from edufair.stats.normalised import BiasBySubgroup, Noise, NormalisedBias, bias_by_subgroup, normalised_bias
from edufair.stats.ordered_probit import OrderedProbit, ordered_probit
from edufair.stats.permutation import MeanAbsR, mean_abs_r, mean_abs_r_null
from edufair.stats.power import ItemsNeeded, Power, items_needed, power
from edufair.stats.rank_correlation import Spearman, spearman
from edufair.stats.rating_gap import RatingContrast, RatingGap, opposite_gap, rating_contrast, rating_gap
from edufair.stats.registered import RegisteredTest, RegisteredTests, registered_tests
from edufair.stats.signed_rank import SignedRank, signed_rank

__all__ = [
    "Agreement",
    "BiasBySubgroup",
    "ClusterTest",
    "Construction",
    "DistanceTest",
    "Equivalence",
    "ErrorGap",
    "ErrorRate",
    "Friedman",
    "Headroom",
    "Interval",
    "ItemsNeeded",
    "JudgeAgainstPeople",
    "Loss",
    "MahalanobisTest",
    "MeanAbsR",
    "Noise",
    "NormalisedBias",
    "OrderedProbit",
    "PageTrend",
    "PairAgreement",
    "Pinned",
    "Power",
    "RatingContrast",
    "RatingGap",
    "RegisteredTest",
    "RegisteredTests",
    "SignedRank",
    "Spearman",
    "Split",
    "Verdict",
    "agreement",
    "bca_interval",
    "benjamini_hochberg",
    "bias_by_subgroup",
    "bonferroni",
    "cluster_bootstrap",
    "cluster_means",
    "cluster_test",
    "equivalence",
    "friedman",
    "gap_verdict",
    "holm",
    "items_needed",
    "judge_against_people",
    "mean_abs_r",
    "mean_abs_r_null",
    "mean_interval",
    "normalised_bias",
    "opposite_gap",
    "ordered_probit",
    "page_trend",
    "permutation_distance",
    "permutation_mahalanobis",
    "power",
    "rank_biserial_interval",
    "rating_contrast",
    "rating_gap",
    "registered_tests",
    "signed_rank",
    "spearman",
    "unequal_loss",
]
