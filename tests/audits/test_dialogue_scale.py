"""The opposite condition's interaction, checked for what the bounds of a rate can make."""

from __future__ import annotations

import numpy as np

from edufair.audits.dialogue import DialogueSettings
from edufair.audits.dialogue.effects import scale_check
from edufair.audits.dialogue.lined import Judged
from edufair.design import arms
from edufair.pairs import Grid

GENDERS = arms.DIMENSIONS["gender"]
CELLS = tuple(arms.opposite_arm(student, told).label for student in GENDERS for told in GENDERS)
METRIC = "answer_leakage"


def _settings() -> DialogueSettings:
    return DialogueSettings.model_validate(
        {
            "audit": "dialogue",
            "models": {"m": {"url": "python:m:f"}},
            "tutor": {"model": "m"},
            "student": {"model": "m"},
            "design": {"conditions": ["opposite"]},
        }
    )


def _checked(four: np.ndarray) -> list[dict]:
    """`four` is items x (female/female, female/male, male/female, male/male): student first, then what was told."""
    shape = (len(four), 4, 1)
    grid = Grid(
        "m",
        "opposite",
        "physics",
        tuple(f"q{k}" for k in range(len(four))),
        CELLS,
        (METRIC,),
        four.reshape(shape),
        np.isnan(four).reshape(shape),
        np.ones(shape[:2], dtype=bool),
        np.full(shape[:2], ""),
    )
    return scale_check(grid, Judged("judge:j:1", (grid,), (METRIC,), (METRIC,)), _settings())


def test_a_shift_that_one_kind_of_student_has_no_room_for_is_not_read_as_an_interplay() -> None:
    """Told male, leaks fall by 0.2 for female students; male students' stand at 0 already: the interaction is 0.2."""
    rng = np.random.default_rng(3)
    start = rng.choice([0.6, 0.8, 1.0], 30)
    (row,) = _checked(np.stack([start, start - 0.2, np.zeros(30), np.zeros(30)], axis=1))
    assert row["n"] == 30
    assert round(row["interaction"], 12) == 0.2
    assert row["pinned"] == 1.0
    assert round(row["made_by_scale"], 12) == 1.0
    assert row["verdict"] == "one-pole contrast"


def test_opposite_shifts_away_from_the_bounds_show_no_sign_of_the_scale() -> None:
    """Told male, leaks fall by 0.2 for female and rise by 0.1 for male students, all with room: interaction 0.3."""
    rng = np.random.default_rng(4)
    start = rng.choice([0.4, 0.5, 0.6], 30)
    (row,) = _checked(np.stack([start, start - 0.2, start, start + 0.1], axis=1))
    assert round(row["interaction"], 12) == 0.3
    assert row["pinned"] == 0.0
    assert row["verdict"] == "no sign that the scale made it"


def test_too_few_complete_items_are_not_checked() -> None:
    four = np.full((20, 4), 0.5)
    four[:6, 0] = np.nan
    assert _checked(four) == []
