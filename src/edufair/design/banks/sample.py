"""The sample bank: 90 items written for this project, 30 a domain, grades 8 and 9."""

from __future__ import annotations

from pathlib import Path

from edufair.design.banks.bank import Bank
from edufair.design.banks.table import TableItems

SAMPLE = Path(__file__).parent.parent / "data" / "sample_bank.jsonl"


def build_sample() -> Bank:
    """The sample bank that ships with the package."""
    return Bank("sample", tuple(TableItems(SAMPLE)))
