"""Integer ratings as a censored, rounded latent scale: an ordered probit with its noise from the repetitions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize
from scipy.special import logsumexp, ndtr

from edufair.stats._arrays import FloatArray, IntArray

POINTS: Final = 161  # of the grid on which latent means are integrated out
BEYOND: Final = 3.0  # how far past the bounds the grid reaches, in rating points
LEAST_NOISE: Final = 0.05  # repetitions that never differ fit any small noise: it stops here
LEAST_SPREAD: Final = 0.05
WIDEST: Final = 6.0


@dataclass(frozen=True)
class OrderedProbit:
    """An ordered probit fitted to repeated integer ratings of several groups of units.

    Attributes
    ----------
    noise : float
        Standard deviation of a repetition about its unit's latent mean, in rating points.
    means, spreads : tuple of float
        Mean and standard deviation of the units' latent means, by group.
    log_likelihood : float
    converged : bool
    low, high : int
        Bounds of the scale.
    grid : numpy.ndarray, (points,)
        Latent means at which the posterior is given.
    posterior : numpy.ndarray, (groups, units, points)
        Probability of each latent mean given the unit's ratings; rows sum to 1.
    """

    noise: float
    means: tuple[float, ...]
    spreads: tuple[float, ...]
    log_likelihood: float
    converged: bool
    low: int
    high: int
    grid: FloatArray
    posterior: FloatArray

    def latent_mean(self) -> FloatArray:
        """Posterior mean of each unit's latent mean: (groups, units)."""
        expected: FloatArray = self.posterior @ self.grid
        return expected

    def rating(self, shift: ArrayLike = 0.0) -> FloatArray:
        """Expected rating of each unit after a latent shift of each: (groups, units)."""
        moved = self.grid + np.asarray(shift, dtype=np.float64)[..., None]
        shown = self.high - sum(ndtr((k + 0.5 - moved) / self.noise) for k in range(self.low, self.high))
        expected: FloatArray = (self.posterior * shown).sum(axis=2)
        return expected


def ordered_probit(ratings: ArrayLike, *, low: int, high: int) -> OrderedProbit:
    """Fit an ordered probit with common noise to integer ratings, each unit rated several times.

    Parameters
    ----------
    ratings : array_like, (groups, units, repetitions)
        Integers from low to high; NaN where a repetition is missing. Units of one
        group share a distribution: a pole, its units being the items under every arm.
    low, high : int

    Returns
    -------
    OrderedProbit

    Raises
    ------
    ValueError
        If the shape is another, a rating is no integer within the bounds, or no unit has two ratings: the noise is
        then not separable from the units' spread.

    Notes
    -----
    A repetition r of unit u in group g shows rating k where its latent value lies in (k - 1/2, k + 1/2], the end
    categories being open outwards:

        y*_ur = mu_u + noise e_ur,    mu_u ~ N(m_g, s_g^2),    e_ur ~ N(0, 1).

    The thresholds stand at the half points, so the latent scale is in rating points and has no free unit. noise, m_g
    and s_g maximise the likelihood with mu integrated out on a grid from 3 points below to 3 points above the scale
    (L-BFGS-B; noise and s_g at least 0.05). The distribution of mu is what keeps the latent mean of a unit rated at
    the bound every time finite: it is pulled towards its group, and how far beyond the bound it lies is decided by the
    normal shape, not by data.

    References
    ----------
    McKelvey and Zavoina (1975), doi:10.1080/0022250X.1975.9989847. Liddell and Kruschke (2018),
    doi:10.1016/j.jesp.2018.08.009.

    Examples
    --------
    >>> rng = np.random.default_rng(3)
    >>> latent = rng.normal(3.0, 0.8, size=(1, 200, 1)) + rng.normal(scale=0.4, size=(1, 200, 3))
    >>> fit = ordered_probit(np.clip(np.rint(latent), 1, 5), low=1, high=5)
    >>> round(fit.noise, 1), round(fit.spreads[0], 1), bool(abs(fit.means[0] - latent.mean()) < 0.05)
    (0.4, 0.8, True)
    """
    counts = _counts(np.asarray(ratings, dtype=np.float64), low, high)
    grid = np.linspace(low - BEYOND, high + BEYOND, POINTS)
    start, bounds = _start(counts, low, high)
    found = minimize(
        lambda values: -_log_likelihood(values, counts, grid, low, high).sum(),
        start,
        method="L-BFGS-B",
        bounds=bounds,
    )
    groups = counts.shape[0]
    noise, means, spreads = found.x[0], found.x[1 : groups + 1], found.x[groups + 1 :]
    joint = _joint(found.x, counts, grid, low, high)
    return OrderedProbit(
        noise=float(noise),
        means=tuple(float(m) for m in means),
        spreads=tuple(float(s) for s in spreads),
        log_likelihood=-float(found.fun),
        converged=bool(found.success),
        low=low,
        high=high,
        grid=grid,
        posterior=np.exp(joint - logsumexp(joint, axis=2, keepdims=True)),
    )


def _counts(ratings: FloatArray, low: int, high: int) -> IntArray:
    """How often each unit got each rating: (groups, units, categories)."""
    if ratings.ndim != 3 or 0 in ratings.shape:
        raise ValueError(f"ratings must be groups x units x repetitions, got an array of shape {ratings.shape}")
    given = ratings[np.isfinite(ratings)]
    if not np.isin(given, np.arange(low, high + 1)).all():
        raise ValueError(f"ratings must be integers from {low} to {high}, or NaN where a repetition is missing")
    counts: IntArray = (ratings[..., None] == np.arange(low, high + 1)).sum(axis=2)
    if (counts.sum(axis=2) >= 2).sum() == 0:
        raise ValueError("no unit was rated twice: the noise cannot be told from the spread of the units")
    return counts


def _start(counts: IntArray, low: int, high: int) -> tuple[FloatArray, list[tuple[float, float]]]:
    groups = counts.shape[0]
    totals = counts.sum(axis=1)
    means = totals @ np.arange(low, high + 1) / np.maximum(1, totals.sum(axis=1))
    start = np.concatenate([[0.5], means, np.full(groups, 0.7)])
    bounds = [(LEAST_NOISE, WIDEST)]
    bounds += [(low - BEYOND, high + BEYOND)] * groups + [(LEAST_SPREAD, WIDEST)] * groups
    return start, bounds


def _joint(values: FloatArray, counts: IntArray, grid: FloatArray, low: int, high: int) -> FloatArray:
    """log P(ratings, latent mean on the grid): (groups, units, points)."""
    groups = counts.shape[0]
    noise, means, spreads = values[0], values[1 : groups + 1], values[groups + 1 :]
    edges = np.concatenate([[-np.inf], np.arange(low, high) + 0.5, [np.inf]])
    cumulative = ndtr((edges[:, None] - grid) / noise)
    shown = np.log(np.maximum(np.diff(cumulative, axis=0), 1e-300))
    prior = -0.5 * ((grid - means[:, None]) / spreads[:, None]) ** 2
    prior = prior - logsumexp(prior, axis=1, keepdims=True)
    joint: FloatArray = counts @ shown + prior[:, None, :]
    return joint


def _log_likelihood(values: FloatArray, counts: IntArray, grid: FloatArray, low: int, high: int) -> FloatArray:
    total: FloatArray = logsumexp(_joint(values, counts, grid, low, high), axis=2)
    return total
