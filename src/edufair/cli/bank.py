"""`edufair bank`: build a bank from a source, and show what is in one."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, cast

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from edufair.design.banks import (
    SOURCES,
    Bank,
    BankSummary,
    Columns,
    Filters,
    build,
    read_bank,
    summarise,
    write_bank,
)

app = typer.Typer(help="Build and look at banks of items.", no_args_is_help=True)

ColumnOption = Annotated[
    list[str] | None,
    typer.Option("--column", help="PART=COLUMN, for example question=Prompt. May be repeated."),
]
DomainOption = Annotated[str | None, typer.Option(help="The domain of items whose file does not say.")]
GradeOption = Annotated[int | None, typer.Option(help="The grade of items whose file does not say.")]


@app.command("build")
def build_command(
    source: Annotated[str, typer.Argument(help=f"One of: {', '.join(SOURCES)}.")],
    path: Annotated[Path | None, typer.Argument(help="Your copy of the source's file.")] = None,
    output: Annotated[Path, typer.Option("--output", "-o", help="The bank to write (JSONL).")] = Path("bank.jsonl"),
    filters: Annotated[str | None, typer.Option(help="paper (the default) or none.")] = None,
    column: ColumnOption = None,
    domain: DomainOption = None,
    grade: GradeOption = None,
    error_types: Annotated[str | None, typer.Option(help="socrateach: codes that mean an error, as 1,2.")] = None,
    correct_types: Annotated[str | None, typer.Option(help="socrateach: codes that mean a correct reply.")] = None,
    confidence: Annotated[float | None, typer.Option(help="sciq: least probability of a domain [0.65].")] = None,
    per_domain: Annotated[int | None, typer.Option(help="sciq: most items of a domain [500].")] = None,
    seed: Annotated[int | None, typer.Option(help="sciq: seed of the draw [1].")] = None,
) -> None:
    """Build a bank from SOURCE and say what each filter removed."""
    bank = build(
        source,
        path,
        filters=cast(Filters | None, filters),
        columns=Columns.parse(column) if column else None,
        domain=domain,
        grade=grade,
        error_types=error_types.split(",") if error_types else None,
        correct_types=correct_types.split(",") if correct_types else None,
        confidence=confidence,
        per_domain=per_domain,
        seed=seed,
    )
    written = write_bank(bank.items, output)
    _print_report(bank, Console())
    typer.echo(f"{written} items written to {output}")


@app.command("show")
def show_command(
    bank: Annotated[str, typer.Argument(help="sample, or the path of a bank.")] = "sample",
    examples: Annotated[int, typer.Option(help="How many items of each domain to print.", min=0)] = 2,
    column: ColumnOption = None,
    domain: DomainOption = None,
    grade: GradeOption = None,
) -> None:
    """Show what a bank holds: counts by domain, grade and kind of answer, and a few items."""
    columns = Columns.parse(column) if column else None
    items = read_bank(bank, base=Path(), columns=columns, domain=domain, grade=grade)
    _print_summary(bank, summarise(items, examples=examples), Console())


def _print_report(bank: Bank, console: Console) -> None:
    if bank.report:
        table = Table("filter", title=f"{bank.name}: what each filter removed", title_justify="left")
        table.add_column("removed", justify="right")
        table.add_column("kept", justify="right")
        for step in bank.report:
            table.add_row(Text(step.name), str(step.removed), str(step.kept))
        console.print(table)
    for note in bank.notes:
        console.print(Text(f"Note: {note}"))


def _print_summary(name: str, summary: BankSummary, console: Console) -> None:
    console.print(Text(f"{name}: {summary.items} items"))
    for heading, counts in (
        ("domain", summary.domains),
        ("grade", summary.grades),
        ("answer", summary.kinds),
    ):
        console.print(_counts(heading, counts))
    for item in summary.examples:  # as Text: what stands in square brackets is no markup
        console.print(Text(f"\n{item.id} ({item.domain}, grade {item.data['grade']})\n{item.text}"), soft_wrap=True)
        console.print(Text(f"Answer: {item.data['answer']}"), soft_wrap=True)


def _counts(heading: str, counts: Mapping[Any, int]) -> Table:
    table = Table(heading)
    table.add_column("items", justify="right")
    for name, count in counts.items():
        table.add_row(Text(str(name)), str(count))
    return table
