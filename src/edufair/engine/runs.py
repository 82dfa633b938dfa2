"""A run, as its user holds it: its folder, its frames, its losses."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from edufair import store as db
from edufair.design.plan import Plan
from edufair.engine.progress import Tally
from edufair.engine.settings import plan_rows
from edufair.errors import StoreError
from edufair.records import Item, Record, Source
from edufair.store import Store

if TYPE_CHECKING:
    import polars as pl


class Run:
    """A run folder, read only: `.scores()`, `.records()`, `.plans()`; frames are polars, with `.to_pandas()`.

    `tally` counts what the sitting that gave back this object did; None when a run was only opened.
    """

    def __init__(self, folder: Path | str, *, tally: Tally | None = None) -> None:
        self.folder = Path(folder)
        self.tally = tally

    def __repr__(self) -> str:
        return f"Run({str(self.folder)!r})"

    def plans(self) -> list[Plan]:
        """The plans of this run, in the order in which they were frozen, but the one in force last."""
        return [Plan.from_json(row["json"], row["hash"]) for row in self.plan_rows()]

    def plan_rows(self) -> list[dict[str, Any]]:
        """The stored plans with when and by which version they were frozen."""
        return self._read(plan_rows)  # type: ignore[no-any-return]

    def items(self) -> dict[str, Item]:
        """The items of the run's plans, by id; where plans hold different ones, that of the plan in force."""
        return self._read(_items)  # type: ignore[no-any-return]

    def scores(self) -> pl.DataFrame:
        """One row a score: trial, turn, metric, source, value (null = missing), reason, and the trial's own columns."""
        return self.raw_scores().join(self.records(), on="trial", how="left", suffix="_of_record")

    def raw_scores(self) -> pl.DataFrame:
        """The scores without the trials' columns."""
        return self._read(lambda s: s.score_frame())  # type: ignore[no-any-return]

    def records(self) -> pl.DataFrame:
        """One row a record: trial, audit, model, item, domain, condition, arm, replicate, status, reason."""
        return self._read(lambda s: s.record_frame())  # type: ignore[no-any-return]

    def vectors(self) -> pl.DataFrame:
        return self._read(lambda s: s.vector_frame())  # type: ignore[no-any-return]

    def calls(self) -> pl.DataFrame:
        """One row a call, without its texts: role, model, status, tokens, latency."""
        return self._read(lambda s: s.call_frame())  # type: ignore[no-any-return]

    def effectives(self) -> list[dict[str, Any]]:
        """How each role really asked its model."""
        return self._read(lambda s: s.effectives())  # type: ignore[no-any-return]

    def sources(self) -> list[Source]:
        return self._read(lambda s: s.sources())  # type: ignore[no-any-return]

    def transcripts(self, trials: list[str] | None = None) -> Iterator[Record]:
        """Records with their texts; all, or those of some trials."""
        store = db.open_store(self.folder)
        try:
            yield from store.records(trials=trials)
        finally:
            store.close()

    def states(self) -> Counter[str]:
        """How many trials of the run are done, failed (by reason) and not yet carried out.

        They are those of the plan in force, and those of other plans that are analysed with it.
        """
        return self._states(current_trials(self.plans()))

    def _states(self, ids: Iterable[str]) -> Counter[str]:
        found: dict[str, tuple[str, str]] = self._read(lambda s: s.all_statuses())
        return Counter(_state(*found[t]) if t in found else "waiting" for t in ids)

    def losses(self) -> pl.DataFrame:
        """How the trials of each arm ended: model, condition, arm, state, n, of. The same trials as in `states`."""
        import polars as pl

        from edufair.pairs import losses

        counted = pl.DataFrame({"trial": sorted(current_trials(self.plans()))}, schema={"trial": pl.String})
        return losses(self.records().join(counted, on="trial", how="semi"))

    def unfinished(self) -> bool:
        """Whether running the audit again would ask anything: waiting trials, transport failures, missing labels."""
        in_force = self.plans()[-1]
        states = self._states(trial for model in in_force.audited for _, trial in in_force.trial_ids(model))
        missing = self.tally.unscored if self.tally is not None else 0
        return bool(states["waiting"] or states["transport"] or missing)

    def scored_by(self) -> dict[str, int]:
        """How many records each source has scored."""
        return self._read(lambda s: s.scored_by())  # type: ignore[no-any-return]

    def _read(self, query: Any) -> Any:
        store = db.open_store(self.folder)
        try:
            return query(store)
        finally:
            store.close()


def open_run(folder: Path | str) -> Run:
    """An existing run, to read. Raises StoreError when the folder holds none."""
    run = Run(folder)
    if not run.plan_rows():
        raise StoreError(f"{folder}: holds no plan yet; `edufair run audit.toml` makes one")
    return run


def current_trials(plans: Sequence[Plan]) -> frozenset[str]:
    """The trials that belong together: the last plan's, and other plans' shaped alike that it does not replace."""
    last = plans[-1]
    chosen: dict[tuple[str, str, str, int], str] = {}
    for plan in reversed(plans):
        for model in plan.audited:
            if plan.common != last.common or plan.shapes[model] != last.shapes.get(model, plan.shapes[model]):
                continue
            for key, trial in plan.trial_ids(model):
                chosen.setdefault(key, trial)
    return frozenset(chosen.values())


def _items(store: Store) -> dict[str, Item]:
    hashes = {row[1]: row[0] for plan in plan_rows(store) for row in plan["json"]["items"]}
    return {item.id: item for _, item in store.items(hashes.values())}


def _state(status: str, reason: str) -> str:
    return reason if status == "failed" else status
