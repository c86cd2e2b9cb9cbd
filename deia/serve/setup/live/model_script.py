"""What a scripted model does next: call a tool of the request's own, or say something.

Which step is due is told from the request: it is the number of results that the conversation holds. So nothing is kept
between requests, and a repeated request gets the same answer.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from deia.records import Record
from deia.serve.setup.live.model_request import Request, Tool

SHELLS = (
    "Bash", "bash", "shell_command", "exec_command", "shell", "local_shell", "run_shell_command", "run_commands",
    "execute_command", "execute_bash", "Execute", "shell_exec", "container.exec", "run_terminal_cmd", "terminal",
    "run_command", "powershell",
)  # fmt: skip
LIKE_A_SHELL = re.compile("bash|shell|exec|command|terminal", re.IGNORECASE)
COMMANDS = ("command", "cmd", "script", "code", "commands")  # what the input of a shell calls its command
SEARCHERS = ("ToolSearch", "tool_search", "search_tools", "tool_search_tool")  # hosts that offer their tools late
MOST_SEARCHES = 2
DONE = "Done."
HARMLESS = {"boolean": False, "integer": 1, "number": 1, "array": [], "object": {}}  # by type of a required field


class Step(Record):
    """One thing that the model does; the first field that is set counts."""

    shell: str = ""  # a command for the shell, whatever the host calls it
    tool: str = ""  # a part of a tool's name
    input: Mapping[str, Any] = {}  # of that tool
    text: str = DONE


class Act(Record):
    """What the model answers: a call of a tool, or a text if there is none."""

    tool: Tool | None = None
    input: Mapping[str, Any] = {}
    text: str = ""
    tokens: int = 10  # that the conversation is said to have


def next_act(script: Sequence[Step], request: Request) -> Act:
    """Return the model's answer to a request; one without tools asks for a title or a summary."""
    if not request.tools:
        return Act(text="ok")
    done = [result for result in request.results if result.tool not in SEARCHERS]
    if len(done) >= len(script):
        return Act(text=DONE)
    step = script[len(done)]
    if step.shell:
        return _shell_act(step.shell, request.tools)
    if step.tool:
        return _tool_act(step, request, searches=len(request.results) - len(done))
    return Act(text=step.text)


def _shell_act(command: str, tools: Sequence[Tool]) -> Act:
    by_name = {tool.name: tool for tool in reversed(tools)}
    named = (by_name[name] for name in SHELLS if name in by_name)
    shell = next(named, None) or next((tool for tool in tools if LIKE_A_SHELL.search(tool.name)), None)
    if shell is None:
        return Act(text=f"There is no shell among {', '.join(sorted(by_name))}.")
    return Act(tool=shell, input=shell_input(shell, command))


def _tool_act(step: Step, request: Request, *, searches: int) -> Act:
    tool = next((tool for tool in request.tools if step.tool in tool.name), None)
    if tool is not None:
        return Act(tool=tool, input=_filled(tool, step.input))
    searcher = next((tool for tool in request.tools if tool.name in SEARCHERS), None)
    if searcher is not None and searches < MOST_SEARCHES:
        return Act(tool=searcher, input=_filled(searcher, {"query": step.tool}))
    return Act(text=f"There is no tool with {step.tool} in its name.")


def shell_input(tool: Tool, command: str) -> dict[str, Any]:
    """Return the input with which a shell runs a command: a text, a list of commands, or a list of words."""
    name = next((name for name in COMMANDS if name in _properties(tool)), "")
    if not name:
        return {COMMANDS[0]: command}
    if "array" not in _types(_properties(tool)[name]):
        return _filled(tool, {name: command})
    return _filled(tool, {name: [command] if name == "commands" else ["bash", "-lc", command]})


def _filled(tool: Tool, known: Mapping[str, Any]) -> dict[str, Any]:
    """Return the input of a tool: what is known, and something harmless for whatever else it requires."""
    properties = _properties(tool)
    given = {name: value for name, value in known.items() if name in properties} or dict(known)
    required = tool.schema.get("required")
    for name in required if isinstance(required, list) else ():
        if isinstance(name, str) and name not in given:
            given[name] = _harmless(properties.get(name))
    return given


def _harmless(schema: object) -> object:
    options = schema.get("enum") if isinstance(schema, dict) else None
    if isinstance(options, list) and options:
        return options[0]
    return next((HARMLESS[kind] for kind in _types(schema) if kind in HARMLESS), "run it")


def _properties(tool: Tool) -> Mapping[str, Any]:
    properties = tool.schema.get("properties")
    return properties if isinstance(properties, dict) else {}


def _types(schema: object) -> list[str]:
    kinds = schema.get("type") if isinstance(schema, dict) else ""
    return [str(kind).lower() for kind in (kinds if isinstance(kinds, list) else [kinds])]
