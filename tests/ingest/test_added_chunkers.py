"""The chunkers that a person added, and the files that they cut."""

from __future__ import annotations

import os
import shutil
from importlib.metadata import version
from typing import TYPE_CHECKING

import pytest

from deia.ingest.added_chunkers import add, added_chunkers, chosen, chunker_in, folder_of, remove, with_native_code
from deia.ingest.checked_source import checked
from deia.ingest.custom import cutting
from deia.ingest.ingesting import Outcome, ingest
from deia.ingest.library_store import Library
from deia.ingest.reading import ChunkerConfig, ReadingError
from deia.ingest.source import FolderSource, SourceError, described
from tests.ingest.custom.components import RECORDS, component

if TYPE_CHECKING:
    from pathlib import Path

wasmtime = pytest.importorskip("wasmtime")
DECLARED = "files = ['*.pmp']\n[[levels]]\nbegins = 'PUMP'\n"


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    return {"DEIA_STATE": str(tmp_path / "state"), "DEIA_CACHE": str(tmp_path / "cache")}


@pytest.fixture
def declared(tmp_path: Path) -> str:
    path = tmp_path / "pumps.toml"
    path.write_text(DECLARED, encoding="utf-8")
    return str(path)


@pytest.fixture
def module(tmp_path: Path) -> str:
    path = tmp_path / "records.wasm"
    path.write_bytes(bytes(wasmtime.wat2wasm(RECORDS)))
    return str(path)


def take_in(
    folder: Path, environ: dict[str, str], *, force: bool = False, **chunker: object
) -> tuple[Outcome, list[str]]:
    with Library(f"{environ['DEIA_STATE']}/library") as library:
        source = checked(described(FolderSource(path=str(folder), name="docs")).but(chunker=chunker))
        outcome = ingest(library, library.register(source), force=force, environ=environ)
        kinds = [str(row[4]) for shelved in library.documents() for row in library.kept(shelved.content).rows]
        return outcome, kinds + [note for _, _, note in library.notes("docs")]


def test_of_several_chunkers_all_are_forgotten_or_none(environ: dict[str, str], declared: str) -> None:
    add(chunker_in(declared), environ)
    add(chunker_in(declared, name="same"), environ)
    with pytest.raises(SourceError, match="there is no chunker 'nosuch'"):
        remove(["pumps", "nosuch"], environ)
    assert [chunker.name for chunker in added_chunkers(environ)] == ["pumps", "same"]
    remove(["pumps"], environ)
    (left,) = added_chunkers(environ)
    assert os.path.isfile(left.path)
    remove(["same", "same"], environ)
    assert (added_chunkers(environ), os.path.exists(left.path)) == ([], False)


def test_a_chunker_cuts_the_files_that_it_is_for_and_no_others(
    tmp_path: Path, environ: dict[str, str], declared: str
) -> None:
    folder = tmp_path / "docs"
    folder.mkdir()
    for name in ("a.pmp", "b.txt"):
        (folder / name).write_text("PUMP one\nPUMP two\n", encoding="utf-8")
    assert take_in(folder, environ)[1] == ["", ""]
    add(chunker_in(declared), environ)
    assert take_in(folder, environ, force=True)[1] == ["record", "record", ""]
    assert take_in(folder, environ, strategy="by_sentence")[1] == ["", ""]
    assert take_in(folder, environ, custom="pumps")[1] == ["record"] * 4


def test_a_component_cuts_what_is_taken_in_and_what_it_fails_at_is_marked(
    tmp_path: Path, environ: dict[str, str], module: str
) -> None:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "a.pmp").write_text("# one\n# two\n", encoding="utf-8")
    add(chunker_in(module, globs=["*.pmp"]), environ)
    outcome, _ = take_in(folder, environ)
    assert (outcome.chunks, outcome.failed) == (2, 0)
    failing = tmp_path / "failing.wasm"
    failing.write_bytes(bytes(wasmtime.wat2wasm(component("offsets", "unreachable"))))
    add(chunker_in(str(failing), name="records", globs=["*.pmp"]), environ)
    outcome, notes = take_in(folder, environ, force=True)
    assert (outcome.failed, outcome.error) == (1, "")
    assert "the chunker records cannot cut it: it stopped" in notes[-1]


def test_a_module_that_nobody_added_never_runs(tmp_path: Path, environ: dict[str, str], module: str) -> None:
    folder = tmp_path / "docs"
    folder.mkdir()
    shutil.copy(module, folder)
    (folder / "a.pmp").write_text("# one\n# two\n", encoding="utf-8")
    assert take_in(folder, environ)[0].chunks == 1
    outcome, _ = take_in(folder, environ, custom="records")
    assert "there is no chunker 'records'" in outcome.error
    assert not os.path.exists(f"{environ['DEIA_CACHE']}/chunkers")


def test_native_code_lies_in_the_cache_by_hash_and_version_and_is_made_again(
    environ: dict[str, str], module: str
) -> None:
    added = add(chunker_in(module), environ)
    (native,) = os.listdir(f"{environ['DEIA_CACHE']}/chunkers")
    assert native == f"{added.hash}-{version('wasmtime')}"
    os.unlink(f"{environ['DEIA_CACHE']}/chunkers/{native}")
    assert os.path.exists(with_native_code(added, environ).native)
    remove(["records"], environ)
    assert os.listdir(folder_of(environ)) == ["chunkers.json"]


def test_a_chunker_that_was_changed_since_is_not_run(environ: dict[str, str], module: str) -> None:
    added = add(chunker_in(module), environ)
    with open(added.path, "ab") as file:
        file.write(b"\0")
    with pytest.raises(ReadingError, match="not what was added"):
        with_native_code(added, environ)


def test_one_of_the_same_name_takes_its_place(environ: dict[str, str], declared: str, module: str) -> None:
    add(chunker_in(declared, name="pump"), environ)
    add(chunker_in(module, name="pump", globs=["*.x"]), environ)
    (only,) = added_chunkers(environ)
    assert only.path.endswith(".wasm")
    assert chosen("a/b.x", ChunkerConfig(), [only]) == only
    assert chosen("a/b.pmp", ChunkerConfig(), [only]) is None


@pytest.mark.parametrize("name", ["recursive", "..", "/"])
def test_some_names_are_refused(environ: dict[str, str], declared: str, name: str) -> None:
    with pytest.raises(SourceError, match="cannot be called"):
        chunker_in(declared, name=name)


@pytest.mark.parametrize("name", ["gone.wasm", "gone.toml", "a.txt", ""])
def test_what_is_no_chunker_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(SourceError, match="there is no chunker"):
        chunker_in(str(tmp_path / name))


def test_what_cannot_be_compiled_is_not_kept(tmp_path: Path, environ: dict[str, str]) -> None:
    path = tmp_path / "core.wasm"
    path.write_bytes(bytes(wasmtime.wat2wasm("(module)")))
    with pytest.raises(ReadingError, match="no WebAssembly component"):
        add(chunker_in(str(path)), environ)
    assert added_chunkers(environ) == []


@pytest.mark.parametrize("content", ["1", "[1]", "[{}]", "nonsense", "[" * 9999, '[{"name": 1, "path": "x"}]'])
def test_a_damaged_list_is_told(environ: dict[str, str], content: str) -> None:
    os.makedirs(folder_of(environ))
    with open(f"{folder_of(environ)}/chunkers.json", "w", encoding="utf-8") as file:
        file.write(content)
    with pytest.raises(SourceError, match="list of chunkers cannot be read"):
        added_chunkers(environ)


def test_a_missing_library_is_said_with_what_to_type(
    monkeypatch: pytest.MonkeyPatch, environ: dict[str, str], module: str
) -> None:
    monkeypatch.setattr(cutting, "LIBRARY", "a-library-that-nobody-has")
    with pytest.raises(ReadingError, match="not installed") as error:
        add(chunker_in(module), environ)
    assert error.value.fix == "pip install 'deia[wasm]'"
