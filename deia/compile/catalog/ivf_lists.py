"""Sort the passages of a large catalog into lists of those that mean the like, as `deia.match.ivf` reads them.

The middles are found by k-means on a sample; the same vectors give the same lists on one machine. Where few documents
changed the middles stay, and only new passages are sorted in. It refuses to write lists for a catalog that is scanned
as fast.
"""

from __future__ import annotations

from collections.abc import Callable
from math import isqrt
from typing import Any, NamedTuple

from deia.match.ivf import GROUPED, LISTS, Lists
from deia.match.numerics import np
from deia.match.static_vectors import MIDDLE, SCALE
from deia.records import TYPE_CHECKING

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]
    Bytes = NDArray[np.uint8]
    Numbers = NDArray[np.uint32]

LISTED_FROM = 50_000  # passages; fewer are scanned in a millisecond, or 8 ms without numpy
SAMPLE = 64  # passages for each list, of which its middle is made
ROUNDS = 8
SEED = 20
MOST_LISTS = 4_096  # what a question compares its vector with in 6 ms without numpy
SMALLEST = np.float32(1e-9)
TOGETHER = 8_192  # passages sorted in at once


UNSORTED = 0xFFFFFFFF


class Sorted(NamedTuple):
    """The middles of an earlier catalog's lists, as stored, and in which list each passage is; new ones in none."""

    middles: Bytes
    lists: Numbers


def earlier(lists: Lists, dimensions: int) -> Sorted:
    """Give what an earlier catalog's passages were sorted into."""
    members = list(lists.members())
    found = np.full(sum(map(len, members)), UNSORTED, np.uint32)
    for number, each in enumerate(members):
        found[each] = number
    return Sorted(np.frombuffer(lists.middles, "u1").reshape(-1, dimensions), found)


def write_lists(
    place: str, codes: Bytes, signs: Bytes, floats: Callable[[Bytes], Floats], *, known: Sorted | None
) -> None:
    """Write the lists of a tier whose codes and signs are given, a passage a row, into files whose names begin so.

    `floats` reads codes; `known` is what an earlier catalog made of the passages that are still here.
    """
    if len(codes) <= LISTED_FROM:
        return
    if known is None or 2 * len(known.middles) < isqrt(len(codes)):
        known = Sorted(_middles(codes, floats), np.full(len(codes), UNSORTED, np.uint32))
    wanted = _floats_of(known.middles)
    new = np.nonzero(known.lists == UNSORTED)[0]
    for start in range(0, len(new), TOGETHER):
        some = new[start : start + TOGETHER]
        known.lists[some] = _nearest(floats(codes[some]), wanted)
    order = np.argsort(known.lists.astype(np.uint16), kind="stable").astype(np.uint32)  # of 16 bits in linear time
    counts = np.bincount(known.lists, minlength=len(known.middles))
    starts = np.concatenate(([0], np.cumsum(counts))).astype(np.uint32)
    header = np.array([len(known.middles), len(codes)], np.uint32)
    _write(f"{place}.{LISTS}", header, starts, order, known.middles)
    _write(f"{place}.{GROUPED}", signs[order])


def _middles(codes: Bytes, floats: Callable[[Bytes], Floats]) -> Bytes:
    """Find the middles by k-means over directions, from an even sample, and give them as they are stored."""
    count = min(isqrt(len(codes)), MOST_LISTS)
    sample = floats(codes[np.linspace(0, len(codes) - 1, count * SAMPLE).astype(np.int64)])
    made = sample[np.random.default_rng(SEED).permutation(len(sample))[:count]]
    for _ in range(ROUNDS):
        lists = _nearest(sample, made)
        order = np.argsort(lists, kind="stable")
        begun, first = np.unique(lists[order], return_index=True)
        made[begun] = np.add.reduceat(sample[order], first)  # a list that nobody is in keeps its middle
        made /= np.maximum(np.sqrt(np.einsum("ij,ij->i", made, made)), SMALLEST)[:, None]
    stored: Bytes = np.clip(np.rint(made * SCALE) + MIDDLE, 1, 255).astype("u1")
    return stored


def _nearest(rows: Floats, middles: Floats) -> NDArray[np.intp]:
    found = [(rows[start : start + TOGETHER] @ middles.T).argmax(1) for start in range(0, len(rows), TOGETHER)]
    return np.concatenate(found)


def _floats_of(stored: Bytes) -> Floats:
    return stored.astype("f4") - np.float32(MIDDLE)


def _write(path: str, *parts: NDArray[Any]) -> None:
    with open(path, "wb") as file:
        file.writelines(part.tobytes() for part in parts)
