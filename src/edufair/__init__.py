"""Audit AI teachers for unequal treatment: hold the task fixed, change only what a model is told about the learner.

The verbs: `plan`, `run`, `score`, `analyse`, `report`. Each takes an audit file or a run folder and gives back a small
object; frames are polars, with `.to_pandas()`. They are imported when first used, so that `import edufair` is quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from edufair.version import VERSION

__version__ = VERSION

_HOMES = {
    "Analysis": "edufair.audits.base",
    "Audit": "edufair.audits.base",
    "EdufairError": "edufair.errors",
    "Finding": "edufair.records",
    "Item": "edufair.records",
    "Planned": "edufair.engine.plan",
    "Record": "edufair.records",
    "Run": "edufair.engine.runs",
    "Score": "edufair.records",
    "analyse": "edufair.engine.analyse",
    "open_run": "edufair.engine.runs",
    "plan": "edufair.engine.plan",
    "report": "edufair.reports.report",
    "run": "edufair.engine.run",
    "sample_labels": "edufair.engine.sample_labels",
    "score": "edufair.engine.score",
    "validate_on_mrbench": "edufair.engine.validate_mrbench",
    "validate_on_run": "edufair.engine.validate",
    "write_tables": "edufair.reports.tables",
}

__all__ = [
    "Analysis",
    "Audit",
    "EdufairError",
    "Finding",
    "Item",
    "Planned",
    "Record",
    "Run",
    "Score",
    "__version__",
    "analyse",
    "open_run",
    "plan",
    "report",
    "run",
    "sample_labels",
    "score",
    "validate_on_mrbench",
    "validate_on_run",
    "write_tables",
]

if TYPE_CHECKING:
    from edufair.audits.base import Analysis, Audit
    from edufair.engine.analyse import analyse
    from edufair.engine.plan import Planned, plan
    from edufair.engine.run import run
    from edufair.engine.runs import Run, open_run
    from edufair.engine.sample_labels import sample_labels
    from edufair.engine.score import score
    from edufair.engine.validate import validate_on_run
    from edufair.engine.validate_mrbench import validate_on_mrbench
    from edufair.errors import EdufairError
    from edufair.records import Finding, Item, Record, Score
    from edufair.reports.report import report
    from edufair.reports.tables import write_tables


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'edufair' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return __all__
