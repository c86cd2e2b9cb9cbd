"""Taking folders in: what is read, what is left out, what a second run costs, and what a kill leaves."""

from __future__ import annotations

import os
import re
import signal
import sqlite3
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from deia import freshness
from deia.folders import LIBRARY_STAMPS
from deia.ingest.checked_source import checked
from deia.ingest.chunk_export import exported
from deia.ingest.ingesting import Outcome, ingest, planned
from deia.ingest.library_store import FAILED, PENDING, PROCESSED, TAKEN, Library
from deia.ingest.source import FolderSource, Found, Source, SourceError, described, slug, typed
from deia.ingest.source_kinds.from_folder import FolderFiles
from tests.paths import ROOT
from tests.without_rights import without_rights

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

LONG_AGO = 1_600_000_000.0
TAKE_IN = """
import sys
from deia.ingest.ingesting import ingest
from deia.ingest.library_store import Library
from deia.ingest.checked_source import checked
from deia.ingest.source import FolderSource, described
with Library(sys.argv[1]) as library:
    ingest(library, library.register(checked(described(FolderSource(path=sys.argv[2], name="docs")))))
"""


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    with Library(str(tmp_path / "library")) as opened:
        yield opened


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    write(folder, "guide/start.md", "# Starting\n\nTurn the key to the left.\n")
    write(folder, "notes.txt", "Plain words about valves.\n")
    return folder


def write(folder: Path, name: str, text: str | bytes) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    os.utime(path, (LONG_AGO, LONG_AGO))  # a file of this second would be read again in any case
    return path


def source_of(folder: Path, **fields: object) -> Source:
    return checked(described(FolderSource(path=str(folder), name="docs")).but(**fields))


def take_in(library: Library, folder: Path, **fields: object) -> Outcome:
    return ingest(library, library.register(source_of(folder, **fields)))


def paths(library: Library) -> list[str]:
    return [shelved.id.removeprefix("library:") for shelved in library.documents()]


def test_no_source_of_a_collection_replaces_or_exports_what_is_of_another(library: Library, tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    write(first, "a.md", "# Alpha\n\nA wombat.\n")
    write(second, "b.md", "# Beta\n\nA numbat.\n")
    for name, folder in (("docs", first), ("other", second)):
        take_in(library, folder, name=name, collection="docs")
    write(first, "other/b.md", "# Gamma\n\nA quokka.\n")
    outcome = take_in(library, first, name="docs", collection="docs")
    assert (outcome.failed, paths(library)) == (1, ["docs/a.md", "docs/other/b.md"])
    assert library.notes("docs") == [("other/b.md", "failed", TAKEN.format("other"))]
    assert [row["content"] for row in exported(library, "docs")] == ["# Alpha\n\nA wombat."]
    assert [row["content"] for row in exported(library, "other")] == ["# Beta\n\nA numbat."]


def test_a_folder_is_taken_in_with_lines_and_titles(library: Library, docs: Path) -> None:
    outcome = take_in(library, docs)
    assert (outcome.documents, outcome.chunks, outcome.read) == (2, 2, 2)
    start, notes = library.documents()
    assert (start.id, start.title, start.type, start.updated) == (
        "library:docs/guide/start.md", "Starting", "markdown", "2020-09-13",
    )  # fmt: skip
    assert notes.title == "notes.txt"
    assert library.kept(start.content).rows[0][:2] == (1, 3)
    assert library.sources()[0].status == PROCESSED


def test_a_second_run_reads_nothing_and_changes_nothing(library: Library, docs: Path) -> None:
    take_in(library, docs)
    before = library.state
    assert take_in(library, docs).read == 0
    assert library.state == before


def test_a_file_that_was_only_touched_is_no_change(library: Library, docs: Path) -> None:
    take_in(library, docs)
    before = library.state
    os.utime(docs / "notes.txt", (LONG_AGO, LONG_AGO))
    (docs / "notes.txt").write_text("Plain words about valves.\n", encoding="utf-8")
    assert take_in(library, docs).read == 0
    assert library.state.split(":")[0] == before.split(":")[0]


def test_what_changed_is_read_and_what_is_gone_is_forgotten(library: Library, docs: Path) -> None:
    take_in(library, docs)
    revision = library.revision
    write(docs, "guide/start.md", "# Starting over\n\nTurn it to the right.\n")
    (docs / "notes.txt").unlink()
    outcome = take_in(library, docs)
    assert (outcome.read, outcome.removed, outcome.documents) == (1, 1, 1)
    assert [shelved.title for shelved in library.documents(revision)] == ["Starting over"]
    assert library.removed(revision) == ["library:docs/notes.txt"]


def test_a_file_that_moved_is_not_cut_again_but_has_its_own_name(library: Library, docs: Path) -> None:
    take_in(library, docs)
    content = {shelved.content for shelved in library.documents()}
    (docs / "notes.txt").rename(docs / "valves.txt")
    take_in(library, docs)
    assert {shelved.content for shelved in library.documents()} == content
    assert [shelved.title for shelved in library.documents()] == ["Starting", "valves.txt"]


def test_gitignore_files_count_in_their_folders_and_include_overrules_them(library: Library, docs: Path) -> None:
    write(docs, ".gitignore", "*.log\nbuild/\n!keep.log\n")
    for name in ("a.log", "keep.log", "build/out.md", "guide/own.tmp", "guide/.gitignore"):
        write(docs, name, "*.tmp\n")
    take_in(library, docs)
    assert not {"docs/a.log", "docs/build/out.md", "docs/guide/own.tmp"} & {*paths(library)}
    assert "docs/keep.log" in paths(library)
    take_in(library, docs, include=("build/out.md",))
    assert "docs/build/out.md" in paths(library)
    assert "docs/a.log" not in paths(library)


def test_a_line_of_a_gitignore_that_is_no_glob_is_passed_over(library: Library, docs: Path) -> None:
    write(docs, ".gitignore", b"\\\n[z-a\n\xff\nnotes.txt\n")
    assert take_in(library, docs).error == ""
    assert "docs/notes.txt" not in paths(library)


def test_names_of_any_kind_are_taken_in_or_told_and_nothing_waits(library: Library, docs: Path) -> None:
    for name in (b"a\nb.md", b"\x1b[31m.md", b"\xff\xfe.md"):
        with open(os.path.join(os.fsencode(docs), name), "wb") as file:
            file.write(b"# Named strangely\n")
    if hasattr(os, "mkfifo"):
        os.mkfifo(docs / "pipe.md")
    outcome = take_in(library, docs)
    assert (outcome.error, outcome.documents + outcome.failed) == ("", 5)
    assert take_in(library, docs).error == ""


@pytest.mark.parametrize("name", ["../../x", "..", "-rf", ".hidden/x", "a\0b", "ä ö"])
def test_a_name_is_never_a_path_or_an_option(name: str) -> None:
    made = slug(name)
    assert "/" not in made
    assert not made.startswith((".", "-"))


@pytest.mark.parametrize("text", ["", " ", "https://", "s3://", "s3:///", "http:// /"])
def test_what_names_nothing_is_refused(text: str) -> None:
    with pytest.raises(SourceError, match="names nothing"):
        typed(text)


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"filter": ("guide/**/*.md",)}, ["docs/guide/deep/er.md", "docs/guide/start.md"]),
        ({"filter": ("*.txt",)}, ["docs/notes.txt"]),
        ({"exclude": ("guide/",)}, ["docs/notes.txt"]),
        ({"depth": 1}, ["docs/guide/start.md", "docs/notes.txt"]),
        ({"collection": "Manuals"}, ["manuals/guide/deep/er.md", "manuals/guide/start.md", "manuals/notes.txt"]),
    ],
)
def test_only_what_the_source_says_is_taken_in(
    library: Library, docs: Path, fields: dict[str, object], expected: list[str]
) -> None:
    write(docs, "guide/deep/er.md", "# Deeper\n")
    take_in(library, docs, **fields)
    assert paths(library) == expected


def test_links_are_not_followed_and_git_folders_not_entered(library: Library, docs: Path, tmp_path: Path) -> None:
    secret = write(tmp_path, "outside/secret.md", "# Not yours\n")
    (docs / "link.md").symlink_to(secret)
    (docs / "elsewhere").symlink_to(secret.parent)
    write(docs, ".git/config.md", "# of git\n")
    take_in(library, docs, include=("*",))
    assert paths(library) == ["docs/guide/start.md", "docs/notes.txt"]


def test_a_link_in_place_of_a_file_that_is_the_source_is_not_read(library: Library, docs: Path) -> None:
    outcome = take_in(library, docs / "notes.txt")
    assert (outcome.documents, paths(library)) == (1, ["docs/notes.txt"])


def test_what_cannot_be_read_is_told_and_the_rest_goes_on(library: Library, docs: Path) -> None:
    write(docs, "broken.md", b"\0\1\2 binary")
    write(docs, "program.bin", b"\0\1\2\3")
    outcome = take_in(library, docs)
    assert (outcome.documents, outcome.read, outcome.failed, outcome.skipped) == (2, 2, 1, 1)
    notes = {path: (state, note) for path, state, note in library.notes("docs")}
    assert notes["broken.md"][0] == FAILED
    write(docs, "broken.md", "# Whole again\n")
    assert take_in(library, docs).failed == 0


def test_secrets_are_told_and_not_kept(library: Library, docs: Path) -> None:
    key = "sk_live_" + "4eC39HqLyjWDarjtT1zdp7dc"
    write(
        docs,
        "deploy.md",
        f"# Deploying\n\nExport the key first:\n\n    STRIPE_KEY={key}\n\nThen push. Ask ann@example.org.\n",
    )
    outcome = take_in(library, docs)
    text = library.kept(library.documents()[0].content).text
    assert key not in text
    assert text.split("\n")[6] == "Then push. Ask ann@example.org."
    assert outcome.noted == 1
    assert library.notes("docs") == [("deploy.md", "read", "Secrets were left out, in line 5.")]


@pytest.mark.parametrize("name", ["docs", "docs/notes.txt"])
def test_what_is_gone_fails_and_keeps_what_was_read(library: Library, docs: Path, tmp_path: Path, name: str) -> None:
    gone = tmp_path / name
    registered = library.register(source_of(gone))
    ingest(library, registered)
    gone.rename(tmp_path / "elsewhere")
    outcome = ingest(library, registered)
    assert f"there is nothing at {gone} any more" in outcome.error
    assert (library.sources()[0].status, outcome.documents) == (FAILED, 2 if gone == docs else 1)


def test_two_sources_of_one_collection_do_not_share_paths(library: Library, docs: Path, tmp_path: Path) -> None:
    take_in(library, docs, collection="all")
    other = write(tmp_path, "more/notes.txt", "Other words.\n").parent
    ingest(library, library.register(checked(described(FolderSource(path=str(other))).but(collection="all"))))
    assert paths(library) == ["all/guide/start.md", "all/more/notes.txt", "all/notes.txt"]


def test_other_options_apply_to_what_was_read_before(library: Library, docs: Path) -> None:
    take_in(library, docs)
    take_in(library, docs, tags=("manual",))
    assert all(shelved.tags == ("manual",) for shelved in library.documents())


def test_what_would_be_done_can_be_seen_beforehand(library: Library, docs: Path) -> None:
    registered = library.register(source_of(docs))
    assert sorted(planned(library, registered)) == [("guide/start.md", "read"), ("notes.txt", "read")]
    ingest(library, registered)
    (docs / "notes.txt").unlink()
    assert sorted(planned(library, registered)) == [("guide/start.md", ""), ("notes.txt", "removed")]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="no kill -9")
@pytest.mark.parametrize("after", [0.3, 0.5, 0.8])
def test_a_kill_leaves_nothing_half_and_the_next_run_goes_on(tmp_path: Path, after: float) -> None:
    folder = tmp_path / "docs"
    for number in range(1_500):
        write(folder, f"{number % 30}/{number}.md", f"# Number {number}\n\n" + f"words of {number} " * 200)
    command = [sys.executable, "-c", TAKE_IN, str(tmp_path / "library"), str(folder)]
    process = subprocess.Popen(command, cwd=ROOT)
    time.sleep(after)
    process.send_signal(signal.SIGKILL)
    process.wait()
    with Library(str(tmp_path / "library")) as library:
        whole = {shelved.id: library.kept(shelved.content).text for shelved in library.documents()}
        assert all(f"words of {ident.rpartition('/')[2][:-3]} " in text for ident, text in whole.items())
        outcome = take_in(library, folder)
        assert outcome.documents == 1_500
        assert outcome.read == 1_500 - len(whole)
        assert library.sources()[0].status == PROCESSED
    database = sqlite3.connect(tmp_path / "library/library.sqlite")
    assert database.execute("pragma integrity_check").fetchone() == ("ok",)
    database.close()


def test_an_interrupted_source_is_pending(library: Library, docs: Path) -> None:
    def interrupt(_progress: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ingest(library, library.register(source_of(docs)), progress=interrupt)
    assert library.sources()[0].status == PENDING
    assert take_in(library, docs).read == 0


@pytest.mark.parametrize("seconds", [10**17, -(10**17)])
def test_a_time_that_no_calendar_has_ends_nothing(seconds: int) -> None:
    assert Found(path="a.md", stamp="", modified=float(seconds)).day == ""


def test_a_file_that_goes_while_its_folder_is_listed_is_passed_over(
    docs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = FolderFiles(source_of(docs))
    monkeypatch.setattr(opened, "_counts", lambda path, _: (docs / path).unlink() or True)
    assert list(opened.files()) == []


PLANNED = """
import sys
from deia.ingest.ingesting import planned
from deia.ingest.library_store import Library
with Library(sys.argv[1]) as library:
    print(dict(planned(library, library.registry()[0])))
"""


@pytest.mark.parametrize("mode", [0o000, 0o644])
def test_what_lies_in_a_folder_that_cannot_be_read_any_more_stays(tmp_path: Path, docs: Path, mode: int) -> None:
    command = without_rights(sys.executable, "-c", TAKE_IN, str(tmp_path / "library"), str(docs))
    subprocess.run(command, check=True, cwd=ROOT)
    write(docs, "notes.txt", "Other words about valves.\n")
    (docs / "guide").chmod(mode)
    try:
        subprocess.run(command, check=True, cwd=ROOT)
        dry_run = without_rights(sys.executable, "-c", PLANNED, str(tmp_path / "library"))
        said = subprocess.run(dry_run, check=True, cwd=ROOT, capture_output=True, text=True).stdout
    finally:
        (docs / "guide").chmod(0o755)
    assert not freshness.changed(f"{tmp_path}/library/{LIBRARY_STAMPS}", "", "docs"), "no answer calls it changed"
    assert "removed" not in said
    assert "'guide/': ''" in said
    with Library(str(tmp_path / "library")) as library:
        assert {document.id for document in library.documents()} == {
            "library:docs/guide/start.md", "library:docs/notes.txt",
        }  # fmt: skip
        (note,) = library.notes("docs")
        assert note[:2] == ("guide/", FAILED)
        assert "cannot be listed" in note[2]
    subprocess.run(command, check=True, cwd=ROOT)
    with Library(str(tmp_path / "library")) as library:
        assert not library.notes("docs")
        assert len(library.documents()) == 2


def test_a_source_that_cannot_be_read_any_more_fails_and_loses_nothing(tmp_path: Path, docs: Path) -> None:
    command = without_rights(sys.executable, "-c", TAKE_IN, str(tmp_path / "library"), str(docs))
    subprocess.run(command, check=True, cwd=ROOT)
    docs.chmod(0)
    try:
        subprocess.run(command, check=True, cwd=ROOT)
    finally:
        docs.chmod(0o755)
    with Library(str(tmp_path / "library")) as library:
        (known,) = library.sources()
        assert (known.status, known.documents) == (FAILED, 2)
        assert "cannot be listed" in known.error


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such pipes on Windows")
def test_a_pipe_is_no_source(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.md")
    with pytest.raises(SourceError, match="neither a folder nor a file"):
        typed(str(tmp_path / "pipe.md"))


@pytest.mark.parametrize("address", ["file:///etc/passwd", "ftp://example.org/a.md", "svn+ssh://x/y"])
@pytest.mark.parametrize("kind", ["", "folder", "chunks"])
def test_an_address_of_another_kind_is_refused_with_those_that_are_taken(address: str, kind: str) -> None:
    with pytest.raises(
        SourceError, match=rf"what {re.escape(address.partition('//')[0])}// names is not taken in"
    ) as told:
        typed(address, kind=kind)
    assert "https://, http://, ssh:// or s3://" in str(told.value)
    assert "type its path" in str(told.value)


def test_a_file_whose_name_looks_like_an_address_is_taken_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "odd:").mkdir()
    (tmp_path / "odd:/a.md").write_text("words", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert typed("odd://a.md").place.endswith("/odd:/a.md")
