"""What a finished record of the judge audit holds, as scores: the judge is what is measured, so code reads them."""

from __future__ import annotations

from collections.abc import Iterator

from edufair.audits.judge.settings import POLE_CHECK
from edufair.records import Record, Score

CODE = "code"

#: Of the pole check: whether the intended pole was named, and whether the reply shown first was.
RECOVERED, CHOSE_FIRST = "pole_recovered", "chose_first"


def scores(record: Record) -> Iterator[Score]:
    """One score for each field of a rating; two for a pole check."""
    if record.trial.arm.condition == POLE_CHECK:
        found = {RECOVERED: record.data["recovered"], CHOSE_FIRST: record.data["chosen"] == 1}
    else:
        found = record.data["ratings"]
    for metric, value in found.items():
        yield Score(record.trial.id, 0, metric, CODE, float(value))
