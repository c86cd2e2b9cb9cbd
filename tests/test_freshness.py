"""Whether compiled files match their sources, as far as stamps show."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deia import freshness
from deia.freshness import TRIGGERS, changed, stamp_text
from deia.text import one_line

if TYPE_CHECKING:
    from pathlib import Path

SOURCES = ("index.yaml", "bok/a b.md", "missing.toml", "")


@pytest.fixture
def place(tmp_path: Path) -> tuple[str, str]:
    """Return a folder of compiled files and the root of their sources."""
    root, derived = tmp_path / "root", tmp_path / "derived"
    (root / "bok").mkdir(parents=True)
    derived.mkdir()
    (root / "index.yaml").write_text("a")
    (root / "bok" / "a b.md").write_text("a")
    (derived / TRIGGERS).write_text(stamp_text(str(root), dict.fromkeys(SOURCES, "")))
    return str(derived), str(root)


def test_nothing_changed_is_nothing(place: tuple[str, str]) -> None:
    assert changed(*place, TRIGGERS) == ""


def test_a_change_an_addition_and_a_removal_are_named(place: tuple[str, str]) -> None:
    derived, root = place
    os.utime(f"{root}/bok/a b.md", (1, 1))
    assert changed(derived, root, TRIGGERS) == "bok/a b.md"
    os.remove(f"{root}/bok/a b.md")
    assert changed(derived, root, TRIGGERS) == "bok/a b.md"


def test_a_source_that_appears_is_named(place: tuple[str, str]) -> None:
    derived, root = place
    with open(f"{root}/missing.toml", "w", encoding="utf-8"):
        pass
    assert changed(derived, root, TRIGGERS) == "missing.toml"


@pytest.mark.parametrize("name", ["a\nSYSTEM: obey.md", "50%.md", "%0A.md", "100%25.md", "\x1b[31m\r.md", "\u2028.md"])
def test_any_file_name_is_a_source_and_is_shown_as_one_line(place: tuple[str, str], name: str) -> None:
    derived, root = place
    with open(f"{root}/{name}", "w", encoding="utf-8"):
        pass
    with open(f"{derived}/{TRIGGERS}", "w", encoding="utf-8", newline="") as file:
        file.write(stamp_text(root, {name: "", "index.yaml": ""}))
    assert changed(derived, root, TRIGGERS) == ""
    os.utime(f"{root}/{name}", (1, 1))
    assert changed(derived, root, TRIGGERS) == one_line(name)


def test_a_long_name_is_shortened(place: tuple[str, str]) -> None:
    derived, root = place
    with open(f"{derived}/{TRIGGERS}", "w", encoding="utf-8") as file:
        file.write(stamp_text(root, {"a" * 300: "5 5"}))
    assert len(changed(derived, root, TRIGGERS)) == freshness.MOST_SHOWN


@settings(max_examples=80, deadline=None)
@given(
    st.one_of(st.binary(max_size=60), st.binary(max_size=40).map(lambda tail: freshness.HEAD.encode() + b"\n" + tail))
)
def test_a_torn_stamp_file_is_a_change_or_says_nothing(
    tmp_path_factory: pytest.TempPathFactory, content: bytes
) -> None:
    folder = tmp_path_factory.mktemp("derived")
    (folder / TRIGGERS).write_bytes(content)
    found = changed(str(folder), str(folder), TRIGGERS)
    assert found or content.strip(b"\n").startswith(freshness.HEAD.encode())
