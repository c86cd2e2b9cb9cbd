"""Which events of Claude Code call the hook, and for which tools.

Source: the host's own reference for v2.1.240 (read 2026-08-22). How every host's settings are written is in
`deia.serve.setup.host_settings`.
"""

from __future__ import annotations

from collections.abc import Mapping

from deia.fast_json import Json
from deia.records import Record

HOST = "claude-code"
TIMEOUT = 5  # seconds; the hook gives up by itself after one
# Not Read: it is frequent, and this host itself refuses to overwrite a file that it has not read.
CALLS = (
    "Bash|PowerShell|Write|Edit|MultiEdit|NotebookEdit|ExitPlanMode|TodoWrite|TaskCreate|Task|Agent|AskUserQuestion"
    "|mcp__.*"
)
RESULTS = "Bash|PowerShell|ExitPlanMode|AskUserQuestion|mcp__.*"


class Hooked(Record):
    """What the settings say of an event that calls the hook."""

    matcher: str = ""  # which tools, if not all
    entry: Mapping[str, Json] = {}  # what the hook's entry says besides its command

    @property
    def group(self) -> dict[str, Json]:
        """The fields of a group besides its hooks."""
        return {"matcher": self.matcher} if self.matcher else {}


EVENTS: Mapping[str, Hooked] = {
    "UserPromptSubmit": Hooked(),
    "PreToolUse": Hooked(matcher=CALLS),
    "PostToolUse": Hooked(matcher=RESULTS),
    "PostToolUseFailure": Hooked(matcher=RESULTS),
    "SessionStart": Hooked(),
    "Stop": Hooked(entry={"async": True}),
}
