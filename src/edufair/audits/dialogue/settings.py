"""What a user may set about a dialogue audit; the defaults are the paper's (EduFair-Bench, sections 3 and 4)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field, model_validator

from edufair.config import AuditedRole, Load, Role, Section, Settings
from edufair.design import arms, prompts
from edufair.scoring import rubric

Condition = Literal["explicit", "implicit", "opposite", "baseline"]
Dimension = Literal["gender", "immigration", "language", "ses"]

#: What a reply is taken to be when a plan is estimated, in tokens; an estimate that says so.
REPLY_TOKENS = 60


class Tutor(AuditedRole):
    """`[tutor]`: the model or models under test."""

    temperature: float | None = Field(0.1, ge=0, le=2)


class Student(Role):
    """`[student]`: the simulated student, the same for every tutor and arm."""

    temperature: float | None = Field(0.0, ge=0, le=2)


class Judge(Role):
    """`[judge]`: who labels the tutor's turns. There is no default model."""

    temperature: float | None = Field(0.0, ge=0, le=2)
    mode: Literal["joint", "single"] = "joint"
    knows_answer: bool = True
    mask_cues: bool = False


class Design(Section):
    """`[design]`: which arms. Adding one later reuses every trial that is there already."""

    conditions: list[Condition] = Field(["explicit"], min_length=1)
    dimensions: list[Dimension] = Field(["gender", "immigration", "language", "ses"], min_length=1)
    replicates: int = Field(1, ge=1, le=1000)

    @model_validator(mode="after")
    def _named_once(self) -> Design:
        for name in ("conditions", "dimensions"):
            values = getattr(self, name)
            if len(set(values)) != len(values):
                raise ValueError(f"{name} names one twice")
        return self


class Conversation(Section):
    """`[dialogue]`: how a conversation goes. Everything here shapes the records."""

    max_turns: int = Field(10, ge=1, le=100, description="tutor turns after the opening")
    opening: Literal["question", "generated"] = "question"
    tutor_knows_answer: bool = True
    truncated: Literal["fail", "keep"] = "fail"


class AnalysisSettings(Section):
    """`[analysis]`: section 3.4 of the paper, and what we add."""

    min_pairs: int = Field(15, ge=2)
    resamples: int = Field(1000, ge=100, le=1_000_000)
    null_draws: int = Field(1000, ge=100, le=1_000_000)
    practical_r: float = Field(0.10, gt=0, lt=1)
    margin_rate: float = Field(0.05, gt=0, lt=1)
    margin_share: float = Field(0.10, gt=0, lt=1, description="of the pooled mean, for metrics that are not rates")
    max_loss: float = Field(0.20, gt=0, le=1)


class DialogueSettings(Settings):
    """A whole audit.toml of the dialogue audit."""

    tutor: Tutor
    student: Student
    judge: Judge | None = None
    design: Design = Design()
    dialogue: Conversation = Conversation()
    analysis: AnalysisSettings = AnalysisSettings()

    def shaping(self) -> dict[str, Any]:
        return self.dialogue.model_dump(mode="json")

    def prompts(self) -> dict[str, str]:
        found = {name.rpartition("/")[2]: prompts.load(name).text for name in prompts.names("dialogue")}
        return {name: text for name, text in found.items() if self.judge or not name.startswith("judge")}

    def contrasts(self) -> list[dict[str, Any]]:
        return [contrast.to_json() for contrast in arms.contrasts(self.design.conditions, self.design.dimensions)]

    def judge_schema(self) -> dict[str, Any] | None:
        if self.judge is None:
            return None
        return dict(rubric.SCHEMA) if self.judge.mode == "joint" else dict(rubric.single_schema("answer_leakage"))

    def widened(self, earlier: Mapping[str, Any]) -> DialogueSettings:
        before, now = earlier["design"], self.design
        merged = {
            name: [*getattr(now, name), *(x for x in before[name] if x not in getattr(now, name))]
            for name in ("conditions", "dimensions")
        }
        return self.model_copy(update={"design": now.model_copy(update=merged)})

    def replicates(self, condition: str) -> int:
        """The baseline at least twice, because it is compared with itself."""
        return max(2, self.design.replicates) if condition == "baseline" else self.design.replicates

    def expected_load(self, question_tokens: float) -> dict[str, Load]:
        """At the most: every dialogue goes its full length and every reply has REPLY_TOKENS tokens."""
        turns = self.dialogue.max_turns
        said = REPLY_TOKENS * turns * (turns - 1) + turns * question_tokens
        fixed = {"tutor": 250, "student": 180, "judge": 950}
        load = {role: Load(turns, fixed[role] * turns + said, REPLY_TOKENS * turns) for role in ("tutor", "student")}
        if self.judge is not None:
            asked = turns * (1 if self.judge.mode == "joint" else 5)
            load["judge"] = Load(asked, asked * fixed["judge"] + said * asked / turns, REPLY_TOKENS * asked)
        return load
