"""SciQ (Welbl et al. 2017): science questions without domain labels, read from the user's copy.

Domains as in section 3.1.2 of the paper: words that belong to one science give weak labels to some
questions; a linear classifier on TF-IDF of question and support learns from them and labels all.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from edufair.design.banks.bank import Bank, Filters, FilterStep, make_item
from edufair.design.banks.draw import by_draw
from edufair.design.banks.reading import Faults, as_text, read_rows
from edufair.errors import BankError, MissingExtra
from edufair.records import Item

SEEDS = Path(__file__).parent.parent / "data" / "sciq_seeds.toml"
_DEFINITIONAL = re.compile(r"\W*what (?:is|are)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Question:
    row: int
    question: str
    answer: str
    support: str
    domain: str = ""
    confidence: float = 0.0

    @property
    def id(self) -> str:
        return f"sciq-{self.row:05d}"

    @property
    def text(self) -> str:
        return f"{self.question} {self.support}"


def build_sciq(
    path: Path,
    *,
    filters: Filters = "paper",
    confidence: float = 0.65,
    per_domain: int = 500,
    seed: int = 1,
    grade: int = 8,
) -> Bank:
    """Physics and chemistry questions of SciQ (train.json, or the Parquet file with the same columns).

    With `filters="none"` every question is kept under its most likely domain, biology too, whatever the
    confidence. `confidence` is the least probability of a domain; at most `per_domain` questions of a
    domain are drawn, by `seed`. Ids are places in the file; `grade` is the paper's.

    Raises BankError for bad rows and where a domain has no seed question, MissingExtra without scikit-learn.
    """
    found = _read(path)
    questions = _with_domains(path, found)
    steps = [FilterStep("questions in the file", len(questions), 0)]
    if filters == "paper":
        for name, passes in _rules(confidence):
            kept = [question for question in questions if passes(question)]
            steps.append(FilterStep(name, len(kept), len(questions) - len(kept)))
            questions = kept
        kept = _first_asked(questions)
        steps.append(FilterStep("not asked before (same question and answer)", len(kept), len(questions) - len(kept)))
        drawn = _drawn(kept, per_domain, seed)
        steps.append(
            FilterStep(f"at most {per_domain} a domain, drawn by seed {seed}", len(drawn), len(kept) - len(drawn))
        )
        questions = drawn
    items = tuple(_item(question, grade) for question in questions)
    return Bank("sciq", items, tuple(steps), ("distractors are left out: the audit asks open questions",))


def _read(path: Path) -> list[_Question]:
    faults = Faults(path)
    questions = []
    for row in read_rows(path, faults):
        try:
            questions.append(_question(row.number, row.values))
        except ValueError as error:
            faults.add(row.number, str(error))
    faults.raise_any()
    return questions


def _question(row: int, values: Mapping[str, Any]) -> _Question:
    question, answer = as_text(values.get("question")), as_text(values.get("correct_answer"))
    if not question or not answer:
        raise ValueError("question or correct_answer is empty; is this a file of SciQ?")
    return _Question(row, question, answer, as_text(values.get("support")) or "")


def _rules(confidence: float) -> tuple[tuple[str, Callable[[_Question], bool]], ...]:
    return (
        ("a support passage", lambda q: bool(q.support)),
        ("not definitional (begins what is, what are)", lambda q: not _DEFINITIONAL.match(q.question)),
        (f"a domain with confidence of {confidence:g} or more", lambda q: q.confidence >= confidence),
        ("physics or chemistry", lambda q: q.domain != "biology"),
    )


def _first_asked(questions: Sequence[_Question]) -> list[_Question]:
    seen: dict[tuple[str, str], _Question] = {}
    for question in questions:
        seen.setdefault((question.question.casefold().strip(), question.answer.casefold().strip()), question)
    return list(seen.values())


def _drawn(questions: Sequence[_Question], per_domain: int, seed: int) -> list[_Question]:
    """At most `per_domain` questions of each domain, in the file's order."""
    drawn: set[str] = set()
    for domain in {question.domain for question in questions}:
        ids = [question.id for question in questions if question.domain == domain]
        drawn.update(by_draw(ids, seed, "sciq")[:per_domain])
    return [question for question in questions if question.id in drawn]


def _item(question: _Question, grade: int) -> Item:
    return make_item(
        question.id,
        question.domain,
        question.question,
        question.answer,
        grade=grade,
        support=question.support,
    )


def _with_domains(path: Path, questions: Sequence[_Question]) -> list[_Question]:
    """Every question with its most likely domain and that domain's probability."""
    try:
        from sklearn.feature_extraction.text import (  # type: ignore[import-not-found, import-untyped, unused-ignore]
            TfidfVectorizer,
        )
        from sklearn.linear_model import (  # type: ignore[import-not-found, import-untyped, unused-ignore]
            LogisticRegression,
        )
    except ImportError:
        raise MissingExtra("scikit-learn", "banks", "Telling SciQ's domains apart") from None
    labels = [_seed_domain(question.text) for question in questions]
    _check_seeds(path, labels)
    texts = TfidfVectorizer(sublinear_tf=True, stop_words="english").fit_transform([q.text for q in questions])
    seeds = [place for place, label in enumerate(labels) if label]
    model = LogisticRegression(C=10, max_iter=1000)
    model.fit(texts[seeds], [labels[place] for place in seeds])
    chances = model.predict_proba(texts)
    return [
        _Question(q.row, q.question, q.answer, q.support, str(model.classes_[row.argmax()]), float(row.max()))
        for q, row in zip(questions, chances, strict=True)
    ]


def _check_seeds(path: Path, labels: Sequence[str | None]) -> None:
    lacking = sorted(set(_seed_words()) - set(labels))
    if lacking:
        raise BankError(
            f"{path}: no question can stand as an example of {', '.join(lacking)}; "
            "give the whole of SciQ's train.json, or use your own file with a column of domains"
        )


def _seed_words() -> dict[str, re.Pattern[str]]:
    with SEEDS.open("rb") as file:
        words: dict[str, list[str]] = tomllib.load(file)
    return {
        domain: re.compile(rf"\b({'|'.join(map(re.escape, listed))})(?:s|es)?\b", re.IGNORECASE)
        for domain, listed in words.items()
    }


def _seed_domain(text: str) -> str | None:
    """The domain with more different seed words in the text than either other, if there is one."""
    hits = {domain: len({word.lower() for word in words.findall(text)}) for domain, words in _PATTERNS.items()}
    first, second = sorted(hits, key=lambda domain: -hits[domain])[:2]
    return first if hits[first] > hits[second] else None


_PATTERNS = _seed_words()
