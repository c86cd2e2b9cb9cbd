"""The launcher, which every hook starts, is deia's own: no tool call of an agent changes it or takes it out of use."""

from __future__ import annotations

import pytest

from deia.records import Turn
from deia.serve.setup.host_settings.launcher import in_shell, launched_command
from deia.watch.silence.self_protection import refusal
from deia.watch.turn.tool_call import may_weaken

ENVIRON = {"HOME": "/home/you"}
PLACE = "/home/you/.local/state/deia/deia-hook"
LINE = in_shell(launched_command("", "codex", environ=ENVIRON))
CALLS = [
    ("Bash", {"command": "rm ~/.local/state/deia/deia-hook"}),
    ("Bash", {"command": f"echo 'exit 0' > {PLACE}"}),
    ("Bash", {"command": "cd ~/.local/state && mv deia/deia-hook /tmp/x"}),
    ("Bash", {"command": 'chmod 000 "$HOME/.local/state/deia/deia-hook"'}),
    ("Write", {"file_path": PLACE, "content": "exit 0"}),
    ("Edit", {"file_path": PLACE, "old_string": "shift", "new_string": "exit 0"}),
    ("Edit", {"file_path": "/srv/shop/.codex/hooks.json", "old_string": LINE, "new_string": "true"}),
    ("Bash", {"command": "uvx deia uninstall --purge --yes"}),
    ("Bash", {"command": "deia uninstall --purge --yes"}),
]


@pytest.mark.parametrize(("tool", "given"), CALLS)
def test_what_would_disable_the_launcher_is_refused(tool: str, given: dict[str, object]) -> None:
    text = str(given.get("command") or given)
    turn = Turn(role="tool_call", text=text, tool=tool, tool_input=given)
    assert may_weaken(turn, "/srv/shop", state="/home/you/.local/state/deia")
    assert refusal(turn, folder="/srv/shop", environ=ENVIRON)
