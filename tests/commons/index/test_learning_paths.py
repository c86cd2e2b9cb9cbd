"""Learning paths are read with errors by line, merged by audience, and never name documents that are not offered."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deia.commons.checks import lint
from deia.commons.index.index_parts import first_per_audience, restrict_paths
from deia.commons.index.index_records import LearningPath, Step
from deia.commons.index.read_index import parse_index
from deia.commons.source_files.yaml_reader import read_yaml
from deia.commons.write.index_store import build

if TYPE_CHECKING:
    from pathlib import Path

    from deia.commons.index.index_records import Index

INDEX = """\
version: "1.0"
clusters:
  git:
    documents:
      - {id: one, path: bok/one.md, title: One, summary: First., keywords: [one], audience: [operator]}
# in this order
learning_paths:
  operator:
    - {id: one, why: It comes first.}
    - gone   # was renamed
"""


def read(text: str) -> Index:
    """Read the text of an index."""
    return parse_index(read_yaml(text, path="commons_index.yaml").value, path="commons_index.yaml")


def test_a_path_is_read_in_its_order_with_reasons() -> None:
    (path,) = read(INDEX).learning_paths
    assert (path.audience, path.line) == ("operator", 8)
    assert [(step.document, step.why, step.line) for step in path.steps] == [
        ("one", "It comes first.", 9),
        ("gone", "", 10),
    ]


@pytest.mark.parametrize(
    ("text", "line", "code"),
    [
        ("learning_paths: [one]", 2, "wrong-type"),
        ("learning_paths:\n  operator: one", 3, "wrong-type"),
        ("learning_paths:\n  operator:\n    - [one]", 4, "wrong-type"),
        ("learning_paths:\n  operator:\n    - {why: no reason}", 4, "missing-field"),
        ("learning_paths:\n  operator:\n    - {id: a, wy: b}", 4, "unknown-field"),
        ("learning_paths:\n  operator:\n    - a\n    - {id: a}", 5, "duplicate-id"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(text: str, line: int, code: str) -> None:
    problems = read(f"clusters: {{}}\n{text}\n").problems
    assert [(problem.line, problem.code) for problem in problems] == [(line, code)]


def test_a_step_that_names_no_document_is_reported_and_the_text_stays(tmp_path: Path) -> None:
    (tmp_path / "bok").mkdir()
    (tmp_path / "bok" / "one.md").write_text("# One\n\nText.\n", encoding="utf-8")
    (tmp_path / "commons_index.yaml").write_text(INDEX, encoding="utf-8")
    problems = lint(str(tmp_path), starter=False)
    assert [(problem.line, problem.code) for problem in problems if "learning path" in problem.found] == [
        (10, "unknown-document")
    ]
    (tmp_path / "commons_index.yaml").write_text(INDEX.replace("    - gone   # was renamed\n", ""), encoding="utf-8")
    build(str(tmp_path), write=True)
    written = (tmp_path / "commons_index.yaml").read_text(encoding="utf-8")
    assert "# in this order\nlearning_paths:\n  operator:\n    - {id: one, why: It comes first.}\n" in written


def test_of_one_audience_the_highest_layers_path_counts() -> None:
    own = LearningPath(audience="Operator", steps=(Step(document="mine"),))
    below = [LearningPath(audience=name, steps=(Step(document="theirs"),)) for name in ("operator", "lead")]
    assert first_per_audience([own, *below]) == (own, below[1])


def test_a_part_of_a_commons_names_no_step_outside_it() -> None:
    paths = [
        LearningPath(audience="operator", steps=(Step(document="kept"), Step(document="secret"))),
        LearningPath(audience="lead", steps=(Step(document="secret"),)),
    ]
    (left,) = restrict_paths(paths, {"kept"})
    assert (left.audience, [step.document for step in left.steps]) == ("operator", ["kept"])


@settings(max_examples=60, deadline=None)
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=8),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
        max_leaves=8,
    )
)
def test_nothing_that_stands_there_raises(value: object) -> None:
    top = read_yaml(f"clusters: {{}}\nlearning_paths: {_flow(value)}\n", path="commons_index.yaml").value
    for path in parse_index(top, path="commons_index.yaml").learning_paths:
        assert path.steps


def _flow(value: object) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_flow(key)}: {_flow(each)}" for key, each in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_flow, value)) + "]"
    return '"' + "".join(c if c.isalnum() and c.isascii() else "_" for c in str(value)) + '"'
