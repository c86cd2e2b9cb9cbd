"""What lies in a bucket is read with care: nothing that anybody writes there breaks the reader."""

from __future__ import annotations

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as some

from deia.compile.replicas.version import ReplicaError, read_head, read_listing

PLAIN = some.none() | some.booleans() | some.floats() | some.integers() | some.text(max_size=5)
ANYTHING = some.recursive(PLAIN, lambda inner: some.lists(inner, max_size=3) | some.dictionaries(some.text(), inner))
DIGEST = "0" * 40


@pytest.mark.parametrize("size", ["Infinity", "NaN", "-1", "1.5", "true", '"1"', "null", "1e999"])
def test_a_listing_with_a_size_that_is_none_is_refused(size: str) -> None:
    with pytest.raises(ReplicaError):
        read_listing(f'{{"a": [{size}, "{DIGEST}", []]}}'.encode())


@given(ANYTHING, ANYTHING, ANYTHING)
def test_no_listing_and_no_head_raises_anything_else(first: object, second: object, third: object) -> None:
    with suppress(ReplicaError):
        read_listing(json.dumps({"a": [first, second, third]}).encode())
    with suppress(ReplicaError):
        read_head(json.dumps({"head": {"sequence": first, "name": second, "state": third}}).encode())
    with suppress(ReplicaError):
        read_head(json.dumps({"head": first, "signature": second}).encode())
