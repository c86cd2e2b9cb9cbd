"""A host of one's own: plain JSON in, plain JSON out, for a bot that starts the hook as a process.

In: {"event": "prompt | before_tool | after_tool | tool_error | assistant | session", "conversation": id,
"folder": path, "text": …, "tool": name, "input": {…}, "id": id of the call, "failed": whether it failed,
"reset": whether the model has forgotten what it was told}.
Out: any of {"context": for the model, "hold": why the call is stopped once, for the model, "ask": the question before
the call, for the person, "note": for the person}, or nothing at all.
"""

from __future__ import annotations

from deia.records import TYPE_CHECKING
from deia.serve.hosts.event import BEFORE, LATE, NOTED, Dialect, Occasion, decoded, mapping_of, text_of

if TYPE_CHECKING:
    from deia.fast_json import Json
    from deia.serve.hosts.delivery_form import Said

DIALECT = Dialect(
    moments={
        "prompt": "prompt",
        "before_tool": "before_tool",
        "after_tool": "after_tool",
        "tool_error": "tool_error",
        "assistant": "stop",
        "session": "session",
    },
    event="event",
    conversation=("conversation",),
    folder=("folder",),
    prompt="text",
    reply="text",
    tool=("tool",),
    tool_input="input",
    output=("text",),
    error="",
    failed=lambda event, _: event.get("failed") is True,
    mark=("id",),
)
CARRIES = dict.fromkeys(("prompt", "after_tool", "tool_error", "session"), NOTED) | {
    "before_tool": {"hold": BEFORE, "ask": BEFORE, "note": BEFORE, "context": LATE},
}
FORMS = ("context", "hold", "ask", "note")


def read_event(event: Json) -> Occasion | None:
    """Return what an event is about, or None if there is nothing to watch."""
    fields = mapping_of(event)
    if fields.get("event") == "before_tool" and not decoded(fields.get("input")):
        fields = {**fields, "input": text_of(fields.get("text"))}
    occasion = DIALECT.read(fields)
    return occasion.but(reset=True) if occasion is not None and fields.get("reset") is True else occasion


def write_answer(_occasion: Occasion, message: Said) -> dict[str, Json] | None:
    """Return what is said, by form, or None if nothing is; the shape is the same at every moment."""
    return {form: text for form in FORMS if (text := getattr(message, form))} or None
