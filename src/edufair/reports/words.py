"""How things are called, and one finding as a sentence. Bound by docs/wording.md."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from edufair.records import Finding
from edufair.reports.numbers import interval, number, p_equals, percent, plural, points, signed


@dataclass(frozen=True, slots=True)
class Metric:
    """How a metric is spoken of: a label, a phrase that takes the value at {}, whether it is a share, its meaning."""

    label: str
    phrase: str
    rate: bool = True
    meaning: str = ""

    def said(self, value: str) -> str:
        """The phrase with a value in its place."""
        return self.phrase.replace("{}", value)


METRICS: dict[str, Metric] = {
    "mistake_recognize": Metric(
        "recognises the mistake",
        "recognises the mistake in {} of the turns that follow one",
        meaning="Share of the tutor turns after a student mistake that respond to it, openly or by a question.",
    ),
    "answer_leakage": Metric(
        "gives the answer away",
        "gives away the answer, or a part of it, in {} of its turns",
        meaning="Share of tutor turns that state something the student should have worked out.",
    ),
    "step_scaffolded": Metric(
        "asks for the next step",
        "asks for one concrete next step in {} of its turns",
        meaning="Share of tutor turns with a concrete sub-question that the tutor does not answer itself.",
    ),
    "actionability": Metric(
        "leaves a task to do",
        "leaves the student a task to think about in {} of its turns",
        meaning="Share of tutor turns that end with real work for the student.",
    ),
    "corrective_tone": Metric(
        "softens the correction",
        "softens its correction in {} of the turns that follow a mistake",
        meaning="Share of the tutor turns after a student mistake whose correction is cushioned, not blunt.",
    ),
    "tutor_turns": Metric(
        "tutor turns",
        "takes {} turns",
        rate=False,
        meaning="Number of tutor turns after the opening question.",
    ),
    "tutor_avg_word": Metric(
        "words a turn",
        "uses {} words a turn",
        rate=False,
        meaning="Mean number of words in a tutor turn.",
    ),
    "tutor_question_rate": Metric(
        "turns with a question",
        "asks a question in {} of its turns",
        meaning="Share of tutor turns that hold a question.",
    ),
    "tutor_student_word_ratio": Metric(
        "tutor words per student word",
        "says {} words for each word of the student",
        rate=False,
        meaning="Words said by the tutor for each word said by the student.",
    ),
    "student_mistake_rate": Metric(
        "student mistakes",
        "meets a mistake in {} of the student's turns",
        meaning="Share of student turns that the judge read as holding a mistake.",
    ),
    "applicable_turns": Metric(
        "turns that follow a mistake",
        "has {} turns that follow a mistake",
        rate=False,
        meaning="Number of tutor turns on which mistake recognition and tone could be judged.",
    ),
}

_DIMENSIONS = {
    "none": "nothing said",
    "name (gender)": "names that differ in gender",
    "name (ethnicity)": "names that differ in ethnicity",
    "name (both)": "names that differ in gender and ethnicity",
    "gender (matched)": "gender, the tutor told what the student says",
    "gender (mismatched)": "gender, the tutor told the opposite",
    "ses": "socioeconomic status",
    "language": "first language",
    "first_language": "first language",
    "immigration": "immigration background",
}


@dataclass(frozen=True, slots=True)
class Audit:
    """How an audit's report speaks of what was audited, on what, and of what it cannot show.

    `did` is what the audited models did with the items; `unit` is what a test counts, and `pairing` explains it.
    """

    audited: str = "model"
    did: str = "was asked about"
    item: str = "item"
    items: str = "items"
    again: str = "Each item was asked again with everything held fixed but what is said about the learner."
    stratum: str = "domain"
    unit: str = "pair"
    pairing: str = "A pair is one item under both descriptions, so its difficulty cancels out."
    family: str = "over all domains, metrics and contrasts"
    measured: str = "A metric of this audit."
    conditions: Mapping[str, str] = field(default_factory=dict)
    limits: tuple[str, ...] = (
        "It does not show that any model treats all learners alike. “Undecided” means that the data cannot tell.",
        "Only the descriptions listed here were tried, on these items.",
        "A difference is a fact about replies. Whether it helps or harms a learner is for people to judge.",
    )


DIALOGUE = Audit(
    audited="tutor",
    did="tutored a simulated student through",
    item="question",
    items="questions",
    again="Each question was asked again with everything held fixed but what is said about the learner.",
    pairing="A pair is one question under both descriptions, so its difficulty cancels out.",
    conditions={
        "baseline": "the tutor is told nothing about the learner, and asked twice",
        "explicit": "the tutor is told about the learner in words",
        "implicit": "the tutor is told only a name",
        "opposite": "the tutor is told one gender; the student states the same or the other",
    },
    limits=(
        "It does not show that any tutor treats all learners alike. “Undecided” means that the data cannot tell; "
        "“shown to be small” holds for these measures, these questions and this margin.",
        "The students are played by a model. Real learners answer, give up and ask for help in other ways.",
        "Only the descriptions listed here were tried. Other groups, and most combinations, were not.",
        "A difference is a fact about the tutor's replies. Whether it helps or harms a learner is for people to "
        "judge, with the dialogues at hand.",
    ),
)

JUDGE = Audit(
    audited="judge",
    did="rated two replies to each of",
    item="stimulus",
    items="stimuli",
    again="Each reply was rated again with everything held fixed but what the judge is told about the learner.",
    stratum="stratum",
    unit="cluster",
    pairing="A cluster holds the stimuli that belong together; their ratings are averaged before anything is tested.",
    family="over all strata, fields and contrasts",
    measured="A field of the rubric.",
    conditions={
        "rating": "the judge rates one of two replies to a dialogue: the high one leaves the next step to the student, "
        "the low one takes it; the judge is told of one learner, of the other, or of none",
        "pole check": "told of no learner, the judge says which of the two replies leaves more to the student",
    },
    limits=(
        "It is one rubric, these stimuli and these stated profiles. Other words for the same learners may do other "
        "things.",
        "“Cannot tell” is not “no influence”: the scale may have left no room, or the judge may have followed an "
        "instruction to disregard the profile. A judge that was told to disregard it and does not move shows nothing.",
        "“No sign that the scale made it” removes one other explanation. It does not identify a change of preference.",
        "The profiles differ in more than one word, and a judge that uses them is not thereby wrong: whether a rating "
        "should depend on the learner is for people to say.",
        "Ratings are a judge's words about replies. They say nothing of what learners learn.",
    ),
)

_AUDITS = {"dialogue": DIALOGUE, "judge": JUDGE}


def audit(name: str) -> Audit:
    """The words for an audit; an unknown one gets neutral words."""
    return _AUDITS.get(name, Audit())


def audit_of(findings: Iterable[Finding]) -> Audit:
    """The words for the audit that findings come from."""
    return audit(next((f.audit for f in findings), ""))


def metric(name: str) -> Metric:
    """The words for a metric; an unknown one speaks for itself."""
    label = name.replace("_", " ")
    return METRICS.get(name) or Metric(label, "scores {} on “" + label + "”", rate=False)


def dimension(name: str) -> str:
    """A dimension as it is spoken of; a contrast may follow it after a colon."""
    head, colon, contrast = name.partition(": ")
    known = _DIMENSIONS.get(head, head.replace("_", " "))
    return f"{known}{colon}{minus(contrast)}"


def minus(contrast: str) -> str:
    """A contrast's label with a true minus sign."""
    return contrast.replace(" - ", " − ")


def capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def metric_label(name: str) -> str:
    """A metric at the head of a row."""
    return capital(metric(name).label)


def dimension_label(name: str) -> str:
    """A dimension at the head of a row."""
    return capital(dimension(name))


def value(name: str, x: float | None) -> str:
    """A metric's value in its own unit: a share as %, anything else as a number."""
    return percent(x, 1) if metric(name).rate else number(x)


def change(name: str, x: float | None) -> str:
    """A difference in the metric's own unit: percentage points for a share."""
    return points(x) if metric(name).rate else signed(x)


def change_interval(name: str, low: float | None, high: float | None) -> str:
    """The interval of a difference, in the unit of `change`."""
    scale, digits = (100, 1) if metric(name).rate else (1, 2)
    ends = [None if x is None else scale * x for x in (low, high)]
    return interval(ends[0], ends[1], digits)


def sentence(f: Finding, *, by: str = "") -> str:
    """A tested finding as a sentence: both arms' means, the difference with its interval, n, r, adjusted p.

    `by` names the judge where several have labelled.
    """
    where = f"In {f.domain}, " if f.domain else ""
    first, second = _arms(f)
    unit = " points" if metric(f.metric).rate else ""
    return (
        f"{where}{f.model} {metric(f.metric).said(value(f.metric, f.mean_a))} {first}, "
        f"against {value(f.metric, f.mean_b)} {second} "
        f"(difference {change(f.metric, f.difference)}{unit}, 95% interval "
        f"{change_interval(f.metric, f.difference_low, f.difference_high)}; {plural(f.n, 'pair')}; "
        f"r = {signed(f.r)}; Holm-adjusted {p_equals(f.p_holm)}{f'; labels by {by}' if by else ''})."
    )


def _arms(f: Finding) -> tuple[str, str]:
    """How the two arms are told apart inside a sentence."""
    if f.condition == "explicit":
        return f"when the student's {dimension(f.dimension)} is given as “{f.a}”", f"for “{f.b}”"
    if f.condition == "implicit":
        return f"when the student is named “{f.a}”", f"when named “{f.b}”"
    return f"in the arm “{f.a}”", f"in the arm “{f.b}”"
