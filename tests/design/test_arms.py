"""Who the learner is said to be, and which arms are compared: against the paper's own counts."""

from __future__ import annotations

from itertools import combinations

import pytest

from edufair.design import arms
from edufair.design.arms import BASELINE, CONDITIONS, DIMENSIONS, NAMES, Contrast, contrasts, explicit_arm

ALL = tuple(DIMENSIONS)


def test_the_paper_s_nine_levels_four_names_and_four_cells() -> None:
    found = arms.arms(CONDITIONS, ALL)
    counts = {condition: sum(arm.condition == condition for arm in found) for condition in CONDITIONS}
    assert counts == {"explicit": 9, "implicit": 4, "opposite": 4, "baseline": 1}
    assert len({arm.label for arm in found}) == len(found)


def test_section_4_s_numbers_of_dialogues_come_out() -> None:
    # 907 + 500 + 500 questions: 17,163 explicit dialogues a tutor, 7,628 implicit and 7,628 opposite
    sizes = {c: (907 + 500 + 500) * len(arms.arms([c], ALL)) for c in ("explicit", "implicit", "opposite")}
    assert sizes == {"explicit": 17_163, "implicit": 7_628, "opposite": 7_628}


def test_the_explicit_and_implicit_conditions_tell_the_tutor_alone() -> None:
    for arm in arms.arms(["explicit", "implicit"], ALL):
        assert [role for role, _, _ in arm.levels] == ["tutor"]


def test_the_opposite_condition_crosses_what_the_student_is_with_what_the_tutor_is_told() -> None:
    cells = [(arm.level("student", "gender"), arm.level("tutor", "gender")) for arm in arms.arms(["opposite"], ALL)]
    assert cells == [("female", "female"), ("female", "male"), ("male", "female"), ("male", "male")]


def test_the_baseline_tells_nobody_anything() -> None:
    assert arms.arms(["baseline"], ALL) == [BASELINE] and BASELINE.levels == ()


def test_dimensions_narrow_the_explicit_condition_alone() -> None:
    found = arms.arms(CONDITIONS, ["ses"])
    assert [arm.level("tutor", "ses") for arm in found if arm.condition == "explicit"] == list(DIMENSIONS["ses"])
    assert len(found) == 3 + 4 + 4 + 1


def test_an_arm_comes_back_from_json() -> None:
    for arm in arms.arms(CONDITIONS, ALL):
        assert type(arm).from_json(arm.to_json()) == arm


def test_every_pair_of_levels_of_a_dimension_is_one_contrast() -> None:
    found = [(c.dimension, c.a, c.b) for c in contrasts(["explicit"], ALL)]
    assert found == [(dim, a, b) for dim in ALL for a, b in combinations(DIMENSIONS[dim], 2)]
    assert len(found) == 1 + 1 + 1 + 3


def test_six_contrasts_times_nine_metrics_are_the_54_of_a_domain() -> None:
    assert len(contrasts(["explicit"], ALL)) * 9 == 54


@pytest.mark.parametrize(
    ("kind", "pairs"),
    [
        ("gender", [("Michael", "Jessica"), ("Wei", "Ji-Yoon")]),
        ("ethnicity", [("Michael", "Wei"), ("Jessica", "Ji-Yoon")]),
        ("both", [("Michael", "Ji-Yoon"), ("Jessica", "Wei")]),
    ],
)
def test_names_are_compared_by_what_they_differ_in(kind: str, pairs: list[tuple[str, str]]) -> None:
    found = [c for c in contrasts(["implicit"], ALL) if c.kind == kind]
    assert [(c.a, c.b) for c in found] == pairs
    assert {c.dimension for c in found} == {f"name ({kind})"}
    for c in found:
        differs = [x != y for x, y in zip(NAMES[c.a], NAMES[c.b], strict=True)]
        assert differs == {"gender": [True, False], "ethnicity": [False, True], "both": [True, True]}[kind]


def test_matched_is_ff_minus_mm_and_mismatched_is_fm_minus_mf() -> None:
    """fm: the student is female and the tutor is told male."""
    matched, mismatched = contrasts(["opposite"], ALL)
    cell = {f"{s[0]}{t[0]}": arms.opposite_arm(s, t).label for s in ("female", "male") for t in ("female", "male")}
    assert (matched.kind, matched.cell_a.label, matched.cell_b.label) == ("matched", cell["ff"], cell["mm"])
    assert (mismatched.kind, mismatched.cell_a.label, mismatched.cell_b.label) == ("mismatched", cell["fm"], cell["mf"])
    assert mismatched.a == "female student, tutor told male" and mismatched.b == "male student, tutor told female"


def test_the_baseline_is_compared_with_itself_and_shown_first() -> None:
    first, *_ = contrasts(CONDITIONS, ALL)
    assert (first.cell_a.label, first.cell_b.label) == ("baseline #1", "baseline #2")


def test_every_contrast_compares_arms_of_the_design_and_no_two_are_alike() -> None:
    found = contrasts(CONDITIONS, ALL)
    labels = {arm.label for arm in arms.arms(CONDITIONS, ALL)}
    assert all({c.cell_a.arm, c.cell_b.arm} <= labels for c in found)
    assert len({(c.condition, c.dimension, c.a, c.b) for c in found}) == len(found) == 1 + 6 + 6 + 2


def test_a_contrast_as_json_names_its_cells() -> None:
    cell_a, cell_b = (arms.Cell(explicit_arm("gender", level).label) for level in ("female", "male"))
    assert Contrast("explicit", "gender", "female", "male", cell_a, cell_b).to_json() == {
        "condition": "explicit",
        "dimension": "gender",
        "a": "female",
        "b": "male",
        "cell_a": "explicit tutor.gender=female",
        "cell_b": "explicit tutor.gender=male",
        "kind": "",
    }
