"""What a bounded rating scale hides: items pinned at a bound, the room left, and what the data cannot tell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from edufair.stats.cluster_test import ClusterTest

GapVerdict = Literal["cannot tell", "one-pole contrast", "no sign that the scale made it"]
Form = Literal["clip", "round", "ordered probit"]

HALF: Final = 0.5


@dataclass(frozen=True)
class Split:
    """An estimate on some items and on the rest.

    Attributes
    ----------
    n_inside, n_outside : int
        Items.
    inside, outside : ClusterTest or None
        The gap there, averaged within cluster again; None where there are no items.
    """

    n_inside: int
    n_outside: int
    inside: ClusterTest | None
    outside: ClusterTest | None


@dataclass(frozen=True)
class Pinned:
    """Items at one bound of the scale at one pole.

    Attributes
    ----------
    pole, bound
    n : int
        Items.
    pinned : int
        Items at the bound in every arm: there the pole cannot show a shift, and the gap is the other pole's shift.
    share : float
        pinned / n.
    at_first, at_first_moved : int
        Items at the bound in the first arm, and how many of these are off it in the second.
    rest, rest_moved : int
        The other items, and how many of these moved away from the bound.
    gap : Split
        The gap on pinned items and on the rest.
    gap_by_control : Split or None
        The gap on items at the bound in the control arm and on the rest, where a control was named.
    """

    pole: object
    bound: float
    n: int
    pinned: int
    share: float
    at_first: int
    at_first_moved: int
    rest: int
    rest_moved: int
    gap: Split
    gap_by_control: Split | None


@dataclass(frozen=True)
class Headroom:
    """How far the estimate could have gone, the first arm's ratings held fixed; means over items.

    Attributes
    ----------
    up, down : float
        Largest possible increase above zero and decrease below, both as positive numbers.
    """

    up: float
    down: float


@dataclass(frozen=True)
class Construction:
    """A gap made without differential preference: one pole's shifts carried over to the other.

    Attributes
    ----------
    form : {"clip", "round", "ordered probit"}
    source, target : object
        The pole whose shifts are carried, and the pole onto which.
    applied : float
        Mean shift carried (rating points; latent points for the ordered probit), over cluster means.
    survived : float
        Mean shift that the target's ratings show after the scale has cut it.
    gap : float
        The gap so made; it would be 0 on a scale without bounds.
    share : float
        gap as a share of the observed gap; NaN where that is 0.
    residual : float
        Observed gap minus this one: what the carried shift predicts wrongly. It is no bound on a latent preference.
    kappa : float
        Attenuation of the target, 1 - survived / applied; NaN where nothing was applied. Outside 0 to 1 where items'
        shifts have both signs and the scale cuts one of them more.
    """

    form: Form
    source: object
    target: object
    applied: float
    survived: float
    gap: float
    share: float
    residual: float
    kappa: float


def gap_verdict(
    gap: ClusterTest,
    shifts: dict[object, ClusterTest],
    pinned: tuple[Pinned, ...],
    made: tuple[Construction, ...],
) -> tuple[GapVerdict, str]:
    """The verdict on a gap, in the registered order, and its reason in words."""
    if gap.p_min > 1 - gap.level + 1e-12:
        return "cannot tell", (
            f"with {gap.n_nonzero} clusters that differ, the test could not have rejected "
            f"(smallest attainable p {gap.p_min:.3g})"
        )
    if not gap.detected and not any(shift.detected for shift in shifts.values()):
        return "cannot tell", (
            "neither the gap nor a shift at either pole was detected: this is what no influence looks like, and also "
            "what an influence that the scale or an instruction hides looks like"
        )
    for pole in shifts:
        stuck = sum(each.pinned for each in pinned if each.pole == pole)
        if stuck >= HALF * gap.n_items:
            return "one-pole contrast", (
                f"{stuck} of {gap.n_items} items stand at a bound at pole {pole} in every arm: there the gap is only "
                "the other pole's shift"
            )
    for each in made:
        if each.form == "clip" and each.share >= HALF:
            return "one-pole contrast", (
                f"carrying the shift of pole {each.source} over to pole {each.target} makes {each.share:.0%} of the "
                "gap without any differential preference"
            )
    return "no sign that the scale made it", (
        "fewer than half of the items are pinned at either pole and a common shift makes less than half of the gap; "
        "this does not identify a preference"
    )
