"""Which columns of a user's table hold what: a dataclass of names, filled from texts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields
from typing import TYPE_CHECKING, TypeVar

from edufair.errors import BankError

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    Kind = TypeVar("Kind", bound=DataclassInstance)


def parse_columns(kind: type[Kind], pairs: Iterable[str]) -> Kind:
    """The columns of this kind from texts such as ``question=Prompt``. Raises BankError for an unknown part."""
    names = dict(pair.partition("=")[::2] for pair in pairs)
    parts = [part.name for part in fields(kind)]
    for part, column in names.items():
        if part not in parts or not column:
            raise BankError(f"{part}={column}: write PART=COLUMN, where PART is one of {', '.join(parts)}")
    return kind(**names)
