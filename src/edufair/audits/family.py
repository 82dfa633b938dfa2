"""A family of findings adjusted together, and what makes one of them a finding: the same for every audit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from edufair.records import Finding
from edufair.stats import benjamini_hochberg, holm

#: Our finding: Holm-adjusted p below this, and |r| at least the practical size.
ALPHA = 0.05


def adjusted(members: Sequence[Finding], family: str) -> list[Finding]:
    """The members with Holm and Benjamini-Hochberg over the whole family; what could not be tested stays as p = 1.

    A difference that is found with a reservation is no finding.
    """
    p = [f.p for f in members]
    return [
        replace(
            f,
            p_holm=float(by_holm) if f.p is not None else None,
            p_bh=float(by_bh) if f.p is not None else None,
            finding=bool(by_holm < ALPHA and f.practical and not f.reservation) if f.p is not None else None,
            family=family,
            family_size=len(members),
        )
        for f, by_holm, by_bh in zip(members, holm(p), benjamini_hochberg(p), strict=True)
    ]
