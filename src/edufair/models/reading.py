"""From the body of an answer to a Reply or to vectors.

Pure functions; they raise Fault for what is no answer.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from edufair.models.base import Reply, ReplyStatus, Tokens
from edufair.models.faults import Fault

OPEN, CLOSE = "<think>", "</think>"
SURROGATE = re.compile("[\ud800-\udfff]")
REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
NO_TOKENS = Tokens()

# Finish reasons that are not the end of an answer, in the spellings hosts use.
FINISHES: Mapping[str, ReplyStatus] = {
    "length": "truncated",
    "max_tokens": "truncated",
    "content_filter": "filtered",
    "safety": "filtered",
    "refusal": "refused",
    "model_length": "context",
    "model_context_window_exceeded": "context",
}


def decode(raw: bytes) -> Any:
    """The JSON in `raw`, or None when it is none.

    orjson first. It refuses halves of surrogate pairs, broken UTF-8, a byte-order mark and bare control
    characters, none of which may cost a reply: then the standard reader, with every lone half and broken byte
    as U+FFFD.
    """
    try:
        return orjson.loads(raw)
    except orjson.JSONDecodeError:
        pass
    try:
        return mended(json.loads(raw.decode("utf-8-sig", "replace"), strict=False))
    except (ValueError, RecursionError):
        return None


def mended(value: Any) -> Any:
    """`value` with every lone surrogate in its texts as U+FFFD: neither JSON nor a database holds them."""
    if isinstance(value, str):
        return SURROGATE.sub(REPLACEMENT, value)
    if isinstance(value, Mapping):
        return {mended(k): mended(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [mended(v) for v in value]
    return value


def read_reply(payload: Any) -> Reply:
    """The first choice of a chat completion. Raises Fault "bad reply" when there is none to read."""
    try:
        choice = payload["choices"][0]
        message = choice["message"]
        content, thought = _parts(message.get("content"))
    except (KeyError, IndexError, TypeError, AttributeError):
        raise Fault("bad reply", "the answer holds no readable choice", status=200, retry=True) from None
    separate = message.get("reasoning_content") or message.get("reasoning") or ""
    return make_reply(
        content,
        finish_reason=choice.get("finish_reason") or "",
        reasoning="\n".join(part for part in (separate, thought) if isinstance(part, str) and part),
        refusal=message.get("refusal"),
        model=payload.get("model") or "",
        tokens=read_tokens(payload.get("usage")),
    )


def make_reply(
    content: str,
    *,
    finish_reason: str = "",
    reasoning: str = "",
    refusal: Any = None,
    model: str = "",
    tokens: Tokens = NO_TOKENS,
) -> Reply:
    """A Reply with its reasoning taken out of the text and its status found: the finish reason first, then
    the text.

    A refusal's own words become the text when there is no other.
    """
    if CLOSE in content or OPEN in content:
        inside, content = split_reasoning(content)
        reasoning = "\n".join(part for part in (reasoning, inside) if part)
    status: ReplyStatus | None = FINISHES.get(finish_reason.lower())
    if refusal and status != "filtered":
        status = "refused"
        content = content if content.strip() or not isinstance(refusal, str) else refusal
    if status is None:
        status = "ok" if content.strip() else "empty"
    return Reply(content, status, finish_reason, reasoning, model, tokens)


def split_reasoning(text: str) -> tuple[str, str]:
    """(reasoning, text) where reasoning is what `<think>` blocks at the head hold.

    A lone `</think>` ends reasoning whose opening mark stood in the prompt; a `<think>` without an end is
    reasoning to the last character. Marks later in the text belong to the text.
    """
    thoughts: list[str] = []
    rest = text
    while (head := rest.lstrip()).startswith(OPEN):
        inside, _, rest = head[len(OPEN) :].partition(CLOSE)
        thoughts.append(inside.strip())
    if not thoughts and CLOSE in rest:
        inside, _, rest = rest.partition(CLOSE)
        further, rest = split_reasoning(rest) if rest.lstrip().startswith(OPEN) else ("", rest)
        thoughts += [inside.strip(), further]
    if not thoughts:
        return "", text
    return "\n".join(t for t in thoughts if t), rest.lstrip()


def _parts(content: Any) -> tuple[str, str]:
    """(text, reasoning) of a message's content: a text, null, or a list of typed parts."""
    if isinstance(content, str):
        return content, ""
    if content is None:
        return "", ""
    texts = [p["text"] for p in content if p.get("type") in ("text", "output_text")]
    thoughts = [_thinking(p["thinking"]) for p in content if p.get("type") == "thinking"]
    return "".join(texts), "\n".join(thoughts)


def _thinking(thinking: Any) -> str:
    return thinking if isinstance(thinking, str) else "".join(p["text"] for p in thinking)


def read_tokens(usage: Any) -> Tokens:
    """The host's token counts; None for each that is missing or no whole number."""
    if not isinstance(usage, dict):
        return Tokens()
    details = usage.get("prompt_tokens_details")
    cached = details.get("cached_tokens") if isinstance(details, dict) else None
    return Tokens(_count(usage.get("prompt_tokens")), _count(cached), _count(usage.get("completion_tokens")))


def _count(value: Any) -> int | None:
    return value if type(value) is int and value >= 0 else None


def read_vectors(payload: Any, count: int) -> Sequence[Sequence[float]]:
    """`count` vectors in the order of the texts (the host's `index` decides where it gives one).

    Raises Fault "bad reply" for missing, doubled, ragged or not finite vectors: one that is wrong would be
    compared.
    """
    try:
        rows = {row.get("index", place): row["embedding"] for place, row in enumerate(payload["data"])}
        vectors = [rows[i] for i in range(count)]
        whole = len(payload["data"]) == count and len({len(v) for v in vectors}) == 1 and len(vectors[0]) > 0
        finite = all(math.isfinite(x) for v in vectors for x in v)
    except (KeyError, TypeError, AttributeError):
        whole = finite = False
    if not (whole and finite):
        raise Fault("bad reply", f"the answer does not hold {count} whole vectors", status=200, retry=True)
    return vectors


def context_cut(before: int | None, now: int | None, characters_added: int) -> bool:
    """Whether a host cut the start of a conversation silently: it grew, its reported prompt tokens did not.

    `before` and `now` are the prompt tokens of two calls of one dialogue, `characters_added` what was added
    in between. False where a count is missing or fewer than 40 characters came in (they may cost few tokens).
    """
    return before is not None and now is not None and characters_added >= 40 and now <= before
