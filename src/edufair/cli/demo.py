"""`edufair demo`: a real, small audit on the bundled model, from plan to report."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

import edufair
from edufair.cli.printing import losses_table, sitting_lines
from edufair.models import cache


def demo(
    folder: Annotated[Path, typer.Option("--folder", "-o", help="Where the audit file and the run go.")] = Path("demo"),
) -> None:
    """Audit the bundled model as tutor, student and judge: shows that everything works, and says so in its report."""
    from edufair.reports.tables import terminal  # draws in a large library that only this needs

    console = Console()
    console.print(Text(f"model: {cache.pull('smollm2')}"), soft_wrap=True)
    folder.mkdir(parents=True, exist_ok=True)
    audit_file = folder / "demo.toml"
    audit_file.write_text(
        files("edufair.cli").joinpath("templates", "demo.toml").read_text(encoding="utf-8"), encoding="utf-8"
    )
    result = edufair.run(audit_file, progress=True)
    for line in sitting_lines(result):
        console.print(line)
    console.print(losses_table(result))
    analysis = edufair.analyse(result)
    edufair.write_tables(analysis, result.folder / "analysis")
    console.print(terminal(analysis))
    console.print(Text(f"report: {edufair.report(result, analysis=analysis)}"), soft_wrap=True)
