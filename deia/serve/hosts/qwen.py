"""Qwen Code's command hooks: Claude's events with results of its own in, a denial or context out.

Source: runs of Qwen Code 0.15.10. UserPromptSubmit runs before every request to the model, with an empty prompt where
results are sent back; those say nothing. A result is what the model reads and what the person sees; of a command, the
former tells its exit code, and a failed command raises PostToolUse. Context behind a result reaches the model with `<`
and `>` written as entities, the reason of a denial as it is. Without a person a question is a denial each time, so a
call is held in its place. `qwen -p` raises no SessionStart, and shows nobody a note.
"""

from __future__ import annotations

from deia.records import TYPE_CHECKING
from deia.serve.hosts import claude_code
from deia.serve.hosts.codex import CARRIES, write_answer
from deia.serve.hosts.event import EVENT, Occasion, mapping_of, text_of

if TYPE_CHECKING:
    from deia.fast_json import Json

__all__ = ["CARRIES", "read_event", "write_answer"]
RESPONSE = "tool_response"
COMMAND, OUTPUT, EXIT_CODE = "Command: ", "\nOutput: ", "\nExit Code: "  # how a command's result is written


def read_event(event: Json) -> Occasion | None:
    """Return what an event is about, or None if there is nothing to watch."""
    fields = mapping_of(event)
    if fields.get(EVENT) == "UserPromptSubmit" and not text_of(fields.get("prompt")):
        return None
    content = mapping_of(fields.get(RESPONSE)).get("llmContent")
    if content is None:
        return claude_code.read_event(event)
    text = text_of(content)
    return claude_code.read_event({**fields, RESPONSE: _of_command(text) if text.startswith(COMMAND) else content})


def _of_command(text: str) -> dict[str, Json]:
    """Return what a command printed, without the command itself, and whether its exit code was 0."""
    _, _, output = text.partition(OUTPUT)
    code = text.rpartition(EXIT_CODE)[2].partition("\n")[0].strip()
    return {"output": output, "exit_code": 0 if code.strip("0") == "" or not code.isalnum() else 1}
