"""What is asked of a source and makes no sense is refused, with what is wanted."""

from __future__ import annotations

import pytest

from deia.ingest.checked_source import checked
from deia.ingest.source import FOLDER, URL, Source, SourceError
from deia.ingest.source_kinds.globs_of_source import ignore_spec

DOCS = Source(kind=FOLDER, place="/srv/docs")


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
        checked(Source(kind=kind, place="https://example.org/a", branch="dev"))
