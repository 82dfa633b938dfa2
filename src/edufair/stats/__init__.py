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
from edufair.stats.distances import DistanceTest, permutation_distance
from edufair.stats.equivalence import Equivalence, Verdict, equivalence
from edufair.stats.friedman import Friedman, PageTrend, friedman, page_trend
from edufair.stats.judge_against_people import ErrorGap, ErrorRate, JudgeAgainstPeople, judge_against_people
from edufair.stats.loss import Loss, unequal_loss
from edufair.stats.mahalanobis import MahalanobisTest, permutation_mahalanobis
from edufair.stats.multiplicity import benjamini_hochberg, bonferroni, holm
from edufair.stats.normalised import BiasBySubgroup, Noise, NormalisedBias, bias_by_subgroup, normalised_bias
from edufair.stats.permutation import MeanAbsR, mean_abs_r, mean_abs_r_null
from edufair.stats.signed_rank import SignedRank, signed_rank

__all__ = [
    "Agreement",
    "BiasBySubgroup",
    "DistanceTest",
    "Equivalence",
    "ErrorGap",
    "ErrorRate",
    "Friedman",
    "Interval",
    "JudgeAgainstPeople",
    "Loss",
    "MahalanobisTest",
    "MeanAbsR",
    "Noise",
    "NormalisedBias",
    "PageTrend",
    "PairAgreement",
    "SignedRank",
    "Verdict",
    "agreement",
    "bca_interval",
    "benjamini_hochberg",
    "bias_by_subgroup",
    "bonferroni",
    "cluster_bootstrap",
    "cluster_means",
    "equivalence",
    "friedman",
    "holm",
    "judge_against_people",
    "mean_abs_r",
    "mean_abs_r_null",
    "mean_interval",
    "normalised_bias",
    "page_trend",
    "permutation_distance",
    "permutation_mahalanobis",
    "rank_biserial_interval",
    "signed_rank",
    "unequal_loss",
]
