"""What hosts have in common: the record of one event, and reading the shape that Claude Code gave its events.

A host's own module says which of its events is which moment and what each can carry; here stands what several share. It
takes any JSON: what is missing or of the wrong type is empty, and an event that nobody knows is none.
"""

from __future__ import annotations

from deia.fast_json import loads
from deia.records import TYPE_CHECKING, Record, Turn
from deia.watch.memory.log import SUBAGENT

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

# When what an answer carries reaches the model: before the act that it is about, or with that act's result.
BEFORE, LATE = "before", "late"
MOST_DEPTH = 6
FLAGS = ("is_error", "isError")
CODES = ("exit_code", "exitCode", "returnCode", "returncode")
# How hosts call their shell that the watcher knows by another name.
SHELLS = dict.fromkeys(("execute_bash", "run_in_terminal", "runTerminalCommand", "runInTerminal"), "bash")
EVENT = "hook_event_name"


class Occasion(Record):
    """One event of a host: what to watch, and what the host can carry back."""

    event: str
    moment: str  # prompt | before_tool | after_tool | tool_error | stop | session
    conversation: str
    folder: str
    turn: Turn | None = None
    reset: bool = False  # what was injected before is gone from the model's sight
    carries: bool = True  # whether an answer to this event can reach anybody
    given: str = ""  # what an answer has to give back whole, with what is said behind it
    mark: str = ""  # the host's own id of the call or the prompt, to know the event again when it arrives twice


def read_claude_shaped(event: Any, moments: Mapping[str, str]) -> Occasion | None:
    """Give what an event of Claude Code's shape is about, or None where there is nothing to watch."""
    if not isinstance(event, dict):
        return None
    name = text_of(event.get(EVENT))
    moment = moments.get(name)
    if moment is None:
        return None
    turn = _turn(moment, event)
    return Occasion(
        event=name,
        moment="tool_error" if turn is not None and turn.failed else moment,
        conversation=_conversation(event),
        folder=folder_of(event.get("cwd")),
        turn=turn,
        reset=text_of(event.get("source")) in {"compact", "clear"},
        carries=moment != "stop",
        mark=first_text(event, "tool_use_id", "prompt_id", "turn_id", "generation_id"),
    )


def _conversation(event: dict[str, Any]) -> str:
    conversation = first_text(event, "session_id", "conversation_id", "sessionId") or "unnamed"
    agent = text_of(event.get("agent_id"))  # a subagent has a context of its own
    return f"{conversation}{SUBAGENT}{agent}" if agent else conversation


def _turn(moment: str, event: dict[str, Any]) -> Turn | None:
    if moment == "prompt":
        return Turn(role="user", text=text_of(event.get("prompt")))
    if moment == "stop":
        return Turn(role="assistant", text=text_of(event.get("last_assistant_message")))
    if moment == "session":
        return None
    tool = text_of(event.get("tool_name"))
    given = decoded(event.get("tool_input"))
    if moment == "before_tool":
        plan = mapping_of(given).get("plan")
        return Turn(role="assistant", text=text_of(plan)) if tool == "ExitPlanMode" else call(tool, given)
    response = _response(event)
    if moment == "tool_error":
        response = [event.get("error"), response]
    return result(tool, given, response, failed=moment == "tool_error")


def _response(event: dict[str, Any]) -> Any:
    """Give what a tool answered; Copilot, which runs Claude's hooks too, has a name of its own for it."""
    if "tool_response" in event:
        return event["tool_response"]
    told = event.get("tool_result")
    return mapping_of(told).get("text_result_for_llm") or told


def call(tool: str, given: Any) -> Turn:
    """Give the turn of a tool call, from its input as the host sent it."""
    tool_input = mapping_of(given)
    text = text_of(given) or text_of(tool_input.get("command"))
    return Turn(role="tool_call", text=text, tool=SHELLS.get(tool, tool), tool_input=tool_input)


def result(tool: str, given: Any, response: Any, *, failed: bool = False) -> Turn:
    """Give the turn of a tool's result, which may be a text, a mapping or a list of blocks."""
    response = decoded(response)
    text = "\n".join(texts_of(_answers(tool, response)))
    failed = failed or _says_it_failed(response)
    return Turn(role="tool_result", text=text, tool=SHELLS.get(tool, tool), tool_input=mapping_of(given), failed=failed)


def _says_it_failed(response: Any) -> bool:
    """Say whether a tool's response reports a failure by itself, as MCP servers and shells do."""
    if not isinstance(response, dict):
        return False
    code = next((response[name] for name in CODES if isinstance(response.get(name), int)), 0)
    return any(response.get(name) is True for name in FLAGS) or code != 0


def _answers(tool: str, response: Any) -> Any:
    """Give what a person answered to a question, without the question; of other tools the whole response."""
    if tool == "AskUserQuestion" and isinstance(response, dict) and isinstance(response.get("answers"), dict):
        return response["answers"]
    return response


def text_of(value: Any) -> str:
    """Give a value that is a text, else the empty text."""
    return value if isinstance(value, str) else ""


def mapping_of(value: Any) -> dict[str, Any]:
    """Give a value that is a mapping, else an empty one."""
    return value if isinstance(value, dict) else {}


def first_text(event: dict[str, Any], *names: str) -> str:
    """Give the first of some fields that is a text with something in it."""
    return next((value for name in names if (value := text_of(event.get(name)))), "")


def folder_of(value: Any) -> str:
    """Give the folder that a host names, with forward slashes; of several roots, the first."""
    first = value[0] if isinstance(value, list) and value else value
    return text_of(first).replace("\\", "/")


def decoded(value: Any) -> Any:
    """Give what a text of JSON holds; some hosts send a tool's input so. Anything else stays what it is."""
    if not (isinstance(value, str) and value.lstrip()[:1] in {"{", "["}):
        return value
    try:
        return loads(value)
    except ValueError:
        return value


def texts_of(value: Any, depth: int = 0) -> list[str]:
    """Give every text inside a value."""
    if isinstance(value, str):
        return [value]
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [text for item in inner for text in texts_of(item, depth + 1)] if depth < MOST_DEPTH else []
