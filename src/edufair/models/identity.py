"""What stands for a model in hashes: a model id, a file's SHA-256, a function's name and source; never an address."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from edufair.models.function import FunctionModel


def identity(name: str, settings: Mapping[str, Any]) -> str:
    """The identity of the model that `settings` (a table `models.NAME` of audit.toml) describes. Asks nothing.

    Raises ModelError when a file or a function is not there.
    """
    url = str(settings["url"])
    kind = url.partition(":")[0].lower()
    if kind == "python":
        return FunctionModel(name, url).identity
    if kind in ("embedded", "gguf"):
        from edufair.models.embedded import file_identity

        return file_identity(url)
    return str(settings.get("model") or url)
