"""The speech in a tool call: prose in the input of tools that neither run, read nor write anything.

A question to the person, a plan, a to-do list or an order to a sub-agent announces acts as the assistant's own words
do. The names of the fields decide which are speech; all other input is data. A finished task announces nothing, and
a task of an earlier list is not announced again.
"""

from __future__ import annotations

from deia.fast_json import loads
from deia.records import TYPE_CHECKING, Turn
from deia.watch.memory.log import fingerprint
from deia.watch.turn.tool_call import MOST_DEPTH, SILENT_TOOLS, WRITE_TOOLS, is_shell

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping
    from typing import TypeGuard

# Fields of questions, plans, task lists and sub-agents in the hosts that deia knows, and in common tool servers.
FIELDS = frozenset(
    "question prompt plan description explanation content activeform label message instruction instructions task"
    " subject title goal step thought summary text question_text details objective".split()
)
FINISHED = frozenset("completed complete done finished cancelled canceled deleted skipped closed".split())  # tasks
MOST_ITEMS = 200
MOST_SPEECH = 20_000  # characters
MOST_JSON = 100_000


def speech_of(turn: Turn, *, known: Collection[str] = ()) -> str:
    """Return the speech in a tool call, a paragraph for each field; "" for a tool that runs, writes or reads.

    `known` are the prints of tasks that were judged before, as returned by `tasks_of`; these tasks are left out.
    """
    name = turn.tool.lower()
    if turn.role != "tool_call" or not name or is_shell(turn) or name in WRITE_TOOLS or name in SILENT_TOOLS:
        return ""
    return "\n\n".join(_speech_in(_input_of(turn), "", 0, known))[:MOST_SPEECH]


def tasks_of(turn: Turn) -> list[str]:
    """Return the prints of the open tasks in a to-do list."""
    if turn.role != "tool_call" or is_shell(turn):
        return []
    lists = [value for value in (_input_of(turn) or {}).values() if isinstance(value, (list, tuple))]
    tasks = [item for items in lists for item in items[:MOST_ITEMS] if _is_task(item)]
    return [_print(task) for task in tasks if not _is_finished(task)]


def _is_task(value: object) -> TypeGuard[Mapping[str, object]]:
    return _is_mapping(value) and isinstance(value.get("status"), str)


def _is_mapping(value: object) -> TypeGuard[Mapping[str, object]]:
    return hasattr(value, "items")


def _is_finished(task: Mapping[str, object]) -> bool:
    return str(task["status"]).lower() in FINISHED


def _print(task: Mapping[str, object]) -> str:
    """Return a hash of a task's words, which does not depend on its number and status."""
    texts = [text for name, text in task.items() if isinstance(text, str) and name.lower() in FIELDS - {"activeform"}]
    return f"{fingerprint(' '.join(texts)):x}"


def _input_of(turn: Turn) -> Mapping[str, object]:
    """Return a call's input, parsed if the host sends it as JSON text."""
    tool_input = turn.tool_input or {}
    texts = [value for value in (*tool_input.values(), turn.text) if isinstance(value, str)]
    written = next((text for text in texts if text[:1] == "{" and len(text) <= MOST_JSON), "")
    if not written or set(tool_input) - {"command"}:
        return tool_input
    try:
        read: Mapping[str, object] = loads(written)
    except ValueError:
        return tool_input
    return read


def _speech_in(value: object, name: str, depth: int, known: Collection[str]) -> Iterator[str]:
    if depth > MOST_DEPTH or (_is_task(value) and (_is_finished(value) or _print(value) in known)):
        return
    if isinstance(value, str):
        if name.lower() in FIELDS and value.strip():
            yield value
    elif _is_mapping(value):
        for inner, item in value.items():
            yield from _speech_in(item, str(inner), depth + 1, known)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _speech_in(item, name, depth + 1, known)
