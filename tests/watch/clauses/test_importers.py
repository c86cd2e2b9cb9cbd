"""A trigger may ask how many files import the one that is written; the hook reads that from a small list."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deia import files
from deia.compile.compiler import compile_commons
from deia.compile.take_in import take_in
from deia.folders import GRAPH, derived_folder
from deia.ingest.source import FolderSource, described
from deia.records import Turn
from deia.serve import hook
from deia.watch.clauses.importers import NAME, importers_in
from deia.watch.memory.recall import InMemoryLog
from deia.watch.watcher import Surroundings, watch
from tests.derived import private

if TYPE_CHECKING:
    from tests.watch.conftest import Build, Make

INDEX = 'version: "1.0"\nclusters:\n  shop:\n    documents:\n      - {id: core, path: bok/core.md, title: The core}\n'
TRIGGERS = """- id: core-change
  title: A file that much imports
  urgency: high
  action: warn
  message: Many files import this one.
  documents: [core]
  when:
    all:
      - write: {paths: ["*.py"], imported_by: {at_least: 4}}
"""
TURNS = "turns: [{role: tool_call, tool: Write, tool_input: {file_path: shop/cart.py, content: x}}]"
CASES = f"""core-change:
  fires:
    - {{{TURNS}, importers: {{shop/cart.py: 4}}}}
  silent:
    - {{{TURNS}, importers: {{shop/cart.py: 3}}}}
    - {{{TURNS}}}
"""


def test_a_clause_holds_from_its_number_on_and_never_without_a_list(make: Make, build: Build) -> None:
    artefact = build(make(("write", {"paths": ["*.py"], "imported_by": 40}), repeat=0.0))
    turn = Turn(role="tool_call", text="", tool="Write", tool_input={"file_path": "a.py", "content": "x"})

    def fired(number: int | None) -> list[str]:
        around = Surroundings(now=0.0, importers=None if number is None else lambda _path: number)
        return [firing.because for firing in watch(artefact, turn, InMemoryLog(), lambda: around).firings]

    assert fired(None) == fired(39) == []
    assert fired(43)[0].endswith("43 files import it")


@pytest.fixture
def commons(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, value in private(tmp_path / "person").items():
        monkeypatch.setenv(name, value)
    for name, text in {
        "commons_index.yaml": INDEX, "bok/core.md": "# The core\n", "triggers/core.yaml": TRIGGERS,
        "triggers/core.cases.yaml": CASES, "deia.toml": "starter = false\n", "shop/cart.py": "def add():\n    pass\n",
        "shop/lone.py": "x = 1\n", **{f"shop/user{n}.py": "from shop.cart import add\nimport lone\n" for n in range(5)},
    }.items():  # fmt: skip
        path = tmp_path / "commons" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tmp_path / "commons"


def ask(commons: Path, path: str) -> str:
    """Ask a real hook process about a file that is about to be written."""
    event = {
        "session_id": path, "cwd": str(commons), "hook_event_name": "PreToolUse", "tool_name": "Write",
        "tool_use_id": path, "tool_input": {"file_path": path, "content": "x = 2\n"},
    }  # fmt: skip
    command = [sys.executable, "-I", "-S", hook.__file__, "claude-code", "--commons", str(commons)]
    done = subprocess.run(command, input=json.dumps(event).encode(), capture_output=True, check=True)
    return done.stdout.decode()


def test_a_real_hook_knows_how_many_files_import_the_one_that_is_written(
    commons: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DEIA_DEADLINE_MS", "60000")
    compile_commons(str(commons), environ=os.environ)
    assert ask(commons, "shop/cart.py") == "", "nothing was taken in yet"
    take_in(str(commons), [described(FolderSource(path=str(commons)))], os.environ)
    listed = Path(derived_folder(str(commons), os.environ), GRAPH, NAME).read_text(encoding="utf-8")
    assert listed == f"5\t{files.real(str(commons / 'shop/cart.py'))}\n"
    assert "Many files import this one" in ask(commons, str(commons / "shop/cart.py"))
    assert "Many files import this one" in ask(commons, "./shop/../shop/cart.py")
    assert ask(commons, "shop/user1.py") == ""


def test_cases_say_how_many_files_import_one(commons: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "deia.serve.main", "trigger", "test", "--commons", str(commons)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert "3 cases, 0 failed" in done.stdout, done.stdout + done.stderr


@pytest.mark.parametrize("wrong", ["40", "{at_least: 1}", "{more: 4}"])
def test_a_wrong_number_is_said(commons: Path, wrong: str) -> None:
    file = commons / "triggers/core.yaml"
    file.write_text(TRIGGERS.replace("{at_least: 4}", wrong), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "deia.serve.main", "lint", "--commons", str(commons)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert "triggers/core.yaml:9" in done.stdout
    assert "imported_by" in done.stdout


@given(st.binary(max_size=60), st.text(alphabet="ab/\\\n\t.:\0\ud800", max_size=12))
def test_no_list_and_no_path_breaks_it(tmp_path_factory: pytest.TempPathFactory, data: bytes, path: str) -> None:
    folder = tmp_path_factory.mktemp("derived")
    (folder / GRAPH).mkdir()
    (folder / GRAPH / NAME).write_bytes(data)
    assert importers_in(str(folder), str(folder))(path) >= 0
