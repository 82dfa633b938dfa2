"""Units of measure: which spellings name the same one (data/units.txt)."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import resources


def _read() -> Mapping[str, tuple[str, ...]]:
    """Every spelling with all spellings of its unit, longest first."""
    lines = (resources.files("edufair.text") / "data" / "units.txt").read_text("utf-8").splitlines()
    units: dict[str, tuple[str, ...]] = {}
    for line in lines:
        spellings = tuple(s.strip() for s in line.split("#")[0].split(",") if s.strip())
        for spelling in spellings:
            units[spelling] = tuple(sorted(spellings, key=len, reverse=True))
    return units


SPELLINGS = _read()

# What may follow a number without a space: "5kg" is five, "5x" and "5th" are not.
ATTACHED = frozenset(spelling for spelling in SPELLINGS if spelling.isalpha())
