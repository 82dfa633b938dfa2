"""`edufair status`: how far a run has come."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

import edufair
from edufair.cli.printing import losses_table


def status(run: Annotated[Path, typer.Argument(help="The run's folder.")]) -> None:
    """Say how many trials are done, failed and waiting; also while a run goes on."""
    found = edufair.open_run(run)
    console = Console()
    for row in found.plan_rows():
        console.print(Text(f"plan {row['position']}: {row['hash']}, frozen by edufair {row['version']}"))
    for state, n in sorted(found.states().items()):
        console.print(Text(f"{state}: {n:,}"))
    for source, n in found.scored_by().items():
        console.print(Text(f"scored by {source}: {n:,} records"))
    console.print(losses_table(found))
