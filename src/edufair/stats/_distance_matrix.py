"""Distances between rows of vectors: pair by pair, and all against all a block of rows at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, Literal

import numpy as np

from edufair.stats._arrays import FloatArray, blocks

Metric = Literal["cosine", "euclidean"]

NEAR: Final = 1e-6  # squared distance, relative to the vectors' own squares, below which it is taken from differences


def prepared(x: FloatArray, metric: Metric, *, name: str) -> FloatArray:
    """The vectors as the metric needs them: scaled to length 1 for cosine. A zero vector has no direction."""
    if metric == "euclidean":
        return x
    length = np.sqrt((x**2).sum(axis=1))
    if (length == 0).any():
        raise ValueError(f"{name} holds a vector of zeros at row {int(np.argmin(length))}: it has no cosine distance")
    scaled: FloatArray = x / length[:, None]
    return scaled


def row_distances(x: FloatArray, y: FloatArray, metric: Metric) -> FloatArray:
    """The distance of each row of x from the same row of y; both prepared."""
    if metric == "cosine":
        angle: FloatArray = 1 - np.clip((x * y).sum(axis=1), -1, 1)
        return angle
    apart: FloatArray = np.sqrt(((x - y) ** 2).sum(axis=1))
    return apart


def distance_blocks(x: FloatArray, metric: Metric) -> Iterator[tuple[slice, FloatArray]]:
    """Rows of the matrix of distances among prepared vectors, a block at a time; zero on the diagonal."""
    start = 0
    for size in blocks(len(x), len(x)):
        rows = slice(start, start + size)
        block = _against_all(x, rows, metric)
        block[np.arange(size), np.arange(start, start + size)] = 0.0
        yield rows, block
        start += size


def _against_all(x: FloatArray, rows: slice, metric: Metric) -> FloatArray:
    products = x[rows] @ x.T
    if metric == "cosine":
        return 1 - np.clip(products, -1, 1)
    squares = (x**2).sum(axis=1)
    scale = squares[rows, None] + squares
    apart: FloatArray = np.maximum(scale - 2 * products, 0.0)
    near_row, near_column = np.nonzero(apart < NEAR * scale)  # the difference of large numbers says nothing here
    for start in range(0, len(near_row), 1000):
        i, j = near_row[start : start + 1000], near_column[start : start + 1000]
        apart[i, j] = ((x[rows][i] - x[j]) ** 2).sum(axis=1)
    return np.sqrt(apart)
