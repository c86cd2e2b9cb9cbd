"""The hook's own file and what it imports in groups: a group is what is needed together; a torn one is passed over."""

from __future__ import annotations

import compileall
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from deia.folders import PACKAGE, STARTER
from deia.serve.hooks.run import DEADLINE
from deia.serve.startup.bytecode import IMPORTER, MADE_SCRIPT, has_bytecode, import_groups, keep_bytecode
from deia.serve.startup.importer import bytecode_path
from deia.settings import DEFAULTS
from deia.watch.memory.log import fingerprint

pytestmark = pytest.mark.slow

# Says on standard error which modules of deia the import system was asked for, since they came with no group.
SPY = """
import sys
class Spy:
    def find_spec(self, name, path=None, target=None):
        if name.startswith("deia."):
            sys.stderr.write(name + " ")
sys.meta_path.insert(0, Spy())
sys.argv = {argv!r}
"""
RUN = """
exec(compile(open({script!r}).read(), {script!r}, "exec"), {{"__name__": "__main__", "__file__": {script!r}}})
"""
SEARCH = """
sys.path.insert(0, {parent!r})
from deia.serve.main import main
main()
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of the code with fresh bytecode, for all to read."""
    ignored = shutil.ignore_patterns("models", "__pycache__")
    copy = shutil.copytree(PACKAGE, tmp_path_factory.mktemp("made") / "deia", ignore=ignored)
    assert compileall.compile_dir(copy, quiet=2)
    assert keep_bytecode(copy.as_posix())
    return copy


@pytest.fixture(scope="module")
def groups(made: Path) -> tuple[str, ...]:
    """Return the names of all groups."""
    return (IMPORTER, *import_groups(made.as_posix()))


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory, made: Path) -> Path:
    """Return a copy of the code with its data."""
    copy = shutil.copytree(made, tmp_path_factory.mktemp("whole") / "deia")
    (copy / "models").symlink_to(f"{PACKAGE}/models", target_is_directory=True)
    (copy / "starter").symlink_to(STARTER, target_is_directory=True)
    return copy


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory, whole: Path) -> dict[str, str]:
    """Return an environment in which the copy's starter commons is compiled."""
    home = tmp_path_factory.mktemp("home")
    environ = {
        "HOME": str(home),
        "DEIA_STATE": str(home / "state"),
        "DEIA_CACHE": str(home / "cache"),
        "DEIA_TRUST": "*",
        "DEIA_TIER": "static",
    }
    code = f"import sys; sys.path.insert(0, {whole.parent.as_posix()!r}); from deia.serve.main import main; main()"
    command = [sys.executable, "-I", "-c", code, "compile"]
    subprocess.run(command, env=environ, cwd=home, check=True, capture_output=True)
    return environ


@pytest.fixture
def package(made: Path, tmp_path: Path) -> Path:
    """Return a copy of the code with fresh bytecode, to be damaged."""
    return shutil.copytree(made, tmp_path / "deia")


def python(code: str) -> str:
    done = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, check=False)
    assert not done.returncode, done.stderr
    return done.stdout


def hook(package: Path) -> str:
    return (package / "serve" / "hook.py").as_posix()


def test_a_group_holds_its_modules_after_what_they_import(made: Path) -> None:
    for head, names in import_groups(made.as_posix()).items():
        assert names[-1] == head
        code = f"import sys; sys.path.insert(0, {made.parent.as_posix()!r}); import deia.{head}; print(*sys.modules)"
        loaded = python(code).split()
        assert {f"deia.{name}" for name in names} <= set(loaded)


@pytest.mark.parametrize(
    ("event", "word"),
    [
        ({"hook_event_name": "UserPromptSubmit", "prompt": "how does this simulation converge?"}, ""),
        (
            {"hook_event_name": "UserPromptSubmit", "prompt": "I will delete the Netlify site and recreate it"},
            "Netlify",
        ),
        (
            {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "terraform destroy"}},
            "deny",
        ),
        ({"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "pwsh -c 'rm x'"}}, ""),
    ],
)
def test_whatever_a_hook_imports_comes_in_groups(
    prepared: dict[str, str], whole: Path, tmp_path: Path, event: dict[str, object], word: str
) -> None:
    given = json.dumps({**event, "session_id": "s", "cwd": str(tmp_path)}).encode()
    script = whole / "serve" / "hook.py"
    code = SPY.format(argv=[str(script), "claude-code"]) + RUN.format(script=str(script))
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code], input=given, capture_output=True, env=prepared, check=True
    )
    assert done.stderr.decode().split() == []
    assert (word in done.stdout.decode()) if word else not done.stdout


def test_whatever_a_search_imports_comes_in_groups(prepared: dict[str, str], whole: Path) -> None:
    code = SPY.format(argv=["deia", "search", "deleting a Netlify site"]) + SEARCH.format(
        parent=whole.parent.as_posix()
    )
    command = [sys.executable, "-I", "-c", code]
    done = subprocess.run(command, capture_output=True, env=prepared, cwd=prepared["HOME"], check=True)
    assert done.stderr.decode().split() == [
        "deia.serve",
        "deia.serve.main",
        "deia.serve.startup",
        "deia.serve.startup.importer",
    ]
    assert b"netlify" in done.stdout.lower()


def test_the_deadline_until_the_settings_are_read_is_their_default() -> None:
    assert DEFAULTS.deadline_ms / 1000 == DEADLINE


def test_what_is_kept_is_told_from_what_is_missing_torn_or_older_than_its_source(package: Path) -> None:
    here = package.as_posix()
    assert has_bytecode(here)
    for group in (IMPORTER, "serve.hooks.run"):
        path = Path(bytecode_path(here, group))
        kept = path.read_bytes()
        path.unlink()
        assert not has_bytecode(here)
        path.write_bytes(b"torn")
        assert not has_bytecode(here)
        path.write_bytes(kept)
        assert has_bytecode(here)
    path.write_bytes(b"torn")
    os.unlink(bytecode_path(here, IMPORTER))
    assert keep_bytecode(here)
    assert has_bytecode(here)
    os.utime(package / "watch" / "gate" / "word_gate.py", ns=(1, 1))
    assert not has_bytecode(here)
    assert keep_bytecode(here)
    assert has_bytecode(here)


def test_without_sources_nothing_is_kept_and_nothing_breaks(package: Path) -> None:
    os.unlink(package / "watch" / "gate" / "word_gate.py")
    assert not has_bytecode(package.as_posix())
    assert not keep_bytecode(package.as_posix())


def test_what_cannot_be_kept_is_said(tmp_path: Path) -> None:
    ignored = shutil.ignore_patterns("models", "__pycache__")
    copy = shutil.copytree(PACKAGE, tmp_path / "deia", ignore=ignored)
    (copy / "serve" / "startup" / "__pycache__").write_bytes(b"a file where a folder is wanted")
    assert not keep_bytecode(copy.as_posix())
    assert not has_bytecode(copy.as_posix())


def answer(package: Path, tmp_path: Path) -> str:
    """Return what the hook of a copy says to the person if nothing is compiled, and check that nothing went wrong."""
    event = {"hook_event_name": "UserPromptSubmit", "session_id": "s", "cwd": str(tmp_path), "prompt": "hello"}
    marker = tmp_path / "state" / "compiling" / f"{fingerprint(f'{package.as_posix()}/..'):016x}"
    marker.parent.mkdir(parents=True)
    marker.touch()  # so that no compile is started
    done = subprocess.run(
        [sys.executable, "-I", "-S", hook(package), "claude-code"],
        input=json.dumps(event).encode(),
        capture_output=True,
        check=True,
        env={"DEIA_STATE": str(tmp_path / "state"), "DEIA_CACHE": str(tmp_path / "cache"), "DEIA_TRUST": "*"},
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


@pytest.mark.parametrize("missing", [(IMPORTER,), ("serve.hooks.start",), ("serve.hooks.run",), ()], ids=str)
def test_groups_that_are_missing_are_imported_in_the_ordinary_way(
    package: Path, tmp_path: Path, groups: tuple[str, ...], missing: tuple[str, ...]
) -> None:
    assert {*missing} <= {*groups}
    for group in missing or groups:
        os.remove(bytecode_path(package.as_posix(), group))
    assert "not compiled" in answer(package, tmp_path)


def test_a_module_that_changed_is_read_anew(package: Path, tmp_path: Path) -> None:
    source = package / "serve" / "hooks" / "fallback.py"
    source.write_text(source.read_text(encoding="utf-8").replace("not compiled", "not yet made"), encoding="utf-8")
    artefact = package / "watch" / "gate" / "artefact.py"
    text = artefact.read_text(encoding="utf-8").replace("the commons is not compiled", "the commons is not yet made")
    artefact.write_text(text, encoding="utf-8")
    assert "not yet made" in answer(package, tmp_path)


def test_a_table_that_changed_is_read_anew(package: Path) -> None:
    table = package / "watch" / "verdict" / "escalation.txt"
    table.write_text(table.read_text(encoding="utf-8").replace("\nyes ", "\njawollja yes ", 1), encoding="utf-8")
    assert not has_bytecode(package.as_posix())
    code = (
        f"import sys; sys.path.insert(0, {package.parent.as_posix()!r})\n"
        f"from deia.serve.startup.importer import install; install({package.as_posix()!r})\n"
        "from deia.watch.verdict.escalation import YES; print('jawollja' in YES)"
    )
    assert python(code).strip() == "True"
    assert keep_bytecode(package.as_posix())
    assert python(code).strip() == "True"


def test_a_module_that_fails_leaves_nothing_half_imported(package: Path) -> None:
    source = package / "serve" / "hosts" / "delivery_form.py"
    source.write_text(source.read_text(encoding="utf-8") + "\nraise RuntimeError('broken')\n", encoding="utf-8")
    assert keep_bytecode(package.as_posix())
    code = (
        "\ntry:\n    import deia.serve.hosts.delivery_form\nexcept BaseException as e:\n    print(type(e).__name__)\n"
    )
    install = (
        f"import sys; sys.path.insert(0, {package.parent.as_posix()!r})\n"
        f"from deia.serve.startup.importer import install; install({package.as_posix()!r})\n"
    )
    told = python(install + code + "print(*sys.modules)").split()
    assert told[0] == "RuntimeError"
    assert "deia.serve.hosts.delivery_form" not in told


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

    shutil.rmtree(copy / "serve" / "startup" / "__pycache__")
    assert "To check that everything works" in deia("install", "claude-code")
    assert has_bytecode(copy.as_posix())
    os.unlink(bytecode_path(copy.as_posix(), "serve.hooks.judged"))
    assert "what the hook imports is not prepared" in deia("doctor")
    deia("compile")
    assert has_bytecode(copy.as_posix())


def test_the_compiled_script_that_the_launcher_starts_does_what_the_script_does(
    prepared: dict[str, str], whole: Path, tmp_path: Path
) -> None:
    event = {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "terraform destroy"}}
    said = []
    for script in ("serve/hook.py", MADE_SCRIPT):
        given = json.dumps({**event, "session_id": script, "cwd": str(tmp_path)}).encode()
        command = [sys.executable, "-I", "-S", str(whole / script), "claude-code"]
        said.append(subprocess.run(command, input=given, capture_output=True, env=prepared, check=True).stdout)
    texts = [answer.partition(b"deia allow")[0] for answer in said]  # the code that allows the call is the session's
    assert texts[0] == texts[1]
    assert b"deny" in texts[0]


def test_a_compiled_script_that_is_older_than_its_source_or_of_another_python_is_made_anew(package: Path) -> None:
    script = package / MADE_SCRIPT
    for damage in (script.unlink, lambda: script.write_bytes(b"\x00" + script.read_bytes()[1:])):
        damage()
        assert not has_bytecode(package.as_posix())
        assert keep_bytecode(package.as_posix())
        assert has_bytecode(package.as_posix())
    os.utime(package / "serve" / "hook.py", (1, 1))
    assert not has_bytecode(package.as_posix())
