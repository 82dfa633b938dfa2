from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from edufair.models.base import Message
from edufair.models.normalise import OPENING, normalise

STRICTEST = {"system_role": "merge", "opening_assistant": "prepend", "same_role_twice": "merge"}


def shape(roles: str) -> list[Message]:
    """s, a and u for roles; the contents are numbered."""
    names = {"s": "system", "a": "assistant", "u": "user"}
    return [{"role": names[r], "content": str(i)} for i, r in enumerate(roles)]  # type: ignore[typeddict-item]


def told(messages: list[Message]) -> list[tuple[str, str]]:
    return [(m["role"][0], m["content"]) for m in messages]


def test_a_list_for_a_host_without_quirks_is_unchanged_and_a_copy():
    messages = shape("sauu")
    assert normalise(messages, {}) == messages
    assert normalise(messages, {}) is not messages


def test_system_text_goes_into_the_first_user_message():
    assert told(normalise(shape("sua"), {"system_role": "merge"})) == [("u", "0\n\n1"), ("a", "2")]


def test_system_text_before_an_assistant_becomes_the_opening_user_message():
    assert told(normalise(shape("sau"), {"system_role": "merge"})) == [("u", "0"), ("a", "1"), ("u", "2")]


def test_an_opening_assistant_gets_the_fixed_neutral_message_after_the_system_text():
    rewritten = normalise(shape("sau"), {"opening_assistant": "prepend"})
    assert told(rewritten) == [("s", "0"), ("u", OPENING["content"]), ("a", "1"), ("u", "2")]


def test_both_together_make_one_user_message():
    assert told(normalise(shape("sau"), STRICTEST))[0] == ("u", f"0\n\n{OPENING['content']}")


def test_neighbours_of_one_role_are_joined_with_an_empty_line():
    merged = normalise(shape("suuaau"), {"same_role_twice": "merge"})
    assert told(merged) == [("s", "0"), ("u", "1\n\n2"), ("a", "3\n\n4"), ("u", "5")]


def test_a_lone_system_message_and_an_empty_list_stay_what_they_are():
    assert told(normalise(shape("s"), STRICTEST)) == [("u", "0")]
    assert normalise([], STRICTEST) == []


def test_the_callers_messages_are_never_touched():
    messages = shape("ssauu")
    normalise(messages, STRICTEST)
    assert messages == shape("ssauu")


def test_every_short_list_comes_out_alternating_from_user_and_keeps_its_words_in_order():
    for length in range(1, 6):
        for roles in product("sau", repeat=length):
            messages = shape("".join(roles))
            rewritten = normalise(messages, STRICTEST)
            expected = ["user", "assistant"] * len(rewritten)
            assert [m["role"] for m in rewritten] == expected[: len(rewritten)]
            words = [w for m in rewritten for w in m["content"].split("\n\n") if w != OPENING["content"]]
            assert words == [m["content"] for m in messages]


@given(st.text(alphabet="sau", max_size=8))
def test_rewriting_twice_changes_nothing_more(roles):
    once = normalise(shape(roles), STRICTEST)
    assert normalise(once, STRICTEST) == once
