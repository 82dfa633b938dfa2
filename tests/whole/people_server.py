"""The scripted people behind an OpenAI-compatible server: by model name. As a program it prints its port."""

from __future__ import annotations

import argparse
import asyncio
from pathlib import Path
from typing import Any

from servers.openai_server import OpenAIServer, serve
from whole import scripted_people as people

ROLES = {
    "biased": people.biased_tutor,
    "even": people.even_tutor,
    "student": people.student,
    "truth": people.judge,
}


def answer(body: dict[str, Any]) -> str:
    """What the model named in a request says."""
    return ROLES[body["model"]](body["messages"])


def audit_toml(url: str, run: Path, *, tutor: str = "biased", extra: str = "", model_extra: str = "") -> str:
    """An audit file for these people at `url`."""
    models = "\n".join(
        f'[models.{name}]\nurl = "{url}"\nmodel = "{name}"\nconcurrency = 8\n{model_extra}' for name in ROLES
    )
    return (
        f'audit = "dialogue"\nrun = "{run}"\nseed = 7\n{models}\n'
        f'[tutor]\nmodel = "{tutor}"\n[student]\nmodel = "student"\n[judge]\nmodel = "truth"\n{extra}'
    )


async def _main(options: argparse.Namespace) -> None:
    server = OpenAIServer(answer, latency=options.latency, log=options.log)
    async with serve(server, options.port) as url:
        print(url, flush=True)
        await asyncio.Event().wait()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--latency", type=float, default=0.0)
    parser.add_argument("--log", type=Path)
    asyncio.run(_main(parser.parse_args()))
