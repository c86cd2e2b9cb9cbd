"""Golden questions are read from their file and from query patterns, and every error is reported."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deia.commons.index.golden_queries import golden_patterns, load_golden, read_golden
from deia.commons.index.index_records import QueryPattern

FILE = """\
- query: how do I delete a site
  documents: {site-checklist: 3, dns: 1}
- query: "moving: a site"
  documents: [dns]
- query: how do I bake bread
  nothing: true
"""


def test_questions_are_read_with_their_grades() -> None:
    found = read_golden(FILE)
    assert found.problems == ()
    assert [(each.query, dict(each.grades)) for each in found.questions] == [
        ("how do I delete a site", {"site-checklist": 3, "dns": 1}),
        ("moving: a site", {"dns": 1}),
        ("how do I bake bread", {}),
    ]
    assert [each.line for each in found.questions] == [1, 3, 5]


@pytest.mark.parametrize(
    ("text", "code", "line"),
    [
        ("query: x\n", "wrong-type", 1),
        ("- just a text\n", "wrong-type", 1),
        ("- documents: [a]\n", "missing-field", 1),
        ("- query: x\n", "bad-golden", 1),
        ("- query: x\n  documents: [a]\n  nothing: true\n", "bad-golden", 1),
        ("- query: x\n  documents: {a: many}\n", "bad-golden", 2),
        ("- query: x\n  documents: {a: 0}\n", "bad-golden", 2),
        ("- query: x\n  documents: [a]\n  wants: b\n", "unknown-field", 3),
        ("- query: x\n  documents: [a, {b: c}]\n", "wrong-type", 2),
    ],
)
def test_what_is_wrong_is_told_with_its_line_and_the_rest_counts(text: str, code: str, line: int) -> None:
    found = read_golden(text)
    assert (code, line) in {(problem.code, problem.line) for problem in found.problems}
    if text.startswith("- "):
        assert len(read_golden(text + "- query: y\n  documents: [a]\n").questions) == 1


def test_a_file_that_is_not_there_has_no_questions(tmp_path: Path) -> None:
    assert load_golden(str(tmp_path)).questions == ()
    assert load_golden(str(tmp_path)).problems == ()


def test_a_link_out_of_the_commons_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "elsewhere.yaml").write_text(FILE)
    root = tmp_path / "commons"
    root.mkdir()
    (root / "golden.yaml").symlink_to(tmp_path / "elsewhere.yaml")
    found = load_golden(str(root))
    assert found.questions == ()
    assert [problem.code for problem in found.problems] == ["path-leaves-commons"]


def test_every_wording_of_a_pattern_is_a_question() -> None:
    patterns = [
        QueryPattern(natural_language=("a", "b"), common_docs=("d",)),
        QueryPattern(natural_language=("without documents",)),
    ]
    assert [(each.query, dict(each.grades)) for each in golden_patterns(patterns)] == [("a", {"d": 1}), ("b", {"d": 1})]


@given(st.text(max_size=80) | st.text("- query:documents[]{}\n true,a0", max_size=80))
@settings(max_examples=100)
def test_any_text_is_read_without_an_exception(text: str) -> None:
    found = read_golden(text)
    assert all(each.query for each in found.questions)
