"""One tutoring dialogue: who says what to whom, and when it ends (EduFair-Bench, section 3.2 and Appendix C)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from edufair.audits.base import Ask
from edufair.design import prompts
from edufair.models.base import Message, Reply
from edufair.records import Item, Record, Trial, Turn
from edufair.text.answers import AnswerMatcher

#: A line that begins with a side's name, as in a play. The other's: a model that writes both parts of the dialogue.
_LABELLED = {
    "tutor": re.compile(r"^\W*(?:tutor|teacher)\W*:", re.IGNORECASE | re.MULTILINE),
    "student": re.compile(r"^\W*student\W*:", re.IGNORECASE | re.MULTILINE),
}
_OTHER = {"tutor": "student", "student": "tutor"}

_EXPLICIT = {"gender": "GENDER", "immigration": "IMMIGRATION", "language": "LANGUAGE", "ses": "SES"}


class Ended(Exception):
    """The dialogue cannot go on: one side gave no usable turn."""

    def __init__(self, reason: str, role: str, detail: str) -> None:
        super().__init__(reason)
        self.reason = reason
        self.role = role
        self.detail = detail


@dataclass
class Dialogue:
    """A conversation under way: its turns, and what was remarkable about them, counted."""

    turns: list[Turn]
    flags: dict[str, int] = field(default_factory=dict)
    prompt_tokens: dict[str, int] = field(default_factory=dict)

    def flag(self, name: str) -> None:
        self.flags[name] = self.flags.get(name, 0) + 1


async def conduct(trial: Trial, ask: Ask) -> Record:
    """Tutor and student alternate until the tutor reveals or confirms the answer, or for `max_turns` tutor turns."""
    rules = ask.settings.dialogue
    matcher = matcher_for(trial.item)
    dialogue = Dialogue([])
    try:
        dialogue.turns.append(await _opening(trial, ask, dialogue))
        ending, at = "max_turns", 0
        for number in range(1, rules.max_turns + 1):
            student = await _speak("student", trial, ask, dialogue)
            tutor = await _speak("tutor", trial, ask, dialogue)
            ended = how_it_ended(matcher, dialogue.turns, student, tutor)
            if ended:
                ending, at = ended, number
                break
    except Ended as stop:
        data = {"role": stop.role, "detail": stop.detail, "flags": dialogue.flags}
        return Record(trial, "failed", stop.reason, tuple(dialogue.turns), data)
    outcome: dict[str, Any] = {"ending": ending, "ended_at": at, "flags": dialogue.flags}
    return Record(trial, "done", "", tuple(dialogue.turns), outcome)


def matcher_for(item: Item) -> AnswerMatcher:
    """The item's matcher, built once for all of its arms."""
    return _matcher(item.data["answer"], tuple(item.data.get("accepted", ())), item.text)


@lru_cache(maxsize=256)
def _matcher(answer: str, accepted: tuple[str, ...], question: str) -> AnswerMatcher:
    return AnswerMatcher(answer, accepted, question)


def how_it_ended(matcher: AnswerMatcher, turns: Sequence[Turn], student: Turn, tutor: Turn) -> str:
    """How the tutor's turn ends the dialogue, or "" while it goes on.

    `affirmed`: the student had the answer in the turn before and the tutor says so. `revealed`: the tutor states the
    answer and no student turn held it. `restated`: the tutor states what a student turn held already.
    """
    if matcher.affirmed(student.text, tutor.text):
        return "affirmed"
    if not matcher.revealed(tutor.text):
        return ""
    student_had_it = any(matcher.holds(turn.text) for turn in turns if turn.role == "student")
    return "restated" if student_had_it else "revealed"


async def _opening(trial: Trial, ask: Ask, dialogue: Dialogue) -> Turn:
    """The tutor's first turn: the question word for word, or the tutor's own words when that is set."""
    if ask.settings.dialogue.opening == "question":
        return Turn(1, "tutor", trial.item.text)
    return await _speak("tutor", trial, ask, dialogue, append=False)


async def _speak(role: str, trial: Trial, ask: Ask, dialogue: Dialogue, *, append: bool = True) -> Turn:
    """The next turn of one side. Raises Ended when it gives none that can be used."""
    messages = seen_from(role, system_prompt(role, trial, ask.settings), dialogue.turns)
    reply = await ask.chat(role, messages)
    _check(role, reply, ask.settings.dialogue.truncated, dialogue)
    turn = Turn(len(dialogue.turns) + 1, role, reply.text, reply.reasoning, reply.finish_reason)
    _remark(turn, dialogue)
    if append:
        dialogue.turns.append(turn)
    return turn


def seen_from(role: str, system: str, turns: Sequence[Turn]) -> list[Message]:
    """The conversation from a role's own seat: its turns are the assistant's, the other's the user's."""
    messages: list[Message] = [{"role": "system", "content": system}]
    for turn in turns:
        messages.append({"role": "assistant" if turn.role == role else "user", "content": turn.text})
    return messages


def _check(role: str, reply: Reply, truncated: str, dialogue: Dialogue) -> None:
    """Let a usable reply pass; anything else ends the dialogue in a state of its own."""
    if _context_was_cut(role, reply, dialogue):
        raise Ended("context", role, "the host dropped part of the conversation without saying so")
    if reply.status == "ok":
        return
    if reply.status == "truncated" and truncated == "keep" and reply.text.strip():
        dialogue.flag(f"{role} truncated")
        return
    if role == "student" and reply.status not in ("context", "truncated"):
        raise Ended("student fault", role, reply.status)
    raise Ended(reply.status, role, reply.finish_reason)


def _context_was_cut(role: str, reply: Reply, dialogue: Dialogue) -> bool:
    """Reported prompt tokens that stop growing while the conversation grows: the window was full and was cut.

    A fall to less than half is no cut but a host that counts only what its cache did not hold; none is no count.
    """
    now, before = reply.tokens.prompt, dialogue.prompt_tokens.get(role)
    if not now:
        return False
    dialogue.prompt_tokens[role] = now
    return before is not None and before / 2 <= now <= before


def _remark(turn: Turn, dialogue: Dialogue) -> None:
    """Note what a side did that it should not; a student that writes more than its own turn is a simulator's fault."""
    own, others = _LABELLED[turn.role], _LABELLED[_OTHER[turn.role]]
    if others.search(turn.text):
        if turn.role == "student":
            raise Ended("student fault", "student", "writes the tutor's lines")
        dialogue.flag("tutor writes the student's lines")
    if turn.role == "student" and any(label.start() for label in own.finditer(turn.text.lstrip())):
        raise Ended("student fault", "student", "speaks twice")
    if own.search(turn.text):
        dialogue.flag(f"{turn.role} labels its own lines")
    if any(turn.text == earlier.text for earlier in dialogue.turns if earlier.role == turn.role):
        dialogue.flag(f"{turn.role} repeats itself")


def system_prompt(role: str, trial: Trial, settings: Any) -> str:
    """Framing sentence, cue sentence if any, blank line, behaviour prompt; what the tutor knows comes last."""
    slots: dict[str, Any] = {"GRADE": trial.item.data["grade"], "DOMAIN": trial.item.domain}
    if role == "student":
        opening = " ".join([_prompt("student_age", **slots), *_student_cue(trial)])
        return f"{opening}\n\n{_prompt('student_behavior')}"
    behavior = _prompt("tutor_behavior", PROBLEM=prompts.problem(trial.item.domain))
    text = f"{tutor_framing(trial, slots)}\n\n{behavior}"
    return f"{text}\n\n{_given(trial.item)}" if settings.dialogue.tutor_knows_answer else text


def tutor_framing(trial: Trial, slots: dict[str, Any]) -> str:
    """The framing sentence with its cue: woven in (explicit), with a name (implicit), with a sentence (opposite)."""
    cues = {dimension: level for role, dimension, level in trial.arm.levels if role == "tutor"}
    if trial.arm.condition == "explicit":
        ((dimension, level),) = cues.items()
        return _prompt(f"tutor_explicit_{dimension}", **slots, **{_EXPLICIT[dimension]: level})
    if trial.arm.condition == "implicit":
        return _prompt("tutor_implicit_name", **slots, NAME=cues["name"])
    framing = _prompt("tutor_age", **slots)
    if trial.arm.condition == "opposite":
        return f"{framing} {_prompt('opposite_tutor', TUTOR_PERCEIVED_GENDER=cues['gender'])}"
    return framing


def _student_cue(trial: Trial) -> list[str]:
    gender = trial.arm.level("student", "gender")
    return [] if gender is None else [_prompt("opposite_student", STUDENT_GENDER=gender)]


def _given(item: Item) -> str:
    return f"Question: {item.text}\nCorrect answer: {item.data['answer']}"


def _prompt(name: str, **slots: Any) -> str:
    return prompts.load(f"dialogue/{name}").fill(**slots)
