"""A table of ratings, wherever it comes from: the registered analysis and the check of the scale, field by field.

One row is one rating of one reply: item, cluster, arm, pole, repetition, and a column for each field. The statistics
are `edufair.stats.rating_gap` and `registered_tests`; here a table becomes their arguments, and what cannot be tested
says so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from edufair.design.banks.stimuli import EVIDENCE
from edufair.errors import BankError
from edufair.stats import RatingContrast, RatingGap, holm, rating_contrast, rating_gap, unequal_loss
from edufair.stats.registered import RegisteredTest, registered_tests

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns of a table of ratings; None where it has none.

    Without `cluster` every item is its own. Without `pole` the two arms are contrasted and there is no gap. `stratum`
    splits the table, `evidence` grades its items (0, 1, 2 or ambiguous, moderate, strong), `subset` names some of them.
    """

    item: str = "item"
    arm: str = "arm"
    cluster: str | None = "cluster"
    pole: str | None = "pole"
    repetition: str | None = "repetition"
    stratum: str | None = None
    evidence: str | None = None
    subset: str | None = None


@dataclass(frozen=True)
class FieldCheck:
    """One field in one stratum ("" for all).

    `found` is the gap with its check (or the contrast, without poles), None with `why_not` where nothing could be
    tested. Of `n_items` items, `lost` could not be used under the first and the second arm, because every rating of a
    reply is missing; `loss_p` says whether that is unequal. `p_holm` is adjusted over the family.
    """

    stratum: str
    field: str
    found: RatingGap | RatingContrast | None
    why_not: str
    n_items: int
    lost: tuple[int, int]
    loss_p: float | None
    p_holm: float | None

    @property
    def gap(self) -> RatingGap | None:
        return self.found if isinstance(self.found, RatingGap) else None


@dataclass(frozen=True)
class RatingsCheck:
    """Every field in every stratum, and the registered tests adjusted together (none without poles)."""

    arms: tuple[str, str]
    poles: tuple[str, str] | None
    control: str | None
    primary: str
    low: float
    high: float
    fields: tuple[FieldCheck, ...]
    tests: tuple[RegisteredTest, ...]

    def of(self, stratum: str, field: str) -> FieldCheck:
        return next(each for each in self.fields if (each.stratum, each.field) == (stratum, field))


def check_ratings(
    frame: pl.DataFrame,
    *,
    fields: Sequence[str],
    low: float,
    high: float,
    arms: tuple[str, str],
    primary: str | None = None,
    poles: tuple[str, str] = ("high", "low"),
    control: str | None = None,
    subset: str = "",
    columns: Columns = Columns(),
    resamples: int = 10_000,
    seed: int = 13,
) -> RatingsCheck:
    """The registered analysis of a table of ratings, and for each field whether the scale could have made its gap.

    `fields` are the columns that hold ratings from `low` to `high`; `primary` (the last one by default) has the primary
    endpoint. `arms` are compared, the first minus the second; `control` is an arm without a profile. An empty rating is
    missing. `subset` is the value of the subset column on which the primary gap is estimated again.

    Raises BankError, naming the column or the row, for a table that cannot be read so.
    """
    rated = _read(frame, fields, columns, low, high)
    poles_here = poles if columns.pole else None
    primary = primary or fields[-1]
    if primary not in fields:
        raise BankError(f"the primary field {primary!r} is not among the fields {', '.join(fields)}")
    _names_occur(rated, arms, poles_here, control)
    options: dict[str, Any] = {"low": low, "high": high, "arms": arms, "resamples": resamples, "seed": seed}
    tests: tuple[RegisteredTest, ...] = ()
    if poles_here:
        tests = _registered(rated, fields, primary, poles_here, control, subset, options)
    adjusted = {(_said(t.stratum), t.field): t.p_holm for t in tests if t.name == "gap"}
    checks = [
        _check(rated, stratum, field, poles_here, control, options, adjusted)
        for stratum in sorted(rated["stratum"].unique().to_list())
        for field in fields
    ]
    checks = checks if poles_here else _adjusted(checks)
    return RatingsCheck(arms, poles_here, control, primary, low, high, tuple(checks), tests)


def _check(
    rated: pl.DataFrame,
    stratum: str,
    field: str,
    poles: tuple[str, str] | None,
    control: str | None,
    options: Mapping[str, Any],
    adjusted: Mapping[tuple[str, str], float],
) -> FieldCheck:
    import polars as pl

    rows = rated.filter(pl.col("stratum") == stratum)
    columns = _arguments(rows)
    found: RatingGap | RatingContrast | None = None
    why_not = ""
    try:
        if poles:
            found = rating_gap(rows[field].to_numpy(), **columns, poles=poles, control=control, **options)
        else:
            columns.pop("pole")
            found = rating_contrast(rows[field].to_numpy(), **columns, **options)
    except ValueError as error:
        why_not = str(error)
    lost = _lost(rows, field, options["arms"])
    return FieldCheck(
        stratum=stratum,
        field=field,
        found=found,
        why_not=why_not,
        n_items=len(lost),
        lost=(int(lost[:, 0].sum()), int(lost[:, 1].sum())),
        loss_p=unequal_loss(lost).p if len(lost) else None,
        p_holm=adjusted.get((stratum, field)),
    )


def _registered(
    rated: pl.DataFrame,
    fields: Sequence[str],
    primary: str,
    poles: tuple[str, str],
    control: str | None,
    subset: str,
    options: Mapping[str, Any],
) -> tuple[RegisteredTest, ...]:
    """The family of tests; none where not one item is complete."""
    strata = rated["stratum"].to_list()
    evidence = rated["evidence"]
    try:
        found = registered_tests(
            {field: rated[field].to_numpy() for field in fields},
            **_arguments(rated),
            primary=primary,
            poles=poles,
            control=control,
            stratum=strata if set(strata) != {""} else None,
            subset=(rated["subset"] == subset).to_numpy() if subset else None,
            evidence=None if evidence.null_count() else evidence.to_numpy(),
            **options,
        )
    except ValueError as error:
        if "nothing to compare" in str(error):
            return ()
        raise BankError(f"the table of ratings cannot be analysed: {error}") from None
    return found.tests


def _arguments(rows: pl.DataFrame) -> dict[str, Any]:
    return {name: rows[name].to_list() for name in ("item", "cluster", "arm", "pole", "repetition")}


def _lost(rows: pl.DataFrame, field: str, arms: tuple[str, str]) -> Any:
    """Whether an item lacks every rating of a reply, under each arm: items x 2. Only replies with a row count."""
    import polars as pl

    cells = rows.group_by("item", "arm", "pole").agg(empty=pl.col(field).is_nan().all())
    by_arm = cells.group_by("item", "arm").agg(pl.col("empty").any())
    known = {(item, arm): empty for item, arm, empty in by_arm.iter_rows()}
    items = sorted({item for item, arm in known if arm in arms})
    return np.array([[known.get((item, arm), False) for arm in arms] for item in items], dtype=bool).reshape(-1, 2)


def _adjusted(checks: Sequence[FieldCheck]) -> list[FieldCheck]:
    """Single contrasts: Holm over all fields and strata."""
    p = [each.found.difference.p if isinstance(each.found, RatingContrast) else None for each in checks]
    return [
        replace(each, p_holm=float(by_holm) if given is not None else None)
        for each, given, by_holm in zip(checks, p, holm(p), strict=True)
    ]


def _said(stratum: object) -> str:
    return "" if stratum is None else str(stratum)


# --- reading a table ------------------------------------------------------------------------------------------------


def _read(frame: pl.DataFrame, fields: Sequence[str], columns: Columns, low: float, high: float) -> pl.DataFrame:
    """The table under our own names: texts as texts, ratings as numbers with NaN for none."""
    import polars as pl

    named = {name: getattr(columns, name) for name in Columns.__slots__}
    wanted = [*(column for column in named.values() if column), *fields]
    if lacking := [column for column in wanted if column not in frame.columns]:
        raise BankError(
            f"the table of ratings has no column {', '.join(map(repr, lacking))}; it has "
            f"{', '.join(map(repr, frame.columns))}. Name the columns, or leave out what the table lacks"
        )
    named["cluster"] = named["cluster"] or columns.item
    texts = {name: _texts(frame, name, named[name]) for name in ("item", "cluster", "arm", "pole", "stratum")}
    texts["subset"] = [text.strip() for text in _strings(frame, columns.subset)]
    repetition = _strings(frame, columns.repetition) if columns.repetition else _counted(texts)
    return pl.DataFrame(
        {
            **texts,
            "repetition": repetition,
            "evidence": pl.Series(_evidence(frame, columns.evidence), dtype=pl.Float64),
            **{field: _ratings(frame, field, low, high) for field in fields},
        }
    )


def _strings(frame: pl.DataFrame, column: str | None) -> list[str]:
    if column is None:
        return [""] * frame.height
    return ["" if value is None else str(value) for value in frame[column]]


def _texts(frame: pl.DataFrame, name: str, column: str | None) -> list[str]:
    """A column that must be filled wherever the table has it."""
    texts = _strings(frame, column)
    if column is not None and (empty := [row for row, text in enumerate(texts, start=1) if not text.strip()]):
        raise BankError(
            f"ratings, row {empty[0]}: the column {column!r} ({name}) is empty; fill it in or delete the row"
        )
    return texts


def _counted(texts: Mapping[str, Sequence[str]]) -> list[str]:
    """Repetitions by their order, where the table does not number them."""
    seen: dict[tuple[str, ...], int] = {}
    numbers = []
    for key in zip(texts["item"], texts["arm"], texts["pole"], strict=True):
        seen[key] = seen.get(key, 0) + 1
        numbers.append(str(seen[key]))
    return numbers


def _ratings(frame: pl.DataFrame, field: str, low: float, high: float) -> list[float]:
    return [_rating(value, field, row, low, high) for row, value in enumerate(frame[field], start=1)]


def _rating(value: Any, field: str, row: int, low: float, high: float) -> float:
    if value is None or (isinstance(value, str) and not value.strip()):
        return float("nan")
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise BankError(f"ratings, row {row}: {field} is {value!r}; a number is wanted, or nothing") from None
    if np.isnan(number):
        return number
    if not low <= number <= high:
        raise BankError(
            f"ratings, row {row}: {field} is {value}, outside the scale from {low:g} to {high:g}; "
            "give the scale's own ends"
        )
    return number


def _evidence(frame: pl.DataFrame, column: str | None) -> list[float | None]:
    """Strength as a number; a column that is empty throughout is none."""
    given = _strings(frame, column)
    if not any(given):
        return [None] * frame.height
    return [_strength(value, column, row) for row, value in enumerate(given, start=1)]


def _strength(value: str, column: str | None, row: int) -> float:
    if (known := EVIDENCE.get(value.strip().lower())) is not None:
        return float(known)
    try:
        return float(value)
    except ValueError:
        words = ", ".join(EVIDENCE)
        raise BankError(f"ratings, row {row}: {column} is {value!r}; a number is wanted, or one of {words}") from None


def _names_occur(
    rated: pl.DataFrame, arms: tuple[str, str], poles: tuple[str, str] | None, control: str | None
) -> None:
    wanted = {"arm": [*arms, *([control] if control else [])], "pole": list(poles or ())}
    for column, names in wanted.items():
        there = sorted(rated[column].unique().to_list())
        if lacking := [name for name in names if name not in there]:
            absent, known = ", ".join(map(repr, lacking)), ", ".join(there) or "none"
            raise BankError(f"no rating has the {column} {absent}; the table has: {known}")
