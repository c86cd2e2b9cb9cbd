"""Concepts are read from the index with errors by line, and are written back unchanged."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deia.commons.index.read_index import parse_index
from deia.commons.source_files.yaml_reader import read_yaml
from deia.commons.write.index_store import build

if TYPE_CHECKING:
    from pathlib import Path

    from deia.commons.index.index_records import Index

INDEX = """\
version: "1.0"
clusters: {}
# what we call things
concepts:
  k8s: [kubernetes, kube]   # said by operators
  hpa: horizontal pod autoscaler
"""


def read(text: str) -> Index:
    return parse_index(read_yaml(text, path="commons_index.yaml").value, path="commons_index.yaml")


def test_concepts_are_read_with_their_lines() -> None:
    index = read(INDEX)
    assert not index.problems
    assert [(concept.words, concept.line) for concept in index.concepts] == [
        (("k8s", "kubernetes", "kube"), 5),
        (("hpa", "horizontal pod autoscaler"), 6),
    ]


@pytest.mark.parametrize(
    ("written", "line", "code"),
    [
        ("concepts: [k8s]", 2, "wrong-type"),
        ("concepts:\n  k8s: {kube: 1}", 3, "wrong-type"),
        ("concepts:\n  k8s: [[kube]]", 3, "wrong-type"),
        ("concepts:\n  k8s:", 3, "bad-concept"),
        ("concepts:\n  k8s: [k8s]", 3, "bad-concept"),
        ("concepts:\n  db: [the place where all of our data lives]", 3, "bad-concept"),
    ],
)
def test_a_broken_concept_is_a_problem_with_its_line_and_is_left_out(written: str, line: int, code: str) -> None:
    index = read(f"clusters: {{}}\n{written}\n")
    assert (index.problems[0].line, index.problems[0].code) == (line, code)
    assert index.concepts == ()


def test_concepts_and_their_comments_stay_when_the_index_is_written(tmp_path: Path) -> None:
    (tmp_path / "bok").mkdir()
    (tmp_path / "bok" / "lesson.md").write_text("# A lesson\n\nRead.\n", encoding="utf-8")
    (tmp_path / "commons_index.yaml").write_text(INDEX, encoding="utf-8")
    written = build(str(tmp_path), write=True, today="2026-11-20")
    assert INDEX.partition("clusters: {}\n")[2] in written
    assert "lesson" in written


@pytest.mark.slow
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=20), lambda each: st.lists(each, max_size=3)
    )
)
@settings(max_examples=60, deadline=None)
def test_anything_may_stand_where_concepts_are_wanted(value: object) -> None:
    read(f"clusters: {{}}\nconcepts: {{a: {value!r}}}\n")
