from __future__ import annotations

import pytest

from edufair.records import Turn
from edufair.scoring.conversation import METRICS, conversation_metrics


def dialogue(*said: tuple[str, str]) -> list[Turn]:
    return [Turn(number, role, text) for number, (role, text) in enumerate(said, 1)]


def test_the_four_metrics_of_a_small_dialogue() -> None:
    turns = dialogue(
        ("student", "I think it is 12."),  # 5 words
        ("tutor", "Good. How did you get 12?"),  # 6 words, asks
        ("student", "6 + 6"),  # 2 words
        ("tutor", "Well done."),  # 2 words
    )
    assert conversation_metrics(turns) == {
        "tutor_turns": 2.0,
        "tutor_avg_word": 4.0,  # (6 + 2) / 2
        "tutor_question_rate": 0.5,  # 1 of 2
        "tutor_student_word_ratio": pytest.approx(8 / 7),  # (6 + 2) / (5 + 2)
    }


def test_the_names_are_the_protocols() -> None:
    assert tuple(conversation_metrics([])) == METRICS


def test_what_is_undefined_is_missing_and_not_zero() -> None:
    assert conversation_metrics([]) == {
        "tutor_turns": 0.0,
        "tutor_avg_word": None,
        "tutor_question_rate": None,
        "tutor_student_word_ratio": None,
    }
    silent = conversation_metrics(dialogue(("student", "..."), ("tutor", "Are you there?")))
    assert silent["tutor_student_word_ratio"] is None
    assert silent["tutor_avg_word"] == 3.0


def test_a_student_alone_gives_no_ratio() -> None:
    assert conversation_metrics(dialogue(("student", "12")))["tutor_student_word_ratio"] is None


def test_a_tutor_turn_without_words_counts_as_a_turn() -> None:
    metrics = conversation_metrics(dialogue(("student", "12"), ("tutor", ""), ("student", "12"), ("tutor", "Why 12?")))
    assert metrics["tutor_turns"] == 2.0
    assert metrics["tutor_avg_word"] == 1.0
    assert metrics["tutor_question_rate"] == 0.5


def test_two_questions_in_a_turn_count_once() -> None:
    assert conversation_metrics(dialogue(("tutor", "Why? How?")))["tutor_question_rate"] == 1.0


def test_reasoning_is_not_counted() -> None:
    turn = Turn(1, "tutor", "Try again.", reasoning="Should I tell him? No, I had better not.")
    metrics = conversation_metrics([Turn(2, "student", "12"), turn])
    assert metrics["tutor_avg_word"] == 2.0
    assert metrics["tutor_question_rate"] == 0.0
