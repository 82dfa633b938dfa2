"""What a check of ratings found, in words, as a table, as JSON and as a page."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from math import isfinite
from pathlib import Path
from typing import Any

import orjson

from edufair.audits.judge.ratings import FieldCheck, RatingsCheck
from edufair.errors import EdufairError
from edufair.reports import numbers
from edufair.reports.page import environment, style
from edufair.reports.views import Cell, Header, Table
from edufair.stats import ClusterTest, RatingContrast, RatingGap
from edufair.version import VERSION

#: The verdicts in words for a reader without statistics.
MEANING = {
    "cannot tell": "The ratings cannot tell. That is not the same as no effect.",
    "one-pole contrast": (
        "Do not read this gap as a change of preference. One of the two replies had little room at an end of the "
        "scale, so the gap mainly shows how the other one moved."
    ),
    "no sign that the scale made it": (
        "The ends of the scale do not explain this gap. That does not identify a change of preference; it only removes "
        "one other explanation."
    ),
}

GAP_HEADERS = (
    Header("Field"),
    Header("Verdict"),
    Header("Gap, 95% interval", numeric=True),
    Header("p, Holm", numeric=True),
    Header("Shifts by reply", numeric=True),
    Header("Always at a bound", numeric=True),
    Header("Made by the scale", numeric=True),
)

CONTRAST_HEADERS = (
    Header("Field"),
    Header("Difference, 95% interval", numeric=True),
    Header("p", numeric=True),
    Header("p (Holm)", numeric=True),
    Header("Means", numeric=True),
    Header("What the bounds leave"),
)

TEST_HEADERS = (
    Header("Stratum"),
    Header("Test"),
    Header("Field"),
    Header("Estimate, 95% interval", numeric=True),
    Header("n", numeric=True),
    Header("p", numeric=True),
    Header("p (Holm)", numeric=True),
)


def sentences(check: FieldCheck) -> list[str]:
    """What was found for one field, in a few sentences: the estimate, the verdict, its ground, what to beware of."""
    found = check.found
    if found is None:
        return [f"Nothing could be tested: {check.why_not}."]
    if isinstance(found, RatingContrast):
        said = [f"{_estimate('The difference', found.difference)} {_p(found.difference, check.p_holm)}", found.note]
        return [*said, *_disagreement(found.difference)]
    said = [f"{_estimate('The gap', found.gap)} {_p(found.gap, check.p_holm)}", MEANING[found.verdict]]
    said.append(f"Why: {found.reason}.")
    made = strongest(found)
    if made is not None and found.verdict != "cannot tell":
        said.append(
            f"Carrying the shift of the {made.source} reply over to the {made.target} reply and cutting it at the ends "
            f"of the scale makes a gap of {numbers.signed(made.gap)} with no change of preference at all: "
            f"{numbers.percent(made.share)} of the one observed."
        )
    if found.disagreement:
        said.append(f"Beware: {found.disagreement}.")
    if any(check.lost):
        said.append(f"{check.lost[0]} and {check.lost[1]} of {check.n_items} items were lost under the two arms.")
    return said


def _estimate(what: str, test: ClusterTest) -> str:
    interval = numbers.interval(test.low, test.high)
    return (
        f"{what} is {numbers.signed(test.estimate)} points (95% interval {interval}; "
        f"{numbers.plural(test.n, 'cluster')}, {numbers.plural(test.n_items, 'item')})."
    )


def _p(test: ClusterTest, p_holm: float | None) -> str:
    adjusted = "" if p_holm is None else f", {numbers.p_value(p_holm)} after Holm's adjustment"
    smallest = f"; it could not have been below {numbers.p_value(test.p_min)}" if test.p_min > 0.05 else ""
    return f"Exact signed-rank {numbers.p_equals(test.p)}{adjusted}{smallest}."


def _disagreement(test: ClusterTest) -> list[str]:
    return [f"Beware: {test.disagreement}."] if test.disagreement else []


def strongest(found: RatingGap) -> Any:
    """The clipping construction that makes the largest share of the gap, if any could be made."""
    made = [c for c in found.constructions if c.form == "clip" and isfinite(c.share)]
    return max(made, key=lambda c: c.share, default=None)


def table(check: RatingsCheck, stratum: str) -> Table:
    """The fields of one stratum, one row each."""
    rows = [each for each in check.fields if each.stratum == stratum]
    caption = f"Stratum {stratum}" if stratum else "All items"
    if check.poles is None:
        return Table(caption, CONTRAST_HEADERS, tuple(_contrast_row(each) for each in rows))
    a, b = check.arms
    high, low = check.poles
    note = (
        f"Gap: preference for {high} over {low} under {a}, minus the same under {b}. "
        f"Shifts: {b} minus {a}, the reply held fixed."
    )
    return Table(caption, GAP_HEADERS, tuple(_gap_row(each) for each in rows), note)


def _gap_row(check: FieldCheck) -> tuple[Cell, ...]:
    found = check.gap
    if found is None:
        return (Cell(check.field), Cell("not tested", check.why_not), *(Cell(numbers.MISSING) for _ in range(5)))
    made = strongest(found)
    pinned = max(found.pinned, key=lambda each: each.pinned)
    return (
        Cell(check.field),
        Cell(found.verdict),
        Cell(numbers.signed(found.gap.estimate, 3), numbers.interval(found.gap.low, found.gap.high, 3)),
        Cell(numbers.p_value(found.gap.p), f"Holm {numbers.p_value(check.p_holm)}"),
        Cell("; ".join(f"{pole} {numbers.signed(shift.estimate, 3)}" for pole, shift in found.shifts.items())),
        Cell(f"{pinned.pinned} of {pinned.n}", f"{pinned.pole} at {pinned.bound:g}" if pinned.pinned else ""),
        Cell(numbers.MISSING if made is None else numbers.percent(made.share)),
    )


def _contrast_row(check: FieldCheck) -> tuple[Cell, ...]:
    found = check.found
    if not isinstance(found, RatingContrast):
        return (Cell(check.field), *(Cell(numbers.MISSING) for _ in range(4)), Cell("not tested", check.why_not))
    return (
        Cell(check.field),
        Cell(numbers.signed(found.difference.estimate, 3), _interval(found.difference)),
        Cell(numbers.p_value(found.difference.p)),
        Cell(numbers.p_value(check.p_holm)),
        Cell(" and ".join(numbers.number(mean) for mean in found.means)),
        Cell(found.note),
    )


def _interval(test: ClusterTest) -> str:
    return numbers.interval(test.low, test.high, 3)


def tests_table(check: RatingsCheck) -> Table | None:
    """The registered family, every test in it; None where the table has no poles."""
    if not check.tests:
        return None
    rows = tuple(
        (
            Cell("all" if t.stratum is None else str(t.stratum)),
            Cell(t.name),
            Cell(t.field),
            Cell(numbers.signed(t.estimate, 3), numbers.interval(t.low, t.high, 3)),
            Cell(numbers.count(t.n), f"{t.n_nonzero} not zero"),
            Cell(numbers.p_value(t.p), "could not have reached 0.05" if t.p_min > 0.05 else ""),
            Cell(numbers.p_value(t.p_holm)),
        )
        for t in check.tests
    )
    return Table(f"The registered analysis: {len(rows)} tests, adjusted together", TEST_HEADERS, rows)


def to_json(check: RatingsCheck) -> bytes:
    """Everything that was computed; what is undefined is null."""
    return orjson.dumps(_plain(check), option=orjson.OPT_INDENT_2)


def _plain(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return {each.name: _plain(getattr(value, each.name)) for each in fields(value)}
    if isinstance(value, dict):
        return {str(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    if isinstance(value, float):
        return value if isfinite(value) else None
    return value if value is None or isinstance(value, str | int | bool) else value.item()


def render(check: RatingsCheck, title: str) -> str:
    """The check as one HTML page that stands alone."""
    strata = list(dict.fromkeys(each.stratum for each in check.fields))
    return (
        environment()
        .get_template("ratings.html")
        .render(
            title=title,
            css=style(),
            version=VERSION,
            check=check,
            strata=[(stratum, table(check, stratum), _of(check, stratum)) for stratum in strata],
            tests=tests_table(check),
        )
    )


def _of(check: RatingsCheck, stratum: str) -> list[tuple[str, str, list[str]]]:
    """Field, verdict and sentences of one stratum."""
    return [
        (each.field, each.gap.verdict if each.gap else "", sentences(each))
        for each in check.fields
        if each.stratum == stratum
    ]


def write(content: str | bytes, path: Path) -> Path:
    """Write a page or JSON. Raises EdufairError where that cannot be done."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    except OSError as error:
        raise EdufairError(f"{path} cannot be written: {error.strerror}; name a file you may write to") from None
    return path
