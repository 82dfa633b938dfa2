"""`edufair report`: one HTML file that stands alone."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

import edufair
from edufair.cli.gate import FailOn, gate


def report(
    run: Annotated[Path, typer.Argument(help="The run's folder.")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="The file; RUN/report.html if not given.")
    ] = None,
    without_texts: Annotated[bool, typer.Option("--without-texts", help="Leave every transcript out.")] = False,
    validation: Annotated[
        Path | None, typer.Option(help="A folder or file of `edufair judge validate`, of this run's judge.")
    ] = None,
    fail_on: Annotated[FailOn | None, typer.Option(help="Exit with 4 when there is one.")] = None,
) -> None:
    """Analyse a run and write its report: findings in words, figures, every contrast, losses, design, prompts."""
    analysis = edufair.analyse(run)
    path = edufair.report(run, output=output, with_texts=not without_texts, analysis=analysis, validation=validation)
    console = Console()
    console.print(Text(f"report: {path}"), soft_wrap=True)
    gate(analysis, fail_on, console)
