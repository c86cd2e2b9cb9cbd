"""Globs over names, arguments and paths, compared with those of the standard library."""

from __future__ import annotations

import re
import time
from fnmatch import translate

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deia.globs import LONGEST, matches_glob, matches_path


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


def test_what_stands_deep_in_a_long_text_is_found() -> None:
    text = "x = 1\n" * 10_000 + "key = sk_live_0123456789abcdef\n" + "y = 2\n" * 5_000
    assert matches_glob("*sk_live_????????????????*", text)
    assert not matches_glob("*sk_live_????????????????z*", text)
    assert matches_glob("x*sk_live_*y = 2\n", text)


def test_no_glob_can_hang() -> None:
    began = time.process_time()
    for pattern in (
        "*a" * 50 + "b",
        "*?a" * 50 + "b",
        "*a?a?a?a?b*",
        "*" + "?" * 50 + "b*",
        "*a????????????????????b*",
    ):
        assert not matches_glob(pattern, "a" * LONGEST)
    assert not matches_glob("*", "a" * 1_000_000)
    assert time.process_time() - began < 5


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
