import json

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from edufair.models.base import Tokens
from edufair.models.faults import Fault
from edufair.models.reading import (
    context_cut,
    decode,
    make_reply,
    mended,
    read_reply,
    read_tokens,
    read_vectors,
    split_reasoning,
)


def payload(content, finish="stop", **message):
    return {
        "model": "m",
        "choices": [{"message": {"role": "assistant", "content": content, **message}, "finish_reason": finish}],
    }


@pytest.mark.parametrize(
    ("content", "finish", "message", "status", "text"),
    [
        ("Yes.", "stop", {}, "ok", "Yes."),
        ("Yes.", None, {}, "ok", "Yes."),
        ("Yes.", "eos", {}, "ok", "Yes."),
        (" Yes. \n", "stop", {}, "ok", " Yes. \n"),
        ("Ye", "length", {}, "truncated", "Ye"),
        ("", "length", {}, "truncated", ""),
        (None, "length", {}, "truncated", ""),
        (None, "stop", {}, "empty", ""),
        ("", "stop", {}, "empty", ""),
        (" \n\t\u00a0", "stop", {}, "empty", " \n\t\u00a0"),
        (None, "tool_calls", {"tool_calls": [{}]}, "empty", ""),
        ("half", "content_filter", {}, "filtered", "half"),
        (None, "content_filter", {"refusal": "No."}, "filtered", ""),
        (None, "stop", {"refusal": "I cannot help."}, "refused", "I cannot help."),
        ("", "stop", {"refusal": None}, "empty", ""),
        ("Yes.", "stop", {"refusal": ""}, "ok", "Yes."),
        ("x", "model_length", {}, "context", "x"),
        ([{"type": "text", "text": "Yes"}, {"type": "text", "text": "."}], "stop", {}, "ok", "Yes."),
        ([], "stop", {}, "empty", ""),
    ],
)
def test_the_finish_reason_is_looked_at_before_the_text(content, finish, message, status, text):
    reply = read_reply(payload(content, finish, **message))
    assert (reply.status, reply.text) == (status, text)


@pytest.mark.parametrize(
    ("content", "message", "reasoning", "text"),
    [
        ("<think>Is it 4?</think>\n\nYes.", {}, "Is it 4?", "Yes."),
        ("\n<think>\nIs it?\n</think>Yes.", {}, "Is it?", "Yes."),
        ("Is it 4?</think>Yes.", {}, "Is it 4?", "Yes."),
        ("<think>one</think><think>two</think>Yes.", {}, "one\ntwo", "Yes."),
        ("one</think><think>two</think>Yes.", {}, "one\ntwo", "Yes."),
        ("<think></think>Yes.", {}, "", "Yes."),
        ("Yes.", {"reasoning_content": "Is it?"}, "Is it?", "Yes."),
        ("Yes.", {"reasoning": "Is it?"}, "Is it?", "Yes."),
        ("Yes.", {"reasoning": "Is it?", "reasoning_content": "Is it?"}, "Is it?", "Yes."),
        ("<think>b</think>Yes.", {"reasoning": "a"}, "a\nb", "Yes."),
        ("Yes.", {"reasoning": {"effort": 1}}, "", "Yes."),
        ("Use <think> marks.", {}, "", "Use <think> marks."),
        (
            [
                {"type": "thinking", "thinking": [{"type": "text", "text": "Hm"}]},
                {"type": "text", "text": "Yes."},
            ],
            {},
            "Hm",
            "Yes.",
        ),
    ],
)
def test_reasoning_is_kept_apart_from_the_text(content, message, reasoning, text):
    reply = read_reply(payload(content, **message))
    assert (reply.reasoning, reply.text, reply.status) == (reasoning, text, "ok")


def test_a_block_without_its_end_is_reasoning_to_the_last_character():
    cut = read_reply(payload("<think>Let me see, the answer is 4", "length"))
    assert (cut.text, cut.status, cut.reasoning) == ("", "truncated", "Let me see, the answer is 4")
    assert read_reply(payload("<think>the answer is 4")).status == "empty"


def test_only_reasoning_is_no_answer():
    assert read_reply(payload(None, reasoning_content="The answer is 4.")).status == "empty"
    assert read_reply(payload('{"leak": true}</think>')).status == "empty"


@given(st.text(), st.text())
def test_whatever_stands_in_a_block_never_reaches_the_text(inside, after):
    inside, after = (t.replace("<think>", "").replace("</think>", "") for t in (inside, after))
    assert split_reasoning(f"<think>{inside}</think>{after}") == (inside.strip(), after.lstrip())


@pytest.mark.parametrize(
    "bad",
    [
        {},
        {"choices": []},
        {"choices": None},
        {"choices": [{}]},
        {"choices": [{"message": None}]},
        {"choices": [{"message": {"content": 4}}]},
        {"choices": [{"message": {"content": ["x"]}}]},
        {"choices": [{"message": {"content": [{"type": "text"}]}}]},
        {"choices": {"0": 1}},
        [],
        None,
    ],
)
def test_an_answer_without_a_readable_choice_is_a_bad_reply_worth_another_try(bad):
    with pytest.raises(Fault) as fault:
        read_reply(bad)
    assert fault.value.kind == "bad reply" and fault.value.retry


@pytest.mark.parametrize(
    ("usage", "tokens"),
    [
        (None, Tokens()),
        ({}, Tokens()),
        ({"prompt_tokens": 9, "completion_tokens": 3}, Tokens(9, None, 3)),
        ({"prompt_tokens": 9, "prompt_tokens_details": {"cached_tokens": 8}}, Tokens(9, 8, None)),
        ({"prompt_tokens": 9, "prompt_tokens_details": None}, Tokens(9)),
        ({"prompt_tokens": "9", "completion_tokens": True}, Tokens()),
        ({"prompt_tokens": -1, "completion_tokens": 1.5}, Tokens()),
        ("many", Tokens()),
    ],
)
def test_token_counts_are_whole_numbers_or_nothing(usage, tokens):
    assert read_tokens(usage) == tokens


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        (b'"a\\ud83db"', "a\ufffdb"),
        (b'"a\\udc00b"', "a\ufffdb"),
        (b'"\\ud83d\\ude00"', "\U0001f600"),
        (b'"\\ud83d"', "\ufffd"),
        (b'"a\xffb"', "a\ufffdb"),
        (b'"a\x00b\nc"', "a\x00b\nc"),
        (b'"a\\u0000b"', "a\x00b"),
        (b'"a\\u2028b"', "a\u2028b"),
        ('"a\u2028b"'.encode(), "a\u2028b"),
        ('\ufeff"a"'.encode(), "a"),
        (b' \n"a"\n', "a"),
    ],
)
def test_texts_no_strict_reader_takes_are_read_all_the_same(raw, text):
    assert decode(raw) == text
    orjson.dumps(decode(raw))


@pytest.mark.parametrize("raw", [b"", b"busy", b'{"a": 1', b"<html>", b"[" * 100_000, b"\xff\xfe"])
def test_what_is_no_json_is_none(raw):
    assert decode(raw) is None


def test_mending_reaches_keys_and_nested_texts_and_leaves_the_rest():
    broken = {"a\ud800": ["\udfff", ("x", 1, None, True)], "n": 1.5}
    assert mended(broken) == {"a\ufffd": ["\ufffd", ["x", 1, None, True]], "n": 1.5}


@given(st.text(alphabet=st.characters(codec=None)))
def test_any_text_a_careless_host_dumps_can_be_read_and_stored(text):
    read = decode(json.dumps({"t": text}).encode())["t"]
    orjson.dumps(read)
    assert len(read) <= len(text)
    assert read == text or any("\ud800" <= c <= "\udfff" for c in text)


def rows(*pairs):
    return {"data": [{"index": i, "embedding": v} for i, v in pairs]}


def test_vectors_are_ordered_by_index_and_by_place_without_one():
    assert read_vectors(rows((1, [2.0]), (0, [1.0])), 2) == [[1.0], [2.0]]
    assert read_vectors({"data": [{"embedding": [1.0]}, {"embedding": [2.0]}]}, 2) == [[1.0], [2.0]]


@pytest.mark.parametrize(
    "bad",
    [
        {},
        {"data": None},
        rows((0, [1.0])),
        rows((0, [1.0]), (0, [2.0])),
        rows((0, [1.0]), (1, [2.0]), (2, [3.0])),
        rows((0, [1.0]), (1, [2.0, 3.0])),
        rows((0, []), (1, [])),
        rows((0, [1.0]), (1, [float("inf")])),
        rows((0, [1.0]), (1, [None])),
        rows((0, [1.0]), (1, "AAAA")),
    ],
)
def test_vectors_that_are_missing_doubled_ragged_or_not_finite_are_a_bad_reply(bad):
    with pytest.raises(Fault):
        read_vectors(bad, 2)


@pytest.mark.parametrize(
    ("before", "now", "added", "cut"),
    [
        (100, 120, 200, False),
        (100, 100, 200, True),
        (100, 80, 200, True),
        (100, 100, 10, False),
        (None, 100, 200, False),
        (100, None, 200, False),
    ],
)
def test_a_conversation_that_grew_without_more_tokens_was_cut(before, now, added, cut):
    assert context_cut(before, now, added) is cut


def test_a_reply_without_more_said_is_ok_when_it_has_text():
    assert make_reply("Yes.").status == "ok"
