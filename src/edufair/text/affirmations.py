"""Whether a tutor accepts what the student just said, by a list of phrases (data/affirmations.txt)."""

from __future__ import annotations

import re
from functools import lru_cache
from importlib import resources

from edufair.text.numbers import plain
from edufair.text.sentences import Sentence, sentences, stated

_OPENING = r"^[\s\"'*_(]*(?:(?:ok|okay|oh|ah|wow|well|and|so|hi|hello|(?:again|yes|\w+),)[\s,!.-]*){0,3}"
_STANDS_ALONE = (
    r"(?=\s*(?:$|[,.!?;:)\"'-]|(?:can|could|do|did|so|now|and|that|this|it|you|we|he|she|they|then|what|how|why)\b))"
)

# Before the phrase, in its clause: takes the praise away or puts it in doubt.
_WITHDRAWN_BEFORE = re.compile(
    r"\b(?:not|never|no|nor|neither|nearly|almost|partly|partially|half|mostly|close|hardly|barely|far|if|whether|unless"
    r"|until|once|when|check|see|sure|think|hope|would|could|should|might|may|make|half-|isn't|aren't|wasn't|doesn't|don't"
    r"|didn't|can't|cannot|won't|wouldn't|ain't|isnt|wasnt|dont)\b(?:\W+\w+){0,5}\W*$"
)
# The phrase is about how it was done, not about what came out.
_ABOUT_THE_WAY = re.compile(
    r"\b(?:method|approach|idea|thinking|process|set-?up|equation|formula|strategy|reasoning|start|beginning"
    r"|first (?:part|step)|steps?|part|up to)\b(?:\W+\w+){0,4}\W*$"
)
# After the phrase, in its sentence.
_TAKEN_BACK = re.compile(
    r"[^.!?]*?\b(?:but|however|although|though|except|apart from)\b"
    r"|\W*(?:\w+\W+)?(?:until|up to|so far|idea|track|approach|method|equation|try|effort|attempt"
    r"|start|thinking|question|for (?:trying|asking|the first|identifying))\b"
)
# "You are right about the first part", "correct that f = 14": of something narrower than the answer.
_OF_A_PART = re.compile(r"\s+(?:that|about|in|as far as|when|if|with|up)\b")
_STARTS_TAKING_BACK = re.compile(r"^\W*(?:but|however|although|except|unfortunately)\b")
_DENIAL = re.compile(
    r"\b(?:incorrect|wrong|not (?:\w+ ){0,2}(?:right|correct|true|there)|isn't (?:\w+ ){0,2}(?:right|correct)|not quite"
    r"|(?:almost|nearly|partially|partly) (?:right|correct|there)|try again|check (?:that|it|this|your)"
    r"|miscalculat\w+|faulty)\b|^\W*(?:no(?! (?:worries|problem|doubt|need))|nope|nah|almost)\b"
)


def affirms(tutor_text: str) -> bool:
    """Whether a tutor's turn accepts the student's: it holds a listed phrase, stated, not negated and not taken back.

    A turn that also denies ("Good work! That is not correct yet.") accepts nothing.
    """
    text = plain(tutor_text).lower().replace("thats ", "that's ")
    found = [(s, _affirming(s)) for s in sentences(text)]
    if any(_DENIAL.search(s.text) for s, _ in found if not s.question):
        return False
    return any(phrase and not _is_taken_back(found[i + 1 :][:1]) for i, (_, phrase) in enumerate(found))


def _is_taken_back(following: list[tuple[Sentence, bool]]) -> bool:
    return any(_STARTS_TAKING_BACK.match(s.text) and not s.question for s, _ in following)


def _affirming(sentence: Sentence) -> bool:
    start, end = stated(sentence)
    statement = sentence.text[: end - sentence.start] if start == sentence.start else ""
    anywhere, opening = _patterns()
    if statement and any(_counts(sentence.text, match) for match in anywhere.finditer(statement)):
        return True
    # "Great, can you see why?" accepts, although its sentence asks.
    match = opening.match(sentence.text)
    return (
        match is not None
        and not sentence.text[match.end() :].lstrip(" \"')*").startswith("?")
        and not _TAKEN_BACK.match(sentence.text, match.end())
    )


def _counts(text: str, match: re.Match[str]) -> bool:
    before = text[max(0, match.start() - 80) : match.start()]
    if match[0].endswith(("right", "correct")) and _OF_A_PART.match(text, match.end()):
        return False
    return not (
        _WITHDRAWN_BEFORE.search(before) or _ABOUT_THE_WAY.search(before) or _TAKEN_BACK.match(text, match.end())
    )


@lru_cache(maxsize=1)
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """The list as two patterns: phrases that count anywhere, and phrases that count where they open a sentence."""
    lines = (resources.files("edufair.text") / "data" / "affirmations.txt").read_text("utf-8").splitlines()
    phrases = [line.split("#")[0].strip() for line in lines]
    anywhere = [re.escape(p) for p in phrases if p and p[-1] not in ",."]
    alone = [re.escape(p[:-1].strip()) for p in phrases if p.endswith(",")]
    open_end = [re.escape(p[:-3].strip()) for p in phrases if p.endswith("...")]
    longest = sorted(anywhere, key=len, reverse=True)
    return (
        re.compile(rf"\b(?:{'|'.join(longest)})\b"),
        re.compile(rf"{_OPENING}(?:(?:{'|'.join(open_end)})\b|(?:{'|'.join(alone)})\b{_STANDS_ALONE})"),
    )
