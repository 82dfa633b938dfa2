"""Every test runs alone: no setting, key or proxy of the machine reaches it."""

from __future__ import annotations

import os

import pytest

PROXIES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")


@pytest.fixture(autouse=True)
def isolated_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """No EDUFAIR_* variable, no proxy, no API key, and a terminal of known width without colours."""
    for name in list(os.environ):
        if name.startswith("EDUFAIR_") or name.lower() in PROXIES or name.upper().endswith("_API_KEY"):
            monkeypatch.delenv(name)
    for name in ("FORCE_COLOR", "PY_COLORS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("COLUMNS", "160")
