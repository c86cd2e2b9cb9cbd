"""Unit vectors with one signed byte per dimension, and the similarity of a query with them.

Cosines are exact to about .002. Vectors of different models cannot be compared, so whoever stores codes also stores the
digest of the model that made them.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt

from deia.match.numerics import Floats, NDArray, np

WIDEST = 6.0  # standard deviations of a component that a byte covers; larger ones (very rare) are clipped
BLOCK = 4096  # codes converted to floats at a time; fits the CPU cache


def step(dimensions: int) -> float:
    """Return the value of one unit of a code; a unit vector's components have a standard deviation of 1/√dimensions."""
    return WIDEST / (127 * sqrt(dimensions))


def quantised(vectors: Floats) -> bytes:
    """Return unit vectors, one per row, as concatenated codes."""
    codes: NDArray[np.int8] = np.clip(np.rint(vectors / step(vectors.shape[-1])), -127, 127).astype("i1")
    return codes.tobytes()


def similarities(
    vector: Sequence[float] | Floats, codes: bytes | memoryview, *, numbers: Sequence[int] | None = None
) -> Floats:
    """Return the cosine of a vector with every vector in `codes`, or only with those at `numbers`."""
    scaled = np.asarray(vector, "f4")
    rows = np.frombuffer(codes, "i1").reshape(-1, len(scaled))
    if numbers is not None:
        rows = rows[np.asarray(numbers, "i8")]
    scaled = scaled * np.float32(step(len(scaled)))
    cosines = np.empty(len(rows), "f4")
    for start in range(0, len(rows), BLOCK):
        cosines[start : start + BLOCK] = rows[start : start + BLOCK].astype("f4") @ scaled
    return cosines


def middle(codes: bytes | memoryview, dimensions: int) -> Floats:
    """Return the mean of the vectors in `codes`, or the zero vector if there are none."""
    rows = np.frombuffer(codes, "i1").reshape(-1, dimensions)
    mean: Floats = rows.sum(axis=0, dtype="i8").astype("f4") * np.float32(step(dimensions) / max(1, len(rows)))
    return mean
