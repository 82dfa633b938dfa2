"""The instruments: every prompt is a text file here, word for word as its paper prints it.

The first line of a file is a comment that names where the prompt comes from (or says that it is ours); it is
not sent. What follows is sent as it stands, except for slots: a name in capitals between braces (`{GRADE}`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

_SLOT = re.compile(r"\{([A-Z][A-Z_]*)\}")


@dataclass(frozen=True, slots=True)
class Prompt:
    """One instrument: its path below prompts/ (`dialogue/student_age`), its first line, what is sent."""

    name: str
    source: str
    text: str

    @property
    def slots(self) -> frozenset[str]:
        """The names of the slots that `fill` wants."""
        return _slots(self.text)

    def fill(self, **slots: str | int) -> str:
        """The text with every slot replaced, in one pass: what is put in is never looked at again.

        Raises ValueError when a slot is missing or unknown.
        """
        missing, unknown = self.slots - slots.keys(), slots.keys() - self.slots
        if missing or unknown:
            raise ValueError(
                f"prompt {self.name}: slots missing: {_listed(missing)}; slots unknown: {_listed(unknown)}. "
                f"It has: {_listed(self.slots)}."
            )
        return _SLOT.sub(lambda slot: str(slots[slot[1]]), self.text)


@cache
def _slots(text: str) -> frozenset[str]:
    return frozenset(_SLOT.findall(text))


@cache
def load(name: str) -> Prompt:
    """The prompt of this name, such as `dialogue/student_age`. Raises ValueError when there is none."""
    folder = name.rpartition("/")[0]
    if name not in names(folder):
        raise ValueError(f"there is no prompt {name!r}; {folder or 'prompts'} has: {_listed(names(folder))}")
    first, _, text = files(__name__).joinpath(f"{name}.txt").read_text(encoding="utf-8").partition("\n")
    if not first.startswith("# "):
        raise ValueError(f"prompt {name}: the first line must be a comment that names the source")
    return Prompt(name, first.removeprefix("# "), text.strip("\n"))


@cache
def names(folder: str) -> tuple[str, ...]:
    """The names of all prompts in a folder, sorted; none for a folder that does not exist."""
    place = files(__name__).joinpath(folder)
    if not folder or not place.is_dir():
        return ()
    return tuple(sorted(f"{folder}/{entry.name[:-4]}" for entry in place.iterdir() if entry.name.endswith(".txt")))


def problem(domain: str) -> str:
    """What fills {PROBLEM} of the tutor's behaviour prompt: the paper's "a math problem", or another's."""
    if domain == "mathematics":
        return "a math problem"
    article = "an" if domain[:1].lower() in set("aeiou") else "a"
    return f"{article} {domain} problem"


def _listed(words: frozenset[str] | set[str] | tuple[str, ...]) -> str:
    return ", ".join(sorted(words)) or "none"
