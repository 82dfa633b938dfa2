"""Names that must stay apart: ids and domains that a join or a spreadsheet could take for one another."""

from __future__ import annotations

import re
import unicodedata

_WHOLE_FLOAT = re.compile(r"(-?\d+)\.0+")


def folded(name: str) -> str:
    """`name` without what a type, a space, a case or a Unicode form could change: 7.0 is 7, `Q 1` is `q1`."""
    if name.isascii():  # nearly every id: no need to look at each character
        plain = "".join(name.lower().split())
    else:
        seen = "".join(c for c in unicodedata.normalize("NFKC", name).casefold() if not _unseen(c))
        plain = unicodedata.normalize("NFKC", seen)
    whole = _WHOLE_FLOAT.fullmatch(plain)
    return whole[1] if whole else plain


def _unseen(character: str) -> bool:
    return character.isspace() or unicodedata.category(character) == "Cf"


class Ids:
    """The ids met so far, each with its row."""

    def __init__(self) -> None:
        self._rows: dict[str, int] = {}
        self._spelled: dict[str, str] = {}  # only where the id differs from its folded form: memory

    def clash(self, name: str, row: int) -> str | None:
        """Take `name` in; what is wrong with it, or None."""
        key = folded(name)
        first = self._rows.setdefault(key, row)
        if first == row:
            if key != name:
                self._spelled[key] = name
            return None
        other = self._spelled.get(key, key)
        if other == name:
            return f"the id {name!r} stands in row {first} already"
        return f"the ids {name!r} and {other!r} (row {first}) differ only by type, spaces, case or Unicode form"


class Domains:
    """The domains (or what else groups items) met so far, each in one spelling."""

    def __init__(self, kind: str = "domain") -> None:
        self._kind = kind
        self._spelled: dict[str, str] = {}

    def clash(self, name: str) -> str | None:
        """Take `name` in; what is wrong with it, or None."""
        first = self._spelled.setdefault(folded(name), name)
        return None if first == name else f"the {self._kind} {name!r} is spelled {first!r} in an earlier row"
