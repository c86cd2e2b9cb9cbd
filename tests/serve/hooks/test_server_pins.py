"""What the host starts for a project is pinned, and a change is told once, at the start of the next session."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deia.serve.hooks.server_pins import _object, changed_servers

if TYPE_CHECKING:
    from pathlib import Path


def enter(folder: Path, **servers: Any) -> None:
    (folder / ".mcp.json").write_text(json.dumps({"mcpServers": servers}), encoding="utf-8")


def test_new_and_changed_servers_are_told_once(tmp_path: Path) -> None:
    work, state = tmp_path / "work", str(tmp_path / "state")
    work.mkdir()

    def ask() -> str:
        return changed_servers(str(work), state)

    assert ask() == ""
    enter(work, notes={"command": "npx", "args": ["notes@1"]})
    assert ask() == ""  # the first time that there is anything to compare with
    enter(work, notes={"command": "npx", "args": ["notes@2"]}, mail={"url": "https://x.example"})
    told = ask()
    assert ".mcp.json: mail is new" in told
    assert ".mcp.json: notes runs something else" in told
    assert ask() == ""
    enter(work)
    assert ask() == ""


def test_no_secret_of_an_entry_is_kept_and_no_name_makes_a_line_of_its_own(tmp_path: Path) -> None:
    state = tmp_path / "state"
    enter(tmp_path, notes={"env": {"KEY": "hunter2hunter2"}})
    changed_servers(str(tmp_path), str(state))
    assert "hunter2" not in (state / "servers.json").read_text(encoding="utf-8")
    enter(tmp_path, **{"a\nb" * 100: {}})
    told = changed_servers(str(tmp_path), str(state))
    assert told
    assert "\n" not in told
    assert len(told) < 250


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
def test_a_pipe_or_a_huge_file_is_not_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / ".mcp.json")
    (tmp_path / ".cursor").mkdir()
    (tmp_path / ".cursor" / "mcp.json").write_bytes(b'{"mcpServers": {"a": {}}}' + b" " * 300_000)
    assert changed_servers(str(tmp_path), str(tmp_path / "state")) == ""
    assert not (tmp_path / "state").exists()


@given(st.binary())
def test_no_content_raises(data: bytes) -> None:
    assert isinstance(_object(data), dict)


def test_an_entry_nested_too_deep_is_still_told(tmp_path: Path) -> None:
    state = str(tmp_path / "state")
    for number in (1, 2):
        nested = "[" * 600 + str(number) + "]" * 600
        (tmp_path / ".mcp.json").write_text(f'{{"mcpServers": {{"notes": {nested}, "mail": {{}}}}}}', encoding="utf-8")
        message = changed_servers(str(tmp_path), state)
    assert message.endswith("changed: .mcp.json: notes runs something else")
