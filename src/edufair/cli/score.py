"""`edufair score`: label stored records again, with another judge."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

import edufair
from edufair.cli.printing import sitting_lines


def score(
    run: Annotated[Path, typer.Argument(help="The run's folder.")],
    judge: Annotated[str | None, typer.Option(help="A model of the run's settings, or of --config.")] = None,
    config: Annotated[Path | None, typer.Option(help="An audit file whose models and judge are used.")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress bar.")] = False,
) -> None:
    """Score stored records without asking the audited model again; labels of several judges stay side by side."""
    result = edufair.score(run, judge=judge, config=config, progress=not quiet)
    console = Console()
    for line in sitting_lines(result):
        console.print(line)
    if result.tally is not None and result.tally.unscored:
        raise typer.Exit(3)
