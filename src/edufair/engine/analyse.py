"""`edufair.analyse`: from what a run's store holds to findings and tables."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from edufair import store as db
from edufair.audits.base import Analysis, Audit
from edufair.config import Settings
from edufair.design.plan import Plan
from edufair.engine import settings as files
from edufair.engine.runs import Run, current_trials, open_run
from edufair.errors import StoreError
from edufair.records import Finding, Item

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class RunView:
    """A run's frames, read once and limited to the trials of its plans."""

    run: Run
    trials: frozenset[str]

    @cached_property
    def _scores(self) -> pl.DataFrame:
        return self._mine(self.run.raw_scores())

    @cached_property
    def _records(self) -> pl.DataFrame:
        return self._mine(self.run.records())

    def items(self) -> dict[str, Item]:
        return self.run.items()

    def scores(self) -> pl.DataFrame:
        return self._scores

    def records(self) -> pl.DataFrame:
        return self._records

    def vectors(self) -> pl.DataFrame:
        return self._mine(self.run.vectors())

    def _mine(self, frame: pl.DataFrame) -> pl.DataFrame:
        import polars as pl

        return frame.join(
            pl.DataFrame({"trial": sorted(self.trials)}, schema={"trial": pl.String}), on="trial", how="semi"
        )


def analyse(run: Run | Path | str) -> Analysis:
    """The findings of a run and the tables of its figures; also writes the pairs that a viewer leafs through.

    A run may hold several plans: trials of earlier plans count as long as nothing that shapes a record has changed
    since. A finding that the first plan did not foresee is marked (`planned` is False).
    Raises StoreError when there is no run, or nothing of it has been carried out yet.
    """
    run = run if isinstance(run, Run) else open_run(run)
    audit, settings, plans, first = _opened(run)
    view = RunView(run, current_trials(plans))
    if view.records().is_empty():
        raise StoreError(f"{run.folder}: no trial of this plan has been carried out yet; `edufair run` does that")
    analysis = audit.analyse(view, _widened(settings, plans))
    analysis = replace(analysis, findings=_marked(analysis, first))
    _keep_pairs(run, analysis)
    return analysis


def _opened(run: Run) -> tuple[Audit, Settings, list[Plan], Plan]:
    """The run's audit, its settings, its plans with the one in force last, and the one that was frozen first."""
    store = db.open_store(run.folder)
    try:
        audit, settings = files.recall(store)
        rows = files.plan_rows(store)
    finally:
        store.close()
    if not rows:
        raise StoreError(f"{run.folder}: holds no plan yet; `edufair run audit.toml` makes one")
    plans = {row["position"]: Plan.from_json(row["json"], row["hash"]) for row in rows}
    return audit, settings, list(plans.values()), plans[min(plans)]


def _widened(settings: Settings, plans: list[Plan]) -> Settings:
    """The settings with the arms of every plan, so that what an earlier plan asked is analysed as well."""
    for plan in plans:
        settings = settings.widened(plan.settings)
    return settings


def _marked(analysis: Analysis, first: Plan) -> tuple[Finding, ...]:
    foreseen = {(c["condition"], c["dimension"], c["a"], c["b"]) for c in first.contrasts}
    return tuple(
        replace(
            f,
            planned=(f.condition, f.dimension, f.a, f.b) in foreseen
            and f.model in first.audited
            and (f.domain in first.items_by_domain() or not f.domain),  # "" is all domains together
        )
        for f in analysis.findings
    )


def _keep_pairs(run: Run, analysis: Analysis) -> None:
    """Store the pairs for the viewer. A run that is being carried out keeps its old ones until the next analysis."""
    if analysis.pairs is None:
        return
    try:
        store = db.create(run.folder)
    except StoreError:
        return
    try:
        store.clear(db.pair)
        store.write_now(db.pair, analysis.pairs.to_dicts())
    finally:
        store.close()
