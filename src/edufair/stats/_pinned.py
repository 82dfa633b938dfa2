"""Counting the items at a bound of the scale, and the gap on them and on the rest."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from edufair.stats._arrays import TINY, FloatArray
from edufair.stats._rating_cells import Cells, at_bound, means
from edufair.stats.censoring import Pinned, Split
from edufair.stats.cluster_test import cluster_test


def pinned_items(
    cells: Cells,
    gap: FloatArray,
    poles: tuple[object, ...],
    *,
    low: float,
    high: float,
    control: int | None,
    resamples: int,
    level: float,
    seed: int,
) -> tuple[Pinned, ...]:
    """Counts and split estimates for every pole and bound. `control` is the place of an arm."""

    def split(inside: NDArray[np.bool_]) -> Split:
        tests = [
            cluster_test(gap[rows], cells.clusters[rows], resamples=resamples, level=level, seed=seed)
            if rows.any()
            else None
            for rows in (inside, ~inside)
        ]
        return Split(int(inside.sum()), int((~inside).sum()), tests[0], tests[1])

    found = []
    s = means(cells.ratings)
    for place, pole in enumerate(poles):
        for bound in (low, high):
            there = at_bound(cells.ratings[:, :, place], bound)
            unrated = np.isnan(s[:, :, place])
            always = np.logical_and.reduce(there | unrated, axis=1)
            moved = np.abs(s[:, 1, place] - bound) > np.abs(s[:, 0, place] - bound) + TINY
            first = there[:, 0]
            found.append(
                Pinned(
                    pole=pole,
                    bound=bound,
                    n=len(gap),
                    pinned=int(always.sum()),
                    share=float(always.mean()),
                    at_first=int(first.sum()),
                    at_first_moved=int((moved & first).sum()),
                    rest=int((~first).sum()),
                    rest_moved=int((moved & ~first).sum()),
                    gap=split(always),
                    gap_by_control=None if control is None else split(there[:, control]),
                )
            )
    return tuple(found)
