"""Whatever a repository has at `.deia`, where earlier versions kept compiled files: it is neither read nor written."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from deia import freshness
from deia.commons.index.load_commons import load_commons
from deia.commons.index.read_index import find_index
from deia.compile.compiler import compile_commons
from deia.folders import STARTER
from deia.problems import CommonsError
from deia.serve import hook
from tests.derived import derived, private

if TYPE_CHECKING:
    from collections.abc import Callable

    Put = Callable[[Path, Path], object]

PATIENCE = 60.0  # seconds for a process on a busy machine
pytestmark = pytest.mark.skipif(os.name == "nt", reason="links and pipes need POSIX")
INDEX = 'version: "1.0"\nclusters: {}\n'


@pytest.fixture(scope="module")
def person(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return the environment of a person who has the starter commons compiled."""
    home = tmp_path_factory.mktemp("home")
    environ = private(home, HOME=str(home), PATH=os.environ["PATH"], PYTHONPATH=os.getcwd(), DEIA_STARTER="true")
    compile_commons(STARTER, environ=environ)
    return environ


@pytest.fixture(scope="module")
def forged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return compiled files without a trigger, with a deadline of ten minutes."""
    root = tmp_path_factory.mktemp("forged")
    (root / "commons_index.yaml").write_text(INDEX, encoding="utf-8")
    (root / "deia.toml").write_text("starter = false\ndeadline_ms = 600000\n", encoding="utf-8")
    folder = Path(compile_commons(str(root), environ=private(root)).folder)
    for name in (freshness.TRIGGERS, freshness.DOCUMENTS):
        (folder / name).write_text(f"{freshness.HEAD}\n", encoding="utf-8")
    return folder


def link(at: Path, target: Path) -> None:
    at.symlink_to(target, target_is_directory=True)


def folder_of_links(at: Path, target: Path) -> None:
    at.mkdir()
    for name in ("triggers", "catalog", "manifest.json", "sources", "lock", "stamps.triggers", "stamps.documents"):
        (at / name).symlink_to(target / "kept.txt")


PUT: dict[str, Put] = {
    "link": link,
    "link to nothing": lambda at, target: at.symlink_to(target / "gone"),
    "folder of links": folder_of_links,
    "pipe": lambda at, _: os.mkfifo(at),
    "file": lambda at, _: at.write_text("a file", encoding="utf-8"),
}


@pytest.fixture
def victim(tmp_path: Path) -> Path:
    """Return a folder of the person's, with files that are called like those that a compile removes."""
    folder = tmp_path / "victim"
    (folder / "catalog-0123").mkdir(parents=True)
    for name in ("kept.txt", "manifest.json", "codes-0123", "triggers.1.new", "catalog-0123/kept.txt"):
        (folder / name).write_text(f"{name} is the person's", encoding="utf-8")
    return folder


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Return a commons as somebody else's clone brings it."""
    root = tmp_path / "clone"
    (root / "triggers").mkdir(parents=True)
    (root / "commons_index.yaml").write_text(INDEX, encoding="utf-8")
    return root


def listing(*folders: Path) -> dict[str, str]:
    """Return what is at and below some paths: the kind, the mode, and the content or the target."""
    entries: dict[str, str] = {}
    for path in [path for folder in folders for path in (folder, *sorted(folder.rglob("*")))]:
        mode = path.lstat().st_mode
        if path.is_symlink():
            content = os.readlink(path)
        else:
            content = hashlib.sha256(path.read_bytes()).hexdigest() if stat.S_ISREG(mode) else ""
        entries[str(path)] = f"{mode:o} {content}"
    return entries


def is_held(root: Path, environ: dict[str, str], session: str) -> bool:
    """Return whether the hook, as a process of its own, holds `terraform destroy`."""
    event = {
        "session_id": session, "cwd": str(root), "hook_event_name": "PreToolUse", "tool_name": "Bash",
        "tool_input": {"command": "terraform destroy"},
    }  # fmt: skip
    command = [sys.executable, "-I", "-S", os.path.abspath(hook.__file__), "claude-code"]
    done = subprocess.run(
        command, input=json.dumps(event).encode(), capture_output=True, env=environ, check=True, timeout=PATIENCE
    )
    answer: dict[str, Any] = json.loads(done.stdout) if done.stdout else {}
    return bool(answer.get("hookSpecificOutput", {}).get("permissionDecision") == "deny")


def deia(root: Path, environ: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "deia.serve.main", *arguments]
    return subprocess.run(command, cwd=root, env=environ, capture_output=True, check=False, timeout=PATIENCE)


def assert_untouched_and_held(repository: Path, victim: Path, environ: dict[str, str]) -> None:
    before = listing(repository / ".deia", victim)
    assert is_held(repository, environ, f"{repository} before")
    compiled = deia(repository, environ, "compile", "--tier", "static")
    assert compiled.returncode == 0, compiled.stderr
    assert is_held(repository, environ, f"{repository} after")
    assert deia(repository, environ, "search", "terraform destroy").returncode == 0
    assert listing(repository / ".deia", victim) == before
    assert (derived(repository, environ) / "triggers").exists()


@pytest.mark.slow
@pytest.mark.parametrize("name", PUT)
def test_what_is_there_stays_as_it_was(repository: Path, victim: Path, person: dict[str, str], name: str) -> None:
    PUT[name](repository / ".deia", victim)
    assert_untouched_and_held(repository, victim, person)


@pytest.mark.slow
def test_forged_files_count_for_nothing(repository: Path, victim: Path, person: dict[str, str], forged: Path) -> None:
    shutil.copytree(forged, repository / ".deia")
    assert_untouched_and_held(repository, victim, person)


def test_a_commons_that_is_a_link_counts_as_what_it_leads_to(repository: Path, person: dict[str, str]) -> None:
    alias = repository.parent / "alias"
    alias.symlink_to(repository)
    assert derived(alias, person) == derived(repository, person)


def test_an_index_in_the_old_folder_is_no_index(tmp_path: Path) -> None:
    root = tmp_path / "project"
    (root / ".deia/index").mkdir(parents=True)
    (root / ".deia/index/master-index.yaml").write_text(INDEX, encoding="utf-8")
    assert find_index(str(root)) == ""
    with pytest.raises(CommonsError, match="no commons"):
        load_commons(str(root))
