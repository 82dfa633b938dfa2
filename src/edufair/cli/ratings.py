"""`edufair ratings`: check any table of ratings for effects that the scale itself can make."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from edufair.errors import BankError

app = typer.Typer(help="Check a table of ratings.", no_args_is_help=True)


@app.callback()
def _ratings() -> None:
    """Check a table of ratings."""


@app.command("check")
def check(
    file: Annotated[Path, typer.Argument(help="CSV, TSV, JSONL, JSON or parquet: one row a rating of one reply.")],
    field: Annotated[list[str], typer.Option("--field", help="A column of ratings. May be repeated.")],
    arms: Annotated[str, typer.Option(help="The two arms compared, first minus second.")] = "novice,advanced",
    poles: Annotated[str, typer.Option(help="The two replies compared; empty for a table without poles.")] = "high,low",
    control: Annotated[str | None, typer.Option(help="The arm without a profile, if there is one.")] = None,
    low: Annotated[float, typer.Option(help="The scale's lower end.")] = 1,
    high: Annotated[float, typer.Option(help="The scale's upper end.")] = 5,
    primary: Annotated[
        str | None, typer.Option(help="The field of the primary endpoint; the last if not given.")
    ] = None,
    beside: Annotated[Path | None, typer.Option(help="A second table with one row an item, joined by item.")] = None,
    item: Annotated[str, typer.Option(help="Column: what is rated.")] = "item",
    arm: Annotated[str, typer.Option(help="Column: what the judge was told.")] = "arm",
    pole: Annotated[str, typer.Option(help="Column: which reply.")] = "pole",
    cluster: Annotated[str | None, typer.Option(help="Column: the independent unit of an item.")] = None,
    repetition: Annotated[str | None, typer.Option(help="Column: the repetition.")] = None,
    stratum: Annotated[str | None, typer.Option(help="Column: items analysed apart.")] = None,
    evidence: Annotated[str | None, typer.Option(help="Column: how strong an item's evidence is.")] = None,
    subset: Annotated[
        list[str] | None, typer.Option(help="COLUMN=VALUE: repeat the primary gap on these items. May be repeated.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the intervals.")] = 13,
    json: Annotated[Path | None, typer.Option(help="Also write everything as JSON.")] = None,
    html: Annotated[Path | None, typer.Option(help="Also write a page that stands alone.")] = None,
) -> None:
    """Analyse two-pole ratings as registered, and say for each field whether the scale can have made its gap."""
    from edufair.audits.judge.files import SUBSET, mark_subset, read_ratings
    from edufair.audits.judge.ratings import Columns, check_ratings
    from edufair.reports import ratings as report

    table = read_ratings(file, beside=beside, item=item)
    found = check_ratings(
        mark_subset(table, subset) if subset else table,
        fields=field,
        low=low,
        high=high,
        arms=_two(arms, "--arms"),
        poles=_two(poles, "--poles") if poles else ("", ""),
        control=control,
        primary=primary,
        subset="yes" if subset else "",
        columns=Columns(
            item=item,
            arm=arm,
            cluster=cluster,
            pole=pole if poles else None,
            repetition=repetition,
            stratum=stratum,
            evidence=evidence,
            subset=SUBSET if subset else None,
        ),
        seed=seed,
    )
    console = Console()
    for name in dict.fromkeys(each.stratum for each in found.fields):
        console.print(_drawn(report.table(found, name)))
        for each in found.fields:
            if each.stratum == name:
                console.print(Text(f"{each.field}: {' '.join(report.sentences(each))}\n"))
    if tests := report.tests_table(found):
        console.print(_drawn(tests))
    if json is not None:
        console.print(Text(f"JSON: {report.write(report.to_json(found), json)}"), soft_wrap=True)
    if html is not None:
        console.print(Text(f"page: {report.write(report.render(found, file.name), html)}"), soft_wrap=True)


def _two(names: str, option: str) -> tuple[str, str]:
    parts = [part.strip() for part in names.split(",")]
    if len(parts) != 2 or not all(parts):
        raise BankError(f'{option} is {names!r}; write two names with a comma between them, "novice,advanced"')
    return parts[0], parts[1]


def _drawn(table: object) -> Table:
    """One of the report's tables on the terminal."""
    from edufair.reports.views import Table as Plain

    assert isinstance(table, Plain)
    drawn = Table(title=table.caption, title_justify="left", caption=table.note or None, caption_justify="left")
    for header in table.headers:
        drawn.add_column(header.text, justify="right" if header.numeric else "left")
    for row in table.rows:
        drawn.add_row(*(Text(cell.text + (f"\n{cell.note}" if cell.note else "")) for cell in row))
    return drawn
