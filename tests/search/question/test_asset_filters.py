"""The names of time frames: a week, a month and a year have all of their days at either end."""

from __future__ import annotations

import time

import pytest

from deia.knowledge import Query
from deia.search.question.asset_filters import in_days

MONDAY, SUNDAY = 23, 29  # of November 2026


@pytest.mark.parametrize("day", range(MONDAY, SUNDAY + 1))
def test_this_week_is_from_monday_to_sunday_on_each_of_its_days(day: int) -> None:
    noon = time.mktime((2026, 11, day, 12, 0, 0, 0, 0, -1))
    framed = in_days(Query(text="", since="this week", until="this-week"), noon)
    assert (framed.since, framed.until) == ("2026-11-23", "2026-11-29")


def test_other_names_are_the_same_day_month_or_year_at_either_end() -> None:
    noon = time.mktime((2026, 11, SUNDAY, 12, 0, 0, 0, 0, -1))
    expected = {"today": "2026-11-29", "yesterday": "2026-11-28", "this-month": "2026-11", "7d": "2026-11-22"}
    for name, day in expected.items():
        framed = in_days(Query(text="", since=name, until=name), noon)
        assert (framed.since, framed.until) == (day, day)
