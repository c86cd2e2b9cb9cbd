"""Conditions on the file of a `write` clause: it was not read, or a document has nearly the same title."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deia.records import Turn
from deia.watch.clauses.folder_signs import files_among, files_around
from deia.watch.gate.word_gate import MOST_FILES, files_shown
from deia.watch.memory.recall import InMemoryLog
from deia.watch.watcher import Surroundings, Watched, watch

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from deia.watch.gate.artefact import Artefact
    from tests.watch.conftest import Build, Make

    Call = Callable[[str], Turn]

KNOWN = [("bok/git/force-push.md", "Force push to a shared branch"), ("starter:bok/disk.md", "The disk is full")]


def write(path: str, content: str = "x", tool: str = "Write", **more: Any) -> Turn:
    return Turn(role="tool_call", text="", tool=tool, tool_input={"file_path": path, "content": content, **more})


def last(artefact: Artefact, turns: Sequence[Turn], *there: str, known: bool = True) -> Watched:
    log, watched = InMemoryLog(), Watched()
    around = Surroundings(now=0.0, exists=files_among(there) if known else None)
    for turn in turns:
        watched = watch(artefact, turn, log, lambda: around)
    return watched


@pytest.fixture(scope="module")
def unread(make: Make, build: Build) -> Artefact:
    return build(make(("write", {"paths": ["*.cfg"], "exists": True, "unread": True}), repeat=0.0))


READ = Turn(role="tool_call", text="", tool="Read", tool_input={"file_path": "README.md"})


def test_a_file_that_nobody_read_is_written_over(unread: Artefact) -> None:
    firing = last(unread, [READ, write("src/a.cfg")], "src/a.cfg").firings[0]
    assert firing.because.endswith("it exists, and nothing in this conversation read it")


@pytest.mark.parametrize(
    "before",
    [
        Turn(role="tool_call", text="", tool="Read", tool_input={"file_path": "/home/x/src/a.cfg"}),
        Turn(role="tool_call", text="", tool="Edit", tool_input={"file_path": "src\\a.cfg"}),
        Turn(role="tool_call", text="cat 'a.cfg'", tool="Bash", tool_input={"command": "cat 'src/a.cfg' | head"}),
    ],
)
def test_one_that_was_named_by_a_call_is_known(unread: Artefact, before: Turn) -> None:
    assert not last(unread, [READ, before, write("src/a.cfg")], "src/a.cfg").firings
    assert last(unread, [READ, before, write("src/b.cfg")], "src/b.cfg").firings


def test_where_the_host_does_not_tell_what_is_read_nothing_counts_as_unread(unread: Artefact, call: Call) -> None:
    assert not last(unread, [call("cat src/b.cfg"), write("src/a.cfg")], "src/a.cfg").firings


def test_a_new_file_an_edit_a_shell_and_an_unknown_folder_are_none(unread: Artefact, call: Call) -> None:
    assert not last(unread, [READ, write("src/a.cfg")]).firings
    assert not last(unread, [READ, write("src/a.cfg", tool="Edit")], "src/a.cfg").firings
    assert not last(unread, [READ, call("echo x > src/a.cfg")], "src/a.cfg").firings
    assert not last(unread, [READ, write("src/a.cfg")], "src/a.cfg", known=False).firings


def test_exists_alone_asks_only_that(make: Make, build: Build, call: Call) -> None:
    there = build(make(("write", {"paths": ["*.cfg"], "exists": True}), repeat=0.0))
    new = build(make(("write", {"paths": ["*.cfg"], "exists": False}), repeat=0.0))
    for turn in (write("a.cfg"), call("echo x > a.cfg")):
        assert bool(last(there, [turn], "a.cfg").firings) is bool(last(new, [turn]).firings) is True
        assert bool(last(there, [turn]).firings) is bool(last(new, [turn], "a.cfg").firings) is False


@pytest.mark.parametrize(
    ("path", "content", "other"),
    [
        ("bok/force-pushing-shared-branches.md", "", "Force push to a shared branch"),
        ("bok/x.md", "---\ntitle: A full disk\n---\n", "The disk is full"),
        ("bok/x.md", "# Force pushes to the shared branch\n", "Force push to a shared branch"),
        ("bok/x.md", "Text.\n# Slow queries\n# The disk is full\n", ""),
        ("bok/slow-queries.md", "# Slow queries on a full disk of the shared replica\n", ""),
        ("bok/push.md", "# Push\n", ""),
        ("notes/x.txt", "# The disk is full\n", ""),
    ],
)
def test_a_document_like_another_names_it(make: Make, build: Build, path: str, content: str, other: str) -> None:
    artefact = build(make(("write", {"paths": ["bok/*.md"], "like": True, "exists": False})), known=KNOWN)
    firings = last(artefact, [write(path, content)]).firings
    assert bool(firings) is bool(other)
    assert all(f'it reads like "{other}"' in firing.because for firing in firings)


def test_known_documents_are_kept_only_for_triggers_that_ask(make: Make, build: Build) -> None:
    assert build(make(("write", ("bok/*.md",))), known=KNOWN).known == []
    assert len(build(make(("write", {"paths": ["a"], "like": True})), known=KNOWN).known) == len(KNOWN)


def test_files_are_remembered_only_for_triggers_that_ask(make: Make, build: Build) -> None:
    log = InMemoryLog()
    watch(build(make(("write", ("*.cfg",)))), write("a.txt", tool="Read"), log, lambda: Surroundings(now=0.0))
    assert log.read() == b"."


def test_files_around_knows_a_folder(tmp_path: Path) -> None:
    (tmp_path / "a.cfg").write_text("x", encoding="utf-8")
    exists = files_around(str(tmp_path))
    assert exists("a.cfg")
    assert exists(str(tmp_path / "a.cfg"))
    assert not any(map(exists, ["b.cfg", "a\0b", "", "x" * 5000][:2]))


@given(st.text(max_size=200), st.sampled_from(["Bash", "Read", ""]))
@settings(max_examples=80, deadline=None)
def test_any_call_shows_a_bounded_number_of_files(text: str, tool: str) -> None:
    turn = Turn(role="tool_call", text="", tool=tool, tool_input={"command": text, "file_path": text})
    assert len(files_shown(turn)) <= MOST_FILES
