"""A real audit on real questions: 20 MathDial items, gender, two turns, the small embedded model in every role.

    python -m benchmarks.mathdial

Reads ../shared/data/mathdial/test.jsonl beside the checkout and says so where it is missing. The numbers show how
long it takes and that everything works; the model is far too weak for them to say anything about tutoring.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import edufair
from edufair.design.banks import build, write_bank

DIALOGUES = Path(__file__).parents[2] / "shared" / "data" / "mathdial" / "test.jsonl"

AUDIT = """
audit = "dialogue"
[models.smollm2]
url = "embedded:smollm2"
[tutor]
model = "smollm2"
max_tokens = 48
[student]
model = "smollm2"
max_tokens = 32
[judge]
model = "smollm2"
max_tokens = 96
[items]
bank = "mathdial.jsonl"
limit = 20
[design]
dimensions = ["gender"]
[dialogue]
max_turns = 2
truncated = "keep"
"""


def main() -> None:
    """Build the bank, run the audit, print what came of it."""
    if not DIALOGUES.exists():
        print(f"skipped: {DIALOGUES} is not here")
        return
    with tempfile.TemporaryDirectory() as folder:
        bank = build("mathdial", DIALOGUES, filters="paper")
        write_bank(bank.items, Path(folder) / "mathdial.jsonl")
        audit = Path(folder) / "audit.toml"
        audit.write_text(AUDIT)
        begun = time.monotonic()
        run = edufair.run(audit)
        seconds = time.monotonic() - begun
        analysis = edufair.analyse(run)
        tally = run.tally
        assert tally is not None
        for step in bank.report:
            print(f"filter {step.name}: {step.kept} kept, {step.removed} removed")
        print(f"{tally.done} dialogues done, {tally.failed} failed, {tally.calls} calls in {seconds:.0f} s")
        tested = [f for f in analysis.findings if f.status == "tested"]
        found = sum(bool(f.finding) for f in tested)
        print(f"{len(tested)} of {len(analysis.findings)} contrasts tested, {found} findings")


if __name__ == "__main__":
    main()
