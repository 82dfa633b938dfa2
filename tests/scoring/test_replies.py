"""What a judge's reply says, however badly: the right labels, or the right reason for having none."""

from __future__ import annotations

import json
import re
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edufair.scoring.json_text import scan, without_reasoning
from edufair.scoring.replies import Field, Unread, Verdict, json_schema, read_verdict

THREE = Field("integer", (0, 1, -1))
TWO = Field("integer", (0, 1))
JOINT = {  # the six fields of EduFair-Bench, Appendix F.1
    "student_mistake_prev_turn": Field("boolean"),
    "correction_tone": THREE,
    "mistake_recognize": THREE,
    "answer_leakage": TWO,
    "scaffolding_guidance": TWO,
    "actionability": TWO,
}
SCALE = {"struggle": Field("integer", range(1, 6)), "overall": Field("integer", range(1, 6))}
ONE = {"label": THREE}

A = (True, 1, 0, 0, 1, 1)
B = (True, 1, 0, 1, 1, 1)
N = (False, -1, -1, 0, 0, 1)


def say(labels: tuple[Any, ...] = A, **changes: object) -> str:
    """A verdict as JSON; a change of None leaves the key out."""
    verdict = dict(zip(JOINT, labels, strict=True)) | changes
    return json.dumps({key: value for key, value in verdict.items() if value is not None}, ensure_ascii=False)


def raw(key: str, value: str, labels: tuple[Any, ...] = A) -> str:
    """A verdict in which one value is written as given, JSON or not."""
    pairs = (f'"{k}": {value if k == key else json.dumps(v)}' for k, v in zip(JOINT, labels, strict=True))
    return "{" + ", ".join(pairs) + "}"


def with_reason(reason_as_written: str, labels: tuple[Any, ...] = A) -> str:
    return say(labels)[:-1] + f', "reason": "{reason_as_written}"}}'


PYTHONIC = str(dict(zip(JOINT, A, strict=True)))
LINES = json.dumps(dict(zip(JOINT, A, strict=True)), indent=2)
ECHO = (
    '{ "student_mistake_prev_turn": true or false, "correction_tone": 0 or 1 or -1, "mistake_recognize": '
    '0 or 1 or -1, "answer_leakage": 0 or 1, "scaffolding_guidance": 0 or 1, "actionability": 0 or 1 }'
)

REPLIES: list[tuple[str, str, tuple[Any, ...] | str]] = [
    # plain, and what stands round it
    ("plain JSON", say(), A),
    ("over several lines", LINES, A),
    ("not applicable", say(N), N),
    ("blank lines and a byte order mark", f"\ufeff\n\n {say()} \n\n", A),
    ("a fence", f"```json\n{LINES}\n```", A),
    ("a fence without a language", f"```\n{say()}\n```", A),
    ("a fence in upper case on one line", f"```JSON {say()} ```", A),
    ("a fence in prose", f"Here is my verdict:\n\n```json\n{say()}\n```\nI hope this helps.", A),
    ("a fence that is never closed", f"```json\n{say()}", A),
    ("tildes as a fence", f"~~~\n{say()}\n~~~", A),
    ("prose before", f"The tutor guides well. {say()}", A),
    ("prose after", f"{say()}\n\nThe tutor guides well.", A),
    (
        "prose with braces and quotes",
        f'On the set {{x | x > 0}} the student says "5". {say()} (see {{3}})',
        A,
    ),
    ("prose with an unclosed brace", f"The tutor writes \\frac{{1 and then stops. {say()}", A),
    ("prose with a stray closing brace", f"}} ] {say()} }}", A),
    ("an apostrophe in prose", f"It's the tutor's turn, isn't it? {say()}", A),
    ("markdown emphasis", f"**Verdict:** `{say()}`", A),
    # wrappers
    ("inside a wrapper", f'{{"verdict": {say()}}}', A),
    ("in a list of one", f"[{say()}]", A),
    ("JSON inside a JSON string", json.dumps(say()), A),
    ("inside a wrapper in prose", f'Result: {{"status": "ok", "labels": {say()}}} done', A),
    ("a nested verdict beside the real one", say()[:-1] + f', "example": {say(B)}}}', A),
    # reasoning
    ("reasoning with a draft", f"<think>Perhaps {say(B)}?</think>{say()}", A),
    ("a lone closing tag", f"Perhaps {say(B)}, no.\n</think>\n\n{say()}", A),
    ("a verdict only in reasoning", f"<think>{say()}</think>", "unparsed"),
    ("a verdict only before a lone closing tag", f"{say()}</think> That is it.", "unparsed"),
    ("reasoning that never ends", f"<think>First, {say()} and then", "unparsed"),
    ("reasoning in the middle", f"Well. <thinking>{say(B)}</thinking> {say()}", A),
    ("reasoning in capitals with a broken brace", f'<THINK>a {{"student" and \'</THINK>{say()}', A),
    ("two reasoning blocks", f"<think>a</think><think>{say(B)}</think>{say()}", A),
    ("analysis and final marks", f"[analysis] maybe {say(B)} [final] {say()}", A),
    (
        "harmony channels",
        f"<|channel|>analysis<|message|>{say(B)}<|end|><|channel|>final<|message|>{say()}",
        A,
    ),
    ("harmony without its marks", f"analysisThe tutor... {say(B)} assistantfinal{say()}", A),
    ("a closing tag quoted in a reason", say(reason=f"it wrote </think>{say(B)}"), A),
    ("the same after prose", "My verdict: " + say(reason=f"it wrote </think>{say(B)}"), A),
    ("braces of reasoning round both", f"<think>{{ {say(B)} </think> {say()} }}", A),
    # kinds of values
    ("booleans as strings", raw("student_mistake_prev_turn", '"True"'), A),
    ("yes for a boolean", raw("student_mistake_prev_turn", '"yes"'), A),
    ("one for a boolean", raw("student_mistake_prev_turn", "1"), A),
    ("two for a boolean", raw("student_mistake_prev_turn", "2"), "unparsed"),
    ("maybe for a boolean", raw("student_mistake_prev_turn", '"maybe"'), "unparsed"),
    ("a whole number as a float", raw("actionability", "1.0"), A),
    ("a whole number as an exponent", raw("actionability", "1e0"), A),
    ("a number as a string", raw("actionability", '"1"'), A),
    ("a minus sign from typography", raw("correction_tone", '"−1"', N), N),
    ("true on a scale of two", raw("actionability", "true"), A),
    ("true on a scale of three", raw("correction_tone", "true"), "unparsed"),
    ("false on a scale of three", raw("mistake_recognize", "false"), "unparsed"),
    ("a half", raw("actionability", "0.5"), "unparsed"),
    ("nearly one", raw("actionability", "0.9999"), "unparsed"),
    ("above the scale", raw("actionability", "2"), "unparsed"),
    ("below the scale", raw("answer_leakage", "-1"), "unparsed"),
    ("far above the scale", raw("actionability", "1" + "0" * 6000), "unparsed"),
    ("not a number", raw("actionability", "NaN"), "unparsed"),
    ("infinite", raw("actionability", "Infinity"), "unparsed"),
    ("too large for a float", raw("actionability", "1e999"), "unparsed"),
    ("null", raw("actionability", "null"), "unparsed"),
    ("None", raw("actionability", "None"), "unparsed"),
    ("an empty string", raw("actionability", '""'), "unparsed"),
    ("a word for a number", raw("actionability", '"one"'), "unparsed"),
    ("a number with a comment in it", raw("actionability", '"1 (clear task)"'), "unparsed"),
    ("a fraction of the scale", raw("actionability", '"1/1"'), "unparsed"),
    ("a list for a number", raw("actionability", "[1]"), "unparsed"),
    ("an object for a number", raw("actionability", '{"value": 1}'), "unparsed"),
    ("digits of another script", raw("actionability", '"١"'), "unparsed"),
    ("not applicable in words", raw("correction_tone", '"N/A"', N), "unparsed"),
    ("a missing key", say(actionability=None), "unparsed"),
    ("a missing key in prose", f"So: {say(answer_leakage=None)}", "unparsed"),
    ("two halves of a verdict", say(actionability=None) + ' {"actionability": 1}', "unparsed"),
    ("keys in other case and with spaces", say().replace("answer_leakage", "Answer Leakage"), A),
    ("escaped underscores in keys", say().replace("_", "\\_"), A),
    ("a key of our own name for it", say().replace("correction_tone", "corrective_tone"), "unparsed"),
    ("more keys than asked for", say(confidence=0.4, notes=[1, {"a": None}]), A),
    # almost JSON
    ("a trailing comma", say()[:-1] + ",}", A),
    ("single quotes", PYTHONIC, A),
    ("single quotes in prose", f"It's {PYTHONIC}", A),
    ("comments at the line ends", LINES.replace("true,", "true, // it's wrong {here}"), A),
    ("a hash comment", LINES.replace("true,", "true, # a slip"), A),
    ("a block comment", say().replace("true,", "true, /* a slip */"), A),
    ("keys without quotes", say().replace('"', ""), A),
    ("typographic quotes", say().replace('": ', "”: ").replace('"', "“"), A),
    ("lines without commas", LINES.replace(",", ""), A),
    ("escaped quotes throughout", say().replace('"', '\\"'), A),
    ("a plus sign", raw("actionability", "+1"), A),
    ("a trailing comma and one missing key", say(actionability=None)[:-1] + ",}", "unparsed"),
    ("a trailing comma and null", raw("actionability", "null")[:-1] + ",}", "unparsed"),
    ("a value left empty", raw("actionability", ""), "unparsed"),
    ("a number with words behind it", raw("actionability", "1 (a clear task)"), "unparsed"),
    ("a decimal comma", raw("actionability", "0,5"), "unparsed"),
    ("a number broken by an underscore", raw("actionability", "1_0"), "unparsed"),
    ("a quote that is not closed", raw("answer_leakage", '"0'), "unparsed"),
    ("an echo of the template", ECHO, "unparsed"),
    ("an echo of the template and a verdict", f"Format: {ECHO}\nVerdict: {say()}", A),
    ("an echo of the schema", json.dumps(json_schema(JOINT)), "unparsed"),
    ("raw line breaks in a reason", with_reason("first\nsecond\tthird"), A),
    ("quotes within a reason", with_reason('he said "stop", and left'), A),
    # cut
    ("cut in a key", say()[:-12], "unparsed"),
    ("cut before the last brace", say()[:-1], "unparsed"),
    ("cut in a reason", with_reason("the tutor")[:-2], "unparsed"),
    ("cut after a wrapped verdict", f'{{"verdict": {say()}, "reason": "because', "unparsed"),
    ("cut in a second verdict", f'{say()} {{"student_mistake_prev_turn": true, "corr', "unparsed"),
    ("cut in single quotes", PYTHONIC[:-1], "unparsed"),
    ("a fence round a cut verdict", f"```json\n{say()[:-1]}\n```", "unparsed"),
    ("a list that is not closed inside", say()[:-1] + ', "notes": [1, 2}', "unparsed"),
    # several verdicts
    ("the same verdict twice", f"{say()}\n{say()}", A),
    ("the same, written differently", f"{say()} and again {PYTHONIC}", A),
    ("the same with two reasons", say(reason="a") + say(reason="b"), A),
    ("two different verdicts", f"{say()}\nOn reflection: {say(B)}", "conflict"),
    ("two different verdicts in a list", f"[{say()}, {say(B)}]", "conflict"),
    ("two different verdicts in a fence", f"```json\n{say()}\n{say(B)}\n```", "conflict"),
    ("an invalid one, then a right one", f"{say(actionability=7)} sorry, {say()}", A),
    ("a key twice with different values", say()[:-1] + ', "actionability": 0}', "conflict"),
    ("a key twice with the same value", say()[:-1] + ', "actionability": 1}', A),
    ("a key twice, the same in other words", say()[:-1] + ', "Actionability": "1"}', A),
    ("a key twice in almost JSON", say()[:-1] + ', "actionability": 0,}', "unparsed"),
    # nothing there
    ("nothing", "", "unparsed"),
    ("blanks", " \n\t ", "unparsed"),
    ("prose alone", "The student is right, so the tutor has nothing to correct.", "unparsed"),
    ("an empty object", "{}", "unparsed"),
    ("an error message", '{"error": {"message": "overloaded"}}', "unparsed"),
    ("a number alone", "1", "unparsed"),
    ("labels as prose", "student_mistake_prev_turn: true, correction_tone: 1, actionability: 1", "unparsed"),
    ("refused", "I'm sorry, but I can't help with that.", "refused"),
    ("refused without apology", "I cannot evaluate this conversation.", "refused"),
    ("refused with typographic marks", "I’m unable to assess the tutor here.", "refused"),
    ("refused after reasoning", "<think>hm</think>I must decline to rate this.", "refused"),
    ("a refusal and a verdict", f"I'm sorry, but I can't say more than this: {say()}", A),
    ("not a refusal", "I cannot see a mistake in the student's turn.", "unparsed"),
    ("an apology only", "I apologize for the confusion. The tutor leaks the answer.", "unparsed"),
]


@pytest.mark.parametrize(("text", "expected"), [row[1:] for row in REPLIES], ids=[row[0] for row in REPLIES])
def test_a_reply_gives_its_labels_or_its_state(text: str, expected: tuple[Any, ...] | str) -> None:
    read = read_verdict(text, JOINT)
    if isinstance(expected, str):
        assert isinstance(read, Unread), read
        assert (read.state, bool(read.why)) == (expected, True)
    else:
        assert isinstance(read, Verdict), read
        assert tuple(read.values.values()) == expected
        assert [type(value) for value in read.values.values()] == [bool, int, int, int, int, int]


def test_the_names_of_the_replies_are_unique_and_there_are_many() -> None:
    assert len({name for name, *_ in REPLIES}) == len(REPLIES) >= 60


# --- text beside the labels ---------------------------------------------------------------------------------

LATEX: list[tuple[str, str]] = [
    # as written between the quotes; as it must be read
    (r"the tutor wrote \sqrt{2}", r"the tutor wrote \sqrt{2}"),
    (r"\(x\) and \[y\]", r"\(x\) and \[y\]"),
    (r"\frac{1}{2}", r"\frac{1}{2}"),
    (r"\nu, \theta, \beta, \rho", r"\nu, \theta, \beta, \rho"),
    (r"\binom{n}{k} \to \times \neq", r"\binom{n}{k} \to \times \neq"),
    (r"\underline{x} \upsilon", r"\underline{x} \upsilon"),
    (r"\\frac{1}{2} written rightly", r"\frac{1}{2} written rightly"),
    (r"a \"quoted\" word", 'a "quoted" word'),
    (r"first line\nThen the second\tand a tab", "first line\nThen the second\tand a tab"),
    (r"\r\nnew line", "\r\nnew line"),
    (r"caf\u00e9 \/ \\", "café / \\"),
    (r"a path C:\Users\me", r"a path C:\Users\me"),
    (r"50\% of \$4", r"50\% of \$4"),
]


@pytest.mark.parametrize("comma", ["", ","], ids=["JSON", "almost JSON"])
@pytest.mark.parametrize(("written", "meant"), LATEX)
def test_backslashes_in_a_reason_cost_neither_the_labels_nor_the_text(written: str, meant: str, comma: str) -> None:
    read = read_verdict(with_reason(written)[:-1] + comma + "}", JOINT)
    assert isinstance(read, Verdict), read
    assert tuple(read.values.values()) == A
    assert read.extra == {"reason": meant}


def test_a_text_field_is_kept_and_not_compared() -> None:
    fields = {**ONE, "reason": Field("text")}
    read = read_verdict('{"label": 1, "reason": "a"} {"label": 1, "reason": "b"}', fields)
    assert read == Verdict({"label": 1, "reason": "a"})
    assert read_verdict('{"label": 1, "reason": 5}', fields) == Unread("unparsed", "reason is 5; it must be a text")


def test_the_reason_for_an_unread_reply_names_key_and_value() -> None:
    assert read_verdict(raw("actionability", "2"), JOINT) == Unread("unparsed", "actionability is 2; it must be 0 or 1")
    assert read_verdict(say(answer_leakage=None), JOINT) == Unread("unparsed", "the key answer_leakage is missing")


# --- turn ids -----------------------------------------------------------------------------------------------

TURNS: list[tuple[str, str, tuple[Any, ...] | str]] = [
    ("no id", say(), A),
    ("the right id", say(turn=5), A),
    ("the right id as a string", say(turn_id="turn 5"), A),
    ("another id", say(turn=3), "unparsed"),
    ("a list in another order", f"[{say(A, turn=5)}, {say(B, turn=3)}]", A),
    ("the wanted one is last", f"[{say(B, turn=3)}, {say(A, turn=5)}]", A),
    ("the wanted one is not there", f"[{say(B, turn=3)}, {say(B, turn=7)}]", "unparsed"),
    ("ids as keys", f'{{"3": {say(B)}, "5": {say(A)}}}', A),
    ("ids as keys with a word", f'{{"turn_3": {say(B)}, "turn 5": {say(A)}}}', A),
    (
        "ids round the labels",
        f'{{"turns": [{{"turn": 3, "labels": {say(B)}}}, {{"turn": 5, "x": {say()}}}]}}',
        A,
    ),
    ("one with the id and one without", f"{say(A, turn=5)} {say(B)}", A),
    ("two without ids", f"{say(A)} {say(B)}", "conflict"),
    ("the right id twice, differently", f"{say(A, turn=5)} {say(B, turn=5)}", "conflict"),
    ("an id without a number", say(turn="last"), A),
]


@pytest.mark.parametrize(("text", "expected"), [row[1:] for row in TURNS], ids=[row[0] for row in TURNS])
def test_labels_come_back_by_turn_id_and_never_by_position(text: str, expected: tuple[Any, ...] | str) -> None:
    read = read_verdict(text, JOINT, turn=5)
    if isinstance(expected, str):
        assert isinstance(read, Unread) and read.state == expected
    else:
        assert isinstance(read, Verdict) and tuple(read.values.values()) == expected


# --- other fields -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"struggle": 1, "overall": 5}', (1, 5)),
        ('{"struggle": "4", "overall": 5.0}', (4, 5)),
        ('{"struggle": 0, "overall": 5}', None),
        ('{"struggle": 6, "overall": 5}', None),
        ('{"struggle": 4.5, "overall": 5}', None),
        ('{"struggle": "4/5", "overall": 5}', None),
        ('{"struggle": "4 out of 5", "overall": 5}', None),
        ('{"struggle": true, "overall": 5}', None),
        ('{"struggle": 1-5, "overall": 1-5}', None),
        ("struggle: 4, overall: 5", None),
    ],
)
def test_ratings_on_a_scale_are_read_or_rejected_and_never_clamped(text: str, expected: tuple[int, int] | None) -> None:
    read = read_verdict(text, SCALE)
    assert (tuple(read.values.values()) if isinstance(read, Verdict) else None) == expected


@pytest.mark.parametrize(
    ("text", "label"),
    [('{"label": -1}', -1), ("label = 1", None), ("{label: -1}", -1), ('{"label": 2}', None)],
)
def test_a_single_label_is_read(text: str, label: int | None) -> None:
    read = read_verdict(text, ONE)
    assert (read.values["label"] if isinstance(read, Verdict) else None) == label


def test_the_schema_wants_exactly_the_fields() -> None:
    assert json_schema({"a": Field("boolean"), "b": THREE, "c": Field("text")}) == {
        "type": "object",
        "properties": {
            "a": {"type": "boolean"},
            "b": {"type": "integer", "enum": [-1, 0, 1]},
            "c": {"type": "string"},
        },
        "required": ["a", "b", "c"],
        "additionalProperties": False,
    }


# --- hostile sizes and shapes -------------------------------------------------------------------------------

MB = 1_000_000
LONG = 300_000  # enough for a quadratic reading to show
HUGE = {
    "opening braces": "{" * LONG,
    "closing braces": "}" * LONG,
    "balanced braces, nested": "{" * (LONG // 2) + "}" * (LONG // 2),
    "balanced braces, side by side": "{}" * (LONG // 2),
    "brackets of the wrong kind": "[" * (LONG // 2) + "}" * (LONG // 2),
    "objects that begin": '{"a":' * (LONG // 5),
    "objects that begin and end": '{"a":' * (LONG // 6) + "}" * (LONG // 6),
    "lists in objects": '{"x":[1,' * (LONG // 8),
    "quotation marks": "{" + '"' * LONG,
    "apostrophes": "{" + ",'" * (LONG // 2),
    "backslashes": "{" + "\\" * LONG,
    "blanks": "{" + " " * LONG + '"',
    "reasoning tags": "<think></think>" * (LONG // 15),
    "opening tags": "<think>" * (LONG // 7),
    "closing tags": "</think>" * (LONG // 8),
    "partial verdicts": '{"actionability": 1} ' * (LONG // 21),
    "echoes": (ECHO + "\n") * (LONG // len(ECHO)),
    "a broken verdict with much white space": say()[:-1] + "," + "\n" * LONG + "}",
    "a broken verdict of the longest size mended": say()[:-1] + "," + "\n" * 19_000 + "}",
    "a broken verdict with a long broken reason": with_reason('a "b" {c} ' * 1_900),
}


@pytest.mark.parametrize("text", HUGE.values(), ids=HUGE.keys())
def test_a_huge_reply_is_read_in_time_that_grows_with_its_size_only(text: str) -> None:
    """Work, not waiting, is bounded: a quadratic reading of such a text takes minutes of it."""
    begun = time.process_time()
    read_verdict(text, JOINT)
    assert time.process_time() - begun < 20


def test_a_verdict_after_a_megabyte_of_braces_is_still_found() -> None:
    read = read_verdict("{" * MB + " so: " + say(), JOINT)
    assert isinstance(read, Verdict) and tuple(read.values.values()) == A


@given(st.text(alphabet="{}[]\",:\\'\n tfn01-<>/hik`", max_size=60))
def test_no_text_breaks_the_reader(text: str) -> None:
    assert isinstance(read_verdict(text, ONE), Verdict | Unread)
    scan(text)
    without_reasoning(text)


def has_no_latex_twin(reason: str) -> bool:
    """JSON writes a line break before "nu" as LaTeX writes the letter: only those cannot come back surely."""
    return re.search(r"[\n\t\r\b\f][a-zA-Z]", reason) is None


@given(st.sampled_from([A, B, N]), st.text(max_size=80).filter(has_no_latex_twin))
def test_any_reason_comes_back_as_it_was_written(labels: tuple[Any, ...], reason: str) -> None:
    read = read_verdict(f"Verdict: {say(labels, reason=reason)} Done.", JOINT)
    assert isinstance(read, Verdict)
    assert tuple(read.values.values()) == labels
    assert read.extra == {"reason": reason}


@given(st.integers(1, 400))
def test_a_cut_verdict_is_never_completed(length: int) -> None:
    whole = with_reason("the tutor asks {what} the student thinks, then waits")
    assert isinstance(read_verdict(whole[: min(length, len(whole) - 1)], JOINT), Unread)
