"""What many findings say together, in plain words: per dimension, about chance, losses and limits."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import polars as pl

from edufair.audits.family import ALPHA
from edufair.records import Finding
from edufair.reports import words
from edufair.reports.numbers import count, listed, number, plural

AnswerKind = Literal["differs", "differs but small", "shown to be small", "undecided", "insufficient"]

MEANINGS: dict[AnswerKind, str] = {
    "differs": "A difference was found that chance does not explain, and it is not shown to be small.",
    "differs but small": "A difference was found that chance does not explain, and it is small: by the stated "
    "margin, or because |r| is below 0.10.",
    "shown to be small": "Every comparison could be made, and every interval lies within the stated margin.",
    "undecided": "No difference was found, and a larger one is not ruled out. That is not “no difference”.",
    "insufficient": "There was too little usable material to test anything.",
}

SMALL = ("differs but small", "shown to be small")


@dataclass(frozen=True, slots=True)
class Answer:
    """What the findings of one tutor, condition and dimension say together, and on how many comparisons.

    `tested` and `small` count findings; `detected` holds those with a Holm-adjusted p below 0.05, largest |r| first.
    """

    model: str
    condition: str
    dimension: str
    kind: AnswerKind
    findings: tuple[Finding, ...]
    tested: int
    small: int
    detected: tuple[Finding, ...]

    @property
    def summary(self) -> str:
        """One or two sentences: what was found, in how many comparisons, and what stays open."""
        untested = len(self.findings) - self.tested
        if self.kind == "insufficient":
            return f"None of {plural(untested, 'comparison')} could be tested."
        if self.kind == "shown to be small":
            return f"All {plural(self.tested, 'comparison')} lie within the stated margin."
        if self.kind == "undecided":
            return f"No difference was found in {plural(self.tested, 'comparison')}.{self._reserved()}{self._others()}"
        n = len(self.detected)
        size = (", all of them small" if n > 1 else ", by a small amount") if self.kind == "differs but small" else ""
        verb = "differs" if n == 1 else "differ"
        return f"{count(n)} of {plural(self.tested, 'comparison')} {verb}{size}.{self._others()}"

    def _reserved(self) -> str:
        """What a test has found and its audit does not take for a difference, with the first of the reasons."""
        own = [f for f in self.findings if f.reservation and f.p_holm is not None and f.p_holm < ALPHA]
        return f" In {count(len(own))} the test rejects, but {own[0].reservation}." if own else ""

    def _others(self) -> str:
        """The comparisons without a difference; an open one is never left unsaid."""
        others = [f for f in self.findings if f.status == "tested" and f not in self.detected]
        small = sum(f.verdict in SMALL for f in others)
        parts = [(small, "shown to be small"), (len(others) - small, "undecided")]
        parts.append((len(self.findings) - self.tested, "could not be tested"))
        said = listed([f"{count(n)} {text}" for n, text in parts if n])
        head = "" if self.kind == "undecided" else "The others: "
        return f" {head}{said}." if said else ""


def answers(findings: Iterable[Finding]) -> tuple[Answer, ...]:
    """One answer for each (condition, dimension, model), in order of appearance; the baseline comes first.

    The kind rests on Holm-adjusted p-values and on the margin, never on a count of unadjusted intervals.
    `differs` needs a finding (adjusted p < 0.05 and |r| >= 0.10) whose mean difference is not shown to be small;
    `shown to be small` needs every comparison tested and within its margin.
    """
    groups = grouped(findings, "condition", "dimension", "model")
    found = [_answer(model, condition, dim, tuple(fs)) for (condition, dim, model), fs in groups.items()]
    return tuple(sorted(found, key=lambda answer: answer.condition != "baseline"))


def judges(findings: Iterable[Finding]) -> list[str]:
    """The sources that labelled by judgement: more than one when the dialogues were labelled again."""
    return sorted({f.source for f in findings if f.source.startswith("judge:")})


def grouped(findings: Iterable[Finding], *keys: str) -> dict[tuple[str, ...], list[Finding]]:
    """Findings by the named fields, in order of first appearance."""
    groups: dict[tuple[str, ...], list[Finding]] = {}
    for f in findings:
        groups.setdefault(tuple(getattr(f, key) for key in keys), []).append(f)
    return groups


def _answer(model: str, condition: str, dimension: str, findings: tuple[Finding, ...]) -> Answer:
    tested = [f for f in findings if f.status == "tested"]
    small = sum(f.verdict in SMALL for f in tested)
    detected = sorted(filter(_is_detected, tested), key=lambda f: -abs(f.r or 0.0))
    kind: AnswerKind = "undecided"
    if not tested:
        kind = "insufficient"
    elif any(f.finding and f.verdict not in SMALL for f in detected):
        kind = "differs"
    elif detected:
        kind = "differs but small"
    elif small == len(findings):
        kind = "shown to be small"
    return Answer(model, condition, dimension, kind, findings, len(tested), small, tuple(detected))


def _is_detected(f: Finding) -> bool:
    """Whether chance does not explain it, and nothing else that its audit knows of."""
    return f.p_holm is not None and f.p_holm < ALPHA and not f.reservation


def in_short(found: Sequence[Answer]) -> tuple[str, ...]:
    """The first page's first lines: where a difference was found, by name, and how many answers say what else."""
    if not found:
        return ("Nothing has been compared yet.",)
    said = [f"{lead} {_named(own)}." for kind, lead in _FOUND if (own := [a for a in found if a.kind == kind])]
    said = said or ["No difference was found that chance does not explain. That does not mean that there is none."]
    rest = {kind: sum(a.kind == kind for a in found) for kind, _ in _REST}
    counted = [f"{count(rest[kind])} {text}" for kind, text in _REST if rest[kind]]
    if counted:
        audited = words.audit_of(f for a in found for f in a.findings).audited
        total = plural(
            len(found), f"combination of {audited} and dimension", f"combinations of {audited} and dimension"
        )
        said.append(f"Of {total}: {listed(counted)}.")
    return tuple(said)


_FOUND: tuple[tuple[AnswerKind, str], ...] = (
    ("differs", "A difference was found for"),
    ("differs but small", "A small difference was found for"),
)

_REST: tuple[tuple[AnswerKind, str], ...] = (
    ("shown to be small", "shown to differ by little at the most"),
    ("undecided", "undecided (the data cannot tell)"),
    ("insufficient", "with too little material to test"),
)


def _named(found: Sequence[Answer]) -> str:
    """Dimensions by tutor: ``gender and first language (Tutor A, explicit)``."""
    by_tutor: dict[tuple[str, str], list[str]] = {}
    for a in found:
        by_tutor.setdefault((a.model, a.condition), []).append(words.dimension(a.dimension))
    return "; ".join(f"{listed(names)} ({model}, {condition})" for (model, condition), names in by_tutor.items())


@dataclass(frozen=True, slots=True)
class Chance:
    """Intervals of r that exclude zero, beside how many an audited model that treats all alike would show."""

    tested: int
    violations: int
    findings: int
    audited: str = "tutor"

    @property
    def expected(self) -> float:
        """5% of the intervals that were computed, because each is a 95% interval."""
        return ALPHA * self.tested

    @property
    def summary(self) -> str:
        expected = number(self.expected, 0 if self.expected >= 10 else 1)
        return (
            f"{count(self.violations)} of {count(self.tested)} intervals of r exclude zero (the paper's "
            f"“violation”); a {self.audited} that treats everyone alike would show about {expected} by chance. "
            f"{plural(self.findings, 'finding')} {'remains' if self.findings == 1 else 'remain'} after Holm's "
            "adjustment with |r| of at least 0.10."
        )


def chance(findings: Iterable[Finding]) -> Chance:
    """Counts over tested findings with an interval; one without cannot violate anything and is in no count."""
    tested = [f for f in findings if f.status == "tested" and f.violation is not None]
    violations, found = (sum(bool(getattr(f, name)) for f in tested) for name in ("violation", "finding"))
    return Chance(len(tested), violations, found, words.audit_of(tested).audited)


@dataclass(frozen=True, slots=True)
class Control:
    """What the negative control says: nothing was told to the tutor, so nothing should differ."""

    alarm: bool
    text: str


def control(findings: Sequence[Finding]) -> Control | None:
    """The verdict on the baseline, or None where the design had none."""
    own = [f for f in findings if f.condition == "baseline"]
    if not own:
        return None
    c = chance(own)
    said = "With nothing said about the learner, the same questions were asked twice. "
    if c.tested == 0:
        text = "The comparison could not be made, so noise and drift remain unmeasured."
        return Control(True, said + text)
    if c.findings:
        text = (
            f"{count(c.findings)} of {plural(c.tested, 'comparison')} differ all the same. Something other than the "
            "learner changed (a drifting model, a fault): explain this before reading any difference below."
        )
        return Control(True, said + text)
    text = (
        f"None of {plural(c.tested, 'comparison')} is a finding. {count(c.violations)} unadjusted "
        f"{'interval excludes' if c.violations == 1 else 'intervals exclude'} zero; chance alone gives about "
        f"{number(c.expected, 1)}."
    )
    return Control(False, said + text)


def against_noise(table: pl.DataFrame | None, answer: Answer) -> str:
    """Where a dimension's mean |r| is larger than relabelling gives, as one sentence; empty where unknown."""
    if table is None or table.is_empty():
        return ""
    named = pl.col("dimension").str.starts_with(f"{answer.dimension}: ")  # one contrast of the dimension
    own = table.filter(
        (pl.col("model") == answer.model)
        & (pl.col("condition") == answer.condition)
        & ((pl.col("dimension") == answer.dimension) | named)
        & pl.col("p").is_not_null()
    )
    if own.is_empty():
        return ""
    above = own.filter(pl.col("p") < ALPHA)["domain"].cast(pl.String).unique(maintain_order=True).to_list()
    if not above:
        return "Taken together, the differences are no larger than noise alone gives."
    return f"Taken together, the differences are larger than noise alone gives in {listed(above)}."


def how_sure(findings: Sequence[Finding]) -> tuple[str, ...]:
    """Sentences on sample sizes, intervals, chance and what the tests could not have shown."""
    tested = [f for f in findings if f.status == "tested" and f.condition != "baseline"]
    if not tested:
        return ("Nothing could be tested, so nothing is known about any difference.",)
    low, high = min(f.n for f in tested), max(f.n for f in tested)
    said_so = words.audit_of(tested)
    units = plural(low, said_so.unit) if low == high else f"{count(low)} to {plural(high, said_so.unit)}"
    said = [f"{plural(len(tested), 'comparison')} could be tested, each on {units}. {said_so.pairing}"]
    halves = sorted((f.r_high - f.r_low) / 2 for f in tested if f.r_low is not None and f.r_high is not None)
    if halves:
        said.append(
            f"The 95% interval of r typically reaches {number(halves[len(halves) // 2])} to either side of its "
            f"estimate. Effects well below that cannot be told from none with this number of {said_so.items}."
        )
    powerless = sum(f.p_min is not None and f.p_min >= ALPHA for f in tested)
    if powerless:
        said.append(
            f"{plural(powerless, 'comparison')} could not have reached p < 0.05 in any case: "
            f"too few {said_so.unit}s differ."
        )
    by_chance = chance(tested)
    return (*said, by_chance.summary) if by_chance.tested else tuple(said)


def what_was_lost(findings: Sequence[Finding], planned: int, done: int, failed: int) -> tuple[str, ...]:
    """Sentences on failed trials, unequal loss, and comparisons that could not be made."""
    said = [
        f"{count(done)} of {plural(planned, 'planned trial')} {'is' if done == 1 else 'are'} done, "
        f"{count(failed)} failed. What failed is missing, never a score."
    ]
    few = sum(f.status == "insufficient" for f in findings)
    gone = sum(f.status == "not evaluable" for f in findings)
    unequal = sum(f.loss_p is not None and f.loss_p < ALPHA for f in findings)
    if few:
        said.append(f"{plural(few, 'comparison')} had too few complete {words.audit_of(findings).unit}s to test.")
    if gone:
        verb = "is" if gone == 1 else "are"
        said.append(f"{plural(gone, 'comparison')} {verb} not evaluable: more than 20% of an arm was lost.")
    if unequal:
        said.append(
            f"In {plural(unequal, 'comparison')} one arm lost more than the other (p < 0.05, unadjusted). There, the "
            "loss itself may make or hide a difference."
        )
    return tuple(said)


def limits(audit: str, findings: Sequence[Finding], judge_checked: bool | None) -> tuple[str, ...]:
    """What an audit does not show, for the first page."""
    said = [*words.audit(audit).limits]
    if any(f.metric in ("mistake_recognize", "corrective_tone") for f in findings):
        said.append(
            "“Recognises the mistake” and “softens the correction” look only at turns that follow a student mistake, "
            "and the description may itself change how often that happens."
        )
    if judge_checked is False:
        said.append("No person has checked the judge's labels for this audit; its errors are in every label.")
    return tuple(said)


def asked_of_whom(
    audit: str, models: Sequence[str], items: int | None, bank: str, by_domain: Sequence[tuple[str, int]]
) -> str:
    """The first sentence: who was audited, on what."""
    said = words.audit(audit)
    domains = listed([f"{count(n)} in {name}" for name, n in by_domain if name])
    on = plural(items, said.item, said.items) if items is not None else f"a set of {said.items}"
    return (
        f"{listed(list(models)) or f'No {said.audited}'} {said.did} {on}"
        f"{f' of the bank “{bank}”' if bank else ''}{f' ({domains})' if domains else ''}. {said.again}"
    )
