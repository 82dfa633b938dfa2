"""Stimuli of the judge audit: dialogues that end in a student turn, each with two next tutor replies to be rated.

A file holds one stimulus a line (JSONL; a JSON list will do), with the keys

- `id`; `cluster`, the independent unit that it belongs to (a problem, a tutoring run: stimuli of one are alike);
- `question`, what the dialogue is about; `dialogue`, a list of `{"role": "tutor" or "student", "text": ...}` that ends
  in a student turn;
- `high` and `low`, the two replies: the one that leaves the next step to the student, and the one that takes it;
- optional: `stratum`, analysed apart (in every row or in none); `evidence_strength`, how clearly the dialogue shows
  what the student can do, 0, 1, 2 or ambiguous, moderate, strong (in every row or in none); `subset`, a name by which
  the primary gap is estimated again on some stimuli.

A key that is not in this list is an error: a misspelled one would be lost without a word.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from edufair.design.banks.names import Domains, Ids
from edufair.design.banks.reading import Faults, as_text, read_rows
from edufair.errors import BankError
from edufair.records import Item

#: Sixteen stimuli written for this project: eight problems of school mathematics and science, each with a student who
#: depends on the tutor (weak) and one who works alone (strong).
SAMPLE = Path(__file__).parent.parent / "data" / "sample_stimuli.jsonl"

#: The domain of stimuli without a stratum.
NO_STRATUM = "all"

#: How clearly a dialogue shows what its student can do.
EVIDENCE: Mapping[str, int] = {"ambiguous": 0, "moderate": 1, "strong": 2, "0": 0, "1": 1, "2": 2}

ROLES = ("tutor", "student")

_NEEDED = ("id", "cluster", "question", "dialogue", "high", "low")
_OPTIONAL = ("stratum", "evidence_strength", "subset")


@dataclass(frozen=True, slots=True)
class StimulusItems:
    """The stimuli of one file as items, read anew each time they are gone through.

    An item's domain is its stratum; its data hold `cluster`, `dialogue`, `high`, `low`, `evidence_strength` (0, 1, 2 or
    None) and `subset` ("" for none). Going through them raises BankError at the end, with the first ten bad rows and
    their count (nothing more is given after the first bad row).
    """

    path: Path

    def __iter__(self) -> Iterator[Item]:
        faults, ids = Faults(self.path), Ids()
        groups = {key: Domains(key) for key in ("cluster", "stratum", "subset")}
        first: tuple[int, frozenset[str]] | None = None
        for row in read_rows(self.path, faults):
            given = frozenset(key for key in ("stratum", "evidence_strength") if row.values.get(key) not in (None, ""))
            first = first or (row.number, given)
            try:
                _same_keys(given, *first)
                item = _item(row.values)
            except ValueError as error:
                faults.add(row.number, str(error))
                continue
            named = {"cluster": item.data["cluster"], "stratum": item.domain, "subset": item.data["subset"]}
            clashes = [
                ids.clash(item.id, row.number),
                *(groups[key].clash(name) for key, name in named.items() if name),
            ]
            if clash := next(filter(None, clashes), None):
                faults.add(row.number, clash)
            elif not faults.count:
                yield item
        faults.raise_any()
        if first is None:
            raise BankError(f"{self.path}: holds no stimuli")


def read_stimuli(reference: str) -> StimulusItems:
    """The stimuli an audit names: ``sample``, or a file by its path. Raises BankError where there is no such file."""
    if reference == "sample":
        return StimulusItems(SAMPLE)
    if not Path(reference).is_file():
        raise BankError(f"{reference}: there is no such file of stimuli. Give the path of one, or 'sample'")
    return StimulusItems(Path(reference))


def _same_keys(given: frozenset[str], number: int, wanted: frozenset[str]) -> None:
    """What groups stimuli or grades them stands in every row or in none."""
    for key in sorted(given ^ wanted):
        has, lacks = ("this row", f"row {number}") if key in given else (f"row {number}", "this row")
        raise ValueError(f"{key} stands in {has} and not in {lacks}: give it for every stimulus or for none")


def _item(values: Mapping[str, Any]) -> Item:
    if unknown := sorted(values.keys() - {*_NEEDED, *_OPTIONAL}):
        raise ValueError(f"unknown key {unknown[0]!r}; known: {', '.join((*_NEEDED, *_OPTIONAL))}")
    high, low = _text(values, "high"), _text(values, "low")
    if high.strip() == low.strip():
        raise ValueError("high and low are the same reply: there is nothing to compare")
    data = {
        "cluster": _name(values, "cluster"),
        "dialogue": _dialogue(values.get("dialogue")),
        "high": high,
        "low": low,
        "evidence_strength": _evidence(values),
        "subset": _optional(values, "subset"),
    }
    return Item(_name(values, "id"), _optional(values, "stratum") or NO_STRATUM, _text(values, "question"), data)


def _cell(values: Mapping[str, Any], key: str) -> str | None:
    try:
        return as_text(values.get(key))
    except ValueError as error:
        raise ValueError(f"{key}: {error}") from None


def _text(values: Mapping[str, Any], key: str) -> str:
    text = _cell(values, key)
    if text is None:
        raise ValueError(f"{key} is {'empty' if key in values else 'missing'}")
    return text


def _name(values: Mapping[str, Any], key: str) -> str:
    return _text(values, key).strip()


def _optional(values: Mapping[str, Any], key: str) -> str:
    return (_cell(values, key) or "").strip()


def _evidence(values: Mapping[str, Any]) -> int | None:
    given = _optional(values, "evidence_strength")
    if not given:
        return None
    if given.lower() not in EVIDENCE:
        raise ValueError(f"evidence_strength is {given!r}; it must be one of {', '.join(EVIDENCE)}")
    return EVIDENCE[given.lower()]


def _dialogue(given: Any) -> list[dict[str, str]]:
    if not isinstance(given, list) or not given:
        raise ValueError('dialogue: a list of turns is wanted, such as [{"role": "student", "text": "Is it 4?"}]')
    turns = [_turn(turn, number) for number, turn in enumerate(given, start=1)]
    if turns[-1]["role"] != "student":
        raise ValueError("dialogue ends in a tutor turn; it must end in the student turn that the replies answer")
    return turns


def _turn(turn: Any, number: int) -> dict[str, str]:
    where = f"dialogue, turn {number}"
    if not isinstance(turn, Mapping) or set(turn) != {"role", "text"}:
        raise ValueError(f"{where}: an object with the keys role and text is wanted")
    if turn["role"] not in ROLES:
        raise ValueError(f"{where}: role is {turn['role']!r}; it must be {' or '.join(ROLES)}")
    try:
        text = as_text(turn["text"])
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from None
    if text is None:
        raise ValueError(f"{where}: the text is empty")
    return {"role": turn["role"], "text": text}
