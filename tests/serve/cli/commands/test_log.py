"""`deia log`: columns that are read at a glance in a terminal of any width."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from deia.serve.cli.commands.log import _lines, cut
from deia.spool import timestamp

if TYPE_CHECKING:
    from deia.fast_json import Json
    from tests.serve.conftest import Deia

EVENTS: list[dict[str, Json]] = [
    {"event": "query", "agent": "cli", "query": "how do I move a site", "matched": "true", "cluster": "x"},
    {"event": "injection", "host": "claude-code", "trigger": "site-delete", "outcome": "held", "because": "c" * 200},
    {"event": "error", "host": "codex", "error": "triggers/new.yaml changed " + "and " * 40, "where": "/home/p/shop"},
]


def lines(width: int) -> list[str]:
    now = time.time()
    stamped = [{"ts": timestamp(now - age), **event} for age, event in zip((7300, 600, 1), EVENTS, strict=True)]
    return list(_lines(stamped, width))


def test_the_columns_stand_below_each_other_and_times_are_relative() -> None:
    shown = lines(80)
    assert [line.split("  ")[0] for line in shown] == ["2 h ago", "10 min ago", "just now"]
    assert {line.index(name) for line, name in zip(shown, ("query", "injection", "error"), strict=True)} == {12}
    assert shown[0].endswith("how do I move a site, true")


def test_a_long_line_keeps_its_beginning_and_its_end() -> None:
    for line in lines(80)[1:]:
        assert len(line) == 80
        assert "…" in line
    assert lines(80)[2].endswith("home/p/shop")
    assert "site-delete, held" in lines(80)[1]


def test_what_feedback_advises_shows_the_ids(deia: Deia) -> None:
    deia("search", "delete a site")
    unknown = deia("feedback", "nope", "noise")
    assert unknown.code == 2
    advised = unknown.err.partition("(deia ")[2].partition(")")[0]
    shown = deia(*advised.split())
    assert shown.code == 0
    assert deia("feedback", json.loads(shown.out.splitlines()[-1])["id"], "useful").code == 0


@given(st.text(), st.integers(1, 60))
def test_what_is_cut_is_as_wide_as_asked(text: str, most: int) -> None:
    assert len(cut(text, most)) == min(len(text), most)
