"""Whatever two files are, the steps between them lead from one to the other, and small changes take small steps."""

from __future__ import annotations

import random
from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as some

from deia.compile.replicas.patches import patched, plain, restored, steps
from deia.compile.replicas.version import ReplicaError


def made(old: bytes, new: bytes) -> tuple[bytes, int]:
    """Return what the steps from one to the other come to, and how many bytes they bring."""
    parts = list(steps(memoryview(old), memoryview(new)))
    added = b"".join(bytes(part) for part in parts if not isinstance(part, tuple))
    plan = [part if isinstance(part, tuple) else len(part) for part in parts]
    return b"".join(patched(memoryview(old), plan, memoryview(added))), len(added)


@given(some.binary(max_size=400), some.binary(max_size=400))
def test_steps_lead_from_any_file_to_any_other(old: bytes, new: bytes) -> None:
    assert made(old, new)[0] == new
    assert made(old + new, new + old)[0] == new + old


@given(some.lists(some.tuples(some.integers(0, 4000), some.integers(0, 60), some.binary(max_size=60)), max_size=5))
def test_a_few_changes_bring_few_bytes(changes: list[tuple[int, int, bytes]]) -> None:
    old = random.Random(1).randbytes(4000)  # noqa: S311 - no secret
    new = old
    for at, removed, added in changes:
        new = new[:at] + added + new[at + removed :]
    result, brought = made(old, new)
    assert result == new
    assert brought <= sum(len(added) + 50 for _, _, added in changes)


def test_a_large_file_that_is_another_one_is_found_to_be_so_in_time() -> None:
    chance = random.Random(1)  # noqa: S311 - no secret
    old, new = chance.randbytes(20_000_000), chance.randbytes(20_000_000)
    assert made(old, new) == (new, len(new))


@pytest.mark.parametrize("name", ["static.starts", "documents.at", "other"])
@given(numbers=some.lists(some.integers(0, 2**32 - 1), max_size=50))
def test_numbers_come_back_as_they_were(name: str, numbers: list[int]) -> None:
    for data in (array("Q", numbers).tobytes(), array("Q", numbers).tobytes() + b"x"):
        assert restored(name, bytes(plain(name, memoryview(data)))) == data


def test_numbers_that_all_grew_are_a_small_change() -> None:
    before = array("Q", [number * 3_000 + at for number in range(100_000) for at in (0, 40, 3_000)])
    after = array("Q", [number + 3 * (at > 1000) for at, number in enumerate(before)])
    old, new = (bytes(plain("documents.at", memoryview(numbers.tobytes()))) for numbers in (before, after))
    assert made(old, new)[1] < 60


@pytest.mark.parametrize("plan", [[(0, 9)], [(-1, 2)], [5], [(0, -1)], [1, (3, 2)]])
def test_a_plan_that_does_not_fit_is_refused(plan: list[int | tuple[int, int]]) -> None:
    with pytest.raises(ReplicaError, match="does not fit"):
        b"".join(patched(memoryview(b"abcd"), plan, memoryview(b"ef")))
