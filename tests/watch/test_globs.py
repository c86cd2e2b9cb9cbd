"""Globs over names, arguments and paths, held against the standard library's."""

from __future__ import annotations

import re
import time
from fnmatch import translate

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deia.watch.globs import matches_glob, matches_path


@settings(max_examples=100, deadline=None)
@given(st.text(alphabet="ab*?./-", max_size=10), st.text(alphabet="ab*?./-\n", max_size=12))
def test_a_glob_means_what_the_standard_library_says(pattern: str, text: str) -> None:
    assert matches_glob(pattern, text) is (re.fullmatch(translate(pattern), text) is not None)


@settings(max_examples=100, deadline=None)
@given(st.text(alphabet="ab*?[]", max_size=8))
def test_a_mark_in_brackets_is_meant_literally(text: str) -> None:
    escaped = "".join(f"[{char}]" if char in "*?[" else char for char in text)
    assert matches_glob(escaped, text)
    assert not matches_glob(escaped, text + "x")


def test_no_glob_can_hang() -> None:
    began = time.perf_counter()
    assert not matches_glob("*a" * 50 + "b", "a" * 4096)
    assert not matches_glob("*", "a" * 1_000_000)
    assert time.perf_counter() - began < 5


@pytest.mark.parametrize(
    ("pattern", "path", "fits"),
    [
        (".env*", "/srv/app/.env", True),
        (".env*", ".env.local", True),
        (".env*", "/srv/.env/readme", False),
        ("**/migrations/*", "app/migrations/0001.py", True),
        ("**/migrations/*", "migrations/0001.py", True),
        ("**/migrations/*", "app/old_migrations/0001.py", False),
        ("src/*.py", "/home/me/repo/src/a.py", True),
        ("src/*.py", "/home/me/repo/lib/a.py", False),
        ("/etc/*", "/etc/hosts", True),
        ("/etc/*", "/srv/etc/hosts", False),
        ("~/.ssh/*", "~/.ssh/config", True),
        ("*.pem", "C:\\keys\\a.pem", True),
        (".github/workflows/*", "repo/.github/workflows/ci.yml", True),
    ],
)
def test_a_path_is_held_against_its_name_or_its_folders(pattern: str, path: str, *, fits: bool) -> None:
    assert matches_path(pattern, path) is fits
