from __future__ import annotations

import json
import os
import re
import stat
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest

from deia.serve.setup.host_settings.hosts_table import BY_NAME, SETUPS
from deia.serve.setup.host_settings.launcher import find_interpreters, starts
from tests.derived import derived
from tests.paths import ROOT

if TYPE_CHECKING:
    from tests.serve.conftest import Deia, Process

OTHERS = '{\n  "permissions": {"allow": ["Bash(ls:*)"]},\n  "hooks": {}\n}\n'
HOSTS = [setup.host for setup in SETUPS]


@pytest.fixture(autouse=True)
def _no_host_of_this_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Hide the hosts that whoever runs this has installed."""
    monkeypatch.setenv("PATH", str(tmp_path / "programs"))
    for name in [name for setup in SETUPS for name in setup.variables]:
        monkeypatch.delenv(name, raising=False)


def settings_of(folder: Path, name: str = "settings.json") -> Path:
    place = folder / ".claude" / name
    place.parent.mkdir(exist_ok=True)
    return place


def tree(folder: Path) -> dict[str, bytes]:
    """Give every file below a folder with its content, but for what compiling makes."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def folders(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir() if path.is_dir()}


@pytest.mark.skipif(os.name == "nt", reason="a command needs an interpreter there")
def test_settings_that_are_shared_name_no_path_of_this_machine(
    deia: Deia, commons: Path, environ: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("DEIA_STATE")
    told = deia("install", *HOSTS).out
    assert "for everybody else they do nothing" in told
    assert "paths of this machine" not in told
    for path, text in tree(commons).items():
        assert not [own for own in (environ["HOME"], sys.prefix, sys.base_prefix, str(ROOT)) if own in str(text)], path
    assert (Path(environ["HOME"]) / ".local/state/deia/deia-hook").is_file()


def test_settings_that_name_a_path_of_this_machine_are_not_for_sharing(deia: Deia, commons: Path) -> None:
    assert "These files contain paths of this machine" in deia("install", "claude-code").out
    assert settings_of(commons).exists()


@pytest.mark.parametrize("scope", ["--project", "--user"])
def test_every_host_at_once_is_entered_once_and_taken_out_without_a_trace(
    deia: Deia, commons: Path, environ: dict[str, str], scope: str
) -> None:
    home = Path(environ["HOME"])
    before, own = tree(commons), folders(commons)
    assert deia("install", *HOSTS, scope).code == 0
    entered, at_home = tree(commons), tree(home)
    again = deia("install", *HOSTS, scope)
    assert (tree(commons), tree(home)) == (entered, at_home)
    assert again.out.count("is up to date") >= len(HOSTS)
    listed = deia("install", "--list").out
    assert listed.count(f"installed ({scope[2:]})") == len(HOSTS)
    assert deia("uninstall", "--all", "--yes").code == 0
    assert tree(commons) == before
    assert folders(commons) == own
    assert [name for name in tree(home) if not name.startswith(("state", "cache"))] == []


@pytest.mark.parametrize(
    ("host", "file"),
    [
        ("claude-code", ".claude/settings.json"),
        ("codex", ".codex/hooks.json"),
        ("gemini", ".gemini/settings.json"),
        ("cursor", ".cursor/hooks.json"),
        ("windsurf", ".windsurf/hooks.json"),
        ("droid", ".factory/settings.json"),
        ("qwen", ".qwen/settings.json"),
        ("kiro", ".kiro/agents/mine.json"),
    ],
)
def test_removing_gives_the_very_bytes_back(deia: Deia, commons: Path, host: str, file: str) -> None:
    place = commons / file
    place.parent.mkdir(parents=True)
    place.write_bytes(OTHERS.replace("\n", "\r\n").encode())
    before = tree(commons)
    deia("install", host)
    assert place.with_name(place.name + ".before-deia").read_bytes() == before[file]
    assert json.loads(place.read_bytes())["permissions"] == {"allow": ["Bash(ls:*)"]}
    assert deia("uninstall", host).code == 0
    assert tree(commons) == before


def test_removing_keeps_what_others_changed_since(deia: Deia, commons: Path) -> None:
    place = settings_of(commons)
    place.write_text(OTHERS, encoding="utf-8", newline="")
    deia("install", "claude-code")
    changed = place.read_text(encoding="utf-8").replace("Bash(ls:*)", "Bash(cat:*)")
    place.write_text(changed, encoding="utf-8", newline="")
    deia("uninstall", "claude-code")
    assert json.loads(place.read_text(encoding="utf-8")) == {"permissions": {"allow": ["Bash(cat:*)"]}}
    assert (commons / ".claude" / "settings.json.before-deia").exists()


def test_removing_what_is_not_installed_changes_nothing(deia: Deia, commons: Path) -> None:
    place = settings_of(commons)
    place.write_text(OTHERS, encoding="utf-8", newline="")
    told = deia("uninstall", "claude-code")
    assert (told.code, "there is nothing to do" in told.out) == (0, True)
    assert place.read_text(encoding="utf-8") == OTHERS


def test_removing_works_when_the_commons_is_gone(deia: Deia, commons: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    deia("install", "claude-code")
    monkeypatch.setenv("DEIA_COMMONS", str(commons / "gone"))
    assert deia("install", "claude-code").code == 2
    assert deia("uninstall", "claude-code").code == 0
    assert not (commons / ".claude").exists()


def test_a_dry_run_shows_the_change_and_writes_nothing(deia: Deia, commons: Path, environ: dict[str, str]) -> None:
    shown = deia("install", "claude-code", "codex", "cline", "--dry-run")
    assert '+    "UserPromptSubmit": [' in shown.out
    assert "+#!/bin/sh" in shown.out or os.name == "nt"
    assert folders(commons) == {"bok", "triggers", ".git"}
    assert not derived(commons, environ).exists()
    deia("install", "codex")
    assert '-    "Stop": [' in deia("uninstall", "codex", "--dry-run").out
    assert (commons / ".codex" / "hooks.json").exists()


@pytest.mark.parametrize("text", ["{", "// mine\n{}", "[]", '{"hooks": 3}'])
def test_a_file_that_is_not_understood_is_not_touched(deia: Deia, commons: Path, text: str) -> None:
    place = settings_of(commons)
    place.write_text(text, encoding="utf-8")
    refused = deia("install", "codex", "claude-code")
    assert refused.code == 2
    assert f"{place}:1" in refused.err
    assert place.read_text(encoding="utf-8") == text
    assert os.listdir(commons / ".claude") == ["settings.json"]
    assert not (commons / ".codex").exists(), "of several hosts none is half done"


def test_a_file_that_is_not_utf_8_is_not_touched(deia: Deia, commons: Path) -> None:
    settings_of(commons).write_bytes(b'{"a": "\xff"}')
    assert "not UTF-8" in deia("install", "claude-code").err
    assert settings_of(commons).read_bytes() == b'{"a": "\xff"}'


@pytest.mark.skipif(os.name == "nt", reason="the file has another name there")
def test_a_script_of_somebody_else_s_is_refused_and_kept(deia: Deia, commons: Path) -> None:
    place = commons / ".clinerules" / "hooks" / "PreToolUse"
    place.parent.mkdir(parents=True)
    place.write_text("#!/bin/sh\necho mine\n", encoding="utf-8")
    refused = deia("install", "cline")
    assert (refused.code, str(place) in refused.err) == (2, True)
    assert "is a hook of somebody else's" in refused.err
    assert os.listdir(place.parent) == ["PreToolUse"]
    assert deia("uninstall", "cline").code == 0
    assert place.read_text(encoding="utf-8") == "#!/bin/sh\necho mine\n"


@pytest.mark.skipif(os.name == "nt", reason="links need rights there")
def test_a_link_is_followed_and_stays_a_link(deia: Deia, commons: Path, tmp_path: Path) -> None:
    real = tmp_path / "dotfiles é.json"
    real.write_text("{}\n", encoding="utf-8")
    real.chmod(0o600)
    settings_of(commons).symlink_to(real)
    deia("install", "claude-code")
    assert settings_of(commons).is_symlink()
    assert "UserPromptSubmit" in real.read_text(encoding="utf-8")
    assert stat.S_IMODE(real.stat().st_mode) == 0o600


@pytest.mark.skipif(os.name == "nt", reason="links need rights there")
@pytest.mark.parametrize(
    ("host", "link", "to"),
    [
        ("claude-code", ".claude", "outside"),
        ("claude-code", ".claude/settings.json", "outside/settings.json"),
        ("claude-code", ".claude/settings.json", "outside/new.json"),
        ("cline", ".clinerules/hooks", "outside"),
        ("cline", ".clinerules/hooks/PreToolUse", "outside/new"),
        ("opencode", ".opencode/plugins/deia.ts", "outside/new.ts"),
    ],
)
def test_a_link_out_of_a_project_that_is_not_trusted_is_refused_and_its_target_stays(
    deia: Deia, commons: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, host: str, link: str, to: str
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "settings.json").write_text('{"a": 1}\n', encoding="utf-8")
    (commons / link).parent.mkdir(parents=True, exist_ok=True)
    if (commons / link).is_dir():
        (commons / link).rmdir()
    (commons / link).symlink_to(tmp_path / to)
    monkeypatch.setenv("DEIA_TRUST", "")
    refused = deia("install", host, "--yes")
    assert refused.code == 2
    assert "out of a project that is not trusted" in refused.err
    assert [(file.name, file.read_text(encoding="utf-8")) for file in outside.iterdir()] == [
        ("settings.json", '{"a": 1}\n')
    ]
    monkeypatch.setenv("DEIA_TRUST", str(commons))
    assert deia("install", host, "--yes").code == 0


def test_each_scope_has_its_file_and_uninstalling_empties_all(
    deia: Deia, commons: Path, environ: dict[str, str]
) -> None:
    deia("install", "claude-code", "--local")
    deia("install", "claude-code", "--user")
    assert os.listdir(commons / ".claude") == ["settings.local.json"]
    at_home = settings_of(Path(environ["HOME"]))
    assert "hooks" in json.loads(at_home.read_text(encoding="utf-8"))
    assert deia("uninstall", "claude-code", "--local").code == 0
    assert at_home.exists()
    assert deia("uninstall", "claude-code").code == 0
    assert not at_home.exists()


def test_a_scope_that_a_host_does_not_have_is_refused(deia: Deia) -> None:
    refused = deia("install", "codex", "--local")
    assert refused.code == 2
    assert "codex has no settings of the scope local" in refused.err


def test_below_the_project_its_root_is_meant(deia: Deia, commons: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(commons / "bok")
    deia("install", "claude-code")
    assert settings_of(commons).exists()


@pytest.mark.slow
def test_a_named_commons_is_written_into_the_command(deia: Deia, commons: Path, tmp_path: Path) -> None:
    project = tmp_path / 'näme "quoted" $HOME'
    (project / ".git").mkdir(parents=True)
    os.chdir(project)
    assert deia("install", "claude-code", "amp", "--commons", "../work place").code == 0
    entry = json.loads(settings_of(project).read_text(encoding="utf-8"))["hooks"]["Stop"][0]["hooks"][0]
    assert f"claude-code --commons '{commons}'; if" in entry["command"]
    assert f'HOST, "--commons", "{commons}"]' in (project / ".amp/plugins/deia.ts").read_text(encoding="utf-8")
    doctor = deia("doctor")
    assert (doctor.code, doctor.out.count("answered in")) == (0, 3)


def test_an_unknown_host_is_refused(deia: Deia) -> None:
    refused = deia("install", "emacs")
    assert refused.code == 2
    assert "claude-code" in refused.err


@pytest.mark.parametrize("command", ["install", "uninstall"])
def test_without_a_host_it_says_what_to_type(deia: Deia, command: str) -> None:
    refused = deia(command)
    assert (refused.code, f"deia {command} HOST, or --all" in refused.err) == (2, True)


def test_a_shell_completes_the_hosts(process: Process) -> None:
    shown = process(_DEIA_COMPLETE="bash_complete", COMP_WORDS="deia install co", COMP_CWORD="2")
    assert shown.stdout.decode().split() == ["plain,codex", "plain,copilot"]


def test_all_means_the_hosts_that_are_here_and_wants_consent(
    deia: Deia, commons: Path, environ: dict[str, str]
) -> None:
    nothing = deia("install", "--all")
    assert (nothing.code, "No host was found on this machine" in nothing.out) == (1, True)
    (Path(environ["HOME"]) / ".gemini").mkdir()
    (commons / ".codex").mkdir()
    refused = deia("install", "--all")
    assert (refused.code, "add --yes" in refused.err) == (2, True)
    assert not (commons / ".gemini").exists()
    assert deia("install", "--all", "--yes").code == 0
    assert (commons / ".gemini" / "settings.json").exists()
    assert (commons / ".codex" / "hooks.json").exists()
    assert not (commons / ".claude").exists()


def test_a_broken_file_does_not_keep_the_hook_in_the_others(deia: Deia, commons: Path) -> None:
    deia("install", "codex")
    settings_of(commons).write_text("{", encoding="utf-8")
    told = deia("uninstall", "--all", "--yes")
    assert (told.code, f"{settings_of(commons)}:1" in told.err) == (2, True)
    assert not (commons / ".codex").exists()


def test_the_list_names_every_host_and_says_what_was_found(deia: Deia, environ: dict[str, str]) -> None:
    (Path(environ["HOME"]) / ".cursor").mkdir()
    told = deia("install", "--list").out
    assert "Cursor: found (~/.cursor)" in told
    assert "Gemini CLI: not found" in told
    assert all(setup.host in told and setup.title in told for setup in SETUPS)


@pytest.mark.skipif(os.name == "nt", reason="links need a right there")
@pytest.mark.parametrize(
    ("link", "to", "told"),
    [
        (".claude/settings.json", "nowhere/settings.json", "whose folder does not exist"),
        (".claude/settings.json", ".claude/settings.json", "a link that leads to itself"),
        (".claude", "nowhere", "is a link that leads nowhere"),
    ],
)
def test_a_link_that_leads_nowhere_is_told_as_what_it_is(
    deia: Deia, commons: Path, link: str, to: str, told: str
) -> None:
    (commons / link).parent.mkdir(exist_ok=True)
    (commons / link).symlink_to(commons / to)
    refused = deia("install", "claude-code")
    assert refused.code == 2
    assert told in refused.err
    assert "Nothing was written" in refused.err
    assert (commons / link).is_symlink()


def test_a_link_to_a_file_that_is_not_there_yet_is_followed(deia: Deia, commons: Path) -> None:
    (commons / ".claude").mkdir()
    (commons / "dotfiles").mkdir()
    (commons / ".claude/settings.json").symlink_to(commons / "dotfiles/settings.json")
    assert deia("install", "claude-code").code == 0
    assert (commons / ".claude/settings.json").is_symlink()
    assert "deia-hook" in (commons / "dotfiles/settings.json").read_text(encoding="utf-8")
    assert deia("uninstall", "claude-code").code == 0
    assert not (commons / "dotfiles/settings.json").exists()
    assert (commons / ".claude/settings.json").is_symlink()


def test_a_file_that_somebody_made_read_only_is_not_replaced(
    deia: Deia, commons: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = commons / ".claude/settings.json"
    place.parent.mkdir()
    place.write_text('{"a": 1}', encoding="utf-8")
    place.chmod(0o444)
    may = os.access  # which says yes to an administrator, whatever the file's rights are
    monkeypatch.setattr(
        os, "access", lambda path, mode: may(path, mode) and not (mode == os.W_OK and path == str(place))
    )
    refused = deia("install", "claude-code")
    assert refused.code == 2
    assert "is read-only, and stays as it is" in refused.err
    assert "Nothing was written" in refused.err
    assert [(each.name, each.read_text(encoding="utf-8")) for each in place.parent.iterdir()] == [
        ("settings.json", '{"a": 1}')
    ]


ODD = {
    "byte order mark": b'\xef\xbb\xbf{"a": 1}',
    "byte order mark and nothing else": b"\xef\xbb\xbf",
    "Windows lines": b'{\r\n\t"a": 1\r\n}\r\n',
    "blanks": b" \n\t",
    "empty object": b"{}",
    "no end of line": b'{"a":1,"hooks":{}}',
    "one name twice": b'{"hooks": {}, "a": 1, "hooks": {}}',
    "numbers": b'{"a": 123456789012345678901234567890, "b": 1e400, "c": 1.0}',
    "half a character": b'{"a": "\\ud800", "b": "\xf0\x9f\x98\x80"}',
    "NUL": b'{"a": "\x00"}',
}


@pytest.mark.slow
@pytest.mark.parametrize("host", ["claude-code", "codex", "gemini", "cursor", "droid"])
@pytest.mark.parametrize("odd", ODD)
def test_an_odd_file_is_changed_once_and_given_back_byte_for_byte(
    deia: Deia, commons: Path, host: str, odd: str
) -> None:
    setup = BY_NAME[host]
    place = commons / setup.places["project"].folder / setup.places["project"].file
    place.parent.mkdir()
    place.write_bytes(ODD[odd])
    flags = ["--statusline", "--warm", "--mcp"] if host == "claude-code" else []
    told = deia("install", host, *flags)
    assert told.code == 0, told.err
    written = place.read_bytes()
    assert written != ODD[odd]
    assert deia("install", host, *flags).code == 0
    assert place.read_bytes() == written
    assert deia("uninstall", host).code == 0
    assert place.read_bytes() == ODD[odd]
    assert [each.name for each in place.parent.iterdir()] == [place.name]


def test_the_list_is_given_to_programs_as_the_schema_says(deia: Deia, commons: Path, environ: dict[str, str]) -> None:
    assert deia("install", "cursor").code == 0
    (commons / ".codex").mkdir()
    (commons / ".codex/hooks.json").write_text("{", encoding="utf-8")
    told = deia("install", "--list", "--json")
    assert told.code == 0
    found = {each["host"]: each for each in validated(told.out, "hosts")}
    assert list(found) == [setup.host for setup in SETUPS]
    assert found["cursor"]["installed"] == [{"scope": "project", "path": str(commons / ".cursor/hooks.json")}]
    assert found["cursor"]["found"] is True
    assert "not JSON" in found["codex"]["problems"][0]
    assert found["amp"] == {"host": "amp", "title": "Amp", "found": False, "signs": [], "installed": [], "problems": []}
    assert deia("install", "claude-code", "--json").code == 2


def validated(text: str, schema: str) -> Any:
    told = json.loads(text)
    path = ROOT / "docs/schema" / f"{schema}.schema.json"
    jsonschema.validate(told, json.loads(path.read_text(encoding="utf-8")))
    return told


@pytest.mark.skipif(os.name == "nt", reason="an argument list stays one there")
def test_claude_code_s_command_is_one_line_since_hosts_without_argument_lists_run_it_too(
    deia: Deia, commons: Path
) -> None:
    deia("install", "claude-code")
    entry = json.loads(settings_of(commons).read_text(encoding="utf-8"))["hooks"]["Stop"][0]["hooks"][0]
    assert "args" not in entry
    assert 'deia-hook claude-code; if [ -r "$1" ]; then . "$1"; fi' in entry["command"]
    assert "is up to date" in deia("install", "claude-code").out


@pytest.mark.skipif(os.name == "nt", reason="there are no such terminals")
def test_at_a_terminal_it_says_what_will_change_and_asks(commons: Path, environ: dict[str, str]) -> None:
    def typed(answer: bytes, *more: str) -> str:
        import pty  # noqa: PLC0415 - there is none on Windows

        command = [sys.executable, "-m", "deia.serve.main", "install", "codex", *more]
        told = b""
        pid, terminal = pty.fork()
        if pid == 0:
            os.chdir(commons)
            os.execve(command[0], command, environ)  # noqa: S606 - a process at a terminal is what is tested
        while part := _read(terminal):
            told += part
            if b"Write these changes?" in told and answer:
                os.write(terminal, answer)
                answer = b""
        os.waitpid(pid, 0)
        os.close(terminal)
        return told.decode()

    refused = typed(b"n\n")
    assert re.search(r"Will create .*hooks.json: \d+ lines added. To see them first, add --dry-run", refused)
    assert '+    "UserPromptSubmit"' not in refused
    assert '+    "UserPromptSubmit"' in typed(b"", "--dry-run")
    assert "Nothing was written." in refused
    assert not (commons / ".codex").exists()
    assert "trust deia's hooks" in typed(b"y\n")
    assert (commons / ".codex" / "hooks.json").exists()


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 4096)
    except OSError:  # how a terminal ends on Linux
        return b""


def test_the_interpreter_is_real_and_starts() -> None:
    found = find_interpreters()[0]
    assert os.path.isabs(found)
    assert starts(found)
    assert os.path.realpath(found) == os.path.realpath(getattr(sys, "_base_executable", sys.executable))


def test_what_is_no_interpreter_does_not_start(tmp_path: Path) -> None:
    script = tmp_path / "python3"
    script.write_text("#!/bin/sh\nexit 0\n", encoding="utf-8")
    script.chmod(0o755)
    assert not starts(str(script))
    assert not starts(str(tmp_path / "nowhere"))


def test_two_scopes_are_refused(deia: Deia, commons: Path, environ: dict[str, str]) -> None:
    for command in ("install", "uninstall"):
        told = deia(command, "claude-code", "--user", "--project")
        assert told.code == 2
        assert "one of --project and --user" in told.err
    assert not (commons / ".claude").exists()
    assert not (Path(environ["HOME"]) / ".claude").exists()


def test_a_host_nearly_right_is_refused_with_the_nearest(deia: Deia) -> None:
    assert "Did you mean claude-code?" in deia("install", "claude").err
    assert "Did you mean gemini?" in deia("install", "Gemeni").err


def test_one_broken_file_is_named_and_the_other_hosts_are_connected(deia: Deia, commons: Path) -> None:
    (commons / ".gemini").mkdir()
    (commons / ".gemini" / "settings.json").write_text("{broken", encoding="utf-8")
    (commons / ".claude").mkdir()
    named = deia("install", "claude-code", "gemini")
    assert named.code == 2
    assert "Nothing was written." in named.err
    assert list((commons / ".claude").iterdir()) == []
    told = deia("install", "--all", "--yes")
    assert told.code == 2
    assert ".gemini" in told.err
    assert "cannot be used and was not changed" in told.err
    assert (commons / ".gemini" / "settings.json").read_text(encoding="utf-8") == "{broken"
    assert "deia-hook" in (commons / ".claude" / "settings.json").read_text(encoding="utf-8")


@pytest.mark.skipif(sys.platform == "win32", reason="no pipes in folders there")
def test_what_is_no_file_is_refused_with_what_it_is(deia: Deia, commons: Path) -> None:
    place = settings_of(commons)
    os.mkfifo(place)
    assert "is a pipe or a device" in deia("install", "claude-code").err
    place.unlink()
    place.mkdir()
    assert "Move that folder away" in deia("install", "claude-code").err
    place.rmdir()
    place.parent.rmdir()
    place.parent.write_text("", encoding="utf-8")
    told = deia("install", "claude-code").err
    assert f"{place.parent} is a file, and a folder must be there" in told
    assert "Nothing was written." in told


def test_a_file_of_deia_s_alone_is_not_kept_as_old_settings(deia: Deia, commons: Path) -> None:
    before = tree(commons)
    deia("install", "claude-code")
    for flag in ("--warm", "--statusline"):
        assert "The old settings" not in deia("install", "claude-code", flag).out
    assert deia("uninstall", "claude-code").code == 0
    assert tree(commons) == before


def test_comments_stay_where_the_host_takes_them(deia: Deia, commons: Path) -> None:
    place = commons / ".gemini" / "settings.json"
    place.parent.mkdir()
    text = '{\n  // mine\n  "theme": "dark" // at night\n}\n'
    place.write_text(text, encoding="utf-8")
    assert deia("install", "gemini", "--mcp").code == 0
    entered = place.read_text(encoding="utf-8")
    assert "// mine" in entered
    assert "// at night" in entered
    assert "deia-hook" in entered
    assert "mcpServers" in entered
    assert deia("install", "gemini", "--mcp").code == 0
    assert place.read_text(encoding="utf-8") == entered
    assert deia("uninstall", "gemini").code == 0
    assert place.read_text(encoding="utf-8") == text
    settings_of(commons).write_text(text, encoding="utf-8")
    assert "not JSON" in deia("install", "claude-code").err
    assert settings_of(commons).read_text(encoding="utf-8") == text


def test_a_huge_file_in_place_of_settings_is_refused_and_not_read(deia: Deia, commons: Path) -> None:
    place = commons / ".claude" / "settings.json"
    place.parent.mkdir(exist_ok=True)
    with place.open("wb") as file:
        file.truncate(1 << 36)
    for command in (("install", "claude-code"), ("uninstall", "claude-code")):
        refused = deia(*command)
        assert refused.code == 2
        assert "is too large for a settings file" in refused.err
    assert "is too large for a settings file" in deia("doctor").out
    assert place.stat().st_size == 1 << 36
