"""Cline's hooks: executables of one event each in; a cancellation or a change of context out.

Source: cline/cline src/core/hooks/hook-factory.ts @06c798bc and docs.cline.bot/features/hooks/hook-reference (read
2026-11), which name every field that is read here; parameters are texts. Context that is changed before a tool counts
from the model's next request on, so a dangerous call is cancelled; a cancellation gives its reason in two places.
"""

from __future__ import annotations

from deia.records import TYPE_CHECKING
from deia.serve.hosts.event import BEFORE, CONTEXT, LATE, Dialect, Occasion, mapping_of

if TYPE_CHECKING:
    from deia.fast_json import Json
    from deia.serve.hosts.delivery_form import Said

DIALECT = Dialect(
    moments={
        "UserPromptSubmit": "prompt",
        "PreToolUse": "before_tool",
        "PostToolUse": "after_tool",
        "TaskStart": "session",
        "TaskResume": "session",
    },
    event="hookName",
    conversation=("taskId",),
    folder=("workspaceRoots",),
    tool=("toolName", "tool"),
    tool_input="parameters",
    output=("result",),
    failed=lambda event, _: event.get("success") is False,
)
PARTS = ("userPromptSubmit", "preToolUse", "postToolUse")  # the member of an event that holds what it is about
CARRIES = dict.fromkeys(("prompt", "after_tool", "tool_error", "session"), CONTEXT) | {
    "before_tool": {"hold": BEFORE, "context": LATE},
}


def read_event(event: Json) -> Occasion | None:
    """Return what an event is about, or None if there is nothing to watch."""
    fields = mapping_of(event)
    return DIALECT.read(
        {name: value for part in PARTS for name, value in mapping_of(fields.get(part)).items()} | fields
    )


def write_answer(occasion: Occasion, said: Said) -> dict[str, Json] | None:
    """Return the host's answer, or None if nothing is said."""
    if said.hold and occasion.moment == "before_tool":
        return {"cancel": True, "errorMessage": said.hold, "contextModification": said.hold}
    return {"cancel": False, "contextModification": said.context} if said.context else None
