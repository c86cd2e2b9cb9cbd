"""The events that each host would send, for trying, measuring and testing hooks, from `sample_events.toml`.

That file is written from the sources that the docstrings of the hosts' modules name, not from those modules, so that it
can test them. Nothing here runs in a hook.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, TypeAlias

from deia.fast_json import Json, dumps
from deia.records import Record
from deia.tables import toml_beside

Event: TypeAlias = dict[str, Json]
CALLS = ("before_tool", "after_tool", "tool_error")  # the moments of a tool


class Happening(Record):
    """What happens in a conversation, independent of the host's names for it."""

    moment: str
    text: str = ""  # the words, the command that is run, or its output
    conversation: str = "c1"
    folder: str = "/"
    mark: str = "m1"
    command: str = ""  # whose result `text` is


@cache
def templates() -> Mapping[str, Mapping[str, Any]]:
    """Return the tables of the file by host, completed with those of the host that each resembles."""
    tables = toml_beside(__file__)
    return {host: tables.get(table.get("like"), {}) | table for host, table in tables.items()}


def sample(host: str, happening: Happening) -> Event | None:
    """Return the event that a host would send, or None if it has none for this moment."""
    table = templates()[host]
    if happening.moment not in table:
        return None
    command = happening.text if happening.moment == "before_tool" else happening.command
    values = {"$shell": table.get("shell", ""), **{f"${name}": value for name, value in happening.values().items()}}
    values["$command"] = command
    call = table.get("call", {}) if happening.moment in CALLS else {}
    fields: Event = {**table["all"], **call, **table[happening.moment]}
    return {name: _filled(template, values) for name, template in fields.items()}


def _filled(template: Json, values: Mapping[str, str]) -> Json:
    """Return a template with its texts replaced."""
    if isinstance(template, list):
        return [_filled(item, values) for item in template]
    if isinstance(template, dict):
        filled = {name: _filled(item, values) for name, item in template.items()}
        return dumps(filled["$json"]) if "$json" in filled else filled
    return values.get(template, template) if isinstance(template, str) else template
