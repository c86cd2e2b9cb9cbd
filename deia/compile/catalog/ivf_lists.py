"""Sort the passages of a large catalog into lists of similar meaning (an IVF index), as `deia.match.ivf` reads them.

The centroids come from k-means on a sample; on one machine, the same vectors give the same lists. In an incremental
compile the centroids stay, and only new passages are assigned to lists. Small catalogs have no lists, because scanning
them is as fast.
"""

from __future__ import annotations

from collections.abc import Callable
from math import isqrt
from typing import NamedTuple

from deia.match.ivf import GROUPED, LISTS, Lists
from deia.match.numerics import Floats, NDArray, np
from deia.match.static_vectors import MIDDLE, SCALE
from deia.records import TYPE_CHECKING

if TYPE_CHECKING:
    Bytes = NDArray[np.uint8]
    Numbers = NDArray[np.uint32]

LISTED_FROM = 50_000  # passages; fewer are scanned in a millisecond, or 8 ms without numpy
SAMPLE = 64  # passages per list from which its centroid is computed
ROUNDS = 8
SEED = 20
MOST_LISTS = 4_096  # without numpy, comparing a query with so many centroids takes 6 ms
SMALLEST = 1e-9
BATCH = 8_192  # passages assigned at once
UNSORTED = 0xFFFFFFFF


class Assignment(NamedTuple):
    """The centroids of an earlier catalog's lists, as stored, and the list of each passage (`UNSORTED` if new)."""

    centroids: Bytes
    lists: Numbers


def stored_assignment(lists: Lists, dimensions: int) -> Assignment:
    """Return how the passages of an earlier catalog were assigned to lists."""
    members = list(lists.members())
    numbers = np.full(sum(map(len, members)), UNSORTED, np.uint32)
    for number, passages in enumerate(members):
        numbers[passages] = number
    return Assignment(np.frombuffer(lists.middles, "u1").reshape(-1, dimensions), numbers)


def write_lists(
    place: str, codes: Bytes, signs: Bytes, floats: Callable[[Bytes], Floats], *, known: Assignment | None
) -> None:
    """Write the lists of a tier into files whose names begin with `place`; `codes` and `signs` have a row per passage.

    `floats` decodes codes; `known` is the assignment of the passages that an earlier catalog already had.
    """
    if len(codes) <= LISTED_FROM:
        return
    if known is None or 2 * len(known.centroids) < isqrt(len(codes)):
        known = Assignment(_centroids(codes, floats), np.full(len(codes), UNSORTED, np.uint32))
    centroids = known.centroids.astype("f4") - np.float32(MIDDLE)
    new = np.nonzero(known.lists == UNSORTED)[0]
    for start in range(0, len(new), BATCH):
        batch = new[start : start + BATCH]
        known.lists[batch] = _nearest(floats(codes[batch]), centroids)
    order = np.argsort(known.lists.astype(np.uint16), kind="stable").astype(np.uint32)  # 16 bits sort in linear time
    counts = np.bincount(known.lists, minlength=len(known.centroids))
    starts = np.concatenate(([0], np.cumsum(counts))).astype(np.uint32)
    header = np.array([len(known.centroids), len(codes)], np.uint32)
    _write(f"{place}.{LISTS}", header, starts, order, known.centroids)
    _write(f"{place}.{GROUPED}", signs[order])


def _centroids(codes: Bytes, floats: Callable[[Bytes], Floats]) -> Bytes:
    """Return the centroids, as they are stored, of spherical k-means on an evenly spaced sample."""
    count = min(isqrt(len(codes)), MOST_LISTS)
    sample = floats(codes[np.linspace(0, len(codes) - 1, count * SAMPLE).astype(np.int64)])
    centroids = sample[np.random.default_rng(SEED).permutation(len(sample))[:count]]
    for _ in range(ROUNDS):
        lists = _nearest(sample, centroids)
        order = np.argsort(lists, kind="stable")
        used, first = np.unique(lists[order], return_index=True)
        centroids[used] = np.add.reduceat(sample[order], first)  # an empty list keeps its centroid
        centroids /= np.maximum(np.sqrt(np.einsum("ij,ij->i", centroids, centroids)), SMALLEST)[:, None]
    stored: Bytes = np.clip(np.rint(centroids * SCALE) + MIDDLE, 1, 255).astype("u1")
    return stored


def _nearest(rows: Floats, centroids: Floats) -> NDArray[np.intp]:
    numbers = [(rows[start : start + BATCH] @ centroids.T).argmax(1) for start in range(0, len(rows), BATCH)]
    return np.concatenate(numbers)


def _write(path: str, *parts: NDArray[np.generic]) -> None:
    with open(path, "wb") as file:
        file.writelines(part.tobytes() for part in parts)
