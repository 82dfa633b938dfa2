"""The examples in docs/statistics.md run."""

import doctest
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "statistics.md"


def test_the_examples_on_the_statistics_page_give_what_they_say():
    found = doctest.testfile(str(PAGE), module_relative=False, encoding="utf-8")
    assert found.attempted >= 10 and found.failed == 0
