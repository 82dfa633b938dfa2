"""A host that fails, in every way the servers we know fail."""

import asyncio
import socket

import pytest

from edufair.errors import CallFailed
from edufair.models import Effective, Endpoint, Message, Reply
from edufair.models.limits import Backoff
from servers.openai_server import OpenAIServer, completion, serve, share

AT_ONCE = Backoff(first=0.001, cap=0.01, jitter=lambda: 0.5)
HELLO: list[Message] = [{"role": "user", "content": "Hello."}]
PLAIN = Effective("test-model", {}, {})


async def ask(server: OpenAIServer, effective: Effective = PLAIN, **options) -> Reply:
    async with serve(server) as url:
        model = Endpoint("tutor", url, "test-model", **{"backoff": AT_ONCE, "timeout": 5.0, **options})
        try:
            return await model.chat(HELLO, effective)
        finally:
            await model.close()


@pytest.mark.parametrize(
    ("fault", "kind", "status"),
    [
        ("500", "server", 500),
        ("502", "server", 502),
        ("503", "server", 503),
        ("503:0", "server", 503),
        ("504", "server", 504),
        ("529", "server", 529),
        ("408", "timeout", 408),
        ("429", "rate limit", 429),
        ("429:0", "rate limit", 429),
        ("429:0.005", "rate limit", 429),
        ("429:soon, perhaps", "rate limit", 429),
        ("429:Wed, 21 Oct 2015 07:28:00 GMT", "rate limit", 429),
        ("reset", "connection", None),
        ("half", "connection", None),
        ("html", "bad reply", 200),
        ("text", "bad reply", 200),
        ("empty", "bad reply", 200),
        ("error200", "server", 502),
    ],
)
async def test_a_passing_fault_is_tried_again_and_written_down(fault, kind, status):
    async with serve(OpenAIServer(faults={2: fault, 3: fault})) as url:
        model = Endpoint("tutor", url, "test-model", backoff=AT_ONCE)
        await model.chat(HELLO, PLAIN)
        reply = await model.chat(HELLO, PLAIN)
        await model.close()
    assert reply.status == "ok" and reply.text
    assert [(a.kind, a.status) for a in reply.failed_attempts] == [(kind, status)] * 2


async def test_a_web_page_before_any_answer_is_tried_again_too():
    assert (await ask(OpenAIServer(faults={1: "html"}))).status == "ok"


@pytest.mark.parametrize(
    ("fault", "kind", "status"),
    [
        ("500", "server", 500),
        ("429", "rate limit", 429),
        ("reset", "connection", None),
        ("error200", "server", 502),
        ("text", "bad reply", 200),
    ],
)
async def test_a_lasting_fault_ends_after_the_retries(fault, kind, status):
    server = OpenAIServer(faults=lambda ordinal, body: fault)
    with pytest.raises(CallFailed, match="tried 3 times") as failed:
        await ask(server, retries=2)
    assert (failed.value.kind, failed.value.status, failed.value.attempts) == (kind, status, 3)
    assert not failed.value.fatal and server.count == 3


@pytest.mark.parametrize("fault", ["hang", "stall", "late:0.5"])
async def test_a_host_that_does_not_finish_meets_the_deadline_and_is_asked_again(fault):
    server = OpenAIServer(faults={1: fault})
    reply = await ask(server, timeout=0.1)
    assert reply.status == "ok" and server.count == 2
    assert [(a.kind, a.status) for a in reply.failed_attempts] == [("timeout", None)]
    assert "no whole answer within 0.1 s" in reply.failed_attempts[0].message


async def test_a_late_answer_is_dropped_and_one_result_stays():
    answers = iter(["late", "in time"])
    server = OpenAIServer(lambda body: next(answers), faults={1: "late:0.15"})
    async with serve(server) as url:
        model = Endpoint("tutor", url, "test-model", timeout=0.1, backoff=AT_ONCE)
        first = await model.chat(HELLO, PLAIN)
        await asyncio.sleep(0.1)  # the late answer is due in this time
        await model.close()
    assert first.text == "in time"


async def test_a_host_that_hangs_for_good_fails_in_finite_time():
    server = OpenAIServer(faults=lambda ordinal, body: "hang")
    with pytest.raises(CallFailed) as failed:
        await ask(server, timeout=0.05, retries=1)
    assert failed.value.kind == "timeout" and failed.value.attempts == 2


async def test_nobody_listening_says_so_and_asks_whether_the_server_runs():
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    model = Endpoint("tutor", f"http://127.0.0.1:{port}", "m", retries=1, backoff=AT_ONCE)
    with pytest.raises(CallFailed, match=f"127.0.0.1:{port}.*is the server running") as failed:
        await model.probe({})
    await model.close()
    assert failed.value.kind == "connection" and failed.value.attempts == 2


@pytest.mark.parametrize(
    ("status", "error", "kind", "mend"),
    [
        (401, {"message": "Incorrect API key provided"}, "auth", "set api_key_env"),
        (403, {"message": "Forbidden"}, "auth", "set api_key_env"),
        (402, {"message": "Insufficient Balance"}, "auth", "cannot pay"),
        (
            404,
            {"message": "The model `x` does not exist", "code": "model_not_found"},
            "not found",
            "model id",
        ),
        (429, {"message": "You exceeded your quota", "code": "insufficient_quota"}, "rate limit", "quota"),
    ],
)
async def test_what_no_retry_can_mend_fails_at_once_for_all_calls(status, error, kind, mend):
    server = OpenAIServer(rules=lambda body: (status, {"error": error}))
    with pytest.raises(CallFailed, match=mend) as failed:
        await ask(server)
    assert (failed.value.kind, failed.value.status, failed.value.attempts) == (kind, status, 1)
    assert failed.value.fatal and server.count == 1


async def test_a_bad_request_is_neither_retried_nor_adapted_nor_fatal():
    error = {"message": "Unsupported parameter: 'temperature'", "param": "temperature"}
    server = OpenAIServer(rules=lambda body: (400, {"error": error}))
    with pytest.raises(CallFailed) as failed:
        await ask(server, Effective("m", {}, {"temperature": 0}))
    assert (failed.value.kind, failed.value.status, failed.value.fatal) == ("bad request", 400, False)
    assert server.count == 1


async def test_what_a_server_was_not_built_for_is_not_asked_again():
    error = {"code": 501, "message": "This server does not support embeddings. Start it with `--embeddings`"}
    server = OpenAIServer(rules=lambda body: (501, {"error": error}))
    with pytest.raises(CallFailed, match="--embeddings") as failed:
        await ask(server)
    assert failed.value.kind == "bad request" and server.count == 1


async def test_a_template_error_is_not_retried_although_it_comes_as_a_500():
    message = "Jinja Exception: Conversation roles must alternate user/assistant/user/assistant/..."
    server = OpenAIServer(rules=lambda body: (500, {"error": {"code": 500, "message": message}}))
    with pytest.raises(CallFailed) as failed:
        await ask(server)
    assert failed.value.kind == "bad request" and server.count == 1


# How hosts word it (OpenAI's API reference; issue trackers of vLLM, SGLang, llama.cpp, Ollama, TGI).
CONTEXT = [
    (400, {"error": {"message": "Too long.", "code": "context_length_exceeded"}}),
    (
        400,
        {
            "object": "error",
            "message": "This model's maximum context length is 8192 tokens. However, you requested 8203",
            "type": "BadRequestError",
            "code": 400,
        },
    ),
    (
        400,
        {
            "object": "error",
            "message": "The input (61709 tokens) is longer than the model's context length (40960 tokens).",
        },
    ),
    (
        400,
        {
            "error": {
                "code": 400,
                "message": "request (4390 tokens) exceeds the available context size (4096 tokens), try more",
                "type": "exceed_context_size_error",
                "n_ctx": 4096,
            }
        },
    ),
    (500, {"error": {"code": 500, "message": "Context size has been exceeded.", "type": "server_error"}}),
    (400, {"error": "the input length exceeds the context length"}),
    (422, {"error": "`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000", "error_type": "x"}),
    (400, {"error": {"message": "The input token count (9) exceeds the maximum number of tokens allowed"}}),
    (200, {"error": {"code": 400, "message": "exceeds the available context size", "type": "x"}}),
]


@pytest.mark.parametrize(("status", "payload"), CONTEXT)
async def test_a_conversation_too_long_is_an_outcome(status, payload):
    reply = await ask(OpenAIServer(rules=lambda body: (status, payload)), retries=1)
    assert reply.status == "context" and reply.text == "" and reply.sent["messages"] == HELLO


async def test_a_500_about_context_is_believed_only_when_it_stays():
    payload = {"error": {"code": 500, "message": "Context size has been exceeded."}}
    crowded = iter([(500, payload), None])
    reply = await ask(OpenAIServer(rules=lambda body: next(crowded)))
    assert reply.status == "ok" and len(reply.failed_attempts) == 1


@pytest.mark.parametrize(
    "error",
    [
        {
            "message": "The response was filtered due to the prompt triggering our content management policy",
            "code": "content_filter",
            "innererror": {"code": "ResponsibleAIPolicyViolation"},
        },
        {"message": "Content Exists Risk", "type": "invalid_request_error"},
        {"message": "Input data may contain inappropriate content.", "code": "data_inspection_failed"},
    ],
)
async def test_a_filtered_prompt_is_an_outcome(error):
    server = OpenAIServer(rules=lambda body: (400, {"error": error}))
    reply = await ask(server)
    assert reply.status == "filtered" and server.count == 1


async def test_moderation_with_a_403_is_an_outcome_and_does_not_stop_the_run():
    error = {
        "code": 403,
        "message": "needs moderation",
        "metadata": {"flagged_input": "...", "reasons": ["x"]},
    }
    assert (await ask(OpenAIServer(rules=lambda body: (403, {"error": error})))).status == "filtered"


async def test_a_reasoning_model_stopped_by_its_limit_is_truncated():
    message = "Could not finish the message because max_tokens or model output limit was reached."
    reply = await ask(OpenAIServer(rules=lambda body: (400, {"error": {"message": message}})))
    assert reply.status == "truncated"


async def test_a_reply_cut_by_the_end_of_the_window_is_context_and_one_cut_by_its_limit_truncated():
    def responder(body):
        usage = {"prompt_tokens": 90, "completion_tokens": 10}
        return {**completion("So we", body, finish_reason="length"), "usage": usage}

    at_window = await ask(OpenAIServer(responder), Effective("m", {}, {"max_tokens": 50}, context=100))
    at_limit = await ask(OpenAIServer(responder), Effective("m", {}, {"max_tokens": 10}, context=100))
    assert (at_window.status, at_window.text) == ("context", "So we")
    assert at_limit.status == "truncated"


async def test_an_echoed_request_steers_no_reading_of_the_error_and_is_not_shown():
    detail = [{"loc": ["body", "messages"], "msg": "wrong type", "input": "maximum context length, said Ada"}]
    with pytest.raises(CallFailed) as failed:
        await ask(OpenAIServer(rules=lambda body: (422, {"detail": detail})))
    assert "body.messages: wrong type" in str(failed.value) and "Ada" not in str(failed.value)


async def test_one_429_rests_all_calls_of_the_endpoint():
    server = OpenAIServer(faults={1: "429:0.1"})
    async with serve(server) as url:
        model = Endpoint("tutor", url, "m", concurrency=8, backoff=Backoff(0.001, 60.0, lambda: 0.0))
        refused = asyncio.create_task(model.chat(HELLO, PLAIN))
        loop = asyncio.get_running_loop()
        while not server.count:
            await asyncio.sleep(0)
        started = loop.time()
        while model._pause.until < 0:  # the refusal has come back
            await asyncio.sleep(0)
        await asyncio.gather(refused, *(model.chat(HELLO, PLAIN) for _ in range(7)))
        await model.close()
    assert loop.time() - started >= 0.1 and server.count == 9


async def test_a_host_that_fails_for_a_part_of_all_calls_loses_none():
    server = OpenAIServer(lambda body: body["messages"][-1]["content"], faults=share(0.3, "500"))
    async with serve(server) as url:
        model = Endpoint("tutor", url, "m", backoff=AT_ONCE)
        asked = [str(i) for i in range(100)]
        replies = await asyncio.gather(*(model.chat([{"role": "user", "content": t}], PLAIN) for t in asked))
        await model.close()
    assert [r.text for r in replies] == asked
    failed = sum(len(r.failed_attempts) for r in replies)
    assert 10 < failed < 60 and server.count == 100 + failed
