"""What a user may set about an audit of a judge; the defaults are those of the censored-scale paper, section 3."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, model_validator

from edufair import config
from edufair.config import AuditedRole, Load, Section, Settings
from edufair.design import prompts
from edufair.errors import ConfigError
from edufair.records import Item
from edufair.scoring import replies

#: The poles: the reply that leaves the next step to the student, and the one that takes it for them.
POLES = ("high", "low")

#: The level of the arm in which the judge is told nothing of the learner.
NO_PROFILE = "none"

#: The profiles that are there already, written for this project; texts of their own in `[profiles]` replace them.
OURS = ("novice", "advanced")

RATING, POLE_CHECK = "rating", "pole check"

#: What the verdict of the pole check holds: which of the two replies, as they are numbered there.
CHOICE: Mapping[str, replies.Field] = {"reply": replies.Field("integer", (1, 2))}

#: The longest scale: a wider one is no scale of whole numbers that a judge uses.
LONGEST = 101

_FIELD = re.compile(r"[a-z][a-z0-9_]*")
_PROFILE = re.compile(r"[\w-]+(?: [\w-]+)*")

#: Columns of the ratings table: no field may be called so.
_TAKEN = frozenset(
    {"trial", "model", "item", "cluster", "stratum", "evidence_strength", "subset", "arm", "pole", "repetition"}
)


class Judge(AuditedRole):
    """`[judge]`: the model or models under test.

    The paper rates each reply in three stochastic repetitions and does not print the temperature; 1.0 is what most
    hosts take where none is sent. "unset" sends none.
    """

    temperature: float | None = Field(1.0, ge=0, le=2)


class Stimuli(config.Items):
    """`[items]`: which stimuli. `bank` is `sample` or a file; `domains` names strata."""

    @model_validator(mode="after")
    def _only_for_questions(self) -> Stimuli:
        for name in ("columns", "domain", "grade"):
            if getattr(self, name):
                raise ValueError(f"{name} is for banks of questions; a file of stimuli has fixed keys")
        return self


class Design(Section):
    """`[design]`: which arms. A gap is the preference under the first profile minus that under the second."""

    profiles: tuple[str, str] = OURS
    control: bool = Field(True, description="also an arm without a profile")
    repetitions: int = Field(3, ge=1, le=1000)
    pole_check: bool = False

    @model_validator(mode="after")
    def _two_profiles(self) -> Design:
        first, second = self.profiles
        if first == second:
            raise ValueError("profiles names one twice")
        if NO_PROFILE in self.profiles and self.control:
            raise ValueError(f"profiles names {NO_PROFILE!r}: then set control = false, because it is the control")
        return self


class Rubric(Section):
    """`[rubric]`: what the judge rates, and on which scale. `file` or `text` replaces the project's own rubric."""

    fields: list[str] = Field(
        ["contingent_scaffolding", "productive_struggle", "assistance_calibration", "elicitation", "overall"],
        min_length=1,
    )
    primary: str = Field("overall", description="the field of the primary endpoint")
    low: int = 1
    high: int = 5
    file: str | None = None
    text: str | None = None

    @model_validator(mode="after")
    def _sound(self) -> Rubric:
        for name in self.fields:
            if not _FIELD.fullmatch(name) or name in _TAKEN:
                raise ValueError(f"fields: {name!r} cannot be a field; use small letters, digits and _, as in overall")
        if len(set(self.fields)) != len(self.fields):
            raise ValueError("fields names one twice")
        if self.primary not in self.fields:
            raise ValueError(f"primary = {self.primary!r} is not among fields: {', '.join(self.fields)}")
        if not self.low < self.high < self.low + LONGEST:
            raise ValueError(f"low = {self.low} must lie below high = {self.high}, and {LONGEST - 1} apart at the most")
        if self.text is None and self.file is None and not self._is_ours():
            raise ValueError(
                "other fields or another scale need a rubric of their own: name its file, or give its text"
            )
        return self

    def _is_ours(self) -> bool:
        """Whether the project's own rubric, which explains its fields on its scale, says what is asked here."""
        own = type(self).model_fields["fields"].default
        return set(self.fields) == set(own) and (self.low, self.high) == (1, 5)


class AnalysisSettings(Section):
    """`[analysis]`: the registered analysis of section 4."""

    min_pairs: int = Field(6, ge=2, description="clusters: with fewer than six no exact test can reach p < 0.05")
    subset: str = Field("", description="the primary gap is estimated again on the stimuli of this subset")
    resamples: int = Field(10_000, ge=100, le=1_000_000)
    seed: int = Field(13, ge=0, lt=2**63, description="of the intervals; 13 gives the paper's digits on its data")
    practical_r: float = Field(0.10, gt=0, lt=1)
    max_loss: float = Field(0.20, gt=0, le=1)


class JudgeSettings(Settings):
    """A whole audit.toml of the judge audit."""

    judge: Judge
    items: Stimuli = Stimuli()
    design: Design = Design()
    rubric: Rubric = Rubric()
    profiles: dict[str, str] = Field(default_factory=dict)
    analysis: AnalysisSettings = AnalysisSettings()

    @model_validator(mode="after")
    def _profiles_have_texts(self) -> JudgeSettings:
        for name, text in self.profiles.items():
            if name == NO_PROFILE or not _PROFILE.fullmatch(name):
                raise ValueError(f"[profiles] {name!r} cannot be the name of a profile; use letters and digits")
            if not text.strip():
                raise ValueError(f"[profiles] {name} has no text")
        for name in self.design.profiles:
            if name not in (NO_PROFILE, *OURS, *self.profiles):
                known = ", ".join((*OURS, *self.profiles))
                raise ValueError(
                    f"[design] profiles: there is no profile {name!r}; there is: {known}. Write its text in [profiles]"
                )
        return self

    @property
    def arms(self) -> tuple[str, ...]:
        """The profiles that the judge is told, the two compared first."""
        return (*self.design.profiles, *([NO_PROFILE] if self.design.control else []))

    @property
    def fields(self) -> dict[str, replies.Field]:
        """What a rating must hold."""
        scale = range(self.rubric.low, self.rubric.high + 1)
        return {name: replies.Field("integer", scale) for name in self.rubric.fields}

    def profile(self, name: str) -> str:
        """The text of a profile; "" for none."""
        if name == NO_PROFILE:
            return ""
        return self.profiles[name].strip() if name in self.profiles else prompts.load(f"judge/profile_{name}").text

    def rubric_text(self) -> str:
        return prompts.load("judge/rubric").text if self.rubric.text is None else self.rubric.text.strip()

    # What the engine asks.

    def beside(self, folder: Path) -> JudgeSettings:
        """The rubric's file is read once and kept with the plan."""
        if self.rubric.file is None or self.rubric.text is not None:
            return self
        path = folder / Path(self.rubric.file).expanduser()
        try:
            text = path.read_bytes().decode("utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError(f"{path}: the rubric cannot be read as UTF-8 text ({error})") from None
        if not text.strip():
            raise ConfigError(f"{path}: the rubric is empty")
        kept = self.rubric.model_copy(update={"text": text.replace("\r\n", "\n"), "file": path.name})
        return self.model_copy(update={"rubric": kept})

    def length(self, item: Item) -> int:
        """Question, dialogue and the longer reply."""
        said = sum(len(turn["text"]) for turn in item.data["dialogue"])
        return len(item.text) + said + max(len(item.data[pole]) for pole in POLES)

    def shaping(self) -> dict[str, Any]:
        """Fields and scale; profiles and rubric are among the prompts."""
        return self.rubric.model_dump(mode="json", include={"fields", "low", "high"})

    def prompts(self) -> dict[str, str]:
        """Every instrument, with the profiles and the rubric that are really shown.

        The check's is there whether or not it is asked for, so that asking for it later asks no rating again.
        """
        found = {name.rpartition("/")[2]: prompts.load(name).text for name in prompts.names("judge")}
        fixed = {name: text for name, text in found.items() if not name.startswith("profile_")}
        told = {f"profile_{name}": self.profile(name) for name in self.design.profiles if name != NO_PROFILE}
        return {**fixed, **told, "rubric": self.rubric_text()}

    def contrasts(self) -> list[dict[str, Any]]:
        """The contrasts of the registered analysis; each stratum is tested apart."""
        first, second = self.design.profiles
        found = [("profile", first, second)]
        if self.design.control:
            found += [("profile", name, NO_PROFILE) for name in self.design.profiles]
        found += [(shift(pole), second, first) for pole in POLES]
        if self.analysis.subset:
            found.append((in_subset(self.analysis.subset), first, second))
        found.append(EVIDENCE_CONTRAST)
        return [{"condition": RATING, "dimension": dim, "a": a, "b": b} for dim, a, b in found]

    def judge_schema(self) -> dict[str, Any]:
        return replies.json_schema(self.fields)

    def widened(self, earlier: Mapping[str, Any]) -> JudgeSettings:
        before, now = earlier["design"], self.design
        both = {name: getattr(now, name) or before[name] for name in ("control", "pole_check")}
        if NO_PROFILE in now.profiles:
            both["control"] = False
        return self.model_copy(update={"design": now.model_copy(update=both)})

    def replicates(self, condition: str) -> int:
        return self.design.repetitions

    def expected_load(self, question_tokens: float) -> dict[str, Load]:
        """One call a trial, if every reply can be read at once."""
        frame = sum(len(self.prompts()[name]) for name in ("system", "rubric", "material"))
        told = max(len(self.profile(name)) for name in self.design.profiles)
        return {"judge": Load(1, (frame + told) / 4 + question_tokens, 12 * len(self.rubric.fields))}


def shift(pole: str) -> str:
    """The dimension of a pole's own contrast of profiles."""
    return f"profile ({pole} pole)"


def in_subset(name: str) -> str:
    """The dimension of the primary gap on a subset."""
    return f"profile (subset {name})"


#: Not a difference: the correlation of the gap's size with the strength of the evidence.
EVIDENCE_CONTRAST = ("evidence strength", "size of the gap", "evidence strength")

Condition = Literal["rating", "pole check"]
