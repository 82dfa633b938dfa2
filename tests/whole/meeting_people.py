"""A tutor and a judge who each wait until the other is being asked: they are through only if both are asked at once."""

from __future__ import annotations

import asyncio

from whole import scripted_people as people

#: Tutor calls that wait for nobody: the trial call, and two dialogues of two turns.
FREE = 5


class Meeting:
    def __init__(self) -> None:
        self.tutor_calls = 0
        self.tutor_is_asked = asyncio.Event()
        self.judge_is_asked = asyncio.Event()


meeting = Meeting()


def begin() -> None:
    global meeting
    meeting = Meeting()


async def tutor(messages: list[dict[str, str]]) -> str:
    meeting.tutor_calls += 1
    if meeting.tutor_calls > FREE:
        meeting.tutor_is_asked.set()
        await meeting.judge_is_asked.wait()
    return people.HINT


async def judge(messages: list[dict[str, str]]) -> str:
    if messages[-1]["content"] == "Hello.":  # tried before the first trial
        return "Hello."
    meeting.judge_is_asked.set()
    await meeting.tutor_is_asked.wait()
    return people.judge(messages)
