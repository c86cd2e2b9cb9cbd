"""A host of one's own: plain JSON in, plain JSON out, for a bot that starts the hook as a process.

In: {"event": "prompt | before_tool | after_tool | tool_error | assistant | session", "conversation": id,
"folder": path, "text": …, "tool": name, "input": {…}, "id": id of the call, "failed": whether it failed,
"reset": whether the model has forgotten what it was told}.
Out: any of {"context": for the model, "hold": why the call is stopped once, for the model, "ask": the question before
the call, for the person, "note": for the person}, or nothing at all.
"""

from __future__ import annotations

from deia.records import TYPE_CHECKING, Turn
from deia.serve.hosts.event import BEFORE, LATE, Occasion, call, decoded, folder_of, mapping_of, result, text_of

if TYPE_CHECKING:
    from typing import Any

    from deia.serve.hosts.delivery_form import Said

MOMENTS = {
    "prompt": "prompt",
    "before_tool": "before_tool",
    "after_tool": "after_tool",
    "tool_error": "tool_error",
    "assistant": "stop",
    "session": "session",
}
CARRIES = {
    "prompt": {"context": BEFORE, "note": BEFORE},
    "before_tool": {"hold": BEFORE, "ask": BEFORE, "note": BEFORE, "context": LATE},
    "after_tool": {"context": BEFORE, "note": BEFORE},
    "tool_error": {"context": BEFORE, "note": BEFORE},
    "session": {"context": BEFORE, "note": BEFORE},
}
FORMS = ("context", "hold", "ask", "note")


def read_event(event: Any) -> Occasion | None:
    """Give what an event is about, or None where there is nothing to watch."""
    name = text_of(mapping_of(event).get("event"))
    moment = MOMENTS.get(name)
    if moment is None:
        return None
    turn = _turn(moment, event)
    return Occasion(
        event=name,
        moment="tool_error" if turn is not None and turn.failed else moment,
        conversation=text_of(event.get("conversation")) or "unnamed",
        folder=folder_of(event.get("folder")),
        turn=turn,
        reset=event.get("reset") is True,
        carries=moment != "stop",
        mark=text_of(event.get("id")),
    )


def _turn(moment: str, event: dict[str, Any]) -> Turn | None:
    if moment == "session":
        return None
    if moment in {"prompt", "stop"}:
        return Turn(role="user" if moment == "prompt" else "assistant", text=text_of(event.get("text")))
    tool = text_of(event.get("tool"))
    given = decoded(event.get("input"))
    if moment == "before_tool":
        return call(tool, given or text_of(event.get("text")))
    return result(tool, given, event.get("text"), failed=moment == "tool_error" or event.get("failed") is True)


def write_answer(occasion: Occasion, said: Said) -> dict[str, Any] | None:
    """Give what is said, by form, or None where nothing is."""
    del occasion  # an answer has the same shape at every moment
    return {form: text for form in FORMS if (text := getattr(said, form))} or None
