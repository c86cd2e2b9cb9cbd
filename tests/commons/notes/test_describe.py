"""A note that no index lists is described by its own fields and by the conventions of its kind."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from deia.commons.index.documents import as_document
from deia.commons.index.entries import derived_entry
from deia.commons.source_files.findings import Findings
from deia.commons.source_files.front_matter import split
from deia.knowledge import Entry

NYGARD = """\
# 1. Use PostgreSQL

Date: 2024-02-12

## Status

Superseded by [2. Use SQLite](0002-use-sqlite.md)

## Context

We need a database.

## Decision

We will use PostgreSQL.
"""
MADR = """\
---
status: "accepted"
date: 2025-03-01
decision-makers: [ann, bob]
---
# Use SQLite

## Context and Problem Statement

Where?

## Decision Outcome

Chosen option: "SQLite", because it is one file.
"""
RUNBOOK = """\
---
Title: Disk full: what to do
Severity: SEV1
labels: disk, ci
---
## Symptoms

Builds fail.

## Resolution

1. Prune.
"""
RULE = "---\ndescription: Rules for handlers\nglobs: **/api/*.ts,*.tsx\nalwaysApply: false\n---\n- Validate.\n"
OBSIDIAN = """\
---
aliases: [bad gateway, upstream died]
tags: ["#ops", nginx]
cssclass: wide
---
> [!abstract]
> nginx keeps the old address.

The socket is gone. #deploy
"""


def entry_of(text: str, path: str) -> Entry:
    findings = Findings(path)
    entry = derived_entry(as_document(split(text, path=path), path), findings)
    assert not findings.problems
    return entry


def test_a_decision_record_of_nygards_form_has_status_date_and_decision() -> None:
    entry = entry_of(NYGARD, "docs/whatever/0001-use-postgres.md")
    assert (entry.title, entry.status, entry.created) == ("1. Use PostgreSQL", "superseded", "2024-02-12")
    assert (entry.summary, entry.tags) == ("We will use PostgreSQL.", ("decision",))


def test_a_decision_record_of_madr_has_its_outcome_as_summary_and_keeps_unknown_fields() -> None:
    entry = entry_of(MADR, "adr/0002.md")
    assert (entry.status, entry.created) == ("accepted", "2025-03-01")
    assert entry.summary == 'Chosen option: "SQLite", because it is one file.'
    assert entry.extra == {"decision-makers": ["ann", "bob"]}


def test_a_runbook_has_its_symptoms_as_summary_and_its_first_steps_as_what_to_do() -> None:
    entry = entry_of(RUNBOOK, "ops/disk.md")
    assert (entry.title, entry.urgency) == ("Disk full: what to do", "critical")
    assert (entry.summary, entry.action, entry.tags) == ("Builds fail.", "Prune.", ("disk", "ci", "runbook"))


def test_an_editor_rule_may_have_globs_that_are_no_yaml() -> None:
    front = split(RULE, path=".cursor/rules/api.mdc")
    assert not front.problems
    entry = entry_of(RULE, ".cursor/rules/api.mdc")
    assert (entry.title, entry.summary, entry.tags) == ("Api", "Rules for handlers", ("rule",))
    assert entry.extra["globs"] == "**/api/*.ts,*.tsx"


def test_an_obsidian_note_has_its_aliases_as_keywords_and_all_its_tags() -> None:
    entry = entry_of(OBSIDIAN, "vault/nginx.md")
    assert entry.keywords == ("bad gateway", "upstream died")
    assert entry.tags == ("ops", "nginx", "deploy")
    assert entry.summary == "nginx keeps the old address."


def test_instructions_for_agents_have_a_title_that_says_so_unless_they_have_one() -> None:
    assert entry_of("# CLAUDE.md\n\nRun make.", "CLAUDE.md").title == "Instructions for agents"
    assert entry_of("Run make.", "web/AGENTS.md").title == "Instructions for agents in web"
    assert entry_of("# The web\n\nRun make.", "web/AGENTS.md").title == "The web"
    assert entry_of("Be brief.", ".cursorrules").id == "cursorrules"


def test_a_folder_of_decisions_has_an_overview_that_is_none() -> None:
    assert entry_of("# Decisions\n\nAll.", "docs/adr/README.md").tags == ()
    assert entry_of("# A\n\nWe do.", "docs/adr/0003-a.md").tags == ("decision",)


def test_tags_may_be_one_text_and_fields_have_any_case() -> None:
    entry = entry_of("---\nTitle: T\nTags: a, b\nAuthor: me\n---\nX", "bok/x.md")
    assert (entry.title, entry.tags, entry.extra) == ("T", ("a", "b"), {"Author": "me"})
    assert entry_of("---\ntags: '#a #b'\n---\nX", "bok/x.md").tags == ("a", "b")


def test_what_the_front_matter_says_counts_more_than_the_text() -> None:
    entry = entry_of("---\nstatus: draft\nsummary: S\ntitle: T\nTITLE: U\n---\nStatus: accepted\n\nP", "x.md")
    assert (entry.status, entry.summary, entry.title) == ("draft", "S", "T")
    assert entry.extra == {"TITLE": "U"}


NAMES = st.sampled_from(
    ["tags", "Tags", "aliases", "keywords", "title", "Title", "severity", "priority", "status", "date"]
)
VALUES = st.sampled_from(
    ["a, b", "[a, {b: c}]", "{a: b}", "", "#x #y", "P1", "1", "null", "*.ts", "a: b", "- x", "[", "|"]
)
HEADS = st.lists(st.tuples(NAMES, VALUES), max_size=6)


@given(
    HEADS, st.text(max_size=60), st.sampled_from(["docs/adr/x.md", "CLAUDE.md", "a.mdc", "runbooks/r.md", "bok/a.md"])
)
def test_any_front_matter_gives_an_entry_with_a_title(head: list[tuple[str, str]], body: str, path: str) -> None:
    text = "---\n" + "".join(f"{name}: {value}\n" for name, value in head) + "---\n" + body
    entry = derived_entry(as_document(split(text, path=path), path), Findings(path))
    assert entry.title.strip()
    assert all(isinstance(tag, str) and tag for tag in (*entry.tags, *entry.keywords))
