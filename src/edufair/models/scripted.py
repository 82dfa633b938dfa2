"""A model that follows a script and remembers what it was asked: for tests, ours and users'."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from edufair.errors import ModelError
from edufair.models.base import Effective, Embeddings, Message, Reply
from edufair.models.reading import make_reply

Line = str | Reply | Exception
Script = Sequence[Line] | Mapping[str, Line] | Callable[[list[Message]], Line | Awaitable[Line]]


@dataclass(frozen=True, slots=True)
class Asked:
    """One request as the model got it."""

    messages: tuple[Message, ...]
    params: Mapping[str, Any] = field(default_factory=dict)
    schema: Mapping[str, Any] | None = None
    max_tokens: int | None = None


class ScriptedModel:
    """A model whose replies are written down.

    `script` is a list (its lines in order), a dict (the first key that stands in the last message gives the
    line) or a callable from the messages to a line, sync or async. A line is a text, a whole Reply, or an
    exception to raise. Texts are read as a host's would be: `<think>` blocks become reasoning, blank text is
    `empty`. `embed` turns a text into its vector. Every request is kept in `asked`; `probe` asks nothing and
    changes nothing.
    """

    def __init__(
        self,
        name: str,
        script: Script,
        *,
        embed: Callable[[str], Sequence[float]] | None = None,
        concurrency: int = 1,
    ) -> None:
        self.name = name
        self.concurrency = concurrency
        self.asked: list[Asked] = []
        self.closed = False
        self._script = script
        self._embed = embed

    async def probe(self, sampling: Mapping[str, Any], *, schema: Mapping[str, Any] | None = None) -> Effective:
        """The parameters as they are, under the identity `scripted:name`."""
        quirks = {"system_role": "ok", "schema": "none" if schema is None else "json_schema"}
        return Effective(f"scripted:{self.name}", dict(sampling), dict(sampling), quirks, returned_model=self.name)

    async def chat(
        self,
        messages: Sequence[Message],
        effective: Effective,
        *,
        schema: Mapping[str, Any] | None = None,
        max_tokens: int | None = None,
    ) -> Reply:
        """The next line of the script. Raises ModelError when the script has none for this request."""
        kept = tuple(Message(role=m["role"], content=m["content"]) for m in messages)
        self.asked.append(Asked(kept, dict(effective.params), schema, max_tokens))
        line = self._line(list(kept))
        line = await line if inspect.isawaitable(line) else line
        if isinstance(line, Exception):
            raise line
        reply = line if isinstance(line, Reply) else make_reply(line, finish_reason="stop", model=self.name)
        return replace(reply, sent=reply.sent or {"messages": list(kept), **effective.params})

    async def embed(self, texts: Sequence[str]) -> Embeddings:
        """The vectors that the `embed` callable gives; ModelError without one."""
        if self._embed is None:
            raise ModelError(f"scripted model {self.name!r} has no vectors: give it embed=, a function of a text")
        return Embeddings([self._embed(text) for text in texts], self.name)

    async def close(self) -> None:
        self.closed = True

    def _line(self, messages: list[Message]) -> Line | Awaitable[Line]:
        script = self._script
        if callable(script):
            return script(messages)
        if isinstance(script, Mapping):
            return self._matching(script, messages[-1]["content"] if messages else "")
        if len(self.asked) > len(script):
            raise ModelError(
                f"scripted model {self.name!r} was asked {len(self.asked)} times, its script has {len(script)} lines"
            )
        return script[len(self.asked) - 1]

    def _matching(self, script: Mapping[str, Line], last: str) -> Line:
        for words, line in script.items():
            if words in last:
                return line
        raise ModelError(
            f"scripted model {self.name!r}: none of {', '.join(map(repr, script))} stands in the "
            f"last message: {last[:200]!r}"
        )
