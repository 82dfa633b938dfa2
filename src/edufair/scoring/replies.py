"""Reading a verdict out of a judge's reply: labels that are really there, or the reason why there are none.

A label is never guessed: nothing is clamped, completed or filled in. What a reply says must be unambiguous,
else it is unread and the caller asks again. The order of trying: the whole reply as JSON; what a code fence
round the whole reply holds; every closed object outside reasoning. An object that is almost JSON (a comma too
many, single quotes, a comment) is mended only when it is closed and every wanted value stands in it alone and
once.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import json_repair

from edufair.scoring.json_text import (
    DEPTH,
    Pairs,
    Scan,
    mend_backslashes,
    parse,
    plain,
    scan,
    without_reasoning,
)

UnreadState = Literal["unparsed", "conflict", "refused"]

_LONGEST_MENDED = 20_000  # characters: almost-JSON beyond this is no verdict, and the mender would be slow on it
_TURN_KEYS = frozenset({"turn", "turn_id", "turn_number", "turn_no", "turn_index"})
_TRUTHS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


@dataclass(frozen=True, slots=True)
class Field:
    """What one key of a verdict may hold.

    `boolean`; `integer`, with its whole scale in `values`; `text`, any string, kept but not compared.
    """

    kind: Literal["boolean", "integer", "text"]
    values: Collection[int] = ()

    def read(self, raw: object) -> bool | int | str | None:
        """The value, or None when `raw` is not unambiguously one of those allowed.

        Booleans also as "true", "yes", "1" (any case) or 1; integers also as 1.0 or "1"; true and false for 1
        and 0 only on the scale (0, 1), because on a wider one false could mean more than one thing.
        """
        if self.kind == "text":
            return raw if isinstance(raw, str) else None
        if self.kind == "boolean":
            return _boolean(raw)
        if isinstance(raw, bool):
            return int(raw) if set(self.values) == {0, 1} else None
        number = _integer(raw)
        return number if number is not None and number in self.values else None

    @property
    def allowed(self) -> str:
        """What it may hold, in words."""
        words = {"boolean": "true or false", "text": "a text"}
        return words.get(self.kind) or " or ".join(map(str, self.values))


@dataclass(frozen=True, slots=True)
class Verdict:
    """The wanted values, each of its field's kind; `extra` is what else the object held (a reason)."""

    values: Mapping[str, bool | int | str]
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Unread:
    """No verdict: `unparsed`; `conflict`, two different ones; `refused`, the model declined in words."""

    state: UnreadState
    why: str


def json_schema(fields: Mapping[str, Field]) -> dict[str, Any]:
    """The fields as a JSON schema: an object with exactly these keys."""
    return {
        "type": "object",
        "properties": {name: _schema_of(want) for name, want in fields.items()},
        "required": list(fields),
        "additionalProperties": False,
    }


def read_verdict(text: str, fields: Mapping[str, Field], *, turn: int | None = None) -> Verdict | Unread:
    """The one verdict in a reply, or why there is none.

    With `turn`, a verdict that carries a turn id counts only for that turn; position never decides. The same
    verdict twice is one; two different ones are a conflict, as is a key given twice with different values.
    """
    for body in _bodies(text):
        parsed = parse(body)
        if isinstance(parsed, str):  # JSON inside a JSON string
            parsed = parse(parsed)
        if isinstance(parsed, Pairs | list):
            return _decide(list(_found(parsed, fields)), fields, turn)
    answer = without_reasoning(text).strip()
    scanned = scan(answer)
    if scanned.cut:
        return Unread("unparsed", "a JSON object is opened and never closed: the reply breaks off")
    found = list(_scanned(answer, scanned, fields))
    if not found and (refusal := _REFUSAL.match(answer)):
        return Unread("refused", f"the judge declined: {refusal[0]!r}")
    return _decide(found, fields, turn)


def _schema_of(want: Field) -> dict[str, Any]:
    if want.kind == "integer":
        return {"type": "integer", "enum": sorted(want.values)}
    return {"type": "boolean" if want.kind == "boolean" else "string"}


def _boolean(raw: object) -> bool | None:
    if isinstance(raw, str):
        return _TRUTHS.get(raw.strip().lower())
    if isinstance(raw, bool):
        return raw
    number = _integer(raw)
    return bool(number) if number in (0, 1) else None


def _integer(raw: object) -> int | None:
    if isinstance(raw, str):
        match = re.fullmatch(r"([+-]?\d{1,18})(?:\.0+)?", raw.strip().replace("−", "-"), re.ASCII)
        return int(match[1]) if match else None
    if isinstance(raw, float):
        return int(raw) if raw.is_integer() else None
    return raw if isinstance(raw, int) and not isinstance(raw, bool) else None


# --- deciding between what was found ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Found:
    """An object that holds at least one wanted key, and the turn id that it carries or stands under."""

    pairs: Pairs
    turn: int | None


def _decide(found: list[_Found], fields: Mapping[str, Field], turn: int | None) -> Verdict | Unread:
    mine = _for_turn(found, turn)
    if found and not mine:
        ids = ", ".join(sorted({str(one.turn) for one in found}))
        return Unread("unparsed", f"the verdict is for turn {ids}; turn {turn} was asked for")
    read = [_read(one.pairs, fields) for one in mine]
    verdicts = [one for one in read if isinstance(one, Verdict)]
    unread = [one for one in read if isinstance(one, Unread)]
    clash = next((one for one in unread if one.state == "conflict"), None)
    if clash:
        return clash
    if len({_labels(one, fields) for one in verdicts}) > 1:
        return Unread("conflict", "the reply holds two different verdicts")
    if verdicts:
        return verdicts[0]
    return unread[0] if unread else Unread("unparsed", f"no JSON object with the keys {', '.join(fields)}")


def _for_turn(found: list[_Found], turn: int | None) -> list[_Found]:
    """Those that name this turn; if none does, those that name no turn at all."""
    if turn is None:
        return found
    return [one for one in found if one.turn == turn] or [one for one in found if one.turn is None]


def _labels(verdict: Verdict, fields: Mapping[str, Field]) -> tuple[object, ...]:
    return tuple(verdict.values[name] for name, want in fields.items() if want.kind != "text")


def _read(pairs: Pairs, fields: Mapping[str, Field]) -> Verdict | Unread:
    given: dict[str, list[object]] = {}
    for key, raw in pairs:
        given.setdefault(_plain_key(key), []).append(raw)
    values: dict[str, bool | int | str] = {}
    for name, want in fields.items():
        if name not in given:
            return Unread("unparsed", f"the key {name} is missing")
        readings = [want.read(raw) for raw in given[name]]
        value = readings[0]
        if value is None or None in readings:
            return Unread("unparsed", f"{name} is {_shown(given[name])}; it must be {want.allowed}")
        if want.kind != "text" and len(set(readings)) > 1:
            return Unread("conflict", f"{name} is given twice: {_shown(given[name])}")
        values[name] = value
    extra = {key: plain(raw) for key, raw in pairs if _plain_key(key) not in fields}
    return Verdict(values, extra)


def _shown(values: list[object]) -> str:
    return " and ".join(repr(plain(value))[:60] for value in values)


def _plain_key(key: str) -> str:
    """A key without what models put round it: case, spaces, escaped underscores."""
    return re.sub(r"[\s-]+", "_", key.replace("\\", "").strip().lower())


# --- finding objects with wanted keys -----------------------------------------------------------------------


def _bodies(text: str) -> Iterator[str]:
    """The whole reply, and what a fence round the whole of it holds."""
    whole = text.strip().lstrip("\ufeff").strip()
    yield whole
    if len(whole) > 6 and whole.startswith("```") and whole.endswith("```"):
        yield re.sub(r"^\w*\s*", "", whole[3:-3], count=1)


def _found(value: object, fields: Mapping[str, Field], turn: int | None = None, depth: int = DEPTH) -> Iterator[_Found]:
    """Objects with wanted keys; what lies inside a complete one is its own business and is not looked at."""
    if depth == 0:
        return
    if isinstance(value, list):
        for entry in value:
            yield from _found(entry, fields, turn, depth - 1)
    elif isinstance(value, Pairs):
        keys = {_plain_key(key) for key, _ in value}
        turn = _own_turn(value, fields, turn)
        if keys & fields.keys():
            yield _Found(value, turn)
        if not fields.keys() <= keys:
            for key, entry in value:
                yield from _found(entry, fields, _turn_in_key(key, turn), depth - 1)


def _own_turn(pairs: Pairs, fields: Mapping[str, Field], around: int | None) -> int | None:
    for key, value in pairs:
        if _plain_key(key) in _TURN_KEYS - fields.keys():
            number = re.search(r"\d{1,8}", str(value), re.ASCII)
            return int(number[0]) if number else around
    return around


def _turn_in_key(key: str, around: int | None) -> int | None:
    """The turn of `{"turn_5": {...}}` and `{"5": {...}}`."""
    number = re.fullmatch(r"(?:turn)?_?(\d{1,8})", _plain_key(key), re.ASCII)
    return int(number[1]) if number else around


def _scanned(text: str, scanned: Scan, fields: Mapping[str, Field]) -> Iterator[_Found]:
    """What the outermost objects hold; where an object gives nothing, what the ones inside it hold."""
    shortest = sum(map(len, fields))
    done = 0
    for start, end in sorted(scanned.objects, key=lambda span: (span[0], -span[1])):
        if start < done or end - start < shortest:
            continue
        part = text[start:end]
        found = list(_found(parse(part) or _almost_json(part, fields), fields))
        if found:
            done = end
            yield from found


def _almost_json(part: str, fields: Mapping[str, Field]) -> object:
    """A closed object that is nearly JSON, mended; None when a wanted value does not stand alone and once.

    The mender alone would read an echo of the rubric's `0 or 1` as 0.
    """
    if len(part) > _LONGEST_MENDED or not all(_stands_alone(part, name, want) for name, want in fields.items()):
        return None
    try:
        return _as_pairs(json_repair.loads(mend_backslashes(part), skip_json_loads=True))
    except (ValueError, RecursionError):
        return None


def _stands_alone(part: str, name: str, want: Field) -> bool:
    """Whether the key stands in the object once, and nothing but one word or number stands after it."""
    part = re.sub(r"\s+", _one_space, part.replace("\\", ""))
    words = "[ _-]".join(map(re.escape, name.split("_")))
    key = rf"""(?:[{{,;\n]|\*/) ?["'“”]? ?{words} ?["'“”]? ?:"""
    if len(re.findall(key, part, re.IGNORECASE)) != 1:
        return False
    word = r"[-+−]?\w+(?:\.0*)?"
    value = rf"""{key}\s?(?:{word}|"{word}"|'{word}'|“{word}”)(?=\s?(?:[,;}}]|//|/\*|\#)|\n)"""
    return want.kind == "text" or re.search(value, part, re.IGNORECASE) is not None


def _one_space(spaces: re.Match[str]) -> str:
    return "\n" if "\n" in spaces[0] else " "


def _as_pairs(value: object, depth: int = 2 * DEPTH) -> object:
    if depth and isinstance(value, dict):
        return Pairs((str(key), _as_pairs(entry, depth - 1)) for key, entry in value.items())
    return [_as_pairs(entry, depth - 1) for entry in value] if depth and isinstance(value, list) else value


# --- refusals in words --------------------------------------------------------------------------------------

_REFUSAL = re.compile(
    r"(?:(?:(?:i['’]?m|i am) )?(?:very |so |truly )?sorry|my apologies|i apologi[sz]e)?[,.;:]?\s*(?:but )?"
    r"(?:i (?:cannot|can['’]?t|can not|won['’]?t|will not) (?:help|assist|comply|do (?:that|this)|evaluate"
    r"|assess|rate|judge|label|score|provide|engage|continue|fulfil|process|respond|answer|discuss|participate)"
    r"|i(?:['’]?m| am) (?:unable|not able|not allowed|not permitted) to"
    r"|i (?:must|have to) (?:decline|refuse)|i decline|i refuse)\b",
    re.IGNORECASE,
)
