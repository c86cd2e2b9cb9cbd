"""What is asked of a source and makes no sense is refused, with what is wanted."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from deia.ingest.checked_source import checked
from deia.ingest.source import (
    FOLDER,
    GIT,
    URL,
    FolderSource,
    GitSource,
    Source,
    SourceError,
    Sources,
    UrlSource,
    described,
)
from deia.ingest.source_kinds.globs_of_source import ignore_spec

DOCS = Source(kind=FOLDER, place=os.path.dirname(__file__))


@pytest.mark.parametrize("glob", ["", " ", "[", "a[", "# notes", "[z-a].md", "\\"])
@pytest.mark.parametrize("option", ["filter", "exclude", "include"])
def test_a_glob_that_names_no_file_is_refused(option: str, glob: str) -> None:
    with pytest.raises(SourceError, match=r"a? ?glob .*Write it as in \.gitignore"):
        checked(DOCS.but(**{option: ("*.md", glob)}))


def test_a_filter_that_only_leaves_out_is_refused() -> None:
    with pytest.raises(SourceError, match=r"takes nothing in. Leave files out with --exclude"):
        checked(DOCS.but(filter=("!a.md",)))
    assert checked(DOCS.but(filter=("*.md", "!a.md"))).filter == ("*.md", "!a.md")


def test_a_gitignore_with_a_line_that_no_program_understands_counts_without_it() -> None:
    assert ignore_spec("[z-a]\n*.tmp\n").match_file("a.tmp")


@pytest.mark.parametrize("kind", [FOLDER, URL])
def test_a_branch_of_what_is_no_repository_is_refused(kind: str) -> None:
    with pytest.raises(SourceError, match=f"a {kind} has no branch 'dev'. .* --type git"):
        checked(DOCS.but(kind=kind, branch="dev"))


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        (FolderSource(path="/nope"), "there is nothing at /nope. Name a folder"),
        (FolderSource(path=""), "path = '' names no folder"),
        (FolderSource(path=3), "path = 3 names no folder"),  # type: ignore[arg-type]
        (FolderSource(path=DOCS.place, name=None), "name = None makes no sense. Write a text"),  # type: ignore[arg-type]
        (FolderSource(path=DOCS.place, filter=(3,)), r"filter = \(3,\) makes no sense. Write a list of texts"),  # type: ignore[arg-type]
        (FolderSource(path=DOCS.place, depth="1"), "depth = '1' makes no sense. Write a whole number"),  # type: ignore[arg-type]
        (FolderSource(path=DOCS.place, tags=("new", " ")), "a tag is empty"),
        (GitSource(url="/nope"), "there is no repository at '/nope'"),
        (GitSource(url=None), "place = None makes no sense"),  # type: ignore[arg-type]
        (UrlSource(url="https://"), "names nothing to take in"),
        ("/nope", "there is nothing at /nope"),
        (["docs"], r"list \['docs'\] is no source. Name a folder or an address, or write FolderSource"),
        (None, "NoneType None is no source"),
    ],
)  # fmt: skip
def test_what_is_no_source_or_is_not_there_is_refused(source: Sources, problem: str) -> None:
    with pytest.raises(SourceError, match=problem):
        checked(described(source))


def test_a_text_or_a_path_is_what_deia_ingest_takes_and_a_text_is_a_list_of_one() -> None:
    assert described(DOCS.place) == described(Path(DOCS.place)) == DOCS
    assert described("https://example.org/shop.git").kind == GIT
    assert checked(described(FolderSource(path=DOCS.place, tags="new"))).tags == ("new",)  # type: ignore[arg-type]
