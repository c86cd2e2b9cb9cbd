"""Many changes of an index at once, line by line: the wanted values are set, and nothing else changes."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deia.commons.source_files import yaml_blocks
from deia.commons.source_files.yaml_lines import add_items, replace_values
from deia.commons.source_files.yaml_reader import plain, read_yaml
from deia.fast_json import Json

INDEX = """\
# ours
version: "1.0"   # stays
total: 2
clusters:
  all:
    documents:
      # first of all
      - id: a
        title: 'A: quoted'

      - id: b   # b
        keywords: [x, y]
  # what comes next
  rest:
    documents: []
views:
  aws:
    - a   # said by hand
    - b
  git: [a, b]
  none: {}
"""
LIST = ("clusters", "all", "documents")
NAMES = st.text(alphabet="ab: #-'\"\\{}[]é1\n", min_size=1, max_size=8)


def said(text: str) -> Any:
    """Return the content of a text, which must have no problems."""
    read = read_yaml(text, path="x.yaml")
    assert not read.problems
    return plain(read.value)


def replaced(_: Any, new: Any) -> Any:
    """Return the new value instead of the old one."""
    return yaml_blocks.style(new)


def test_an_entry_is_put_below_the_last_and_all_else_stays() -> None:
    made = add_items(INDEX, LIST, [{"id": "c", "tags": ["one"], "title": "yes"}])
    new = '      - id: c\n        tags: [one]\n        title: "yes"\n'
    assert made == INDEX.replace("  # what comes next", f"{new}  # what comes next")


def test_views_and_counts_change_by_their_lines_alone() -> None:
    views: Json = {"aws": ["new", "a", "b"], "git": ["a"], "none": {}, "zsh": {"docs": ["b"]}}
    made = replace_values(INDEX, {("total",): 3, ("views",): views}, replaced)
    assert made is not None
    assert made.splitlines() == [
        *INDEX.replace("total: 2", "total: 3").splitlines()[:16],
        "  aws:", "    - new", "    - a   # said by hand", "    - b", "  git: [a]", "  none: {}",
        "  zsh:", "    docs: [b]",
    ]  # fmt: skip
    assert said(made) == {**said(INDEX), "total": 3, "views": views}


@pytest.mark.parametrize(
    ("text", "path"),
    [
        (INDEX, ("clusters", "rest", "documents")),
        ("a: [{id: x}]\n", ("a",)),
        ("a: {b: [{id: x}]}\n", ("a", "b")),
        ("a:\n- id: x\n- - y\n", ("a",)),
        ("a:\n  - id: |+\n      kept\n\nb: 1\n", ("a",)),
    ],
)
def test_what_lines_do_not_tell_is_left_to_others(text: str, path: tuple[str, ...]) -> None:
    made = add_items(text, path, [{"id": "new"}])
    assert made is None or said(made) != said(text)


@given(st.lists(st.tuples(NAMES, st.lists(NAMES, max_size=3)), min_size=1, max_size=5), NAMES, st.booleans())
@settings(max_examples=60, deadline=None)
def test_whatever_entries_say_the_old_lines_stay_and_the_new_one_is_read_back(
    held: list[tuple[str, list[str]]],
    title: str,
    indented: bool,  # noqa: FBT001 - from hypothesis
) -> None:
    entries = [{"id": f"e{number}", "title": name, "tags": tags} for number, (name, tags) in enumerate(held)]
    block = yaml_blocks.to_yaml({"list": entries}, like="" if indented else "x:\n- y\n")
    text = f"top: 1  # one\n{block}# end\nlast: x\n"
    made = add_items(text, ("list",), [{"id": "new", "title": title}])
    if made is None:  # control characters are written as spaces, so that the title does not come back
        assert title != yaml_blocks.style(title)
        return
    assert said(made)["list"] == [*said(text)["list"], {"id": "new", "title": title}]
    rest = iter(made.split("\n"))
    assert all(line in rest for line in text.split("\n"))


@given(
    st.dictionaries(st.sampled_from("abcd"), st.lists(st.sampled_from(["x1", "y", "no", "7"]), max_size=4), max_size=4),
    st.dictionaries(st.sampled_from("abcd"), st.lists(st.sampled_from(["x1", "y", "no", "7"]), max_size=4), max_size=4),
)
@settings(max_examples=60, deadline=None)
def test_any_view_becomes_any_other(old: dict[str, list[str]], new: dict[str, list[str]]) -> None:
    lines = [f"  {name}:{''.join(f'{chr(10)}    - {yaml_blocks.to_yaml({0: one})[3:-1]}' for one in ids) or ' []'}"
             for name, ids in old.items()]  # fmt: skip
    text = "\n".join(["# top", "views:" if lines else "views: {}", *lines, "end: 1  # stays", ""])
    assert said(text)["views"] == old
    made = replace_values(text, {("views",): new}, replaced)
    assert made is not None
    assert said(made) == {"views": new, "end": 1}
    assert made.startswith("# top\nviews:")
    assert made.endswith("end: 1  # stays\n")
