"""`edufair analyse`: the paired analysis of a run, as tables on the screen and in files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

import edufair
from edufair.cli.gate import FailOn, gate


def analyse(
    run: Annotated[Path, typer.Argument(help="The run's folder.")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Where tables go; RUN/analysis if not given.")
    ] = None,
    fail_on: Annotated[FailOn | None, typer.Option(help="Exit with 4 when there is one.")] = None,
) -> None:
    """Test every contrast, print the main table, and write all tables as CSV, parquet and JSON."""
    from edufair.reports.tables import terminal  # draws in a large library that only this needs

    analysis = edufair.analyse(run)
    console = Console()
    console.print(terminal(analysis))
    folder = output or run / "analysis"
    written = edufair.write_tables(analysis, folder)
    console.print(Text(f"{len(written)} files written to {folder}"))
    gate(analysis, fail_on, console)
