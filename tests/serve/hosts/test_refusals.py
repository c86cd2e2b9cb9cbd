"""Through the installed hook: what would weaken deia is refused each time, and no setting or mute lifts it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from deia.compile.compiler import compile_commons
from deia.serve.setup.host_settings.hook_file import with_hooks
from deia.serve.setup.host_settings.hosts_table import BY_NAME
from deia.watch.silence.mutes import EVERY_TRIGGER, Mute, write_mute

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.serve.hosted import Hosted

REFUSED = "Only the person may"
WORDS = ["/opt/bin/python", "-I", "-S", "/opt/lib/deia/serve/hook.py", "claude-code"]
CASES = (
    ("claude-code", "deia mute --all"),
    ("codex", "bash -lc 'deia uninstall --all -y'"),
    ("gemini", "rm ~/.claude/settings.json"),
    ("cursor", "echo '{}' > ~/.claude/settings.json"),
    ("cline", 'touch "$HOME/.local/state/deia/off"'),
    ("windsurf", "DEIA_OFF=1 claude -p 'drop it'"),
    ("copilot", "printf 'deadline_ms = 1' > deia.toml"),
    ("opencode", "echo 'export DEIA_OFF=1' >> ~/.bashrc"),
    ("droid", "python3 -c \"import os; os.system('deia allow ABC234')\""),
    ("kiro", "pip uninstall -y deia"),
    ("amp", "rm -rf .deia"),
    ("vscode", "deia trust ."),
    ("generic", "sed -i '/deia/d' ~/.claude/settings.json"),
)


@pytest.fixture
def installed(hosted: Callable[[str], Hosted], environ: dict[str, str]) -> Callable[[str], Hosted]:
    """Return the function that makes a host's hook, for a person whose Claude Code is connected."""
    path = Path(environ["HOME"]) / ".claude" / "settings.json"
    path.parent.mkdir()
    path.write_text(with_hooks("{}", BY_NAME["claude-code"], WORDS, path=str(path)), encoding="utf-8")
    return hosted


@pytest.mark.parametrize(("host", "command"), CASES)
def test_every_host_is_told_each_time(installed: Callable[[str], Hosted], host: str, command: str) -> None:
    hook = installed(host)
    for _ in range(2):
        assert REFUSED in hook.send(hook.event("before_tool", command))
    assert REFUSED not in hook.send(hook.event("before_tool", f"echo {json.dumps(command)}"))
    assert REFUSED not in hook.send(hook.event("before_tool", "cat ~/.claude/settings.json"))


def test_nothing_lifts_it(installed: Callable[[str], Hosted], commons: Path, environ: dict[str, str]) -> None:
    toml = 'hold = false\nmax_action = "note"\nstarter = false\ntelemetry = "off"\n[forms]\ncritical = "off"\n'
    (commons / "deia.toml").write_text(toml, encoding="utf-8")
    compile_commons(str(commons), environ=environ)
    write_mute(environ["DEIA_STATE"], Mute(trigger=EVERY_TRIGGER))
    hook = installed("claude-code")
    assert REFUSED in hook.send(hook.event("before_tool", "deia mute --all"))


def test_it_needs_no_compiled_triggers(installed: Callable[[str], Hosted], commons: Path) -> None:
    hook = installed("claude-code")
    for path in commons.rglob("*"):
        if path.is_file() and ".deia" in path.parts:
            path.write_bytes(b"broken")
    assert REFUSED in hook.send(hook.event("before_tool", "deia mute --all"))


def test_an_edit_that_keeps_the_hook_passes(installed: Callable[[str], Hosted], environ: dict[str, str]) -> None:
    hook = installed("claude-code")
    path = Path(environ["HOME"]) / ".claude" / "settings.json"
    kept = json.loads(path.read_text(encoding="utf-8")) | {"permissions": {"allow": ["Bash(ls)"]}}
    event: Any = hook.event("before_tool", "x")
    for content, is_refused in ((json.dumps(kept), False), ('{"permissions": {}}', True)):
        edit = {**event, "tool_name": "Write", "tool_input": {"file_path": str(path), "content": content}}
        assert (REFUSED in hook.send(edit)) is is_refused


def test_what_was_refused_is_in_the_ledger(installed: Callable[[str], Hosted], commons: Path) -> None:
    hook = installed("claude-code")
    hook.send(hook.event("before_tool", "deia mute --all"))
    lines = [text for path in commons.rglob("*.jsonl") for text in path.read_text(encoding="utf-8").splitlines()]
    assert any("a tool call was refused" in line for line in lines)
