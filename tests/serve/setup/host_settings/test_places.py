from __future__ import annotations

import os
from pathlib import Path

import pytest

from deia.errors import HostError
from deia.serve.setup.host_settings.hosts_table import (
    BY_NAME,
    SETUPS,
    USER,
    Machine,
    is_here,
    project_folder,
    settings_paths,
    setup_of,
    signs_of,
)

EXPECTED = {  # where the hosts' own documents say that they look
    "claude-code": (".claude/settings.json", ".claude/settings.json"),
    "codex": (".codex/hooks.json", ".codex/hooks.json"),
    "copilot": (".github/hooks/deia-copilot.json", ".copilot/hooks/deia-copilot.json"),
    "vscode": (".github/hooks/deia-vscode.json", ".copilot/hooks/deia-vscode.json"),
    "gemini": (".gemini/settings.json", ".gemini/settings.json"),
    "cursor": (".cursor/hooks.json", ".cursor/hooks.json"),
    "opencode": (".opencode/plugins/deia.ts", ".config/opencode/plugins/deia.ts"),
    "cline": (".clinerules/hooks/TaskStart", "Documents/Cline/Hooks/TaskStart"),
    "windsurf": (".windsurf/hooks.json", ".codeium/windsurf/hooks.json"),
    "amp": (".amp/plugins/deia.ts", ".config/amp/plugins/deia.ts"),
    "droid": (".factory/settings.json", ".factory/settings.json"),
    "kiro": (".kiro/agents/deia.json", ".kiro/agents/deia.json"),
    "qwen": (".qwen/settings.json", ".qwen/settings.json"),
}
MOVED = [
    ("claude-code", "CLAUDE_CONFIG_DIR", "settings.json"),
    ("codex", "CODEX_HOME", "hooks.json"),
    ("copilot", "COPILOT_HOME", "hooks/deia-copilot.json"),
    ("gemini", "GEMINI_CLI_HOME", ".gemini/settings.json"),
    ("qwen", "QWEN_HOME", "settings.json"),
    ("droid", "FACTORY_HOME_OVERRIDE", ".factory/settings.json"),
    ("opencode", "OPENCODE_CONFIG_DIR", "plugins/deia.ts"),
    ("opencode", "XDG_CONFIG_HOME", "opencode/plugins/deia.ts"),
    ("amp", "XDG_CONFIG_HOME", "amp/plugins/deia.ts"),
]
ON_POSIX = pytest.mark.skipif(os.name == "nt", reason="a file there has another ending")


def first(host: str, scope: str, tmp_path: Path, **more: str) -> str:
    environ = {"HOME": str(tmp_path / "home"), "USERPROFILE": str(tmp_path / "home"), **more}
    return settings_paths(BY_NAME[host], scope, Machine(project=str(tmp_path / "project"), environ=environ))[0]


@ON_POSIX
@pytest.mark.parametrize("host", [setup.host for setup in SETUPS])
def test_every_host_s_files_are_where_it_looks(host: str, tmp_path: Path) -> None:
    project, user = EXPECTED[host]
    assert first(host, "project", tmp_path) == str(tmp_path / "project" / project)
    assert first(host, USER, tmp_path) == str(tmp_path / "home" / user)


@pytest.mark.parametrize(("host", "variable", "file"), MOVED)
def test_a_variable_that_moves_a_host_s_folder_is_obeyed(host: str, variable: str, file: str, tmp_path: Path) -> None:
    elsewhere = tmp_path / "else where"
    assert Path(first(host, USER, tmp_path, **{variable: str(elsewhere)})) == elsewhere / file
    assert "else where" not in first(host, "project", tmp_path, **{variable: str(elsewhere)})


def test_droid_s_file_of_hooks_alone_comes_before_its_settings(tmp_path: Path) -> None:
    folder = tmp_path / "project" / ".factory"
    folder.mkdir(parents=True)
    (folder / "hooks.json").write_text("{}", encoding="utf-8")
    assert Path(first("droid", "project", tmp_path)) == folder / "hooks.json"


def test_every_agent_of_kiro_and_of_amazon_q_that_has_a_file_is_meant(tmp_path: Path) -> None:
    for name in (".kiro/agents/b.json", ".kiro/agents/a.json", ".amazonq/cli-agents/c.json", ".kiro/agents/note.md"):
        place = tmp_path / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text("{}", encoding="utf-8")
    found = settings_paths(BY_NAME["kiro"], "project", Machine(project=str(tmp_path), environ={"HOME": str(tmp_path)}))
    assert [os.path.basename(path) for path in found] == ["a.json", "b.json", "c.json"]


def test_a_scope_that_a_host_does_not_have_is_refused_with_those_it_has() -> None:
    with pytest.raises(HostError, match="codex has no settings of the scope local") as caught:
        settings_paths(BY_NAME["codex"], "local", Machine(project="/p", environ={}))
    assert caught.value.fix == "Use --project or --user."


def test_an_unknown_host_and_one_of_one_s_own_are_refused() -> None:
    with pytest.raises(HostError, match="no host 'emacs'; deia knows claude-code, codex"):
        setup_of("emacs")
    with pytest.raises(HostError, match="starts the hook itself"):
        setup_of("generic")


def test_a_host_is_found_by_its_program_its_folders_and_its_environment(tmp_path: Path) -> None:
    home, project, programs = tmp_path / "home", tmp_path / "project", tmp_path / "bin"
    for folder in (home / ".gemini", project / ".gemini", programs):
        folder.mkdir(parents=True)
    program = programs / "gemini"
    program.write_text("#!/bin/sh\n", encoding="utf-8")
    program.chmod(0o755)
    gemini = BY_NAME["gemini"]
    environ = {"HOME": str(home), "USERPROFILE": str(home), "PATH": "", "GEMINI_CLI_HOME": "/x"}
    told = list(signs_of(gemini, Machine(project=str(project), environ=environ)))
    assert told == ["~/.gemini", ".gemini in the project", "GEMINI_CLI_HOME in the environment"]
    assert "~/.gemini" in list(signs_of(gemini, Machine(project="", environ=environ)))
    assert ".gemini in the project" not in list(signs_of(gemini, Machine(project="", environ=environ)))
    if os.name != "nt":
        assert "the program gemini" in list(
            signs_of(gemini, Machine(project="", environ={"PATH": str(programs), "HOME": "/n"}))
        )
    assert not is_here(BY_NAME["cursor"], Machine(project=str(project), environ=environ))


def test_the_project_is_the_nearest_marked_folder_above(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    below = tmp_path / "work" / "a" / "b"
    below.mkdir(parents=True)
    assert project_folder(str(below)) == str(below)
    (tmp_path / "work" / ".cursor").mkdir()
    assert project_folder(str(below)) == str(tmp_path / "work")
    (tmp_path / "work" / "a" / ".git").touch()
    assert project_folder(str(below)) == str(tmp_path / "work" / "a")
