"""Tool calls in forms of their own: wrapped in Markdown by exporters, or in lines of hosts that name an event.

Cursor's and SpecStory's exports know `• Run command: …`, `Tool use: **Bash** …`, `<summary>Edit file: …</summary>` with
diffs, and JSON in fences; a transcript that an agent read has line numbers. A text in none of these forms is the input.
Gemini CLI's recorded chats and the events of Copilot CLI have no role, but the type of an event.
"""

from __future__ import annotations

from collections.abc import Iterator

from deia import fast_json
from deia.records import Turn
from deia.watch.turn.edits import DELETED_HEAD, FILE_HEADS
from deia.watch.turn.tool_call import is_shell

Fields = dict[str, object]  # a tool's input

NAMED = "Tool use: **"
RUN = "• Run command: "
FILE_LABELS = ("Edit file: ", "Read file: ")
PATCH_LABELS = {"**Update: `": FILE_HEADS[0], "**Add: `": FILE_HEADS[1], "**Delete: `": DELETED_HEAD}
PARAMETERS = "Parameters:"
FENCE = "```"
NUMBER_ENDS = "→\t"
ENTITIES = (("&lt;", "<"), ("&gt;", ">"), ("&quot;", '"'), ("&#39;", "'"), ("&amp;", "&"))  # the last makes no new ones
Item = dict[str, object]

GEMINI_ROLES = {"user": "user", "gemini": "assistant"}
COPILOT_ROLES = {"user.message": "user", "assistant.message": "assistant"}
COPILOT_RESULT = "tool.execution_complete"
COPILOT_KINDS = ("session.", "user.", "assistant.", "tool.", "hook.", "subagent.", "skill.", "system.", "abort")
FAILED = ("error", "cancelled")


def exported_call(tool: str, text: str) -> Turn:
    """Return the call that an exporter wrote as a text."""
    lines = [line.lstrip() for line in text.split("\n") if line.strip()]
    is_numbered = bool(lines) and all(line[:1].isdecimal() and _number_end(line) > 0 for line in lines)
    text = "\n".join(line[_number_end(line) :] for line in text.split("\n")) if is_numbered else text
    name, bare = _named(text)
    turn = Turn(role="tool_call", text=bare, tool=tool or name)
    if not is_shell(turn):
        parameters = _parsed(_fenced(bare)) if bare.startswith(PARAMETERS) else None
        fields = _parsed(bare) or parameters or _patch(bare) or _file(bare)
        return turn if fields is None else turn.but(text="", tool_input=fields)
    fields = _parsed(bare)
    if fields is None:
        is_wrapped = is_numbered or bool(name) or bare.lstrip().startswith(RUN)
        fields = {"command": _command(bare) if is_wrapped else bare}
    command = fields.get("command")
    return turn.but(text=command if isinstance(command, str) else "", tool_input=fields)


def _number_end(line: str) -> int:
    """Return where the mark after a line's number ends, or 0 if the line has no number."""
    bare = line.lstrip()
    rest = bare.lstrip("0123456789")
    return len(line) - len(rest) + 1 if rest != bare and rest[:1] in NUMBER_ENDS and rest else 0


def _named(text: str) -> tuple[str, str]:
    """Return the name of the tool that a text begins with, or "", and the rest of the text."""
    if not text.startswith(NAMED):
        return "", text
    name, _, rest = text.removeprefix(NAMED).partition("**")
    return name, rest.strip()


def _command(text: str) -> str:
    """Return the command of a wrapped call: after its label, in a fence at the beginning, or in backticks on a line."""
    bare = text.strip()
    if bare.startswith(RUN):
        command = bare.removeprefix(RUN)
        for entity, char in ENTITIES:
            command = command.replace(entity, char)
        return command
    if bare.startswith(FENCE):
        return _fenced(bare)
    lines = bare.partition(FENCE)[0].split("\n")
    return next((line.strip().strip("`") for line in lines if line.startswith("`") and line.rstrip().endswith("`")), "")


def _fenced(text: str) -> str:
    """Return the content of the first fence in a text, or ""."""
    return text.partition(FENCE)[2].partition("\n")[2].partition(f"\n{FENCE}")[0]


def _parsed(text: str) -> Fields | None:
    """Return the fields that a JSON text describes, or None."""
    if not text.startswith("{"):
        return None
    try:
        fields = fast_json.loads(text)
    except ValueError:  # cut off by whoever collected it
        return None
    return fields if isinstance(fields, dict) else None


def _patch(text: str) -> Fields | None:
    """Return the patch of a file that is named in bold before its diff."""
    label = next((label for label in PATCH_LABELS if text.startswith(label)), "")
    if not label:
        return None
    path = text.removeprefix(label).partition("`")[0]
    return {"input": f"*** Begin Patch\n{PATCH_LABELS[label]}{path}\n{_fenced(text)}\n*** End Patch"}


def _file(text: str) -> Fields | None:
    """Return the file that a text names, with the changes that its diffs show."""
    first = text.lstrip().partition("\n")[0]
    label = next((label for label in FILE_LABELS if label in first), "")
    if not label:
        return None
    path = first.partition(label)[2].removesuffix("</details>").removesuffix("</summary>")
    edits = list(_edits(text))
    return {"file_path": path, "edits": edits} if edits else {"file_path": path}


def _edits(text: str) -> Iterator[Fields]:
    """Yield each diff of a text as the lines before and after it."""
    for part in text.split(f"{FENCE}diff\n")[1:]:
        lines = [line for line in part.partition(f"\n{FENCE}")[0].split("\n") if not line.startswith("@@")]
        old, new = ("\n".join(line[2:] for line in lines if line[:1] != mark) for mark in "+-")
        yield {"old_string": old, "new_string": new}


def gemini_messages(item: Item) -> list[Item] | None:
    """Return the messages in an entry of a recorded chat of Gemini CLI: calls are in it, with their results."""
    kind = item.get("type")
    role = GEMINI_ROLES.get(kind) if isinstance(kind, str) else None
    if role is None or "content" not in item or "role" in item or "message" in item:
        return None
    messages: list[Item] = [{"role": role, "content": item["content"]}]
    calls = item.get("toolCalls")
    for call in calls if isinstance(calls, list) else ():
        if isinstance(call, dict):
            messages += _with_result(call)
    return messages


def _with_result(call: Item) -> Iterator[Item]:
    identity = call.get("id")
    yield call_message(identity, call.get("name"), call.get("args"))
    shown = call.get("resultDisplay")
    text = shown if isinstance(shown, str) else "\n".join(_outputs(call.get("result")))
    yield result_message(identity, text, failed=call.get("status") in FAILED)


def _outputs(results: object) -> Iterator[str]:
    """Yield the outputs in the responses of a call."""
    for result in results if isinstance(results, list) else ():
        response = result.get("functionResponse") if isinstance(result, dict) else None
        values = response.get("response") if isinstance(response, dict) else None
        if isinstance(values, dict):
            yield from (value for name in ("output", "error") if isinstance(value := values.get(name), str))


def copilot_messages(item: Item) -> list[Item] | None:
    """Return the messages in an event of Copilot CLI; those of its own state are none."""
    kind, data = item.get("type"), item.get("data")
    if not isinstance(kind, str) or not isinstance(data, dict) or not kind.startswith(COPILOT_KINDS):
        return None
    if kind == COPILOT_RESULT:
        result = data.get("result")
        content = result.get("content", "") if isinstance(result, dict) else ""
        return [result_message(data.get("toolCallId"), content, failed=data.get("success") is False)]
    if kind not in COPILOT_ROLES:
        return []
    messages: list[Item] = [{"role": COPILOT_ROLES[kind], "content": data.get("content", "")}]
    requests = data.get("toolRequests")
    return messages + [
        call_message(request.get("toolCallId"), request.get("name"), request.get("arguments"))
        for request in (requests if isinstance(requests, list) else ())
        if isinstance(request, dict)
    ]


def call_message(identity: object, name: object, tool_input: object) -> Item:
    """Return a call as a message of the assistant."""
    block = {"type": "tool_use", "id": identity, "name": name if isinstance(name, str) else "", "input": tool_input}
    return {"role": "assistant", "content": [block]}


def result_message(identity: object, content: object, *, failed: bool) -> Item:
    """Return a call's result as a message."""
    block = {"type": "tool_result", "tool_use_id": identity, "content": content, "is_error": failed}
    return {"role": "user", "content": [block]}
