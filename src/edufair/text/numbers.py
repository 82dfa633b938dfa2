"""Numbers as they stand in text: digits, thousands, decimals, fractions, powers of ten, percentages, words."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from edufair.text.units import ATTACHED

_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻", "0123456789+-")
_SUPERSCRIPT_RUN = re.compile(r"[⁺⁻]?[⁰¹²³⁴⁵⁶⁷⁸⁹]+")
_VULGAR = re.compile(r"[¼½¾⅐-⅞]")
_THIN_THOUSANDS = re.compile(r"(?<=\d)[\u00a0\u2009\u202f](?=\d{3}(?!\d))")
_DASHES = str.maketrans(
    {"−": "-", "‐": "-", "‑": "-", "‒": "-", "–": "-", "—": ", ", "―": ", ", "⁄": "/", "∕": "/"}
    | {"’": "'", "‘": "'", "“": '"', "”": '"', "·": "*", "⋅": "*", "∙": "*", "\u200b": "", "\ufeff": ""}
)
_FRACTION_MACRO = re.compile(r"\\[dtc]?frac\s*\{([^{}]{0,200})\}\s*\{([^{}]{0,200})\}")
_WRAPPER_MACRO = re.compile(
    r"\\(?:boxed|text|textbf|mathrm|mathbf|mathit|textit|operatorname|fbox)\s*\{([^{}]{0,200})\}"
)
_MACROS = (
    (re.compile(r"\\(?:times)\b"), "×"),
    (re.compile(r"\\div\b"), "÷"),
    (re.compile(r"\\cdot\b|\\ast\b"), "*"),
    (re.compile(r"\\pi\b"), "π"),
    (re.compile(r"\\leq?\b"), "≤"),
    (re.compile(r"\\geq?\b"), "≥"),
    (re.compile(r"\\sqrt\s*\{([^{}]{0,200})\}"), r"sqrt(\1)"),
    (re.compile(r"\\(?:left|right|displaystyle|quad|qquad|approx)\b"), " "),
    (re.compile(r"\\([%$#&])"), r"\1"),
    (re.compile(r"\\[,;:! ()\[\]]|\\\\"), " "),
)
_EMPHASIS = re.compile(r"(?<![\w*)])\*(?=[^\s*])([^*\n]{1,200})(?<=[^\s*])\*(?![\w*(])")
_SIGN_BEFORE_CURRENCY = re.compile(r"-\s?[$£€¥₹]\s?(?=[\d.])")
_CURRENCY = re.compile(r"[$£€¥₹]")

_DIGITS = r"(?:\d{1,3}(?:,\d{3}){1,6}|\d{1,40})(?:\.\d{1,40})?|\.\d{1,40}"
_NUMBER = re.compile(
    rf"""(?<![\w#^.])(?<!\d[,:/])
    (?:(?P<whole>\d{{1,6}})[ -](?=\d{{1,4}}/\d{{1,4}}(?![\d/])))?
    (?P<digits>{_DIGITS})(?!\d)(?!\.\d)(?!:\d)
    (?:/(?P<below>\d{{1,12}})(?![\d/]|\.\d))?
    (?:(?:\s?[×*]\s?|\sx\s)10\s?\^\s?\(?\{{?(?P<power>[+-]?\d{{1,3}})(?!\d)\}}?\)?|[eE](?P<exponent>[+-]?\d{{1,3}})(?!\w)
      |\^\(?\{{?(?P<tens>-?\d{{1,2}})(?!\d)\}}?\)?)?
    (?:\s?(?P<scale>hundred|thousand|million|billion|trillion)\b)?
    (?P<percent>\s?%|\s(?:percent|per\ cent|percentage\ points?)\b)?""",
    re.VERBOSE | re.IGNORECASE | re.ASCII,
)
# 5x10: an "x" between digits multiplies, so the second number begins a number although a letter precedes it.
_TIMES_X = re.compile(r"(?<=\d)[xX](?=\d)")
_SCALES = {"hundred": 100, "thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
_ONES = [
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
    "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
]  # fmt: skip
_TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
_WORD_VALUES = {word: n for n, word in enumerate(_ONES)} | {word: 10 * n for n, word in enumerate(_TENS, 2)}
_PARTS = {
    2: ("half", "halves"),
    3: ("third", "thirds"),
    4: ("quarter", "quarters", "fourth", "fourths"),
    5: ("fifth", "fifths"),
    6: ("sixth", "sixths"),
    8: ("eighth", "eighths"),
    10: ("tenth", "tenths"),
}
SCALE_WORDS = tuple(_SCALES)
NUMBER_WORDS = frozenset([*_WORD_VALUES, *_SCALES])


@dataclass(frozen=True, slots=True)
class Number:
    """A number that stands at text[start:end]; `percent` when a per cent sign or word belongs to it."""

    start: int
    end: int
    value: Fraction
    percent: bool = False


def plain(text: str) -> str:
    """A text with one spelling for each sign: ASCII quotes and minus, `^` for raised digits, 1/2 for ½, no currency
    signs, no emphasis marks, LaTeX written out (`\\frac{1}{2}` as (1)/(2) or 1/2, `\\boxed{12}` as 12)."""
    if not text.isascii():
        text = _VULGAR.sub(lambda m: " " + unicodedata.normalize("NFKC", m[0]), text)
        text = _SUPERSCRIPT_RUN.sub(lambda m: "^" + m[0].translate(_SUPERSCRIPTS), text)
        text = _THIN_THOUSANDS.sub("", text)
        text = unicodedata.normalize("NFKC", text.translate(_DASHES)).translate(_DASHES)
    if "\\" in text:
        text = _without_macros(text)
    if "*" in text or "`" in text or "__" in text:
        text = _EMPHASIS.sub(r"\1", text.replace("**", "").replace("__", "").replace("`", ""))
    if _CURRENCY.search(text):
        text = _CURRENCY.sub(" ", _SIGN_BEFORE_CURRENCY.sub("-", text))
    if "x" in text:
        text = _TIMES_X.sub("×", text)
    return text


def numbers(text: str) -> Iterator[Number]:
    """The numbers written in digits in a `plain` text, in order, with their signs.

    Read: 1,000; 2.50; .5; 1/2 and 3 1/2; 3 × 10^8, 3e8 and 10^3; 2.5 million; 50%. A fraction that comes out whole
    (20/4) is a division left undone and is no number. Not numbers: parts of words and names (H2O, x2, 12th, 2x),
    of dates, times, ratios and versions (3:30, 1.2.3), and anything of more than 40 digits.
    """
    for match in _NUMBER.finditer(text):
        value = None if _belongs_to_word(text, match.end()) else _value(*match.groups()[:-1])
        if value is not None:
            negative = _is_negative(text, match.start())
            start = match.start() - negative
            yield Number(start, match.end(), -value if negative else value, match["percent"] is not None)


def read_number(text: str) -> Fraction | None:
    """The value of a plain text that is a number and nothing else, in digits or words; None when it is not."""
    text = text.strip()
    if found := next(numbers(text), None):
        return found.value if (found.start, found.end) == (0, len(text)) and not found.percent else None
    return _read_words(text.lower())


def spelled(value: Fraction) -> str | None:
    """A pattern for a value written in words ("twenty-five", "a hundred and five", "two thirds"); None if unusual."""
    if value.denominator == 1 and 0 <= value < 10**9:
        return _spelled_whole(int(value))
    if value.denominator in _PARTS and 0 < value.numerator < 10:
        part = "|".join(_PARTS[value.denominator])
        above = "(?:one|an?)" if value.numerator == 1 else _ONES[value.numerator]
        optional = "?" if value == Fraction(1, 2) else ""
        return rf"(?:{above}[\s-]+){optional}(?:{part})"
    return None


def _without_macros(text: str) -> str:
    text = text.replace("{,}", ",")
    for _ in range(4):  # innermost first; deeper nesting is left as it stands
        inner = _FRACTION_MACRO.sub(_written_fraction, _WRAPPER_MACRO.sub(r"\1", text))
        if inner == text:
            break
        text = inner
    for pattern, written in _MACROS:
        text = pattern.sub(written, text)
    return text


def _written_fraction(match: re.Match[str]) -> str:
    above, below = match[1].strip(), match[2].strip()
    return f" {above}/{below} " if above.isdigit() and below.isdigit() else f" ({above})/({below}) "


@lru_cache(maxsize=8192)
def _value(
    whole: str | None, digits: str, below: str | None, power: str | None, exponent: str | None, tens: str | None,
    scale: str | None,
) -> Fraction | None:  # fmt: skip
    value = Fraction(digits.replace(",", ""))
    if below is not None:
        if int(below) == 0 or (value / int(below)).denominator == 1 or "." in digits:
            return None
        value = value / int(below) + int(whole or 0)
    if tens is not None:
        if value != 10:
            return None
        value = Fraction(10) ** int(tens)
    if shift := power or exponent:
        value *= Fraction(10) ** int(shift)
    return value * _SCALES[scale.lower()] if scale else value


def _belongs_to_word(text: str, end: int) -> bool:
    """2x, 12th, 3D: a letter follows at once and what follows is not a unit."""
    following = text[end : end + 1]
    if not (following.isalpha() or following == "_"):
        return False
    word = re.match(r"[^\W\d_]+", text[end : end + 24])
    return word is None or word[0] not in ATTACHED


def _is_negative(text: str, start: int) -> bool:
    """A minus sign stands right before the number and nothing before it that it could be subtracted from."""
    if start == 0 or text[start - 1] != "-":
        return False
    before = text[max(0, start - 12) : start - 1]
    return (
        not before.rstrip()
        or not (before.rstrip()[-1].isalnum() or before.rstrip()[-1] in ").%")
        or (before[-1].isspace() and before.rstrip()[-1].isalpha())
    )


def _read_words(text: str) -> Fraction | None:
    total, group = 0, 0
    words = [word for word in re.split(r"[\s-]+", text) if word not in ("and", "")]
    if words[:1] in (["a"], ["an"]):
        words[0] = "one"
    sign = -1 if words[:1] in (["minus"], ["negative"]) else 1
    words = words[1:] if sign < 0 else words
    if len(words) in (1, 2) and (part := next((d for d, names in _PARTS.items() if words[-1] in names), None)):
        above = _WORD_VALUES.get(words[0]) if len(words) == 2 else 1 if part == 2 else None
        return sign * Fraction(above, part) if above else None
    for word in words:
        if word in _WORD_VALUES:
            group += _WORD_VALUES[word]
        elif word == "hundred":
            group *= 100
        elif word in _SCALES:
            total, group = total + group * _SCALES[word], 0
        else:
            return None
    value = Fraction(sign * (total + group))
    pattern = spelled(abs(value)) if words else None
    return value if pattern and re.fullmatch(pattern, " ".join(words)) else None


def _spelled_whole(n: int) -> str:
    if n < 20:
        return _ONES[n]
    if n < 100:
        return _TENS[n // 10 - 2] + (rf"[\s-]+{_ONES[n % 10]}" if n % 10 else "")
    for name, size in (("million", 10**6), ("thousand", 10**3), ("hundred", 100)):
        if n >= size:
            above = "(?:one|an?)" if n // size == 1 else _spelled_whole(n // size)
            rest = rf"[\s,-]+(?:and\s+)?{_spelled_whole(n % size)}" if n % size else ""
            return rf"{above}[\s-]+{name}{rest}"
    raise AssertionError("unreachable: n is at least 100")
