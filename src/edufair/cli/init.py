"""`edufair init`: a commented audit file to start from."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Annotated

import typer

from edufair.errors import ConfigError


def init(
    path: Annotated[Path, typer.Argument(help="The file to write.")] = Path("audit.toml"),
    audit: Annotated[str, typer.Option(help="Which audit.")] = "dialogue",
    force: Annotated[bool, typer.Option("--force", help="Overwrite a file that is there.")] = False,
) -> None:
    """Write a commented audit file. Its models are for you to fill in."""
    templates = {
        entry.name.removesuffix(".toml"): entry for entry in files("edufair.cli").joinpath("templates").iterdir()
    }
    known = sorted(name for name in templates if not name.startswith("demo"))
    if audit not in known:
        raise ConfigError(f"there is no audit {audit!r} to start from; there is: {', '.join(known)}")
    if path.exists() and not force:
        raise ConfigError(f"{path} is there already; name another file, or use --force to overwrite it")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(templates[audit].read_text(encoding="utf-8"), encoding="utf-8")
    typer.echo(f"{path} written. Put your models in, then: edufair plan {path}")
