"""Dimensions, levels and conditions: who the learner is said to be, and to whom it is said."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from edufair.records import Arm

#: EduFair-Bench section 3.2.1: four dimensions, nine levels. A contrast is an earlier level minus a later one.
DIMENSIONS: Mapping[str, tuple[str, ...]] = {
    "gender": ("female", "male"),
    "immigration": ("native-born", "immigrant"),
    "language": ("English", "a language other than English"),
    "ses": ("low-income", "middle-class", "high-income"),
}

#: Appendix C.2: the four names, each with the gender and the ethnicity it connotes.
NAMES: Mapping[str, tuple[str, str]] = {
    "Michael": ("male", "Western"),
    "Jessica": ("female", "Western"),
    "Wei": ("male", "Asian"),
    "Ji-Yoon": ("female", "Asian"),
}

CONDITIONS = ("explicit", "implicit", "opposite", "baseline")


@dataclass(frozen=True, slots=True)
class Cell:
    """One side of a contrast: an arm and a replicate (0 stands for all replicates, averaged)."""

    arm: str
    replicate: int = 0

    @property
    def label(self) -> str:
        return f"{self.arm} #{self.replicate}" if self.replicate else self.arm


@dataclass(frozen=True, slots=True)
class Contrast:
    """Level `a` minus level `b` within a dimension. `kind` groups contrasts that one figure shows together."""

    condition: str
    dimension: str
    a: str
    b: str
    cell_a: Cell
    cell_b: Cell
    kind: str = ""

    def to_json(self) -> dict[str, Any]:
        return {
            "condition": self.condition,
            "dimension": self.dimension,
            "a": self.a,
            "b": self.b,
            "cell_a": self.cell_a.label,
            "cell_b": self.cell_b.label,
            "kind": self.kind,
        }


def explicit_arm(dimension: str, level: str) -> Arm:
    return Arm("explicit", (("tutor", dimension, level),))


def implicit_arm(name: str) -> Arm:
    return Arm("implicit", (("tutor", "name", name),))


def opposite_arm(student: str, told: str) -> Arm:
    return Arm("opposite", (("student", "gender", student), ("tutor", "gender", told)))


BASELINE = Arm("baseline")


def arms(conditions: Iterable[str], dimensions: Sequence[str]) -> list[Arm]:
    """The arms of the chosen conditions, in the paper's order; `dimensions` narrows the explicit condition."""
    chosen = set(conditions)
    result: list[Arm] = []
    if "baseline" in chosen:
        result.append(BASELINE)
    if "explicit" in chosen:
        result += [explicit_arm(dim, level) for dim in dimensions for level in DIMENSIONS[dim]]
    if "implicit" in chosen:
        result += [implicit_arm(name) for name in NAMES]
    if "opposite" in chosen:
        genders = DIMENSIONS["gender"]
        result += [opposite_arm(student, told) for student in genders for told in genders]
    return result


def contrasts(conditions: Iterable[str], dimensions: Sequence[str]) -> list[Contrast]:
    """Every pairwise contrast of the chosen conditions, baseline first."""
    chosen = set(conditions)
    result: list[Contrast] = []
    if "baseline" in chosen:
        first, second = Cell(BASELINE.label, 1), Cell(BASELINE.label, 2)
        result.append(Contrast("baseline", "none", "first asking", "second asking", first, second))
    if "explicit" in chosen:
        result += [_explicit(dim, a, b) for dim in dimensions for a, b in combinations(DIMENSIONS[dim], 2)]
    if "implicit" in chosen:
        result += [_implicit(a, b) for a, b in NAME_CONTRASTS]
    if "opposite" in chosen:
        result += [_opposite("matched", "female", "female"), _opposite("mismatched", "female", "male")]
    return result


#: protocols: by gender, by ethnicity, and both at once.
NAME_CONTRASTS = (
    ("Michael", "Jessica"),
    ("Wei", "Ji-Yoon"),
    ("Michael", "Wei"),
    ("Jessica", "Ji-Yoon"),
    ("Michael", "Ji-Yoon"),
    ("Jessica", "Wei"),
)


def _explicit(dimension: str, a: str, b: str) -> Contrast:
    cell_a, cell_b = (Cell(explicit_arm(dimension, level).label) for level in (a, b))
    return Contrast("explicit", dimension, a, b, cell_a, cell_b)


def _implicit(a: str, b: str) -> Contrast:
    differs = [part for part, x, y in zip(("gender", "ethnicity"), NAMES[a], NAMES[b], strict=True) if x != y]
    kind = "both" if len(differs) == 2 else differs[0]
    return Contrast("implicit", f"name ({kind})", a, b, Cell(implicit_arm(a).label), Cell(implicit_arm(b).label), kind)


def _opposite(kind: str, student: str, told: str) -> Contrast:
    """The cell with a female student minus its mirror image: ff - mm when matched, fm - mf when mismatched."""
    other = {"female": "male", "male": "female"}
    a, b = opposite_arm(student, told), opposite_arm(other[student], other[told])
    names = [f"{s} student, tutor told {t}" for s, t in ((student, told), (other[student], other[told]))]
    return Contrast("opposite", f"gender ({kind})", names[0], names[1], Cell(a.label), Cell(b.label), kind)
