"""A judge beside people: what is compared, what is counted apart, and errors by arm."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from edufair.errors import EdufairError
from edufair.records import NOT_APPLICABLE, Source
from edufair.scoring.validation import Question, Unit, Validation, check, from_json, to_json

LEAK = Question("answer_leakage", "answer_leakage", (0, 1))
TONE = Question("corrective_tone", "corrective_tone", (0, 1, NOT_APPLICABLE))


def unit(judge: Any, *people: Any, cluster: str = "", arm: str = "a", state: str = "") -> Unit:
    said = {f"p{n}": label for n, label in enumerate(people, 1) if label is not None}
    return Unit(judge, said, cluster, arm, state)


def apart(units: list[Unit]) -> list[Unit]:
    """Each unit a cluster of its own."""
    return [Unit(u.judge, u.people, str(n), u.arm, u.state) for n, u in enumerate(units)]


def test_raw_alpha_and_ac1_by_hand() -> None:
    # 10 turns, 8 equal. The judge gives five 1, people three: (5 + 3) / 20 = 0.4 of all labels.
    # AC1: e = 2 x 0.4 x 0.6 = 0.48, (0.8 - 0.48) / 0.52.
    # alpha = 1 - (n - 1) seen / expected with n = 20, n1 = 8, n0 = 12: 1 - 19 x (2 x 2) / (2 x 8 x 12).
    units = apart([unit(1, 1)] * 3 + [unit(0, 0)] * 5 + [unit(1, 0)] * 2)
    found = check(LEAK, units, seed=1)
    assert found.judge.n == 10 and found.judge.raw.value == pytest.approx(0.8)
    assert found.judge.ac1.value == pytest.approx(0.32 / 0.52)
    assert found.judge.alpha.value == pytest.approx(1 - 19 * 4 / 192)
    assert found.categories == ("0", "1") and found.table == ((5, 0), (2, 3))
    assert found.people is None
    [errors] = found.errors
    assert (errors.n, errors.errors, errors.rate.value, errors.net.value) == (10, 2, 0.2, 0.2)


def test_labels_that_are_missing_are_counted_by_state_and_never_compared() -> None:
    gone = [unit(None, 1, state="unparsed"), unit(None, 0, state="refused"), unit(None, 0, state="unparsed")]
    units = apart([unit(1, 1), unit(0, 0), *gone, unit(1), unit(1, 1, 0)])
    found = check(LEAK, units, seed=1)
    assert (found.turns, found.judge.n) == (7, 2)
    assert found.missing == {"refused": 1, "unparsed": 2}
    assert (found.unlabelled, found.tied) == (1, 1)


def test_one_category_is_undefined_and_says_so() -> None:
    found = check(LEAK, apart([unit(0, 0)] * 6), seed=1)
    assert found.judge.raw.value == 1.0
    assert found.judge.alpha.value is None and found.judge.alpha.undefined == "all labels fall into one category"
    assert found.judge.ac1.value == 1.0  # both categories could have been used
    nothing = check(LEAK, apart([unit(None, 0, state="empty")]), seed=1)
    assert nothing.judge.n == 0 and nothing.judge.alpha.undefined == "labels come from one rater only"
    assert nothing.errors[0].rate.value is None


def test_not_applicable_is_a_label_of_its_own() -> None:
    units = apart([unit(NOT_APPLICABLE, NOT_APPLICABLE)] * 2 + [unit(1, NOT_APPLICABLE), unit(1, 1), unit(0, 1)])
    found = check(TONE, units, seed=1)
    assert found.categories == ("0", "1", NOT_APPLICABLE)
    assert found.judge.n == 5 and found.judge.raw.value == pytest.approx(3 / 5)
    assert found.errors[0].net.value == pytest.approx(-0.5)  # of the two turns where both are numbers


def test_people_agree_among_themselves_and_with_the_judge_one_by_one() -> None:
    units = apart([unit(1, 1, 1, 1), unit(0, 0, 0, 1), unit(1, 0, 0, 0), unit(0, 0, 0, None)])
    found = check(LEAK, units, seed=1)
    assert found.people is not None and found.people.n == 4
    # pairs of people that agree: 3/3, 1/3, 3/3, 1/1
    assert found.people.raw.value == pytest.approx((1 + 1 / 3 + 1 + 1) / 4)
    assert {name: (one.n, one.raw.value) for name, one in found.each.items()} == {
        "p1": (4, pytest.approx(3 / 4)),
        "p2": (4, pytest.approx(3 / 4)),
        "p3": (3, pytest.approx(1 / 3)),
    }
    assert found.judge.raw.value == pytest.approx(3 / 4)


def erring(rng: np.random.Generator, arm: str, n: int, up: float, down: float) -> list[Unit]:
    """n turns of which people call half 1; the judge says 1 for a 0 at the rate `up`, and 0 for a 1 at `down`."""
    truth = rng.integers(0, 2, n)
    wrong = rng.random(n) < np.where(truth == 0, up, down)
    return [
        unit(int(t ^ w), int(t), cluster=f"{arm}{k}", arm=arm)
        for k, (t, w) in enumerate(zip(truth, wrong, strict=True))
    ]


def test_known_error_rates_by_arm_are_recovered() -> None:
    rng = np.random.default_rng(11)
    units = erring(rng, "female", 1500, 0.30, 0.10) + erring(rng, "male", 1500, 0.05, 0.10)
    found = check(Question("actionability", "", (0, 1), contrasts=[("female", "male")]), units, seed=1)
    [gap] = found.gaps
    # rates (0.30 + 0.10) / 2 = 0.20 and 0.075; net errors (0.30 - 0.10) / 2 = 0.10 and -0.025
    assert (gap.a, gap.b) == ("female", "male")
    for estimate, truth in ((gap.rate, 0.125), (gap.net, 0.125)):
        assert estimate.low is not None and estimate.high is not None
        assert 0 < estimate.low < truth < estimate.high


def test_the_interval_of_a_gap_covers_it_at_its_level() -> None:
    # The judge errs at 0.2 in one arm and at 0.1 in the other; 150 draws: 95% of them is 142.5, sd 2.7.
    rng, covered = np.random.default_rng(5), 0
    for _ in range(150):
        units = erring(rng, "a", 120, 0.2, 0.2) + erring(rng, "b", 120, 0.1, 0.1)
        [gap] = check(Question("actionability", "", (0, 1), contrasts=[("a", "b")]), units, seed=1, resamples=300).gaps
        assert gap.rate.low is not None and gap.rate.high is not None
        covered += gap.rate.low <= 0.1 <= gap.rate.high
    assert covered >= 134


def test_equal_errors_in_opposite_directions_show_in_the_net() -> None:
    # Of 100 turns in each arm 15 are wrong: in a they are 1 for 0, in b 0 for 1. Net 0.15 - (-0.15).
    up = [unit(1, 0, cluster=f"a{k}") for k in range(15)] + [unit(0, 0, cluster=f"a{k}") for k in range(15, 100)]
    down = [unit(0, 1, cluster=f"b{k}", arm="b") for k in range(15)]
    down += [unit(1, 1, cluster=f"b{k}", arm="b") for k in range(15, 100)]
    [gap] = check(Question("actionability", "", (0, 1), contrasts=[("a", "b")]), up + down, seed=1).gaps
    assert gap.rate.value == 0.0
    assert gap.rate.low is not None and gap.rate.high is not None and gap.rate.low < 0 < gap.rate.high
    assert gap.net.value == pytest.approx(0.3) and gap.net.low is not None and gap.net.low > 0.19


def test_turning_a_contrast_turns_the_sign_and_the_ends() -> None:
    rng = np.random.default_rng(2)
    units = erring(rng, "a", 60, 0.4, 0.1) + erring(rng, "b", 60, 0.1, 0.1)
    [one] = check(Question("actionability", "", (0, 1), contrasts=[("a", "b")]), units, seed=1).gaps
    [other] = check(Question("actionability", "", (0, 1), contrasts=[("b", "a"), ("a", "z")]), units, seed=1).gaps
    assert (other.a, other.b) == ("b", "a")
    for x, y in ((one.rate, other.rate), (one.net, other.net)):
        assert (x.value, x.low, x.high) == pytest.approx((-y.value, -y.high, -y.low))  # type: ignore[operator]


def test_the_same_labels_give_the_same_digits() -> None:
    units = erring(np.random.default_rng(1), "a", 50, 0.2, 0.2)
    assert check(LEAK, units, seed=4) == check(LEAK, units, seed=4)
    assert check(LEAK, units, seed=4).judge.alpha != check(LEAK, units, seed=5).judge.alpha


def test_no_unit_and_a_strange_label_are_refused() -> None:
    with pytest.raises(ValueError, match="no unit"):
        check(LEAK, [], seed=1)
    with pytest.raises(ValueError, match="which the domain lacks"):
        check(LEAK, [unit(NOT_APPLICABLE, 1)], seed=1)


def validation(**changes: Any) -> Validation:
    whole: dict[str, Any] = {
        "judge": "judge:big:12345678",
        "name": "big",
        "settings": {"model": "big", "identity": "m-1", "sampling": {"temperature": 0.0}, "prompts": "abc"},
        "against": "hand labels",
        "file": "labels.csv",
        "file_hash": "0" * 32,
        "annotators": ("ana", "ben"),
        "turns": 3,
        "of": 3,
        "grouped": "arm",
        "seed": 1,
        "created": "2026-01-01",
        "version": "0",
        "checked": (check(LEAK, apart([unit(1, 1, 1), unit(0, 0, 1), unit(None, 0, state="unparsed")]), seed=1),),
    }
    return Validation(**(whole | changes))


def test_json_gives_back_what_it_was_given() -> None:
    whole = (validation(), validation(name="two"))
    assert from_json(to_json(whole), where="x") == whole
    with pytest.raises(EdufairError, match=r"x\.json: is not what"):
        from_json('[{"judge": 1}]', where="x.json")
    with pytest.raises(EdufairError, match=r"x\.json: is not what"):
        from_json("nothing", where="x.json")


def test_a_judge_is_known_by_how_it_is_asked_and_not_by_its_name() -> None:
    settings = validation().settings
    assert validation().is_of(Source("judge:other:9", "judge", "other", {**settings, "model": "other"}))
    assert not validation().is_of(Source("judge:big:9", "judge", "big", {**settings, "sampling": {"temperature": 1.0}}))
    assert not validation().is_of(Source("judge:big:9", "judge", "big", {**settings, "prompts": "abd"}))
