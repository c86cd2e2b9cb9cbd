"""The pages about the hosts: up to date, and true: what they show is what `deia install` writes."""

from __future__ import annotations

import json
import re
import runpy
from pathlib import Path
from typing import Any

import pytest

from deia.serve.hooks.run import HOSTS
from deia.serve.setup.hook_installation import Spot, hook_parts
from deia.serve.setup.host_settings import hook_file, hosts_table
from deia.serve.setup.host_settings.hosts_table import FLAT, GROUPED, SETUPS, Machine
from deia.serve.setup.settings_changes import planned
from tests.paths import ROOT

FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
MAKER: dict[str, Any] = runpy.run_path(str(ROOT / "docs" / "make_hosts.py"))


def text_of(host: str) -> str:
    return (ROOT / "docs" / "hosts" / f"{host}.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("host", HOSTS)
def test_the_page_of_a_host_is_what_its_tables_say(host: str) -> None:
    assert text_of(host).split() == MAKER["host_page"](host).split(), "type: python3 do.py docs"


def test_there_is_a_page_for_every_host_and_none_besides() -> None:
    assert {path.stem for path in (ROOT / "docs" / "hosts").glob("*.md")} == set(HOSTS)


@pytest.mark.parametrize("setup", SETUPS, ids=lambda setup: setup.host)
@pytest.mark.parametrize("system", ["posix", "windows"])
def test_the_settings_on_a_page_are_what_install_writes(
    setup: Any, system: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (hook_file, hosts_table):
        monkeypatch.setattr(module, "on_windows", lambda: system == "windows")
    environ = {"HOME": str(tmp_path), "USERPROFILE": str(tmp_path), "PATH": ""}
    spot = Spot(setup=setup, scope="project", machine=Machine(project=str(tmp_path), environ=environ))
    windows, posix = [*MAKER["WINDOWS"], setup.host], MAKER["launched_command"]("", setup.host, environ=MAKER["HOME"])
    command = posix if system == "posix" else windows
    (change, *_) = planned(hook_parts(spot, command)).changes
    shown = [text for language, text in FENCE.findall(text_of(setup.host)) if language != "sh" or "#!" in text]
    if setup.shape in {GROUPED, FLAT}:
        written, whole, one = json.loads(change.after), json.loads(shown[0]), json.loads(shown[1])
        first = next(iter(written["hooks"].values()))[0]
        entry = first["hooks"][0] if setup.shape == GROUPED else first
        assert (written == whole) if system == "posix" else (entry == one)
    else:
        own = shown[0 if system == "posix" else -1].strip()
        assert own in change.after or (system == "windows" and "return [" in own)


@pytest.mark.parametrize("setup", SETUPS, ids=lambda setup: setup.host)
def test_the_page_names_the_files_of_every_scope_and_every_trap(setup: Any) -> None:
    text = text_of(setup.host)
    for scope, place in setup.places.items():
        assert f"| `--{scope}` | `{'~/' if scope == 'user' else ''}{place.folder}" in text
    assert setup.limits
    assert [limit for limit in setup.limits if f"- {limit}" not in text] == []


@pytest.mark.parametrize("host", HOSTS)
def test_everything_that_a_host_lacks_has_its_reason(host: str) -> None:
    lacking = [line for line in MAKER["missing"](host) for line in line.splitlines()]
    assert [line for line in lacking if not line.split(": ", 1)[-1].strip() or line.endswith(":")] == []


def test_a_page_says_what_backs_it() -> None:
    for host in HOSTS:
        runs = ROOT / "docs" / "hosts" / "runs" / f"{host}.json"
        version = json.loads(runs.read_text(encoding="utf-8"))["version"] if runs.exists() else ""
        assert ("No run backs" in text_of(host)) == (not version and host != "generic")
        assert f"Run in version {version}" in text_of(host) or not version
