"""What a host's error means: try again, give up, or an outcome of its own (context, filtered, truncated)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from edufair.errors import FailureKind
from edufair.models.base import Attempt, ReplyStatus

# How OpenAI, vLLM, SGLang, llama.cpp, Ollama, TGI and other hosts say that a conversation no longer fits.
CONTEXT = re.compile(
    r"context_length_exceeded|exceed_context_size|string_above_max_length|context[ _-](length|size|window)"
    r"|maximum input length|(prompt|input|request) is too long|too many (input )?tokens"
    r"|input (length|token count)\b.*\bexceed|reduce the length of (the|your)|max_new_tokens`? must be"
    r"|must be at least 1, got -",
    re.IGNORECASE | re.DOTALL,
)
FILTERED = re.compile(
    r"content_filter|content_policy_violation|responsibleaipolicyviolation|data_inspection_failed"
    r"|content management policy|content exists risk|flagged_input",
    re.IGNORECASE,
)
OUTPUT_LIMIT = re.compile(r"(max_tokens|model output limit)\b.*\bwas reached", re.IGNORECASE | re.DOTALL)
# Chat templates fail with status 500 on some hosts; asking again gives the same.
TEMPLATE = re.compile(r"jinja|chat[ _]template|roles must alternate|system role", re.IGNORECASE)
EXHAUSTED = re.compile(r"insufficient_quota|insufficient balance|billing_hard_limit", re.IGNORECASE)

WORDS_KEPT = 400  # characters of a host's error text that are shown


class Fault(Exception):
    """One try that gave no reply. Stays inside `models`: callers see a Reply or a CallFailed.

    `retry`: asking again may help. `fatal`: no other call can succeed. `floor`: the host asks all calls to
    rest so many seconds (None: it does not). `outcome`: what a Reply made of it is called. `elsewhere`:
    nothing like an API answered at this address, another form of it may. `param`: the parameter that the host
    names as wrong.
    """

    def __init__(
        self,
        kind: FailureKind,
        message: str,
        *,
        status: int | None = None,
        code: str = "",
        param: str = "",
        retry: bool = False,
        fatal: bool = False,
        floor: float | None = None,
        outcome: ReplyStatus | None = None,
        elsewhere: bool = False,
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.status = status
        self.code = code
        self.param = param
        self.retry = retry
        self.fatal = fatal
        self.floor = floor
        self.outcome: ReplyStatus | None = outcome
        self.elsewhere = elsewhere
        self.attempts: tuple[Attempt, ...] = ()


def fault_from_status(status: int, payload: Any, raw: bytes, floor: float) -> Fault:
    """The fault behind an HTTP answer that is no reply.

    `payload` is the decoded body (None when it is no JSON), `floor` the seconds of its Retry-After (0 for
    none).
    """
    message, code, param = error_words(payload, raw)
    words = f"{code} {message}"
    retry = status in (408, 409, 429) or (status >= 500 and status != 501)  # 501: it never will
    if status != 429 and (outcome := _outcome(status, words)):
        # A 5xx that speaks of context may come from a crowded cache: believed only when it stays.
        return Fault("bad request", message, status=status, code=code, param=param, retry=retry, outcome=outcome)
    if status in (401, 402, 403):
        return Fault("auth", message, status=status, code=code, fatal=True)
    if status in (404, 405):
        unknown_model = "model" in words.lower()
        return Fault("not found", message, status=status, code=code, fatal=True, elsewhere=not unknown_model)
    if status == 429:
        exhausted = bool(EXHAUSTED.search(words))
        return Fault("rate limit", message, status=status, code=code, retry=not exhausted, fatal=exhausted, floor=floor)
    if retry and not TEMPLATE.search(words):
        kind: FailureKind = "timeout" if status == 408 else "server"
        return Fault(kind, message, status=status, code=code, retry=True, floor=floor or None)
    if 300 <= status < 400:
        return Fault("not found", "the host redirects elsewhere", status=status, fatal=True, elsewhere=True)
    return Fault("bad request", message, status=status, code=code, param=param)


def _outcome(status: int, words: str) -> ReplyStatus | None:
    if FILTERED.search(words):
        return "filtered"
    if status in (401, 402, 403, 404, 405):
        return None
    if OUTPUT_LIMIT.search(words):
        return "truncated"
    return "context" if CONTEXT.search(words) else None


def error_in_reply(payload: Any) -> tuple[int, Any] | None:
    """(status, payload) of an error that came inside a 200, or None.

    Hosts write it as `error`, as an object of type error, or into the choice itself; where they give an HTTP
    status as its code, that one is meant, else 500.
    """
    if not isinstance(payload, dict):
        return None
    choices = payload.get("choices")
    if payload.get("error") and not choices:
        return _status_of(payload["error"]), payload
    if payload.get("object") == "error":
        return _status_of(payload), payload
    choice = choices[0] if isinstance(choices, list) and choices else None
    if isinstance(choice, dict) and choice.get("finish_reason") == "error":
        error = choice.get("error") or "the host ended the reply with an error"
        return _status_of(error), {"error": error}
    return None


def _status_of(error: Any) -> int:
    code = error.get("code") if isinstance(error, dict) else None
    return code if isinstance(code, int) and 400 <= code < 600 else 500


def error_words(payload: Any, raw: bytes) -> tuple[str, str, str]:
    """(message, code, parameter) of an error body, from the fields hosts use; never the echoed request."""
    error = payload.get("error") or payload if isinstance(payload, dict) else payload
    if isinstance(error, dict):
        code = " ".join(str(error[k]) for k in ("code", "type") if isinstance(error.get(k), str))
        inner = error.get("innererror")
        if isinstance(inner, dict) and isinstance(inner.get("code"), str):
            code += f" {inner['code']}"
        if isinstance(error.get("metadata"), dict) and "flagged_input" in error["metadata"]:
            code += " flagged_input"
        param = error.get("param")
        return _message(error), code, param if isinstance(param, str) else ""
    text = error if isinstance(error, str) else raw.decode("utf-8", "replace")
    return _shortened(text), "", ""


def _message(error: Mapping[str, Any]) -> str:
    for key in ("message", "detail", "msg"):
        value = error.get(key)
        if isinstance(value, str) and value:
            return _shortened(value)
        if isinstance(value, list):  # FastAPI: where and what, without the `input` it echoes
            parts = [f"{_place(d.get('loc'))}: {d.get('msg', '')}" for d in value if isinstance(d, dict)]
            return _shortened("; ".join(parts))
    return "no message"


def _place(loc: Any) -> str:
    return ".".join(str(step) for step in loc) if isinstance(loc, list) else ""


def _shortened(text: str) -> str:
    flat = " ".join(text.split())
    if not flat:
        return "an empty body"
    return flat if len(flat) <= WORDS_KEPT else flat[:WORDS_KEPT] + "..."
