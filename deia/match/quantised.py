"""Unit vectors as one signed byte a dimension: what a catalog stores of a passage, and how a query is held against it.

Exact to about .002 of a cosine. Refuses nothing and knows no model: vectors of two models do not compare, and who
stores codes stores the digest of their maker beside them.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt

from deia.match.numerics import np
from deia.records import TYPE_CHECKING

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

WIDEST = 6.0  # standard deviations of a component that a byte can hold; a passage has hardly ever one that is cut
BLOCK = 4096  # codes that are turned into floats at once: what fits the cache


def step(dimensions: int) -> float:
    """Give what one unit of a code is worth: a unit vector's components have a standard deviation of 1/√dimensions."""
    return WIDEST / (127 * sqrt(dimensions))


def quantised(vectors: Floats) -> bytes:
    """Give unit vectors, one a row, as codes one after another."""
    codes: NDArray[np.int8] = np.clip(np.rint(vectors / step(vectors.shape[-1])), -127, 127).astype("i1")
    return codes.tobytes()


def similarities(
    vector: Sequence[float] | Floats, codes: bytes | memoryview, *, numbers: Sequence[int] | None = None
) -> Floats:
    """Give the cosine of a vector with each of those in `codes`, or with those of the given numbers.

    Raises:
        ValueError: `codes` is no whole number of vectors of that many dimensions.
        IndexError: a number is beyond them.
    """
    wanted = np.asarray(vector, "f4")
    rows = np.frombuffer(codes, "i1").reshape(-1, len(wanted))
    if numbers is not None:
        rows = rows[np.asarray(numbers, "i8")]
    wanted = wanted * np.float32(step(len(wanted)))
    found = np.empty(len(rows), "f4")
    for start in range(0, len(rows), BLOCK):
        found[start : start + BLOCK] = rows[start : start + BLOCK].astype("f4") @ wanted
    return found


def middle(codes: bytes | memoryview, dimensions: int) -> Floats:
    """Give the mean of the vectors in `codes`; of none, the zero vector.

    Raises:
        ValueError: `codes` is no whole number of vectors of that many dimensions.
    """
    rows = np.frombuffer(codes, "i1").reshape(-1, dimensions)
    found: Floats = rows.sum(axis=0, dtype="i8").astype("f4") * np.float32(step(dimensions) / max(1, len(rows)))
    return found
