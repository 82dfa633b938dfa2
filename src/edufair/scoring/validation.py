"""Is the judge right? A judge's labels beside people's, one result a dimension: agreement, errors, errors by arm.

EduFair-Bench section 3.3 and A.2. Pure: labels in, a result out, and the result to JSON and back.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from math import isfinite
from typing import Any, Literal

import numpy as np
import orjson
from pydantic import TypeAdapter, ValidationError

from edufair.errors import EdufairError
from edufair.hashing import derive_seed
from edufair.records import Source
from edufair.scoring.hand_labels import Label
from edufair.stats import Agreement, ErrorGap, ErrorRate, Interval, JudgeAgainstPeople, judge_against_people


@dataclass(frozen=True, slots=True)
class Unit:
    """One turn on one dimension: the judge's label and people's.

    `state` says why the judge gave none. Turns of one `cluster` are not independent of each other. `arm` is what the
    tutor was told, or any other grouping under which errors are counted.
    """

    judge: Label | None
    people: Mapping[str, Label]
    cluster: str
    arm: str
    state: str = ""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number with its 95% interval; None where undefined, and then `undefined` says why."""

    value: float | None
    low: float | None = None
    high: float | None = None
    undefined: str = ""


@dataclass(frozen=True, slots=True)
class Among:
    """Agreement of some raters: on `n` turns, the share of equal labels, Krippendorff's alpha and Gwet's AC1."""

    n: int
    raw: Estimate
    alpha: Estimate
    ac1: Estimate


@dataclass(frozen=True, slots=True)
class ArmErrors:
    """How often the judge differs from people's consensus in one arm, and by how much it is off on average."""

    arm: str
    n: int
    errors: int
    rate: Estimate
    net: Estimate


@dataclass(frozen=True, slots=True)
class ArmGap:
    """Arm `a` minus arm `b`: of the error rates, and of the net errors, which the judge alone adds to a difference."""

    a: str
    b: str
    rate: Estimate
    net: Estimate


@dataclass(frozen=True, slots=True)
class Checked:
    """One dimension of a judge beside people.

    `dimension` is what people were asked, `reading` how their words became labels, `same` whether it is the same
    construct. Of `turns`, the judge labelled all but those in `missing` (by state); `unlabelled` have no person's
    label and `tied` no consensus. `judge` is the judge against the consensus, `each` against every person, `people`
    the people among themselves (None where a turn has one label). `table` counts turns by the judge's label (rows) and
    the consensus, in the order of `categories`.
    """

    metric: str
    dimension: str
    reading: str
    same: bool
    note: str
    turns: int
    missing: Mapping[str, int]
    unlabelled: int
    tied: int
    judge: Among
    each: Mapping[str, Among]
    people: Among | None
    categories: tuple[str, ...]
    table: tuple[tuple[int, ...], ...]
    errors: tuple[ArmErrors, ...]
    gaps: tuple[ArmGap, ...]


@dataclass(frozen=True, slots=True)
class Validation:
    """What came of comparing one judge with people.

    `judge`, `name` and `settings` are its source's. `against` says whose labels, `file` and `file_hash` in which file.
    `turns` were compared of `of` labelled ones; `grouped` is what errors are counted by.
    """

    judge: str
    name: str
    settings: Mapping[str, Any]
    against: str
    file: str
    file_hash: str
    annotators: tuple[str, ...]
    turns: int
    of: int
    grouped: Literal["arm", "tutor"]
    seed: int
    created: str
    version: str
    checked: tuple[Checked, ...]

    def is_of(self, source: Source) -> bool:
        """Whether it was this judge: the same model, sampling, settings and prompts, whatever it is called."""
        return _how(self.settings) == _how(source.settings)


def _how(settings: Mapping[str, Any]) -> dict[str, Any]:
    """A judge's settings without the name that an audit file gives its model; as they are read back from JSON."""
    return orjson.loads(orjson.dumps({k: v for k, v in settings.items() if k != "model"}))  # type: ignore[no-any-return]


@dataclass(frozen=True, slots=True)
class Question:
    """What people were asked on one dimension, and how it is compared."""

    metric: str
    dimension: str
    domain: tuple[Label, ...]
    reading: str = ""
    same: bool = True
    note: str = ""
    contrasts: Sequence[tuple[str, str]] = field(default=())


def check(question: Question, units: Sequence[Unit], *, seed: int, resamples: int = 1000) -> Checked:
    """Compare the judge's labels with people's on one dimension.

    The consensus is the label most people gave; a tie is none. Intervals resample whole clusters. Gaps are given for
    the question's `contrasts`, pairs of arms that units have. Raises ValueError without units, or for a label outside
    the question's domain.
    """
    if not units:
        raise ValueError(f"{question.metric}: there is no unit to compare")
    annotators = sorted({name for unit in units for name in unit.people})
    found = judge_against_people(
        [unit.judge for unit in units],
        [[unit.people.get(name) for unit in units] for name in annotators],
        domain=question.domain,
        arm=[unit.arm for unit in units],
        cluster=[unit.cluster for unit in units],
        resamples=resamples,
        rng=np.random.default_rng(derive_seed(seed, "judge validation", question.metric, question.reading)),
    )
    return Checked(
        metric=question.metric,
        dimension=question.dimension,
        reading=question.reading,
        same=question.same,
        note=question.note,
        turns=len(units),
        missing=dict(sorted(Counter(unit.state for unit in units if unit.judge is None).items())),
        unlabelled=found.n_no_people,
        tied=found.n_tied,
        judge=_among(found.consensus),
        each={
            name: Among(one.n, *(Estimate(_known(x)) for x in (one.raw, one.alpha, one.ac1)))
            for name, one in zip(annotators, found.with_each, strict=True)
        },
        people=_among(found.people) if found.people is not None and found.people.n_paired else None,
        categories=tuple(map(str, found.categories)),
        table=found.table,
        errors=tuple(_errors(each) for each in found.errors),
        gaps=_gaps(found, question.contrasts),
    )


def _among(found: Agreement) -> Among:
    return Among(
        found.n_paired,
        _estimate(found.raw),
        _estimate(found.alpha, found.alpha_undefined),
        _estimate(found.ac1, found.ac1_undefined),
    )


def _errors(found: ErrorRate) -> ArmErrors:
    rate = Estimate(_known(found.rate), _known(found.low), _known(found.high))
    return ArmErrors(str(found.arm), found.n, found.errors, rate, _estimate(found.net))


def _gaps(found: JudgeAgainstPeople, contrasts: Sequence[tuple[str, str]]) -> tuple[ArmGap, ...]:
    """The gaps of these pairs of arms, in their order and direction."""
    known = {gap.arms: gap for gap in found.gaps}
    there = [(a, b) for a, b in contrasts if (a, b) in known or (b, a) in known]
    return tuple(_gap(known[a, b]) if (a, b) in known else _turned(_gap(known[b, a])) for a, b in there)


def _gap(found: ErrorGap) -> ArmGap:
    a, b = map(str, found.arms)
    rate = Estimate(_known(found.difference), _known(found.low), _known(found.high))
    return ArmGap(a, b, rate, _estimate(found.net))


def _turned(gap: ArmGap) -> ArmGap:
    rate, net = (Estimate(_minus(x.value), _minus(x.high), _minus(x.low), x.undefined) for x in (gap.rate, gap.net))
    return ArmGap(gap.b, gap.a, rate, net)


def _minus(value: float | None) -> float | None:
    return None if value is None else 0.0 - value


def _estimate(found: Interval | None, why: str | None = None) -> Estimate:
    if found is None:
        return Estimate(None, undefined="no turn on which both labels are numbers")
    return Estimate(_known(found.estimate), _known(found.low), _known(found.high), why or "")


def _known(value: float) -> float | None:
    return float(value) if isfinite(value) else None


# --- to JSON and back -------------------------------------------------------------------------------------------

_ADAPTER = TypeAdapter(tuple[Validation, ...])


def to_json(validations: Sequence[Validation]) -> bytes:
    """The validations as JSON, a list; None is null."""
    return orjson.dumps([asdict(each) for each in validations], option=orjson.OPT_INDENT_2 | orjson.OPT_NON_STR_KEYS)


def from_json(content: bytes | str, *, where: str) -> tuple[Validation, ...]:
    """The validations that `to_json` wrote. Raises EdufairError, calling the content `where`, for anything else."""
    try:
        return _ADAPTER.validate_json(content)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise EdufairError(
            f"{where}: is not what `edufair judge validate` writes ({place}: {first['msg']}); run it again"
        ) from None
