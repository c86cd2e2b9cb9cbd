"""GitHub Copilot CLI and its cloud agent: two dialects of events in, flat answers out.

Source: github/docs content/copilot/reference/hooks-reference.md @05da5bc3 (read in the second half of 2026). What
matters: an event configured in camelCase comes without its name, one in PascalCase comes as Claude's; the answer before
a tool is flat and has no context; what the hook of a submitted prompt prints is dropped, that of a transformed one may
give the model another text; context counts after a tool, 10 KB of it, and not after one that failed; a hook that fails
stops the tool; the cloud agent takes a question for a denial.
"""

from __future__ import annotations

from deia.records import TYPE_CHECKING, Turn
from deia.serve.hosts.event import (
    BEFORE,
    EVENT,
    Occasion,
    call,
    decoded,
    folder_of,
    mapping_of,
    read_claude_shaped,
    result,
    text_of,
)

if TYPE_CHECKING:
    from typing import Any

    from deia.serve.hosts.delivery_form import Said

MOST_BYTES = 9_500
MOMENTS = {
    "UserPromptSubmit": "prompt",
    "UserPromptTransformed": "prompt",
    "PreToolUse": "before_tool",
    "PostToolUse": "after_tool",
    "PostToolUseFailure": "tool_error",
    "SessionStart": "session",
}
CARRIES = {
    "prompt": {"context": BEFORE},
    "before_tool": {"hold": BEFORE, "ask": BEFORE},
    "after_tool": {"context": BEFORE},
    "session": {"context": BEFORE},
}


def read_event(event: Any) -> Occasion | None:
    """Give what an event is about, or None where there is nothing to watch."""
    if not isinstance(event, dict) or EVENT in event:
        occasion = read_claude_shaped(event, MOMENTS)
        return occasion.but(carries=False) if occasion is not None and occasion.moment == "prompt" else occasion
    name = _name(event)
    if not name:
        return None
    turn = _turn(name, event)
    moment = MOMENTS[name]
    given = text_of(event.get("transformedPrompt"))
    return Occasion(
        event=name,
        moment="tool_error" if turn is not None and turn.failed else moment,
        conversation=text_of(event.get("sessionId")) or "unnamed",
        folder=folder_of(event.get("cwd")),
        turn=turn,
        carries=moment != "prompt" or bool(given),  # a prompt is never blanked
        given=given,
    )


def _name(event: dict[str, Any]) -> str:
    """Tell from its fields which event it is, since an event of camelCase does not say so."""
    if "toolName" in event:
        after = "PostToolUse" if "toolResult" in event else ""
        return after or ("PostToolUseFailure" if "error" in event else "PreToolUse")
    if "prompt" in event:
        return "UserPromptTransformed" if "transformedPrompt" in event else "UserPromptSubmit"
    return "SessionStart" if "source" in event else ""


def _turn(name: str, event: dict[str, Any]) -> Turn | None:
    if name == "SessionStart":
        return None
    if MOMENTS[name] == "prompt":
        return Turn(role="user", text=text_of(event.get("prompt")))
    tool = text_of(event.get("toolName"))
    given = decoded(event.get("toolArgs"))
    if name == "PreToolUse":
        return call(tool, given)
    if name == "PostToolUseFailure":
        return result(tool, given, event.get("error"), failed=True)
    response = event.get("toolResult")
    kind = text_of(mapping_of(response).get("resultType"))
    told = mapping_of(response).get("textResultForLlm") or response
    return result(tool, given, told, failed=kind in {"failure", "error"})


def write_answer(occasion: Occasion, said: Said) -> dict[str, Any] | None:
    """Give the host's answer, or None where nothing is said."""
    if occasion.moment == "before_tool":
        if not (said.hold or said.ask):
            return None
        decision = "deny" if said.hold else "ask"
        return {"permissionDecision": decision, "permissionDecisionReason": _fitting(said.hold or said.ask)}
    if not said.context:
        return None
    if occasion.moment == "prompt":
        return {"modifiedTransformedPrompt": f"{occasion.given}\n\n{_fitting(said.context)}"}
    return {"additionalContext": _fitting(said.context)}


def _fitting(text: str) -> str:
    """Give a text within the host's 10 KB, which are bytes."""
    return text.encode("utf-8", "replace")[:MOST_BYTES].decode("utf-8", "ignore")
