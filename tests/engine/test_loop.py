"""A synchronous verb over asynchronous code: from a script, from a notebook's running loop, and stopped by Ctrl-C."""

from __future__ import annotations

import asyncio
import signal
import threading
from pathlib import Path

import pytest

import edufair
from edufair.engine.loop import run_sync
from whole.small_audit import small_audit


async def answer() -> tuple[int, str]:
    await asyncio.sleep(0)
    return 42, threading.current_thread().name


async def fails() -> None:
    raise ValueError("as it was")


def test_without_a_loop_it_runs_in_this_thread() -> None:
    assert run_sync(answer) == (42, threading.current_thread().name)


async def test_inside_a_running_loop_it_runs_in_a_thread_of_its_own() -> None:
    value, thread = run_sync(answer)
    assert value == 42 and thread != threading.current_thread().name


def test_an_error_comes_out_as_it_was() -> None:
    with pytest.raises(ValueError, match="as it was"):
        run_sync(fails)


async def test_an_error_comes_out_of_the_thread_as_it_was() -> None:
    with pytest.raises(ValueError, match="as it was"):
        run_sync(fails)


class Stopped:
    """A coroutine that presses Ctrl-C and then waits for ever; remembers that it was ended properly."""

    def __init__(self) -> None:
        self.ended = False

    async def __call__(self) -> None:
        try:
            signal.raise_signal(signal.SIGINT) if threading.current_thread() is threading.main_thread() else _press()
            await asyncio.sleep(60)
        finally:
            self.ended = True


def _press() -> None:
    signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)


def test_ctrl_c_ends_what_is_under_way() -> None:
    stopped = Stopped()
    with pytest.raises(KeyboardInterrupt):
        run_sync(stopped)
    assert stopped.ended


async def test_ctrl_c_ends_what_is_under_way_in_the_thread() -> None:
    stopped = Stopped()
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)  # as in a notebook; a loop's own waits its turn
    try:
        with pytest.raises(KeyboardInterrupt):
            run_sync(stopped)
    finally:
        signal.signal(signal.SIGINT, handler)
    assert stopped.ended


async def test_the_five_verbs_work_inside_a_running_loop(tmp_path: Path) -> None:
    audit = small_audit(tmp_path)
    assert edufair.plan(audit).new
    result = edufair.run(audit)
    again = edufair.score(result, judge="other")
    analysis = edufair.analyse(again)
    assert edufair.report(result, analysis=analysis).is_file()
    assert len(result.scores().to_pandas()) == result.scores().height > 0
    assert asyncio.get_running_loop().is_running()
