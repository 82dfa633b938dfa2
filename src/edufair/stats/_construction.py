"""How much of a gap would a bounded scale make by itself? A construction without any differential preference."""

from __future__ import annotations

import numpy as np

from edufair.stats._arrays import DECIMALS, TINY, FloatArray
from edufair.stats._rating_cells import Cells, means
from edufair.stats.bootstrap import cluster_means
from edufair.stats.censoring import Construction, Form
from edufair.stats.ordered_probit import ordered_probit


def constructions(
    cells: Cells, poles: tuple[object, object], *, low: float, high: float, probit: bool
) -> tuple[tuple[Construction, ...], str | None]:
    """All forms in both directions, and why a form was left out. The first two arms and both poles of the cells."""
    ratings = cells.ratings[:, :2]
    integers = bool(np.isin(ratings[np.isfinite(ratings)], np.arange(np.ceil(low), high + 1)).all())
    forms: list[Form] = ["clip", "round"] if integers and float(low).is_integer() else ["clip"]
    shifted = {(form, target): _moved(ratings, target, form, low, high) for form in forms for target in (1, 0)}
    why = None
    if len(forms) == 1:
        why = "ratings are not integers: clipping form only"
    elif probit:
        try:
            for target in (1, 0):
                shifted["ordered probit", target] = _moved_latent(ratings, target, int(low), int(high))
        except ValueError as problem:
            why = f"no ordered probit: {problem}"
    observed = _mean(_gap(means(ratings)), cells)
    return tuple(
        _construction(form, target, parts, observed, poles, cells) for (form, target), parts in shifted.items()
    ), why


def _moved(
    ratings: FloatArray, target: int, form: Form, low: float, high: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Per item: shift carried, shift of the source's ratings, shift that the target's ratings show."""
    s = means(ratings)
    applied = s[:, 1, 1 - target] - s[:, 0, 1 - target]
    moved = np.round(ratings[:, 0, target] + applied[:, None], DECIMALS)  # thirds: 2.4999... is 2.5
    if form == "round":
        moved = np.floor(moved + 0.5)
    shown = means(np.clip(moved, low, high))
    return applied, applied, shown - s[:, 0, target]


def _moved_latent(ratings: FloatArray, target: int, low: int, high: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The same on the latent scale of an ordered probit; a pole's units under both arms share a distribution."""
    n = len(ratings)
    fit = ordered_probit(ratings.transpose(2, 1, 0, 3).reshape(2, 2 * n, -1), low=low, high=high)
    latent, shown, source = fit.latent_mean(), fit.rating(), 1 - target
    applied = latent[source, n:] - latent[source, :n]
    shift = np.zeros_like(latent)
    shift[target, :n] = applied
    survived = (fit.rating(shift) - shown)[target, :n]
    return applied, shown[source, n:] - shown[source, :n], survived


def _construction(
    form: Form,
    target: int,
    parts: tuple[FloatArray, FloatArray, FloatArray],
    observed: float,
    poles: tuple[object, object],
    cells: Cells,
) -> Construction:
    applied, source_shift, survived = (_mean(part, cells) for part in parts)
    sign = 1 if target == 1 else -1  # the second pole's shift enters the gap with a plus, the first one's with a minus
    gap = round(sign * (survived - source_shift), DECIMALS)
    return Construction(
        form=form,
        source=poles[1 - target],
        target=poles[target],
        applied=applied,
        survived=survived,
        gap=gap,
        share=gap / observed if abs(observed) > TINY else np.nan,
        residual=observed - gap,
        kappa=round(1 - survived / applied, DECIMALS) if abs(applied) > TINY else np.nan,
    )


def _gap(s: FloatArray) -> FloatArray:
    """The difference in differences of each item, from means of items x 2 arms x 2 poles."""
    gap: FloatArray = (s[:, 0, 0] - s[:, 0, 1]) - (s[:, 1, 0] - s[:, 1, 1])
    return gap


def _mean(values: FloatArray, cells: Cells) -> float:
    return round(float(cluster_means(values, cells.clusters).mean()), DECIMALS)
