"""The one place that lines scores up as pairs, and counts by arm what was lost and why.

Scores become one dense grid for each (audited model, condition, domain): items x cells x metrics, where a cell is an
arm (replicates averaged), or one replicate of the baseline. A contrast is then two columns of a grid.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from edufair.records import NOT_APPLICABLE

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

#: The condition whose replicates are compared with each other instead of being averaged.
REPEATED = "baseline"


@dataclass(frozen=True)
class Grid:
    """Scores of one (model, condition, domain), lined up.

    `values` is items x cells x metrics with NaN for missing; `lost` says which of the missing were lost (a failed
    trial, an unread label), the others do not apply; `present` is items x cells: the trial has been carried out.
    A cell of several replicates is missing when none has a value, and lost when one of them is.
    `trials` holds a trial's id (the first replicate's) or "".
    """

    model: str
    condition: str
    domain: str
    items: tuple[str, ...]
    cells: tuple[str, ...]
    metrics: tuple[str, ...]
    values: NDArray[np.float64]
    lost: NDArray[np.bool_]
    present: NDArray[np.bool_]
    trials: NDArray[np.object_]

    def pairs(self, a: str, b: str, metric: str) -> Pairs:
        """The pairs of cell `a` with cell `b` on a metric, over the items for which both were carried out."""
        ia, ib, m = self.cells.index(a), self.cells.index(b), self.metrics.index(metric)
        asked = self.present[:, ia] & self.present[:, ib]
        va, vb = self.values[:, ia, m], self.values[:, ib, m]
        complete = asked & ~np.isnan(va) & ~np.isnan(vb)
        lost = np.stack([self.lost[asked, ia, m], self.lost[asked, ib, m]], axis=1)
        return Pairs(
            a=va[complete],
            b=vb[complete],
            index=np.flatnonzero(complete),
            n_items=int(asked.sum()),
            lost=lost,
            not_applicable=(
                int((np.isnan(va) & ~self.lost[:, ia, m] & asked).sum()),
                int((np.isnan(vb) & ~self.lost[:, ib, m] & asked).sum()),
            ),
        )

    def block(self, cells: Sequence[str], metrics: Sequence[str]) -> NDArray[np.float64]:
        """Items x the given cells x the given metrics; a cell that is not there is all NaN."""
        out = np.full((len(self.items), len(cells), len(metrics)), np.nan)
        columns = [(k, self.cells.index(c)) for k, c in enumerate(cells) if c in self.cells]
        chosen = [self.metrics.index(m) for m in metrics]
        for k, column in columns:
            out[:, k, :] = self.values[:, column, :][:, chosen]
        return out


@dataclass(frozen=True)
class Pairs:
    """Complete pairs of one contrast on one metric, and what did not become one.

    `lost` is asked items x 2; `not_applicable` counts, by arm, items on which the metric has no meaning.
    `index` gives the pairs' places among the grid's items.
    """

    a: NDArray[np.float64]
    b: NDArray[np.float64]
    index: NDArray[np.intp]
    n_items: int
    lost: NDArray[np.bool_]
    not_applicable: tuple[int, int]

    @property
    def d(self) -> NDArray[np.float64]:
        return self.a - self.b

    @property
    def n(self) -> int:
        return len(self.a)

    @property
    def lost_by_arm(self) -> tuple[int, int]:
        return int(self.lost[:, 0].sum()), int(self.lost[:, 1].sum())

    def share_lost(self) -> float:
        """The larger of the two arms' shares of items lost, 0 where nothing was asked."""
        return max(self.lost_by_arm) / self.n_items if self.n_items else 0.0

    def loss_p(self) -> float | None:
        """Whether the arms lost unequally: exact McNemar. None where nothing was asked."""
        from edufair.stats import unequal_loss  # draws in scipy, which counting losses alone does not need

        return unequal_loss(self.lost).p if self.n_items else None


def grids(
    scores: pl.DataFrame, records: pl.DataFrame, *, metrics: Sequence[str], sources: Sequence[str]
) -> Iterator[Grid]:
    """One grid for each (model, condition, domain), sorted.

    Parameters
    ----------
    scores
        trial, turn, metric, source, value, reason; only turn 0 and the given sources are used. Each metric must come
        from one of the sources alone.
    records
        trial, model, item, domain, condition, arm, replicate, status, reason.
    """
    import polars as pl

    whole = scores.filter((pl.col("turn") == 0) & pl.col("source").is_in(list(sources)))
    whole = whole.select("trial", "metric", "value", score_reason="reason")
    cell = (
        pl.when(pl.col("condition") == REPEATED).then(pl.format("{} #{}", "arm", "replicate")).otherwise(pl.col("arm"))
    )
    placed = records.with_columns(cell=cell)
    for (model, condition, domain), group in sorted(
        placed.group_by("model", "condition", "domain"), key=lambda g: g[0]
    ):
        yield _grid(str(model), str(condition), str(domain), group, whole, tuple(metrics))


def _grid(
    model: str,
    condition: str,
    domain: str,
    group: pl.DataFrame,
    scores: pl.DataFrame,
    metrics: tuple[str, ...],
) -> Grid:
    import polars as pl

    items = sorted(group["item"].unique().to_list())
    cells = sorted(group["cell"].unique().to_list())
    shape = (len(items), len(cells))
    row = _codes(group["item"], items)
    column = _codes(group["cell"], cells)
    carried_out = _count_at((row, column), shape)
    trials = np.full(shape, "", dtype=object)
    first = group["replicate"].to_numpy().argsort(kind="stable")[::-1]
    trials[row[first], column[first]] = group["trial"].to_numpy()[first]

    found = group.select("trial", "item", "cell").join(scores, on="trial", how="inner")
    found = found.filter(pl.col("metric").is_in(metrics))
    at = (_codes(found["item"], items), _codes(found["cell"], cells), _codes(found["metric"], list(metrics)))
    value = found["value"].cast(pl.Float64).fill_null(float("nan")).to_numpy()
    values = _mean_at(at, value, (*shape, len(metrics)))
    idle = (found["score_reason"] == NOT_APPLICABLE).to_numpy()
    inapplicable = _count_at(tuple(axis[idle] for axis in at), values.shape)
    lost = np.isnan(values) & (inapplicable < carried_out[:, :, None])
    return Grid(model, condition, domain, tuple(items), tuple(cells), metrics, values, lost, carried_out > 0, trials)


def _codes(column: pl.Series, known: list[str]) -> NDArray[np.intp]:
    order = {name: number for number, name in enumerate(known)}
    return np.fromiter((order[name] for name in column), dtype=np.intp, count=len(column))


def _mean_at(
    at: tuple[NDArray[np.intp], ...], value: NDArray[np.float64], shape: tuple[int, ...]
) -> NDArray[np.float64]:
    """The mean of the values that fall on each place, missing ones left out; NaN where there is none."""
    known = ~np.isnan(value)
    places = tuple(axis[known] for axis in at)
    total, count = np.zeros(shape), _count_at(places, shape)
    np.add.at(total, places, value[known])
    means: NDArray[np.float64] = np.divide(total, count, out=np.full(shape, np.nan), where=count > 0)
    return means


def _count_at(at: tuple[NDArray[np.intp], ...], shape: tuple[int, ...]) -> NDArray[np.intp]:
    """How often each place occurs."""
    count = np.zeros(shape, dtype=np.intp)
    np.add.at(count, at, 1)
    return count


def losses(records: pl.DataFrame) -> pl.DataFrame:
    """How the trials of each arm ended: model, condition, arm, state, n, of."""
    import polars as pl

    state = pl.when(pl.col("status") == "done").then(pl.lit("done")).otherwise(pl.col("reason"))
    key = ["model", "condition", "arm"]
    counted = records.with_columns(state=state).group_by(*key, "state").len("n")
    totals = records.group_by(key).len("of")
    return counted.join(totals, on=key).sort(*key, "state")
