from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edufair.text.sentences import holds_question, sentences, stated

SPLITS = [
    ("", []),
    ("   ", []),
    ("...", []),
    ("One sentence", ["One sentence"]),
    ("First one. Second one!", ["First one.", "Second one!"]),
    ("The price is 3.50. Pay it.", ["The price is 3.50.", "Pay it."]),
    ("It is 12. Well done!", ["It is 12.", "Well done!"]),
    ("Mr. Smith and Dr. Jones agree.", ["Mr. Smith and Dr. Jones agree."]),
    ("Use a unit, e.g. metres, i.e. SI.", ["Use a unit, e.g. metres, i.e. SI."]),
    ("Come at 10 a.m. on Monday.", ["Come at 10 a.m. on Monday."]),
    ("Come at 10 a.m. Then we start.", ["Come at 10 a.m.", "Then we start."]),
    ("Apples, pears, etc. are fruit.", ["Apples, pears, etc. are fruit."]),
    ("Well... maybe it is.", ["Well... maybe it is."]),
    ("Well... Maybe it is.", ["Well...", "Maybe it is."]),
    ("Ada J. Smith wrote it.", ["Ada J. Smith wrote it."]),
    ("The answer is A. Then go on.", ["The answer is A.", "Then go on."]),
    ("1. Add.\n2. Divide.", ["1. Add.", "2. Divide."]),
    ("Step 1. Add them.", ["Step 1. Add them."]),
    ("- one\n- two", ["- one", "- two"]),
    ("a line\ngoes on", ["a line\ngoes on"]),
    ("A line\nAnother", ["A line", "Another"]),
    ("A line\n\nanother", ["A line", "another"]),
    ('He said "stop." Then he left.', ['He said "stop."', "Then he left."]),
    ('"How many?" she asked.', ['"How many?" she asked.']),
    ("Really?! Yes.", ["Really?!", "Yes."]),
    ("It is 10.Then divide.", ["It is 10.", "Then divide."]),
    ("ok?now divide", ["ok?", "now divide"]),
    ("Fill in 5 + ? = 8.", ["Fill in 5 + ? = 8."]),
    ("**Good.** Now go.", ["**Good.**", "Now go."]),
    ("not right. you see it", ["not right.", "you see it"]),
]


@pytest.mark.parametrize(("text", "expected"), SPLITS)
def test_where_sentences_end(text: str, expected: list[str]) -> None:
    assert [s.text for s in sentences(text)] == expected


@pytest.mark.parametrize(
    "text",
    ["How many are left?", "how many are left", "So what is 5 + 5?", "5 + 5 = ?", "Fill in 5 + ? = 8.", "Really?!",
     "Is it ten", "can you tell me why", "Do you see it.", "It is ten, right?", "Great job! What is next?", "为什么？",
     "Okay, so how did you get there"],
)  # fmt: skip
def test_a_text_that_asks(text: str) -> None:
    assert holds_question(text)


@pytest.mark.parametrize(
    "text",
    ["", "It is ten.", "What a great answer!", "What you did is right.", "How you did it does not matter.",
     "When Ann is 4, Bob is 8.", "Tell me more.", "Is it!", "This can be done.", "Which leaves 10."],
)  # fmt: skip
def test_a_text_that_does_not_ask(text: str) -> None:
    assert not holds_question(text)


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("It is ten.", "It is ten."),
        ("Is it ten?", ""),
        ("The sum is ten, right?", "The sum is ten"),
        ("The sum is ten, isn't it?", "The sum is ten"),
        ("The sum is ten, do you see?", "The sum is ten"),
        ("The sum is ten, so what is left?", "The sum is ten"),
        ("What is the sum, is it ten, right?", ""),
        ("If it were ten, what would be left?", ""),
        ("If you add them, you get ten.", " you get ten."),
        ("If the sum is ten", ""),
        ("Ann, if I gave you ten pens, would you be glad?", ""),
    ],
)
def test_what_a_sentence_states(text: str, part: str) -> None:
    (sentence,) = sentences(text)
    assert text[slice(*stated(sentence))] == part


@given(st.text(alphabet="aA1 .?!\n,\"'()-*…", max_size=200))
def test_sentences_are_pieces_of_the_text_in_order(text: str) -> None:
    last = 0
    for sentence in sentences(text):
        assert text[sentence.start : sentence.end] == sentence.text
        assert sentence.start >= last
        begin, end = stated(sentence)
        assert sentence.start <= begin <= end <= sentence.end
        last = sentence.end
    kept = "".join(s.text for s in sentences(text))
    assert [c for c in text if c.isalnum()] == [c for c in kept if c.isalnum()]


@pytest.mark.parametrize(
    "text",
    ["?" * 1_000_000, "." * 1_000_000, "\n" * 1_000_000, "a. " * 100_000, "(" * 1_000_000, "1." * 300_000,
     ", so " * 100_000, "if " * 200_000 + "?", "so " * 200_000 + "?", " " * 1_000_000 + "?", "5 + ? = " * 50_000],
    ids=range(11),
)  # fmt: skip
def test_a_megabyte_of_hostile_text_is_split_quickly(text: str) -> None:
    start = time.process_time()
    for sentence in sentences(text):
        stated(sentence)
    assert time.process_time() - start < 3
