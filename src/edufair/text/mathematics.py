"""Answers that are neither numbers nor words: algebra, roots, multiples of π. Equality is math-verify's."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from edufair.errors import MissingExtra
from edufair.text.numbers import plain

_FUNCTIONS = "sqrt|arcsin|arccos|arctan|sin|cos|tan|log|ln|exp|pi"
_NAME = re.compile(rf"{_FUNCTIONS}|[A-Za-zπθ√]")
_RELATION = re.compile(r"[=<>≤≥]")
_SIGNS = r"\d.,+*/×÷^()=<>≤≥{}\s√-"
_EXPRESSION = re.compile(
    rf"(?:[{_SIGNS}]|(?<![A-Za-z])(?:{_FUNCTIONS})(?![a-z])|(?<![A-Za-z])[A-Za-z]{{1,2}}(?![A-Za-z])|[πθ])+"
)
_OPERATION = re.compile(r"[\w)π][ ]?[*/^=<>≤≥×÷+-][ ]?[\w(√π-]|\d[a-zπ√](?![a-z])|√|sqrt|π")
_COMMAND = re.compile(r"\\(?:[a-zA-Z]+)")
_PIECE = re.compile(r"(?:[^.,;\s]|[.,](?=\d)|[ \t](?!\s))+")
_LONGEST = 80
_MOST_COMPARED = 12
_EXPONENT = re.compile(r"\^[({]?-?(\d{1,2}|[a-z]|\d/\d)[)}]?(?![\d^])")


def is_mathematics(answer: str) -> bool:
    """Whether an answer reads as an expression with a letter, a root, a function or π in it (2x + 3, √2, y = 3x).

    Numbers, words and chemical formulas (H2O, 2H2 + O2) are not mathematics.
    """
    text = plain(answer).strip()
    if _COMMAND.search(text):
        return True
    if re.search(r"[A-Za-z]\d", text) or not _NAME.search(text):
        return False
    return _EXPRESSION.fullmatch(text) is not None and _OPERATION.search(text) is not None


class Expression:
    """An expression to be found in text.

    Raises MissingExtra when math-verify is not installed.
    """

    weak = False

    def __init__(self, answer: str) -> None:
        self._canonical = _canonical(plain(answer))
        self._names = _names(self._canonical)
        self._is_relation = bool(_RELATION.search(self._canonical))
        letters = "".join(sorted({name for name in self._names if len(name) == 1}))
        words = "|".join(sorted((n for n in self._names if len(n) > 1), key=len, reverse=True)) or "sqrt"
        run = rf"(?<![A-Za-z])(?:{words}|[{letters or 'π'}])+(?![A-Za-z])"
        self._run = re.compile(rf"(?:[{_SIGNS}]|{run}|π|pi)+")
        _math_verify()

    def find(self, text: str) -> Iterator[tuple[int, int]]:
        """Where an equal expression stands in a `plain` text. Compares at most twelve candidates by algebra."""
        compared = 0
        for start, end, candidate in self._candidates(text):
            if candidate == self._canonical:
                yield start, end
            elif compared < _MOST_COMPARED and _names(candidate) == self._names and _is_safe(candidate):
                compared += 1
                if _equal(self._canonical, candidate):
                    yield start, end

    def _candidates(self, text: str) -> Iterator[tuple[int, int, str]]:
        for run in self._run.finditer(text):
            for piece in _PIECE.finditer(run[0]):
                start = run.start() + piece.start()
                for part in [piece] if self._is_relation else re.finditer(r"[^=<>≤≥]+", piece[0]):
                    begin = start + (0 if part is piece else part.start())
                    begin += len(part[0]) - len(part[0].lstrip())
                    body = part[0].strip()
                    if len(body) <= 2 * _LONGEST and (candidate := _canonical(_balanced(body))):
                        yield begin, begin + len(body), candidate


def _names(text: str) -> frozenset[str]:
    return frozenset(_NAME.findall(text))


def _canonical(text: str) -> str:
    """One spelling of an expression: no spaces, no multiplication signs between factors, π and sqrt as such."""
    text = re.sub(r"\s+", "", text.replace("{", "(").replace("}", ")"))
    text = re.sub(r"√\(?(\w+)\)?", r"sqrt(\1)", text.replace("pi", "π"))
    text = re.sub(r"\^\((\w)\)", r"^\1", text).strip(".,")
    return re.sub(r"(?<=[\w)])[*×](?=[A-Za-z(π])", "", text)


def _balanced(text: str) -> str:
    """Without a bracket at either end that has no partner."""
    text = text.strip()
    while text.count("(") > text.count(")") and text[0] == "(":
        text = text[1:]
    while text.count(")") > text.count("(") and text[-1] == ")":
        text = text[:-1]
    return text


def _is_safe(text: str) -> bool:
    """Small enough that computer algebra ends at once: math-verify's own time limit needs the main thread."""
    exponents = _EXPONENT.findall(text)
    powers = sum(int(e) for e in exponents if e.isdigit())
    return (
        len(text) <= _LONGEST and len(exponents) == text.count("^") and powers <= 20 and not re.search(r"\d{13}", text)
    )


@lru_cache(maxsize=4096)
def _equal(answer: str, candidate: str) -> bool:
    library = _math_verify()
    gold, target = _parsed(answer), _parsed(candidate)
    return bool(gold and target and library.verify(gold, target, timeout_seconds=None))


@lru_cache(maxsize=4096)
def _parsed(text: str) -> Any:
    if not _is_safe(text):
        return []
    return _math_verify().parse(f"${_latex(text)}$", parsing_timeout=None)


def _latex(text: str) -> str:
    for _ in range(3):  # brackets in brackets
        text = re.sub(r"sqrt\(([^()]*)\)", r"\\sqrt{\1}", text)
        text = re.sub(r"\^\(([^()]*)\)", r"^{\1}", text)
    text = re.sub(r"(?<!\\)(arcsin|arccos|arctan|sin|cos|tan|log|ln|exp)", r"\\\1 ", text)
    for sign, command in (("π", r"\pi "), ("×", r"\times "), ("÷", r"\div "), ("*", r"\cdot "), ("θ", r"\theta ")):
        text = text.replace(sign, command)
    return text.replace("≤", r"\leq ").replace("≥", r"\geq ")


@lru_cache(maxsize=1)
def _math_verify() -> Any:
    try:
        import math_verify
    except ImportError:
        raise MissingExtra("math-verify", "dialogue", "An answer that is an algebraic expression") from None
    # It warns that its time limit is off; `_is_safe` stands in its place.
    logging.getLogger("math_verify").setLevel(logging.ERROR)
    return math_verify
