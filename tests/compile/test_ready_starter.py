"""The starter that is kept is the starter that would be read, or none."""

from __future__ import annotations

from pathlib import Path

import pytest

from deia.commons.layers.merge_layers import load_layered, load_starter
from deia.compile import ready_starter as module
from deia.compile.ready_starter import NAME, ready_starter
from deia.compile.sources import read_sources
from deia.folders import STARTER, derived_folder


@pytest.fixture(autouse=True)
def nothing_shipped(monkeypatch: pytest.MonkeyPatch) -> None:
    """Do without what a wheel brings along, and a checkout whose tests have run."""
    monkeypatch.setattr(module, "SHIPPED", "")


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    return {"DEIA_CACHE": str(tmp_path / "cache"), "DEIA_STATE": str(tmp_path / "state"), "DEIA_TRUST": "*"}


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    root = tmp_path_factory.mktemp("project")
    (root / "deia.toml").write_text("")
    return read_sources(str(root), {}, starter=True, trusted=True)


def test_what_is_kept_is_what_was_read(environ: dict[str, str], sources: dict[str, str]) -> None:
    fresh, kept = ready_starter(environ, sources), ready_starter(environ, sources)
    assert kept.triggers == fresh.triggers
    assert kept.entries == fresh.entries
    assert [document.text for document in kept.documents] == [document.text for document in fresh.documents]
    for part in ("clusters", "query_patterns", "concepts", "learning_paths", "broken", "derived"):
        assert getattr(kept, part) == getattr(fresh, part)


def test_it_is_kept_among_the_persons_own_files_and_read_from_there(
    environ: dict[str, str], sources: dict[str, str]
) -> None:
    ready_starter(environ, sources)
    path = Path(derived_folder(STARTER, environ), NAME)
    before = path.stat().st_mtime_ns
    ready_starter(environ, sources)
    assert path.stat().st_mtime_ns == before
    assert str(path).startswith(environ["DEIA_CACHE"])


@pytest.mark.parametrize("damage", [b"", b"x", b"torn", b'{"triggers": []}'])
def test_a_damaged_file_counts_as_none(environ: dict[str, str], sources: dict[str, str], damage: bytes) -> None:
    ready_starter(environ, sources)
    path = Path(derived_folder(STARTER, environ), NAME)
    whole = path.read_bytes()
    path.write_bytes(whole[:-40] if damage == b"torn" else whole.split(b"\n")[0] + b"\n" + damage)
    assert ready_starter(environ, sources).triggers == load_starter().triggers
    assert path.read_bytes() == whole


def test_another_starter_is_read_anew(environ: dict[str, str], sources: dict[str, str]) -> None:
    ready_starter(environ, sources)
    path = Path(derived_folder(STARTER, environ), NAME)
    before = path.read_bytes()
    changed = {name: value[:-1] + "0" if name.endswith("git.yaml") else value for name, value in sources.items()}
    ready_starter(environ, changed)
    assert path.read_bytes().split(b"\n")[0] != before.split(b"\n")[0]


def test_a_starter_in_place_has_its_cases(tmp_path: Path) -> None:
    (tmp_path / "deia.toml").write_text("")
    assert load_layered(str(tmp_path), trusted=True).cases
