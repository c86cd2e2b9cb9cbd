"""What was indexed is written down with what it was indexed with, and changes since then are told."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from deia.compile.compiler import compile_commons
from deia.compile.graph_update import open_graph
from deia.compile.indexing import NAME, read_indexing, said_at_start
from deia.compile.manifest import read_manifest, write_manifest
from deia.compile.take_in import take_in
from deia.folders import derived_folder
from deia.graph.extractor import extractor
from deia.ingest.source import FolderSource, described
from deia.librarian import Librarian
from deia.settings import resolve

if TYPE_CHECKING:
    from collections.abc import Mapping

INDEX = """version: "1.0"
clusters:
  shop:
    documents:
      - id: freezing
        path: bok/freezing.md
        title: Freezing the ledger
"""


@pytest.fixture
def root(tmp_path: Path, environ: Mapping[str, str]) -> str:
    folder, notes = tmp_path / "commons", tmp_path / "notes"
    (folder / "bok").mkdir(parents=True)
    notes.mkdir()
    (folder / "commons_index.yaml").write_text(INDEX, encoding="utf-8")
    (folder / "bok/freezing.md").write_text("# Freezing\n\nThe ledger is frozen by hand.\n", encoding="utf-8")
    (notes / "queue.md").write_text("# Queue\n\nThe queue is drained nightly.\n", encoding="utf-8")
    take_in(str(folder), [described(FolderSource(path=str(notes)))], environ)
    return str(folder)


def changes(root: str, environ: Mapping[str, str]) -> list[str]:
    return said_at_start(root, environ, resolve(root, environ=environ))


def test_an_indexing_is_written_down_with_what_it_was_done_with(root: str, environ: Mapping[str, str]) -> None:
    written = read_indexing(derived_folder(root, environ))
    assert written["embedder"]["provider"] == "deia"
    assert written["embedder"]["dimensions"] > 100
    assert written["extractor"] == extractor()
    assert written["documentCount"] >= 3  # the lesson, the index and the note
    assert written["lastIndexedAt"].endswith("Z")
    assert len(written["configHash"]) == 32
    assert changes(root, environ) == []
    assert not any("index" in warning for warning in Librarian(root).query("is the queue drained").audit.warnings)


def test_changed_types_are_told_until_the_next_indexing(root: str, environ: Mapping[str, str]) -> None:
    Path(root, "deia.toml").write_text('[schema]\nentityTypes = ["SERVICE"]\n', encoding="utf-8")
    assert ["next indexing" in line for line in changes(root, environ)] == [True]
    assert any("[schema]" in line for line in Librarian(root).query("is the queue drained").audit.warnings)
    open_graph(root, environ).__exit__(None, None, None)
    assert changes(root, environ) == []


def test_another_library_is_a_fresh_start(root: str, environ: Mapping[str, str], tmp_path: Path) -> None:
    moved = {**environ, "DEIA_STATE": str(tmp_path / "moved")}
    Path(moved["DEIA_STATE"]).mkdir()
    trusted = Path(environ["DEIA_STATE"], "trusted")
    if trusted.exists():
        Path(moved["DEIA_STATE"], "trusted").write_bytes(trusted.read_bytes())
    assert any("begins anew" in line and str(tmp_path / "moved") in line for line in changes(root, moved))
    with open_graph(root, moved) as graph:
        assert not any(name.startswith("library:") for name in graph.hashes())
    assert changes(root, moved) == []


@pytest.mark.slow
def test_a_changed_embedder_blocks_meaning_until_all_is_indexed_again(root: str, environ: Mapping[str, str]) -> None:
    compile_commons(root, environ=environ)
    folder = derived_folder(root, environ)
    manifest = read_manifest(folder)
    write_manifest(folder, manifest.but(tiers=("static", "transformer:one")))
    Path(root, "deia.toml").write_text('tier = "transformer"\nmodel = "two"\n', encoding="utf-8")
    (line,) = [line for line in changes(root, environ) if "embedder" in line]
    assert "one" in line
    assert "deia compile --force" in line
    for command in (["doctor"], ["mcp"]):
        done = subprocess.run(
            [sys.executable, "-m", "deia.serve.main", *command, "--commons", root],
            env=dict(environ), input="", capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert "embedder" in done.stdout + done.stderr


@pytest.mark.parametrize("damaged", ["", "[", "[]", '{"dataPath": 3}', "\ud800"])
def test_a_damaged_record_breaks_nothing(root: str, environ: Mapping[str, str], damaged: str) -> None:
    Path(derived_folder(root, environ), NAME).write_text(damaged, encoding="utf-8", errors="surrogatepass")
    assert isinstance(changes(root, environ), list)
