"""Whom we ask: endpoints, embedded models, Python functions, scripts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from edufair.errors import ModelError
from edufair.models.base import Effective, Embeddings, Message, Model, Reply, Tokens
from edufair.models.endpoint import Endpoint
from edufair.models.function import FunctionModel
from edufair.models.normalise import normalise
from edufair.models.reading import context_cut
from edufair.models.scripted import ScriptedModel

__all__ = [
    "Effective",
    "Embeddings",
    "Endpoint",
    "FunctionModel",
    "Message",
    "Model",
    "Reply",
    "ScriptedModel",
    "Tokens",
    "context_cut",
    "normalise",
    "open_model",
]

ENDPOINT_KEYS = frozenset(
    {
        "api_key_env",
        "concurrency",
        "requests_per_minute",
        "tokens_per_minute",
        "timeout",
        "connect_timeout",
        "retries",
        "context",
        "extra_body",
    }
)
FUNCTION_KEYS = frozenset({"concurrency", "timeout"})
EMBEDDED_KEYS = frozenset({"concurrency", "context", "timeout", "retries", "extra_body"})


def open_model(name: str, settings: Mapping[str, Any]) -> Model:
    """The model that `settings` (a table `models.NAME` of audit.toml) describes; nothing is sent yet.

    `url` decides the kind: http(s):// an endpoint (which needs `model`), python:module:function a function,
    embedded:NAME or gguf:PATH a llama.cpp server started for you. Keys with the value None count as absent.
    Raises ModelError for an unknown kind, a missing key, or a key this kind has no use for.
    """
    given = {key: value for key, value in settings.items() if value is not None}
    url = given.pop("url", "")
    kind = url.partition(":")[0].lower()
    if kind in ("http", "https"):
        model_id = given.pop("model", "")
        if not model_id:
            raise ModelError(f'models.{name}: model is missing; write the id the host knows it by, model = "..."')
        return Endpoint(name, url, model_id, **_only(ENDPOINT_KEYS, given, name, "an endpoint"))
    if kind == "python":
        return FunctionModel(name, url, **_only(FUNCTION_KEYS, given, name, "a Python function"))
    if kind in ("embedded", "gguf"):
        from edufair.models.embedded import EmbeddedModel

        model: Model = EmbeddedModel(name, url, **_only(EMBEDDED_KEYS, given, name, "an embedded model"))
        return model
    raise ModelError(
        f"models.{name}: url {url!r} is of no known kind; write http://..., https://..., "
        "python:module:function, embedded:NAME or gguf:PATH"
    )


def _only(known: frozenset[str], given: Mapping[str, Any], name: str, kind: str) -> dict[str, Any]:
    if unknown := sorted(given.keys() - known):
        raise ModelError(f"models.{name}: {kind} has no use for {', '.join(unknown)}; take it out")
    return dict(given)
