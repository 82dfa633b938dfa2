import asyncio
import functools
import sys
import threading
import time
import traceback
from hashlib import blake2b

import pytest

from edufair.errors import CallFailed, ModelError
from edufair.models import Effective, FunctionModel, Message, Model, Reply, Tokens

HELLO: list[Message] = [{"role": "user", "content": "Hello."}]
PLAIN = Effective("f", {}, {})

TUTOR = """
import os

def reply(messages):
    return "You said " + messages[-1]["content"]

async def slowly(messages, params):
    return f"{params['temperature']}"

class Tutor:
    def answer(self, messages):
        return "from a method"

tutor = Tutor()
NOT_CALLABLE = 4
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A working directory with a team's own tutor in it; nothing of it stays imported."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    before = set(sys.modules)
    (tmp_path / "our_tutor.py").write_text(TUTOR)
    yield tmp_path
    for name in set(sys.modules) - before:
        if name.startswith("our_"):
            del sys.modules[name]


async def ask(function, effective=PLAIN, options=None, **chat) -> Reply:
    return await FunctionModel("tutor", function, **(options or {})).chat(HELLO, effective, **chat)


def test_a_function_is_a_model():
    assert isinstance(FunctionModel("tutor", lambda messages: "x"), Model)


async def test_a_file_in_the_working_directory_is_found_and_its_function_asked(folder):
    model = FunctionModel("tutor", "python:our_tutor:reply")
    reply = await model.chat(HELLO, PLAIN)
    assert reply.text == "You said Hello." and reply.status == "ok"
    assert reply.sent == {"messages": HELLO}


async def test_the_prefix_may_be_left_out_and_a_method_named_by_dots(folder):
    assert (await ask("our_tutor:tutor.answer")).text == "from a method"


async def test_a_coroutine_function_that_takes_params_gets_them(folder):
    reply = await ask("our_tutor:slowly", Effective("f", {}, {"temperature": 0.7}))
    assert reply.text == "0.7" and reply.sent == {"messages": HELLO, "temperature": 0.7}


async def test_params_hold_limit_and_schema_when_they_are_asked_for():
    seen = []

    def tutor(messages, *, params):
        seen.append(params)
        return "x"

    await ask(tutor, Effective("f", {}, {"temperature": 0}), schema={"type": "object"}, max_tokens=9)
    assert seen == [{"temperature": 0, "max_tokens": 9, "schema": {"type": "object"}}]


def test_the_identity_is_the_name_and_a_hash_of_the_source_file(folder):
    digest = blake2b(TUTOR.encode(), digest_size=16).hexdigest()
    assert FunctionModel("a", "python:our_tutor:reply").identity == f"our_tutor:reply@{digest}"
    assert FunctionModel("b", "our_tutor:reply").identity == f"our_tutor:reply@{digest}"
    assert FunctionModel("c", "our_tutor:tutor.answer").identity == f"our_tutor:tutor.answer@{digest}"


def test_a_callable_without_a_source_file_still_has_an_identity():
    namespace: dict = {"__name__": "notebook"}
    exec("def tutor(messages): return 'x'", namespace)
    assert FunctionModel("t", namespace["tutor"]).identity == "notebook:tutor"
    assert FunctionModel("t", functools.partial(len)).identity.startswith("functools:partial")


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ("python:our_tutor", "python:module:function"),
        ("python::reply", "python:module:function"),
        ("python:our_missing:reply", "no module 'our_missing' in "),
        ("python:our_tutor.part:reply", "no module 'our_tutor.part' in "),
        ("python:our_tutor:answer", "no function 'answer'; it has Tutor, reply, slowly"),
        ("python:our_tutor:tutor.reply", "no function 'tutor.reply'"),
        ("python:our_tutor:NOT_CALLABLE", "is a int, which cannot be called"),
        ("python:our_needy:reply", "'our_needy' imports 'our_absent', which is missing"),
        ("python:our_broken:reply", "cannot be imported: ZeroDivisionError"),
        ("python:our_typo:reply", "cannot be imported: SyntaxError"),
    ],
)
def test_what_cannot_be_loaded_says_what_is_missing(folder, target, words):
    (folder / "our_needy.py").write_text("import our_absent")
    (folder / "our_broken.py").write_text("1 / 0")
    (folder / "our_typo.py").write_text("def reply(:")
    with pytest.raises(ModelError) as failed:
        FunctionModel("tutor", target)
    assert words in str(failed.value) and "'tutor'" in str(failed.value)


@pytest.mark.parametrize(
    ("result", "status", "text", "reasoning"),
    [
        ("Yes.", "ok", "Yes.", ""),
        ("", "empty", "", ""),
        ("<think>Hm</think>Yes.", "ok", "Yes.", "Hm"),
        ("a\ud800b", "ok", "a\ufffdb", ""),
        ({"text": "Yes.", "reasoning": "Hm"}, "ok", "Yes.", "Hm"),
        ({"text": "No.", "refused": True}, "refused", "No.", ""),
        ({"text": "", "filtered": True}, "filtered", "", ""),
        ({"text": "Ye", "truncated": True}, "truncated", "Ye", ""),
        ({"text": "Yes.", "refused": False}, "ok", "Yes.", ""),
        (Reply("Yes.", "ok"), "ok", "Yes.", ""),
        (
            {"choices": [{"message": {"content": "Ye", "reasoning": "Hm"}, "finish_reason": "length"}]},
            "truncated",
            "Ye",
            "Hm",
        ),
    ],
)
async def test_each_form_of_an_answer_is_read(result, status, text, reasoning):
    reply = await ask(lambda messages: result)
    assert (reply.status, reply.text, reply.reasoning) == (status, text, reasoning)


async def test_model_and_tokens_are_taken_over():
    usage = {"prompt_tokens": 5, "completion_tokens": 2}
    reply = await ask(lambda messages: {"text": "x", "model": "ours-2", "usage": usage})
    assert reply.model == "ours-2" and reply.tokens == Tokens(5, None, 2)


@pytest.mark.parametrize(
    ("result", "words"),
    [
        (None, "returned None"),
        (4, "returned a int"),
        (["x"], "returned a list"),
        ({}, "returned an empty dict"),
        ({"answer": "x"}, "a dict with the keys answer"),
        ({"text": None}, "a dict with the keys text"),
        ({"text": "x", "refusal": True}, "keys text, refusal"),
        ({"choices": []}, "no readable choice"),
    ],
)
async def test_an_answer_of_another_form_says_which_forms_there_are(result, words):
    with pytest.raises(CallFailed) as failed:
        await ask(lambda messages: result)
    assert words in str(failed.value) and failed.value.kind == "function"


async def test_an_error_in_the_function_keeps_its_type_message_and_traceback():
    def tutor(messages):
        return {}["level"]

    with pytest.raises(CallFailed, match="KeyError: 'level'") as failed:
        await ask(tutor)
    assert (failed.value.kind, failed.value.attempts) == ("function", 1)
    assert isinstance(failed.value.__cause__, KeyError)
    assert '{}["level"]' in "".join(traceback.format_exception(failed.value.__cause__))


@pytest.mark.parametrize("error", [StopIteration("done"), SystemExit(2), TimeoutError("theirs"), OSError("x")])
async def test_no_error_of_the_function_escapes_as_anything_else(error):
    def tutor(messages):
        raise error

    with pytest.raises(CallFailed, match=type(error).__name__) as failed:
        await ask(tutor)
    assert failed.value.kind == "function"


async def test_an_error_in_a_coroutine_function_is_a_failed_call_too():
    async def tutor(messages):
        raise ValueError("no")

    with pytest.raises(CallFailed, match="ValueError: no"):
        await ask(tutor)


async def test_a_plain_function_that_gives_an_awaitable_is_awaited():
    async def later():
        return "later"

    assert (await ask(lambda messages: later())).text == "later"


async def test_a_plain_function_does_not_hold_up_the_loop_and_no_more_run_than_allowed():
    running, most, lock = 0, 0, threading.Lock()

    def tutor(messages):
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        time.sleep(0.02)
        with lock:
            running -= 1
        return threading.current_thread().name

    model = FunctionModel("tutor", tutor, concurrency=3)
    replies = await asyncio.gather(*(model.chat(HELLO, PLAIN) for _ in range(9)))
    assert most == 3
    assert all(r.text != threading.main_thread().name for r in replies)


async def test_a_function_that_hangs_meets_the_deadline_and_its_late_answer_is_dropped():
    release, left = threading.Event(), threading.Event()

    def tutor(messages):
        release.wait(5)
        left.set()
        return "late"

    with pytest.raises(CallFailed, match=r"no answer within 0.05 s") as failed:
        await ask(tutor, options={"timeout": 0.05})
    assert failed.value.kind == "timeout"
    release.set()
    await asyncio.to_thread(left.wait, 5)


async def test_the_function_cannot_change_what_the_engine_keeps():
    def tutor(messages):
        messages[0]["content"] = "changed"
        messages.clear()
        return "x"

    reply = await ask(tutor)
    assert reply.sent["messages"] == [{"role": "user", "content": "Hello."}] == HELLO


async def test_a_probe_calls_once_and_says_when_sampling_is_not_passed_on():
    calls = []
    model = FunctionModel("tutor", lambda messages: calls.append(messages) or "x")
    effective = await model.probe({"temperature": 0}, schema={"type": "object"})
    assert len(calls) == 1
    assert effective.params == {"temperature": 0} and effective.quirks == {"schema": "none"}
    assert "takes no params" in effective.adapted[0]


async def test_a_probe_of_a_broken_function_fails():
    with pytest.raises(CallFailed, match="ZeroDivisionError"):
        await FunctionModel("tutor", lambda messages: 1 / 0).probe({})


async def test_a_function_has_no_embeddings():
    with pytest.raises(ModelError, match="no embeddings"):
        await FunctionModel("tutor", lambda messages: "x").embed(["a"])
