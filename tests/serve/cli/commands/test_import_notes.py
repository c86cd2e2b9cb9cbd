"""Existing notes come into the commons with one command, and searches find them at once."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from tests.serve.conftest import Deia

NOTE = "---\nTitle: 'Nginx: 502 after a deploy'\ntags: nginx, deploy\n---\n\nThe upstream socket is stale.\n"


@pytest.fixture
def notes(commons: Path) -> Path:
    folder = commons / "docs"
    folder.mkdir()
    (folder / "nginx.md").write_text(NOTE, encoding="utf-8")
    return folder


def test_a_dry_run_shows_what_each_note_would_become_and_writes_nothing(deia: Deia, notes: Path) -> None:
    before = sorted(path for path in notes.parent.rglob("*") if "cache" not in str(path))
    done = deia("import", "docs", "--dry-run")
    assert "docs/nginx.md: read where it is" in done.out
    assert "Nginx: 502 after a deploy (note, id docs-nginx, #nginx, #deploy)" in done.out
    assert "deia.toml would get documents docs/**. Nothing was written." in done.out
    assert sorted(path for path in notes.parent.rglob("*") if "cache" not in str(path)) == before


def test_what_was_imported_is_found_at_once_and_so_is_what_is_added_later(deia: Deia, notes: Path) -> None:
    assert deia("import", "docs").code == 0
    assert "docs/nginx.md" in deia("search", "stale upstream socket").out
    (notes / "queue.md").write_text("# Queue jobs vanish on restart\n\nDrain the queue first.\n", encoding="utf-8")
    deia("compile")
    assert "docs/queue.md" in deia("search", "queue jobs vanish").out
    assert deia("show", "docs-queue").code == 0


def test_a_note_that_is_taken_out_of_the_settings_is_no_longer_found(deia: Deia, notes: Path) -> None:
    deia("import", "docs")
    settings = notes.parent / "deia.toml"
    kept = [line for line in settings.read_text(encoding="utf-8").splitlines() if not line.startswith("documents")]
    settings.write_text("\n".join([*kept, ""]), encoding="utf-8")
    deia("compile")
    assert "docs/nginx.md" not in deia("search", "stale upstream socket").out


def test_a_program_gets_json_and_the_exit_code_tells_of_problems(deia: Deia, notes: Path) -> None:
    done = deia("import", "docs", "nowhere", "--json")
    assert done.code == 1
    assert "nowhere: There is no such file or folder." in done.err
    value = json.loads(done.out)
    assert [(note["id"], note["how"]) for note in value["notes"]] == [("docs-nginx", "in place")]
    assert value["documents"] == ["docs/**"]


def test_a_setting_that_leads_away_is_refused_with_its_place(deia: Deia, notes: Path) -> None:
    (notes.parent / "deia.toml").write_text('documents = ["../**"]\n', encoding="utf-8")
    done = deia("compile")
    assert "deia.toml:1" in done.err
    assert 'such as ["docs/**"]' in done.err


def test_after_an_import_nothing_is_left_to_compile(deia: Deia, notes: Path) -> None:
    for number in range(30):
        (notes / f"note-{number}.md").write_text(f"# Note {number}\n\nThe queue of worker {number} is drained.\n")
    assert deia("import", "docs").code == 0
    assert deia("compile").out.startswith("Everything was up to date")
