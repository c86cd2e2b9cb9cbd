from __future__ import annotations

import json
import os
import shlex
import shutil
import socket
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest

from deia import spool
from deia.knowledge import Golden
from deia.serve import hook
from deia.serve.setup.doctor import SAMPLE, sample
from deia.serve.setup.host_settings.hosts_table import SETUPS
from tests.derived import derived
from tests.paths import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.serve.conftest import Deia


@pytest.fixture(autouse=True)
def _no_host_of_this_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Leave only the shells of this machine on the search path, and none of its hosts."""
    programs = tmp_path / "programs"
    programs.mkdir()
    for name in ("sh", "bash"):
        found = shutil.which(name)
        if found and os.name != "nt":
            (programs / name).symlink_to(found)
    monkeypatch.setenv("PATH", str(programs) if os.name != "nt" else os.environ["PATH"])
    for name in [name for setup in SETUPS for name in setup.variables]:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def installed(deia: Deia, commons: Path) -> Path:
    """Install the hook into the commons' own project; give the settings file."""
    assert deia("install", "claude-code").code == 0
    return commons / ".claude" / "settings.json"


def rewrite(place: Path, change: Callable[[dict[str, Any]], None]) -> None:
    """Change every hook entry of a settings file."""
    settings = json.loads(place.read_text(encoding="utf-8"))
    for groups in settings["hooks"].values():
        change(groups[0]["hooks"][0])
    place.write_text(json.dumps(settings), encoding="utf-8")


def as_earlier(place: Path, script: str, python: str = sys.executable) -> None:
    """Change every hook into one of an earlier version, which starts a file of deia itself."""
    rewrite(place, lambda entry: entry.update(command=python, args=["-I", "-S", script, "claude-code"]))


def test_a_hook_of_an_earlier_version_works_and_installing_moves_it_to_the_launcher(
    deia: Deia, installed: Path
) -> None:
    as_earlier(installed, os.path.abspath(hook.__file__))
    found = deia("doctor")
    assert (found.code, found.out.count("answered in")) == (0, 2)
    assert "as earlier versions did; if deia is removed, the host may block calls" in found.out
    assert deia("install", "claude-code").code == 0
    assert "earlier versions" not in deia("doctor").out


def test_a_launcher_that_is_gone_or_leads_nowhere_is_dead(deia: Deia, installed: Path, environ: dict[str, str]) -> None:
    launcher = Path(environ["DEIA_STATE"], f"deia-hook{'.py' if os.name == 'nt' else ''}")
    text = launcher.read_text(encoding="utf-8")
    launcher.write_text(text.replace("serve/hook.py", "serve/gone.py"), encoding="utf-8")
    assert "serve/gone.py" in deia("doctor").out
    launcher.unlink()
    found = deia("doctor")
    assert (found.code, f"there is no launcher {launcher}" in found.out) == (1, True)
    deia("install", "claude-code")
    assert (deia("doctor").code, installed.exists()) == (0, True)


@pytest.mark.slow
def test_after_an_upgrade_in_place_what_is_old_is_named_with_what_mends_it(
    deia: Deia, installed: Path, commons: Path, environ: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    deia("compile")
    launcher = Path(environ["DEIA_STATE"], f"deia-hook{'.py' if os.name == 'nt' else ''}")
    launcher.write_bytes(launcher.read_bytes() + b"# of an earlier version\n")
    monkeypatch.setattr("deia.__version__", "9.9")
    found = deia("doctor")
    assert found.code == 0
    lines = [line.strip() for line in found.out.splitlines()]
    at = next(number for number, line in enumerate(lines) if "the commons was compiled by deia 0" in line)
    assert lines[at + 1] == "Type: deia compile"
    at = lines.index(f"! the launcher {launcher} was written by another version of deia")
    assert lines[at + 1].startswith("Type: deia install claude-code")
    assert deia("install", "claude-code").code == 0
    assert "another version" not in deia("doctor").out
    compiled = derived(commons, environ) / "triggers"
    compiled.write_bytes(b"DEIATFF\n" + compiled.read_bytes()[8:])
    assert "the triggers were compiled by another version of deia" in deia("doctor").out


def test_a_good_installation_is_well(deia: Deia, installed: Path) -> None:
    found = deia("doctor")
    assert found.code == 0
    assert "✗" not in found.out
    for event in ("UserPromptSubmit", "PreToolUse"):
        assert f"the hook of {event} answered in" in found.out
    assert str(installed) in found.out
    assert "1 golden question asked, all documents found" in found.out


@pytest.mark.slow
def test_a_new_commons_is_tried_with_what_the_starter_commons_knows(
    deia: Deia, commons: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DEIA_STARTER", "true")
    shutil.rmtree(commons / "triggers")
    assert deia("install", "claude-code").code == 0
    found = deia("doctor")
    for event in ("UserPromptSubmit", "PreToolUse"):
        assert f"the hook of {event} answered in" in found.out


def test_what_no_case_can_try_is_no_tick(deia: Deia, commons: Path) -> None:
    shutil.rmtree(commons / "triggers")
    assert deia("install", "claude-code").code == 0
    assert "! " in next(line for line in deia("doctor").out.splitlines() if "was not tried" in line)


def test_the_trial_leaves_the_persons_state_alone(deia: Deia, installed: Path, environ: dict[str, str]) -> None:
    before = sorted(os.listdir(environ["DEIA_STATE"]))
    deia("doctor")
    assert installed.exists()
    assert sorted(os.listdir(environ["DEIA_STATE"])) == before


def test_without_a_hook_the_cure_is_named(deia: Deia) -> None:
    deia("compile")
    found = deia("doctor")
    assert found.code == 0
    assert "Type: deia install claude-code" in found.out


def test_a_missing_interpreter_is_dead(deia: Deia, installed: Path) -> None:
    as_earlier(installed, hook.__file__, "/gone/python3")
    found = deia("doctor")
    assert found.code == 1
    assert "there is no interpreter /gone/python3" in found.out


def test_a_missing_hook_file_is_dead(deia: Deia, installed: Path) -> None:
    as_earlier(installed, "/gone/deia/serve/hook.py")
    found = deia("doctor")
    assert found.code == 1
    assert "there is no hook file /gone/deia/serve/hook.py" in found.out


@pytest.mark.parametrize(
    ("script", "told"),
    [
        ("print('hello')", "not JSON"),
        ("import sys; sys.exit(3)", "exits with 3"),
        ("pass", "answers nothing"),
        ('print(\'{"additionalContext": "site-delete"}\')', "answers nothing that the host would show"),
    ],
)
def test_a_hook_that_answers_wrongly_is_dead(
    deia: Deia, installed: Path, tmp_path: Path, script: str, told: str
) -> None:
    broken = tmp_path / "deia" / "serve" / "hook.py"
    broken.parent.mkdir(parents=True)
    broken.write_text(script, encoding="utf-8")
    as_earlier(installed, str(broken))
    found = deia("doctor")
    assert found.code == 1
    assert told in found.out


def test_a_hook_without_compiled_triggers_is_dead(
    deia: Deia, installed: Path, commons: Path, environ: dict[str, str]
) -> None:
    shutil.rmtree(derived(commons, environ))
    found = deia("doctor")
    assert found.code == 1
    assert f"{installed}: UserPromptSubmit cannot be tried: the commons is not compiled" in found.out
    assert "Type: deia compile" in found.out


def test_torn_triggers_are_dead(deia: Deia, installed: Path, commons: Path, environ: dict[str, str]) -> None:
    artefact = derived(commons, environ) / "triggers"
    artefact.write_bytes(artefact.read_bytes()[:-5])
    assert deia("doctor").code == 1
    assert installed.exists()


def test_a_folder_of_an_earlier_version_is_mentioned_once_with_what_removes_it(deia: Deia, commons: Path) -> None:
    assert "earlier version" not in deia("doctor").out
    (commons / ".deia").mkdir()
    text = deia("doctor").out
    assert text.count("earlier version") == 1
    assert f"type: rm -r '{commons}/.deia'" in text
    (commons / ".deia").rmdir()
    (commons / ".deia").symlink_to(commons.parent)
    assert f"type: rm '{commons}/.deia'" in deia("doctor").out


def test_looking_mends_nothing(deia: Deia, commons: Path, environ: dict[str, str]) -> None:
    deia("doctor")
    assert not derived(commons, environ).exists()


def test_a_change_since_the_compile_is_noticed(deia: Deia, installed: Path, commons: Path) -> None:
    with open(commons / "bok" / "site-checklist.md", "a", encoding="utf-8") as file:
        file.write("More.\n")
    found = deia("doctor")
    assert installed.exists()
    assert "bok/site-checklist.md changed since" in found.out


def test_disabled_hooks_are_dead(deia: Deia, installed: Path) -> None:
    local = installed.with_name("settings.local.json")
    local.write_text('{"disableAllHooks": true}', encoding="utf-8")
    found = deia("doctor")
    assert found.code == 1
    assert f"{local} disables all hooks" in found.out


def test_settings_that_cannot_be_read_are_dead(deia: Deia, installed: Path) -> None:
    installed.write_text("{", encoding="utf-8")
    found = deia("doctor")
    assert found.code == 1
    assert f"{installed}:1: not JSON" in found.out


def test_a_missing_event_is_told(deia: Deia, installed: Path) -> None:
    settings = json.loads(installed.read_text(encoding="utf-8"))
    del settings["hooks"]["Stop"]
    installed.write_text(json.dumps(settings), encoding="utf-8")
    assert "lacks the hook for Stop" in deia("doctor").out


def test_what_is_silenced_is_told(deia: Deia, installed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    deia("mute", "site-delete")
    deia("mute", "--all")
    monkeypatch.setenv("DEIA_OFF", "1")
    found = deia("doctor")
    assert installed.exists()
    for told in ("DEIA_OFF is set", "everything is muted", "1 mute in force: site-delete"):
        assert told in found.out
    assert "the hook of UserPromptSubmit answered" in found.out


def test_errors_and_broken_lines_of_the_ledger_are_told(deia: Deia, installed: Path, commons: Path) -> None:
    events = commons / "telemetry" / "events"
    events.mkdir(parents=True)
    now = spool.timestamp(time.time())
    line = f'{{"ts": "{now}", "event": "error", "error": "it broke", "where": "gate.py:7"}}'
    (events / f"{now[:10]}-here.jsonl").write_text(f"{line}\n{{torn", encoding="utf-8")
    found = deia("doctor")
    assert installed.exists()
    assert "it broke (gate.py:7)" in found.out
    assert "1 broken line" in found.out


def test_problems_of_the_sources_are_counted(deia: Deia, commons: Path) -> None:
    with open(commons / "triggers" / "sites.yaml", "a", encoding="utf-8") as file:
        file.write("- id: broken\n")
    assert "Type: deia lint" not in deia("doctor").err
    assert "To see them, type: deia lint" in deia("doctor").out


@pytest.mark.slow
def test_past_questions_without_their_documents_are_named(deia: Deia, commons: Path) -> None:
    index = commons / "commons_index.yaml"
    index.write_text(
        index.read_text(encoding="utf-8").replace("How do I delete a site safely?", "zebra xylophone"), encoding="utf-8"
    )
    deia("compile")
    assert "1 of 1 golden questions miss their documents: zebra xylophone" in deia("doctor").out


def test_no_commons_at_all_is_dead(deia: Deia, tmp_path: Path) -> None:
    found = deia("--commons", str(tmp_path / "nowhere"), "doctor")
    assert found.code == 1
    assert "no commons that can be used" in found.out


def test_doctor_compile_and_list_count_the_same_triggers_and_deprecated_ones_apart(deia: Deia, commons: Path) -> None:
    path = commons / "triggers" / "sites.yaml"
    path.write_text(path.read_text(encoding="utf-8").replace("status: test", "status: deprecated", 1), encoding="utf-8")
    assert "2 triggers and 1 deprecated, 1 document" in deia("compile").out
    assert "(2 triggers and 1 deprecated)" in deia("doctor").out
    assert deia("trigger", "list").out.endswith("2 triggers, and 1 deprecated.\n")


# --- other hosts ---

HOSTS = [setup.host for setup in SETUPS]


@pytest.mark.skipif(os.name == "nt", reason="it runs the lines of POSIX shells")
@pytest.mark.parametrize("host", [host for host in HOSTS if host not in {"codex", "copilot"}])
def test_every_host_s_installation_is_tried_and_well(deia: Deia, host: str) -> None:
    assert deia("install", host).code == 0
    found = deia("doctor")
    assert (found.code, "✗" not in found.out) == (0, True), found.out
    assert found.out.count("answered in") == (1 if host in {"amp", "windsurf", "kiro"} else 2)


def test_codex_runs_nothing_until_somebody_trusts_it(deia: Deia, commons: Path, environ: dict[str, str]) -> None:
    deia("install", "codex")
    hooks = commons / ".codex" / "hooks.json"
    found = deia("doctor")
    assert found.code == 1
    assert f"Codex does not trust {commons}" in found.out
    assert "nobody has trusted the hooks of SessionStart, UserPromptSubmit" in found.out
    assert "type /hooks and trust deia's hooks" in found.out
    names = ["session_start", "user_prompt_submit", "pre_tool_use", "post_tool_use", "stop"]
    states = [f"[hooks.state.{json.dumps(f'{hooks}:{name}:0:0')}]\ntrusted_hash = 'sha256:1'\n" for name in names]
    config = Path(environ["HOME"]) / ".codex" / "config.toml"
    config.parent.mkdir()
    trusted = f"[projects.{json.dumps(str(commons))}]\ntrust_level = 'trusted'\n"
    config.write_text(trusted + "".join(states), encoding="utf-8")
    well = deia("doctor")
    assert (well.code, "trust" in well.out) == (0, False), well.out
    config.write_text(trusted + "".join(states) + "enabled = false\n", encoding="utf-8")
    assert "switches off the hooks of Stop" in deia("doctor").out


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[features]\ncodex_hooks = true\n", "sets the feature codex_hooks, which is called hooks now"),
        ("[features]\nhooks = false\n", "switches hooks off"),
    ],
)
def test_an_old_feature_flag_of_codex_is_told(deia: Deia, environ: dict[str, str], text: str, told: str) -> None:
    deia("install", "codex", "--user")
    config = Path(environ["HOME"]) / ".codex" / "config.toml"
    config.write_text(text, encoding="utf-8")
    assert told in deia("doctor").out
    config.write_text("[features", encoding="utf-8")
    assert "nobody has trusted" in deia("doctor").out


@pytest.mark.parametrize(
    ("host", "file", "text"),
    [
        ("gemini", ".gemini/settings.json", '{"hooksConfig": {"enabled": false}}'),
        ("gemini", ".gemini/settings.json", '{"hooks": {"enabled": false}}'),
        ("droid", ".factory/settings.json", '{"hooksDisabled": true}'),
        ("copilot", ".copilot/config.json", '{"disableAllHooks": true}'),
        ("qwen", ".qwen/settings.json", '{"disableAllHooks": true}'),
        ("claude-code", ".claude/settings.json", '{"disableAllHooks": true}'),
    ],
)
def test_a_host_that_disables_its_hooks_is_told(
    deia: Deia, environ: dict[str, str], host: str, file: str, text: str
) -> None:
    deia("install", host)
    assert "disables all hooks" not in deia("doctor").out
    place = Path(environ["HOME"]) / file
    place.parent.mkdir()
    place.write_text(text, encoding="utf-8")
    found = deia("doctor")
    assert (found.code, f"{place} disables all hooks" in found.out) == (1, True)


def test_two_scopes_of_a_host_are_told(deia: Deia) -> None:
    deia("install", "gemini")
    deia("install", "gemini", "--user")
    found = deia("doctor")
    assert "Gemini CLI is connected twice (project, user)" in found.out
    assert "Type: deia uninstall gemini --project" in found.out


def test_a_host_that_runs_another_s_hooks_too_is_told(deia: Deia, installed: Path) -> None:
    deia("install", "cursor")
    told = deia("doctor").out
    assert "an event that arrives twice is judged once" in told
    assert os.name == "nt" or "knows no argument list" not in told
    as_earlier(installed, os.path.abspath(hook.__file__))
    told = deia("doctor").out
    assert f"Cursor runs the hooks of {installed} too, and knows no argument list" in told


@pytest.mark.slow
def test_another_installation_s_hook_is_told(deia: Deia, installed: Path, tmp_path: Path) -> None:
    other = tmp_path / "other" / "deia"
    shutil.copytree(Path(hook.__file__).parent.parent, other, ignore=shutil.ignore_patterns("__pycache__"))
    script = str(other / "serve" / "hook.py")
    as_earlier(installed, script)
    assert f"runs another installation, {script}" in deia("doctor").out


@pytest.mark.slow
@pytest.mark.parametrize("key", ["trustedFolders", "trusted_folders"])
def test_copilot_runs_a_project_s_hooks_only_where_it_trusts_the_folder(
    deia: Deia, commons: Path, environ: dict[str, str], key: str
) -> None:
    untrusted = f"Copilot does not trust {commons}"
    config = Path(environ["HOME"]) / ".copilot" / "config.json"
    config.parent.mkdir()
    deia("install", "copilot", "--user")
    assert untrusted not in deia("doctor").out, "a person's own hooks run anywhere"
    deia("uninstall", "copilot")
    deia("install", "copilot")
    found = deia("doctor")
    assert (found.code, untrusted in found.out) == (1, True)
    for folders, is_trusted in (([str(commons.parent)], True), ([f"{commons}2", 5, ""], False), ("x", False)):
        config.write_text("// managed\n" + json.dumps({key: folders}), encoding="utf-8")
        found = deia("doctor")
        assert (found.code == 0, untrusted not in found.out) == (is_trusted, is_trusted)
        assert found.out.count("answered in") == 2


@pytest.mark.skipif(os.name == "nt", reason="files have no right to run there")
def test_a_script_that_may_not_be_run_is_dead_and_installing_mends_it(deia: Deia, commons: Path) -> None:
    deia("install", "cline")
    script = commons / ".clinerules" / "hooks" / "PreToolUse"
    script.chmod(0o644)
    found = deia("doctor")
    assert (found.code, f"{script} may not be run" in found.out) == (1, True)
    deia("install", "cline")
    assert deia("doctor").code == 0


def test_a_command_line_that_leads_nowhere_is_dead(deia: Deia, commons: Path) -> None:
    deia("install", "cursor")
    place = commons / ".cursor" / "hooks.json"
    told = json.loads(place.read_text(encoding="utf-8"))
    for items in told["hooks"].values():
        items[0]["command"] = "'/gone/py thon3' -I -S /gone/deia/serve/hook.py cursor"
    place.write_text(json.dumps(told), encoding="utf-8")
    found = deia("doctor")
    assert (found.code, "there is no interpreter /gone/py thon3" in found.out) == (1, True)


def test_a_host_that_is_here_and_not_connected_is_named(deia: Deia, installed: Path, environ: dict[str, str]) -> None:
    (Path(environ["HOME"]) / ".gemini").mkdir()
    told = deia("doctor").out
    assert installed.exists()
    assert "Gemini CLI: found here, and not connected" in told
    assert "deia install gemini" in told


def test_the_plugin_besides_the_hooks_is_told(deia: Deia, commons: Path, environ: dict[str, str]) -> None:
    deia("compile")
    place = Path(environ["HOME"]) / ".claude" / "settings.json"
    place.parent.mkdir()
    place.write_text('{"enabledPlugins": {"deia@market": true, "other@market": true}}', encoding="utf-8")
    alone = deia("doctor").out
    assert "has the plugin deia@market, whose hooks are not tried here" in alone
    assert "nothing is watched" not in alone
    deia("install", "claude-code")
    told = deia("doctor").out
    assert "has the plugin deia@market besides its hooks" in told
    assert "Type: deia uninstall claude-code" in told


def test_a_wrong_setting_is_told_with_its_line_and_the_nearest_name(deia: Deia, commons: Path) -> None:
    (commons / "deia.toml").write_text("starter = false\nlimitt = 3\n", encoding="utf-8")
    told = deia("doctor")
    assert told.code == 1
    assert "deia.toml:2: unknown setting 'limitt'" in told.out
    assert "Did you mean limit? Known are: telemetry," in told.out


def test_of_the_starter_commons_a_sample_is_asked_and_said_so() -> None:
    asked = [Golden(query=f"q{number}") for number in range(429)]
    assert len(sample(asked)) <= SAMPLE
    assert sample(asked)[0].query == "q0"
    assert sample(asked[:7]) == asked[:7]


def test_a_last_good_version_is_told_and_not_called_fresh(deia: Deia, commons: Path) -> None:
    deia("compile")
    (commons / "triggers" / "sites.yaml").write_text("- id: [\n", encoding="utf-8")
    deia("compile")
    told = deia("doctor").out
    assert "its last good version counts" in told
    assert "compiled files are fresh" not in told


def test_findings_are_given_to_programs_as_the_schema_says(deia: Deia, installed: Path) -> None:
    schema = json.loads((ROOT / "docs/schema/doctor.schema.json").read_text(encoding="utf-8"))
    sound = deia("doctor", "--json")
    told = json.loads(sound.out)
    jsonschema.validate(told, schema)
    assert (sound.code, told["sound"]) == (0, True)
    assert any(str(installed) in each["text"] for each in told["findings"])
    as_earlier(installed, hook.__file__, "/no/such/python")
    broken = deia("doctor", "--json")
    told = json.loads(broken.out)
    jsonschema.validate(told, schema)
    assert (broken.code, told["sound"]) == (1, False)
    (dead,) = [each for each in told["findings"] if each["level"] == "dead"]
    assert "there is no interpreter /no/such/python" in dead["text"]
    assert dead["cure"] == "Type: deia install claude-code"


def test_a_server_whose_tool_hooks_call_is_looked_for_and_no_defect_if_it_is_missing(deia: Deia, commons: Path) -> None:
    assert deia("install", "claude-code", "--warm-mcp").code == 0
    assert "hooks that call the server's tool stand beside the command" in deia("doctor").out
    server = commons / ".mcp.json"
    server.write_text(server.read_text(encoding="utf-8").replace('"--hooks"', '"--read-only"'), encoding="utf-8")
    found = deia("doctor")
    assert (found.code, "does not offer without --hooks" in found.out) == (0, True)
    assert "Type: deia install claude-code --warm-mcp" in found.out
    server.write_text('{"mcpServers": {"deia": {"command": "/no/such/deia", "args": ["mcp"]}}}', encoding="utf-8")
    assert "there is no program /no/such/deia" in deia("doctor").out
    server.unlink()
    found = deia("doctor")
    assert found.code == 0
    assert "the session is not connected, so the command beside it watches alone" in found.out


def test_an_address_at_which_nobody_answers_is_told_and_is_no_defect(deia: Deia, commons: Path) -> None:
    assert deia("install", "claude-code", "--warm", "--url", "http://127.0.0.1:9").code == 0
    found = deia("doctor")
    assert found.code == 0
    assert "the server at http://127.0.0.1:9/hooks/claude-code does not answer" in found.out
    settings = commons / ".claude/settings.json"
    text = settings.read_text(encoding="utf-8")
    settings.write_text(text.replace("http://127.0.0.1:9/", "file:///etc/"), encoding="utf-8")
    assert "file:///etc/hooks/claude-code is not an address" in deia("doctor").out


def test_what_is_not_as_the_host_wants_it_in_the_entry_of_an_address_ends_no_check(deia: Deia, commons: Path) -> None:
    assert deia("install", "claude-code", "--warm", "--url", "http://127.0.0.1:9").code == 0
    settings = commons / ".claude/settings.json"
    written = json.loads(settings.read_text(encoding="utf-8"))
    for group in (group for groups in written["hooks"].values() for group in groups):
        for entry in group["hooks"]:
            entry.update({"headers": ["X-Token: 1"], "allowedEnvVars": 5} if entry["type"] == "http" else {})
    settings.write_text(json.dumps(written), encoding="utf-8")
    assert "the server at http://127.0.0.1:9/hooks/claude-code does not answer" in deia("doctor").out


# --- in a repository of somebody else's ---


EVIL = (
    {"command": "touch ran # deia-hook"},
    {"command": "./evil", "args": [hook.__file__]},
    {"command": f"{shlex.quote(sys.executable)} -I -S {shlex.quote(hook.__file__)} claude-code $(touch ran)"},
)


@pytest.mark.skipif(os.name == "nt", reason="the commands are those of a POSIX shell")
@pytest.mark.parametrize("entry", EVIL, ids=lambda entry: entry["command"][-10:])
def test_no_command_of_a_project_that_is_not_trusted_is_run(
    deia: Deia, commons: Path, monkeypatch: pytest.MonkeyPatch, entry: dict[str, Any]
) -> None:
    assert deia("install", "claude-code", "--yes").code == 0
    monkeypatch.setenv("DEIA_TRUST", "")
    assert deia("compile").code == 0
    settings = commons / ".claude" / "settings.json"
    rewrite(settings, lambda own: own.update({"args": None, **entry}))
    evil = commons / "evil"
    evil.write_text("#!/bin/sh\n/bin/touch ran || /usr/bin/touch ran\n", encoding="utf-8")
    evil.chmod(0o755)
    monkeypatch.setenv("PATH", f"{os.environ['PATH']}:/bin:/usr/bin")
    found = deia("doctor")
    assert f"{settings}: its hooks were not tried, since this project is not trusted" in found.out
    assert not (commons / "ran").exists()
    monkeypatch.setenv("DEIA_TRUST", str(commons))
    deia("doctor")
    assert (commons / "ran").exists()


@pytest.mark.skipif(os.name == "nt", reason="the commands are those of a POSIX shell")
def test_no_file_of_a_project_that_is_not_trusted_is_run_as_a_hook(
    deia: Deia, commons: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert deia("install", "cline", "--yes").code == 0
    monkeypatch.setenv("DEIA_TRUST", "")
    assert deia("compile").code == 0
    for file in (commons / ".clinerules/hooks").iterdir():
        file.write_text(f"#!/bin/sh\necho >ran\nexec /bin/sh {shlex.quote(hook.__file__)}\n", encoding="utf-8")
    assert "its hooks were not tried" in deia("doctor").out
    assert not list(commons.rglob("ran"))


@pytest.mark.parametrize("host", ["claude-code", "cursor", "cline"])
def test_what_deia_itself_installed_is_tried_in_any_project(
    deia: Deia, monkeypatch: pytest.MonkeyPatch, host: str
) -> None:
    monkeypatch.setenv("DEIA_TRUST", "")
    assert deia("install", host, "--yes").code == 0
    found = deia("doctor")
    assert "its hooks were not tried" not in found.out
    assert "answered in" in found.out


@pytest.mark.skipif(os.name == "nt", reason="needs named pipes")
def test_a_pipe_in_place_of_settings_is_not_waited_for(deia: Deia, commons: Path, installed: Path) -> None:
    os.mkfifo(commons / ".claude" / "settings.local.json")
    installed.unlink()
    os.mkfifo(installed)
    assert "is a pipe or a device" in deia("doctor").out


def test_no_address_that_a_project_names_is_asked_unless_it_is_trusted(
    deia: Deia, commons: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        address = f"http://127.0.0.1:{listening.getsockname()[1]}"
        assert deia("install", "claude-code", "--warm", "--url", address).code == 0
        monkeypatch.setenv("DEIA_TRUST", "")
        found = deia("doctor")
        assert f"{address}/hooks/claude-code was not asked, since this project is not trusted" in found.out
        listening.settimeout(0)
        with pytest.raises(BlockingIOError):
            listening.accept()
