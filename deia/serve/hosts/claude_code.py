"""Claude Code's command hooks: its events read, its answers written, exactly as it documents them.

Source: the host's own hook reference for v2.1.240 (read 2026-08-22). What matters: added context of PreToolUse reaches
the model only after the tool ran, so a danger is held by denying the call once; the reason of a denial is shown to the
model, that of a question only to the person; strings are cut at 10,000 characters; a Stop hook's words come too late.
"""

from __future__ import annotations

from deia.records import TYPE_CHECKING, Record, Turn
from deia.text import one_line, shorten

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from deia.records import Injection

MOST_CHARS = 9_500  # of one string; the host spills more than 10,000 into a file
MOST_DEPTH = 6
FLAGS = ("is_error", "isError")
CODES = ("exit_code", "exitCode", "returnCode", "returncode")
AGAIN = "The same call passes when it is made again."


class Occasion(Record):
    """One event of a host: what to watch, and what the host can carry back."""

    event: str
    moment: str  # prompt | before_tool | after_tool | stop | session
    conversation: str
    folder: str
    turn: Turn | None = None
    reset: bool = False  # what was injected before is gone from the model's sight
    carries: bool = True  # whether an answer to this event can reach the model


def read_event(event: Any) -> Occasion | None:
    """Give what an event is about, or None where there is nothing to watch (an event of a later version, say)."""
    if not isinstance(event, dict):
        return None
    name = _text(event.get("hook_event_name"))
    conversation = _text(event.get("session_id")) or "unnamed"
    if event.get("agent_id"):  # a subagent has a context of its own
        conversation += f"-{_text(event.get('agent_id'))}"
    moment = MOMENTS.get(name)
    if moment is None:
        return None
    return Occasion(
        event=name,
        moment=moment,
        conversation=conversation,
        folder=_text(event.get("cwd")).replace("\\", "/"),
        turn=_turn(name, event),
        reset=_text(event.get("source")) in {"compact", "clear"},
        carries=moment != "stop",
    )


MOMENTS = {
    "UserPromptSubmit": "prompt",
    "PreToolUse": "before_tool",
    "PostToolUse": "after_tool",
    "PostToolUseFailure": "after_tool",
    "Stop": "stop",
    "SubagentStop": "stop",
    "SessionStart": "session",
}


def _turn(name: str, event: dict[str, Any]) -> Turn | None:
    if name == "UserPromptSubmit":
        return Turn(role="user", text=_text(event.get("prompt")))
    if name in {"Stop", "SubagentStop"}:
        return Turn(role="assistant", text=_text(event.get("last_assistant_message")))
    if name == "SessionStart":
        return None
    tool = _text(event.get("tool_name"))
    given = event.get("tool_input")
    tool_input = given if isinstance(given, dict) else {}
    if name == "PreToolUse":
        if tool == "ExitPlanMode":
            return Turn(role="assistant", text=_text(tool_input.get("plan")))
        return Turn(role="tool_call", text=_text(tool_input.get("command")), tool=tool, tool_input=tool_input)
    response = event.get("tool_response")
    if name == "PostToolUseFailure":
        response = [event.get("error"), response]
    failed = name == "PostToolUseFailure" or _says_it_failed(response)
    text = "\n".join(_texts(_answers(tool, response)))
    return Turn(role="tool_result", text=text, tool=tool, tool_input=tool_input, failed=failed)


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


def write_answer(
    occasion: Occasion, injection: Injection | None, *, context: Sequence[str] = (), note: str = "", hold: bool = True,
    code: str = "",
) -> dict[str, Any] | None:  # fmt: skip
    """Give the host's answer for an injection, for texts that waited for this moment, and for a note to the person.

    `code` is the person's alone: it goes where the host shows the model nothing.
    """
    texts = [*context, *([injection.text] if injection else [])]
    action = injection.action if injection else "note"
    specific: dict[str, Any] = {"hookEventName": occasion.event}
    if occasion.moment == "before_tool" and injection and action in {"hold", "ask"} and (hold or action == "ask"):
        reason = "\n\n".join((*texts, AGAIN)) if action == "hold" else _question(injection)
        specific["permissionDecision"] = "deny" if action == "hold" else "ask"
        specific["permissionDecisionReason"] = shorten(reason, MOST_CHARS)
        if action == "ask":
            specific["additionalContext"] = shorten("\n\n".join(texts), MOST_CHARS)
    elif texts:
        specific["additionalContext"] = shorten("\n\n".join(texts), MOST_CHARS)
    answer: dict[str, Any] = {"hookSpecificOutput": specific} if len(specific) > 1 else {}
    told = note or (_told(injection, code) if injection and action != "note" else "")
    if told:
        answer["systemMessage"] = told
    return answer or None


def refusal(occasion: Occasion, reason: str) -> dict[str, Any]:
    """Give the answer that stops a tool call for good, with a reason that the model reads."""
    specific = {"hookEventName": occasion.event, "permissionDecision": "deny", "permissionDecisionReason": reason}
    return {"hookSpecificOutput": specific, "systemMessage": f"deia: {reason}"}


def _question(injection: Injection) -> str:
    first = injection.parts[0]["injection"]
    instead = f"Instead: {'; or: '.join(first['instead'])}" if first["instead"] else ""
    return one_line(f"{first['message']} {first['action_required']} {instead}")


def _told(injection: Injection, code: str) -> str:
    leave = f"deia allow {code} lets it pass once; " if code else ""
    return f"deia: {', '.join(injection.triggers)} ({leave}deia mute {injection.triggers[0]} silences it)"


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _texts(value: Any, depth: int = 0) -> list[str]:
    """Give every text of a tool's response, which may be a text, a mapping or a list of blocks."""
    if isinstance(value, str):
        return [value]
    if depth < MOST_DEPTH and isinstance(value, dict):
        return [text for item in value.values() for text in _texts(item, depth + 1)]
    if depth < MOST_DEPTH and isinstance(value, list):
        return [text for item in value for text in _texts(item, depth + 1)]
    return []
