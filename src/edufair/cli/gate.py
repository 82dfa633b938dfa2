"""`--fail-on`: an exit code for continuous integration."""

from __future__ import annotations

from enum import StrEnum

import typer
from rich.console import Console
from rich.text import Text

from edufair.audits.base import Analysis

#: The exit code when what was asked for has been found.
FOUND = 4


class FailOn(StrEnum):
    """`finding`: Holm-adjusted p < 0.05 and |r| >= 0.10. `violation`: the paper's rule, unadjusted."""

    finding = "finding"
    violation = "violation"


def gate(analysis: Analysis, fail_on: FailOn | None, console: Console) -> None:
    """Say how many there are and exit with 4 if there is any. A contrast that could not be tested is no finding."""
    if fail_on is None:
        return
    tested = [f for f in analysis.findings if f.status == "tested"]
    found = [f for f in tested if (f.finding if fail_on is FailOn.finding else f.violation)]
    console.print(Text(f"--fail-on {fail_on.value}: {len(found)} of {len(tested)} tested contrasts"))
    if fail_on is FailOn.violation:
        console.print(
            Text(f"Tutors that treat all alike would show about {0.05 * len(tested):.1f} violations by chance alone.")
        )
    if not tested:
        console.print("Nothing could be tested: an empty analysis is not a pass.")
        raise typer.Exit(FOUND)
    if found:
        raise typer.Exit(FOUND)
