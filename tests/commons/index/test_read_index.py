"""Every known shape of an index is read into entries and clusters; an unknown one is described."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deia.commons.index.read_index import load_index, parse_index, read_json
from deia.commons.source_files.yaml_reader import read_yaml

if TYPE_CHECKING:
    from pathlib import Path

    from tests.commons.conftest import Write

V1 = """\
version: "1.0"
last_updated: 2026-11-20
clusters:
  safety:
    description: Keeping production up
    keywords: [production, outage]
    documents:
      - id: nuclear
        path: bok/processes/nuclear.md
        title: Nuclear option
        summary: Recover everything.
        keywords: [netlify, 404, 3.10]
        urgency: critical
        platform: [netlify, hugo]
        recurrence_count: 20+
        user_quotes: ["why"]
      - dns
    related_clusters: [names]
  names:
    description: Names
    notes: more to come
    documents:
      - {id: dns, path: bok\\dns.md, title: DNS, summary: s, keywords: [dns], platform: netlify}
      - nuclear
query_patterns:
  - query_keywords: [delete]
    natural_language: ["I am deleting the site"]
    primary_cluster: safety
    urgency: critical
    proactive_injection: true
    common_docs: [nuclear]
proactive_triggers:
  - pattern: [delete, recreate]
    alternate_patterns: [nuclear option]
    exclude_keywords: [physics]
    action: inject_before_proceeding
    documents: [nuclear]
    urgency: critical
    message: Deleting drops the settings.
"""


def test_v1_is_read_with_clusters_views_patterns_and_unknown_fields(tmp_path: Path, write: Write) -> None:
    write("commons_index.yaml", V1)
    index = load_index(str(tmp_path))
    assert index.problems == ()
    assert (index.shape, index.version, index.path) == ("v1.0", "1.0", "commons_index.yaml")
    nuclear, dns = index.entries
    assert (nuclear.clusters, dns.clusters) == (("safety", "names"), ("names", "safety"))
    assert (nuclear.platforms, dns.platforms, dns.path) == (("netlify", "hugo"), ("netlify",), "bok/dns.md")
    assert (nuclear.keywords, nuclear.line) == (("netlify", "404", "3.10"), 8)
    assert nuclear.extra == {"recurrence_count": "20+", "user_quotes": ["why"]}
    assert [(c.id, c.documents, c.note) for c in index.clusters] == [
        ("safety", ("nuclear", "dns"), ""),
        ("names", ("dns", "nuclear"), "more to come"),
    ]
    assert index.query_patterns[0].proactive_injection


def test_a_misspelt_part_of_an_index_is_told_and_a_field_of_ones_own_is_kept(tmp_path: Path, write: Write) -> None:
    write("commons_index.yaml", 'version: "1.0"\nquery_paterns: []\nconcept: {}\nowner: us\nclusters: {}\n')
    index = load_index(str(tmp_path))
    assert [(problem.line, problem.code, problem.severity, problem.fix) for problem in index.problems] == [
        (2, "unknown-field", "warning", "Did you mean query_patterns?"),
        (3, "unknown-field", "warning", "Did you mean concepts?"),
    ]
    assert index.source["owner"] == "us"


def test_the_old_form_of_a_trigger_becomes_an_ordinary_one(tmp_path: Path, write: Write) -> None:
    write("commons_index.yaml", V1)
    (trigger,) = load_index(str(tmp_path)).proactive_triggers
    assert (trigger.id, trigger.action, trigger.status, trigger.unless) == (
        "index-delete-recreate",
        "warn",
        "stable",
        ("physics",),
    )
    assert trigger.any[0].value == {"all": ["delete", "recreate"], "any": ["nuclear option"]}
    assert (trigger.any[0].kind, trigger.documents[0].id) == ("words", "nuclear")


def test_old_triggers_with_the_same_words_and_no_id_are_told_apart(tmp_path: Path, write: Write) -> None:
    one = "  - {pattern: [delete, recreate], documents: [nuclear], message: m}\n"
    write("commons_index.yaml", f'version: "1.0"\nclusters: {{}}\nproactive_triggers:\n{one}{one}')
    names = [trigger.id for trigger in load_index(str(tmp_path)).proactive_triggers]
    assert names == ["index-delete-recreate", "index-delete-recreate-2"]


def test_patterns_as_a_list_keep_every_document_though_ids_repeat(tmp_path: Path, write: Write) -> None:
    write(
        "master-index.yaml",
        r"""
        patterns:
        - {id: README, path: bok\README.md, title: Book, category: ., tags: [], summary: s}
        - {id: README, path: bok\patterns\README.md, title: Patterns, category: patterns, summary: s}
        - stray words
        - id: shutdown
          path: bok\patterns\shutdown.md
          title: Shutdown
          category: Collaboration Pattern
          severity: High
          date: 2025-10-05
          When wrapping up a session:
          - one
          tags: []
          summary: s
        """,
    )
    index = load_index(str(tmp_path))
    assert [entry.id for entry in index.entries] == ["README", "patterns-readme", "shutdown"]
    assert [(p.line, p.code) for p in index.problems] == [
        (1, "old-shape"), (4, "repeated-id"), (5, "stray-text"), (12, "stray-text"),
    ]  # fmt: skip
    shutdown = index.entries[2]
    assert (shutdown.urgency, shutdown.created, shutdown.path) == ("high", "2025-10-05", "bok/patterns/shutdown.md")
    assert shutdown.clusters == ("collaboration-pattern",)
    assert index.entries[0].clusters == ("unsorted",)


def test_sections_are_read_all(tmp_path: Path, write: Write) -> None:
    write(
        "commons_index.yaml",
        """\
        processes:
        - {id: P1, path: processes/p1.md, title: P, scope: all bees, status: Official, critical: true, summary: s}
        training:
          basics: {path: training/b.md, title: B, summary: s}
        patterns:
        - {id: x, path: bok/x.md, title: X, summary: s, category: Git}
        """,
    )
    index = load_index(str(tmp_path))
    assert index.shape == "sections"
    assert {entry.id: entry.clusters for entry in index.entries} == {
        "P1": ("processes",), "basics": ("training",), "x": ("git",),
    }  # fmt: skip
    assert index.entries[0].extra == {"scope": "all bees", "critical": True}


def test_patterns_by_id_are_read(tmp_path: Path, write: Write) -> None:
    write("commons_index.yaml", "patterns:\n  one: {path: bok/one.md, title: One, tags: [a]}\n  two: text\n")
    index = load_index(str(tmp_path))
    assert (index.shape, [entry.id for entry in index.entries]) == ("patterns-by-id", ["one"])
    assert [(p.line, p.code) for p in index.problems] == [(1, "old-shape"), (3, "stray-text")]


def test_fields_in_the_singular_or_plural_are_those_that_were_meant(tmp_path: Path, write: Write) -> None:
    entry = "{id: a, path: bok/a.md, platforms: [oven, fridge], audiences: [cooks], keyword: [rice], tag: [cold]}"
    both = "{id: b, path: bok/b.md, platform: oven, platforms: [fridge]}"
    write("commons_index.yaml", f"version: '1.0'\nclusters:\n  food:\n    documents:\n    - {entry}\n    - {both}\n")
    first, second = load_index(str(tmp_path)).entries
    assert (first.platforms, first.audience, first.keywords) == (("oven", "fridge"), ("cooks",), ("rice",))
    assert (first.tags, first.extra, second.platforms) == (("cold",), {}, ("oven",))


def test_a_flat_list_is_read(tmp_path: Path, write: Write) -> None:
    write(
        "commons_index.yaml",
        "- {id: a, path: bok/a.md, title: A, category: Git, confidence: Proven, deprecated: false, superseded_by: b}\n"
        "- {path: bok/b.md, title: B}\n",
    )
    index = load_index(str(tmp_path))
    assert (index.shape, [entry.id for entry in index.entries]) == ("flat-list", ["a", "b"])
    assert index.entries[0].extra == {"confidence": "Proven", "deprecated": False}
    assert index.entries[0].superseded_by == "b"
    assert [(p.line, p.code) for p in index.problems] == [(1, "old-shape"), (2, "missing-field")]


def test_a_json_list_is_read_with_its_metadata(tmp_path: Path, write: Write) -> None:
    records = [{"id": "a", "title": "A \ud83d\ude00", "path": "bok/a.md", "summary": "s", "content": "long",
                "metadata": {"urgency": "High", "tags": ["x"], "title": "other"}}]  # fmt: skip
    write("index.json", json.dumps(records))
    index = load_index(str(tmp_path))
    (entry,) = index.entries
    assert (index.shape, entry.title, entry.urgency, entry.tags) == ("json-records", "A 😀", "high", ("x",))


@pytest.mark.parametrize("text", ["", "just text", "things: {a: 1}", "- a\n- b\n", "[]", "42"])
def test_an_unknown_shape_says_what_it_is_and_what_is_known(tmp_path: Path, write: Write, text: str) -> None:
    write("commons_index.yaml", text)
    index = load_index(str(tmp_path))
    assert [p.code for p in index.problems] == ["unknown-shape"]
    assert "v1.0" in index.problems[0].found
    assert index.entries == ()


def test_all_problems_of_an_index_are_reported_at_once_with_lines(tmp_path: Path, write: Write) -> None:
    write(
        "commons_index.yaml",
        """\
        version: "1.0"
        clusters:
          one:
            documents:
              - {id: a, path: bok/a.md, title: A, urgency: urgent}
              - {id: b, path: ../outside.md, title: B}
              - {id: c, title: C}
              - {id: a, path: bok/other.md, title: Other}
              - [x]
            urgncy_distribution: {high: 1}
          two: text
        query_patterns: nothing
        proactive_triggers:
          - {pattern: [x], action: explode, documents: [a], message: m, urgency: low}
        """,
    )
    index = load_index(str(tmp_path))
    assert [(p.line, p.code) for p in index.problems] == [
        (5, "bad-urgency"), (6, "path-leaves-commons"), (7, "missing-field"), (8, "conflicting-entry"),
        (9, "wrong-type"),
        (10, "unknown-field"), (11, "wrong-type"), (12, "wrong-type"), (14, "bad-action"),
    ]  # fmt: skip
    assert "urgency_distribution" in index.problems[5].fix
    assert [entry.path for entry in index.entries] == ["bok/a.md"]
    assert index.proactive_triggers == ()


@pytest.mark.parametrize("path", ["/etc/passwd", "..\\x.md", "C:\\x.md", "a/../../x.md", "~/x.md", '"a\\0b"'])
def test_no_entry_points_outside(path: str) -> None:
    read = read_yaml(f"- {{id: a, path: {path if path[0] == chr(34) else repr(path)}, title: A}}", path="f")
    index = parse_index(read.value, path="f", problems=read.problems)
    assert index.entries == ()
    assert "path-leaves-commons" in {problem.code for problem in index.problems}


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a": 1,}', '{"a": 1, "a": 2}', "\ud800", ""])
def test_bad_json_is_a_problem(text: str) -> None:
    assert read_json(text, path="index.json").problems


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.sampled_from(["a", "bok/a.md", "high", ""]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["clusters", "patterns", "processes", "documents", "id", "path", "title", "metadata",
                             "version",
                             "query_patterns", "proactive_triggers", "urgency", "keywords"]), inner, max_size=4)
    ),
    max_leaves=20,
)  # fmt: skip


@given(VALUES)
@settings(max_examples=100, deadline=None)
def test_no_index_raises_and_none_is_silently_empty(value: object) -> None:
    read = read_yaml(json.dumps(value), path="f")
    index = parse_index(read.value, path="f", problems=read.problems)
    if not index.entries and not index.clusters and not isinstance(value, dict):
        assert index.problems
