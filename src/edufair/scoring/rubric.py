"""The judge of tutoring turns: what it is shown, how it is asked, and what its labels mean.

EduFair-Bench section 3.3, Table 2, Appendix B (one dimension a call) and F.1 (six fields in one call). The
two modes are different sources: in Appendix B hesitation counts as a mistake, in F.1 it does not.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from edufair.design import prompts
from edufair.models.base import Message
from edufair.records import Turn
from edufair.scoring.asking import Asked, AskJudge, JudgeState, ask_for_verdict
from edufair.scoring.fence import fenced_part
from edufair.scoring.replies import Field, Verdict, json_schema

METRICS = ("mistake_recognize", "answer_leakage", "step_scaffolded", "actionability", "corrective_tone")

#: Defined only where the student's turn before holds a mistake.
CONDITIONAL = ("mistake_recognize", "corrective_tone")

#: Whether the student's turn before holds a mistake, as 0 or 1: what the conditional metrics condition on.
STUDENT_MISTAKE = "student_mistake"

Mode = Literal["joint", "single"]

_THREE = Field("integer", (0, 1, -1))
_TWO = Field("integer", (0, 1))

#: F.1's six fields, in its order and under its names.
FIELDS: Mapping[str, Field] = {
    "student_mistake_prev_turn": Field("boolean"),
    "correction_tone": _THREE,
    "mistake_recognize": _THREE,
    "answer_leakage": _TWO,
    "scaffolding_guidance": _TWO,
    "actionability": _TWO,
}

#: F.1's field for each metric, where the names differ.
_FIELD_OF = {"corrective_tone": "correction_tone", "step_scaffolded": "scaffolding_guidance"}

#: F.1's verdict as a JSON schema.
SCHEMA: Mapping[str, Any] = json_schema(FIELDS)


def fields_of(dimension: str | None = None) -> Mapping[str, Field]:
    """What a verdict must hold: F.1's six fields, or for one dimension the key `label` of our own frame."""
    if dimension is None:
        return FIELDS
    return {"label": _THREE if _known(dimension) in CONDITIONAL else _TWO}


def _known(dimension: str | None) -> str:
    if dimension not in METRICS:
        raise ValueError(f"unknown dimension {dimension!r}; there are: {', '.join(METRICS)}")
    return dimension


def single_schema(dimension: str) -> dict[str, Any]:
    """The verdict of the mode that asks one dimension a call, as a JSON schema."""
    return json_schema(fields_of(dimension))


# --- what the judge is shown --------------------------------------------------------------------------------


def judge_messages(
    question: str,
    answer: str | None,
    turns: Sequence[Turn],
    upto: int,
    fence: str,
    *,
    mode: Mode = "joint",
    dimension: str | None = None,
    mask: Sequence[str] = (),
) -> list[Message]:
    """The messages that have the tutor's turn `upto` judged: rubric, question, answer, conversation to it.

    The judge sees the texts alone: no system message, no arm, no reasoning, no later turn. All of it is
    fenced by `fence`, a word that no text can know. Everything before the line that ends the material is
    the same for the next turn, so that a prompt cache serves it. `answer` None leaves the answer out;
    `mask` are cue words hidden in the conversation.

    Raises ValueError when `upto` is no tutor turn or the mode does not fit the dimension, EdufairError when
    a text holds the fence.
    """
    shown = [turn for turn in turns if turn.number <= upto]
    if not shown or (shown[-1].number, shown[-1].role) != (upto, "tutor"):
        raise ValueError(f"turn {upto} is not a turn of the tutor")
    parts = [("question", question), *([("correct answer", answer)] if answer is not None else [])]
    parts += [(f"turn {turn.number}, {turn.role}", mask_cues(turn.text, mask)) for turn in shown]
    content = prompts.load("dialogue/judge_material").fill(
        RUBRIC=_rubric(mode, dimension),
        FENCE=fence,
        PARTS="\n\n".join(_part(title, text, fence) for title, text in parts),
        TURN=upto,
    )
    system = prompts.load("dialogue/judge_system").fill()
    return [{"role": "system", "content": system}, {"role": "user", "content": content}]


def _rubric(mode: Mode, dimension: str | None) -> str:
    if (mode == "single") != (dimension is not None):
        raise ValueError(f"mode {mode!r} with dimension {dimension!r}: only the mode 'single' has a dimension")
    if dimension is None:
        return prompts.load("dialogue/judge_rubric").fill()
    labels = "0 or 1 or -1" if _known(dimension) in CONDITIONAL else "0 or 1"
    rubric = prompts.load(f"dialogue/judge_{dimension}").fill()
    return prompts.load("dialogue/judge_one_dimension").fill(RUBRIC=rubric, LABELS=labels)


def _part(title: str, text: str, fence: str) -> str:
    return fenced_part(prompts.load("dialogue/judge_part"), title, text, fence)


# --- cue words ----------------------------------------------------------------------------------------------


def mask_cues(text: str, words: Sequence[str]) -> str:
    """`text` with every cue word or phrase replaced by "[...]"."""
    return _cues(words).sub("[...]", text) if words else text


def count_cues(turns: Iterable[Turn], words: Sequence[str]) -> int:
    """How often cue words or phrases stand in the turns, the longest one counted where several would fit."""
    cues = _cues(words)
    return sum(len(cues.findall(turn.text)) for turn in turns) if words else 0


def _cues(words: Sequence[str]) -> re.Pattern[str]:
    """Whole words in any case; between the words of a phrase a space and a hyphen are the same."""
    if not all(re.search(r"\w", word) for word in words):
        raise ValueError(f"a cue word is blank: {list(words)}")
    phrases = (
        r"[\s\-\u2010\u2011]+".join(map(re.escape, re.split(r"[\s-]+", word)))
        for word in sorted(words, key=len, reverse=True)
    )
    return re.compile(rf"(?<![^\W_])(?:{'|'.join(phrases)})(?![^\W_])", re.IGNORECASE)


# --- what labels mean ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Labels:
    """One turn's labels. `values`: metric -> 0, 1 or None (not applicable), and `student_mistake` if known.

    `states` says for each metric `ok` or `not applicable`; `contradictions` names the metrics whose label
    disagrees with what the judge said of the student's turn.
    """

    values: Mapping[str, int | None]
    states: Mapping[str, Literal["ok", "not applicable"]]
    contradictions: tuple[str, ...] = ()


def labels(verdict: Verdict, dimension: str | None = None) -> Labels:
    """What a verdict says, under the metrics' names.

    In F.1's verdict student_mistake_prev_turn decides: without a mistake the conditional metrics are not
    applicable whatever else the judge wrote, and neither are they with a mistake and -1; both are
    contradictions. For one dimension the judge's own -1 is not applicable, and mistake_recognize applies
    exactly where the judge saw a mistake (ours: the paper reports no mistake rate for this mode).
    """
    if dimension is not None:
        return _single_label(verdict, _known(dimension))
    mistake = bool(verdict.values["student_mistake_prev_turn"])
    values: dict[str, int | None] = {STUDENT_MISTAKE: int(mistake)}
    contradictions = []
    for metric in METRICS:
        label = int(verdict.values[_FIELD_OF.get(metric, metric)])
        values[metric] = None if metric in CONDITIONAL and (label == -1 or not mistake) else label
        if metric in CONDITIONAL and (label == -1) == mistake:
            contradictions.append(metric)
    return Labels(values, _states(values), tuple(contradictions))


def _single_label(verdict: Verdict, dimension: str) -> Labels:
    label = int(verdict.values["label"])
    values: dict[str, int | None] = {dimension: None if label == -1 else label}
    if dimension == "mistake_recognize":
        values[STUDENT_MISTAKE] = int(label != -1)
    return Labels(values, _states(values))


def _states(values: Mapping[str, int | None]) -> dict[str, Literal["ok", "not applicable"]]:
    return {metric: "not applicable" if values[metric] is None else "ok" for metric in METRICS if metric in values}


def per_dialogue(rows: Sequence[Mapping[str, float | None]]) -> dict[str, float | None]:
    """One dialogue's rates from its judged turns: metric -> mean over applicable turns, None without any.

    A row is one turn's `Labels.values`; a turn without a verdict is an empty row. Beside the metrics:
    `student_mistake_rate`, over the turns with a verdict, and `applicable_turns`, the number of turns to
    which mistake_recognize applies, None when a turn has no verdict, because the number is then not known.
    """
    result = {metric: _mean(rows, metric) for metric in METRICS}
    result["student_mistake_rate"] = _mean(rows, STUDENT_MISTAKE)
    known = rows and all(row.get(STUDENT_MISTAKE) is not None for row in rows)
    applicable = [row for row in rows if row.get("mistake_recognize") is not None]
    result["applicable_turns"] = float(len(applicable)) if known else None
    return result


def _mean(rows: Sequence[Mapping[str, float | None]], name: str) -> float | None:
    values = [value for row in rows if (value := row.get(name)) is not None]
    return sum(values) / len(values) if values else None


# --- asking -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Judged:
    """What came of judging one turn: the last asking decides. `labels` are None in every state but `ok`."""

    labels: Labels | None
    verdict: Verdict | None
    attempts: tuple[Asked, ...]

    @property
    def state(self) -> JudgeState:
        return self.attempts[-1].state

    @property
    def why(self) -> str:
        return self.attempts[-1].why

    @property
    def raw(self) -> str:
        """The deciding reply, word for word."""
        return self.attempts[-1].raw


async def judge_turn(
    ask: AskJudge, messages: Sequence[Message], *, dimension: str | None = None, turn: int | None = None
) -> Judged:
    """Have one turn judged; what is asked again and how often is `ask_for_verdict`'s to say."""
    verdict, attempts = await ask_for_verdict(
        ask,
        messages,
        fields_of(dimension),
        schema=SCHEMA if dimension is None else single_schema(dimension),
        again=prompts.load("dialogue/judge_again").fill(),
        turn=turn,
    )
    return Judged(labels(verdict, dimension) if verdict else None, verdict, attempts)
