"""Sentences: where they end, which of them ask, and what a sentence that asks states before it asks."""

from __future__ import annotations

import re
from dataclasses import dataclass

_ABBREVIATIONS = frozenset([
    "mr", "mrs", "ms", "dr", "prof", "st", "jr", "sr", "vs", "e.g", "i.e", "cf", "approx", "fig", "eq",
    "vol", "ca", "dept", "est", "u.s", "u.k", "a.m", "p.m",
])  # fmt: skip
_OFTEN_LAST = frozenset(["etc", "a.m", "p.m", "u.s", "u.k"])  # abbreviations that may also end a sentence

# An end mark with its closing quotes, or a line break. Repetition is bounded by what follows, never nested.
_END = re.compile(r"[.!?？！。]+[\"'”’)\]*_]*(?=\s|$)|[!?？！]+(?=[^\W\d])|\.(?=[A-Z][a-z])|\n[ \t\r\n]*")
_LIST_MARK = re.compile(r"(?:[-*•+>#|]+[ \t]|[-*_#>( \t]*(?:\d{1,3}|[A-Za-z])[.)]|\\)")
_LIST_NUMBER = re.compile(r"[\s>*_#(-]*(?:step\s+)?(?:\d{1,3}|[a-zA-Z])$", re.IGNORECASE)

_WH = r"(?:what|which|how|why|where|who|whom|whose|when)"
_AUXILIARY = (
    r"(?:is|are|am|was|were|do|does|did|can|could|will|would|should|shall|may|might|must|has|have|had"
    r"|isn't|aren't|don't|doesn't|didn't|can't|couldn't|won't|wouldn't|haven't|hasn't)"
)
_SUBJECT = (
    r"(?:you|we|i|he|she|it|they|this|that|these|those|there|the|your|our|his|her|their|an?|any(?:one|thing)?"
    r"|some(?:one|thing)?|every(?:one|thing)?)"
)
_QUESTION = (
    rf"(?:{_WH}(?:'s|'re|'d|\s+{_AUXILIARY})\b|how\s+(?:many|much|long|far|about)\b|what\s+about\b"
    rf"|{_AUXILIARY}\s+{_SUBJECT}\b)"
)
_OPENING = r"(?:(?:ok|okay|so|and|but|now|then|well|yes|no|right|great|good|alright|hi|hello|please)\b[\s,.!:-]*){0,3}"
_ASKS = re.compile(rf"[\s\"'*_(]*{_OPENING}{_QUESTION}", re.IGNORECASE)
_ASKS_THROUGHOUT = re.compile(rf"[\s\"'*_(]*{_OPENING}(?:{_WH}\b|{_QUESTION})", re.IGNORECASE)

# "..., right?": a statement with a tag; what stands before the tag is stated.
_TAG = re.compile(
    r"(?:,|\s-|;|\.\.)\s*(?:(?:is|are|was|were|do|does|did|have|has|wo|would|could|ca)n't\s+\w+|right|ok|okay|correct|yes"
    r"|(?:do|can)\s+you\s+(?:see|understand|agree|follow|get\s+it)|see|understand|got\s+it|yeah|agreed)"
    r"(?:\s+(?:that|why|now|this|it))?\s*[?？]+\W*$",
    re.IGNORECASE,
)
# "18 / 2 is 9, so how many ...?": the question proper begins here.
_TURN_TO_ASKING = re.compile(
    rf"(?:[,;:]|\s-)\s*(?:(?:so|and|but|then|now)\b,?\s+)*(?={_QUESTION})|\s(?=(?:can|could|do|would|will)\s+you\b)",
    re.IGNORECASE,
)
_CONDITION = re.compile(
    r"[\s\"'*_(]*(?:(?:(?:so|and|but|now|then|ok|okay|well|no|yes)\b|\w+,)[\s,]*){0,3}"
    r"(?:if|suppose|supposing|imagine|assuming|assume|given|knowing|when|unless|whether|say)\b",
    re.IGNORECASE,
)
_BLANK = re.compile(r"[=+*/×÷-] ?\?")
_CONDITION_OVER = re.compile(r",|\bthen\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence as text[start:end] of the text it was found in.

    `question` is true when it asks: it ends in a question mark, holds a blank to fill ("5 + ? = 8"), or opens
    like a question ("how many are left") and ends neither in "!" nor, after a bare what/which/how, as a statement.
    """

    text: str
    start: int
    end: int
    question: bool


def sentences(text: str) -> list[Sentence]:
    """The sentences of a text in order, without those that hold no letter or digit or question mark.

    A sentence ends at . ! ? (with closing quotes) before white space, and at a line break unless the next line goes
    on in lower case. Decimals, abbreviations (Mr., e.g.), initials, list numbers and an ellipsis before a lower-case
    word do not end one. Time is linear in the length of the text.
    """
    found: list[Sentence] = []
    start = 0
    for mark in _END.finditer(text):
        if _ends_here(text, start, mark):
            _add(found, text, start, mark.end())
            start = mark.end()
    _add(found, text, start, len(text))
    return found


def holds_question(text: str) -> bool:
    """Whether at least one sentence of the text asks."""
    return any(sentence.question for sentence in sentences(text))


def stated(sentence: Sentence) -> tuple[int, int]:
    """The part of a sentence that is stated, as (start, end) within the text it was found in; empty if none.

    All of a declarative sentence, except a condition that opens it ("If he has 10, ..."). Of a question, what
    stands before its tag ("The sum is 10, right?") or before the question proper ("The sum is 10, so what is left?").
    """
    end = len(sentence.text)
    if sentence.question:
        end = _asking_from(sentence.text)
    begin = 0
    if condition := _CONDITION.match(sentence.text[:200]):
        over = _CONDITION_OVER.search(sentence.text, condition.end(), end)
        begin = over.end() if over else end
    return sentence.start + min(begin, end), sentence.start + end


def _asking_from(text: str) -> int:
    """Where a question begins to ask: 0 for one that asks throughout."""
    if _ASKS_THROUGHOUT.match(text):
        return 0
    turn = _TAG.search(text, max(0, len(text) - 60)) or _TURN_TO_ASKING.search(text)
    return turn.start() if turn else 0


def _ends_here(text: str, start: int, mark: re.Match[str]) -> bool:
    if mark[0][0] == "\n":
        return _line_ends(text, mark)
    if "?" in mark[0] or "!" in mark[0]:
        return not _goes_on_after_quote(text, mark) and not _is_blank(text, mark)
    before = text[max(start, mark.start() - 40) : mark.start()]
    word = before.rsplit(None, 1)[-1].lstrip("(\"'*_").lower() if before.strip() else ""
    after = text[mark.end() : mark.end() + 40].lstrip(" \t\"'“‘(*_")
    if word in _ABBREVIATIONS:
        return word in _OFTEN_LAST and (not after or after[0].isupper() or after[0] == "\n")
    if (word == "etc" and after[:1].islower()) or (word == "no" and after[:1].isdigit()):
        return False
    if mark[0].startswith("..") and after[:1].islower():
        return False
    if _LIST_NUMBER.fullmatch(before) and start + len(before) >= mark.start():
        return not after  # "1." opens the line's sentence; alone it is one
    return not _is_initial(before, after)


def _line_ends(text: str, mark: re.Match[str]) -> bool:
    following = text[mark.end() : mark.end() + 12]
    return mark[0].count("\n") > 1 or not following[:1].islower() or bool(_LIST_MARK.match(following))


def _goes_on_after_quote(text: str, mark: re.Match[str]) -> bool:
    """`"How many?" she asked`: the quotation ends, the sentence does not."""
    return mark[0][-1] in "\"'”’)" and text[mark.end() : mark.end() + 2].lstrip(" ")[:1].islower()


def _is_blank(text: str, mark: re.Match[str]) -> bool:
    """`5 + ? = 8`: a blank to fill inside an expression."""
    return mark[0] == "?" and text[mark.end() : mark.end() + 3].lstrip(" ")[:1] in tuple("=+-*/×÷")


def _is_initial(before: str, after: str) -> bool:
    """`J. Smith`: a capital after a capitalised word or nothing, before a capitalised word."""
    words = before.split()
    if not words or len(words[-1]) != 1 or not words[-1].isupper() or not after[:1].isupper():
        return False
    return len(words) > 1 and words[-2][0].isupper()


def _add(found: list[Sentence], text: str, start: int, end: int) -> None:
    body = text[start:end]
    start += len(body) - len(body.lstrip())
    body = body.strip()
    if "?" in body or any(map(str.isalnum, body)):
        found.append(Sentence(body, start, start + len(body), _asks(body)))


def _asks(body: str) -> bool:
    if "?" not in body and "？" not in body:
        return not body.endswith("!") and _ASKS.match(body) is not None
    ends_asking = body.rstrip("\"'”’)]*_ !").endswith(("?", "？"))
    return ends_asking or _BLANK.search(body) is not None or _ASKS.match(body) is not None
