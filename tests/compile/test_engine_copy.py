"""Answers of a library whose vectors are in an engine are those of its catalog, and go on when the engine is away."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from deia.compile.compiler import compile_commons
from deia.compile.engine_copy import copy_library, engine_standing
from deia.compile.take_in import take_in, update
from deia.engines.engine import EngineError, space_of
from deia.engines.postgres import connected
from deia.ingest.source import FolderSource, described
from deia.librarian import Librarian
from deia.match.keyword import key
from deia.search.catalog import Catalog, open_catalog
from deia.search.local_engine import LocalEngine
from deia.search.ranking.elsewhere import EngineVectors
from tests.derived import derived
from tests.engines.conftest import address, postgres  # noqa: F401 - the same servers

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

PARTS = ("impeller", "spindle", "gasket", "bearing", "flange", "rotor", "stator", "nozzle", "piston", "valve")
IMPORTS = "import os, sys; from deia.compile import engine_copy as e"
QUESTION = "which way does the impeller turn"


@pytest.fixture
def root(tmp_path: Path, environ: Mapping[str, str], monkeypatch: pytest.MonkeyPatch) -> str:
    """Return a commons with a library."""
    folder = tmp_path / "commons"
    (folder / "bok").mkdir(parents=True)
    (folder / "bok/lesson.md").write_text("# Valves\n\nClose the red valve first.\n", encoding="utf-8")
    (folder / "deia.toml").write_text("", encoding="utf-8")
    compile_commons(str(folder), environ=environ, requested=True)
    manuals = tmp_path / "manuals"
    manuals.mkdir()
    for part in PARTS:
        text = f"# The {part}\n\nThe {part} turns left, and it is made of steel.\n"
        (manuals / f"{part}.md").write_text(text, encoding="utf-8")
    take_in(str(folder), [described(FolderSource(path=str(manuals), name="manuals"))], environ)
    return str(folder)


def library(root: str, environ: Mapping[str, str]) -> Catalog:
    folder = derived(root, environ) / "library"
    return open_catalog(str(folder / (folder / "catalog").read_text()))


def answered(root: str, asset_type: str | None = None) -> tuple[list[str], list[str]]:
    answer = Librarian(root).query(QUESTION, layer="library", tier="static", asset_type=asset_type)
    return [result.path for result in answer.documents], list(answer.audit.warnings)


def test_answers_are_the_same_through_an_engine_and_without_it(
    root: str,
    environ: Mapping[str, str],
    address: str,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    before = answered(root)
    monkeypatch.setenv("DEIA_ENGINE", address)
    here = {**environ, "DEIA_ENGINE": address}
    assert any("does not have its state yet; type: deia engine copy" in line for line in answered(root)[1])
    (copied,) = copy_library(root, here)
    assert (copied.written, copied.documents) == (len(PARTS), len(PARTS))
    assert all(standing.is_current for standing in engine_standing(root, here))
    assert answered(root) == before
    assert answered(root, asset_type="text")[0] == before[0]

    (tmp_path / "manuals/impeller.md").write_text("# The impeller\n\nThe impeller turns right.\n", encoding="utf-8")
    (tmp_path / "manuals/valve.md").unlink()
    update(root, (), environ)
    assert not any(standing.is_current for standing in engine_standing(root, here))
    assert answered(root)[0] == before[0]
    (copied,) = copy_library(root, here)
    assert (copied.written, copied.removed, copied.documents) == (1, 1, len(PARTS) - 1)


def test_answers_go_on_from_the_catalog_while_the_engine_is_away(
    root: str, environ: Mapping[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    before = answered(root)
    monkeypatch.setenv("DEIA_ENGINE", "postgresql://me:hunter2@127.0.0.1:1/x")
    documents, warnings = answered(root)
    assert documents == before[0]
    (said,) = [line for line in warnings if line.startswith("the catalog answered, since the engine does not answer")]
    assert "hunter2" not in said
    assert "127.0.0.1" not in said
    (standing,) = engine_standing(root, {**environ, "DEIA_ENGINE": "postgresql://me:hunter2@127.0.0.1:1/x"})
    assert "postgresql://127.0.0.1:1/x" in standing.problem
    assert "hunter2" not in standing.problem


def test_a_passage_that_the_catalog_does_not_have_is_left_out(
    root: str,
    environ: Mapping[str, str],
    postgres: str,  # noqa: F811
) -> None:
    copy_library(root, {**environ, "DEIA_ENGINE": postgres})
    catalog = library(root, environ)
    space = space_of(os.path.basename(catalog.folder)[:16], catalog.tiers["static"].digest)
    vector = next(LocalEngine(catalog, "static").shelves([key(catalog.id(3))])).passages[0].vector
    vectors = EngineVectors(postgres)
    assert len(vectors.near(catalog, "static", vector, None, most=10) or ()) == len(PARTS)
    with connected(postgres) as connection:
        connection.execute(f"update {space} set ordinal = ordinal + 1")  # noqa: S608 - a name of our own
    assert vectors.near(catalog, "static", vector, None, most=10) == []
    assert vectors.near(catalog, "static", vector, range(len(catalog)), most=10) == []


def test_a_copy_that_is_killed_goes_on_and_nothing_counts_before_it_is_whole(
    root: str,
    environ: Mapping[str, str],
    postgres: str,  # noqa: F811
) -> None:
    here = {**environ, "DEIA_ENGINE": postgres}
    code = f"{IMPORTS}; e.AT_ONCE = 1; e.copy_library(sys.argv[1], os.environ)"
    for wait in (0.0, 0.4, 0.8, 1.2):
        process = subprocess.Popen([sys.executable, "-c", code, root], env=here)
        time.sleep(wait)
        process.kill()
        process.wait()
    copied = copy_library(root, here)[0]
    assert copied.documents == len(PARTS)
    assert copy_library(root, here)[0].written == 0


def test_the_catalog_itself_keeps_the_protocol_but_takes_nothing(root: str, environ: Mapping[str, str]) -> None:
    catalog = library(root, environ)
    local = LocalEngine(catalog, "static", state="s")
    (first, *_) = local.shelves(local.marks())
    (near, *_) = local.search(first.passages[0].vector, limit=3, state="s")
    assert (near.document, near.ordinal) == (first.document, 0)
    assert near.cosine == pytest.approx(1, abs=0.02)
    only = local.search(first.passages[0].vector, limit=3, among=[list(local.marks())[3], "unknown"], state="s")
    assert {found.document for found in only} == {list(local.marks())[3]}
    assert local.search(first.passages[0].vector, limit=3, state="other") == []
    assert local.stats().documents == len(PARTS)
    with pytest.raises(EngineError, match="deia ingest"):
        local.upsert([first])
    with pytest.raises(EngineError, match="deia source remove"):
        local.delete([first.document])
