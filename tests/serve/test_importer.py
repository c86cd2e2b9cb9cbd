"""The hook's own file and what it imports in groups: a group is what is needed together; a torn one is passed over."""

from __future__ import annotations

import compileall
import json
import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from deia.folders import PACKAGE
from deia.serve.bytecode import IMPORTER, has_bytecode, keep_bytecode
from deia.serve.hook_run import DEADLINE, HOSTS
from deia.serve.importer import GROUPS, bytecode_path
from deia.settings import DEFAULTS
from deia.watch.memory import fingerprint

if TYPE_CHECKING:
    from pathlib import Path

# Runs the hook's file up to its start, which is left out, and refuses that the import system finds anything of deia.
LOAD = """
import sys, types
sys.argv = [{hook!r}]
still = sys.modules["deia.serve.hook_start"] = types.ModuleType("deia.serve.hook_start")
still.start = lambda: None
space = {{"__name__": "__main__", "__file__": {hook!r}}}
exec(compile(open({hook!r}).read(), {hook!r}, "exec"), space)
del sys.modules["deia.serve.hook_start"]

class Refuse:
    def find_spec(self, name, path=None, target=None):
        assert not name.startswith("deia."), name

sys.meta_path.insert(1, Refuse())
"""
SEARCH = "search"
SEARCHING = """
import sys
sys.path.insert(0, {parent!r})
from deia.serve.importer import install
install({package!r})

class Refuse:
    def find_spec(self, name, path=None, target=None):
        assert name.count(".") < 2 and name.rpartition(".")[2] in ("search", "match") or name[:5] != "deia.", name

sys.meta_path.insert(1, Refuse())
import deia.serve.command_line
print(*(name for name in sys.modules if name.startswith("deia.")))
"""
NAMES = "print(*sorted(name for name in sys.modules if name.startswith('deia.')))"
PACKAGES = {"deia.match", "deia.serve", "deia.serve.hosts", "deia.watch", "deia.serve.importer"}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a copy of the code with fresh bytecode, for all to read."""
    ignored = shutil.ignore_patterns("starter", "models", "__pycache__")
    copy = shutil.copytree(PACKAGE, tmp_path_factory.mktemp("made") / "deia", ignore=ignored)
    assert compileall.compile_dir(copy, quiet=2)
    assert keep_bytecode(copy.as_posix())
    return copy


@pytest.fixture
def package(made: Path, tmp_path: Path) -> Path:
    """Give a copy of the code with fresh bytecode, to be damaged."""
    return shutil.copytree(made, tmp_path / "deia")


def python(code: str) -> str:
    done = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=False)
    assert not done.returncode, done.stderr
    return done.stdout


def hook(package: Path) -> str:
    return (package / "serve" / "hook.py").as_posix()


def test_every_group_of_the_hook_loads_each_module_after_what_it_imports(made: Path) -> None:
    for group, names in GROUPS.items():
        own = [f"deia.{name}" for name in names.split()]
        if group != SEARCH:
            loaded = python(LOAD.format(hook=hook(made)) + f"import {own[-1]}\nprint(*sys.modules)").split()
            assert [name for name in loaded if name in own] == own


def test_a_search_loads_each_module_after_what_it_imports_and_nothing_besides(made: Path) -> None:
    code = SEARCHING.format(parent=made.parent.as_posix(), package=made.as_posix())
    done = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, check=False)
    assert not done.returncode, done.stderr
    own = [f"deia.{name}" for name in GROUPS[SEARCH].split()]
    loaded = done.stdout.split()
    assert [name for name in loaded if name in own] == own
    assert set(loaded) - modules_of("base", "spool", "match.static", SEARCH) <= {*PACKAGES, "deia.search"}


def imported_by(package: Path, module: str) -> set[str]:
    """Give the modules of deia that come with one in the ordinary way."""
    code = f"import sys; sys.path.insert(0, {package.parent.as_posix()!r}); import deia.{module}; {NAMES}"
    return set(python(code).split()) - PACKAGES - {"deia.serve.importer"}


def modules_of(*groups: str) -> set[str]:
    return {f"deia.{name}" for group in groups for name in GROUPS[group].split()}


def test_a_quiet_call_imports_nothing_besides(made: Path) -> None:
    assert imported_by(made, "serve.hook_run") | {"deia.serve.hosts.occasion"} == modules_of("base", "quiet")


def test_judging_imports_nothing_besides(made: Path) -> None:
    wanted = modules_of("base", "quiet", "patterned", "phrased", "judging")
    imported = imported_by(made, "serve.hook_judged")
    assert imported <= wanted
    assert imported | modules_of("base", "quiet") | {"deia.watch.patterned", "deia.watch.phrased"} == wanted


@pytest.mark.parametrize("host", HOSTS)
def test_a_host_imports_its_own_groups_alone(made: Path, host: str) -> None:
    name = host.replace("-", "_")
    loaded = python(LOAD.format(hook=hook(made)) + f"import deia.serve.hosts.{name}\n{NAMES}").split()
    hosts = {each.removeprefix("deia.") for each in loaded if each.startswith("deia.serve.hosts.")}
    assert f"serve.hosts.{name}" in hosts
    assert hosts - {"serve.hosts.occasion"} <= GROUPS.keys()
    assert not modules_of("judging") & set(loaded)


def test_the_deadline_until_the_settings_are_read_is_their_default() -> None:
    assert DEFAULTS.deadline_ms / 1000 == DEADLINE


def test_what_is_kept_is_told_from_what_is_missing_torn_or_older_than_its_source(package: Path) -> None:
    here = package.as_posix()
    assert has_bytecode(here)
    for group in (IMPORTER, "quiet"):
        path = bytecode_path(here, group)
        os.unlink(path)
        assert not has_bytecode(here)
        assert keep_bytecode(here)
        (package / "serve" / "__pycache__" / os.path.basename(path)).write_bytes(b"torn")
        assert not has_bytecode(here)
        assert keep_bytecode(here)
        assert has_bytecode(here)
    os.utime(package / "watch" / "gate.py", ns=(1, 1))
    assert not has_bytecode(here)
    assert keep_bytecode(here)
    assert has_bytecode(here)


def test_without_sources_nothing_is_kept_and_nothing_breaks(package: Path) -> None:
    os.unlink(package / "watch" / "gate.py")
    assert not has_bytecode(package.as_posix())
    assert not keep_bytecode(package.as_posix())


def test_what_cannot_be_kept_is_said(tmp_path: Path) -> None:
    ignored = shutil.ignore_patterns("starter", "models", "__pycache__")
    copy = shutil.copytree(PACKAGE, tmp_path / "deia", ignore=ignored)
    (copy / "serve" / "__pycache__").write_bytes(b"a file where a folder is wanted")
    assert not keep_bytecode(copy.as_posix())
    assert not has_bytecode(copy.as_posix())


def answer(package: Path, tmp_path: Path) -> str:
    """Give what the hook of a copy says to the person where nothing is compiled, and see that nothing went wrong."""
    event = {"hook_event_name": "UserPromptSubmit", "session_id": "s", "cwd": str(tmp_path), "prompt": "hello"}
    marker = tmp_path / "state" / "compiling" / f"{fingerprint(f'{package.as_posix()}/starter'):016x}"
    marker.parent.mkdir(parents=True)
    marker.touch()  # so that no compile is started
    done = subprocess.run(
        [sys.executable, "-I", "-S", hook(package), "claude-code"],
        input=json.dumps(event).encode(),
        capture_output=True,
        check=True,
        env={"DEIA_STATE": str(tmp_path / "state"), "DEIA_CACHE": str(tmp_path / "cache")},
    )
    assert done.stderr == b""
    (errors,) = (tmp_path / "state" / "starter" / "events").iterdir()  # it got as far as missing its compiled triggers
    assert "deia compile" in errors.read_text(encoding="utf-8")
    return str(json.loads(done.stdout)["systemMessage"])


@pytest.mark.parametrize("suffix", ["*.pyc", "*.group"])
@pytest.mark.parametrize("content", [b"", b"torn"])
def test_torn_bytecode_is_passed_over(package: Path, tmp_path: Path, content: bytes, suffix: str) -> None:
    for cached in package.rglob(suffix):
        cached.write_bytes(content)
    assert "not compiled" in answer(package, tmp_path)


@pytest.mark.parametrize("group", [IMPORTER, *GROUPS])
def test_a_group_that_is_missing_is_imported_in_the_ordinary_way(package: Path, tmp_path: Path, group: str) -> None:
    os.unlink(bytecode_path(package.as_posix(), group))
    assert "not compiled" in answer(package, tmp_path)


def test_a_module_that_changed_is_read_anew(package: Path, tmp_path: Path) -> None:
    source = package / "serve" / "hook_uncompiled.py"
    source.write_text(source.read_text(encoding="utf-8").replace("not compiled", "not yet made"), encoding="utf-8")
    artefact = package / "watch" / "artefact.py"
    text = artefact.read_text(encoding="utf-8").replace("the commons is not compiled", "the commons is not yet made")
    artefact.write_text(text, encoding="utf-8")
    assert "not yet made" in answer(package, tmp_path)


def test_a_module_that_fails_leaves_nothing_half_imported(package: Path) -> None:
    source = package / "serve" / "hosts" / "saying.py"
    source.write_text(source.read_text(encoding="utf-8") + "\nraise RuntimeError('broken')\n", encoding="utf-8")
    assert keep_bytecode(package.as_posix())
    code = "\ntry:\n    import deia.serve.hosts.saying\nexcept BaseException as e:\n    print(type(e).__name__)\n"
    told = python(LOAD.format(hook=hook(package)).partition("class Refuse")[0] + code + NAMES).split()
    assert told[0] == "RuntimeError"
    assert "deia.serve.hosts.saying" not in told


def test_what_is_missing_is_told_by_the_doctor_and_mended_by_a_compile(
    made: Path, tmp_path: Path, commons: Path, environ: dict[str, str]
) -> None:
    copy = shutil.copytree(made, tmp_path / "installed" / "deia")
    (copy / "models").symlink_to(f"{PACKAGE}/models", target_is_directory=True)
    environ["PYTHONPATH"] = copy.parent.as_posix()

    def deia(*arguments: str) -> str:
        command = [sys.executable, "-m", "deia.serve.main", *arguments]
        done = subprocess.run(command, capture_output=True, check=False, cwd=commons, env=environ)
        return (done.stdout + done.stderr).decode()

    shutil.rmtree(copy / "serve" / "__pycache__")
    assert "To see whether all works" in deia("install", "claude-code")
    assert has_bytecode(copy.as_posix())
    os.unlink(bytecode_path(copy.as_posix(), "judging"))
    assert "what the hook imports is not prepared" in deia("doctor")
    deia("compile")
    assert has_bytecode(copy.as_posix())
