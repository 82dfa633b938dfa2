"""The four conversation-level metrics of the dialogue audit (EduFair-Bench, section 4.1): counted, not judged."""

from __future__ import annotations

from collections.abc import Sequence

from edufair.records import Turn
from edufair.text.sentences import holds_question
from edufair.text.words import count_words

METRICS = ("tutor_turns", "tutor_avg_word", "tutor_question_rate", "tutor_student_word_ratio")


def conversation_metrics(turns: Sequence[Turn]) -> dict[str, float | None]:
    """The conversation metrics of one dialogue, by name.

    `turns` must exclude the opening (the question, which is the same in every arm). Only a turn's text is counted,
    never its reasoning; what a word is says `count_words`, what a question is says `sentences`.

    - tutor_turns: the number of tutor turns.
    - tutor_avg_word: mean number of words of a tutor turn.
    - tutor_question_rate: the share of tutor turns that hold at least one question, 0 to 1.
    - tutor_student_word_ratio: the tutor's words over the student's.

    A metric that is undefined is None, never 0: the mean and the rate without a tutor turn, the ratio without a tutor
    turn or without a word from the student.
    """
    tutor = [turn.text for turn in turns if turn.role == "tutor"]
    tutor_words = sum(map(count_words, tutor))
    student_words = sum(count_words(turn.text) for turn in turns if turn.role == "student")
    return {
        "tutor_turns": float(len(tutor)),
        "tutor_avg_word": tutor_words / len(tutor) if tutor else None,
        "tutor_question_rate": sum(map(holds_question, tutor)) / len(tutor) if tutor else None,
        "tutor_student_word_ratio": tutor_words / student_words if tutor and student_words else None,
    }
