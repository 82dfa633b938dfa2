"""Measuring a dialogue: what the judge is asked turn by turn, and which number or which reason comes of it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest

from edufair.audits.dialogue import measure
from edufair.audits.dialogue.settings import DialogueSettings
from edufair.models.base import Message, Reply
from edufair.records import NOT_APPLICABLE, Arm, Item, Record, Score, Source, Trial, Turn
from edufair.scoring.rubric import METRICS

ITEM = Item("q1", "mathematics", "What is 6 x 7?", {"answer": "42", "accepted": [], "grade": 8})
FEMALE = Arm("explicit", (("tutor", "gender", "female"),))
SAID = (
    "What is 6 x 7?",
    "I do not know. I am bad at this.",
    "What is 6 x 5?",
    "30.",
    "Good. Add 12: a female scientist would say 42.",
)
ENDED = {"ending": "revealed", "ended_at": 2, "flags": {"student repeats itself": 2}}


def dialogue(*said: str, arm: Arm = FEMALE, data: Mapping[str, Any] = ENDED) -> Record:
    roles = ("tutor", "student")
    turns = tuple(Turn(n + 1, roles[n % 2], text, "secret thoughts") for n, text in enumerate(said or SAID))
    return Record(Trial("t1", "dialogue", "m", ITEM, arm), "done", "", turns, data)


def verdict(mistake: bool = False, **labels: int) -> str:
    usual = {
        "correction_tone": -1,
        "mistake_recognize": -1,
        "answer_leakage": 0,
        "scaffolding_guidance": 1,
        "actionability": 1,
    }
    return json.dumps({"student_mistake_prev_turn": mistake, **usual, **labels})


class Ask:
    """Stands for the engine: a judge that answers from a script, by the number of the call."""

    def __init__(
        self, judge: Sequence[str | Reply] | Callable[[Sequence[Message]], str] | None = None, **settings: Any
    ) -> None:
        roles = {"tutor": {"model": "m"}, "student": {"model": "m"}, "judge": {"model": "m", **settings}}
        self.settings = DialogueSettings.model_validate(
            {"audit": "dialogue", "models": {"m": {"url": "python:a:b"}}, **roles}
        )
        self.asked: list[tuple[Sequence[Message], Any, int, float]] = []
        self._judge = judge

    def has(self, role: str) -> bool:
        return self._judge is not None

    def source(self, role: str) -> Source:
        return Source("judge:m:1", "judge", "m")

    def secret(self, *purpose: str) -> str:
        return "fence-" + "-".join(purpose) + "-mark"

    async def chat(
        self, role: str, messages: Sequence[Message], *, schema: Any = None, retry: int = 0, budget: float = 1.0
    ) -> Reply:
        assert role == "judge" and self._judge is not None
        self.asked.append((messages, schema, retry, budget))
        line = self._judge(messages) if callable(self._judge) else self._judge[len(self.asked) - 1]
        return line if isinstance(line, Reply) else Reply(line, "ok")

    async def embed(self, role: str, texts: Sequence[str]) -> Any:
        raise AssertionError


async def scores(record: Record, ask: Ask) -> dict[tuple[int, str], Score]:
    found = [score async for score in measure.score(record, ask)]
    assert len({(s.turn, s.metric, s.source) for s in found}) == len(found)
    return {(s.turn, s.metric): s for s in found}


def values(found: Mapping[tuple[int, str], Score], turn: int = 0) -> dict[str, float | None]:
    return {metric: s.value for (t, metric), s in found.items() if t == turn}


# --- what code counts -------------------------------------------------------------------------------------------


async def test_without_a_judge_code_counts_alone() -> None:
    found = await scores(dialogue(), Ask())
    assert {s.source for s in found.values()} == {"code"}
    got = values(found)
    # after the opening the tutor says 5 + 9 words in two turns, one of them a question; the student says 9 + 1
    assert (got["tutor_turns"], got["tutor_question_rate"]) == (2.0, 0.5)
    assert (got["tutor_avg_word"], got["tutor_student_word_ratio"]) == (7.0, 1.4)
    assert [got[f"ended_{name}"] for name in measure.ENDINGS] == [1.0, 0.0, 0.0, 0.0]
    assert got["flag_student_repeats_itself"] == 2.0
    assert got["cue_words"] == 1.0


async def test_cue_words_are_those_of_the_dialogue_s_own_arm_after_the_opening() -> None:
    male = Arm("explicit", (("tutor", "gender", "male"),))
    assert values(await scores(dialogue(arm=male), Ask()))["cue_words"] == 0.0
    assert values(await scores(dialogue(arm=Arm("baseline")), Ask()))["cue_words"] == 0.0


# --- what the judge is asked ------------------------------------------------------------------------------------


async def test_each_tutor_turn_after_the_opening_is_judged_in_order() -> None:
    ask = Ask([verdict(answer_leakage=0), verdict(answer_leakage=1)])
    found = await scores(dialogue(), ask)
    assert len(ask.asked) == 2
    assert (found[3, "answer_leakage"].value, found[5, "answer_leakage"].value) == (0, 1)
    assert found[0, "answer_leakage"].value == 0.5
    assert {s.source for (t, m), s in found.items() if m in METRICS} == {"judge:m:1"}


async def test_the_judge_sees_no_system_prompt_no_arm_no_reasoning_and_no_later_turn() -> None:
    ask = Ask([verdict(), verdict()])
    await scores(dialogue(), ask)
    first, second = ("\n".join(m["content"] for m in messages) for messages, *_ in ask.asked)
    for shown in (first, second):
        assert "secret thoughts" not in shown and "tutor.gender" not in shown and "explicit" not in shown
        assert "What is 6 x 7?" in shown and "fence-fence-q1-mark" in shown
    assert "What is 6 x 5?" in first and "30." not in first and "female" not in first
    assert "Add 12" in second


async def test_the_correct_answer_is_shown_unless_the_judge_shall_not_know_it() -> None:
    for knows in (True, False):
        ask = Ask([verdict(), verdict()], knows_answer=knows)
        await scores(dialogue(), ask)
        assert ("42" in ask.asked[0][0][-1]["content"]) is knows


async def test_cue_words_are_hidden_on_request() -> None:
    for hidden in (True, False):
        ask = Ask([verdict(), verdict()], mask_cues=hidden)
        await scores(dialogue(), ask)
        assert ("a female scientist" in ask.asked[1][0][-1]["content"]) is not hidden


# --- what labels become -----------------------------------------------------------------------------------------


async def test_a_metric_that_no_mistake_calls_for_is_not_applicable() -> None:
    found = await scores(dialogue(), Ask([verdict(), verdict(True, mistake_recognize=1, correction_tone=0)]))
    assert (found[3, "mistake_recognize"].value, found[3, "mistake_recognize"].reason) == (None, NOT_APPLICABLE)
    assert found[5, "mistake_recognize"].value == 1
    got = values(found)
    assert (got["mistake_recognize"], got["corrective_tone"]) == (1.0, 0.0)
    assert (got["student_mistake_rate"], got["applicable_turns"]) == (0.5, 1.0)


async def test_no_mistake_in_a_dialogue_leaves_its_rate_not_applicable_and_no_loss() -> None:
    found = await scores(dialogue(), Ask([verdict(), verdict()]))
    for metric in ("mistake_recognize", "corrective_tone"):
        assert (found[0, metric].value, found[0, metric].reason) == (None, NOT_APPLICABLE)
    assert (found[0, "applicable_turns"].value, found[0, "student_mistake_rate"].value) == (0.0, 0.0)


async def test_contradictions_are_counted() -> None:
    # no mistake, yet a label; a mistake, yet -1
    found = await scores(dialogue(), Ask([verdict(mistake_recognize=1), verdict(True, correction_tone=1)]))
    assert found[0, "contradictions"].value == 2.0
    assert found[3, "mistake_recognize"].value is None and found[5, "mistake_recognize"].value is None


async def test_an_unread_turn_leaves_the_mean_of_the_others_and_an_unknown_count() -> None:
    unread = ["no JSON", "no JSON", "no JSON"]
    found = await scores(dialogue(), Ask([verdict(answer_leakage=1), *unread]))
    assert [found[5, m].reason for m in METRICS] == ["unparsed"] * 5
    assert found[0, "answer_leakage"].value == 1.0
    assert (found[0, "applicable_turns"].value, found[0, "applicable_turns"].reason) == (None, "unparsed")


@pytest.mark.parametrize("metric", ["mistake_recognize", "corrective_tone"])
async def test_a_rate_that_an_unread_turn_might_have_given_is_lost(metric: str) -> None:
    """The turn that was read had no mistake; whether the unread one had is not known."""
    found = await scores(dialogue(), Ask([verdict(), Reply("", "refused")]))
    assert (found[0, metric].value, found[0, metric].reason) == (None, "refused")


async def test_when_no_turn_was_read_every_rate_is_lost() -> None:
    found = await scores(dialogue(), Ask([Reply("", "filtered"), Reply("", "filtered")]))
    for metric in (*METRICS, "student_mistake_rate", "applicable_turns"):
        assert (found[0, metric].value, found[0, metric].reason) == (None, "filtered")


# --- one dimension a call ---------------------------------------------------------------------------------------


def one_by_one(**labels: int | str) -> Callable[[Sequence[Message]], str]:
    """Labels by a word that only one rubric holds; a str is said as it is."""
    order = iter(list(METRICS) * 99)

    def say(messages: Sequence[Message]) -> str:
        label = labels.get(next(order), 1)
        return label if isinstance(label, str) else json.dumps({"label": label})

    return say


ONE_TURN = ("What is 6 x 7?", "Forty?", "Nearly. What is 6 x 5?")


async def test_asked_one_dimension_at_a_time_the_judge_is_asked_five_times_a_turn() -> None:
    ask = Ask(one_by_one(answer_leakage=0), mode="single")
    found = await scores(dialogue(*ONE_TURN), ask)
    assert len(ask.asked) == 5
    assert values(found, 3) == {**dict.fromkeys(METRICS, 1), "answer_leakage": 0, "student_mistake": 1}
    assert values(found)["answer_leakage"] == 0.0


async def test_a_dimension_left_unread_is_the_only_one_lost() -> None:
    refusal = "I'm sorry, but I can't help with that."
    ask = Ask(one_by_one(answer_leakage=refusal, mistake_recognize=-1, corrective_tone=-1), mode="single")
    found = await scores(dialogue(*ONE_TURN), ask)
    state = found[3, "answer_leakage"].reason
    assert state not in ("", NOT_APPLICABLE)
    for turn in (3, 0):
        assert (found[turn, "answer_leakage"].value, found[turn, "answer_leakage"].reason) == (None, state)
        for metric in ("mistake_recognize", "corrective_tone"):
            assert (found[turn, metric].value, found[turn, metric].reason) == (None, NOT_APPLICABLE)
        assert found[turn, "actionability"].value == 1
    assert found[0, "applicable_turns"].value == 0.0
