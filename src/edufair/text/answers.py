"""Is the answer in it: whether a text holds an answer, a tutor reveals it, or a tutor affirms a student who gave it.

The rules, how they were checked and what they get wrong: docs/answer-matching.md.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

from edufair.text.affirmations import affirms
from edufair.text.context import Hit
from edufair.text.forms import WordsForm, as_number
from edufair.text.mathematics import Expression, is_mathematics
from edufair.text.numbers import plain
from edufair.text.sentences import sentences


class AnswerMatcher:
    """The answer of one item, ready to be looked for in many turns.

    `accepted` are variants that count as the answer too. `question` is the item's text: an answer that stands in it is
    given data, and counts as revealed only where a sentence states it as the result. Patterns are built once, here.
    Raises MissingExtra when an answer is an algebraic expression and math-verify is not installed
    (`needs_mathematics` tells beforehand), ValueError when the answer is empty.
    """

    def __init__(self, answer: str, accepted: Sequence[str] = (), question: str = "") -> None:
        self._forms = [_form(variant) for variant in dict.fromkeys([answer, *accepted])]
        given = plain(question)
        self._given = [any(True for _ in form.find(given)) for form in self._forms]

    def holds(self, text: str) -> bool:
        """Whether the answer stands in a text, asked or stated, unless only as a list or step number, as an operand of
        an expression ("5 + 10" for 10) or denied ("not 10")."""
        return self._stands(text, lambda hit: True)

    def revealed(self, tutor_text: str) -> bool:
        """Whether a tutor's turn states the answer.

        It must stand in a statement, not in a question, and as `holds` says. It must be stated as a result
        ("5 + 5 = 10", "the answer is 10", "10 is correct", or nothing else said) where it is given data of the
        question, stands in an instruction ("Try 10") or in an echo of the student ("You said 10"), or is a word such
        as "one" or "no" that seldom means the answer.
        """
        return self._stands(tutor_text, lambda hit: hit.is_stated() and (not hit.needs_result() or hit.is_result()))

    def affirmed(self, student_text: str, next_tutor_text: str) -> bool:
        """Whether the tutor's next turn accepts (see `affirms`) a student's turn that held the answer."""
        return self._stands(student_text, Hit.is_given_by_student) and affirms(next_tutor_text)

    def _stands(self, text: str, counts: Callable[[Hit], bool]) -> bool:
        text = plain(text)
        return any(
            counts(hit)
            for form, given in zip(self._forms, self._given, strict=True)
            for hit in _hits(form, given, text)
        )


def needs_mathematics(answer: str) -> bool:
    """Whether comparing this answer takes math-verify (the extra `dialogue`): algebra, roots, functions, π, LaTeX."""
    return as_number(plain(answer).strip().rstrip(".")) is None and is_mathematics(answer)


class _Form(Protocol):
    """One spelling of an answer. `weak` forms seldom mean the answer unless they are stated as the result."""

    weak: bool

    def find(self, text: str) -> Iterator[tuple[int, int]]: ...


def _form(answer: str) -> _Form:
    text = plain(answer).strip().rstrip(".")
    if not any(map(str.isalnum, text)) and not is_mathematics(answer):
        raise ValueError(f"an answer needs a letter or a digit: {answer!r}")
    if number := as_number(text):
        return number
    return Expression(answer) if is_mathematics(answer) else WordsForm(text)


def _hits(form: _Form, given: bool, text: str) -> Iterator[Hit]:
    """The occurrences of a form that stand as the answer could."""
    spans = list(form.find(text))
    if not spans:
        return
    found = sentences(text)
    starts = [sentence.start for sentence in found]
    for span in spans:
        sentence = found[max(0, bisect_right(starts, span[0]) - 1)] if found else None
        if sentence is not None and sentence.start <= span[0] < sentence.end:
            weak = form.weak or text[span[0] : span[1]].lower() in ("one", "two", "three")
            hit = Hit(sentence, text, span, weak=weak, given=given)
            if hit.stands():
                yield hit
