"""What every model looks like to the engine: a request in, a reply out, and how it was really asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypedDict, runtime_checkable


class Message(TypedDict):
    role: Literal["system", "user", "assistant"]
    content: str


ReplyStatus = Literal["ok", "truncated", "empty", "refused", "filtered", "context"]


@dataclass(frozen=True, slots=True)
class Tokens:
    """Token counts as the host reported them; None where it said nothing."""

    prompt: int | None = None
    cached: int | None = None
    completion: int | None = None


@dataclass(frozen=True, slots=True)
class Attempt:
    """One try that failed in transport and was tried again."""

    kind: str
    status: int | None
    message: str
    latency: float


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model answered, an outcome and never an exception.

    `status` `ok` has text; `truncated` was cut by the token limit (text kept); `empty` has no text; `refused` and
    `filtered` are the host's own signals; `context` means that the conversation no longer fits the window.
    `text` holds no reasoning: `<think>` blocks and separate reasoning fields stand in `reasoning`.
    `sent` is the body as sent (after rewriting for the host), without headers.
    """

    text: str
    status: ReplyStatus
    finish_reason: str = ""
    reasoning: str = ""
    model: str = ""
    tokens: Tokens = Tokens()
    latency: float = 0.0
    failed_attempts: tuple[Attempt, ...] = ()
    sent: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Effective:
    """How a role really asks a model, found by trying once before the first trial and frozen with the run.

    `params` are the parameters that are sent, under the names this host takes. `quirks` are what the client
    must do for this host: `system_role` ("ok" or "merge" into the first user message), `schema` ("json_schema",
    "json_object" or "none"), and the like. `adapted` says in words what was changed and why.
    `identity` is what stands for the model in hashes: the model id, or a file's SHA-256; never an address.
    """

    identity: str
    requested: Mapping[str, Any]
    params: Mapping[str, Any]
    quirks: Mapping[str, Any] = field(default_factory=dict)
    adapted: tuple[str, ...] = ()
    context: int | None = None
    url: str = ""
    returned_model: str = ""

    def to_json(self) -> dict[str, Any]:
        return {
            "identity": self.identity,
            "requested": dict(self.requested),
            "params": dict(self.params),
            "quirks": dict(self.quirks),
            "adapted": list(self.adapted),
            "context": self.context,
            "url": self.url,
            "returned_model": self.returned_model,
        }

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> Effective:
        return cls(**{**raw, "adapted": tuple(raw["adapted"])})


@dataclass(frozen=True, slots=True)
class Embeddings:
    vectors: Sequence[Sequence[float]]
    model: str = ""
    tokens: Tokens = Tokens()
    latency: float = 0.0


@runtime_checkable
class Model(Protocol):
    """A model that can be asked. Implementations: endpoint, embedded, function, scripted."""

    name: str
    concurrency: int

    async def probe(self, sampling: Mapping[str, Any], *, schema: Mapping[str, Any] | None = None) -> Effective:
        """Ask once with these parameters, adapt to what the host refuses, say what was found.

        `sampling` holds temperature, max_tokens, top_p, seed, ...: absent means not sent. Raises ModelError with a
        message for people (the URL tried, the mend) when the model cannot be asked.
        """
        ...

    async def chat(
        self,
        messages: Sequence[Message],
        effective: Effective,
        *,
        schema: Mapping[str, Any] | None = None,
        max_tokens: int | None = None,
    ) -> Reply:
        """One reply. Retries what is worth retrying; raises CallFailed when transport failed for good.

        `max_tokens` overrides the effective limit (a second try with a larger budget).
        """
        ...

    async def embed(self, texts: Sequence[str]) -> Embeddings: ...

    async def close(self) -> None: ...
