"""The hook's own file: what it runs from the cache is what a quiet call imports; a torn cache is passed over."""

from __future__ import annotations

import compileall
import json
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from deia.folders import PACKAGE
from deia.serve.hook_run import DEADLINE, HOSTS, JUDGING, PATTERNED, PHRASED, SHARED, SHELL, STANCE
from deia.serve.hook_start import QUIET
from deia.settings import DEFAULTS
from deia.watch.memory import fingerprint

if TYPE_CHECKING:
    from pathlib import Path

LOAD = """
import sys
sys.path.insert(0, {folder!r})
import deia.serve.hook as hook
from deia.serve import hosts
import deia.watch

class Refuse:
    def find_spec(self, name, path=None, target=None):
        assert not name.startswith("deia."), name

sys.meta_path.insert(0, Refuse())
hook._load_cached({folder!r} + "/deia", {quiet!r})
if {judging!r}:
    hook._load_cached({folder!r} + "/deia", {judging!r})
print(sorted(name for name in sys.modules if name.startswith("deia.")))
"""


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """Give a copy of the code with fresh bytecode."""
    ignored = shutil.ignore_patterns("starter", "models", "__pycache__")
    copy = shutil.copytree(PACKAGE, tmp_path / "deia", ignore=ignored)
    assert compileall.compile_dir(copy, quiet=2)
    return tmp_path


def python(code: str) -> str:
    return subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize(
    "judging",
    ["", JUDGING, PATTERNED, PHRASED, f"{JUDGING} {SHELL}", f"{JUDGING} {STANCE}"],
    ids=["quiet", "judging", "patterned", "phrased", "shell", "stance"],
)
def test_the_cached_modules_load_each_after_what_it_imports_and_nothing_is_missing(package: Path, judging: str) -> None:
    loaded = python(LOAD.format(folder=str(package), quiet=QUIET, judging=judging))
    folders = {"deia.serve", "deia.serve.hosts", "deia.watch", "deia.serve.hook"}
    wanted = {f"deia.{name}" for name in (*QUIET.split(), *judging.split())}
    assert set(json.loads(loaded.replace("'", '"'))) == wanted | folders


def test_the_deadline_until_the_settings_are_read_is_their_default() -> None:
    assert DEFAULTS.deadline_ms / 1000 == DEADLINE


def test_what_is_loaded_is_not_loaded_again(package: Path) -> None:
    code = (
        f"import sys; sys.path.insert(0, {str(package)!r}); import deia.serve.hook as hook;"
        f"from deia.serve import hosts; import deia.watch; folder = {str(package)!r} + '/deia';"
        f"hook._load_cached(folder, {QUIET!r}); hook._load_cached(folder, {PHRASED!r}); one = dict(sys.modules);"
        f"hook._load_cached(folder, {QUIET!r}); hook._load_cached(folder, {JUDGING!r});"
        "print(all(sys.modules[name] is module for name, module in one.items()))"
    )
    assert python(code).strip() == "True"


def test_judging_imports_nothing_besides(package: Path) -> None:
    code = (
        f"import sys; sys.path.insert(0, {str(package)!r}); import deia.serve.hook_run;"
        "from deia.serve import hook_judged;"
        "print(*sorted(name for name in sys.modules if name.startswith('deia.')))"
    )
    packages = {"deia.serve", "deia.serve.hosts", "deia.watch"}
    wanted = {f"deia.{name}" for name in (*QUIET.split(), *JUDGING.split())}
    assert set(python(code).split()) - packages - {f"deia.{SHARED}"} == wanted


def test_a_quiet_call_imports_nothing_besides(package: Path) -> None:
    code = (
        f"import sys; sys.path.insert(0, {str(package)!r}); import deia.serve.hook_run;"
        "print(*sorted(name for name in sys.modules if name.startswith('deia.')))"
    )
    packages = {"deia.serve", "deia.serve.hosts", "deia.watch"}
    assert set(python(code).split()) - packages == {f"deia.{name}" for name in QUIET.split()}


@pytest.mark.parametrize("folder", ["watch", "serve"])
@pytest.mark.parametrize("content", [b"", b"torn"])
def test_a_torn_cache_is_passed_over(package: Path, tmp_path: Path, content: bytes, folder: str) -> None:
    for cached in (package / "deia").glob(f"{folder}/__pycache__/*.pyc"):
        cached.write_bytes(content)
    event = {"hook_event_name": "UserPromptSubmit", "session_id": "s", "cwd": str(tmp_path), "prompt": "hello"}
    hook = str(package / "deia" / "serve" / "hook.py")
    marker = tmp_path / "state" / "compiling" / f"{fingerprint(f'{package}/deia/starter'):016x}"
    marker.parent.mkdir(parents=True)
    marker.touch()  # so that no compile is started
    done = subprocess.run(
        [sys.executable, "-I", "-S", hook, "claude-code"],
        input=json.dumps(event).encode(),
        capture_output=True,
        check=True,
        env={"DEIA_STATE": str(tmp_path / "state"), "DEIA_CACHE": str(tmp_path / "cache")},
    )
    assert "not compiled" in json.loads(done.stdout)["systemMessage"]
    assert done.stderr == b""
    (errors,) = (tmp_path / "state" / "starter" / "events").iterdir()  # it got as far as missing its compiled triggers
    assert "deia compile" in errors.read_text(encoding="utf-8")


@pytest.mark.parametrize("host", HOSTS)
def test_the_cached_modules_of_a_host_are_what_it_imports(package: Path, host: str) -> None:
    code = (
        f"import sys; sys.path.insert(0, {str(package)!r}); from deia.serve import hook_run; before = set(sys.modules);"
        f"names = []; hook_run.host_module({host!r}, names.append);"
        "print(*names, '|', *sorted(set(sys.modules) - before - {'deia.serve.hosts'}))"
    )
    told, _, imported = python(code).partition("|")
    assert {f"deia.{name}" for name in told.split()} == set(imported.split())
