"""What holds calls back: an even pace per minute, and one pause that all calls of an endpoint share."""

from __future__ import annotations

import asyncio
import math
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

Clock = Callable[[], float]
Sleep = Callable[[float], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Backoff:
    """How long to rest after a failure: doubling from `first` seconds up to `cap`; `jitter` gives draws in
    [0, 1).

    The draws only spread calls in time; no result depends on them.
    """

    first: float = 0.5
    cap: float = 60.0
    jitter: Callable[[], float] = random.random

    def seconds(self, failures: int) -> float:
        """The rest after `failures` (1 or more) failures in a row, between half and all of `ceiling`."""
        return self.ceiling(failures) * (0.5 + 0.5 * self.jitter())

    def ceiling(self, failures: int) -> float:
        """The longest rest after `failures` failures in a row."""
        return min(self.cap, self.first * 2.0 ** min(failures - 1, 40))


class Pace:
    """Lets at most `per_minute` units through a minute, evenly spaced, in the order of asking.

    Units are requests or tokens. There is no burst, so no window of a minute ever holds more than the limit.
    A call that takes more units than a minute has is let through and delays those after it.
    """

    def __init__(self, per_minute: float, *, clock: Clock = time.monotonic, sleep: Sleep = asyncio.sleep) -> None:
        self._seconds = 60.0 / per_minute
        self._clock = clock
        self._sleep = sleep
        self._free = -math.inf  # when the next call may start

    async def take(self, units: float = 1.0) -> None:
        """Wait until the next `units` may go."""
        now = self._clock()
        start = max(self._free, now)
        self._free = start + units * self._seconds
        if start > now:
            await self._sleep(start - now)

    def correct(self, units: float) -> None:
        """Take `units` more after the fact (fewer when negative): an estimate met what the host counted."""
        self._free += units * self._seconds


class SharedPause:
    """One pause for all calls of an endpoint, set when the host says that it is asked too often.

    The host's Retry-After is the floor; without one the pause doubles with every refusal of a call that was
    sent after the last pause. Each waiter adds its own jitter, so that they do not all come back in the same
    moment.
    """

    def __init__(self, backoff: Backoff, *, clock: Clock = time.monotonic, sleep: Sleep = asyncio.sleep) -> None:
        self.until = -math.inf
        self._set_at = -math.inf
        self._refusals = 0
        self._backoff = backoff
        self._clock = clock
        self._sleep = sleep

    def extend(self, sent_at: float, floor: float) -> None:
        """A call sent at `sent_at` was refused; all calls rest at least `floor` seconds (at most the cap)."""
        now = self._clock()
        if sent_at >= self._set_at:  # calls already under way when the pause was set tell nothing new
            self._refusals += 1
            self._set_at = now
        seconds = min(self._backoff.cap, max(floor, self._backoff.ceiling(max(self._refusals, 1))))
        self.until = max(self.until, now + seconds)

    def relax(self, sent_at: float) -> None:
        """A call sent at `sent_at` went through: the next pause starts small again."""
        if self._refusals and sent_at >= self._set_at:
            self._refusals = 0

    async def wait(self) -> None:
        """Return when no pause is left, jittered by up to a quarter of what was left (or by `first`)."""
        while (left := self.until - self._clock()) > 0:
            await self._sleep(left + self._backoff.jitter() * max(self._backoff.first, left / 4))


def retry_after(value: str | None, now: datetime | None = None) -> float:
    """The seconds a Retry-After header asks for: a number or an HTTP date; 0 for garbage or the past."""
    if not value:
        return 0.0
    try:
        seconds = float(value)
    except ValueError:
        seconds = _until(value, now or datetime.now(UTC))
    return max(0.0, seconds) if math.isfinite(seconds) else 0.0


def _until(date: str, now: datetime) -> float:
    try:
        moment = parsedate_to_datetime(date)
    except (ValueError, OverflowError):
        return 0.0
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() - now.timestamp()
