"""The command line: one file a command. Each reads the arguments, calls one public function and prints."""

from __future__ import annotations

import sys

import typer

from edufair import __version__
from edufair.cli import analyse, bank, demo, init, judge, model, plan, ratings, report, run, score, status
from edufair.errors import EdufairError

INTERRUPTED = 130

app = typer.Typer(
    help="Audit AI teachers for unequal treatment.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)

app.command("init")(init.init)
app.command("plan")(plan.plan)
app.command("run")(run.run)
app.command("status")(status.status)
app.command("score")(score.score)
app.command("analyse")(analyse.analyse)
app.command("report")(report.report)
app.command("demo")(demo.demo)
app.add_typer(bank.app, name="bank")
app.add_typer(judge.app, name="judge")
app.add_typer(model.app, name="model")
app.add_typer(ratings.app, name="ratings")


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"edufair {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help="Print the version."),
) -> None:
    """Audit AI teachers for unequal treatment."""


def main() -> None:
    """Run the command line. An error meant for the user is one clean message, never a traceback."""
    try:
        app()
    except EdufairError as error:
        print(f"edufair: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
    except (KeyboardInterrupt, SystemExit) as stop:  # typer turns Ctrl-C into an exit with this code
        if isinstance(stop, SystemExit) and stop.code != INTERRUPTED:
            raise
        print("edufair: stopped. What is done is kept; run the same command again to go on.", file=sys.stderr)
        sys.exit(INTERRUPTED)
