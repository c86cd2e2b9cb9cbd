"""Tests of lists of filtered documents: the most urgent first, and own documents before the starter's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deia.commons.index.index_records import LearningPath, Step
from deia.compile.catalog.build_catalog import build_catalog
from deia.folders import STARTER_PREFIX
from deia.knowledge import Document, Entry, Query
from deia.search.catalog import open_catalog
from deia.search.pipeline import search
from deia.search.rendering.render import render

if TYPE_CHECKING:
    from pathlib import Path


def test_own_documents_come_before_equally_urgent_ones_of_the_starter(tmp_path: Path) -> None:
    paths = {"a-starter": f"{STARTER_PREFIX}bok/a.md", "b-own": "bok/b.md", "c-starter": f"{STARTER_PREFIX}bok/c.md"}
    urgency = {"a-starter": "high", "b-own": "high", "c-starter": "critical"}
    entries = [
        Entry(id=name, path=path, title=name, urgency=urgency[name], platforms=("shopctl",))
        for name, path in paths.items()
    ]
    documents = [Document(path=path, title=name, text="Words.\n") for name, path in paths.items()]
    build_catalog(entries, documents, [], [], str(tmp_path), built_at="2026-11-20T10:00:00Z", sources=())
    catalog = open_catalog(str(tmp_path))
    for query in (Query(text="", urgency="high"), Query(text="", platform="shopctl")):
        listed = [result.id for result in search(catalog, query, checked_at="2026-11-20T10:00:00Z").primary]
        assert listed == [name for name in ("c-starter", "b-own", "a-starter") if query.platform or name[0] != "c"]


def test_a_written_learning_path_is_returned_with_its_reasons(tmp_path: Path) -> None:
    names = ("first", "second", "own")
    starters = {name: f"{STARTER_PREFIX}bok/{name}.md" for name in names[:2]}
    entries = [Entry(id=name, path=path, title=name, audience=("operator",)) for name, path in starters.items()]
    own = Entry(id="own", path="bok/own.md", title="own", audience=("operator",), clusters=("mine",))
    steps = (Step(document="second", why="It comes before."), Step(document="gone"), Step(document="first"))
    paths = [LearningPath(audience="Operator", steps=steps)]
    for place, held, expected in (
        ("starter", entries, ["second", "first"]),
        ("both", [*entries, own], ["own", "second", "first"]),
    ):
        folder = tmp_path / place
        folder.mkdir()
        documents = [Document(path=entry.path, title=entry.title, text="Words.\n") for entry in held]
        build_catalog(held, documents, [], [], str(folder), learning_paths=paths)
        answer = search(open_catalog(str(folder)), Query(text="", audience="operator"))
        fields = answer.to_dict()
        assert fields["learning_path"] == expected
        assert fields["learning_reasons"]["second"] == "It comes before."
        shown = render(answer, "table")
        assert f"{len(expected) - 1}. second: It comes before." in shown


def test_an_own_learning_path_is_not_extended(tmp_path: Path) -> None:
    entries = [
        Entry(id=name, path=f"bok/{name}.md", title=name, audience=("lead",), clusters=(name,)) for name in "abc"
    ]
    documents = [Document(path=entry.path, title=entry.title, text="Words.\n") for entry in entries]
    paths = [LearningPath(audience="lead", steps=(Step(document="c"), Step(document="a")))]
    build_catalog(entries, documents, [], [], str(tmp_path), learning_paths=paths)
    fields = search(open_catalog(str(tmp_path)), Query(text="", audience="lead")).to_dict()
    assert fields["learning_path"] == ["c", "a"]


def test_without_a_written_path_one_learns_what_not_to_do_first_and_what_happened_last(tmp_path: Path) -> None:
    folders = {"a": "case-studies", "b": "processes", "c": "patterns", "d": "anti-patterns"}
    entries = [
        Entry(id=name, path=f"bok/{folder}/{name}.md", title=name, audience=("lead",), urgency="high", summary="Why so")
        for name, folder in folders.items()
    ]
    documents = [Document(path=entry.path, title=entry.title, text="Words.\n") for entry in entries]
    build_catalog(entries, documents, [], [], str(tmp_path), built_at="2026-11-20T10:00:00Z", sources=())
    fields = search(open_catalog(str(tmp_path)), Query(text="", audience="lead")).to_dict()
    assert fields["learning_path"] == ["d", "c", "b", "a"]
    assert fields["learning_reasons"] == {
        "d": "anti-pattern, high: Why so", "c": "gotcha, high: Why so", "b": "checklist, high: Why so",
        "a": "case, high: Why so",
    }  # fmt: skip


def test_a_situation_is_a_part_of_an_audience_view_and_may_be_asked_for(tmp_path: Path) -> None:
    named = (
        ("hugo-mismatch", "patterns", "critical", "Netlify builds with another Hugo version"),
        ("straight-to-production", "anti-patterns", "critical", "Pushing straight to production"),
        ("release-rollback", "processes", "high", "Rolling back a release"),
        ("db-removal", "patterns", "high", "Deleting a database"),
        ("style", "patterns", "low", "Naming branches"),
    )
    entries = [
        Entry(id=name, path=f"bok/{folder}/{name}.md", title=title, audience=("developer",), urgency=urgency)
        for name, folder, urgency, title in named
    ]
    documents = [Document(path=entry.path, title=entry.title, text="Words.\n") for entry in entries]
    build_catalog(entries, documents, [], [], str(tmp_path), built_at="2026-11-20T10:00:00Z", sources=())
    catalog = open_catalog(str(tmp_path))
    down, prevention = ["hugo-mismatch", "release-rollback"], ["straight-to-production", "db-removal", "style"]
    everything = search(catalog, Query(text="", audience="developer")).to_dict()
    assert everything["by_urgency"] == {"when_production_down": down, "for_prevention": prevention}
    item = everything["high_priority"][0]
    assert (item["urgency"], item["situation"]) == ("critical", "when_production_down")
    assert item["reason"] == "gotcha, critical"
    for text, wanted in (("when production down", down), ("production is down", down), ("for prevention", prevention)):
        fields = search(catalog, Query(text=text, audience="developer")).to_dict()
        assert (fields["query_type"], fields["documents_found"]) == ("audience_view", len(wanted))
        assert sorted(name for names in fields["by_urgency"].values() for name in names) == sorted(wanted)
