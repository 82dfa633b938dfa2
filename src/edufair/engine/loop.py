"""A thin synchronous entry to asynchronous code that also works inside a running event loop (notebooks)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import suppress
from threading import Event, Thread
from typing import Any, TypeVar

T = TypeVar("T")


def run_sync(start: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """The result of a coroutine. Inside a running loop it runs in a thread of its own; Ctrl-C reaches both."""
    return _in_thread(start) if _loop_is_running() else asyncio.run(start())


def _loop_is_running() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _in_thread(start: Callable[[], Coroutine[Any, Any, T]]) -> T:
    outcome: list[Any] = []
    running: list[tuple[asyncio.AbstractEventLoop, asyncio.Task[Any]]] = []
    stopped, finished = Event(), Event()

    async def main() -> T:
        task = asyncio.current_task()
        assert task is not None
        running.append((asyncio.get_running_loop(), task))
        if stopped.is_set():  # Ctrl-C before there was anything to cancel
            raise asyncio.CancelledError
        return await start()

    def target() -> None:
        try:
            outcome.append((True, asyncio.run(main())))
        except BaseException as error:
            outcome.append((False, error))
        finally:
            finished.set()

    thread = Thread(target=target, name="edufair")
    try:
        thread.start()
        finished.wait()  # not join: a join that Ctrl-C interrupts takes the thread for ended (Python 3.11)
    except KeyboardInterrupt:
        stopped.set()
        for loop, task in running:
            with suppress(RuntimeError):  # the loop has ended by itself
                loop.call_soon_threadsafe(task.cancel)
        finished.wait()
        raise
    succeeded, value = outcome[0]
    if not succeeded:
        raise value
    return value  # type: ignore[no-any-return]
