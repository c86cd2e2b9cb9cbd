"""Lines that differ are shown as difflib shows them, and long texts are not compared."""

from __future__ import annotations

import difflib

from hypothesis import given
from hypothesis import strategies as st

from deia.learn.line_diff import CLOSE, line_diff

LINES = st.lists(st.sampled_from(["a", "b", "@@ -1 +1 @@", ""]), max_size=40).map("\n".join)


@given(LINES, LINES, LINES)
def test_a_text_becomes_the_other_by_its_diff(head: str, old: str, new: str) -> None:
    before, after = f"{head}\n{old}", f"{head}\n{new}"
    lines = line_diff("p", before, after)
    assert bool(lines) == (before != after)
    lost, gained = ([line for line in lines[2:] if line[:1] == sign] for sign in "-+")
    assert len(after.split("\n")) - len(before.split("\n")) == len(gained) - len(lost)


def test_lines_are_counted_from_the_begin_of_the_text() -> None:
    old = "\n".join(map(str, range(50)))
    new = old.replace("\n40\n", "\nforty\n").replace("\n30\n", "\nthirty\n")
    whole = difflib.unified_diff(old.split("\n"), new.split("\n"), "p", "p", lineterm="", n=2)
    assert line_diff("p", old, new) == list(whole)


def test_what_is_too_long_says_so() -> None:
    old, new = ("\n".join(f"{name}{n}" for n in range(CLOSE + 10)) for name in "ab")
    assert line_diff("p", old, new) == ["p: too long to compare: 2,010 lines become 2,010"]
