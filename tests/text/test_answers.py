"""Cases written for this project; each group names the rule it tries."""

from __future__ import annotations

import asyncio
import builtins
import sys
import threading
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edufair.errors import MissingExtra
from edufair.text import mathematics
from edufair.text.answers import AnswerMatcher, needs_mathematics

HOLDS = [
    # numbers as numbers
    ("1000", "That makes 1,000."),
    ("1,000", "It is 1000.0 exactly"),
    ("1000", "1\u202f000 in the continental style"),
    ("1/2", "so 0.5 of it"),
    ("1/2", "It is 1/2."),
    ("1/11", "I get 1/11, I think."),
    ("0.5", "that is ½"),
    ("0.5", "one half of the cake"),
    ("1/2", "\\(\\frac{1}{2}\\)"),
    ("3/4", "three quarters"),
    ("3.5", "3 1/2 litres"),
    ("3.5", "3½ litres"),
    ("7", "$7"),
    ("$7", "7 dollars"),
    ("$7.50", "7.5"),
    ("$1,234.50", "It comes to $1234.5."),
    ("2,520,000", "2.52 million people"),
    ("12", "twelve"),
    ("twelve", "12"),
    ("25", "There are twenty-five."),
    ("105", "one hundred and five"),
    ("1200", "one thousand two hundred"),
    ("12", "I get 12."),
    ("12", "Is it 12?"),
    ("12", "**12**"),
    ("12", "*12* apples"),
    ("12", "\\boxed{12}"),
    ("12", "$12$"),
    ("12", "12 apples"),
    ("12", "5kg and 12kg"),
    ("-3", "The temperature is −3 °C"),
    ("-3", "x = -3"),
    ("-3", "minus three"),
    ("5", "8 - 3 = 5"),
    ("300000000", "3 × 10⁸ m/s"),
    ("3x10^8", "300,000,000"),
    ("6.02e23", "6.02 \\times 10^{23}"),
    ("1000", "10^3"),
    ("x = 4", "so it must be 4"),
    ("4", "x=4"),
    ("14", "5x2=10 and then 14"),
    ("10", "5x2=10"),
    # per cent
    ("50%", "50 percent"),
    ("50%", "a chance of 0.5"),
    ("50%", "1/2"),
    ("0.5", "50%"),
    ("50", "50%"),
    ("50%", "it is 50."),
    # units
    ("12 apples", "12"),
    ("12 apples", "12 apples"),
    ("12 apples", "12 red apples"),
    ("1 apple", "He has 1 apple."),
    ("12 apples", "She has 12 left."),
    ("20 N", "20 newtons"),
    ("9.8 m/s^2", "9.8 m/s²"),
    ("9.8 m/s²", "9.8 meters per second squared"),
    ("9.8 m/s^2", "It is 9.8."),
    ("5 cm", "5cm"),
    ("60 miles per hour", "60 mph"),
    ("25 °C", "25 degrees Celsius"),
    # words
    ("photosynthesis", "That is PHOTOSYNTHESIS!"),
    ("covalent bond", "covalent bonds"),
    ("covalent bonds", "a covalent bond"),
    ("the nucleus", "Nucleus"),
    ("nucleus", "in the nuclei"),
    ("nuclei", "a nucleus"),
    ("battery", "two batteries"),
    ("mitochondria", "the mitochondrion"),
    ("mitochondrion", "mitochondria"),
    ("half-life", "the half life"),
    ("half life", "its half-life"),
    ("Newton's second law", "by Newton’s second law"),
    ("H2O", "it is H₂O"),
    ("Na+", "the ion Na⁺"),
    ("carbon dioxide", "**carbon** dioxide"),
    ("law of conservation of energy", "the law of the conservation of energy"),
    ("gas", "two gases"),
    # mathematics
    ("2x+3", "so 3 + 2x"),
    ("(x+1)^2", "x² + 2x + 1"),
    ("\\frac{x+1}{2}", "it is (x+1)/2."),
    ("√2/2", "1/√2"),
    ("y = 3x", "$y=3x$"),
    ("F = ma", "F = m × a"),
    ("3π", "3 * pi"),
]

DOES_NOT_HOLD = [
    # inside other numbers and words
    ("12", "112"),
    ("12", "12.5"),
    ("12", "1.12"),
    ("12", "12,000"),
    ("12", "the 12th"),
    ("2", "H2O"),
    ("2", "2x"),
    ("2", "x2"),
    ("3", "at 3:30"),
    ("3", "a ratio of 3:1"),
    ("2", "version 1.2.3"),
    ("12", "12/25/2020"),
    ("5", "twenty-five"),
    ("5", "five hundred"),
    ("20", "twenty-five"),
    ("100", "one hundred and five"),
    ("5", "one hundred and five"),
    ("3", "-3"),
    ("-3", "3"),
    ("-3", "8 -3 is five"),
    # list and step numbers
    ("1", "1. Add the numbers."),
    ("2", "First we add.\n2. Then we divide."),
    ("2", "2) Then we divide."),
    ("3", "Step 3: divide by two"),
    ("3", "**Step 3.** Divide"),
    ("3", "**3.** Divide"),
    ("2", "Look at steps 1 and 2 again."),
    ("4", "This is question 4."),
    # operands
    ("10", "5 + 10 = ?"),
    ("10", "5 + 10"),
    ("10", "10 - 4 = 6"),
    ("10", "$10 - $4 = $6"),
    ("10", "10 apples + 5 apples = 15 apples"),
    ("10", "10 plus 5 is 15"),
    ("10", "add 10 to 5"),
    ("10", "subtract 3 from 10"),
    ("10", "the sum of 5 and 10"),
    ("10", "5x10"),
    ("5", "5x10"),
    ("10", "divide 50 by 10"),
    ("10", "half of 10"),
    ("5", "20/4"),
    ("10", "\\(5 \\times 10\\)"),
    ("10", "x + 10 = 15"),
    ("10", "x + 5 = 10"),
    ("10", "2x = 10"),
    # denied
    ("10", "It is not 10."),
    ("10", "10 is not right"),
    ("10", "It is 12 rather than 10."),
    # units
    ("5 cm", "5 m"),
    ("12 apples", "12 oranges"),
    ("20 N", "20 J"),
    ("9.8 m/s^2", "9.8 m/s"),
    ("50 m", "50%"),
    # words
    ("acid", "an acidic taste"),
    ("ion", "the lion"),
    ("cell", "cellular"),
    ("covalent bond", "a covalent and an ionic bond"),
    ("C", "c is small"),
    # mathematics
    ("2x+3", "2x - 3"),
    ("2x+3", "2x + 3 - 5"),
    ("(x+1)^2", "x^2 + 1"),
]


@pytest.mark.parametrize(("answer", "text"), HOLDS)
def test_a_text_holds_the_answer(answer: str, text: str) -> None:
    assert AnswerMatcher(answer).holds(text)


@pytest.mark.parametrize(("answer", "text"), DOES_NOT_HOLD)
def test_a_text_does_not_hold_the_answer(answer: str, text: str) -> None:
    assert not AnswerMatcher(answer).holds(text)


QUESTION = "Ann has 10 red and 4 blue pens and gives 4 of the red ones away. How many red pens are left?"

REVEALS = [
    ("10", "", "5 + 5 = 10"),
    ("10", "", "So the answer is 10."),
    ("10", "", "The answer is **10**!"),
    ("10", "", "10"),
    ("10", "", "1. Add 5 and 5.\n2. You get 10."),
    ("10", "", "Well done! She had 10 spoons. Do you see why?"),
    ("10", "", "The sum is 10, right?"),
    ("10", "", "5 plus 5 is 10, so what is left to do?"),
    ("10", "", "If you add them, you get 10."),
    ("10", "", "Half of 20 is 10."),
    ("10", "", "10 = 5 + 5"),
    ("10", "", "To find it, do 50 / 5 = 10 spoons"),
    ("10", "", "the answer is 10 could you try to get this"),
    ("10", "", "Let's see: 20 / 2 = 10."),
    ("12", "", "Mr. Smith needs 3.5 kg, i.e. 12 bags."),
    ("6", QUESTION, "10 - 4 = 6 red pens are left."),
    ("10", QUESTION, "5 + 5 = 10"),
    ("10", QUESTION, "The answer is 10."),
    ("10", QUESTION, "It is 10."),
    ("10", QUESTION, "10 is correct."),
    ("10", QUESTION, "Yes, 10 pens."),
    ("acid", "Is vinegar an acid or a base?", "It is an acid."),
    ("photosynthesis", "", "Plants make sugar by photosynthesis."),
    ("one", "", "The answer is one."),
    ("no", "", "The answer is no."),
    ("2x+3", "", "So the expression is 3 + 2x."),
    # units are not unknowns
    ("10 m/s", "", "v = 20 m / 2 s = 10 m/s"),
    ("20 N", "", "F = m × a = 2 kg × 10 m/s² = 20 N"),
    ("15 g", "", "10g + 5g = 15g"),
    ("12 V", "", "V = I × R = 3 A × 4 Ω = 12 V"),
    ("100 J", "", "W = F * d = 20 N * 5 m = 100 J"),
    ("18 g/mol", "", "M(H2O) = 2 × 1 + 16 = 18 g/mol"),
    ("0.5 mol", "", "n = m/M = 9 g / 18 g/mol = 0.5 mol"),
    ("-5 °C", "", "The temperature falls to -5 °C."),
]

DOES_NOT_REVEAL = [
    ("10", "", "Is it 10?"),
    ("10", "", "What is 5 + 5, is it 10?"),
    ("10", "", "5 + 10 = ?"),
    ("10", "", "How would you get to 10"),
    ("10", "", "If the answer were 10, how many would be left?"),
    ("10", "", "If she had 10 left, she would be happy."),
    ("3", "", "Step 3: now divide."),
    ("3", "", "1. Add.\n2. Divide.\n3. Check."),
    ("10", "", "Try 10."),
    ("10", "", "It isn't 10."),
    ("10", "", "You said 10. How did you get there?"),
    ("10", QUESTION, "Ann has 10 red pens."),
    ("10", QUESTION, "Remember that she starts with 10 pens and gives 4 away."),
    ("4", QUESTION, "She gives 4 of them away. What is left?"),
    ("10", QUESTION, "So 10 pens at first, how many after that?"),
    ("acid", "Is vinegar an acid or a base?", "An acid gives away protons."),
    ("1", "", "Let us take one step at a time."),
    ("1", "", "That is one way to see it."),
    ("2", "", "There are two things to do here."),
    ("no", "", "No, try again."),
    ("A", "", "A good idea!"),
    ("He", "", "He is right."),
    ("photosynthesis", "", "What do you know about photosynthesis?"),
    ("2x+3", "", "Is it 2x + 3?"),
    ("10", "", ""),
    ("10", "", "?!"),
]


@pytest.mark.parametrize(("answer", "question", "text"), REVEALS)
def test_a_tutor_reveals_the_answer(answer: str, question: str, text: str) -> None:
    assert AnswerMatcher(answer, question=question).revealed(text)


@pytest.mark.parametrize(("answer", "question", "text"), DOES_NOT_REVEAL)
def test_a_tutor_does_not_reveal_the_answer(answer: str, question: str, text: str) -> None:
    assert not AnswerMatcher(answer, question=question).revealed(text)


def test_an_accepted_variant_counts_as_the_answer() -> None:
    matcher = AnswerMatcher("carbon dioxide", ["CO2"])
    assert matcher.revealed("Plants take in CO₂.")
    assert matcher.holds("is it carbon-dioxide?")


AFFIRMS = [
    "Yes, that's right!",
    "Exactly.",
    "Correct! Can you explain why?",
    "That is correct",
    "Great job, Ann.",
    "well done",
    "You got it!",
    "Great, can you see where you went wrong?",
    "Perfect. Do you see it now?",
    "Yes, 10 is the right answer.",
    "good",
    "Right, so what did you learn?",
    "Yes, that’s it",
    "**Excellent!** Now let us look at the next part.",
    "You're absolutely right.",
    "No worries. That's right.",
]

DOES_NOT_AFFIRM = [
    "Not quite right.",
    "That isn't correct.",
    "That is not correct.",
    "That's not right yet.",
    "Almost correct!",
    "You are nearly right.",
    "You are close to the right answer.",
    "Good try! Look at the second step again.",
    "Great effort, check the sum.",
    "Good question.",
    "Good work! But that is not correct.",
    "Yes, but what about the others?",
    "You're right about the first step.",
    "Your method is correct.",
    "The correct answer is something else.",
    "Is that correct?",
    "Are you sure that is right?",
    "If that is correct, what follows?",
    "That is incorrect.",
    "No, the sum is right and the rest is wrong.",
    "Draw a right triangle.",
    "Which is the right way to do it?",
    "What would the next step be?",
    "I don't think that's right.",
    "You are on the right track.",
    "Right?",
    "Let me check whether that's correct.",
    "",
]


@pytest.mark.parametrize("reply", AFFIRMS)
def test_a_tutor_affirms_a_student_who_gave_the_answer(reply: str) -> None:
    matcher = AnswerMatcher("10")
    assert matcher.affirmed("I think it is 10.", reply)
    assert not matcher.affirmed("I think it is 12.", reply)


@pytest.mark.parametrize("reply", DOES_NOT_AFFIRM)
def test_a_tutor_does_not_affirm(reply: str) -> None:
    assert not AnswerMatcher("10").affirmed("I think it is 10.", reply)


def test_a_student_who_only_repeats_given_data_is_not_affirmed() -> None:
    matcher = AnswerMatcher("10", question=QUESTION)
    assert not matcher.affirmed("Ann has 10 red pens.", "Yes, that's right.")
    assert matcher.affirmed("So there must be 10.", "Yes, that's right.")
    assert matcher.affirmed("10", "Yes, that's right.")


@pytest.mark.parametrize("answer", ["2x+3", "√2", "y = 3x", "\\frac{1}{x}", "F = ma", "3π", "x > 3", "E=mc^2"])
def test_algebra_needs_mathematics(answer: str) -> None:
    assert needs_mathematics(answer)


@pytest.mark.parametrize(
    "answer",
    ["12", "1/2", "\\frac{1}{2}", "$7", "50%", "12 apples", "9.8 m/s^2", "x = 4", "10^3", "twelve", "H2O", "CO2", "Na+",
     "2H2 + O2 -> 2H2O", "acid-base", "photosynthesis", "A", "20-30", "and/or", "3 x 10^8"],
)  # fmt: skip
def test_numbers_words_and_formulas_of_chemistry_need_no_mathematics(answer: str) -> None:
    assert not needs_mathematics(answer)


def test_a_missing_math_verify_is_named_before_anything_is_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    mathematics._math_verify.cache_clear()
    monkeypatch.delitem(sys.modules, "math_verify", raising=False)
    real = builtins.__import__

    def refuse(name: str, *args: object, **kwargs: object) -> object:
        if name == "math_verify":
            raise ImportError(name)
        return real(name, *args, **kwargs)  # type: ignore[arg-type]

    monkeypatch.setattr(builtins, "__import__", refuse)
    AnswerMatcher("12")
    with pytest.raises(MissingExtra, match=r"edufair\[dialogue\]"):
        AnswerMatcher("2x+3")


@given(st.text(alphabet="abXY019 .,-+*/^=()$%{}\\\\½²−π’", max_size=14))
def test_any_answer_is_matched_or_refused(answer: str) -> None:
    try:
        matcher = AnswerMatcher(answer)
    except ValueError:
        return  # nothing in it to look for
    matcher.holds(f"x = 2, {answer}")
    matcher.revealed(answer)


def test_an_empty_answer_is_refused() -> None:
    with pytest.raises(ValueError, match="letter or a digit"):
        AnswerMatcher("...")


def test_algebra_is_compared_outside_the_main_thread_and_in_an_event_loop() -> None:
    seen: list[bool] = []

    def look() -> None:
        seen.append(AnswerMatcher("(a+b)^2").holds("it is a^2 + 2ab + b^2"))

    thread = threading.Thread(target=look)
    thread.start()
    thread.join()

    async def ask() -> bool:
        return await asyncio.to_thread(AnswerMatcher("(a-b)^2").holds, "it is a^2 - 2ab + b^2")

    assert seen == [True]
    assert asyncio.run(ask())


HOSTILE = [
    "9" * 1_000_000,
    "9," * 500_000,
    "1,000," * 150_000 + "1",
    "1/" * 500_000,
    "." * 1_000_000,
    "? " * 300_000,
    " " * 1_000_000 + "10",
    "10 - " * 200_000,
    "(" * 1_000_000,
    "*" * 1_000_000,
    "*a " * 300_000,
    "not " * 250_000 + "10",
    "\\frac{" * 150_000,
    "$" * 1_000_000,
    "ten " * 250_000,
    "10 apples " * 100_000,
    "yes " * 250_000,
    "2x + " * 200_000,
    "x^9^9^9^9^9 + 2x " * 20_000,
    "\ud800 10 \x00 \u2028 10",
]


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_text_is_read_in_time_linear_in_its_length(text: str) -> None:
    text = text[:100_000]
    number, word, algebra = AnswerMatcher("10", question="10"), AnswerMatcher("acid rain"), AnswerMatcher("2x+3")
    start = time.process_time()
    for matcher in (number, word, algebra):
        matcher.revealed(text)
    number.affirmed("10", text)
    assert time.process_time() - start < 5


def test_a_plain_turn_costs_well_under_a_fifth_of_a_millisecond() -> None:
    turn = (
        "Good thinking so far. Let us look at the second step: you divided 48 by 4 and wrote 14. Can you check that "
        "division again? Remember that 4 groups of 10 make 40, and see what is left over from 48 after that."
    )
    matcher = AnswerMatcher("12", question="48 pens are shared by 4 children. How many does each get?")
    matcher.revealed(turn)
    best = min(_seconds(lambda: matcher.revealed(turn)) for _ in range(5))
    assert best < 0.2e-3


def _seconds(call: object) -> float:
    start = time.perf_counter()
    for _ in range(200):
        call()  # type: ignore[operator]
    return (time.perf_counter() - start) / 200


def test_a_tower_of_powers_is_not_handed_to_computer_algebra() -> None:
    start = time.process_time()
    assert not AnswerMatcher("x^2").holds("it is x^(9^(9^(9^x)))")
    assert time.process_time() - start < 2
