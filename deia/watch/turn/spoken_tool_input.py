"""What a tool call says to somebody: the prose in the input of tools that neither run, read nor write anything.

A question to the person, a plan, a list of things to do, an order to a sub-agent announce acts as an assistant's own
words do. Which fields are speech is told by their names; the rest of a tool's input is data. A task that is done
announces nothing, and one that stood in an earlier list is not announced again.
"""

from __future__ import annotations

from deia.fast_json import loads
from deia.records import TYPE_CHECKING
from deia.watch.memory.log import fingerprint
from deia.watch.turn.tool_call import MOST_DEPTH, SILENT_TOOLS, WRITE_TOOLS, is_shell

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from typing import Any

    from deia.records import Turn

# Of the questions, plans, task lists and sub-agents of the hosts that deia knows, and of common tool servers.
FIELDS = frozenset(
    "question prompt plan description explanation content activeform label message instruction instructions task"
    " subject title goal step thought summary text question_text details objective".split()
)
OVER = frozenset("completed complete done finished cancelled canceled deleted skipped closed".split())  # of a task
MOST_ITEMS = 200
MOST_SAID = 20_000  # characters
MOST_JSON = 100_000


def speech_of(turn: Turn, *, known: Collection[str] = ()) -> str:
    """Give what a tool call says, a line a field; nothing for a shell, a writing or a reading tool.

    `known` are the prints of tasks that were judged before, as `tasks_of` gives them; they are left out.
    """
    name = turn.tool.lower()
    if turn.role != "tool_call" or not name or is_shell(turn) or name in WRITE_TOOLS or name in SILENT_TOOLS:
        return ""
    return "\n\n".join(_said(_input_of(turn), "", 0, known))[:MOST_SAID]


def tasks_of(turn: Turn) -> list[str]:
    """Give the prints of the open tasks in a list of things to do."""
    if turn.role != "tool_call" or is_shell(turn):
        return []
    lists = [value for value in (_input_of(turn) or {}).values() if isinstance(value, (list, tuple))]
    tasks = [item for items in lists for item in items[:MOST_ITEMS] if _is_task(item)]
    return [_print(task) for task in tasks if not _is_over(task)]


def _is_task(value: Any) -> bool:
    return hasattr(value, "items") and isinstance(value.get("status"), str)


def _is_over(task: Any) -> bool:
    return task["status"].lower() in OVER


def _print(task: Any) -> str:
    """Tell a task from others by its words, whatever its number or status."""
    said = [text for name, text in task.items() if isinstance(text, str) and name.lower() in FIELDS - {"activeform"}]
    return f"{fingerprint(' '.join(said)):x}"


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


def _said(value: Any, name: str, depth: int, known: Collection[str]) -> Iterator[str]:
    if depth > MOST_DEPTH or (_is_task(value) and (_is_over(value) or _print(value) in known)):
        return
    if isinstance(value, str):
        if name.lower() in FIELDS and value.strip():
            yield value
    elif hasattr(value, "items"):
        for inner, item in value.items():
            yield from _said(item, str(inner), depth + 1, known)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _said(item, name, depth + 1, known)
