from __future__ import annotations

import time

import pytest

from edufair.text.words import count_words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", 0),
        ("   \n\t ", 0),
        ("Hello world", 2),
        ("Don't stop.", 2),
        ("a well-known fact", 3),
        ("It is 3.14, or 1,000.", 5),
        ("5 + 5 = 10", 3),
        ("5+5=10", 1),
        ("and/or", 1),
        ("yes—no", 2),
        ("yes – no", 2),
        ("well...then", 2),
        ("well… then", 2),
        ("- a point\n- another", 3),
        ("**bold** text", 2),
        ("? ! ...", 0),
        ("naïve café", 2),
        ("cafe\u0301", 1),
        ("नमस्ते दुनिया", 2),
        ("one\u00a0two", 2),
        ("👍 great", 1),
    ],
)
def test_what_counts_as_a_word(text: str, words: int) -> None:
    assert count_words(text) == words


@pytest.mark.parametrize("text", ["-" * 1_000_000, "." * 1_000_000, "a" * 1_000_000, "a " * 500_000])
def test_long_text_is_counted_quickly(text: str) -> None:
    start = time.process_time()
    count_words(text)
    assert time.process_time() - start < 3
