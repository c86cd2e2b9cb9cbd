"""One event of a host, as deia reads it, and the table of names by which a host's events are read.

Hosts send the same things under different names, so a host's module holds a `Dialect` and not a parser. Any JSON is
accepted: what is missing or of the wrong type counts as empty, and an unknown event is None.
"""

from __future__ import annotations

from deia import files
from deia.fast_json import Json, loads
from deia.records import TYPE_CHECKING, Record, Turn
from deia.watch.memory.log import SUBAGENT

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Protocol, TypeAlias

    from deia.serve.hosts.delivery_form import Said

    Forms: TypeAlias = Mapping[str, str]  # form (context, hold, ask, note) → when it reaches the model
    Carries: TypeAlias = Mapping[str, Forms]  # moment → the forms that an answer can take then
    Answer: TypeAlias = Mapping[str, Json] | bytes | None  # JSON, or a reason for standard error, or nothing

    class Host(Protocol):
        """The module of a host."""

        @property
        def CARRIES(self) -> Carries:  # noqa: N802 - a constant of the module
            """What an answer can carry at each moment."""

        @property
        def read_event(self) -> Callable[[Json], Occasion | None]:
            """The function that reads an event, None if there is nothing to watch."""

        @property
        def write_answer(self) -> Callable[[Occasion, Said], Answer]:
            """The function that writes the host's answer, None if nothing is said."""
else:
    Answer = object


# When an answer reaches the model: before the act that it is about, or with the result of that act.
BEFORE, LATE = "before", "late"
CONTEXT: Mapping[str, str] = {"context": BEFORE}
NOTED: Mapping[str, str] = {"context": BEFORE, "note": BEFORE}
MOST_DEPTH = 6
ERROR_FLAGS = ("is_error", "isError")
EXIT_CODES = ("exit_code", "exitCode", "returnCode", "returncode")
# Names of shell tools that the watcher does not know.
SHELLS = dict.fromkeys(
    ("execute_bash", "run_in_terminal", "runTerminalCommand", "runInTerminal", "run_commands"), "bash"
)
EVENT = "hook_event_name"
MODEL_TEXTS = ("text_result_for_llm", "textResultForLlm")  # Copilot's names for the part of a result the model reads
NO_CONVERSATION = "unnamed"
COMPACTION = "compaction"  # the moment at which the host is about to shorten the conversation


class Occasion(Record):
    """One event of a host: what to watch, and what the host can carry back."""

    event: str  # the host's name for it
    moment: str  # prompt | before_tool | after_tool | tool_error | stop | session | compaction
    conversation: str
    folder: str
    turn: Turn | None = None
    reset: bool = False  # the model no longer sees what was injected before
    carries: bool = True  # whether an answer to this event can reach anybody
    given: str = ""  # the prompt's text, which an answer has to repeat in front of what deia adds
    mark: str = ""  # the host's own id of the call or prompt, by which a second copy of the event is recognised


class Dialect(Record):
    """The names of a host's events and their fields; if a field has several names, the first non-empty text counts."""

    moments: Mapping[str, str]  # event → moment
    event: str = EVENT
    conversation: tuple[str, ...] = ("session_id",)
    folder: tuple[str, ...] = ("cwd",)
    prompt: str = "prompt"
    reply: str = ""  # what the model said
    tool: tuple[str, ...] = ("tool_name",)
    tool_input: str = "tool_input"
    output: tuple[str, ...] = ("tool_response",)
    error: str = "error"
    failed: Callable[[Mapping[str, Json], Json], bool] = lambda _event, _response: (
        False
    )  # whether a result reports a failure
    mark: tuple[str, ...] = ()
    resets: tuple[str, ...] = ()  # values of `source` at which the model forgets what it was told

    def read(self, event: Json) -> Occasion | None:
        """Return what an event is about, or None if there is nothing to watch (an event of a later version, say)."""
        fields = mapping_of(event)
        name = text_of(fields.get(self.event))
        moment = self.moments.get(name)
        if moment is None:
            return None
        turn = self._turn(moment, fields)
        return Occasion(
            event=name,
            moment="tool_error" if turn is not None and turn.failed else moment,
            conversation=self._conversation(fields),
            folder=next((folder for field in self.folder if (folder := folder_of(fields.get(field)))), ""),
            turn=turn,
            reset=moment == COMPACTION or text_of(fields.get("source")) in self.resets,
            mark=first_text(fields, self.mark),
        )

    def _conversation(self, fields: Mapping[str, Json]) -> str:
        conversation = first_text(fields, self.conversation) or NO_CONVERSATION
        agent = text_of(fields.get("agent_id"))  # a subagent has a context of its own
        return f"{conversation}{SUBAGENT}{agent}" if agent else conversation

    def _turn(self, moment: str, fields: Mapping[str, Json]) -> Turn | None:
        if moment in ("session", COMPACTION):
            return None
        if moment == "prompt":
            return Turn(role="user", text=text_of(fields.get(self.prompt)))
        if moment == "stop":
            return Turn(role="assistant", text=text_of(fields.get(self.reply)))
        tool = first_text(fields, self.tool)
        tool_input = decoded(fields.get(self.tool_input))
        if moment == "before_tool":
            plan = mapping_of(tool_input).get("plan")
            spoken = tool == "ExitPlanMode"
            return Turn(role="assistant", text=text_of(plan), tool=tool) if spoken else call(tool, tool_input)
        response = self._response(fields)
        if moment == "tool_error":
            return result(tool, tool_input, [fields.get(self.error), _for_model(response)], failed=True)
        failed = self.failed(fields, response)
        return result(tool, tool_input, _for_model(response), failed=failed)

    def _response(self, fields: Mapping[str, Json]) -> Json:
        text = first_text(fields, self.output)
        return decoded(text or next((fields[field] for field in self.output if field in fields), None))


def _for_model(response: Json) -> Json:
    """Return the part of a tool's response that the model reads; hosts other than Copilot send nothing else."""
    return first_text(response, MODEL_TEXTS) or response if isinstance(response, dict) else response


def call(tool: str, tool_input: Json) -> Turn:
    """Return the turn of a tool call, from its input as the host sent it."""
    arguments = mapping_of(tool_input)
    text = text_of(tool_input) or text_of(arguments.get("command"))
    return Turn(role="tool_call", text=text, tool=SHELLS.get(tool, tool), tool_input=arguments)


def result(tool: str, tool_input: Json, response: Json, *, failed: bool = False) -> Turn:
    """Return the turn of a tool's result, which may be a text, a mapping or a list of blocks."""
    response = decoded(response)
    return Turn(
        role="tool_result",
        text="\n".join(texts_of(_answers(tool, response))),
        tool=SHELLS.get(tool, tool),
        tool_input=mapping_of(tool_input),
        failed=failed or _reports_failure(response),
    )


def _reports_failure(response: Json) -> bool:
    """Return whether a tool's response itself reports a failure, as those of MCP servers and shells do."""
    if not isinstance(response, dict):
        return False
    code = next((response[name] for name in EXIT_CODES if isinstance(response.get(name), int)), 0)
    return any(response.get(name) is True for name in ERROR_FLAGS) or code != 0


def _answers(tool: str, response: Json) -> Json:
    """Return a person's answers to a question without the question; for other tools, the whole response."""
    if tool == "AskUserQuestion" and isinstance(response, dict) and isinstance(response.get("answers"), dict):
        answers: Json = response["answers"]
        return answers
    return response


def text_of(value: object) -> str:
    """Return a value if it is a text, else the empty text."""
    return value if isinstance(value, str) else ""


def mapping_of(value: object) -> dict[str, Json]:
    """Return a value if it is a mapping, else an empty one."""
    return value if isinstance(value, dict) else {}


def first_text(fields: Mapping[str, Json], names: Sequence[str]) -> str:
    """Return the first of some fields that is a non-empty text."""
    for name in names:
        value = fields.get(name)
        if value and isinstance(value, str):
            return value
    return ""


def folder_of(value: Json) -> str:
    """Return the folder that a host names, with forward slashes; of several roots, the first."""
    first = value[0] if isinstance(value, list) and value else value
    return files.forward(text_of(first))


def decoded(value: Json) -> Json:
    """Return the value in a JSON text, as which some hosts send a tool's input; return any other value unchanged."""
    if not (isinstance(value, str) and value.lstrip()[:1] in {"{", "["}):
        return value
    try:
        content: Json = loads(value)
    except ValueError:
        return value
    return content


def texts_of(value: Json, depth: int = 0) -> list[str]:
    """Return every text inside a value."""
    if isinstance(value, str):
        return [value]
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [text for item in inner for text in texts_of(item, depth + 1)] if depth < MOST_DEPTH else []
