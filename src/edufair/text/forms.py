"""The two plain kinds of answer, and where they stand in a `plain` text: numbers with their units, and words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction

from edufair.text.numbers import NUMBER_WORDS, SCALE_WORDS, Number, numbers, read_number, spelled
from edufair.text.units import SPELLINGS

_NAMED = re.compile(r"^[A-Za-z]\w{0,2}\s*=\s*(?=\S)")
_WITH_UNIT = re.compile(r"(?P<unit>[^\W\d_]\S*|°\S*)(?P<more>(?:\s+[^\s\d]+){0,3})\s*", re.ASCII)
# Words that may follow a bare number; any other word after it could be another unit.
_BARE_AFTER = frozenset([
    "a", "an", "the", "in", "on", "at", "of", "to", "for", "from", "by", "per", "and", "or", "but",
    "so", "as", "is", "are", "was", "were", "be", "because", "since", "then", "than", "that", "which",
    "who", "left", "more", "total", "altogether", "all", "each", "every", "remaining", "together",
    "overall", "he", "she", "it", "they", "you", "we", "i", "his", "her", "not", "yes", "if", "when",
    "while", "with", "after", "before", "until", "can", "could", "do", "did", "does", "would", "will",
    "should", "now", "correct", "right", "equals", "makes",
])  # fmt: skip
_ADJECTIVE = re.compile(r"\s+[^\W\d]+")
_WORD_AFTER = re.compile(r"[\s-]*([^\W\d_]+)")
_WORD_BEFORE = re.compile(r"(^|[\W\d_])([^\W\d_]+)[\s-]+(and\s+)?$")
_SEPARATOR = r"[\s\-_*\"',:]*"


class NumberForm:
    """A number, with its unit where it has one; found in digits and in words."""

    def __init__(self, value: Fraction, percent: bool, unit: str) -> None:
        self.weak = False
        self._value, self._percent = value, percent
        self._unit = _unit_pattern(unit) if unit else None
        written = spelled(abs(value))
        sign = r"(?:minus|negative)\s+" if value < 0 else ""
        self._words = re.compile(rf"\b{sign}{written}\b", re.IGNORECASE) if written else None

    def find(self, text: str) -> Iterator[tuple[int, int]]:
        for number in numbers(text):
            if self._equals(number, text):
                yield number.start, number.end
        if self._words is not None:
            for match in self._words.finditer(text):
                if _is_whole_numeral(text, *match.span()) and self._unit_fits(text, match.end()):
                    yield match.span()

    def _equals(self, number: Number, text: str) -> bool:
        if number.percent:
            return number.value == self._value * (1 if self._percent else 100) or (
                number.value == self._value and self._unit is None
            )
        if self._percent and number.value == self._value / 100:
            return True
        return number.value == self._value and self._unit_fits(text, number.end)

    def _unit_fits(self, text: str, end: int) -> bool:
        """The unit follows, or nothing that could be another unit does. A number without a unit fits any."""
        if self._unit is None:
            return True
        if any(self._unit.match(text, at) for at in _unit_places(text, end)):
            return True
        if text[end : end + 1] in ("%", "°"):
            return False
        following = _WORD_AFTER.match(text, end)
        return following is None or (text[end] != "-" and following[1].lower() in _BARE_AFTER)


def _unit_places(text: str, end: int) -> Iterator[int]:
    """Where a unit may begin: right after the number, or after one or two adjectives ("12 red apples")."""
    yield end
    for _ in range(2):
        word = _ADJECTIVE.match(text, end)
        if word is None:
            return
        end = word.end()
        yield end


class WordsForm:
    """Words, whole and in order; case, articles, plural, hyphens and punctuation between them do not matter."""

    def __init__(self, text: str) -> None:
        tokens = re.findall(r"[^\W_]+(?:'[^\W_]+)*[+]*(?!\w)|[^\W_]+", text)
        tokens = [t for t in tokens if t.lower() not in ("a", "an", "the")] or tokens
        short = len(tokens) == 1 and len(tokens[0]) <= 2
        self.weak = short or " ".join(tokens).lower() in ("yes", "no", "true", "false", "none", "both")
        body = (_SEPARATOR + r"(?:(?:the|an?)\s+)?").join(
            re.escape(t) if short else "(?:" + "|".join(map(re.escape, _plurals(t.lower()))) + ")" for t in tokens
        )
        self._pattern = re.compile(rf"(?<![\w])(?:{body})(?![\w]|[+](?!\w)|'[a-rt-z])", 0 if short else re.IGNORECASE)

    def find(self, text: str) -> Iterator[tuple[int, int]]:
        return (match.span() for match in self._pattern.finditer(text))


def as_number(text: str) -> NumberForm | None:
    """The number a plain text is, with a name before it (x = 4) or a unit after it (12 apples, 9.8 m/s^2, 50%)."""
    text = _NAMED.sub("", text)
    if (value := read_number(text)) is not None:
        return NumberForm(value, False, "")
    if (number := next(numbers(text), None)) and number.start == 0:
        unit = text[number.end :].strip()
        if number.percent:
            return None if unit else NumberForm(number.value, True, "")
        return NumberForm(number.value, False, unit) if _is_unit(unit) else None
    words = text.split()
    if len(words) == 2 and (value := read_number(words[0])) is not None and words[0].lower() not in ("a", "an", "half"):
        return NumberForm(value, False, words[1])
    return None


def _is_unit(unit: str) -> bool:
    if unit in SPELLINGS or unit.lower() in SPELLINGS:
        return True
    match = _WITH_UNIT.fullmatch(unit)
    return match is not None and len(match["unit"]) > 2 and match["unit"].lower() not in ("and", "or", "x", "to")


def _unit_pattern(unit: str) -> re.Pattern[str]:
    spellings = SPELLINGS.get(unit) or SPELLINGS.get(unit.lower())
    if spellings is None:
        spellings = tuple(sorted(_plurals(unit.split(maxsplit=1)[0].lower()), key=len, reverse=True))
    written = "|".join(re.escape(s) if len(s) <= 3 else f"(?i:{re.escape(s)})" for s in spellings)
    compound = any("/" in s or " per " in s for s in spellings)
    ends = r"(?![\w^])" if compound else r"(?![\w^/]|\s+per\b)"
    return re.compile(rf"[\s-]*(?:{written}){ends}")


def _is_whole_numeral(text: str, start: int, end: int) -> bool:
    """`five` is not five in "twenty-five" or "five hundred"."""
    before, after = _WORD_BEFORE.search(text[max(0, start - 24) : start]), _WORD_AFTER.match(text, end)
    if before and before[2].lower() in (SCALE_WORDS if before[3] else NUMBER_WORDS):
        return False
    if after and after[1].lower() == "and" and text[start:end].lower().endswith(SCALE_WORDS):
        after = _WORD_AFTER.match(text, after.end())
    return not (after and after[1].lower() in NUMBER_WORDS)


_IRREGULAR = {
    "mouse": "mice", "foot": "feet", "tooth": "teeth", "goose": "geese", "child": "children", "person": "people",
    "man": "men", "woman": "women", "ox": "oxen", "datum": "data",
}  # fmt: skip
_IRREGULAR_BACK = {plural: single for single, plural in _IRREGULAR.items()}
_ENDINGS = (  # singular, plural
    ("us", "i"), ("um", "a"), ("on", "a"), ("is", "es"), ("a", "ae"), ("ex", "ices"), ("ix", "ices"), ("f", "ves"),
    ("fe", "ves"), ("y", "ies"),
)  # fmt: skip


def _plurals(word: str) -> set[str]:
    """The spellings a word may have in the other number, itself among them; some are not words, and harm nothing."""
    forms = {word, word + "s", _IRREGULAR.get(word, word), _IRREGULAR_BACK.get(word, word)}
    if word.endswith(("s", "x", "z", "ch", "sh", "o")):
        forms.add(word + "es")
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        forms.add(word[:-1])
        if word.endswith(("ses", "xes", "zes", "ches", "shes", "oes")):
            forms.add(word[:-2])
    if len(word) > 4:
        forms |= {word[: -len(one)] + many for one, many in _ENDINGS if word.endswith(one)}
        forms |= {word[: -len(many)] + one for one, many in _ENDINGS if word.endswith(many) and len(many) > 1}
    if len(word) > 6 and word.endswith("a"):  # mitochondria
        forms |= {word[:-1] + "um", word[:-1] + "on"}
    if len(word) > 5 and word.endswith("i"):  # nuclei
        forms.add(word[:-1] + "us")
    return forms
