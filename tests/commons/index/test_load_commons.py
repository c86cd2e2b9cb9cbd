"""A commons is loaded as a whole; entries take precedence over documents, and a document without an entry is enough."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from deia.commons.checks import lint
from deia.commons.index.load_commons import load_commons
from deia.problems import CommonsError

if TYPE_CHECKING:
    from pathlib import Path

    from tests.commons.conftest import Write

INDEX = """\
version: "1.0"
clusters:
  one:
    documents:
      - {id: a, path: bok/a.md, title: From the index, summary: s, keywords: [k]}
proactive_triggers:
  - {id: old, pattern: [x], action: ask_clarifying_question, documents: [a], message: m, urgency: low}
  - {id: shared, pattern: [x], action: ask_clarifying_question, documents: [a], message: m, urgency: low}
"""
TRIGGER = "- {id: shared, title: A, urgency: low, message: m, documents: [a], when: {any: [{phrase: delete site}]}}\n"


def test_the_entry_wins_and_the_document_fills_what_it_leaves_open(tmp_path: Path, write: Write) -> None:
    write("commons_index.yaml", INDEX)
    write("bok/a.md", "---\ntitle: Own\nseverity: High\ntags: [t]\nplatform: netlify\nlanguage: go\n---\n\nText.\n")
    (entry,) = load_commons(str(tmp_path)).entries
    assert (entry.title, entry.urgency, entry.tags, entry.platforms) == ("From the index", "high", ("t",), ("netlify",))
    assert (entry.clusters, entry.extra) == (("one",), {"language": "go"})


def test_a_document_without_an_entry_is_found_under_a_derived_one(tmp_path: Path, write: Write) -> None:
    write("bok/platforms/netlify/dns.md", "# DNS changes\n\n```\ncode\n```\nIt takes\na while.\n\nMore.\n")
    write("bok/b/same.md", "---\nid: x\n---\n")
    write("bok/c/same.md", "---\nid: x\n---\n")
    commons = load_commons(str(tmp_path))
    assert commons.derived == ("x", "c-same", "platforms-netlify-dns")
    dns = commons.entries[2]
    assert (dns.title, dns.summary, dns.path) == ("DNS changes", "It takes a while.", "bok/platforms/netlify/dns.md")


def test_a_trigger_file_wins_over_the_old_form_of_the_same_id(tmp_path: Path, write: Write) -> None:
    write("commons_index.yaml", INDEX)
    write("triggers/a.yaml", TRIGGER)
    commons = load_commons(str(tmp_path))
    assert [(trigger.id, trigger.path) for trigger in commons.triggers] == [
        ("shared", "triggers/a.yaml"),
        ("old", "commons_index.yaml"),
    ]


def test_a_folder_that_is_no_commons_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(CommonsError, match="deia init"):
        load_commons(str(tmp_path))


@pytest.mark.parametrize("root", ["/nowhere/at/all", "a\0b", ""])
def test_no_root_raises_anything_else(root: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(CommonsError):
        load_commons(root)


@pytest.mark.slow
def test_every_kind_of_problem_is_found_at_once(tmp_path: Path, write: Write) -> None:
    write(
        "commons_index.yaml",
        """\
        version: "1.0"
        total_documents: 9
        total_clusters: 1
        clusters:
          one:
            related_clusters: [tow]
            documents:
              - {id: dns, path: bok/dns.md, title: DNS, summary: s, keywords: [k], urgency: high, platform: netlify,
                 related_docs: [dsn], audience: [devs]}
              - {id: gone, path: bok/gone.md, title: Gone}
              - {id: twin, path: bok/dns.md, title: DNS, summary: s, keywords: [k], urgency: high}
              - nobody
        query_patterns:
          - {natural_language: [x], primary_cluster: on, common_docs: [dnss]}
        platform_index:
          netlify: [gone]
          vercel: [dns]
        audience_index:
          devs: {clusters: [one], high_docs: [dns]}
          ops: [in words]
        urgency_index:
          high: [dns, gone, twin]
        statistics:
          by_urgency: {high: 5}
          by_type: {things: 3}
        """,
    )
    write("bok/dns.md", "---\nurgency: low\nplatform: Netlify\n---\n")
    write("bok/extra.md", "---\ntitle: [\n---\n")
    write("triggers/a.yaml", TRIGGER.replace("[a]", "[dnss]"))
    found = [(p.path, p.line, p.code) for p in lint(str(tmp_path))]
    index = "commons_index.yaml"
    assert found == [
        ("bok/dns.md", 2, "disagreement"),
        ("bok/dns.md", 2, "disagreement"),
        ("bok/extra.md", 0, "unlisted-document"),
        ("bok/extra.md", 2, "yaml-syntax"),
        (index, 2, "stale-count"),
        (index, 6, "unknown-cluster"),
        (index, 6, "unknown-document"),
        (index, 8, "unknown-document"),
        (index, 10, "missing-file"),
        (index, 10, "thin-entry"),
        (index, 11, "shared-path"),
        (index, 14, "unknown-cluster"),
        (index, 14, "unknown-document"),
        (index, 16, "stale-view"),
        (index, 17, "stale-view"),
        (index, 22, "stale-view"),
        (index, 24, "stale-count"),
        ("triggers/a.yaml", 1, "unknown-document"),
    ]


def test_suggestions_name_the_nearest_id(tmp_path: Path, write: Write) -> None:
    write(
        "commons_index.yaml",
        INDEX.replace("id: a,", "id: netlify-dns,").replace("documents: [a]", "documents: [netlfy-dns]"),
    )
    write("bok/a.md", "x")
    assert {p.fix for p in lint(str(tmp_path)) if p.code == "unknown-document"} == {"Did you mean netlify-dns?"}
