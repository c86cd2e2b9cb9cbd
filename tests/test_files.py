"""The file operations of the hook: they report failure instead of raising, and written files are whole."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deia import files

if TYPE_CHECKING:
    from pathlib import Path

TARGETS = st.lists(st.sampled_from(["a", "b", "c", "d", "..", ".", "c:", "a\\b", "root"]), min_size=1, max_size=4)


@pytest.mark.parametrize("name", ["a\0b", "x" * 10_000, "\ud800", "missing/file", "x" * 255 + "/y"])
def test_strange_paths_are_simply_not_there(tmp_path: Path, name: str) -> None:
    assert files.read(f"{tmp_path}/{name}") is None
    assert not files.exists(f"{tmp_path}/{name}")
    assert files.stamp(f"{tmp_path}/{name}") is None


@pytest.mark.parametrize("name", ["", "a\0b", "x" * 10_000, "\ud800"])
def test_what_cannot_be_written_is_given_up_quietly(tmp_path: Path, name: str) -> None:
    assert files.append(f"{tmp_path}/{name}", b"x") is False
    assert files.read("") is None
    assert list(tmp_path.iterdir()) == []


def test_a_file_is_read_whole(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"\0\r\n")
    assert files.read(f"{tmp_path}/a") == b"\0\r\n"
    assert files.stamp(f"{tmp_path}/a") == (3, (tmp_path / "a").stat().st_mtime_ns)


def test_an_append_makes_its_folders_private_to_the_person(tmp_path: Path) -> None:
    path = f"{tmp_path}/a/b/c"
    assert files.append(path, b"1")
    assert files.append(path, b"2")
    assert files.read(path) == b"12"
    if sys.platform != "win32":
        assert (tmp_path / "a").stat().st_mode & 0o777 == 0o700


def test_an_append_where_a_file_stands_in_the_way_fails_quietly(tmp_path: Path) -> None:
    (tmp_path / "a").touch()
    assert not files.append(f"{tmp_path}/a/b", b"1")
    assert not files.make_folders(f"{tmp_path}/a/b/c")


def test_a_replacement_leaves_nothing_behind_and_keeps_the_old_on_failure(tmp_path: Path) -> None:
    files.replace(f"{tmp_path}/a", b"old")
    files.replace(f"{tmp_path}/a", b"new")
    assert [path.name for path in tmp_path.iterdir()] == ["a"]
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError, match="folder"):
        files.replace(f"{tmp_path}/folder", b"x")
    assert files.read(f"{tmp_path}/a") == b"new"


@pytest.mark.skipif(sys.platform == "win32", reason="paths with slashes alone")
@pytest.mark.parametrize(
    ("path", "above"), [("/a/b", "/a"), ("/a/b/", "/a"), ("/a", "/"), ("/", ""), ("a", ""), ("a/b", "a"), ("", "")]
)
def test_the_folder_above(path: str, above: str) -> None:
    assert files.parent(path) == above


@settings(max_examples=80, deadline=None)
@given(st.text(alphabet="ab/\\.\0", max_size=20))
def test_going_upwards_ends(path: str) -> None:
    places = list(files.upwards(path))
    assert len(places) <= len(path) + 1
    assert places[:1] == ([path] if path else [])


def test_the_environment_holds_only_what_deia_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    code = "from deia import files; print(sorted(files.environment().items()))"
    environ = {"HOME": "/h", "DEIA_STATE": "/s", "SECRET": "x", "PATH": os.environ.get("PATH", "")}
    ran = subprocess.run([sys.executable, "-c", code], env=environ, capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[('DEIA_STATE', '/s'), ('HOME', '/h')]"


def test_a_home_is_found_where_there_is_one() -> None:
    assert files.home({"HOME": "/h"}) == "/h"
    assert files.home({"USERPROFILE": "C:/u"}) == "C:/u"
    assert files.home({}) == ""


def test_the_writer_is_a_plain_name() -> None:
    assert files.writer()
    assert not set(files.writer()) & set("/\\. ")
    assert files.process() == os.getpid()


def test_a_path_in_full_has_no_dots(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert files.full("/a/./b//../c/") == "/a/c"
    assert files.full("/../..") == "/"
    assert files.full("x/../y") == f"{tmp_path}/y"


@pytest.mark.skipif(sys.platform == "win32", reason="there a backslash separates, and a letter names a drive")
def test_a_backslash_or_a_colon_in_a_name_leads_nowhere_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert files.full("/a/b\\..\\c") == "/a/b\\..\\c"
    assert files.full("c:/../x") == f"{tmp_path}/x"
    (tmp_path / "clone/c:").mkdir(parents=True)
    (tmp_path / "clone/link").symlink_to("c:/../home/trusted")
    (tmp_path / "clone/other").symlink_to("a\\b")
    assert files.real(f"{tmp_path}/clone/link") == os.path.realpath(tmp_path / "clone/link")
    assert files.real(f"{tmp_path}/clone/other") == os.path.realpath(tmp_path / "clone/other")


@pytest.mark.skipif(sys.platform == "win32", reason="making links there needs a privilege")
@given(
    links=st.dictionaries(st.sampled_from(["a", "b", "a/c", "d", "a\\b"]), TARGETS, max_size=4),
    path=st.lists(st.sampled_from(["a", "b", "c", "d", "..", ".", "c:", "a\\b"]), min_size=1, max_size=5),
)
def test_links_are_resolved_as_the_system_does_it(links: dict[str, list[str]], path: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for name in ("a/c", "c:/b", "b/a/c"):
            os.makedirs(f"{folder}/root/{name}")
        for name, target in links.items():
            place = f"{folder}/root/{name}"
            shutil.rmtree(place, ignore_errors=True)
            with contextlib.suppress(OSError):
                os.symlink("/".join(target), place)
        full = f"{folder}/root/{'/'.join(path)}"
        if os.path.exists(full):
            assert files.real(full) == os.path.realpath(full)


def test_what_may_be_written_is_told(tmp_path: Path) -> None:
    assert files.writable(str(tmp_path))
    assert not files.writable(f"{tmp_path}/nothing")
    assert not files.writable("a\0b")


# --- what is no plain file ---

posix = pytest.mark.skipif(sys.platform == "win32", reason="needs links and named pipes")


def special(tmp_path: Path, kind: str) -> str:
    """Make something that is no plain file and return its path."""
    path = tmp_path / "special"
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    elif kind == "huge":
        with path.open("wb") as file:
            file.truncate(3_000_000_000)
    else:
        path.symlink_to({"zero": "/dev/zero", "null": "/dev/null", "tty": "/dev/tty"}[kind])
    return str(path)


@posix
@pytest.mark.parametrize("kind", ["pipe", "folder", "huge", "zero", "null", "tty"])
def test_only_regular_files_up_to_a_size_are_read_and_nothing_is_waited_for(tmp_path: Path, kind: str) -> None:
    path = special(tmp_path, kind)
    began = time.monotonic()
    assert files.read(path) is None
    assert len(files.read_end(path, 100)) == (100 if kind == "huge" else 0)
    assert time.monotonic() - began < 0.5


@posix
@pytest.mark.parametrize("kind", ["pipe", "folder", "zero", "null", "tty"])
def test_nothing_but_a_regular_file_is_written(tmp_path: Path, kind: str) -> None:
    path = special(tmp_path, kind)
    assert not files.append(path, b"x")
    assert not files.keep(path, b"x")
    with pytest.raises(OSError, match=r"link|regular"):
        files.replace(path, b"x")
    assert [item.name for item in tmp_path.iterdir()] == ["special"]


@posix
@pytest.mark.parametrize("exists", [True, False])
def test_nothing_is_written_through_a_link(tmp_path: Path, *, exists: bool) -> None:
    (tmp_path / "link").symlink_to("target")
    if exists:
        (tmp_path / "target").write_bytes(b"old")
    assert not files.append(f"{tmp_path}/link", b"x")
    assert not files.keep(f"{tmp_path}/link", b"x")
    assert files.read(f"{tmp_path}/target") == (b"old" if exists else None)
    assert files.read(f"{tmp_path}/link") == (b"old" if exists else None)


@posix
def test_a_link_with_the_name_of_the_temporary_file_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "victim").write_bytes(b"old")
    (tmp_path / f"a.{os.getpid()}.new").symlink_to("victim")
    files.replace(f"{tmp_path}/a", b"new")
    assert files.read(f"{tmp_path}/victim") == b"old"
    assert files.read(f"{tmp_path}/a") == b"new"


@pytest.mark.parametrize(
    ("size", "most", "whole"), [(0, 0, True), (5, 5, True), (5, 4, False), (200_000, 200_000, True)]
)
def test_a_file_is_read_up_to_the_limit_and_no_further(tmp_path: Path, size: int, most: int, *, whole: bool) -> None:
    (tmp_path / "a").write_bytes(b"x" * size)
    assert files.read(f"{tmp_path}/a", most) == (b"x" * size if whole else None)
    assert files.read_end(f"{tmp_path}/a", most) == b"x" * min(size, most)


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_a_file_whose_size_the_system_does_not_know_is_read_whole() -> None:
    assert b"VmSize" in (files.read("/proc/self/status") or b"")
    assert files.read("/proc/self/status", 10) is None


def test_of_a_folder_with_very_many_names_only_some_are_looked_at(tmp_path: Path) -> None:
    for number in range(30):
        (tmp_path / f"{number}.sh").touch()
    assert len(files.names(str(tmp_path), 10)) == 10
    assert files.names(str(tmp_path), 100) == files.names(str(tmp_path)) == sorted(os.listdir(tmp_path))
    assert files.names(str(tmp_path / "none"), 10) == []
