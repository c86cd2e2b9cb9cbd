"""The page with the stopwatch has the ways that the script goes, each within its limit."""

from __future__ import annotations

import re

from first_week import LIMIT, WAYS

from tests.paths import ROOT


def test_the_page_shows_every_way_and_each_takes_less_than_two_minutes() -> None:
    page = (ROOT / "docs/FIRST_WEEK.md").read_text(encoding="utf-8")
    parts = dict(re.findall(r"^## ([^\n]*)\n\n```text\n(.*?)^```$", page, re.MULTILINE | re.DOTALL))
    assert list(parts) == list(WAYS)
    for lines in parts.values():
        seconds = [float(text) for text in re.findall(r"^ *([\d.]+) s", lines, re.MULTILINE)]
        assert 0 < seconds[-1] < LIMIT
        assert abs(sum(seconds[:-1]) - seconds[-1]) < 0.3
