from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from deia.watch.silence.allow import allowed, offer

if TYPE_CHECKING:
    from pathlib import Path

    from tests.serve.conftest import Deia, Process


def test_a_mute_is_listed_and_lifted(deia: Deia) -> None:
    assert "is muted until" in deia("mute", "site-delete", "--for", "2h").out
    assert "site-delete is muted until" in deia("mute", "--list").out
    assert "no longer muted" in deia("mute", "site-delete", "--off").out
    assert deia("mute", "--list").out == "Nothing is muted.\n"
    assert "was not muted" in deia("mute", "site-delete", "--off").out


def test_a_mute_of_a_folder_counts_there_alone(deia: Deia, commons: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (commons / "legacy").mkdir()
    deia("mute", "site-delete", "--folder", "legacy")
    assert "FIRES" in deia("check", "delete the site").out
    monkeypatch.chdir(commons / "legacy")
    assert "FIRES" not in deia("check", "delete the site").out
    assert "no longer muted" in deia("mute", "site-delete", "--off").out
    assert "FIRES" in deia("check", "delete the site").out


def test_mutes_are_listed_for_programs(deia: Deia, commons: Path) -> None:
    nothing: dict[str, object] = {"everything": False, "mutes": []}
    assert json.loads(deia("mute", "--list", "--json").out) == nothing
    deia("mute", "site-delete", "--once", "--folder", str(commons))
    deia("mute", "site-rename", "--for", "2h")
    deia("mute", "--all")
    listed = json.loads(deia("mute", "--json").out)
    first, second = sorted(listed["mutes"], key=lambda mute: str(mute["trigger"]))
    assert listed["everything"]
    assert (first["trigger"], first["once"], first["folder"], first["until"]) == (
        "site-delete", True, commons.as_posix(), "",
    )  # fmt: skip
    assert (second["trigger"], second["once"], second["until"][:2]) == ("site-rename", False, "20")
    assert deia("mute", "site-delete", "--json").code == 2


@pytest.mark.parametrize(
    ("command", "speaks"),
    [
        ("shopctl site:delete infra/old", False),
        ("shopctl site:delete infra/../infra/old/x", False),
        ("cd infra && shopctl site:delete", False),
        ("shopctl site:delete infra/../src", True),
        ("shopctl site:delete infra/old src/new", True),
        ("shopctl site:delete ~/infra/old", True),
        ("shopctl site:delete $PWD/infra", True),
        ("shopctl site:delete", True),
    ],
)
def test_a_mute_of_a_path_counts_where_a_call_touches_nothing_else(deia: Deia, command: str, *, speaks: bool) -> None:
    assert "for infra/** in" in deia("mute", "site-delete", "--path", "infra/**").out
    assert ("FIRES" in deia("check", "--role", "tool_call", command).out) is speaks
    assert "no longer muted" in deia("mute", "site-delete", "--path", "infra/**", "--remove").out
    assert "FIRES" in deia("check", "--role", "tool_call", command).out


def test_a_project_may_except_a_trigger_where_it_does_not_count(deia: Deia, commons: Path) -> None:
    (commons / "deia.toml").write_text('[exceptions]\nsite-delete = ["sandbox"]\n', encoding="utf-8")
    assert "FIRES" not in deia("check", "--role", "tool_call", "shopctl site:delete sandbox/a").out
    assert "FIRES" in deia("check", "--role", "tool_call", "shopctl site:delete shop/a").out


@pytest.mark.parametrize(
    ("toml", "shown"),
    [
        ('max_action = "warn"', "(critical, warn)"),
        ('[forms]\ncritical = "ask"', "(critical, ask)"),
        ('[forms]\nsite-delete = "note"\ncritical = "ask"', "(critical, note)"),
        ('[forms]\nsite-delete = "off"', "silent  site-delete"),
        ('[forms]\nhigh = "note"', "(critical, hold)"),
    ],
)
def test_the_settings_make_a_trigger_milder(deia: Deia, commons: Path, toml: str, shown: str) -> None:
    (commons / "deia.toml").write_text(toml + "\n", encoding="utf-8")
    assert shown in deia("check", "--role", "tool_call", "shopctl site:delete shop").out


def test_leave_is_given_in_a_terminal_alone(deia: Deia, process: Process, environ: dict[str, str]) -> None:
    code = offer(environ["DEIA_STATE"], "c1", ["site-delete"], now=time.time())
    refused = deia("allow", code)
    assert (refused.code, "in a terminal" in refused.err) == (2, True)
    assert process("allow", code).returncode == 2
    assert not allowed(environ["DEIA_STATE"], "c1", now=time.time())


@pytest.mark.skipif(sys.platform == "win32", reason="no pseudo-terminals there")
def test_a_code_is_taken_from_a_terminal_once(environ: dict[str, str], commons: Path) -> None:
    code = offer(environ["DEIA_STATE"], "c1", ["site-delete"], now=time.time())
    assert "will not stop calls once" in _typed(["allow", code.lower()], environ, commons)
    assert [leave.given for leave in allowed(environ["DEIA_STATE"], "c1", now=time.time())] == ["once"]
    assert "the code 'WRONG1' is unknown" in _typed(["allow", "WRONG1"], environ, commons)


def _typed(arguments: list[str], environ: dict[str, str], folder: Path) -> str:
    """Run deia with a terminal for its input, as a person does."""
    _, inner = os.openpty()
    command = [sys.executable, "-m", "deia.serve.main", *arguments]
    done = subprocess.run(command, stdin=inner, capture_output=True, check=False, cwd=folder, env=environ, timeout=60)
    return (done.stdout + done.stderr).decode()


def test_everything_is_silenced_by_one_switch(deia: Deia, environ: dict[str, str]) -> None:
    deia("mute", "--all")
    with open(f"{environ['DEIA_STATE']}/off", "rb"):
        pass
    assert "Everything is muted" in deia("mute").out
    deia("mute", "--all", "--off")
    assert deia("mute").out == "Nothing is muted.\n"
    assert deia("mute", "--all", "--off").code == 0


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["site-delte"], "site-delete"),
        (["site-delete", "--for", "soon"], "such as 2h"),
        (["--all", "--for", "2h"], "need a TRIGGER"),
        (["--path", "infra/**"], "need a TRIGGER"),
        (["--all", "--once"], "need a TRIGGER"),
    ],
)
def test_a_mute_that_makes_no_sense_is_refused(deia: Deia, arguments: list[str], told: str) -> None:
    refused = deia("mute", *arguments)
    assert refused.code == 2
    assert told in refused.err


def test_the_log_shows_what_was_asked(deia: Deia) -> None:
    assert "There are no events" in deia("log").out
    deia("search", "site")
    deia("search", "zebra")
    assert re.search(r"^just now +query +cli +site, ", deia("log").out, re.MULTILINE)
    (line,) = deia("log", "-n", "1", "--json").out.splitlines()
    assert json.loads(line)["query"] == "zebra"
    assert deia("log", "--event", "error", "--json").out == ""


def test_the_log_says_how_many_lines_are_broken(deia: Deia, commons: Path) -> None:
    deia("search", "site")
    (path,) = (commons / "telemetry" / "events").glob("*.jsonl")
    path.write_bytes(path.read_bytes() + b"\n{torn \x1b[2J\n")
    assert "1 damaged line skipped" in deia("log").out


def test_config_says_where_each_value_comes_from(deia: Deia, commons: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (commons / "deia.toml").write_text("limit = 3\n", encoding="utf-8")
    monkeypatch.setenv("DEIA_HOLD", "false")
    rows = json.loads(deia("config", "--json").out)
    assert rows["limit"] == {"value": 3, "source": "deia.toml"}
    assert rows["hold"] == {"value": False, "source": "DEIA_HOLD"}
    assert rows["telemetry"]["source"] == "default"
    assert rows["commons"] == {"value": str(commons), "source": "nearest from the working folder upwards"}
    assert 'telemetry = "full"  (default)' in deia("config").out


@pytest.mark.parametrize("named", ["--commons", "DEIA_COMMONS"])
def test_config_says_why_this_commons(deia: Deia, commons: Path, monkeypatch: pytest.MonkeyPatch, named: str) -> None:
    monkeypatch.chdir(commons.parent)
    assert "(the starter commons" in deia("config").out
    if named == "--commons":
        assert f"commons = {commons}  (--commons)" in deia("--commons", commons.name, "config").out
        assert f"commons = {commons}  (--commons)" in deia("config", "--commons", commons.name).out
    else:
        monkeypatch.setenv("DEIA_COMMONS", str(commons))
        assert f"commons = {commons}  (DEIA_COMMONS)" in deia("config").out


def test_a_broken_settings_file_is_told(deia: Deia, commons: Path) -> None:
    (commons / "deia.toml").write_text("limt = 3\n", encoding="utf-8")
    for command in ("config", "search", "compile", "check"):
        refused = deia(command, *(["x"] if command in {"search", "check"} else []))
        assert refused.code == 2
        assert "unknown setting 'limt'" in refused.err


def test_lifting_a_mute_that_is_none_says_which_there_are(deia: Deia) -> None:
    deia("mute", "site-delete")
    told = deia("mute", "site-delete", "--remove", "--path", "x/**")
    assert "was not muted for that" in told.out
    assert "site-delete is muted permanently." in told.out
    assert "deia mute site-delete --off" in told.out
    deia("mute", "site-delete", "--path", "x/**")
    assert "That mute is ended" in deia("mute", "site-delete", "--off", "--path", "x/**").out
    assert "no longer muted" in deia("mute", "site-delete", "--off").out
    assert deia("mute", "site-delete", "--off").out == "site-delete was not muted.\n"


def test_off_without_a_trigger_says_what_to_type(deia: Deia) -> None:
    refused = deia("mute", "--off")
    assert refused.code == 2
    assert "deia mute TRIGGER --off" in refused.err
