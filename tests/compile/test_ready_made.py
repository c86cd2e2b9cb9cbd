"""What a wheel brings along of the starter comes to the same bytes as what a compile makes, or is not used."""

from __future__ import annotations

from pathlib import Path

import pytest

from deia.compile import ready_starter
from deia.compile.compiler import compile_commons
from deia.compile.ready_starter import make_ready
from deia.compile.triggers import units
from deia.folders import STARTER, derived_folder

TRIGGER = "- {id: a, title: A, urgency: low, message: M., documents: [a], when: {any: [{command: jobctl}]}}\n"


@pytest.fixture(scope="module")
def ready(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("ready")
    make_ready(str(folder))
    return folder


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    (root / "triggers").mkdir(parents=True)
    (root / "deia.toml").touch()
    (root / "triggers/a.yaml").write_text(TRIGGER, encoding="utf-8")
    return root


def compiled(project: Path, folder: Path) -> tuple[bytes, set[str]]:
    """Return the compiled triggers, and what was kept of the starter in the person's cache."""
    environ = {"DEIA_CACHE": f"{folder}/cache", "DEIA_STATE": f"{folder}/state", "DEIA_TRUST": "*"}
    environ["DEIA_TIER"] = "keyword"
    compile_commons(str(project), environ=environ)
    kept = Path(derived_folder(STARTER, environ))
    names = {path.name for path in kept.iterdir()} if kept.is_dir() else set[str]()
    return Path(derived_folder(str(project), environ), "triggers").read_bytes(), names


@pytest.fixture(autouse=True)
def nothing_shipped(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Do without what a wheel brings along, and a checkout whose tests have run."""
    bring(tmp_path / "nothing", monkeypatch)


def bring(ready: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Install what a wheel brings along."""
    monkeypatch.setattr(ready_starter, "SHIPPED", str(ready))
    monkeypatch.setattr(units, "SHIPPED", str(ready / "units"))


@pytest.mark.slow
def test_it_comes_to_the_same_bytes_and_nothing_is_made_again(
    project: Path, ready: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fresh, made = compiled(project, tmp_path / "without")
    assert made == {"starter.json", "units"}
    bring(ready, monkeypatch)
    assert compiled(project, tmp_path / "with") == (fresh, set())


@pytest.mark.slow
@pytest.mark.parametrize("damage", ["token", "body"])
def test_what_another_version_made_or_somebody_changed_is_not_used(
    project: Path, ready: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damage: str
) -> None:
    for path in ready.iterdir():
        head, _, body = path.read_bytes().partition(b"\n")
        other = head.replace(head.split()[1], b"0" * 32) if damage == "token" else head
        (tmp_path / path.name).write_bytes(other + b"\n" + (body[:-9] if damage == "body" else body))
    bring(tmp_path, monkeypatch)
    assert compiled(project, tmp_path)[1] == {"starter.json", "units"}


@pytest.mark.slow
def test_two_builds_make_the_same_files(ready: Path, tmp_path: Path) -> None:
    make_ready(str(tmp_path))
    for path in ready.iterdir():
        assert (tmp_path / path.name).read_bytes() == path.read_bytes()
