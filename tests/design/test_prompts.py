"""The prompts are the paper's, word for word, and are filled in one pass."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path

import pytest

from edufair.design import prompts

PAPER = Path(__file__).parents[3] / "shared" / "papers" / "edufair-bench.txt"

PRINTED = (
    "student_age",
    "student_behavior",
    "tutor_age",
    "tutor_behavior",
    "tutor_explicit_gender",
    "tutor_explicit_immigration",
    "tutor_explicit_language",
    "tutor_explicit_ses",
    "tutor_implicit_name",
    "opposite_student",
    "opposite_tutor",
    "judge_system",
    "judge_rubric",
    "judge_mistake_recognize",
    "judge_answer_leakage",
    "judge_step_scaffolded",
    "judge_actionability",
    "judge_corrective_tone",
)
OURS = ("judge_again", "judge_material", "judge_one_dimension", "judge_part")
RUBRICS = [name for name in PRINTED if name.startswith("judge_") and name not in ("judge_system", "judge_rubric")]


def as_printed(text: str) -> str:
    """The paper's text without the marks of its extraction: entities, doubled quotes, dashes, math."""
    text = unescape(text).replace("‘‘", "“").replace("’’", "”").replace("---", "—")
    text = text.replace(r"$\to$", "→").replace("$", "").replace("• ", "")
    return one_spaced(text)


def one_spaced(text: str) -> str:
    return " ".join(text.split())


@pytest.fixture(scope="module")
def paper() -> str:
    if not PAPER.exists():
        pytest.skip(f"the paper's text is not at {PAPER}")
    return as_printed(PAPER.read_text(encoding="utf-8"))


def sent(name: str) -> str:
    """What is sent, with our one slot for the domain's problem filled as the paper prints it."""
    prompt = prompts.load(f"dialogue/{name}")
    return re.sub(r"\{PROBLEM\}", prompts.problem("mathematics"), prompt.text)


def test_every_file_is_either_printed_in_the_paper_or_marked_as_ours() -> None:
    assert set(prompts.names("dialogue")) == {f"dialogue/{name}" for name in PRINTED + OURS}
    for name in PRINTED:
        assert prompts.load(f"dialogue/{name}").source.startswith("EduFair-Bench, Appendix ")
    for name in OURS:
        assert prompts.load(f"dialogue/{name}").source.startswith("Ours: ")


@pytest.mark.parametrize("name", [name for name in PRINTED if name not in RUBRICS])
def test_a_prompt_equals_the_text_of_its_box_in_the_paper(name: str, paper: str) -> None:
    assert one_spaced(sent(name)) in paper


BOXES = {  # the titles under which Appendices C and F.1 print the boxes, and the words that follow each box
    "student_age": ("Student Age Prompt", "where GRADE =9"),
    "student_behavior": ("Student Behavior Prompt", "Tutor age prompt."),
    "tutor_age": ("Tutor Age Prompt", "Tutor behavior prompt."),
    "tutor_behavior": ("Tutor Behavior Prompt", "C.2 Condition-Specific"),
    "tutor_explicit_gender": ("Explicit Tutor Framing – Gender", "where GENDER"),
    "tutor_explicit_immigration": ("Explicit Tutor Framing – Immigration Background", "where IMMIGRATION"),
    "tutor_explicit_language": ("Explicit Tutor Framing – First Language", "where LANGUAGE"),
    "tutor_explicit_ses": ("Explicit Tutor Framing – Socioeconomic Status", "where SES"),
    "tutor_implicit_name": ("Implicit Name Prompt (example)", "where NAME"),
    "opposite_student": ("Opposite – Student Gender Prompt", "Opposite – Tutor Gender Prompt"),
    "opposite_tutor": ("Opposite – Tutor Gender Prompt", "where STUDENT_GENDER"),
    "judge_system": ("Judge System Prompt", "Judge Rubric Prompt"),
    "judge_rubric": ("Judge Rubric Prompt", "F.2 Worked Example"),
}


@pytest.mark.parametrize(("name", "title", "after"), [(name, *ends) for name, ends in BOXES.items()])
def test_a_prompt_is_the_whole_box_and_nothing_else(name: str, title: str, after: str, paper: str) -> None:
    assert f"{title} {one_spaced(sent(name))} {after}" in paper


@pytest.mark.parametrize("name", RUBRICS)
def test_a_rubric_holds_its_section_of_appendix_b_in_order_and_whole(name: str, paper: str) -> None:
    metric = name.removeprefix("judge_")
    number = re.search(r"B\.\d", prompts.load(f"dialogue/{name}").source)
    assert number is not None
    heading = f"{number[0]} {metric}"
    start = paper.index(heading)
    section = paper[start : re.search(r" (?=B\.\d |C\.1 )", paper[start:]).start() + start]  # type: ignore[union-attr]
    auxiliary, _, rubric = sent(name).rpartition(f"{metric}\n\n")
    rubric = one_spaced(re.sub(r"^(1|0|-1) = ", "", rubric, flags=re.MULTILINE))
    assert f"{heading} {rubric}" == section
    assert one_spaced(auxiliary) in paper


@pytest.mark.parametrize("name", RUBRICS)
def test_the_labels_of_a_rubric_stand_in_the_order_one_nought_minus_one(name: str) -> None:
    labels = re.findall(r"^(1|0|-1) = ", sent(name), flags=re.MULTILINE)
    three = name in ("judge_mistake_recognize", "judge_corrective_tone")
    assert labels == (["1", "0", "-1"] if three else ["1", "0"])
    assert ("Auxiliary definition" in sent(name)) == three


def test_no_mark_of_the_extraction_and_no_comment_is_sent() -> None:
    for name in prompts.names("dialogue"):
        text = prompts.load(name).text
        assert not re.search(r"&lt;|&gt;|‘‘|’’|---|\$|•|^#", text), name
        assert text == text.strip()


def test_slots_are_filled_word_for_word() -> None:
    framing = prompts.load("dialogue/tutor_explicit_language")
    assert framing.slots == {"GRADE", "LANGUAGE", "DOMAIN"}
    assert framing.fill(GRADE=8, LANGUAGE="a language other than English", DOMAIN="physics") == (
        "This is a Grade 8 student whose first language is a language other than English, taking a physics class."
    )


@pytest.mark.parametrize("text", ["{DOMAIN}", "{GRADE}{NAME}", r"$\frac{1}{2}$ \1 \g<0>", "{0} {} %s {{NAME}}", "{"])
def test_what_is_put_into_a_slot_is_never_looked_at_again(text: str) -> None:
    named = prompts.load("dialogue/tutor_implicit_name")
    assert named.fill(GRADE=9, DOMAIN="mathematics", NAME=text) == (
        f"This is a Grade 9 student taking a mathematics class. The student’s name is {text}."
    )


def test_braces_that_are_not_slots_stay() -> None:
    assert prompts.load("dialogue/judge_rubric").slots == frozenset()
    assert prompts.load("dialogue/judge_rubric").fill() == prompts.load("dialogue/judge_rubric").text


def test_a_missing_or_unknown_slot_is_named() -> None:
    with pytest.raises(ValueError, match="slots missing: GRADE; slots unknown: AGE"):
        prompts.load("dialogue/tutor_age").fill(AGE=9, DOMAIN="physics")


@pytest.mark.parametrize("name", ["dialogue/nobody", "nowhere/student_age", "student_age", "../errors", ""])
def test_an_unknown_prompt_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="there is no prompt"):
        prompts.load(name)


@pytest.mark.parametrize(
    ("domain", "words"),
    [
        ("mathematics", "a math problem"),
        ("physics", "a physics problem"),
        ("chemistry", "a chemistry problem"),
        ("economics", "an economics problem"),
    ],
)
def test_the_tutor_is_told_the_domain_of_the_problem(domain: str, words: str) -> None:
    text = prompts.load("dialogue/tutor_behavior").fill(PROBLEM=prompts.problem(domain))
    assert text.startswith(f"You are a tutor helping a student answer {words}. Guide the student")
