"""How long a context window a host tells of itself."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from yarl import URL

from edufair.models.addresses import join

Get = Callable[[URL], Awaitable[Any]]


async def tell_window(get: Get, base: URL, model_id: str) -> int | None:
    """The window in tokens, None where the host does not tell it.

    vLLM, SGLang and OpenRouter tell it in their list of models, llama.cpp in /props; OpenAI and Ollama tell
    nothing.
    """
    listed = await get(join(base, "models"))
    models = listed.get("data") if isinstance(listed, dict) else None
    entries = [m for m in models if isinstance(m, dict)] if isinstance(models, list) else []
    entry = next((m for m in entries if m.get("id") == model_id), entries[0] if len(entries) == 1 else None)
    if entry is None:
        return None
    if entry.get("owned_by") == "llamacpp":
        return await _llamacpp_window(get, base)
    told = (entry.get(key) for key in ("max_model_len", "context_length", "context_window"))
    return next((window for window in told if type(window) is int), None)


async def _llamacpp_window(get: Get, base: URL) -> int | None:
    root = base.with_path(base.path.removesuffix("/v1") or "/", keep_query=True)
    props = await get(join(root, "props"))
    settings = props.get("default_generation_settings") if isinstance(props, dict) else None
    window = settings.get("n_ctx") if isinstance(settings, dict) else None
    return window if type(window) is int else None
