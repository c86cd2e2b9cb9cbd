"""Reads a request to a model, whichever of four protocols it uses: Anthropic's, OpenAI's two, Gemini's.

A request is untrusted: whatever is not as the protocol says is passed over.

It also says what a scripted model does next: call a tool of the request's own, or say something. Which step is due
follows from the request: it is the number of results that the conversation holds. So nothing is kept between requests,
and a repeated request gets the same answer.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from deia.records import Record

ANTHROPIC, RESPONSES, CHAT, GEMINI = "anthropic", "responses", "chat", "gemini"
ENDS = {"/messages": ANTHROPIC, "/responses": RESPONSES, "/chat/completions": CHAT}  # of a path
GENERATE = (":generatecontent", ":streamgeneratecontent")
NOT_SPOKEN = ("tools", "tool_choice", "toolConfig", "tool_config", "metadata", "client_metadata")
LABELS = {"type", "role", "status", "id", "call_id", "tool_use_id", "tool_call_id"}  # fields that say what others are
MOST_DEPTH = 40  # of the values in a body
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


class Tool(Record):
    """A tool that a request offers."""

    name: str
    kind: str = "function"
    namespace: str = ""  # of Codex's groups of tools
    schema: Mapping[str, object] = {}  # of its input, as JSON Schema


class Result(Record):
    """The result of a tool's call, as the model reads it."""

    tool: str
    text: str


class Request(Record):
    """One request to the model."""

    protocol: str
    body: Mapping[str, object]
    streams: bool
    tools: tuple[Tool, ...]
    results: tuple[Result, ...]

    @property
    def model(self) -> str:
        """The model that the request names."""
        return str(self.body.get("model") or "fake")

    @property
    def spoken(self) -> str:
        """Everything that the model reads besides the descriptions of tools."""
        return texts({name: value for name, value in self.body.items() if name not in NOT_SPOKEN})


def protocol_of(path: str) -> str:
    """Return the protocol that a path belongs to, or the empty text."""
    plain = path.partition("?")[0].rstrip("/")
    if plain.lower().endswith(GENERATE):
        return GEMINI
    return next((protocol for end, protocol in ENDS.items() if plain.endswith(end)), "")


def read_request(path: str, body: object) -> Request | None:
    """Return the request to a model, or None if it is none."""
    protocol = protocol_of(path)
    if not protocol or not isinstance(body, dict):
        return None
    return Request(
        protocol=protocol, body=body, streams=bool(body.get("stream")) or ":stream" in path.lower(),
        tools=tuple(_tools(body)), results=tuple(RESULTS[protocol](body)),
    )  # fmt: skip


def texts(value: object, depth: int = 0) -> str:
    """Return all texts in a JSON value, one after the other, without those that only label others."""
    if isinstance(value, str):
        return value
    if depth > MOST_DEPTH or not isinstance(value, (dict, list)):
        return ""
    values = (item for name, item in value.items() if name not in LABELS) if isinstance(value, dict) else value
    return "\n".join(text for item in values if (text := texts(item, depth + 1)))


def _dicts(value: object) -> list[dict[str, object]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _dict(value: object) -> dict[str, object]:
    return value if isinstance(value, dict) else {}


def _name(value: object, otherwise: str = "") -> str:
    return value if isinstance(value, str) and value else otherwise


# --- tools ---


def _tools(body: Mapping[str, object]) -> Iterator[Tool]:
    for item in _dicts(body.get("tools")):
        declared = item.get("functionDeclarations") or item.get("function_declarations")
        if declared:  # Gemini's
            yield from (_tool(inner) for inner in _dicts(declared))
        elif item.get("type") == "namespace":  # Codex's
            group = _name(item.get("name"))
            yield from (_tool(inner).but(namespace=group) for inner in _dicts(item.get("tools")))
        else:
            yield _tool(item)


def _tool(item: Mapping[str, object]) -> Tool:
    function = _dict(item.get("function")) or item
    kind = _name(item.get("type"), "function")
    schemas = (function.get(key) for key in ("input_schema", "parameters", "parametersJsonSchema"))
    schema = next((schema for schema in schemas if isinstance(schema, dict)), {})
    return Tool(name=_name(function.get("name"), kind), kind=kind, schema=schema)


# --- results ---


def _anthropic_results(body: Mapping[str, object]) -> Iterator[Result]:
    names: dict[str, str] = {}
    for message in _dicts(body.get("messages")):
        for block in _dicts(message.get("content")):
            if block.get("type") == "tool_use":
                names[str(block.get("id"))] = _name(block.get("name"))
            elif block.get("type") == "tool_result":
                name = names.get(str(block.get("tool_use_id")), "")
                yield Result(tool=name, text=texts(block.get("content")))


def _responses_results(body: Mapping[str, object]) -> Iterator[Result]:
    names: dict[str, str] = {}
    for item in _dicts(body.get("input")):
        kind, call = _name(item.get("type")), str(item.get("call_id"))
        if kind.endswith("_call"):
            names[call] = _name(item.get("name"), kind.removesuffix("_call"))
        elif kind.endswith("_output"):
            yield Result(tool=names.get(call, ""), text=texts(item.get("output")))


def _chat_results(body: Mapping[str, object]) -> Iterator[Result]:
    names: dict[str, str] = {}
    for message in _dicts(body.get("messages")):
        for call in _dicts(message.get("tool_calls")):
            names[str(call.get("id"))] = _name(_dict(call.get("function")).get("name"))
        if message.get("role") == "tool":
            yield Result(tool=names.get(str(message.get("tool_call_id")), ""), text=texts(message.get("content")))


def _gemini_results(body: Mapping[str, object]) -> Iterator[Result]:
    for content in _dicts(body.get("contents")):
        for part in _dicts(content.get("parts")):
            answer = _dict(part.get("functionResponse") or part.get("function_response"))
            if answer:
                yield Result(tool=_name(answer.get("name")), text=texts(answer.get("response")))


RESULTS: Mapping[str, Callable[[Mapping[str, object]], Iterator[Result]]] = {
    ANTHROPIC: _anthropic_results,
    RESPONSES: _responses_results,
    CHAT: _chat_results,
    GEMINI: _gemini_results,
}


class Step(Record):
    """One thing that the model does; the first field that is set counts."""

    shell: str = ""  # a command for the shell, whatever the host calls it
    tool: str = ""  # a part of a tool's name
    input: Mapping[str, object] = {}  # of that tool
    text: str = DONE


class Act(Record):
    """What the model answers: a call of a tool, or a text if there is none."""

    tool: Tool | None = None
    input: Mapping[str, object] = {}
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
        by_name = {tool.name: tool for tool in reversed(request.tools)}
        named = (by_name[name] for name in SHELLS if name in by_name)
        shell = next(named, None) or next((tool for tool in request.tools if LIKE_A_SHELL.search(tool.name)), None)
        if shell is None:
            return Act(text=f"There is no shell among {', '.join(sorted(by_name))}.")
        return Act(tool=shell, input=shell_input(shell, step.shell))
    if step.tool:
        return _tool_act(step, request, searches=len(request.results) - len(done))
    return Act(text=step.text)


def _tool_act(step: Step, request: Request, *, searches: int) -> Act:
    tool = next((tool for tool in request.tools if step.tool in tool.name), None)
    if tool is not None:
        return Act(tool=tool, input=_filled_in(tool, step.input))
    searcher = next((tool for tool in request.tools if tool.name in SEARCHERS), None)
    if searcher is not None and searches < MOST_SEARCHES:
        return Act(tool=searcher, input=_filled_in(searcher, {"query": step.tool}))
    return Act(text=f"There is no tool with {step.tool} in its name.")


def shell_input(tool: Tool, command: str) -> dict[str, object]:
    """Return the input with which a shell runs a command: a text, a list of commands, or a list of words."""
    name = next((name for name in COMMANDS if name in _properties(tool)), "")
    if not name:
        return {COMMANDS[0]: command}
    if "array" not in _types(_properties(tool)[name]):
        return _filled_in(tool, {name: command})
    return _filled_in(tool, {name: [command] if name == "commands" else ["bash", "-lc", command]})


def _filled_in(tool: Tool, known: Mapping[str, object]) -> dict[str, object]:
    """Return the input of a tool: what is known, and something harmless for whatever else it requires."""
    properties = _properties(tool)
    filled = {name: value for name, value in known.items() if name in properties} or dict(known)
    required = tool.schema.get("required")
    for name in required if isinstance(required, list) else ():
        if isinstance(name, str) and name not in filled:
            filled[name] = _harmless(properties.get(name))
    return filled


def _harmless(schema: object) -> object:
    options = schema.get("enum") if isinstance(schema, dict) else None
    if isinstance(options, list) and options:
        return options[0]
    return next((HARMLESS[kind] for kind in _types(schema) if kind in HARMLESS), "run it")


def _properties(tool: Tool) -> Mapping[str, object]:
    properties = tool.schema.get("properties")
    return properties if isinstance(properties, dict) else {}


def _types(schema: object) -> list[str]:
    kinds = schema.get("type") if isinstance(schema, dict) else ""
    return [str(kind).lower() for kind in (kinds if isinstance(kinds, list) else [kinds])]
