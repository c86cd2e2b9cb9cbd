"""Which events of Claude Code call the hook, and for which tools.

Source: the host's own reference for v2.1.240 (read 2026-08-22). What every host's settings say, and how they are
changed, stands in `deia.serve.hosts.settings`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

HOST = "claude-code"
TIMEOUT = 5  # seconds; the hook gives up by itself after one
# Not Read: it is frequent, and this host itself refuses to write over a file that it has not read.
CALLS = (
    "Bash|PowerShell|Write|Edit|MultiEdit|NotebookEdit|ExitPlanMode|TodoWrite|TaskCreate|Task|Agent|AskUserQuestion"
    "|mcp__.*"
)
RESULTS = "Bash|PowerShell|ExitPlanMode|AskUserQuestion|mcp__.*"
EVENTS: Mapping[
    str, tuple[dict[str, Any], dict[str, Any]]
] = {  # event → what a group says besides its hooks, what a hook says besides its command
    "UserPromptSubmit": ({}, {}),
    "PreToolUse": ({"matcher": CALLS}, {}),
    "PostToolUse": ({"matcher": RESULTS}, {}),
    "PostToolUseFailure": ({"matcher": RESULTS}, {}),
    "SessionStart": ({}, {}),
    "Stop": ({}, {"async": True}),
}
