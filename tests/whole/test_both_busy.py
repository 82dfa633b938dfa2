"""The judge is asked while dialogues go on, where it is another model than the tutor."""

from __future__ import annotations

import asyncio
from pathlib import Path

import edufair
from whole import meeting_people
from whole.small_audit import small_audit


async def test_judge_calls_start_as_soon_as_a_dialogue_ends(tmp_path: Path) -> None:
    audit = small_audit(tmp_path)
    for name in ("tutor", "judge"):
        url = f"python:whole.meeting_people:{name}"
        audit["models"][name] = {"url": url, "concurrency": 1, "timeout": 5}
    audit["models"]["student"]["concurrency"] = 1
    audit["judge"] = {"model": "judge"}
    meeting_people.begin()
    run = await asyncio.to_thread(edufair.run, audit)
    assert run.states() == {"done": 12}
    assert sum(run.scored_by().values()) >= 12
    assert run.tally is not None and run.tally.unscored == 0
