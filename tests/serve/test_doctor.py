from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.serve.conftest import Deia


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


def test_a_good_installation_is_well(deia: Deia, installed: Path) -> None:
    found = deia("doctor")
    assert found.code == 0
    assert "✗" not in found.out
    for event in ("UserPromptSubmit", "PreToolUse"):
        assert f"the hook of {event} answered in" in found.out
    assert str(installed) in found.out
    assert "all 1 golden questions find their documents" in found.out


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
    rewrite(installed, lambda entry: entry.update(command="/gone/python3"))
    found = deia("doctor")
    assert found.code == 1
    assert "there is no interpreter /gone/python3" in found.out


def test_a_missing_hook_file_is_dead(deia: Deia, installed: Path) -> None:
    rewrite(installed, lambda entry: entry.update(args=["-I", "-S", "/gone/deia/serve/hook.py", "claude-code"]))
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
    rewrite(installed, lambda entry: entry.update(args=["-I", "-S", str(broken), "claude-code"]))
    found = deia("doctor")
    assert found.code == 1
    assert told in found.out


def test_a_hook_without_compiled_triggers_is_dead(deia: Deia, installed: Path, commons: Path) -> None:
    shutil.rmtree(commons / ".deia")
    found = deia("doctor")
    assert found.code == 1
    assert f"{installed}: UserPromptSubmit cannot be tried: the commons is not compiled" in found.out
    assert "Type: deia compile" in found.out


def test_torn_triggers_are_dead(deia: Deia, installed: Path, commons: Path) -> None:
    artefact = commons / ".deia" / "triggers"
    artefact.write_bytes(artefact.read_bytes()[:-5])
    assert deia("doctor").code == 1
    assert installed.exists()


def test_looking_mends_nothing(deia: Deia, commons: Path) -> None:
    deia("doctor")
    assert not (commons / ".deia").exists()


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
    for told in ("DEIA_OFF is set", "everything is muted", "1 mutes in force: site-delete"):
        assert told in found.out
    assert "the hook of UserPromptSubmit answered" in found.out


def test_errors_and_broken_lines_of_the_ledger_are_told(deia: Deia, installed: Path, commons: Path) -> None:
    events = commons / "telemetry" / "events"
    events.mkdir(parents=True)
    line = '{"ts": "9999-01-01T00:00:00.000Z", "event": "error", "error": "it broke", "where": "gate.py:7"}'
    (events / "9999-01-01-here.jsonl").write_text(f"{line}\n{{torn", encoding="utf-8")
    found = deia("doctor")
    assert installed.exists()
    assert "it broke (gate.py:7)" in found.out
    assert "1 broken lines" in found.out


def test_problems_of_the_sources_are_counted(deia: Deia, commons: Path) -> None:
    with open(commons / "triggers" / "sites.yaml", "a", encoding="utf-8") as file:
        file.write("- id: broken\n")
    assert "Type: deia lint" not in deia("doctor").err
    assert "To see them, type: deia lint" in deia("doctor").out


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
    assert "2 triggers and 1 deprecated, 1 documents" in deia("compile").out
    assert "(2 triggers and 1 deprecated)" in deia("doctor").out
    assert deia("triggers", "list").out.endswith("2 triggers, and 1 deprecated.\n")
