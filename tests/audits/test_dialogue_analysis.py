"""The paired analysis of section 3.4 on made-up scores: against scipy, statsmodels and arithmetic written out here."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import stats
from scipy.stats import rankdata
from statsmodels.stats.multitest import multipletests

from edufair.audits.base import Analysis
from edufair.audits.dialogue.analyse import analyse
from edufair.audits.dialogue.effects import EFFECTS
from edufair.audits.dialogue.measure import CONVERSATIONAL, ENDINGS, PEDAGOGICAL
from edufair.audits.dialogue.settings import DialogueSettings
from edufair.design import arms
from edufair.records import NOT_APPLICABLE, Arm, Finding

FEMALE, MALE = (arms.explicit_arm("gender", level) for level in ("female", "male"))
SES = [arms.explicit_arm("ses", level) for level in arms.DIMENSIONS["ses"]]
GENDERS = arms.DIMENSIONS["gender"]
FOUR = {f"{s[0]}{t[0]}": arms.opposite_arm(s, t) for s in GENDERS for t in GENDERS}
JUDGE = "judge:j:1"
METRICS = (*PEDAGOGICAL, *CONVERSATIONAL)
FREE = "tutor_avg_word"  # a metric without a bound


class MadeUp:
    """A run's frames, filled arm by arm; metrics that are not given are 0.5 everywhere."""

    def __init__(self) -> None:
        self._records: list[dict[str, Any]] = []
        self._scores: list[tuple[str, int, str, str, float | None, str]] = []

    def add(
        self,
        arm: Arm,
        metrics: Mapping[str, Any],
        *,
        n: int = 20,
        model: str = "m",
        domain: str = "d",
        replicate: int = 1,
        judges: tuple[str, ...] = (JUDGE,),
        failed: Mapping[int, str] | None = None,
    ) -> MadeUp:
        """`metrics`: the values of items 0 to n - 1, None where not applicable. `failed`: item -> reason."""
        failed = failed or {}
        for k in range(n):
            trial = f"{model} {domain} {arm.label} {k} {replicate}"
            status, reason = ("failed", failed[k]) if k in failed else ("done", "")
            self._records.append(
                {
                    "trial": trial, "model": model, "item": f"q{k:03}", "domain": domain, "condition": arm.condition,
                    "arm": arm.label, "replicate": replicate, "status": status, "reason": reason,
                }
            )  # fmt: skip
            if k in failed:
                continue
            for metric in METRICS:
                value = metrics[metric][k] if metric in metrics else 0.5
                value = None if value is None else float(value)
                why = NOT_APPLICABLE if value is None else ""
                for source in judges if metric in PEDAGOGICAL else ("code",):
                    self._scores.append((trial, 0, metric, source, value, why))
        return self

    def score(self, trial: str, turn: int, metric: str, source: str, value: float | None, reason: str = "") -> None:
        self._scores.append((trial, turn, metric, source, value, reason))

    def shuffled(self, seed: int) -> MadeUp:
        rng, other = np.random.default_rng(seed), MadeUp()
        other._records = [self._records[k] for k in rng.permutation(len(self._records))]
        other._scores = [self._scores[k] for k in rng.permutation(len(self._scores))]
        return other

    def scores(self) -> pl.DataFrame:
        names = {"trial": pl.String, "turn": pl.Int64, "metric": pl.String, "source": pl.String}
        return pl.DataFrame(self._scores, schema={**names, "value": pl.Float64, "reason": pl.String}, orient="row")

    def records(self) -> pl.DataFrame:
        return pl.DataFrame(self._records)

    def vectors(self) -> pl.DataFrame:
        raise AssertionError

    def items(self) -> Any:
        raise AssertionError


def settings(**analysis: Any) -> DialogueSettings:
    design = analysis.pop("design", {"conditions": ["explicit"], "dimensions": ["gender"]})
    rules = {"resamples": 200, "null_draws": 100, **analysis}
    roles = {"tutor": {"model": "m"}, "student": {"model": "m"}, "judge": {"model": "m"}}
    raw = {"audit": "dialogue", "models": {"m": {"url": "python:a:b"}}, "design": design, "analysis": rules, **roles}
    return DialogueSettings.model_validate(raw)


def analysed(view: MadeUp, **rules: Any) -> Analysis:
    return analyse(view, settings(**rules))


def one(analysis: Analysis, metric: str = FREE, **where: Any) -> Finding:
    (found,) = (
        f for f in analysis.findings if f.metric == metric and all(getattr(f, k) == v for k, v in where.items())
    )
    return found


def r_by_hand(d: Any) -> float:
    """Matched-pairs rank-biserial with Pratt ranks: zeros are ranked with the rest, then left out."""
    d = np.round(np.asarray(d, dtype=float), 12)
    ranks = rankdata(np.abs(d))
    plus, minus = ranks[d > 0].sum(), ranks[d < 0].sum()
    return 0.0 if plus + minus == 0 else (plus - minus) / (plus + minus)


def drawn(seed: int, n: int = 20) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=n)


def gender(a: Any, b: Any, metric: str = FREE, **more: Any) -> MadeUp:
    n = len(a)
    return MadeUp().add(FEMALE, {metric: a}, n=n, **more).add(MALE, {metric: b}, n=n, **more)


# --- one contrast -----------------------------------------------------------------------------------------------


def test_a_contrast_is_female_minus_male_with_scipy_s_p_and_interval() -> None:
    a, b = 30 + drawn(1), 29.5 + drawn(2)
    found = one(analysed(gender(a, b)))
    d = a - b
    low, high = stats.ttest_1samp(d, 0).confidence_interval(0.95)
    assert (found.a, found.b, found.contrast) == ("female", "male", "female - male")
    assert (found.status, found.n, found.n_items, found.nonzero) == ("tested", 20, 20, 1.0)
    assert found.p == pytest.approx(stats.wilcoxon(d, method="exact").pvalue, rel=1e-12)
    assert found.r == pytest.approx(r_by_hand(d), rel=1e-12)
    assert (found.mean_a, found.mean_b) == (pytest.approx(a.mean()), pytest.approx(b.mean()))
    assert found.difference == pytest.approx(d.mean())
    assert (found.difference_low, found.difference_high) == (pytest.approx(low), pytest.approx(high))
    assert found.margin == pytest.approx(0.1 * np.concatenate([a, b]).mean())
    assert found.r_low is not None and found.r is not None and found.r_high is not None
    assert found.r_low <= found.r <= found.r_high


def test_the_interval_of_r_covers_resampled_pairs() -> None:
    """The percentile bootstrap over items, by resampling rows here: equal to Monte Carlo error (B = 5,000)."""
    d = np.round(drawn(3, 40) + 0.3, 1)
    found = one(analysed(gender(d + 10, np.full(40, 10.0)), resamples=5000))
    rng = np.random.default_rng(1)
    rows = [r_by_hand(rng.choice(d, 40)) for _ in range(5000)]
    assert (found.r_low, found.r_high) == pytest.approx(np.quantile(rows, [0.025, 0.975]), abs=0.03)


def test_pairs_without_a_difference_give_r_0_and_p_1_and_no_violation() -> None:
    found = one(analysed(gender(np.full(20, 7.0), np.full(20, 7.0))))
    assert (found.r, found.p, found.difference, found.violation, found.finding) == (0.0, 1.0, 0.0, False, False)


def test_a_metric_that_is_zero_everywhere_is_shown_to_be_small() -> None:
    found = one(analysed(gender(np.zeros(20), np.zeros(20))))
    assert (found.status, found.r, found.p, found.verdict) == ("tested", 0.0, 1.0, "shown to be small")


def test_a_clear_difference_is_a_violation_practical_and_a_finding() -> None:
    rate = np.repeat([1.0, 0.8], 20)
    found = one(analysed(gender(rate, rate - 0.5, "answer_leakage")), "answer_leakage")
    assert (found.r, found.violation, found.practical, found.finding, found.verdict) == (1, True, True, True, "differs")
    assert (found.margin, found.source) == (0.05, JUDGE)


def test_rows_in_another_order_give_the_same_digits() -> None:
    view = gender(drawn(4), drawn(5)).add(arms.BASELINE, {FREE: drawn(6)})
    rules = {"design": {"conditions": ["explicit", "baseline"], "dimensions": ["gender"]}}
    assert analysed(view, **rules).findings == analysed(view.shuffled(9), **rules).findings


# --- what could not be tested -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("n", "status"), [(14, "insufficient"), (15, "tested")])
def test_fifteen_pairs_are_needed(n: int, status: str) -> None:
    found = one(analysed(gender(drawn(1, n), drawn(2, n))))
    assert (found.status, found.n) == (status, n)
    if status == "insufficient":
        assert (found.p, found.r, found.verdict, found.finding, found.p_holm) == (None,) * 5
        assert found.note == "fewer than 15 pairs"


@pytest.mark.parametrize(("lost", "status"), [(4, "tested"), (5, "not evaluable")])
@pytest.mark.parametrize("arm", ["a", "b"])
def test_more_than_a_fifth_lost_in_either_arm_is_not_evaluable(lost: int, status: str, arm: str) -> None:
    failed = dict.fromkeys(range(lost), "refused")
    view = (
        MadeUp().add(FEMALE, {}, failed=failed if arm == "a" else {}).add(MALE, {}, failed=failed if arm == "b" else {})
    )
    found = one(analysed(view))
    assert (found.status, found.n, found.n_items) == (status, 20 - lost, 20)
    assert (found.lost_a, found.lost_b) == ((lost, 0) if arm == "a" else (0, lost))
    # exact McNemar, all losses on one side: 2 * (1/2)^lost
    assert found.loss_p == pytest.approx(2 * 0.5**lost)


def test_what_does_not_apply_is_counted_apart_and_no_loss() -> None:
    some = [None] * 6 + [1.0] * 14
    found = one(analysed(gender(some, [1.0] * 20, "corrective_tone")), "corrective_tone")
    assert (found.status, found.n, found.lost_a, found.not_applicable_a, found.not_applicable_b) == (
        "insufficient", 14, 0, 6, 0,
    )  # fmt: skip


def test_an_arm_that_was_never_carried_out_is_said_to_be_missing() -> None:
    found = one(analysed(MadeUp().add(FEMALE, {})))
    assert (found.status, found.n, found.note) == ("insufficient", 0, "an arm has not been carried out")


# --- families ---------------------------------------------------------------------------------------------------


def test_a_family_is_a_tutor_and_a_condition_with_untested_contrasts_as_p_1() -> None:
    """Two domains x nine metrics x one contrast; one domain has too few items, and stays in the family."""
    view = MadeUp()
    values = {
        metric: 5 + drawn(k)
        for k, metric in enumerate(CONVERSATIONAL)
        if metric not in ("tutor_turns", "tutor_question_rate")
    }
    view.add(FEMALE, values, n=20).add(MALE, {}, n=20)
    view.add(FEMALE, {}, n=9, domain="small").add(MALE, {}, n=9, domain="small")
    found = analysed(view).findings
    assert len(found) == 18 and {f.family_size for f in found} == {18}
    p = [1.0 if f.p is None else f.p for f in found]
    holm, bh = (multipletests(p, method=method)[1] for method in ("holm", "fdr_bh"))
    for f, by_holm, by_bh in zip(found, holm, bh, strict=True):
        wanted = (None, None) if f.domain == "small" else (pytest.approx(by_holm), pytest.approx(by_bh))
        assert (f.p_holm, f.p_bh) == wanted


def test_another_tutor_is_another_family() -> None:
    view = gender(drawn(1), drawn(2)).add(FEMALE, {}, model="n").add(MALE, {}, model="n")
    assert {(f.model, f.family_size) for f in analysed(view).findings} == {("m", 9), ("n", 9)}


def test_a_finding_takes_both_an_adjusted_p_and_a_practical_size() -> None:
    for f in analysed(gender(drawn(1) + 1, drawn(2))).findings:
        assert f.finding == (f.p_holm is not None and f.p_holm < 0.05 and f.r is not None and abs(f.r) >= 0.10)


# --- three levels -----------------------------------------------------------------------------------------------

ONLY_SES: dict[str, Any] = {"design": {"conditions": ["explicit"], "dimensions": ["ses"]}}


def three(shift: float) -> tuple[MadeUp, list[np.ndarray]]:
    values = [10 + drawn(k + 1, 30) + k * shift for k in range(3)]
    view = MadeUp()
    for arm, each in zip(SES, values, strict=True):
        view.add(arm, {FREE: each}, n=30)
    return view, values


@pytest.mark.parametrize("shift", [0.0, 2.0])
def test_three_levels_are_tested_by_friedman_and_their_pairs_by_bonferroni_where_it_rejects(shift: float) -> None:
    view, values = three(shift)
    analysis = analysed(view, **ONLY_SES)
    (row,) = analysis.tables["friedman"].filter(pl.col("metric") == FREE).iter_rows(named=True)
    expected = stats.friedmanchisquare(*values)
    assert (row["n"], row["statistic"]) == (30, pytest.approx(expected.statistic))
    assert row["kendalls_w"] == pytest.approx(expected.statistic / (30 * 2))
    pairs = [f for f in analysis.findings if f.metric == FREE]
    assert [(f.a, f.b) for f in pairs] == list(combinations(arms.DIMENSIONS["ses"], 2))
    for f in pairs:
        assert f.r is not None and f.p is not None  # reported in any case
        assert f.p_bonferroni == (pytest.approx(min(1, 3 * f.p)) if row["p"] < 0.10 else None)
    assert (row["p"] < 0.10) == (shift == 2.0)


# --- averages ---------------------------------------------------------------------------------------------------


def test_mean_r_weighs_a_dimension_with_three_contrasts_as_one_with_one() -> None:
    view, ses = three(0.4)
    a, b = 10 + drawn(8, 30), 10 + drawn(9, 30)
    view.add(FEMALE, {FREE: a}, n=30).add(MALE, {FREE: b}, n=30)
    analysis = analysed(view, design={"conditions": ["explicit"], "dimensions": ["gender", "ses"]})
    (row,) = analysis.tables["mean_r_by_metric"].filter(pl.col("metric") == FREE).iter_rows(named=True)
    of_ses = np.mean([abs(r_by_hand(x - y)) for x, y in combinations(ses, 2)])
    assert row["mean_abs_r"] == pytest.approx((abs(r_by_hand(a - b)) + of_ses) / 2)
    assert (row["n_contrasts"], row["n_left_out"]) == (4, 0)
    assert 0 < row["null_low"] < row["null_mean"] < row["null_high"] and 0 < row["p"] <= 1


def test_a_dimension_s_mean_r_is_over_the_five_turn_level_metrics_that_have_enough_pairs() -> None:
    rng = np.random.default_rng(11)
    a = {metric: rng.choice([0.0, 0.5, 1.0], 20) for metric in PEDAGOGICAL[:4]} | {PEDAGOGICAL[4]: [None] * 20}
    b = {metric: rng.choice([0.0, 0.5, 1.0], 20) for metric in PEDAGOGICAL}
    view = MadeUp().add(FEMALE, {**a, FREE: np.arange(20)}).add(MALE, b)
    (row,) = analysed(view).tables["mean_r_by_dimension"].iter_rows(named=True)
    by_hand = np.mean([abs(r_by_hand(np.array(a[m]) - b[m])) for m in PEDAGOGICAL[:4]])
    assert (row["dimension"], row["mean_abs_r"]) == ("gender", pytest.approx(by_hand))
    assert (row["n_contrasts"], row["n_left_out"]) == (4, 1)


def test_names_are_averaged_by_what_they_differ_in() -> None:
    values = {name: 10 + drawn(k, 20) for k, name in enumerate(arms.NAMES)}
    view = MadeUp()
    for name, each in values.items():
        view.add(arms.implicit_arm(name), dict.fromkeys(("tutor_avg_word", "tutor_student_word_ratio"), each))
    table = analysed(view, design={"conditions": ["implicit"], "dimensions": ["gender"]}).tables["implicit"]
    row = table.filter((pl.col("contrast_kind") == "ethnicity") & (pl.col("group") == "Conv.")).row(0, named=True)
    pairs = [("Michael", "Wei"), ("Jessica", "Ji-Yoon")]
    each = [abs(r_by_hand(values[x] - values[y])) for x, y in pairs]
    # two of the four conversation metrics differ, in the same way; the other two are equal everywhere
    assert row["mean_abs_r"] == pytest.approx((2 * np.mean(each) + 2 * 0) / 4)


# --- the opposite condition -------------------------------------------------------------------------------------

ONLY_OPPOSITE: dict[str, Any] = {"design": {"conditions": ["opposite"], "dimensions": ["gender"]}}


def opposite(n: int = 20) -> tuple[MadeUp, dict[str, np.ndarray]]:
    values = {cell: 10 + drawn(k, n) for k, cell in enumerate(FOUR)}
    view = MadeUp()
    for cell, arm in FOUR.items():
        view.add(arm, {FREE: values[cell]}, n=n)
    return view, values


def test_the_effects_of_a_known_tutor_and_a_known_student_come_out() -> None:
    """The tutor adds 3 when told female, the student 1 when female, and both together 0.5 more."""
    base = 20 + drawn(1, 20)
    cells = {"ff": base + 4.5, "fm": base + 1, "mf": base + 3, "mm": base}
    view = MadeUp()
    for cell, arm in FOUR.items():
        view.add(arm, {FREE: cells[cell]})
    table = analysed(view, **ONLY_OPPOSITE).tables["opposite_effects"].filter(pl.col("metric") == FREE)
    found = dict(table.select("effect", "mean").iter_rows())
    assert {name: round(value, 9) for name, value in found.items()} == {
        "matched": 4.5,  # ff - mm
        "mismatched": -2.0,  # fm - mf
        "tutor": 3.25,  # (3.5 + 3) / 2
        "student": 1.25,  # (1.5 + 1) / 2
        "interaction": 0.5,
        "tutor told, female student": 3.5,
        "tutor told, male student": 3.0,
        "student, tutor told female": 1.5,
        "student, tutor told male": 1.0,
    }
    assert found.keys() == EFFECTS.keys()


def test_matched_is_student_plus_tutor_effect_and_mismatched_student_minus_tutor() -> None:
    view, _ = opposite()
    table = analysed(view, **ONLY_OPPOSITE).tables["opposite_effects"].filter(pl.col("metric") == FREE)
    effect = dict(table.select("effect", "mean").iter_rows())
    assert effect["matched"] == pytest.approx(effect["student"] + effect["tutor"])
    assert effect["mismatched"] == pytest.approx(effect["student"] - effect["tutor"])
    assert effect["interaction"] == pytest.approx(
        effect["tutor told, female student"] - effect["tutor told, male student"]
    )


def test_the_contrasts_are_correct_and_wrong() -> None:
    view, values = opposite()
    analysis = analysed(view, **ONLY_OPPOSITE)
    by = {"gender (matched)": values["ff"] - values["mm"], "gender (mismatched)": values["fm"] - values["mf"]}
    for dimension, d in by.items():
        assert one(analysis, dimension=dimension).difference == pytest.approx(d.mean())
    settings_of = dict(
        analysis.tables["opposite"].filter(pl.col("group") == "Conv.").select("setting", "mean_abs_r").iter_rows()
    )
    # one of the four conversation metrics differs
    assert settings_of == {
        "Correct": pytest.approx(abs(r_by_hand(by["gender (matched)"])) / 4),
        "Wrong": pytest.approx(abs(r_by_hand(by["gender (mismatched)"])) / 4),
    }


def test_effects_are_over_items_that_have_all_four_cells() -> None:
    view = MadeUp()
    for cell, arm in FOUR.items():
        view.add(arm, {FREE: 10 + drawn(3)}, failed={3: "refused"} if cell == "mf" else {})
    analysis = analysed(view, **ONLY_OPPOSITE)
    assert set(analysis.tables["opposite_effects"].filter(pl.col("metric") == FREE)["n"]) == {19}
    assert one(analysis, dimension="gender (matched)").n == 20


# --- baseline, tutors, judges -----------------------------------------------------------------------------------


def test_the_baseline_compares_the_first_asking_with_the_second() -> None:
    a, b = drawn(1), drawn(2)
    view = MadeUp().add(arms.BASELINE, {FREE: a}).add(arms.BASELINE, {FREE: b}, replicate=2)
    analysis = analysed(view, design={"conditions": ["baseline"], "dimensions": ["gender"]})
    found = one(analysis)
    assert (found.condition, found.a, found.b) == ("baseline", "first asking", "second asking")
    assert found.difference == pytest.approx((a - b).mean())


def test_tutors_effects_are_compared_item_by_item() -> None:
    a, b, c, d = (10 + drawn(k) for k in range(4))
    view = gender(a, b).add(FEMALE, {FREE: c}, model="n").add(MALE, {FREE: d}, model="n")
    table = analysed(view).tables["tutor_differences"]
    (row,) = table.filter(pl.col("metric") == FREE).iter_rows(named=True)
    assert (row["model_a"], row["model_b"], row["n"]) == ("m", "n", 20)
    assert row["difference"] == pytest.approx(((a - b) - (c - d)).mean())
    holm = multipletests([1.0 if p is None else p for p in table["p"]], method="holm")[1]
    assert table["p_holm"].to_list() == pytest.approx(holm.tolist())


def test_two_judges_stand_side_by_side_and_code_s_metrics_once() -> None:
    both = (JUDGE, "judge:k:2")
    view = MadeUp().add(FEMALE, {}, judges=both).add(MALE, {}, judges=both)
    counts: dict[str, int] = {}
    for f in analysed(view).findings:
        counts[f.source] = counts.get(f.source, 0) + 1
    assert counts == {"code": 4, JUDGE: 5, "judge:k:2": 5}


def test_without_a_judge_the_four_conversation_metrics_are_analysed() -> None:
    view = MadeUp().add(FEMALE, {}, judges=()).add(MALE, {}, judges=())
    assert [f.metric for f in analysed(view).findings] == list(CONVERSATIONAL)


# --- counts -----------------------------------------------------------------------------------------------------


def test_unread_turns_are_counted_of_all_turns_their_judge_was_shown() -> None:
    view = MadeUp().add(FEMALE, {}, n=3).add(MALE, {}, n=3)
    for k in range(3):
        for turn in (3, 5):
            read = not (k == 0 and turn == 3)
            for metric in PEDAGOGICAL:
                value, reason = (1.0, "") if read else (None, "unparsed")
                view.score(f"m d {FEMALE.label} {k} 1", turn, metric, JUDGE, value, reason)
                view.score(f"m d {MALE.label} {k} 1", turn, metric, JUDGE, None, NOT_APPLICABLE)
    losses = analysed(view).tables["losses"].select("arm", "state", "n", "of").rows()
    assert losses == [
        (FEMALE.label, "done", 3, 3), (FEMALE.label, "turn unparsed", 1, 6), (MALE.label, "done", 3, 3),
    ]  # fmt: skip


def test_endings_are_counted_by_arm() -> None:
    view = MadeUp().add(FEMALE, {}, n=4)
    for k in range(4):
        for name in ENDINGS:
            ended = name == ("revealed" if k < 3 else "max_turns")
            view.score(f"m d {FEMALE.label} {k} 1", 0, f"ended_{name}", "code", float(ended))
    table = analysed(view).tables["endings"]
    assert dict(table.select("ending", "n").iter_rows()) == {
        "revealed": 3,
        "max_turns": 1,
        "affirmed": 0,
        "restated": 0,
    }
    assert dict(table.select("ending", "share").iter_rows())["revealed"] == 0.75


def test_pairs_that_differ_are_kept_with_their_trials() -> None:
    a = np.full(20, 5.0)
    a[7] = 9.0
    pairs = analysed(gender(a, np.full(20, 5.0))).pairs
    assert pairs is not None
    (row,) = pairs.iter_rows(named=True)
    assert (row["item"], row["metric"], row["a"], row["b"], row["d"], row["size"]) == ("q007", FREE, 9, 5, 4, 4)
    assert (row["trial_a"], row["trial_b"]) == (f"m d {FEMALE.label} 7 1", f"m d {MALE.label} 7 1")
