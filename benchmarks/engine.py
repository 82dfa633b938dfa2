"""Whole-program speed and memory of `edufair run` over HTTP, beside the least a client can do and two peers.

    python -m benchmarks.engine            100 questions x 9 levels x 10 turns; a million trials; 20,000 dialogues
    python -m benchmarks.engine --short    10 questions; 100,000 trials; 2,000 dialogues

A fast local host in a process of its own answers. Every program is a child of this one and holds the same dialogues:
student and tutor in turn, then a judge call for every tutor turn. CPU is user and system time of the child alone,
its start included (and, in a column of its own, taken off: what the same program takes for one dialogue).
The openai package and Inspect AI are installed in environments of their own under benchmarks/.peers/.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.request import urlopen

HERE = Path(__file__).parent
PEERS = HERE / ".peers"
LEVELS, TURNS, IN_FLIGHT = 9, 10, 32

#: The aims: CPU a call at most so many times the bare loop's, at most this part of Inspect's, and megabytes at peak.
TIMES_BARE, PART_OF_INSPECT, MEGABYTES = 5.0, 0.1, 300

RESUMED = "edufair run, killed half-way and resumed"

AUDIT = """
audit = "dialogue"
run = "{run}"
[models]
tutor = {{ url = "{url}", model = "tutor", concurrency = 16 }}
student = {{ url = "{url}", model = "student", concurrency = 16 }}
judge = {{ url = "{url}", model = "judge", concurrency = 16 }}
[tutor]
model = "tutor"
[student]
model = "student"
[judge]
model = "judge"
[items]
bank = "{bank}"
[dialogue]
max_turns = {turns}
"""


@dataclass(frozen=True)
class Used:
    """What a program took, and what it asked of the host."""

    seconds: float
    cpu: float
    megabytes: float
    calls: int
    sent: int

    @property
    def a_call(self) -> float:
        """CPU milliseconds."""
        return 1000 * self.cpu / max(self.calls, 1)

    def __add__(self, other: Used) -> Used:
        return Used(
            self.seconds + other.seconds,
            self.cpu + other.cpu,
            max(self.megabytes, other.megabytes),
            self.calls + other.calls,
            self.sent + other.sent,
        )

    def beyond(self, start: Used) -> float:
        """CPU milliseconds a call without what the program takes to start."""
        return 1000 * (self.cpu - start.cpu) / max(self.calls - start.calls, 1)


class Host:
    """The fast host, in a process of its own."""

    def __init__(self, url: str) -> None:
        self.url = url

    def counts(self) -> tuple[int, int]:
        """Requests and bytes of body so far."""
        with urlopen(f"{self.url}/counts") as answer:
            told = json.load(answer)
        return told["requests"], told["bytes"]

    def measure(self, command: Sequence[str], *, kill_after: int | None = None) -> Used:
        """Run a program to its end, or kill it when the host has had so many requests from it."""
        requests, sent = self.counts()
        begun = time.monotonic()
        with tempfile.TemporaryFile() as said:
            child = subprocess.Popen(command, stdout=said, stderr=said)
            while kill_after is not None and child.poll() is None and self.counts()[0] < requests + kill_after:
                time.sleep(0.01)
            if kill_after is not None and child.returncode is None:
                child.send_signal(signal.SIGKILL)
            _, status, usage = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
            if child.returncode and kill_after is None:
                said.seek(0)
                raise SystemExit(f"{' '.join(command)} failed:\n{said.read().decode()[-3000:]}")
        seconds = time.monotonic() - begun
        now, sent_now = self.counts()
        cpu = usage.ru_utime + usage.ru_stime
        return Used(seconds, cpu, usage.ru_maxrss / 1024, now - requests, sent_now - sent)


@contextmanager
def fast_host() -> Iterator[Host]:
    command = [sys.executable, str(HERE / "fast_server.py")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield Host(process.stdout.readline().strip())
        process.kill()


class Audit:
    """An audit file of so many questions in a folder of its own."""

    def __init__(self, folder: Path, name: str, host: Host, questions: int, turns: int = TURNS) -> None:
        self.file = folder / f"{name}.toml"
        self.run = folder / name
        self.dialogues = questions * LEVELS
        self.database = self.run / "edufair.db"
        bank = folder / f"{name}.jsonl"
        with bank.open("w") as lines:
            for number in range(questions):
                lines.write(json.dumps(question(number)) + "\n")
        self.file.write_text(AUDIT.format(run=self.run, url=host.url, bank=bank, turns=turns))

    def command(self, verb: str) -> list[str]:
        quiet = ["--quiet"] if verb == "run" else []
        return [sys.executable, "-m", "edufair", verb, *quiet, str(self.file)]

    def script(self) -> Path:
        """What the peers read."""
        path = self.file.with_suffix(".talk.json")
        subprocess.run([sys.executable, str(HERE / "peers" / "script.py"), str(self.file), str(path)], check=True)
        return path


def question(number: int) -> dict[str, object]:
    """A question whose answer the host's canned tutor never says."""
    text = (
        f"Question {number}: a box holds marbles of many colours and is shaken until only one marble is left in it. "
        "Which colour, that nobody has named so far, must that last marble have?"
    )
    domain = ("physics", "chemistry", "biology")[number % 3]
    return {"id": f"q{number}", "question": text, "answer": f"vermilion{number}", "domain": domain, "grade": 7}


def peer_python(name: str, *packages: str) -> str | None:
    """The interpreter of a peer's own environment, made if need be; None, said aloud, where it cannot be."""
    folder = PEERS / name
    python = folder / "bin" / "python"
    ready = folder / "ready"
    if not ready.exists():
        print(f"installing {' and '.join(packages)} under {folder} ...", file=sys.stderr, flush=True)
        venv.create(folder, with_pip=True, clear=True)
        done = subprocess.run([python, "-m", "pip", "install", "--quiet", *packages], capture_output=True, text=True)
        if done.returncode:
            print(f"skipped {name}: cannot be installed: {done.stderr.strip()[-300:]}", flush=True)
            return None
        ready.touch()
    return str(python)


def peers() -> dict[str, list[str]]:
    """The commands of the peers that are here, without their arguments."""
    found = {"aiohttp + orjson, bare": [sys.executable, str(HERE / "peers" / "bare.py")]}
    if python := peer_python("openai", "openai"):
        found["openai package"] = [python, str(HERE / "peers" / "sdk.py")]
    if python := peer_python("inspect", "inspect-ai", "openai"):
        found["Inspect AI"] = [python, str(HERE / "peers" / "inspected.py")]
    return found


def speed(host: Host, folder: Path, questions: int) -> dict[str, tuple[Used, Used]]:
    """For each program what it took for all dialogues, and for one question's alone."""
    whole, little = (Audit(folder, f"speed{n}", host, n) for n in (questions, 1))
    used = {"edufair run": (host.measure(whole.command("run")), host.measure(little.command("run")))}
    calls = used["edufair run"][0].calls
    used["edufair run again (finished)"] = (host.measure(whole.command("run")), host.measure(little.command("run")))
    killed = Audit(folder, "killed", host, questions)
    first = host.measure(killed.command("run"), kill_after=calls // 2)
    second = host.measure(killed.command("run"))
    started = used["edufair run"][1]
    used[RESUMED] = (first + second, started + started)
    print(f"killed after {first.calls} calls; resumed in {second.seconds:.1f} s, {second.cpu:.1f} s of CPU: ", end="")
    print(f"{first.calls + second.calls - calls} of {calls} calls were in flight and had to be asked again")
    per_dialogue = whole.database.stat().st_size / whole.dialogues
    print(f"store: {per_dialogue / 1024:.0f} KiB a dialogue, {per_dialogue * 17163 / 1e9:.2f} GB for 17,163\n")
    for name, command in peers().items():
        ways = [[*command, host.url, str(audit.script()), str(IN_FLIGHT)] for audit in (whole, little)]
        used[name] = (host.measure(ways[0]), host.measure(ways[1]))
    return used


def speed_table(used: dict[str, tuple[Used, Used]], *, judged: bool) -> bool:
    """Print the table; whether the aims are reached."""
    bare, bare_start = used["aiohttp + orjson, bare"]
    print("| program | calls | bytes a call | calls/s | CPU ms a call | times bare | without start-up | times bare |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for name, (whole, little) in used.items():
        if not whole.calls:
            print(f"| {name} | 0 | | {whole.seconds:.1f} s | {whole.cpu:.1f} s in all | | | |")
            continue
        beyond = whole.beyond(little)
        print(
            f"| {name} | {whole.calls:,} | {whole.sent / whole.calls:,.0f} | {whole.calls / whole.seconds:,.0f} "
            f"| {whole.a_call:.3f} | {whole.a_call / bare.a_call:.1f} "
            f"| {beyond:.3f} | {beyond / bare.beyond(bare_start):.1f} |"
        )
    print()
    if not judged:
        print("The short form is mostly start-up: no aim is judged.\n")
        return True
    reached = []
    for name in ("edufair run", RESUMED):
        cost = used[name][0].a_call
        times = cost / bare.a_call
        reached.append(aim(f"{name}: {times:.2f} times the bare loop's CPU", times <= TIMES_BARE, f"{TIMES_BARE:g}"))
        if "Inspect AI" in used:
            part = cost / used["Inspect AI"][0].a_call
            reached.append(aim(f"{name}: {part:.3f} of Inspect's CPU", part <= PART_OF_INSPECT, f"{PART_OF_INSPECT:g}"))
    return all(reached)


def memory(host: Host, folder: Path, trials: int, dialogues: int) -> bool:
    """Peak memory while planning so many trials, and while running so many short dialogues."""
    plan = Audit(folder, "plan", host, -(-trials // LEVELS))
    many = Audit(folder, "many", host, -(-dialogues // LEVELS), turns=2)
    reached = []
    for what, audit, verb in (("planning {:,} trials", plan, "plan"), ("running {:,} dialogues", many, "run")):
        used = host.measure(audit.command(verb))
        done = f"{what.format(audit.dialogues)}: {used.megabytes:.0f} MB at peak, {used.seconds:.0f} s"
        reached.append(aim(done, used.megabytes < MEGABYTES, f"{MEGABYTES} MB"))
    return all(reached)


def aim(what: str, reached: bool, most: str) -> bool:
    print(f"{what} (aim: at most {most}; {'reached' if reached else 'NOT reached'})", flush=True)
    return reached


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--only", choices=["speed", "memory"])
    given = parser.parse_args()
    reached = True
    with tempfile.TemporaryDirectory() as folder, fast_host() as host:
        if given.only != "memory":
            used = speed(host, Path(folder), 10 if given.short else 100)
            reached &= speed_table(used, judged=not given.short)
        if given.only != "speed":
            sizes = (100_000, 2_000) if given.short else (1_000_000, 20_000)
            reached &= memory(host, Path(folder), *sizes)
    return 0 if reached else 1


if __name__ == "__main__":
    sys.exit(main())
