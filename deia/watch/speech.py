"""What a tool call says to somebody: the prose in the input of tools that neither run, read nor write anything.

A question to the person, a plan, a list of things to do, an order to a sub-agent announce acts as an assistant's own
words do. Which fields are speech is told by their names; the rest of a tool's input is data.
"""

from __future__ import annotations

from deia.fast_json import loads
from deia.records import TYPE_CHECKING
from deia.watch.gate import MOST_DEPTH, WRITE_TOOLS, is_shell

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from deia.records import Turn

# Of the questions, plans, task lists and sub-agents of the hosts that deia knows, and of common tool servers.
FIELDS = frozenset(
    "question prompt plan description explanation content activeform label message instruction instructions task"
    " subject title goal step thought summary text question_text details objective".split()
)
SILENT = frozenset(  # tools whose texts are patterns, file contents or names
    "read grep glob ls view search websearch webfetch read_file codebase_search list_dir file_search grep_search"
    " notebookread lsp write_stdin skill toolsearch".split()
)
MOST_SAID = 20_000  # characters
MOST_JSON = 100_000


def speech_of(turn: Turn) -> str:
    """Give what a tool call says, a line a field; nothing for a shell, a writing or a reading tool."""
    name = turn.tool.lower()
    if turn.role != "tool_call" or not name or is_shell(turn) or name in WRITE_TOOLS or name in SILENT:
        return ""
    return "\n\n".join(_said(_input_of(turn), "", 0))[:MOST_SAID]


def _input_of(turn: Turn) -> Any:
    """Give a call's input; where a host hands it over as JSON text, what that text holds."""
    given: Any = turn.tool_input or {}
    texts = [value for value in (*given.values(), turn.text) if isinstance(value, str)]
    written = next((text for text in texts if text[:1] == "{" and len(text) <= MOST_JSON), "")
    if not written or set(given) - {"command"}:
        return given
    try:
        return loads(written)
    except ValueError:
        return given


def _said(value: Any, name: str, depth: int) -> Iterator[str]:
    if depth > MOST_DEPTH:
        return
    if isinstance(value, str):
        if name.lower() in FIELDS and value.strip():
            yield value
    elif hasattr(value, "items"):
        for inner, item in value.items():
            yield from _said(item, str(inner), depth + 1)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _said(item, name, depth + 1)
