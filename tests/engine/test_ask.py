"""How a trial reaches its models: which calls are shared, what a request key holds, what is committed when."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from edufair import store as db
from edufair.engine.ask import Caller, TrialAsk
from edufair.engine.progress import Tally
from edufair.engine.roles import Seat
from edufair.errors import CallFailed, PlanError, RunStopped
from edufair.hashing import canonical
from edufair.models import ScriptedModel
from edufair.models.base import Attempt, Effective, Message, Reply, Tokens
from edufair.records import Arm, Item, Source, Trial
from edufair.store import Store

ITEM = Item("q1", "mathematics", "What is 6 x 7?", {"answer": "42"})
HELLO: list[Message] = [{"role": "user", "content": "Hello."}]
AT_ZERO = {"temperature": 0.0, "max_tokens": 100}


def trial(id: str, model: str = "tutor", replicate: int = 1) -> Trial:
    return Trial(id, "dialogue", model, ITEM, Arm("baseline"), replicate)


def seat(
    role: str,
    model: ScriptedModel,
    *,
    shared: bool,
    params: Mapping[str, Any] = AT_ZERO,
    identity: str = "a model",
    returned: str = "",
) -> Seat:
    effective = Effective(identity, dict(params), dict(params), returned_model=returned)
    prefix = canonical([model.name, identity, dict(params)])
    return Seat(role, model.name, model, effective, f"{role} {model.name}", shared, prefix)


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    opened = db.create(tmp_path / "run")
    yield opened
    await opened.drain()
    opened.close()


Asks = Callable[..., TrialAsk]


@pytest.fixture
def ask_for(store: Store) -> Asks:
    """An `ask` for a trial, with the given seats; all asks of one caller share it."""

    def make(
        seats: list[Seat],
        *trials: Trial,
        resumed: bool = False,
        allow_model_change: bool = False,
        sources: Mapping[str, Source] | None = None,
    ) -> Any:
        keyed = {(s.role, s.name if s.role == "tutor" else ""): s for s in seats}
        caller = Caller(keyed, store, Tally(), resumed=resumed, allow_model_change=allow_model_change)
        asks = [TrialAsk(caller, each, None, "a secret", sources or {}) for each in trials]
        return asks[0] if len(asks) == 1 else asks

    return make


def numbered(name: str) -> ScriptedModel:
    """Says how often it has been asked."""
    count = iter(range(1, 1000))
    return ScriptedModel(name, lambda messages: f"reply {next(count)}")


def rows(store: Store) -> pl.DataFrame:
    return store.call_frame()


# --- what is shared ---------------------------------------------------------------------------------------------


async def test_a_shared_request_is_asked_once_for_all_trials(ask_for: Asks, store: Store) -> None:
    student = numbered("student")
    one, two = ask_for([seat("student", student, shared=True)], trial("t1"), trial("t2"))
    assert (await one.chat("student", HELLO)).text == "reply 1"
    assert (await two.chat("student", HELLO)).text == "reply 1"
    assert len(student.asked) == 1
    assert rows(store).height == 1
    assert one.calls == two.calls


async def test_a_request_that_is_not_shared_is_asked_for_each_trial(ask_for: Asks) -> None:
    student = numbered("student")
    warm = {"temperature": 0.7}
    one, two = ask_for([seat("student", student, shared=False, params=warm)], trial("t1"), trial("t2"))
    assert (await one.chat("student", HELLO)).text == "reply 1"
    assert (await two.chat("student", HELLO)).text == "reply 2"
    assert one.calls != two.calls


async def test_replicates_of_a_trial_are_asked_apart(ask_for: Asks) -> None:
    tutor = numbered("tutor")
    one, two = ask_for([seat("tutor", tutor, shared=False)], trial("t1"), trial("t1", replicate=2))
    await one.chat("tutor", HELLO)
    await two.chat("tutor", HELLO)
    assert len(tutor.asked) == 2


async def test_the_same_shared_request_made_by_many_at_once_is_asked_once(ask_for: Asks) -> None:
    asked: list[object] = []
    gate = asyncio.Event()

    async def slow(messages: object) -> str:
        asked.append(messages)
        await gate.wait()
        return "the only reply"

    student = ScriptedModel("student", slow)
    asks = ask_for([seat("student", student, shared=True)], *[trial(f"t{n}") for n in range(20)])
    waiting = [asyncio.create_task(each.chat("student", HELLO)) for each in asks]
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    gate.set()
    replies = await asyncio.gather(*waiting)
    assert {reply.text for reply in replies} == {"the only reply"}
    assert len(asked) == 1


async def test_when_a_shared_request_fails_it_fails_for_all_who_wait(ask_for: Asks) -> None:
    gate = asyncio.Event()

    async def fails(messages: object) -> Exception:
        await gate.wait()
        return CallFailed("gone", kind="connection")

    student = ScriptedModel("student", fails)
    asks = ask_for([seat("student", student, shared=True)], trial("t1"), trial("t2"), trial("t3"))
    waiting = [asyncio.create_task(each.chat("student", HELLO)) for each in asks]
    await asyncio.sleep(0)
    gate.set()
    outcomes = await asyncio.gather(*waiting, return_exceptions=True)
    assert [type(outcome) for outcome in outcomes] == [CallFailed] * 3
    assert len(student.asked) == 1


async def test_one_who_waits_may_be_cancelled_without_the_others(ask_for: Asks) -> None:
    gate = asyncio.Event()

    async def slow(messages: object) -> str:
        await gate.wait()
        return "late"

    student = ScriptedModel("student", slow)
    one, two, three = ask_for([seat("student", student, shared=True)], trial("t1"), trial("t2"), trial("t3"))
    first = asyncio.create_task(one.chat("student", HELLO))
    await asyncio.sleep(0)
    second, third = (asyncio.create_task(each.chat("student", HELLO)) for each in (two, three))
    await asyncio.sleep(0)
    second.cancel()
    gate.set()
    assert (await first).text == (await third).text == "late"
    assert second.cancelled() or second.cancelling()


# --- what a request key holds -----------------------------------------------------------------------------------


async def key_of(ask_for: Asks, *, role: str = "student", chat: Mapping[str, Any] | None = None, **change: Any) -> str:
    messages = (chat or {}).get("messages", HELLO)
    rest = {name: value for name, value in (chat or {}).items() if name != "messages"}
    model = ScriptedModel(change.pop("name", "a"), lambda m: "yes")
    ask = ask_for([seat(role, model, shared=True, **change)], trial("t1"))
    await ask.chat(role, messages, **rest)
    return str(ask.calls[-1])


@pytest.mark.parametrize(
    "change",
    [
        {"params": {"temperature": 0.0, "max_tokens": 101}},
        {"params": {"temperature": 0.0}},
        {"params": {**AT_ZERO, "seed": 1}},
        {"params": {**AT_ZERO, "top_p": 1.0}},
        {"identity": "another model"},
        {"name": "b"},
        {"chat": {"retry": 1}},
        {"chat": {"budget": 2.0}},
        {"chat": {"schema": {"type": "object"}}},
        {"chat": {"messages": [{"role": "user", "content": "Hello. "}]}},
        {"chat": {"messages": [{"role": "system", "content": "Hello."}]}},
        {"chat": {"messages": [*HELLO, *HELLO]}},
    ],
    ids=repr,
)
async def test_whatever_shapes_a_reply_is_in_its_key(ask_for: Asks, change: dict[str, Any]) -> None:
    assert await key_of(ask_for, **change) != await key_of(ask_for)


async def test_the_role_and_the_address_are_not_in_the_key(ask_for: Asks, store: Store) -> None:
    plain = seat("student", ScriptedModel("a", lambda m: "yes"), shared=True)
    moved = replace(plain, effective=replace(plain.effective, url="http://127.0.0.1:9999/v1"))
    keys = []
    for each in (plain, moved):
        ask = ask_for([each], trial("t1"))
        await ask.chat("student", HELLO)
        keys += ask.calls
    assert keys[0] == keys[1]


async def test_a_retry_and_a_larger_budget_are_calls_of_their_own(ask_for: Asks, store: Store) -> None:
    judge = numbered("judge")
    ask = ask_for([seat("judge", judge, shared=True)], trial("t1"))
    replies = [
        await ask.chat("judge", HELLO),
        await ask.chat("judge", HELLO, retry=1),
        await ask.chat("judge", HELLO, retry=1, budget=2.0),
    ]
    assert [reply.text for reply in replies] == ["reply 1", "reply 2", "reply 3"]
    assert [asked.max_tokens for asked in judge.asked] == [None, None, 200]
    assert rows(store).height == 3


@pytest.mark.parametrize("limit", ["max_tokens", "max_completion_tokens"])
async def test_a_larger_budget_multiplies_the_limit_under_either_name(ask_for: Asks, limit: str) -> None:
    judge = numbered("judge")
    ask = ask_for([seat("judge", judge, shared=True, params={limit: 96})], trial("t1"))
    await ask.chat("judge", HELLO, budget=2.0)
    assert judge.asked[0].max_tokens == 192


async def test_without_a_limit_a_larger_budget_changes_nothing(ask_for: Asks) -> None:
    judge = numbered("judge")
    ask = ask_for([seat("judge", judge, shared=True, params={})], trial("t1"))
    await ask.chat("judge", HELLO, budget=2.0)
    assert judge.asked[0].max_tokens is None


# --- what is committed ------------------------------------------------------------------------------------------


async def test_a_reply_is_committed_before_it_is_handed_over(ask_for: Asks, store: Store) -> None:
    line = Reply("said", "ok", "stop", "thought", "m-1", Tokens(7, 2, 3), 0.5)
    ask = ask_for([seat("tutor", ScriptedModel("tutor", [line]), shared=False)], trial("t1"))
    await ask.chat("tutor", HELLO)
    other = db.open_store(store.folder)
    found = other.find_call(ask.calls[0])
    other.close()
    assert found is not None
    kept = ("text", "status", "finish_reason", "reasoning", "returned_model", "role", "model")
    assert [found[k] for k in kept] == ["said", "ok", "stop", "thought", "m-1", "tutor", "tutor"]
    assert [found[k] for k in ("prompt_tokens", "cached_tokens", "completion_tokens", "latency")] == [7, 2, 3, 0.5]
    assert db.unpacked(found["request"])["messages"] == HELLO


async def test_tries_that_failed_stand_before_the_reply(ask_for: Asks, store: Store) -> None:
    failed = (Attempt("rate limit", 429, "slow down", 0.1), Attempt("server", 500, "oops", 0.2))
    line = Reply("said", "ok", failed_attempts=failed)
    ask = ask_for([seat("tutor", ScriptedModel("tutor", [line]), shared=False)], trial("t1"))
    await ask.chat("tutor", HELLO)
    table = rows(store).sort("attempt")
    assert table["attempt"].to_list() == [1, 2, 3]
    assert table["status"].to_list() == ["failed", "failed", "ok"]
    assert table["finish_reason"].to_list() == ["rate limit", "server", ""]


async def test_a_call_that_failed_is_recorded_and_never_found_as_a_reply(ask_for: Asks, store: Store) -> None:
    broken = ScriptedModel("tutor", [CallFailed("connection reset", kind="connection", attempts=3)])
    ask = ask_for([seat("tutor", broken, shared=False)], trial("t1"))
    with pytest.raises(CallFailed, match="connection reset"):
        await ask.chat("tutor", HELLO)
    table = rows(store)
    assert table["status"].to_list() == ["failed"] and table["finish_reason"].to_list() == ["connection"]
    assert store.find_call(table["key"][0]) is None
    assert ask.calls == []


async def test_a_resumed_run_finds_what_is_stored_and_asks_nothing(ask_for: Asks) -> None:
    tutor, again = numbered("tutor"), numbered("tutor")
    first = await ask_for([seat("tutor", tutor, shared=False)], trial("t1")).chat("tutor", HELLO)
    second = await ask_for([seat("tutor", again, shared=False)], trial("t1"), resumed=True).chat("tutor", HELLO)
    assert second == replace(first, sent={}, failed_attempts=())
    assert again.asked == []


@pytest.mark.parametrize("status", ["truncated", "empty", "refused", "filtered", "context"])
async def test_an_outcome_that_is_no_text_is_not_asked_again_either(ask_for: Asks, status: Any) -> None:
    tutor, again = ScriptedModel("tutor", [Reply("", status)]), numbered("tutor")
    await ask_for([seat("tutor", tutor, shared=False)], trial("t1")).chat("tutor", HELLO)
    found = await ask_for([seat("tutor", again, shared=False)], trial("t1"), resumed=True).chat("tutor", HELLO)
    assert (found.status, again.asked) == (status, [])


async def test_a_resumed_run_asks_again_what_failed_and_counts_its_tries_on(ask_for: Asks, store: Store) -> None:
    broken = ScriptedModel("tutor", [CallFailed("gone", kind="connection", attempts=2)])
    with pytest.raises(CallFailed):
        await ask_for([seat("tutor", broken, shared=False)], trial("t1")).chat("tutor", HELLO)
    again = ask_for([seat("tutor", numbered("tutor"), shared=False)], trial("t1"), resumed=True)
    assert (await again.chat("tutor", HELLO)).text == "reply 1"
    assert rows(store).sort("attempt").select("attempt", "status").rows() == [(2, "failed"), (3, "ok")]


async def test_a_shared_request_asked_again_after_a_failure_is_committed(ask_for: Asks, store: Store) -> None:
    student = ScriptedModel("student", [CallFailed("gone", kind="connection"), "a reply"])
    one, two = ask_for([seat("student", student, shared=True)], trial("t1"), trial("t2"))
    with pytest.raises(CallFailed):
        await one.chat("student", HELLO)
    await two.chat("student", HELLO)
    assert store.find_call(two.calls[0]) is not None


# --- which model answers ----------------------------------------------------------------------------------------


def named(*names: str) -> ScriptedModel:
    return ScriptedModel("tutor", [Reply("yes", "ok", model=name) for name in names])


async def test_a_model_that_answers_under_another_name_stops_the_run(ask_for: Asks) -> None:
    one, two = ask_for([seat("tutor", named("m-1", "m-2"), shared=False)], trial("t1"), trial("t2"))
    await one.chat("tutor", HELLO)
    with pytest.raises(RunStopped, match=r"tutor tutor: the host answered as 'm-2' and before as 'm-1'"):
        await two.chat("tutor", HELLO)


async def test_the_name_heard_when_the_model_was_tried_counts(ask_for: Asks) -> None:
    ask = ask_for([seat("tutor", named("m-2"), shared=False, returned="m-1")], trial("t1"))
    with pytest.raises(RunStopped, match="m-1"):
        await ask.chat("tutor", HELLO)


async def test_a_host_that_names_no_model_is_let_pass(ask_for: Asks) -> None:
    one, two = ask_for([seat("tutor", named("m-1", ""), shared=False)], trial("t1"), trial("t2"))
    await one.chat("tutor", HELLO)
    assert (await two.chat("tutor", HELLO)).status == "ok"


async def test_a_changed_name_is_let_pass_on_request(ask_for: Asks) -> None:
    both = trial("t1"), trial("t2")
    one, two = ask_for([seat("tutor", named("m-1", "m-2"), shared=False)], *both, allow_model_change=True)
    await one.chat("tutor", HELLO)
    assert (await two.chat("tutor", HELLO)).model == "m-2"


async def test_a_reply_of_the_other_model_is_not_used_after_the_run_goes_on(ask_for: Asks) -> None:
    pinned = seat("tutor", named("m-2"), shared=False, returned="m-1")
    with pytest.raises(RunStopped):
        await ask_for([pinned], trial("t1")).chat("tutor", HELLO)
    again = seat("tutor", named("m-1"), shared=False, returned="m-1")
    assert (await ask_for([again], trial("t1"), resumed=True).chat("tutor", HELLO)).model == "m-1"


# --- what an audit sees -----------------------------------------------------------------------------------------


async def test_each_trial_is_asked_of_its_own_audited_model(ask_for: Asks) -> None:
    seats = [seat("tutor", ScriptedModel(name, [name]), shared=False) for name in ("first", "second")]
    one, two = ask_for(seats, trial("t1", "first"), trial("t2", "second"))
    assert (await one.chat("tutor", HELLO)).text == "first"
    assert (await two.chat("tutor", HELLO)).text == "second"


async def test_a_role_that_is_not_filled_is_said_to_be_missing(ask_for: Asks) -> None:
    ask = ask_for([seat("tutor", numbered("tutor"), shared=False)], trial("t1"))
    with pytest.raises(PlanError, match=r"asked for the role .judge., which audit\.toml does not fill"):
        await ask.chat("judge", HELLO)
    assert not ask.has("judge")


async def test_it_knows_the_audited_role_and_the_judge_to_be_filled(ask_for: Asks) -> None:
    source = Source("judge:j:1", "judge", "j")
    ask = ask_for([seat("tutor", numbered("tutor"), shared=False)], trial("t1"), sources={"judge": source})
    assert ask.has("tutor") and ask.has("judge")
    assert ask.source("judge") == source


async def test_it_knows_every_other_role_to_be_filled(ask_for: Asks) -> None:
    assert ask_for([seat("student", numbered("student"), shared=True)], trial("t1")).has("student")


async def test_a_secret_depends_on_its_purpose_alone(ask_for: Asks) -> None:
    one, two = ask_for([], trial("t1"), trial("t2"))
    assert one.secret("fence", "q1") == two.secret("fence", "q1") != one.secret("fence", "q2")
    assert "a secret" not in one.secret("fence", "q1")


async def test_calls_are_remembered_in_the_order_in_which_they_were_used(ask_for: Asks, store: Store) -> None:
    seats = [seat("tutor", numbered("tutor"), shared=False), seat("student", numbered("student"), shared=True)]
    ask = ask_for(seats, trial("t1"))
    for role in ("student", "tutor", "student"):
        await ask.chat(role, HELLO)
    roles = dict(rows(store).select("key", "role").iter_rows())
    assert [roles[key] for key in ask.calls] == ["student", "tutor", "student"]


async def test_texts_with_odd_characters_come_back_as_they_were(ask_for: Asks, store: Store) -> None:
    odd = "NUL \x00, line separator \u2028, \\u escape, emoji \U0001f600, \r\n and a tab\t."
    tutor, again = ScriptedModel("tutor", [odd]), numbered("tutor")
    await ask_for([seat("tutor", tutor, shared=False)], trial("t1")).chat("tutor", HELLO)
    found = await ask_for([seat("tutor", again, shared=False)], trial("t1"), resumed=True).chat("tutor", HELLO)
    assert found.text == odd
