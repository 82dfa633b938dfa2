"""The errors a user can meet. Every message says what was wrong, where, and how to mend it.

EdufairError
├── ConfigError      audit.toml: file, key, mend
├── BankError        an input file: file, row, mend
├── PlanError        a design that cannot be carried out
├── MissingExtra     an optional package is not installed
├── StoreError       a run folder that cannot be read or written
├── RunStopped       a run that stopped early; running it again goes on
└── ModelError       a model that cannot be asked
    └── CallFailed   one call that failed in transport, after its retries
"""

from __future__ import annotations

from typing import Literal

FailureKind = Literal[
    "timeout",
    "connection",
    "rate limit",
    "server",
    "auth",
    "bad request",
    "not found",
    "bad reply",
    "function",
]


class EdufairError(Exception):
    """Any error whose message is meant for the user. The CLI prints it as one clean line and exits with 1."""

    exit_code = 1


class ConfigError(EdufairError):
    """Something in audit.toml is wrong; the message names the file, the key and the mend."""


class BankError(EdufairError):
    """An input file cannot be used; the message names the file, the row and the mend."""


class PlanError(EdufairError):
    """The design cannot be carried out as asked."""


class MissingExtra(EdufairError):
    """An optional package is needed and not installed."""

    def __init__(self, package: str, extra: str, purpose: str) -> None:
        super().__init__(f'{purpose} needs the package {package}: pip install "edufair[{extra}]"')
        self.extra = extra


class StoreError(EdufairError):
    """A run's store cannot be opened, read or written."""


class RunStopped(EdufairError):
    """The run stopped before its end; what is done is kept and the same command goes on from there."""

    exit_code = 3


class ModelError(EdufairError):
    """A model cannot be asked at all (wrong address, refused key, missing file)."""


class CallFailed(ModelError):
    """One call failed in transport after its retries. Never holds a key or a header.

    `kind` says how; `status` is the HTTP status where there was one; `attempts` counts the tries made.
    """

    def __init__(
        self,
        message: str,
        *,
        kind: FailureKind,
        status: int | None = None,
        attempts: int = 1,
        fatal: bool = False,
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.status = status
        self.attempts = attempts
        self.fatal = fatal  # no other call to this model can succeed (a refused key, an unknown model)
