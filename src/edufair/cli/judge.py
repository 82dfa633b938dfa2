"""`edufair judge`: is the judge right? Its labels beside people's, and a blinded sample for people to label."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from edufair.errors import ConfigError
from edufair.reports.numbers import count, plural

if TYPE_CHECKING:
    from edufair.engine.validate import Validated

# The commands import what they call: it draws in large libraries that the other commands do not need.

app = typer.Typer(help="Is the judge right? Its labels beside people's.", no_args_is_help=True)

INCOMPLETE = 3


class Mode(StrEnum):
    """`joint`: all dimensions in one call. `single`: one dimension a call."""

    joint = "joint"
    single = "single"


@app.command("validate")
def validate(
    labels: Annotated[Path, typer.Argument(help="MRBench's JSON file, or with --run a table of hand labels.")],
    run: Annotated[Path | None, typer.Option(help="The run that the hand labels are of.")] = None,
    config: Annotated[Path | None, typer.Option(help="An audit file; its judge labels MRBench's turns.")] = None,
    model: Annotated[str | None, typer.Option(help="Without an audit file: the judge's address.")] = None,
    model_id: Annotated[str | None, typer.Option(help="The judge's model id at that address.")] = None,
    api_key_env: Annotated[str | None, typer.Option(help="The environment variable that holds its key.")] = None,
    mode: Annotated[Mode, typer.Option(help="How --model is asked.")] = Mode.joint,
    folder: Annotated[Path | None, typer.Option(help="Where to keep it; RUN-mrbench if not given.")] = None,
    sample: Annotated[float | None, typer.Option(help="A share of MRBench's turns, as 0.2, by tutor.")] = None,
    limit: Annotated[int | None, typer.Option(help="The most turns of MRBench to ask about.")] = None,
    judge: Annotated[str | None, typer.Option(help="With --run: only this judge.")] = None,
    column: Annotated[
        list[str] | None, typer.Option("--column", help="With --run: PART=COLUMN, as value=Label. May be repeated.")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress bar.")] = False,
) -> None:
    """Compare a judge's labels with people's: agreement, what is missing, and whether it errs more in one arm.

    On MRBench the judge is asked (--config or --model); on hand labels of a run (--run) its stored labels are read.
    Exits with 3 when the judge could not be reached for some turns (run it again to ask about those).
    """
    from edufair.engine.validate import validate_on_run
    from edufair.engine.validate_mrbench import judge_alone, validate_on_mrbench
    from edufair.scoring.hand_labels import LabelColumns

    _one_of({"--run": run, "--config": config, "--model": model})
    if run is not None:
        _only_with("--config or --model", {"--folder": folder, "--sample": sample, "--limit": limit})
        found = validate_on_run(labels, run, columns=LabelColumns.parse(column or []), judge=judge)
    else:
        _only_with("--run", {"--judge": judge, "--column": column})
        source = config or judge_alone(str(model), model=model_id, api_key_env=api_key_env, mode=mode.value)
        found = validate_on_mrbench(labels, source, folder=folder, sample=sample, limit=limit, progress=not quiet)
    _print(found, Console())
    if found.tally is not None and found.tally.unscored:
        raise typer.Exit(INCOMPLETE)


def _one_of(given: dict[str, Any]) -> None:
    named = [name for name, value in given.items() if value is not None]
    if len(named) != 1:
        which = f"not {' and '.join(named)}" if named else "none was given"
        raise ConfigError(f"give one of {', '.join(given)}: {which}")


def _only_with(what: str, given: dict[str, Any]) -> None:
    for name, value in given.items():
        if value:
            raise ConfigError(f"{name} goes with {what} only; leave it out")


def _print(found: Validated, console: Console) -> None:
    from edufair.reports.judge import terminal

    console.print(terminal(found))
    if found.empty:
        console.print(Text(f"{plural(found.empty, 'row')} of the file without a value."))
    if found.tally is not None:
        tally = found.tally
        console.print(
            Text(f"{count(tally.done)} turns labelled now, {count(tally.already)} before, {count(tally.calls)} calls")
        )
        if tally.unscored:
            console.print(Text(f"{plural(tally.unscored, 'turn')} could not be labelled: run the same command again"))
    console.print(Text(f"written: {found.path}"), soft_wrap=True)


@app.command("sample")
def sample_command(
    run: Annotated[Path, typer.Argument(help="The run's folder.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The table to write (CSV).")] = Path("labels.csv"),
    turns: Annotated[int, typer.Option("--turns", "-n", help="How many turns.")] = 180,
    annotator: Annotated[
        list[str] | None, typer.Option(help="Rows for this person. May be repeated: everyone labels the same turns.")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="The run's own if not given.")] = None,
    mask_cues: Annotated[bool, typer.Option("--mask-cues", help="Hide words that name the arm in the texts.")] = False,
) -> None:
    """Draw turns for people to label, stratified by tutor, domain and arm; arm, tutor and judge are not shown.

    Fill in `value` (1, 0, or -1 for not applicable) and hand the file to `edufair judge validate labels.csv --run RUN`.
    """
    from edufair.engine.sample_labels import sample_labels
    from edufair.reports.tables import csv_frame

    if output.exists():
        raise ConfigError(f"{output}: is there already, and may hold labels; name another file or move it away")
    drawn = sample_labels(run, turns=turns, annotators=annotator or (), seed=seed, mask_cues=mask_cues)
    csv_frame(drawn.frame).write_csv(output, include_bom=True)
    console = Console()
    console.print(Text(f"{plural(drawn.turns, 'turn')} from {plural(drawn.strata, 'group')} of tutor, domain and arm"))
    if drawn.with_cues:
        console.print(
            Text(
                f"In {plural(drawn.with_cues, 'turn')} the text itself names what the tutor was told, as the judge saw "
                "it; --mask-cues hides that."
            )
        )
    console.print(Text(f"written: {output}"), soft_wrap=True)
