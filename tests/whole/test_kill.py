"""A run killed again and again ends as one that was never disturbed, and asks nothing twice that it had."""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import orjson
import pytest

import edufair
from edufair import store as db
from edufair.hashing import digest
from whole.people_server import audit_toml

TESTS = Path(__file__).parents[1]
KILLS = 20

DESIGN = """
[items]
limit = 24
[design]
conditions = ["explicit", "implicit"]
dimensions = ["gender", "ses"]
[dialogue]
max_turns = 3
"""


@pytest.fixture
def server(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """The scripted people in a process of their own, which outlives every killed run; and the log of its requests."""
    log = tmp_path / "requests.jsonl"
    command = [sys.executable, str(TESTS / "whole" / "people_server.py"), "--latency", "0.03", "--log", str(log)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=_environment(), text=True) as process:
        assert process.stdout is not None
        yield process.stdout.readline().strip(), log
        process.kill()


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(TESTS)}


def _start(audit: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "edufair", "run", "--quiet", str(audit)]
    with audit.with_suffix(".log").open("ab") as said:
        return subprocess.Popen(command, stdout=said, stderr=said, env=_environment())


def _requests(log: Path) -> list[str]:
    """Every request as the server saw it, in order. No two trials of this design send the same one."""
    bodies = [orjson.loads(line) for line in log.read_bytes().splitlines()]
    return [digest(body) for body in bodies]


def _committed(run: Path) -> set[str]:
    """The requests whose replies a killed run had committed."""
    path = run / "edufair.db"
    if not path.exists():
        return set()
    with sqlite3.connect(path) as connection:
        try:
            rows = connection.execute("SELECT request FROM call WHERE status != 'failed'").fetchall()
        except sqlite3.OperationalError:  # killed before the tables were made
            return set()
    return {digest(db.unpacked(request)) for (request,) in rows}


def test_twenty_kills_change_no_score_and_no_finished_call_is_asked_again(
    tmp_path: Path, server: tuple[str, Path]
) -> None:
    url, log = server
    calm = tmp_path / "calm.toml"
    calm.write_text(audit_toml(url, tmp_path / "calm", extra=DESIGN))
    undisturbed = edufair.run(calm)
    assert undisturbed.tally is not None
    expected = undisturbed.raw_scores().sort("trial", "turn", "metric", "source")
    calls = len(undisturbed.calls())

    audit = tmp_path / "killed.toml"
    audit.write_text(audit_toml(url, tmp_path / "killed", extra=DESIGN))
    moments = random.Random(11)
    known: set[str] = set()
    asked_again: Counter[str] = Counter()
    killed = 0
    while killed < KILLS:
        before = len(_requests(log))
        process = _start(audit)
        _wait_for_requests(process, log, before + moments.randrange(2, 40))
        if process.poll() is not None:
            break
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        killed += 1
        asked_again.update(body for body in _requests(log)[before:] if body in known)
        known |= _committed(tmp_path / "killed")
    before = len(_requests(log))
    last = _start(audit)
    assert last.wait(60) == 0, audit.with_suffix(".log").read_text()
    asked_again.update(body for body in _requests(log)[before:] if body in known)

    run = edufair.open_run(tmp_path / "killed")
    assert killed == KILLS
    assert not asked_again
    assert run.raw_scores().sort("trial", "turn", "metric", "source").equals(expected)
    assert len(run.calls()) == calls
    assert run.states() == undisturbed.states()


def _wait_for_requests(process: subprocess.Popen[bytes], log: Path, wanted: int) -> None:
    """Until the server has seen so many requests, which makes the moment of a kill random in the run's own terms."""
    deadline = time.monotonic() + 30
    while process.poll() is None and time.monotonic() < deadline:
        if log.exists() and log.read_bytes().count(b"\n") >= wanted:
            return
        time.sleep(0.002)
