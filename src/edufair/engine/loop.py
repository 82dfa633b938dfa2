"""A thin synchronous entry to asynchronous code that also works inside a running event loop (notebooks)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from threading import Thread
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

    async def main() -> T:
        task = asyncio.current_task()
        assert task is not None
        running.append((asyncio.get_running_loop(), task))
        return await start()

    def target() -> None:
        try:
            outcome.append((True, asyncio.run(main())))
        except BaseException as error:
            outcome.append((False, error))

    thread = Thread(target=target, name="edufair")
    thread.start()
    try:
        thread.join()
    except KeyboardInterrupt:
        if running:
            loop, task = running[0]
            loop.call_soon_threadsafe(task.cancel)
        thread.join()
        raise
    succeeded, value = outcome[0]
    if not succeeded:
        raise value
    return value  # type: ignore[no-any-return]
