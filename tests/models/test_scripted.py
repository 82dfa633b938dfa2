import pytest

from edufair.errors import CallFailed, ModelError
from edufair.models import Effective, Message, Model, Reply, ScriptedModel

PLAIN = Effective("s", {}, {"temperature": 0})


def said(text: str) -> list[Message]:
    return [{"role": "user", "content": text}]


async def test_a_list_is_followed_line_by_line_and_every_request_is_remembered():
    model = ScriptedModel("tutor", ["One.", Reply("Two.", "truncated")])
    first = await model.chat(said("a"), PLAIN, schema={"type": "object"}, max_tokens=5)
    second = await model.chat(said("b"), PLAIN)
    assert (first.text, first.status) == ("One.", "ok")
    assert (second.text, second.status) == ("Two.", "truncated")
    assert [asked.messages[-1]["content"] for asked in model.asked] == ["a", "b"]
    assert model.asked[0].params == {"temperature": 0}
    assert (model.asked[0].schema, model.asked[0].max_tokens) == ({"type": "object"}, 5)
    assert first.sent == {"messages": said("a"), "temperature": 0}


async def test_a_script_that_has_ended_says_so():
    model = ScriptedModel("tutor", ["One."])
    await model.chat(said("a"), PLAIN)
    with pytest.raises(ModelError, match="'tutor' was asked 2 times, its script has 1 lines") as ended:
        await model.chat(said("b"), PLAIN)
    assert not isinstance(ended.value, CallFailed)  # no engine may take it for a failed call


async def test_a_dict_answers_by_the_first_words_that_stand_in_the_last_message():
    model = ScriptedModel("tutor", {"two and two": "Four.", "two": "2"})
    assert (await model.chat(said("What is two and two?"), PLAIN)).text == "Four."
    assert (await model.chat(said("Say two."), PLAIN)).text == "2"
    with pytest.raises(ModelError, match="none of 'two and two', 'two' stands in the last message: 'Three"):
        await model.chat(said("Three?"), PLAIN)


async def test_a_callable_answers_from_the_messages_sync_or_async():
    async def later(messages):
        return Reply("later", "ok")

    assert (await ScriptedModel("t", lambda m: m[-1]["content"].upper()).chat(said("a"), PLAIN)).text == "A"
    assert (await ScriptedModel("t", later).chat(said("a"), PLAIN)).text == "later"


async def test_an_exception_in_the_script_is_raised():
    model = ScriptedModel("tutor", [CallFailed("gone", kind="connection"), "Back."])
    with pytest.raises(CallFailed, match="gone"):
        await model.chat(said("a"), PLAIN)
    assert (await model.chat(said("a"), PLAIN)).text == "Back."


async def test_texts_are_read_as_a_hosts_would_be():
    model = ScriptedModel("tutor", ["<think>Hm</think>Yes.", " "])
    reply = await model.chat(said("a"), PLAIN)
    assert (reply.text, reply.reasoning) == ("Yes.", "Hm")
    assert (await model.chat(said("a"), PLAIN)).status == "empty"


async def test_what_was_asked_does_not_change_with_the_callers_list():
    model = ScriptedModel("tutor", lambda m: "x")
    messages = said("a")
    await model.chat(messages, PLAIN)
    messages[0]["content"] = "changed"
    assert model.asked[0].messages[0]["content"] == "a"


async def test_vectors_come_from_the_embed_function_alone():
    model = ScriptedModel("e", [], embed=lambda text: [len(text)])
    assert list((await model.embed(["a", "bb"])).vectors) == [[1], [2]]
    with pytest.raises(ModelError, match="give it embed="):
        await ScriptedModel("e", []).embed(["a"])


async def test_a_probe_asks_nothing_and_changes_nothing():
    model = ScriptedModel("tutor", [])
    assert isinstance(model, Model)
    effective = await model.probe({"temperature": 0})
    assert effective.identity == "scripted:tutor" and effective.params == {"temperature": 0}
    assert model.asked == []
    await model.close()
    assert model.closed
