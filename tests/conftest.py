"""Every test runs alone: no setting, key or proxy of the machine reaches it."""

from __future__ import annotations

import os
import signal
from collections.abc import Generator
from typing import Any

import pytest

#: Marks whose tests must run here: a skip of one is a failure (EDUFAIR_TEST_NEEDS=browser,embedded).
NEEDED = [mark for mark in os.environ.get("EDUFAIR_TEST_NEEDS", "").split(",") if mark]

PROXIES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")


def pytest_configure(config: pytest.Config) -> None:
    """Ctrl-C is heard, by the tests and by what they start: a shell's background job inherits that it is not."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def isolated_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """No EDUFAIR_* variable, no proxy, no API key, and a terminal of known width without colours."""
    for name in list(os.environ):
        if name.startswith("EDUFAIR_") or name.lower() in PROXIES or name.upper().endswith("_API_KEY"):
            monkeypatch.delenv(name)
    for name in ("FORCE_COLOR", "PY_COLORS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("COLUMNS", "160")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, Any, Any]:
    """A skipped test that is needed here has failed."""
    report = yield
    missing = [mark for mark in NEEDED if item.get_closest_marker(mark)]
    if report.skipped and missing:
        report.outcome = "failed"
        report.longrepr = f"needed here ({missing[0]}) and skipped: {report.longrepr[-1]}"
    return report
