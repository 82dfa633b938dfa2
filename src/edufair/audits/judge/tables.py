"""What a check of ratings says, as tables: one row for each field, stratum and whatever the table goes through."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from edufair.audits.judge.ratings import FieldCheck, RatingsCheck
from edufair.stats import ClusterTest, RatingGap

if TYPE_CHECKING:
    import polars as pl

Row = dict[str, Any]


def tables(check: RatingsCheck, **whose: str) -> dict[str, list[Row]]:
    """Every table of a check of gaps, by name, as rows; `whose` stands first in each (such as model="a")."""
    return {
        name: [
            {**whose, "domain": each.stratum, "metric": each.field, **row}
            for each in check.fields
            if isinstance(each.found, RatingGap)
            for row in rows(each, each.found)
        ]
        for name, rows in TABLES.items()
    }


def frames(rows: Mapping[str, Iterable[Row]]) -> dict[str, pl.DataFrame]:
    """The tables that have a row, as frames."""
    import polars as pl

    made = {name: list(each) for name, each in rows.items()}
    return {name: pl.DataFrame(each, infer_schema_length=None) for name, each in made.items() if each}


def _scale_check(each: FieldCheck, found: RatingGap) -> Iterator[Row]:
    """The gap and what the scale has to do with it, in words."""
    yield {
        **_tested(found.gap),
        "p_holm": each.p_holm,
        "verdict": found.verdict,
        "reason": found.reason,
        "disagreement": found.disagreement or "",
        "left_out": found.form_left_out or "",
        "items_incomplete": found.n_incomplete,
        "ratings_missing": found.n_missing,
    }


def _preference(each: FieldCheck, found: RatingGap) -> Iterator[Row]:
    """First pole minus second pole, under every arm."""
    for arm, test in found.preference.items():
        yield {"arm": arm, **_tested(test)}


def _pole_shifts(each: FieldCheck, found: RatingGap) -> Iterator[Row]:
    """Second arm minus first arm, at each pole: gap = shift of the second pole - shift of the first."""
    for pole, test in found.shifts.items():
        yield {"pole": pole, "contrast": f"{found.arms[1]} - {found.arms[0]}", **_tested(test)}


def _pinned(each: FieldCheck, found: RatingGap) -> Iterator[Row]:
    """Items at a bound in every arm; the gap on them and on the rest; those at the bound without a profile."""
    for one in found.pinned:
        by_control = one.gap_by_control
        yield {
            "pole": one.pole,
            "bound": one.bound,
            "n": one.n,
            "pinned": one.pinned,
            "share": one.share,
            "gap_pinned": _estimate(one.gap.inside),
            "gap_rest": _estimate(one.gap.outside),
            "at_bound_in_first_arm": one.at_first,
            "of_these_moved": one.at_first_moved,
            "others_in_first_arm": one.rest,
            "others_moved_away": one.rest_moved,
            "at_bound_in_control": by_control.n_inside if by_control else None,
            "gap_at_bound_in_control": _estimate(by_control.inside) if by_control else None,
            "gap_rest_in_control": _estimate(by_control.outside) if by_control else None,
        }


def _constructions(each: FieldCheck, found: RatingGap) -> Iterator[Row]:
    """Gaps made without differential preference: one pole's shifts carried over to the other."""
    for made in found.constructions:
        yield {
            "form": made.form,
            "carried_from": made.source,
            "carried_to": made.target,
            "shift_applied": made.applied,
            "shift_that_survived": made.survived,
            "gap_made": made.gap,
            "gap_observed": found.gap.estimate,
            "share_made": _number(made.share),
            "residual": made.residual,
            "kappa": _number(made.kappa),
        }


def _attenuation(each: FieldCheck, found: RatingGap) -> Iterator[Row]:
    """Kappa by pole: the share of a common shift that the scale cuts there."""
    for pole, kappa in found.kappa.items():
        yield {"pole": pole, "kappa": _number(kappa), "pinned": sum(p.pinned for p in found.pinned if p.pole == pole)}


def _headroom(each: FieldCheck, found: RatingGap) -> Iterator[Row]:
    """How far the gap could have gone either way, the first arm held fixed."""
    yield {"lowest_gap": -found.headroom.down, "gap_observed": found.gap.estimate, "highest_gap": found.headroom.up}


TABLES: Mapping[str, Callable[[FieldCheck, RatingGap], Iterator[Row]]] = {
    "scale_check": _scale_check,
    "preference": _preference,
    "pole_shifts": _pole_shifts,
    "pinned": _pinned,
    "constructions": _constructions,
    "attenuation": _attenuation,
    "headroom": _headroom,
}


def _tested(test: ClusterTest) -> Row:
    """An estimate never travels without its interval and n."""
    return {
        "estimate": test.estimate,
        "low": _number(test.low),
        "high": _number(test.high),
        "p": test.p,
        "p_min": test.p_min,
        "r": _number(test.r),
        "clusters": test.n,
        "clusters_that_differ": test.n_nonzero,
        "items": test.n_items,
    }


def _estimate(test: ClusterTest | None) -> float | None:
    return None if test is None else test.estimate


def _number(x: float) -> float | None:
    """NaN is missing."""
    return None if x != x else x
