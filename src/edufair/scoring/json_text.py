"""Finding JSON objects in a model's text: backslashes, reasoning, objects among prose. Linear in the text."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from dataclasses import dataclass

DEPTH = 8  # levels of nesting that are looked into; it keeps the reading of hostile nesting linear


class Pairs(tuple[tuple[str, object], ...]):
    """A JSON object as its pairs of key and value, so that a key given twice is seen."""

    __slots__ = ()


def plain(value: object) -> object:
    """`value` with every Pairs as a dict; of a key given twice the last value stays."""
    if isinstance(value, Pairs):
        return {key: plain(entry) for key, entry in value}
    return [plain(entry) for entry in value] if isinstance(value, list) else value


def parse(text: str) -> object:
    """What JSON makes of `text`, objects as Pairs; None when it is not JSON.

    Raw line breaks in strings are allowed, LaTeX backslashes stay, NaN and Infinity become words.
    """
    try:
        return json.loads(mend_backslashes(text), strict=False, object_pairs_hook=Pairs, parse_constant=str)
    except (ValueError, RecursionError):
        return None


# --- backslashes --------------------------------------------------------------------------------------------

_ESCAPE = re.compile(r"""\\(?:u[0-9a-fA-F]{4}|["'\\/]|[A-Za-z]+|.)""", re.DOTALL)
_LETTERS = re.compile(r"[A-Za-z]+")

#: LaTeX commands that begin like the escapes for a new line and a tab, which are common in plain text.
_LATEX_N_T = frozenset(
    _LETTERS.findall(
        "nabla natural ne nearrow neg neq newline nexists ngeq nleq nmid nolimits nonumber not notag "
        "notin nparallel nsubseteq nu nwarrow tan tanh tau tbinom text textbf textit textrm textsf "
        "textstyle texttt tfrac therefore theta thickapprox thicksim tilde times to top triangle "
        "triangleleft triangleq triangleright tt"
    )
)


def mend_backslashes(text: str) -> str:
    r"""`text` with the single backslashes of LaTeX doubled, true JSON escapes left as they are.

    Undoubled, `\sqrt` breaks the parser and `\frac` silently becomes a control character.
    """
    return _ESCAPE.sub(_mended, text) if "\\" in text else text


def _mended(escape: re.Match[str]) -> str:
    rest = escape[0][1:]
    if rest == "/":  # means the plain sign
        return rest
    if not _LETTERS.match(rest):
        is_true = rest in ('"', "'", "\\")
    elif rest[0] == "u":
        is_true = re.fullmatch("u[0-9a-fA-F]{4}", rest) is not None
    elif rest[0] in "nt":
        is_true = rest not in _LATEX_N_T
    elif rest[0] == "r":
        is_true = not rest[1:2].islower()
    else:
        is_true = rest in ("b", "f")
    return escape[0] if is_true else "\\" + escape[0]


# --- objects among prose ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Scan:
    """What one pass over a text found.

    `objects`: spans of closed objects with at most DEPTH levels in them, inner ones too. `strings`: spans of
    strings inside braces. `cut`: an opening brace that looks like JSON was never closed.
    """

    objects: list[tuple[int, int]]
    strings: list[tuple[int, int]]
    cut: bool


@dataclass(slots=True)
class _Open:
    mark: str
    start: int
    height: int = 1
    sound: bool = True


_MARK = re.compile(r"""[{}\[\]"'\\]""")
_STRING = {
    '"': re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL),
    "'": re.compile(r"'[^'\\]*+(?:\\.[^'\\]*+)*+'", re.DOTALL),
}
_LOOKS_LIKE_JSON = re.compile(r"""\{\s*+\\?["'“]\s*+\w""")


def scan(text: str) -> Scan:
    """One pass. A quotation mark opens a string only inside braces and only where JSON expects one."""
    objects: list[tuple[int, int]] = []
    strings: list[tuple[int, int]] = []
    stack: list[_Open] = []
    unclosed = ""  # the quotation marks that no longer close: not looked for again
    at = 0
    while mark := _MARK.search(text, at):
        sign, start, at = mark[0], mark.start(), mark.end()
        if sign == "\\":
            at += 1
        elif sign in "{[":
            stack.append(_Open(sign, start))
        elif sign in "}]":
            _close(sign, at, stack, objects)
        elif stack and sign not in unclosed and _expects_a_value(text, start):
            if string := _STRING[sign].match(text, start):
                strings.append(string.span())
                at = string.end()
            elif sign == '"':
                break  # a string without end swallows the rest
            else:
                unclosed += sign
    cut = any(one.mark == "{" and _LOOKS_LIKE_JSON.match(text, one.start) for one in stack)
    return Scan(objects, strings, cut)


def _close(sign: str, end: int, stack: list[_Open], objects: list[tuple[int, int]]) -> None:
    """Close the innermost object or list; a bracket of the wrong kind spoils the object it stands in."""
    opening = "{" if sign == "}" else "["
    if not stack:
        return
    if stack[-1].mark != opening:
        stack[-1].sound = False
        if opening == "[" or not any(one.mark == "{" for one in stack[-2 * DEPTH :]):
            return
        while stack[-1].mark != "{":
            stack.pop()
        stack[-1].sound = False
    closed = stack.pop()
    if opening == "{" and closed.sound and closed.height <= DEPTH:
        objects.append((closed.start, end))
    if stack:
        stack[-1].height = max(stack[-1].height, closed.height + 1)


def _expects_a_value(text: str, at: int) -> bool:
    """Whether the last sign before `at` is one after which JSON has a key or a value."""
    at -= 1
    while at >= 0 and text[at].isspace():
        at -= 1
    return at >= 0 and text[at] in "{[,:"


# --- reasoning ----------------------------------------------------------------------------------------------

_NAMES = "think|thinking|thought|reasoning|analysis"
_OPEN = rf"<(?:{_NAMES})>|\[analysis\]|<\|channel\|>analysis<\|message\|>"
_CLOSE = rf"</(?:{_NAMES})>|\[final\]|<\|channel\|>final<\|message\|>|\bassistantfinal(?=\s*\{{)"
_TAG = re.compile(f"(?P<open>{_OPEN})|(?P<close>{_CLOSE})", re.IGNORECASE)
_LEADING = re.compile(rf"\s*+(?:{_OPEN})", re.IGNORECASE)
_CLOSING = re.compile(_CLOSE, re.IGNORECASE)


def without_reasoning(text: str) -> str:
    """The text without its reasoning.

    A closing tag alone ends reasoning that began before the text; an opening tag alone begins reasoning that
    never ended. A tag inside a string of a closed object is a quotation and no tag.
    """
    at = 0
    while _LEADING.match(text, at):  # nothing stands before the tag, so it cannot be a quotation
        close = _CLOSING.search(text, at)
        if close is None:
            return ""
        at = close.end()
    text = text[at:]
    kept: list[str] = []
    start, inside = 0, False
    for tag in _tags(text):
        if tag["close"]:
            kept = kept if inside else []
            start, inside = tag.end(), False
        elif not inside:
            kept.append(text[start : tag.start()])
            inside = True
    return "\n".join([*kept, "" if inside else text[start:]])


def _tags(text: str) -> list[re.Match[str]]:
    tags = list(_TAG.finditer(text))
    if not tags:
        return []
    found = scan(text)
    objects, strings = _outermost(found.objects), _outermost(found.strings)
    return [tag for tag in tags if not (_within(tag.start(), strings) and _within(tag.start(), objects))]


def _outermost(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    outer: list[tuple[int, int]] = []
    for span in sorted(spans, key=lambda span: (span[0], -span[1])):
        if not outer or span[0] >= outer[-1][1]:
            outer.append(span)
    return outer


def _within(position: int, spans: list[tuple[int, int]]) -> bool:
    index = bisect_right(spans, position, key=lambda span: span[0]) - 1
    return index >= 0 and position < spans[index][1]
