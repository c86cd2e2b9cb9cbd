"""What git brings is compiled at once, by hooks that never fail git and that are not put into anybody else's."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from deia import freshness
from deia.compile.compiler import compile_commons
from deia.serve.setup.git_hook import HOOKS
from tests.derived import derived
from tests.serve.hooks.test_fallback import call
from tests.serve.hooks.test_renewal import HELD, is_denied

if TYPE_CHECKING:
    from tests.serve.conftest import Deia

LONG = 60.0  # seconds that a busy machine may take to compile


def git(folder: Path, environ: dict[str, str], *arguments: str) -> str:
    """Run git with a person's name, and without their settings; return what it printed."""
    names = [word for who in ("AUTHOR", "COMMITTER") for word in (f"GIT_{who}_NAME", f"GIT_{who}_EMAIL")]
    clean = {**environ, "GIT_CONFIG_NOSYSTEM": "1", **dict.fromkeys(names, "somebody")}
    ran = subprocess.run(["git", *arguments], cwd=folder, env=clean, capture_output=True, text=True, check=True)
    return ran.stdout + ran.stderr


@pytest.fixture
def shared(commons: Path, environ: dict[str, str], tmp_path: Path) -> Path:
    """Make the commons a repository, and return somebody else's clone of it."""
    git(commons, environ, "init", "-q", "-b", "main")
    git(commons, environ, "add", "-A")
    git(commons, environ, "commit", "-q", "-m", "Lessons")
    git(tmp_path, environ, "clone", "-q", str(commons), "theirs")
    git(commons, environ, "remote", "add", "-f", "origin", str(tmp_path / "theirs"))
    git(commons, environ, "branch", "--set-upstream-to", "origin/main")
    return tmp_path / "theirs"


def commit_trigger(theirs: Path, environ: dict[str, str]) -> None:
    (theirs / "triggers" / "new.yaml").write_text(HELD, encoding="utf-8")
    git(theirs, environ, "add", "-A")
    git(theirs, environ, "commit", "-q", "-m", "Hold frobnicate")


def wait_until_compiled(commons: Path, environ: dict[str, str]) -> None:
    end = time.monotonic() + LONG
    while freshness.changed(str(derived(commons, environ)), str(commons), freshness.TRIGGERS):
        assert time.monotonic() < end, "the hook has compiled nothing"
        time.sleep(0.1)


@pytest.mark.slow
@pytest.mark.parametrize("way", [("pull", "-q"), ("pull", "-q", "--rebase"), ("checkout", "-q", "origin/main")])
def test_a_pulled_trigger_is_compiled_without_a_session_and_holds_the_call(
    deia: Deia, commons: Path, environ: dict[str, str], shared: Path, way: tuple[str, ...]
) -> None:
    compile_commons(str(commons), environ=environ)
    assert deia("install", "git").code == 0
    commit_trigger(shared, environ)
    if "--rebase" in way:
        (commons / "own.txt").write_text("own work\n", encoding="utf-8")
        git(commons, environ, "add", "-A")
        git(commons, environ, "commit", "-q", "-m", "Own work")
    git(commons, environ, "fetch", "-q")
    git(commons, environ, *way)
    wait_until_compiled(commons, environ)
    in_time = {**environ, "DEIA_DEADLINE_MS": "250"}
    assert is_denied(call(commons, in_time, "frobnicate --all"))


def test_uninstall_leaves_the_folder_of_hooks_as_it_was(
    deia: Deia, commons: Path, environ: dict[str, str], shared: Path
) -> None:
    hooks = commons / ".git" / "hooks"
    before = sorted(hooks.iterdir())
    for arguments in (["git"], ["--all", "--yes"]):
        assert deia("install", "git").code == 0
        assert all(os.access(hooks / name, os.X_OK) for name in HOOKS)
        assert "is up to date" in deia("install", "git").out
        assert deia("uninstall", *arguments).code == 0
        assert sorted(hooks.iterdir()) == before


def test_git_goes_on_when_deia_is_gone(deia: Deia, commons: Path, environ: dict[str, str], shared: Path) -> None:
    deia("install", "git")
    commit_trigger(shared, environ)
    hooks = [commons / ".git" / "hooks" / name for name in HOOKS]
    texts = {path: path.read_text(encoding="utf-8") for path in hooks}
    for present, gone, command in (("[ ! -x /", "[ ! -x /gone/", ["pull"]), ("deia.", "gone.", ["checkout", "HEAD~1"])):
        for path, text in texts.items():
            path.write_text(text.replace(present, gone), encoding="utf-8")
        assert git(commons, environ, *command, "-q") == ""


def test_a_hook_of_somebody_else_stays_and_the_line_to_add_is_said(deia: Deia, commons: Path, shared: Path) -> None:
    path = commons / ".git" / "hooks" / "post-merge"
    path.write_text("#!/bin/sh\necho merged\n", encoding="utf-8")
    refused = deia("install", "git")
    assert refused.code == 2
    assert "deia.serve.main --commons . compile" in refused.err
    assert path.read_text(encoding="utf-8") == "#!/bin/sh\necho merged\n"
    assert not (path.parent / "post-checkout").exists()
    deia("uninstall", "git")
    assert path.exists()


def test_what_somebody_added_to_deia_s_hook_stays(deia: Deia, commons: Path, shared: Path) -> None:
    deia("install", "git")
    path = commons / ".git" / "hooks" / "post-merge"
    path.write_text(path.read_text(encoding="utf-8") + "echo merged\n", encoding="utf-8")
    deia("install", "git")
    assert path.read_text(encoding="utf-8").endswith("&)\necho merged\n")
    deia("uninstall", "git")
    assert path.read_text(encoding="utf-8") == "#!/bin/sh\necho merged\n"


def test_a_folder_of_hooks_that_another_program_keeps_is_not_written(
    deia: Deia, commons: Path, environ: dict[str, str], shared: Path
) -> None:
    git(commons, environ, "config", "core.hooksPath", ".husky")
    refused = deia("install", "git")
    assert (refused.code, "add this line" in refused.err) == (2, True)
    assert not (commons / ".husky").exists()


def test_only_a_trusted_commons_in_a_repository_gets_hooks(
    deia: Deia, commons: Path, shared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DEIA_TRUST", "")
    refused = deia("install", "git")
    assert (refused.code, "not trusted" in refused.err) == (2, True)
    monkeypatch.setenv("DEIA_TRUST", "*")
    assert deia("install", "git", "codex").code == 2
    assert "Nothing was written" in deia("install", "git", "--dry-run").out
    assert not (commons / ".git" / "hooks" / "post-merge").exists()


def test_without_a_repository_there_is_nothing_to_enter(deia: Deia) -> None:
    refused = deia("install", "git")
    assert (refused.code, "no git repository" in refused.err) == (2, True)
    assert "there is nothing to do" in deia("uninstall", "git").out
