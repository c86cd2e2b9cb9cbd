"""GitHub Copilot CLI and its cloud agent: two dialects of events in, flat answers out.

Source: github/docs content/copilot/reference/hooks-reference.md @05da5bc3 (read in the second half of 2026). An event
configured in camelCase comes without its name, one in PascalCase comes as Claude's. The answer before a tool is flat
and has no context; what the hook of a submitted prompt prints is dropped, while that of a transformed prompt may give
the model another text. Context, up to 10 KB, counts after a tool, but not after one that failed. A hook that fails
stops the tool; the cloud agent treats a question as a denial.
"""

from __future__ import annotations

from deia.records import TYPE_CHECKING
from deia.serve.hosts.claude_code import DIALECT as CLAUDE
from deia.serve.hosts.event import BEFORE, CONTEXT, EVENT, Dialect, Occasion, mapping_of, text_of

if TYPE_CHECKING:
    from deia.fast_json import Json
    from deia.serve.hosts.delivery_form import Said

MOST_BYTES = 9_500
MOMENTS = {
    "UserPromptSubmit": "prompt",
    "UserPromptTransformed": "prompt",
    "PreToolUse": "before_tool",
    "PostToolUse": "after_tool",
    "PostToolUseFailure": "tool_error",
    "SessionStart": "session",
    "PreCompact": "compaction",
}
PASCAL_CASE = CLAUDE.but(moments=MOMENTS)
CAMEL_CASE = Dialect(
    moments=MOMENTS,
    conversation=("sessionId",),
    tool=("toolName",),
    tool_input="toolArgs",
    output=("toolResult",),
    failed=lambda _, response: mapping_of(response).get("resultType") in ("failure", "error"),
)
CARRIES = dict.fromkeys(("prompt", "after_tool", "session"), CONTEXT) | {"before_tool": {"hold": BEFORE, "ask": BEFORE}}


def read_event(event: Json) -> Occasion | None:
    """Return what an event is about, or None if there is nothing to watch."""
    fields = mapping_of(event)
    camel_case = EVENT not in fields
    occasion = CAMEL_CASE.read({**fields, EVENT: _name(fields)}) if camel_case else PASCAL_CASE.read(fields)
    if occasion is None or occasion.moment != "prompt":
        return occasion
    prompt = text_of(fields.get("transformedPrompt")) if camel_case else ""
    return occasion.but(carries=bool(prompt), given=prompt)  # an answer must never leave the prompt empty


def _name(fields: dict[str, Json]) -> str:
    """Return the name of an event in camelCase by its fields, since it does not have one itself."""
    if "toolName" in fields:
        after = "PostToolUse" if "toolResult" in fields else ""
        return after or ("PostToolUseFailure" if "error" in fields else "PreToolUse")
    if "prompt" in fields:
        return "UserPromptTransformed" if "transformedPrompt" in fields else "UserPromptSubmit"
    return "SessionStart" if "source" in fields else "PreCompact" if "trigger" in fields else ""


def write_answer(occasion: Occasion, message: Said) -> dict[str, str] | None:
    """Return the host's answer, or None if nothing is said."""
    if occasion.moment == "before_tool":
        if not (message.hold or message.ask):
            return None
        decision = "deny" if message.hold else "ask"
        return {"permissionDecision": decision, "permissionDecisionReason": _fitting(message.hold or message.ask)}
    if not message.context:
        return None
    if occasion.moment == "prompt":
        return {"modifiedTransformedPrompt": f"{occasion.given}\n\n{_fitting(message.context)}"}
    return {"additionalContext": _fitting(message.context)}


def _fitting(text: str) -> str:
    """Return the text, cut to the host's 10 KB, which are bytes and not characters."""
    return text.encode("utf-8", "replace")[:MOST_BYTES].decode("utf-8", "ignore")
