"""A host that fails in every way: each trial ends with its reason, counted by arm, and the exit code says so."""

from __future__ import annotations

import asyncio
import json
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import Any

import orjson
import polars as pl
import pytest

import edufair
from edufair import store as db
from edufair.cli import main
from edufair.errors import RunStopped
from edufair.models import endpoint
from edufair.models.limits import Backoff
from servers.openai_server import OpenAIServer, completion, serve
from whole.people_server import answer, audit_toml

DESIGN = """
[items]
limit = 30
[design]
dimensions = ["gender"]
[dialogue]
max_turns = 2
[limits]
stop_after_failures = 1000
"""


@pytest.fixture(autouse=True)
def _short_rests(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rests between tries of milliseconds: what is tested is what comes of the tries."""
    monkeypatch.setattr(endpoint, "Backoff", partial(Backoff, first=0.002, cap=0.01))


#: Quick retries and deadlines, so that a hang costs a fraction of a second.
QUICK = "timeout = 0.4\nretries = 1\n"

#: Every way to fail in transport, with each kind of Retry-After.
TRANSIENT = (
    "429:0", "429:0.01", "429:Wed, 21 Oct 2015 07:28:00 GMT", "429:soon", "500", "503", "hang", "half", "reset",
    "error200", "html", "text", "empty", "stall",
)  # fmt: skip

#: What a host says that is an outcome and not a failure of transport, by the state it must become.
OUTCOMES: dict[str, str] = {
    "null": "empty",
    "empty": "empty",
    "cut": "truncated",
    "filter": "filtered",
    "refusal": "refused",
    "context": "context",
}


def _chance(body: dict[str, Any], purpose: str) -> float:
    raw = blake2b(purpose.encode() + orjson.dumps(body["messages"]), digest_size=8).digest()
    return int.from_bytes(raw, "big") / 2**64


def _probing(body: dict[str, Any]) -> bool:
    """Calls that try a model before the first trial: short, and never about a question of the bank."""
    return "Grade" not in body["messages"][0]["content"] and body["model"] != "truth"


def odd_answer(body: dict[str, Any]) -> str | dict[str, Any]:
    """What the people say, but one tutor reply in four is an outcome of its own kind."""
    if body["model"] != "biased" or _probing(body) or _chance(body, "odd") > 0.25:
        return answer(body)
    kind = list(OUTCOMES)[int(_chance(body, "kind") * len(OUTCOMES))]
    if kind == "refusal":
        return completion(None, body, refusal="I cannot help with that.")
    if kind == "context":
        return completion("", body)  # replaced by `refuse_context`
    text, reason = {
        "null": (None, "stop"),
        "empty": ("", "stop"),
        "cut": ("The first st", "length"),
        "filter": ("", "content_filter"),
    }[kind]
    return completion(text, body, finish_reason=reason)


def refuse_context(body: dict[str, Any]) -> tuple[int, Any] | None:
    if body["model"] == "biased" and not _probing(body) and _chance(body, "odd") <= 0.25:
        kind = list(OUTCOMES)[int(_chance(body, "kind") * len(OUTCOMES))]
        if kind == "context":
            message = "This model's maximum context length is 512 tokens. Please reduce the length of the messages."
            return 400, {
                "error": {"message": message, "type": "invalid_request_error", "code": "context_length_exceeded"}
            }
    return None


class Once:
    """A fault for part of all requests, each only the first time its body comes (or always, when lasting)."""

    def __init__(self, part: float, *, lasting: bool = False) -> None:
        self.part, self.lasting = part, lasting
        self.seen: set[bytes] = set()
        self.used: set[str] = set()

    def __call__(self, _: int, body: dict[str, Any]) -> str | None:
        key = blake2b(orjson.dumps(body)).digest()
        again = key in self.seen
        self.seen.add(key)
        if _probing(body) or (again and not self.lasting) or _chance(body, "fault") >= self.part:
            return None
        kind = TRANSIENT[int(_chance(body, "which") * len(TRANSIENT))]
        self.used.add(kind)
        return kind


async def _run(audit: Path) -> edufair.Run:
    return await asyncio.to_thread(edufair.run, audit)


async def test_faults_that_pass_leave_no_trace_in_the_scores(tmp_path: Path) -> None:
    async with serve(OpenAIServer(answer)) as url:
        calm = tmp_path / "calm.toml"
        calm.write_text(audit_toml(url, tmp_path / "calm", extra=DESIGN))
        expected = (await _run(calm)).raw_scores().sort("trial", "turn", "metric", "source")
    faults = Once(0.3)
    async with serve(OpenAIServer(answer, faults=faults)) as url:
        audit = tmp_path / "faulty.toml"
        audit.write_text(audit_toml(url, tmp_path / "faulty", extra=DESIGN, model_extra=QUICK))
        run = await _run(audit)
        found = run.calls()
    assert faults.used == set(TRANSIENT)
    assert run.raw_scores().sort("trial", "turn", "metric", "source").equals(expected)
    assert found.filter(pl.col("status") == "failed").height >= len(TRANSIENT)
    assert not run.unfinished()


async def test_faults_that_stay_fail_their_trials_alone_and_a_rerun_asks_only_those(tmp_path: Path) -> None:
    faults = Once(0.1, lasting=True)
    server = OpenAIServer(answer, faults=faults)
    async with serve(server) as url:
        audit = tmp_path / "audit.toml"
        audit.write_text(audit_toml(url, tmp_path / "run", extra=DESIGN, model_extra=QUICK))
        run = await _run(audit)
        states = run.states()
        assert states["done"] and states["transport"]
        assert sum(states.values()) == 60
        assert run.unfinished()
        finished = {row["request"] for row in _calls_with_requests(run)}
        before = len(server.bodies)
        faults.part = 0.0
        run = await _run(audit)
        assert run.states() == {"done": 60}
        assert not [body for body in server.bodies[before:] if json.dumps(body, sort_keys=True) in finished]


def _calls_with_requests(run: edufair.Run) -> list[dict[str, Any]]:
    import sqlite3

    with sqlite3.connect(run.folder / "edufair.db") as connection:
        rows = connection.execute("SELECT request FROM call WHERE status != 'failed'").fetchall()
    return [{"request": json.dumps(db.unpacked(request), sort_keys=True)} for (request,) in rows]


async def test_every_outcome_is_a_state_of_its_own_counted_by_arm(tmp_path: Path) -> None:
    server = OpenAIServer(odd_answer, rules=refuse_context)
    async with serve(server) as url:
        audit = tmp_path / "audit.toml"
        audit.write_text(audit_toml(url, tmp_path / "run", extra=DESIGN.replace("limit = 30", ""), model_extra=QUICK))
        run = await _run(audit)
        asked = len(server.bodies)
        await _run(audit)
        assert len(server.bodies) == asked  # outcomes are not asked again
    records = run.records()
    assert set(records.filter(pl.col("status") == "failed")["reason"]) == set(OUTCOMES.values())
    losses = run.losses()
    assert losses["n"].sum() == records.height == 180
    for (arm,), group in losses.group_by("arm"):
        assert group["n"].sum() == records.filter(pl.col("arm") == arm).height
    analysis = edufair.analyse(run)
    for finding in analysis.findings:
        failed = records.filter((pl.col("domain") == finding.domain) & (pl.col("status") == "failed"))
        lost = failed.filter(pl.col("arm").str.ends_with(f"={finding.a}")).height
        if finding.source == "code":
            assert finding.lost_a == lost


async def test_a_key_refused_half_way_stops_the_run_and_a_good_key_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TUTOR_KEY", "sk-secret-and-long-enough")
    refusing = {"from": 150}

    def refuse(ordinal: int, body: dict[str, Any]) -> str | None:
        return "401" if ordinal > refusing["from"] else None

    server = OpenAIServer(answer, faults=refuse)
    async with serve(server) as url:
        audit = tmp_path / "audit.toml"
        extra = QUICK + 'api_key_env = "TUTOR_KEY"\n'
        audit.write_text(audit_toml(url, tmp_path / "run", extra=DESIGN, model_extra=extra))
        with pytest.raises(RunStopped, match="401"):
            await _run(audit)
        kept = edufair.open_run(tmp_path / "run").states()
        assert kept["done"] > 0
        monkeypatch.setattr("sys.argv", ["edufair", "run", "--quiet", str(audit)])
        with pytest.raises(SystemExit) as stopped:
            await asyncio.to_thread(main)
        assert stopped.value.code == 3
        refusing["from"] = 10**9
        run = await _run(audit)
    assert run.states() == {"done": 60}
    said = capsys.readouterr()
    everything = said.out + said.err + "".join(p.read_bytes().decode("latin-1") for p in (tmp_path / "run").iterdir())
    assert "sk-secret" not in everything


async def test_a_dead_host_stops_the_run_after_a_streak(tmp_path: Path) -> None:
    server = OpenAIServer(answer, faults=lambda ordinal, body: "reset" if ordinal > 60 else None)
    async with serve(server) as url:
        audit = tmp_path / "audit.toml"
        few = DESIGN.replace("1000", "5")
        audit.write_text(audit_toml(url, tmp_path / "run", extra=few, model_extra="timeout = 0.4\nretries = 0\n"))
        with pytest.raises(RunStopped, match="in a row failed in transport"):
            await _run(audit)
    states = edufair.open_run(tmp_path / "run").states()
    assert states["done"] and states["transport"] and states["waiting"]
