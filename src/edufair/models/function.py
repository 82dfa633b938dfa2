"""A Python callable as a model: how a team audits a tutor that is more than an endpoint."""

from __future__ import annotations

import asyncio
import contextvars
import importlib
import inspect
import os
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path
from typing import Any

from edufair.errors import CallFailed, ModelError
from edufair.models.base import Effective, Embeddings, Message, Reply
from edufair.models.faults import Fault
from edufair.models.reading import make_reply, mended, read_reply, read_tokens

FIELDS = ("text", "reasoning", "refused", "filtered", "truncated", "model", "usage")


class FunctionModel:
    """A model that calls `target`: a callable, or "module:function" (also "python:module:function").

    The callable gets the messages as a list of dicts with role and content; if it has a parameter `params`,
    also the sampling parameters (with `schema` when a JSON reply is asked for). It returns the reply as a
    str, as a dict with `text` and, if need be, `reasoning`, `refused`, `filtered`, `truncated` (bool),
    `model`, `usage`; or a whole OpenAI-like dict with `choices`. A plain function runs in a thread of its
    own, a coroutine function in the loop; at most `concurrency` run at once. What takes longer than `timeout`
    seconds is given up, its late answer dropped.
    """

    def __init__(
        self,
        name: str,
        target: str | Callable[..., Any],
        *,
        concurrency: int = 8,
        timeout: float = 120.0,
    ) -> None:
        self.name = name
        self.concurrency = concurrency
        self.timeout = timeout
        self._function = load(target, name) if isinstance(target, str) else target
        self._takes_params = _takes_params(self._function)
        self.identity = _identity(target.removeprefix("python:") if isinstance(target, str) else None, self._function)
        self._places: asyncio.Semaphore | None = None

    def __repr__(self) -> str:
        return f"FunctionModel({self.name!r}, {self.identity!r})"

    async def probe(self, sampling: Mapping[str, Any], *, schema: Mapping[str, Any] | None = None) -> Effective:
        """Call the function once with a greeting, so that a mistake in it shows before the first trial."""
        quirks = {"schema": "none"}
        effective = Effective(self.identity, dict(sampling), dict(sampling), quirks, url=f"python:{self.identity}")
        reply = await self.chat([{"role": "user", "content": "Hello."}], effective)
        adapted = () if self._takes_params else ("the function takes no params: sampling is its own affair",)
        return replace(effective, adapted=adapted, returned_model=reply.model)

    async def chat(
        self,
        messages: Sequence[Message],
        effective: Effective,
        *,
        schema: Mapping[str, Any] | None = None,
        max_tokens: int | None = None,
    ) -> Reply:
        """What the function answers. Raises CallFailed (kind "function"; the user's error as `__cause__`)."""
        params = dict(effective.params)
        if max_tokens is not None:
            params["max_tokens"] = max_tokens
        if schema is not None:
            params["schema"] = dict(schema)
        copies = [dict(m) for m in messages]
        self._places = self._places or asyncio.Semaphore(self.concurrency)
        async with self._places:
            started = time.monotonic()
            result = await self._result(copies, params)
        sent = {"messages": list(messages), **params}
        return replace(self._read(result), latency=time.monotonic() - started, sent=sent)

    async def embed(self, texts: Sequence[str]) -> Embeddings:
        """Raises ModelError: a function answers chats only."""
        raise ModelError(f"model {self.name!r} is a Python function and has no embeddings; name an endpoint for them")

    async def close(self) -> None:
        """Nothing to close; a function still running is not waited for."""
        self._places = None

    async def _result(self, messages: list[dict[str, Any]], params: dict[str, Any]) -> Any:
        extra = {"params": params} if self._takes_params else {}
        try:
            async with asyncio.timeout(self.timeout) as deadline:
                if inspect.iscoroutinefunction(self._function):
                    return await self._function(messages, **extra)
                result = await _in_thread(lambda: self._function(messages, **extra))
                return await result if inspect.isawaitable(result) else result
        except Exception as error:
            if isinstance(error, TimeoutError) and deadline.expired():
                raise CallFailed(
                    f"model {self.name!r} ({self.identity}): no answer within {self.timeout:g} s",
                    kind="timeout",
                ) from None
            raise self._failed(f"{type(error).__name__}: {error}") from error

    def _read(self, result: Any) -> Reply:
        if isinstance(result, Reply):
            return result
        if isinstance(result, str):
            return make_reply(mended(result))
        if isinstance(result, Mapping) and "choices" in result:
            return self._read_choices(result)
        if isinstance(result, Mapping) and isinstance(result.get("text"), str) and result.keys() <= set(FIELDS):
            return _read_fields(mended(result))
        raise self._failed(
            f"the function returned {_described(result)}; return a str, a dict of {', '.join(FIELDS)} "
            "(text is needed), or an OpenAI-like dict with choices"
        )

    def _read_choices(self, result: Mapping[str, Any]) -> Reply:
        try:
            return read_reply(mended(result))
        except Fault as fault:
            raise self._failed(f"the function returned a dict with choices, but {fault.message}") from None

    def _failed(self, what: str) -> CallFailed:
        return CallFailed(f"model {self.name!r} ({self.identity}): {what}", kind="function")


def load(target: str, name: str) -> Callable[..., Any]:
    """The callable behind "module:function", found in the working directory first, then among installed
    packages.

    Raises ModelError that says what is missing and where it was looked for.
    """
    module_name, _, path = target.removeprefix("python:").partition(":")
    if not module_name or not path:
        raise ModelError(f"model {name!r}: write its url as python:module:function, not {target!r}")
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())  # a team's own file lies next to audit.toml; it may import its neighbours
        importlib.invalidate_caches()
    found: Any = _module(module_name, name)
    for step in path.split("."):
        if not hasattr(found, step):
            functions = sorted(n for n, v in vars(found).items() if callable(v) and not n.startswith("_"))
            there = f"it has {', '.join(functions)}" if functions else "it has no public function"
            raise ModelError(f"model {name!r}: module {module_name!r} has no function {path!r}; {there}")
        found = getattr(found, step)
    if not callable(found):
        raise ModelError(f"model {name!r}: {module_name}:{path} is {_described(found)}, which cannot be called")
    return found  # type: ignore[no-any-return]


def _module(module_name: str, name: str) -> Any:
    try:
        return importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        missing = error.name or ""
        if module_name == missing or module_name.startswith(f"{missing}."):
            raise ModelError(
                f"model {name!r}: no module {module_name!r} in {os.getcwd()} or among installed packages; "
                "run edufair where the file lies, or write its name without .py"
            ) from error
        raise ModelError(f"model {name!r}: module {module_name!r} imports {missing!r}, which is missing") from error
    except Exception as error:
        raise ModelError(
            f"model {name!r}: module {module_name!r} cannot be imported: {type(error).__name__}: {error}"
        ) from error


def _takes_params(function: Callable[..., Any]) -> bool:
    try:
        return "params" in inspect.signature(function).parameters
    except (TypeError, ValueError):  # a builtin without a signature
        return False


def _identity(target: str | None, function: Callable[..., Any]) -> str:
    """module:function, and a hash of the source file where there is one: an edited tutor is another model."""
    plain = inspect.unwrap(function)
    named = target or ":".join(str(getattr(plain, a, type(plain).__name__)) for a in ("__module__", "__qualname__"))
    try:
        file = inspect.getsourcefile(plain if hasattr(plain, "__code__") else type(plain))
    except TypeError:
        file = None
    if not file or not Path(file).is_file():
        return named
    return f"{named}@{blake2b(Path(file).read_bytes(), digest_size=16).hexdigest()}"


def _read_fields(fields: Mapping[str, Any]) -> Reply:
    finishes = {"truncated": "length", "filtered": "content_filter", "refused": "refusal"}
    finish = next((reason for key, reason in finishes.items() if fields.get(key)), "stop")
    return make_reply(
        fields["text"],
        finish_reason=finish,
        reasoning=fields.get("reasoning") or "",
        model=fields.get("model") or "",
        tokens=read_tokens(fields.get("usage")),
    )


def _described(value: Any) -> str:
    if isinstance(value, Mapping):
        return f"a dict with the keys {', '.join(map(str, value))}" if value else "an empty dict"
    return "None" if value is None else f"a {type(value).__name__}"


async def _in_thread(call: Callable[[], Any]) -> Any:
    """The result of `call`, run in a thread nobody waits for: a hanging one must not hold up the exit."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Any] = loop.create_future()
    context = contextvars.copy_context()

    def settle(result: Any, error: BaseException | None) -> None:
        if future.done():  # given up in the meantime
            return
        if error is None:
            future.set_result(result)
        else:
            future.set_exception(error)

    def work() -> None:
        try:
            outcome: tuple[Any, BaseException | None] = (context.run(call), None)
        except StopIteration as error:  # no future can carry it
            outcome = (None, RuntimeError(f"StopIteration: {error}"))
        except BaseException as error:
            outcome = (None, error if isinstance(error, Exception) else RuntimeError(repr(error)))
        if not loop.is_closed():
            loop.call_soon_threadsafe(settle, *outcome)

    threading.Thread(target=work, name="edufair-function", daemon=True).start()
    return await future
