"""The counts of a server in the format of Prometheus."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from deia.serve.server.metrics import Metrics

LINE = re.compile(
    r'(# (HELP|TYPE) [a-z_]+ .+|[a-z_]+(\{[a-z]+="(\\.|[^"\\\n])*"(,[a-z]+="(\\.|[^"\\\n])*")*\})? [0-9.e+-]+)'
)


def test_what_was_answered_is_counted_by_kind_outcome_and_user() -> None:
    metrics = Metrics()
    for outcome in ("ok", "ok", "refused"):
        metrics.add("deia_asked_total", kind="tool", outcome=outcome, user="anna")
    metrics.observe("tool", 0.02)
    text = metrics.text({"deia_ready": 1.0})
    assert 'deia_asked_total{kind="tool",outcome="ok",user="anna"} 2' in text
    assert 'deia_seconds_bucket{kind="tool",le="0.01"} 0' in text
    assert 'deia_seconds_bucket{kind="tool",le="+Inf"} 1' in text
    assert "deia_ready 1\n" in text


@given(st.lists(st.text(max_size=30), max_size=20))
def test_every_line_has_the_form_of_the_format(names: list[str]) -> None:
    metrics = Metrics()
    for name in names:
        metrics.add("deia_asked_total", kind=name, outcome="ok", user=name)
        metrics.observe(name, 0.5)
    text = metrics.text()
    assert text.endswith("\n")
    assert [line for line in text[:-1].split("\n") if not LINE.fullmatch(line)] == []
