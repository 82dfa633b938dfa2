"""What several commands print."""

from __future__ import annotations

from rich.table import Table
from rich.text import Text

from edufair.engine.runs import Run


def sitting_lines(run: Run) -> list[Text]:
    """What this sitting did, in a few lines."""
    tally = run.tally
    if tally is None:
        return []
    lines = [
        f"{tally.done:,} done, {tally.failed:,} failed, {tally.already:,} were there already",
        f"{tally.calls:,} calls in {tally.seconds:.1f} s ({tally.calls / tally.seconds:.1f}/s), "
        f"{tally.prompt_tokens:,} prompt and {tally.completion_tokens:,} completion tokens",
    ]
    if tally.failed_calls:
        lines.append(f"{tally.failed_calls:,} tries failed in transport")
    if tally.unscored:
        lines.append(f"{tally.unscored:,} records could not be scored: the judge failed in transport; run it again")
    lines.append(f"run: {run.folder}")
    return [Text(line) for line in lines]


def losses_table(run: Run) -> Table:
    """How the trials of each arm ended."""
    table = Table("model", "arm", "state", title="How the trials ended, by arm", title_justify="left")
    table.add_column("n", justify="right")
    table.add_column("of", justify="right")
    for row in run.losses().iter_rows(named=True):
        table.add_row(Text(row["model"]), Text(row["arm"]), Text(row["state"]), f"{row['n']:,}", f"{row['of']:,}")
    return table
