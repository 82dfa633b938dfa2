"""One report of the full size for all tests that read it: drawing it takes a few seconds."""

import pytest

from edufair.reports.html import render
from reports import made_up


@pytest.fixture(scope="session")
def full_page():
    return render(made_up.report_data())
