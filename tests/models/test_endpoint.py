import asyncio
import json

import orjson
import pytest

from edufair.errors import CallFailed, ModelError
from edufair.models import Effective, Endpoint, Message, Model, Tokens
from edufair.models.addresses import candidates, is_local, proxy_for
from edufair.models.limits import Backoff
from servers.openai_server import OpenAIServer, completion, serve

AT_ONCE = Backoff(first=0.001, cap=0.01, jitter=lambda: 0.5)
HELLO: list[Message] = [{"role": "user", "content": "Hello."}]
PLAIN = Effective("test-model", {}, {})


def endpoint(url: str, **options) -> Endpoint:
    return Endpoint("tutor", url, "test-model", **{"backoff": AT_ONCE, "timeout": 5.0, **options})


async def ask(server: OpenAIServer, messages=HELLO, effective=PLAIN, options=None, **chat):
    async with serve(server) as url:
        model = endpoint(url, **(options or {}))
        try:
            return await model.chat(messages, effective, **chat)
        finally:
            await model.close()


def test_an_endpoint_is_a_model():
    assert isinstance(endpoint("http://localhost:1"), Model)


async def test_a_reply_holds_text_tokens_finish_reason_and_the_body_as_sent():
    server = OpenAIServer(lambda body: "Four is the sum.")
    effective = Effective("test-model", {}, {"temperature": 0, "max_tokens": 50})
    reply = await ask(server, [{"role": "user", "content": "Two and two?"}], effective)
    assert (reply.text, reply.status, reply.finish_reason) == ("Four is the sum.", "ok", "stop")
    assert reply.tokens == Tokens(prompt=3, completion=4)
    assert reply.model == "test-model" and reply.latency > 0 and reply.failed_attempts == ()
    assert reply.sent == server.bodies[0] == {
        "model": "test-model",
        "messages": [{"role": "user", "content": "Two and two?"}],
        "temperature": 0,
        "max_tokens": 50,
    }  # fmt: skip


async def test_a_second_try_with_a_larger_budget_uses_the_name_the_host_takes():
    server = OpenAIServer()
    effective = Effective("test-model", {}, {"max_completion_tokens": 50})
    await ask(server, effective=effective, max_tokens=100)
    assert server.bodies[0]["max_completion_tokens"] == 100 and "max_tokens" not in server.bodies[0]


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        ("none", None),
        ("json_object", {"type": "json_object"}),
        (
            "json_schema",
            {
                "type": "json_schema",
                "json_schema": {"name": "reply", "strict": True, "schema": {"type": "object"}},
            },
        ),
    ],
)
async def test_a_schema_is_sent_in_the_mode_the_probe_found(mode, expected):
    server = OpenAIServer()
    await ask(server, effective=Effective("m", {}, {}, {"schema": mode}), schema={"type": "object"})
    assert server.bodies[0].get("response_format") == expected


async def test_the_rewritten_list_is_what_is_sent_and_stored():
    server = OpenAIServer()
    effective = Effective("m", {}, {}, {"system_role": "merge"})
    reply = await ask(server, [{"role": "system", "content": "Teach."}, *HELLO], effective)
    assert reply.sent["messages"] == server.bodies[0]["messages"] == [
        {"role": "user", "content": "Teach.\n\nHello."}
    ]  # fmt: skip


# Addresses


@pytest.mark.parametrize("root", ["/v1", "", "/api/v3", "/gateway/v1"])
@pytest.mark.parametrize("pasted", ["", "/", "/chat/completions", "/embeddings"])
async def test_the_base_is_found_whatever_form_the_address_has(root, pasted):
    server = OpenAIServer(root=root)
    async with serve(server) as url:
        host = url.removesuffix("/v1")
        model = endpoint(host + root + pasted)
        effective = await model.probe({})
        assert effective.url == f"{host}{root}/chat/completions"
        await model.close()


@pytest.mark.parametrize("root", ["/v1", ""])
async def test_v1_is_added_or_left_out_where_the_address_was_wrong(root):
    server = OpenAIServer(root=root)
    async with serve(server) as url:
        host = url.removesuffix("/v1")
        model = endpoint(host if root else f"{host}/v1")
        reply = await model.chat(HELLO, PLAIN)
        assert reply.status == "ok"
        await model.chat(HELLO, PLAIN)
        assert server.paths[-2:] == [f"{root}/chat/completions"] * 2
        await model.close()


async def test_an_address_without_an_api_names_every_address_tried():
    async with serve(OpenAIServer(root="/elsewhere")) as url:
        model = endpoint(url)
        with pytest.raises(CallFailed) as failed:
            await model.probe({})
        await model.close()
    host = url.removesuffix("/v1")
    assert f"{host}/v1/chat/completions" in str(failed.value)
    assert f"{host}/chat/completions" in str(failed.value)
    assert failed.value.kind == "not found" and failed.value.fatal


async def test_a_resumed_run_takes_the_address_an_earlier_probe_found():
    server = OpenAIServer(root="")
    async with serve(server) as url:
        host = url.removesuffix("/v1")
        model = endpoint(f"{host}/v1")
        await model.chat(HELLO, Effective("m", {}, {}, url=f"{host}/chat/completions"))
        await model.close()
    assert server.paths == ["/chat/completions"]


def test_a_query_in_the_address_is_kept_for_the_host_and_hidden_from_people():
    assert [str(c) for c in candidates("https://a.example/openai?api-version=1&k=hidden")] == [
        "https://a.example/openai?api-version=1&k=hidden",
        "https://a.example/openai/v1?api-version=1&k=hidden",
    ]
    assert "hidden" not in repr(endpoint("https://a.example/openai?k=hidden"))


@pytest.mark.parametrize("url", ["", "localhost:8000", "ftp://a.example", "http://", "http://[::1"])
def test_an_address_that_is_none_says_how_one_looks(url):
    with pytest.raises(ModelError, match="http://localhost:8000/v1"):
        endpoint(url)


def test_a_password_in_the_address_is_refused_without_repeating_it():
    with pytest.raises(ModelError) as failed:
        endpoint("https://user:hunter2@a.example/v1")
    assert "hunter2" not in str(failed.value) and "api_key_env" in str(failed.value)


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "127.8.8.8", "[::1]", "0.0.0.0", "a.localhost"])
def test_this_machine_is_reached_without_a_proxy(host, monkeypatch):
    monkeypatch.setenv("http_proxy", "http://proxy.example:3128")
    monkeypatch.setenv("no_proxy", "")
    assert proxy_for(candidates(f"http://{host}:8000")[0]) is None


def test_another_machine_is_reached_through_the_proxy_unless_excepted(monkeypatch):
    monkeypatch.setenv("https_proxy", "http://proxy.example:3128")
    monkeypatch.setenv("no_proxy", "inside.example,10.0.0.1:8443")
    assert proxy_for(candidates("https://outside.example")[0]) == "http://proxy.example:3128"
    assert proxy_for(candidates("https://inside.example")[0]) is None
    assert proxy_for(candidates("https://10.0.0.1:8443")[0]) is None
    assert not is_local("localhost.example")


@pytest.mark.parametrize("proxy", ["socks5://me:hunter2@proxy.example:1080", "proxy.example:3128"])
def test_a_proxy_of_another_kind_is_an_error_that_shows_no_password(monkeypatch, proxy):
    monkeypatch.setenv("https_proxy", proxy)
    monkeypatch.setenv("no_proxy", "")
    with pytest.raises(ModelError, match="https_proxy is not of the form http://host:port") as failed:
        proxy_for(candidates("https://outside.example")[0])
    assert "hunter2" not in str(failed.value)


async def test_a_proxy_variable_does_not_reach_a_call_to_this_machine(monkeypatch):
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    assert (await ask(OpenAIServer())).status == "ok"


async def test_a_redirect_is_not_followed():
    server = OpenAIServer(rules=lambda body: (307, {}))
    with pytest.raises(CallFailed, match="redirects"):
        await ask(server)


# Keys

KEY = "sk-test-0123456789abcdef"


async def test_no_key_is_needed_and_none_is_sent_to_a_server_without_keys():
    server = OpenAIServer()
    await ask(server)
    assert "Authorization" not in server.headers[0]


async def test_the_key_comes_from_the_environment_and_goes_into_the_header_alone(monkeypatch):
    monkeypatch.setenv("TUTOR_KEY", f" {KEY}\n")
    server = OpenAIServer()
    reply = await ask(server, options={"api_key_env": "TUTOR_KEY"})
    assert server.headers[0]["Authorization"] == f"Bearer {KEY}"
    assert KEY not in repr(reply)


@pytest.mark.parametrize("value", [None, "", "  "])
async def test_a_missing_key_names_the_variable_and_the_mend(monkeypatch, value):
    monkeypatch.delenv("TUTOR_KEY", raising=False)
    if value is not None:
        monkeypatch.setenv("TUTOR_KEY", value)
    with pytest.raises(ModelError, match=r"TUTOR_KEY .* is not set; export TUTOR_KEY="):
        await endpoint("http://localhost:1", api_key_env="TUTOR_KEY").probe({})


async def test_a_key_written_where_its_variable_belongs_is_not_repeated():
    with pytest.raises(ModelError) as failed:
        await endpoint("http://localhost:1", api_key_env=KEY).probe({})
    assert KEY not in str(failed.value) and "name of an environment variable" in str(failed.value)


@pytest.mark.parametrize("key", [KEY, "sk-tiny"])
@pytest.mark.parametrize("status", [400, 401, 500])
async def test_a_key_that_the_host_echoes_is_masked(monkeypatch, key, status):
    monkeypatch.setenv("TUTOR_KEY", key)
    server = OpenAIServer(rules=lambda body: (status, {"error": {"message": f"bad key {key}", "code": f"key {key}"}}))
    with pytest.raises(CallFailed) as failed:
        await ask(server, options={"api_key_env": "TUTOR_KEY", "retries": 1})
    error: BaseException | None = failed.value
    while error is not None:
        assert key not in f"{error!r} {error} {vars(error)}"
        error = error.__cause__ or error.__context__
    assert "bad key ***" in str(failed.value)


async def test_a_key_that_stands_in_a_reply_is_masked(monkeypatch):
    monkeypatch.setenv("TUTOR_KEY", KEY)
    reply = await ask(OpenAIServer(lambda body: f"key={KEY}"), options={"api_key_env": "TUTOR_KEY"})
    assert reply.text == "key=***"


async def test_a_dummy_key_does_not_mask_a_word_of_the_reply(monkeypatch):
    monkeypatch.setenv("TUTOR_KEY", "ollama")
    reply = await ask(OpenAIServer(lambda body: "I am ollama."), options={"api_key_env": "TUTOR_KEY"})
    assert reply.text == "I am ollama."


def test_extra_body_may_not_replace_what_is_asked():
    with pytest.raises(ModelError, match="may not set messages"):
        endpoint("http://localhost:1", extra_body={"messages": []})


# Texts

ODD = ["a\u0000b", "a\u2028b", "\U0001f600", "a\u00a0\ufeffb", "\r\n\t", "é e\u0301"]


@pytest.mark.parametrize("text", ODD[:4] + ODD[5:])
async def test_odd_characters_go_to_the_host_and_come_back_unchanged(text):
    server = OpenAIServer(lambda body: body["messages"][-1]["content"])
    reply = await ask(server, [{"role": "user", "content": text}])
    assert reply.text == text and server.bodies[0]["messages"][0]["content"] == text


async def test_half_surrogates_in_a_reply_lose_nothing_else():
    def responder(body):
        return completion("a\ud83db", body)

    reply = await ask(OpenAIServer(responder))
    assert reply.text == "a\ufffdb"
    assert reply.tokens.completion == 1
    orjson.dumps(reply.text)


async def test_half_surrogates_in_a_request_are_replaced_in_what_is_sent_and_stored():
    server = OpenAIServer()
    reply = await ask(server, [{"role": "user", "content": "a\udc00b"}])
    assert server.bodies[0]["messages"][0]["content"] == "a\ufffdb"
    assert reply.sent == server.bodies[0]


async def test_a_body_beyond_a_megabyte_is_sent_without_a_warning():
    text = "word " * 300_000
    server = OpenAIServer(lambda body: "Long.")
    await ask(server, [{"role": "user", "content": text}])
    assert server.bodies[0]["messages"][0]["content"] == text


# Limits


async def test_no_more_calls_run_at_once_than_concurrency_allows():
    server = OpenAIServer(latency=0.01)
    async with serve(server) as url:
        model = endpoint(url, concurrency=3)
        await asyncio.gather(*(model.chat(HELLO, PLAIN) for _ in range(12)))
        await model.close()
    assert server.count == 12 and server.most_running == 3


async def test_each_of_many_calls_gets_its_own_answer():
    async with serve(OpenAIServer(lambda body: body["messages"][-1]["content"])) as url:
        model = endpoint(url)
        asked = [str(i) for i in range(200)]
        replies = await asyncio.gather(*(model.chat([{"role": "user", "content": t}], PLAIN) for t in asked))
        await model.close()
    assert [r.text for r in replies] == asked


async def test_requests_are_paced_evenly():
    async with serve(OpenAIServer()) as url:
        model = endpoint(url, requests_per_minute=60 / 0.02)  # one every 20 ms
        loop = asyncio.get_running_loop()
        started = loop.time()
        await asyncio.gather(*(model.chat(HELLO, PLAIN) for _ in range(6)))
        await model.close()
        assert loop.time() - started >= 0.1  # five gaps


async def test_tokens_are_paced_by_what_the_host_counted():
    def responder(body):
        return {**completion("x", body), "usage": {"prompt_tokens": 60, "completion_tokens": 40}}

    async with serve(OpenAIServer(responder)) as url:
        model = endpoint(url, tokens_per_minute=60 * 1000)  # 100 tokens last 0.1 s
        loop = asyncio.get_running_loop()
        started = loop.time()
        for _ in range(3):
            await model.chat(HELLO, PLAIN)
        await model.close()
        assert loop.time() - started >= 0.2  # the third call waits for the tokens of two


async def test_a_closed_endpoint_opens_again_in_another_loop():
    async with serve(OpenAIServer()) as url:
        model = endpoint(url)
        await model.chat(HELLO, PLAIN)
        await model.close()

        def elsewhere():
            async def again():
                reply = await model.chat(HELLO, PLAIN)
                await model.close()
                return reply

            return asyncio.run(again())

        assert (await asyncio.to_thread(elsewhere)).status == "ok"


async def test_a_cancelled_call_gives_its_place_back():
    server = OpenAIServer(faults={1: "hang"})
    async with serve(server) as url:
        model = endpoint(url, concurrency=1)
        call = asyncio.create_task(model.chat(HELLO, PLAIN))
        while not server.count:
            await asyncio.sleep(0)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        assert (await model.chat(HELLO, PLAIN)).status == "ok"
        await model.close()


# Embeddings


async def embed(server: OpenAIServer, texts, **options):
    async with serve(server) as url:
        model = endpoint(url, **options)
        try:
            return await model.embed(texts)
        finally:
            await model.close()


async def test_vectors_come_in_the_order_of_the_texts_over_all_batches():
    server = OpenAIServer()
    result = await embed(server, ["x" * i for i in range(1, 151)])
    assert [v[0] for v in result.vectors] == list(range(1, 151))
    assert [len(body["input"]) for body in server.bodies] == [64, 64, 22]
    assert result.tokens.prompt == 150


async def test_no_texts_are_no_request():
    server = OpenAIServer()
    assert list((await embed(server, [])).vectors) == [] and server.count == 0


async def test_embeddings_are_retried_like_chats():
    server = OpenAIServer(faults={1: "500", 2: "half", 3: "429:0"})
    assert len((await embed(server, ["a", "b"])).vectors) == 2
    assert server.count == 4


@pytest.mark.parametrize(
    "embedder",
    [
        lambda text: [float("nan"), 1.0],
        lambda text: [1.0] * len(text),
        lambda text: [],
        lambda text: ["1", "2"],
        lambda text: None,
    ],
    ids=["not finite", "ragged", "empty", "texts", "null"],
)
async def test_vectors_that_are_not_whole_are_no_reply(embedder):
    with pytest.raises(CallFailed, match="2 whole vectors") as failed:
        await embed(OpenAIServer(embedder=embedder), ["a", "bb"], retries=1)
    assert failed.value.kind == "bad reply" and failed.value.attempts == 2


async def test_a_whole_reply_survives_a_trip_through_json():
    reply = await ask(OpenAIServer(lambda body: "a\u0000\u2028\U0001f600"))
    assert json.loads(json.dumps(dict(reply.sent))) == reply.sent
    assert json.loads(orjson.dumps(reply.text)) == reply.text
