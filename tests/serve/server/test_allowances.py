"""What somebody may ask in a minute, and when to come back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deia.serve.server.allowances import LimitError, Meter
from deia.serve.server.users import UNLIMITED, Allowance, Limited


class Clock:
    """A clock that a test sets."""

    now = 100.0

    def __call__(self) -> float:
        """Give the time."""
        return self.now


def test_more_requests_than_allowed_are_refused_until_the_time_that_is_said() -> None:
    clock = Clock()
    meter = Meter(Allowance(requests=6), clock=clock)
    for _ in range(6):
        meter.admit()
    with pytest.raises(LimitError, match=r"at most 6 requests a minute are answered\. Come back in 10 s") as caught:
        meter.admit()
    clock.now += caught.value.seconds
    meter.admit()


def test_an_answer_that_went_beyond_is_made_up_for() -> None:
    clock = Clock()
    meter = Meter(Allowance(requests=0, sub_questions=60, tokens=0), clock=clock)
    meter.admit()
    meter.charge(sub_questions=1_000)
    with pytest.raises(LimitError, match="60 sub-questions") as caught:
        meter.admit()
    assert caught.value.seconds == 61
    clock.now += 61
    meter.admit()


def test_a_collection_has_a_measure_of_its_own() -> None:
    meter = Meter(UNLIMITED, [Limited(collection="library:red", allowance=Allowance(requests=1))], clock=Clock())
    meter.admit(["library:red"])
    meter.admit(["library:blue"])
    with pytest.raises(LimitError, match="at most 1 requests"):
        meter.admit(["library:blue", "library:red"])


@given(st.lists(st.tuples(st.floats(0, 30), st.integers(0, 500)), max_size=40))
def test_over_any_time_no_more_is_admitted_than_the_measure(steps: list[tuple[float, int]]) -> None:
    clock, admitted, waits = Clock(), 0, []
    meter = Meter(Allowance(requests=10, sub_questions=0, tokens=0), clock=clock)
    for wait, tries in steps:
        clock.now += wait
        for _ in range(tries):
            try:
                meter.admit()
            except LimitError as error:
                waits.append(error.seconds)
                break
            admitted += 1
    assert all(0 < wait <= 60 for wait in waits)
    assert admitted <= 10 + (clock.now - 100.0) * 10 / 60 + 1e-6
