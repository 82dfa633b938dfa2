"""What a probe finds out, on hosts that refuse what real hosts refuse."""

import pytest

from edufair.errors import CallFailed, ModelError
from edufair.models import Effective, Endpoint, Message
from edufair.models.limits import Backoff
from servers.openai_server import OpenAIServer, completion, serve

AT_ONCE = Backoff(first=0.001, cap=0.01, jitter=lambda: 0.5)
SCHEMA = {"type": "object", "properties": {"leak": {"type": "boolean"}}, "required": ["leak"]}
DIALOGUE: list[Message] = [
    {"role": "system", "content": "Teach."},
    {"role": "assistant", "content": "Hi."},
    {"role": "user", "content": "One."},
    {"role": "user", "content": "Two."},
]


async def probe(server: OpenAIServer, sampling=None, schema=None, **options) -> Effective:
    async with serve(server) as url:
        model = Endpoint("tutor", url, "test-model", **{"backoff": AT_ONCE, "timeout": 5.0, **options})
        try:
            return await model.probe(sampling or {}, schema=schema)
        finally:
            await model.close()


def refused(message: str, **fields):
    return 400, {"error": {"message": message, "type": "invalid_request_error", **fields}}


async def test_an_easy_host_is_asked_twice_and_nothing_is_adapted():
    server = OpenAIServer()
    effective = await probe(server, {"temperature": 0, "max_tokens": 500})
    assert server.count == 2
    assert effective.params == effective.requested == {"temperature": 0, "max_tokens": 500}
    assert effective.adapted == () and effective.identity == effective.returned_model == "test-model"
    assert effective.quirks == {
        "system_role": "ok",
        "opening_assistant": "ok",
        "same_role_twice": "ok",
        "schema": "none",
    }
    assert Effective.from_json(effective.to_json()) == effective


async def test_an_absent_parameter_is_not_sent():
    server = OpenAIServer()
    await probe(server, {})
    assert all(body.keys() == {"model", "messages"} for body in server.bodies)


async def test_the_requested_limit_itself_is_tried_and_shapes_are_tried_short():
    server = OpenAIServer()
    await probe(server, {"max_tokens": 500}, SCHEMA)
    assert [body["max_tokens"] for body in server.bodies[:2]] == [500, 16]


def reasoning_model(body):
    """OpenAI's reasoning models refuse the old limit, a temperature and top_p, one at a time."""
    if "max_tokens" in body:
        return refused(
            "Unsupported parameter: 'max_tokens' is not supported with this model. "
            "Use 'max_completion_tokens' instead.",
            param="max_tokens",
            code="unsupported_parameter",
        )
    for name in ("temperature", "top_p"):
        if body.get(name, 1) != 1:
            return refused(
                f"Unsupported value: '{name}' does not support {body[name]} with this model. "
                "Only the default (1) value is supported.",
                param=name,
                code="unsupported_value",
            )
    return None


async def test_what_a_reasoning_model_refuses_is_adapted_once_and_written_down():
    server = OpenAIServer(rules=reasoning_model)
    effective = await probe(server, {"temperature": 0, "max_tokens": 500, "top_p": 0.9, "seed": 7})
    assert effective.requested == {"temperature": 0, "max_tokens": 500, "top_p": 0.9, "seed": 7}
    assert effective.params == {"max_completion_tokens": 500, "seed": 7}
    limit, temperature, top_p = effective.adapted
    assert limit.startswith("max_tokens is sent as max_completion_tokens (Unsupported parameter")
    assert temperature.startswith("temperature = 0 is refused and not sent")
    assert top_p.startswith("top_p = 0.9 is refused and not sent")


@pytest.mark.parametrize(
    ("refusal", "sampling", "params"),
    [
        (
            lambda b: refused("Unrecognized request argument supplied: seed") if "seed" in b else None,
            {"seed": 1, "temperature": 0},
            {"temperature": 0},
        ),
        (
            lambda b: (
                (
                    422,
                    {"detail": [{"loc": ["body", "seed"], "msg": "Extra inputs are not permitted", "input": 1}]},
                )
                if "seed" in b
                else None
            ),
            {"seed": 1, "max_tokens": 9},
            {"max_tokens": 9},
        ),
        (
            lambda b: (
                refused("`temperature` and `top_p` cannot both be specified for this model.")
                if {"temperature", "top_p"} <= b.keys()
                else None
            ),
            {"temperature": 0, "top_p": 1},
            {"temperature": 0},
        ),
        (
            lambda b: (
                refused("unknown field: max_completion_tokens is not supported, use max_tokens")
                if "max_completion_tokens" in b
                else None
            ),
            {"max_completion_tokens": 9},
            {"max_tokens": 9},
        ),
    ],
    ids=["argument", "validation", "both", "older limit"],
)
async def test_a_refused_parameter_is_found_by_its_name(refusal, sampling, params):
    effective = await probe(OpenAIServer(rules=refusal), sampling)
    assert effective.params == params and len(effective.adapted) == 1


@pytest.mark.parametrize(
    "message",
    [
        "max_tokens is too large: 100000. This model supports at most 16384 completion tokens.",
        "max_tokens must be at least 1",
    ],
)
async def test_a_limit_of_the_wrong_size_is_an_error_with_the_hosts_own_words(message):
    server = OpenAIServer(rules=lambda body: refused(message, param="max_tokens", code="invalid_value"))
    with pytest.raises(CallFailed, match=message[:20]):
        await probe(server, {"max_tokens": 100000})


async def test_a_limit_refused_under_both_names_ends_the_probe():
    server = OpenAIServer(
        rules=lambda body: next(
            (refused(f"{n} is not supported") for n in ("max_tokens", "max_completion_tokens") if n in body),
            None,
        )
    )
    with pytest.raises(CallFailed, match="max_completion_tokens is not supported"):
        await probe(server, {"max_tokens": 5})


async def test_a_refusal_that_names_no_parameter_is_an_error():
    server = OpenAIServer(rules=lambda body: refused("something is wrong"))
    with pytest.raises(CallFailed, match="something is wrong"):
        await probe(server, {"temperature": 0})
    assert server.count == 1


async def test_extra_body_is_sent_and_recorded_and_never_dropped():
    extra = {"chat_template_kwargs": {"enable_thinking": False}}
    server = OpenAIServer()
    effective = await probe(server, {"temperature": 0}, extra_body=extra)
    assert effective.params == {"temperature": 0, **extra} and server.bodies[0]["chat_template_kwargs"]
    server = OpenAIServer(rules=lambda body: refused("Unknown parameter: chat_template_kwargs"))
    with pytest.raises(CallFailed, match="chat_template_kwargs"):
        await probe(server, {}, extra_body=extra)


async def test_a_limit_that_the_window_cannot_hold_says_so():
    server = OpenAIServer(rules=lambda body: refused("This model's maximum context length is 64 tokens."))
    with pytest.raises(ModelError, match="does not fit its context window"):
        await probe(server, {"max_tokens": 100})


# Shapes of message lists


def no_system(body):
    if any(m["role"] == "system" for m in body["messages"]):
        return 500, {"error": {"code": 500, "message": "Jinja Exception: System role not supported"}}
    return alternating(body)


def alternating(body):
    roles = [m["role"] for m in body["messages"] if m["role"] != "system"]
    if any(role != ("user", "assistant")[i % 2] for i, role in enumerate(roles)):
        return refused("Conversation roles must alternate user/assistant/user/assistant/...")
    return None


def no_system_only(body):
    return refused("system role not supported") if body["messages"][0]["role"] == "system" else None


def user_first(body):
    first = next((m["role"] for m in body["messages"] if m["role"] != "system"), "")
    return (500, {"error": {"message": "boom"}}) if first == "assistant" else None


@pytest.mark.parametrize(
    ("rules", "system", "opening", "twice"),
    [
        (no_system, "merge", "prepend", "merge"),
        (alternating, "ok", "prepend", "merge"),
        (no_system_only, "merge", "ok", "ok"),
        (user_first, "ok", "prepend", "ok"),
    ],
)
async def test_the_rewriting_a_host_needs_is_found_and_then_suffices(rules, system, opening, twice):
    server = OpenAIServer(rules=rules)
    async with serve(server) as url:
        model = Endpoint("tutor", url, "m", backoff=AT_ONCE, retries=1)
        effective = await model.probe({"max_tokens": 99})
        reply = await model.chat(DIALOGUE, effective)
        await model.close()
    assert effective.quirks == {
        "system_role": system,
        "opening_assistant": opening,
        "same_role_twice": twice,
        "schema": "none",
    }
    assert len(effective.adapted) == [system, opening, twice].count("ok") * -1 + 3
    assert reply.status == "ok" and server.bodies[-1]["messages"] == reply.sent["messages"]


async def test_a_host_that_refuses_even_the_plainest_list_is_an_error_in_its_words():
    def rules(body):
        return refused("one message only") if body["messages"][0]["content"] != QUESTION else None

    QUESTION = "Reply with one word: ready"
    with pytest.raises(CallFailed, match="one message only"):
        await probe(OpenAIServer(rules=rules))


async def test_a_passing_500_is_not_taken_for_a_refused_shape():
    effective = await probe(OpenAIServer(faults={2: "500"}), retries=2)
    assert effective.quirks["system_role"] == "ok" and effective.adapted == ()


# Schema output


def obeys(*modes):
    """A host that answers in JSON when asked in one of these modes."""

    def responder(body):
        return '{"leak": true}' if body.get("response_format", {}).get("type") in modes else "Hello!"

    return responder


def without(*modes):
    def rules(body):
        mode = body.get("response_format", {}).get("type")
        return refused(f"response_format {mode} is not supported") if mode in modes else None

    return rules


@pytest.mark.parametrize(
    ("server", "mode", "given_up"),
    [
        (OpenAIServer(obeys("json_schema")), "json_schema", 0),
        (OpenAIServer(obeys("json_object"), rules=without("json_schema")), "json_object", 1),
        (OpenAIServer(obeys("json_object")), "json_object", 1),
        (OpenAIServer(obeys(), rules=without("json_schema", "json_object")), "none", 2),
        (OpenAIServer(obeys()), "none", 2),
    ],
    ids=["strict", "object only", "schema ignored", "none taken", "all ignored"],
)
async def test_the_strictest_schema_mode_a_host_obeys_is_found(server, mode, given_up):
    effective = await probe(server, {"max_tokens": 99}, SCHEMA)
    assert effective.quirks["schema"] == mode and len(effective.adapted) == given_up
    forms = [body["response_format"] for body in server.bodies if "response_format" in body]
    assert forms[0] == {
        "type": "json_schema",
        "json_schema": {"name": "reply", "strict": True, "schema": SCHEMA},
    }
    objects = [b for b in server.bodies if b.get("response_format", {}).get("type") == "json_object"]
    assert all("JSON" in body["messages"][-1]["content"] for body in objects)


async def test_a_reasoning_model_that_says_nothing_in_so_few_tokens_is_taken_to_obey():
    def responder(body):
        return completion(None, body, finish_reason="length", reasoning_content="Let me think")

    assert (await probe(OpenAIServer(responder), {}, SCHEMA)).quirks["schema"] == "json_schema"


# The context window


@pytest.mark.parametrize(
    ("entry", "props", "window"),
    [
        ({"max_model_len": 32768}, None, 32768),
        ({"context_length": 8192}, None, 8192),
        ({"owned_by": "llamacpp"}, {"default_generation_settings": {"n_ctx": 2048}}, 2048),
        ({"owned_by": "llamacpp"}, None, None),
        ({"max_model_len": "long"}, None, None),
        ({}, None, None),
    ],
)
async def test_the_window_is_what_the_host_tells(entry, props, window):
    assert (await probe(OpenAIServer(model_entry=entry, props=props))).context == window


async def test_a_window_the_user_states_goes_first():
    assert (await probe(OpenAIServer(model_entry={"max_model_len": 32768}), context=4096)).context == 4096
