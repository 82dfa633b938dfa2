"""`edufair plan`: what an audit will take, and its frozen plan."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

import edufair
from edufair.engine.plan import Planned


def plan(audit_file: Annotated[Path, typer.Argument(help="The audit file (audit.toml).")]) -> None:
    """Expand the design, say what it will take, and freeze it with its hash. Asks no model anything."""
    _print(edufair.plan(audit_file), Console())


def _print(planned: Planned, console: Console) -> None:
    frozen = planned.plan
    arms = sum(times for _, times in frozen.arms)
    console.print(
        Text(f"{frozen.n_trials:,} trials: {len(frozen.items):,} items x {arms} arms x {len(frozen.audited)} models")
    )
    table = Table("role", "model", title="What it will take, at the most", title_justify="left")
    for heading in ("calls", "prompt tokens", "completion tokens", "cost"):
        table.add_column(heading, justify="right")
    for load in planned.loads:
        counts = (f"{load.calls:,.0f}", f"{load.prompt_tokens:,.0f}", f"{load.completion_tokens:,.0f}")
        table.add_row(Text(load.role), Text(load.model), *counts, "-" if load.cost is None else f"{load.cost:,.2f}")
    console.print(table)
    if planned.cost is None:
        console.print("No cost: give price_prompt and price_completion (per million tokens) for every model.")
    for domain, (n, enough) in sorted(planned.reach().items()):
        verdict = "enough to test" if enough else f"too few: a contrast needs {planned.min_pairs}"
        console.print(Text(f"{domain}: up to {n} pairs a contrast, {verdict}"))
    console.print(
        Text(
            f"{len(frozen.contrasts)} contrasts; plan {frozen.hash}, "
            f"{'frozen' if planned.new else 'found again'} in {planned.run}"
        )
    )
