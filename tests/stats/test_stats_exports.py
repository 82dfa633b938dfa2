"""What edufair.stats hands out, and that its examples run."""

import doctest
import importlib
import inspect
import pkgutil

import pytest

from edufair import stats

MODULES = [
    importlib.import_module(f"edufair.stats.{module.name}")
    for module in pkgutil.iter_modules(stats.__path__)
    if not module.name.startswith("_")
]


def test_exports_are_sorted_and_exist():
    assert stats.__all__ == sorted(stats.__all__)
    assert all(hasattr(stats, name) for name in stats.__all__)


def test_every_public_function_and_result_is_exported():
    public = {
        name
        for module in MODULES
        for name, thing in vars(module).items()
        if (inspect.isfunction(thing) or inspect.isclass(thing))
        and thing.__module__ == module.__name__
        and not name.startswith("_")
    }
    assert public <= set(stats.__all__)


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_examples_in_the_docstrings_run(module):
    found = doctest.testmod(module)
    assert found.failed == 0
