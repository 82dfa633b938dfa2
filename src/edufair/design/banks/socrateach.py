"""SocraTeach (Liu et al. 2024): mathematics questions with Socratic dialogues, read from the user's copy.

`SocraTeach_multi.json` is {problem id: {question, analysis, answer, steps, dialogues: {id: [{system, user,
user_type}, ...]}}}. The release does not say what its `user_type` codes mean, so there is no default: whoever
builds the bank names the codes, and the bank's notes repeat them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from edufair.design.banks.bank import Bank, Filters, FilterStep, make_item
from edufair.design.banks.dialogues import PAPER, Dialogue, Exchange, Reference, ReplyKind, sieve
from edufair.design.banks.names import Ids
from edufair.design.banks.reading import Faults, as_text, read_json
from edufair.errors import BankError


def build_socrateach(
    path: Path,
    *,
    filters: Filters = "paper",
    error_types: Collection[str] = (),
    correct_types: Collection[str] = (),
    grade: int = 9,
) -> Bank:
    """The questions of SocraTeach_multi.json with at least one dialogue that passes the paper's four filters.

    `error_types` are the `user_type` codes that mean a student error, `correct_types` those that mean a
    correct or partly correct reply. `grade` is the paper's. Raises BankError for bad entries, all named,
    and where the codes are not given or stand nowhere in the file.
    """
    entries = read_json(path)
    if not isinstance(entries, dict):
        raise BankError(f"{path}: not SocraTeach_multi.json, which is an object of problems by id")
    kinds = _kinds(path, entries, error_types, correct_types) if filters == "paper" else {}
    references = _references(path, entries, kinds, grade)
    items, steps = sieve(references, PAPER if filters == "paper" else ())
    notes = (
        f"user_type read as an error: {', '.join(sorted(error_types))}",
        f"user_type read as a correct or partly correct reply: {', '.join(sorted(correct_types))}",
    )
    report = (FilterStep("problems in the file", len(references), 0), *steps)
    return Bank("socrateach", items, report, notes if filters == "paper" else ())


def _kinds(
    path: Path, entries: Mapping[str, Any], errors: Collection[str], correct: Collection[str]
) -> dict[str, ReplyKind]:
    """What each code means. Raises BankError that lists the file's codes, counted, with an example each."""
    seen = _codes(entries)
    unknown = sorted({*errors, *correct} - seen.keys())
    both = sorted(set(errors) & set(correct))
    if errors and correct and not unknown and not both:
        return {**dict.fromkeys(errors, "error"), **dict.fromkeys(correct, "correct")}
    fault = (
        f"the codes {', '.join(unknown)} stand nowhere in it"
        if unknown
        else f"the codes {', '.join(both)} cannot mean both"
        if both
        else "the release does not say which user_type codes mean a student error and which a correct reply"
    )
    listed = "".join(f"\n  {code}: {count} replies, such as {reply!r}" for code, (count, reply) in sorted(seen.items()))
    raise BankError(
        f"{path}: {fault}. Name them (error_types and correct_types, --error-types and --correct-types), "
        f"or build without filters (--filters none). The file's codes:{listed}"
    )


def _codes(entries: Mapping[str, Any]) -> dict[str, tuple[int, str]]:
    counts: Counter[str] = Counter()
    examples: dict[str, str] = {}
    for entry in entries.values():
        for dialogue in _mapping(_mapping(entry).get("dialogues")).values():
            for turn in dialogue if isinstance(dialogue, list) else ():
                if "user" in _mapping(turn):
                    code = str(turn.get("user_type"))
                    counts[code] += 1
                    examples.setdefault(code, str(turn["user"])[:80])
    return {code: (count, examples[code]) for code, count in counts.items()}


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _references(
    path: Path, entries: Mapping[str, Any], kinds: Mapping[str, ReplyKind], grade: int
) -> tuple[Reference, ...]:
    faults, ids, references = Faults(path), Ids(), []
    for row, (id, entry) in enumerate(entries.items(), start=1):
        try:
            reference = _reference(id, entry, kinds, grade)
        except ValueError as error:
            faults.add(row, f"problem {id!r}: {error}")
            continue
        if clash := ids.clash(id, row):
            faults.add(row, clash)
        references.append(reference)
    faults.raise_any()
    return tuple(references)


def _reference(id: str, entry: Any, kinds: Mapping[str, ReplyKind], grade: int) -> Reference:
    if not isinstance(entry, dict) or not isinstance(entry.get("dialogues"), dict):
        raise ValueError("an object with question, answer and dialogues is wanted")
    question, answer = as_text(entry.get("question")), as_text(entry.get("answer"))
    if not question or not answer:
        raise ValueError("question or answer is empty")
    support = as_text(entry.get("analysis")) or ""
    item = make_item(id, "mathematics", question, answer, grade=grade, support=support)
    return Reference(item, tuple(_dialogue(name, turns, kinds) for name, turns in entry["dialogues"].items()))


def _dialogue(name: str, turns: Any, kinds: Mapping[str, ReplyKind]) -> Dialogue:
    if not isinstance(turns, list) or not all(isinstance(t, dict) and isinstance(t.get("system"), str) for t in turns):
        raise ValueError(f"dialogue {name!r}: a list of turns with a text under 'system' is wanted")
    return Dialogue(tuple(_exchange(turn, kinds) for turn in turns))


def _exchange(turn: Mapping[str, Any], kinds: Mapping[str, ReplyKind]) -> Exchange:
    return Exchange(turn["system"], as_text(turn.get("user")), kinds.get(str(turn.get("user_type")), "other"))
