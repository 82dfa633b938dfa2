"""`edufair run`: carry out an audit, or go on with one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

import edufair
from edufair.cli.printing import losses_table, sitting_lines

INCOMPLETE = 3


def run(
    audit_file: Annotated[Path, typer.Argument(help="The audit file (audit.toml).")],
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress bar.")] = False,
) -> None:
    """Carry out the plan; run it again to go on from where it stopped.

    Exits with 0 when every trial has its outcome, with 3 when some failed in transport (run again to ask those again).
    """
    result = edufair.run(audit_file, progress=not quiet)
    console = Console()
    for line in sitting_lines(result):
        console.print(line)
    console.print(losses_table(result))
    if result.unfinished():
        raise typer.Exit(INCOMPLETE)
