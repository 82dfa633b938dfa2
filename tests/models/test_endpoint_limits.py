from datetime import UTC, datetime

import pytest

from edufair.models.limits import Backoff, Pace, SharedPause, retry_after

NOW = datetime(2026, 3, 2, 12, 0, 0, tzinfo=UTC)


class Time:
    """A clock that only a sleep moves on."""

    def __init__(self) -> None:
        self.now = 100.0
        self.slept: list[float] = []

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        (None, 0.0),
        ("", 0.0),
        ("7", 7.0),
        (" 7 ", 7.0),
        ("0.5", 0.5),
        ("-3", 0.0),
        ("nan", 0.0),
        ("inf", 0.0),
        ("soon", 0.0),
        ("7s", 0.0),
        ("Mon, 02 Mar 2026 12:00:30 GMT", 30.0),
        ("Mon, 02 Mar 2026 12:00:30 -0000", 30.0),
        ("Mon, 02 Mar 2026 13:00:30 +0100", 30.0),
        ("Monday, 02-Mar-26 12:00:30 GMT", 30.0),
        ("Mon, 02 Mar 2026 11:59:00 GMT", 0.0),
        ("Mon, 99 Mar 2026 12:00:30 GMT", 0.0),
    ],
)
def test_retry_after_is_seconds_or_a_date_and_garbage_is_nothing(value, seconds):
    assert retry_after(value, NOW) == seconds


def test_backoff_doubles_to_its_cap_and_jitters_over_the_upper_half():
    low = Backoff(1.0, 10.0, lambda: 0.0)
    high = Backoff(1.0, 10.0, lambda: 1.0)
    assert [low.seconds(n) for n in range(1, 7)] == [0.5, 1.0, 2.0, 4.0, 5.0, 5.0]
    assert [high.seconds(n) for n in range(1, 7)] == [1.0, 2.0, 4.0, 8.0, 10.0, 10.0]
    assert high.seconds(10_000) == 10.0


async def test_a_pace_spaces_calls_evenly_and_lets_the_first_go_at_once():
    time = Time()
    pace = Pace(120, clock=time, sleep=time.sleep)  # one every half second
    for _ in range(4):
        await pace.take()
    assert time.slept == [0.5, 0.5, 0.5]


async def test_a_pace_gives_no_credit_for_idle_time():
    time = Time()
    pace = Pace(60, clock=time, sleep=time.sleep)
    await pace.take()
    time.now += 1000
    await pace.take()
    await pace.take()
    assert time.slept == [1.0]


async def test_a_call_larger_than_a_minute_goes_and_those_after_it_wait():
    time = Time()
    pace = Pace(60, clock=time, sleep=time.sleep)
    await pace.take(90)
    await pace.take(1)
    assert time.slept == [90.0]


async def test_a_correction_lengthens_or_shortens_the_wait():
    time = Time()
    pace = Pace(60, clock=time, sleep=time.sleep)
    await pace.take(10)
    pace.correct(+5)
    pace.correct(-12)
    await pace.take(10)
    assert time.slept == [3.0]


def paused(time: Time, *, cap: float = 60.0, jitter: float = 0.0) -> SharedPause:
    return SharedPause(Backoff(1.0, cap, lambda: jitter), clock=time, sleep=time.sleep)


async def test_a_pause_lasts_at_least_what_the_host_asks_for():
    time = Time()
    pause = paused(time)
    pause.extend(time.now, 20.0)
    await pause.wait()
    assert time.slept == [20.0]


async def test_a_pause_is_capped_even_when_the_host_asks_for_a_day():
    time = Time()
    pause = paused(time, cap=30.0)
    pause.extend(time.now, 86_400.0)
    await pause.wait()
    assert time.slept == [30.0]


async def test_jitter_only_ever_lengthens_a_pause():
    time = Time()
    pause = paused(time, jitter=0.99)
    pause.extend(time.now, 20.0)
    await pause.wait()
    assert time.slept == pytest.approx([20.0 + 0.99 * 5.0])


async def test_refusals_of_calls_already_under_way_do_not_double_the_pause():
    time = Time()
    pause = paused(time)
    sent = [99.0, 99.1, 99.2]  # all sent before the first refusal came back
    for sent_at in sent:
        pause.extend(sent_at, 0.0)
    assert pause.until == 101.0


async def test_a_refusal_after_each_pause_doubles_it_and_a_success_starts_over():
    time = Time()
    pause = paused(time)
    for seconds in (1.0, 2.0, 4.0):
        pause.extend(time.now, 0.0)
        await pause.wait()
        assert time.slept[-1] == seconds
    pause.relax(time.now)
    pause.extend(time.now, 0.0)
    await pause.wait()
    assert time.slept[-1] == 1.0


async def test_a_success_sent_before_the_pause_does_not_end_the_doubling():
    time = Time()
    pause = paused(time)
    pause.extend(100.0, 0.0)
    pause.relax(99.0)
    time.now = pause.until
    pause.extend(time.now, 0.0)
    assert pause.until == time.now + 2.0


async def test_a_pause_made_longer_while_waiting_is_waited_for():
    time = Time()
    pause = paused(time)

    async def sleep(seconds: float) -> None:
        await time.sleep(seconds)
        if len(time.slept) == 1:
            pause.extend(time.now, 7.0)

    pause._sleep = sleep
    pause.extend(time.now, 3.0)
    await pause.wait()
    assert time.slept == [3.0, 7.0]
