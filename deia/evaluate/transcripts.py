"""Reads transcript files: what hosts write, JSON, JSON lines, Markdown, plain text.

Lenient about everything but reading: a line that is no JSON in a file of JSON lines is passed over. What a host itself
puts into a conversation (instructions, environment, summaries) is nobody's turn.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from deia import fast_json
from deia.records import Record, Turn
from deia.watch.turn.conversation import PREFIXES, turns_of

LISTS = ("messages", "turns", "conversation", "bubbles", "chat", "history")  # fields that may hold the turns
SEVERAL = ("conversations", "tabs", "chats", "sessions")  # fields that may hold several conversations
KEYS = ("conversation_id", "conversationId", "conversation")  # fields that say to which conversation a row belongs
FENCES = ("```", "~~~")
# How a user turn begins that a host wrote: Codex's environment and instructions, Claude Code's command echoes.
HOST_WORDS = (
    "<environment_context>", "<user_instructions>", "# AGENTS.md instructions", "<permissions instructions>",
    "<local-command-stdout>", "<command-name>", "<command-message>", "<system-reminder>", "Caveat: The messages below",
)  # fmt: skip
NUMBERED = {1: "user", 2: "assistant", "1": "user", "2": "assistant"}  # the speakers in Cursor's own store
EXITS = ("Process exited with code ", "Exit code: ", "exit_code: ")  # in the text of Codex's results
OWN_LINES = ("summary", "file-history-snapshot", "system", "queue-operation")  # of Claude Code
CALLS = ("function_call", "custom_tool_call", "local_shell_call")
RESULTS = ("function_call_output", "custom_tool_call_output")
SPOKEN = "User: …, Assistant: …, ## User"
MOST_UNREADABLE = 0.02  # of the characters of a text may stand for bytes that are no UTF-8
MOST_WAITING = 1000  # calls whose results are awaited in one conversation


class Call(Record):
    """A tool call whose result has not come yet."""

    tool: str
    tool_input: Any


class Reader:
    """Reads the items of one conversation in order; knows which call a result answers, and the working folder."""

    __slots__ = ("_waiting", "folder")

    def __init__(self) -> None:
        self._waiting: dict[str, Call] = {}
        self.folder = ""

    def turns(self, item: Any) -> list[Turn]:
        """Give the turns of one item of a transcript, a text or a mapping; what is nobody's turn gives none."""
        if isinstance(item, dict):
            self._note_folder(item)
        return turns_of([part for message in _messages(item) for part in self._paired(message)])

    def _note_folder(self, item: dict[str, Any]) -> None:
        payload = item.get("payload")
        for holder in (item, payload if isinstance(payload, dict) else {}):
            if isinstance(holder.get("cwd"), str):
                self.folder = holder["cwd"]

    def _paired(self, message: Any) -> Iterator[Any]:
        """Give a message with its calls remembered and its results told which call they answer."""
        blocks = message.get("content") if isinstance(message, dict) else None
        known = [block for block in blocks if _identity(block)] if isinstance(blocks, list) else []
        if not known:
            yield message
            return
        spoken = [block for block in blocks or () if not _identity(block)]
        if spoken:
            yield {**message, "content": spoken}
        for block in known:
            if "tool_use_id" in block:
                yield self._result(block)
            else:
                self._remember(_identity(block), str(block.get("name", "")), block.get("input"))
                yield {"role": "assistant", "content": [block]}

    def _remember(self, identity: str, tool: str, tool_input: Any) -> None:
        if len(self._waiting) >= MOST_WAITING:
            self._waiting.clear()
        self._waiting[identity] = Call(tool=tool, tool_input=tool_input)

    def _result(self, block: dict[str, Any]) -> Turn:
        call = self._waiting.pop(_identity(block), None)
        content = block.get("content")
        turns = turns_of([{"role": "tool_result", "content": content, "is_error": block.get("is_error")}])
        if call is None:
            return turns[0]
        given = call.tool_input if isinstance(call.tool_input, dict) else None
        return turns[0].but(tool=call.tool, tool_input=given)


def _identity(block: Any) -> str:
    """Give the id by which a call and its result know each other, or the empty text."""
    if not isinstance(block, dict) or block.get("type") not in ("tool_use", "tool_result"):
        return ""
    found = block.get("tool_use_id", block.get("id"))
    return found if isinstance(found, str) else ""


# --- one item of a transcript ---


def _messages(item: Any) -> list[Any]:
    """Give the messages that an item holds, in the form that conversations have."""
    if isinstance(item, str):
        return [item]
    if not isinstance(item, dict):
        return []
    found = next((found for read in FORMATS if (found := read(item)) is not None), [])
    return [message for message in found if not _is_hosts(message)]


def _codex(item: dict[str, Any]) -> list[Any] | None:
    """Read a line of a Codex rollout; what it tells twice (`event_msg`) and its own state are passed over."""
    payload = item.get("payload")
    if isinstance(payload, dict) and "type" in item:
        return _codex_item(payload) if item["type"] == "response_item" else []
    return _codex_item(item) if item.get("type") in (*CALLS, *RESULTS, "reasoning") else None


def _codex_item(payload: dict[str, Any]) -> list[Any]:
    kind, identity = payload.get("type"), payload.get("call_id")
    if kind == "message":
        return [payload]
    if kind in CALLS:
        given = payload.get("arguments", payload.get("input", payload.get("action")))
        block = {"type": "tool_use", "id": identity, "name": payload.get("name", "local_shell"), "input": _given(given)}
        return [{"role": "assistant", "content": [block]}]
    if kind in RESULTS:
        text, failed = _output(payload.get("output"))
        block = {"type": "tool_result", "tool_use_id": identity, "content": text, "is_error": failed}
        return [{"role": "user", "content": [block]}]
    return []


def _given(value: Any) -> Any:
    """Give a call's input as a mapping: JSON text is read, another text is the command or patch itself."""
    if not isinstance(value, str):
        return value
    read = _json(value)
    return read if isinstance(read, dict) else {"input": value}


def _output(value: Any) -> tuple[Any, bool]:
    """Give the text of a Codex result and whether the call failed."""
    read = _json(value) if isinstance(value, str) else value
    if isinstance(read, dict) and "output" in read:
        metadata = read.get("metadata")
        code = metadata.get("exit_code") if isinstance(metadata, dict) else None
        return read["output"], code not in (None, 0) or read.get("success") is False
    if not isinstance(value, str):
        return value, False
    head = value[:400]
    return value, any(mark in head and head.partition(mark)[2][:1] not in ("0", "") for mark in EXITS)


def _claude_code(item: dict[str, Any]) -> list[Any] | None:
    """Read a line of a Claude Code transcript; Cursor's agent lines hold a `message` too, and the role beside it."""
    message = item.get("message")
    if isinstance(message, dict):
        whose = {} if "role" in message or "role" not in item else {"role": item["role"]}
        return [] if item.get("isMeta") or item.get("isCompactSummary") else [{**whose, **message}]
    return [] if item.get("type") in OWN_LINES else None


def _cursor(item: dict[str, Any]) -> list[Any] | None:
    """Read a bubble of Cursor's store: numbered or named speakers, tool calls as `toolFormerData`."""
    kind = item.get("type")
    role = NUMBERED.get(kind) if isinstance(kind, (int, str)) else None
    if role is None and not (kind in ("user", "ai") and "role" not in item and "content" not in item):
        return None
    found: list[Any] = [{"role": role or kind, "text": item.get("text", item.get("rawText", ""))}]
    tool = item.get("toolFormerData")
    if isinstance(tool, dict):
        given = _given(tool.get("rawArgs", tool.get("params", {})))
        found.append({"role": "tool_call", "tool": str(tool.get("name", "")), "tool_input": given})
        if tool.get("result"):
            found.append({"role": "tool_result", "tool": str(tool.get("name", "")), "text": str(tool["result"])})
    return [message for message in found if message.get("text") or message.get("tool")]


def _plain(item: dict[str, Any]) -> list[Any] | None:
    """Read a message as programs hold it, or a row of a table of turns."""
    if item.get("role") == "tool_call" and not item.get("tool_input") and isinstance(item.get("text"), str):
        tool = str(item.get("tool", item.get("name", "")))
        return [Turn(role="tool_call", text=item["text"], tool=tool)]
    return [item] if "role" in item or "content" in item or "text" in item else None


FORMATS = (_codex, _claude_code, _cursor, _plain)


def _is_hosts(message: Any) -> bool:
    """Say whether a host wrote this user turn itself."""
    if not isinstance(message, dict) or message.get("role") != "user":
        return False
    content = message.get("content", message.get("text"))
    blocks = content if isinstance(content, list) else [content]
    texts = [block.get("text") if isinstance(block, dict) else block for block in blocks[:1]]
    return any(isinstance(text, str) and text.lstrip().startswith(HOST_WORDS) for text in texts)


# --- whole texts ---


def read_transcript(text: str) -> list[Turn]:
    """Give the turns of a transcript, numbered from 1; those of several conversations one after the other."""
    return turns_of([turn for conversation in read_conversations(text) for turn in conversation])


def read_conversations(text: str) -> list[list[Turn]]:
    """Give the conversations that a text holds, each as its turns."""
    return [turns_of([turn for item in items for turn in reader.turns(item)]) for reader, items in _split(text)]


def why_no_transcript(text: str) -> str:
    """Say why a text is no transcript, or give the empty text; what nobody says is not taken for somebody's turn."""
    text = text.removeprefix("\ufeff")
    if not text.strip():
        return "it is empty"
    if "\0" in text or text.count("\ufffd") > len(text) * MOST_UNREADABLE:
        return "it is not text"
    lines = text.split("\n")
    if _json(text) is not None or any(isinstance(_json(line), dict) for line in lines) or _has_speaker(lines):
        return ""
    opening = text.lstrip()[:1]
    if opening in ("{", "["):
        return f"it begins as JSON does and is none: {_why_no_json(text)}"
    return f"it is no JSON, and no line of it says who speaks ({SPOKEN})"


def _why_no_json(text: str) -> str:
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        return f"{error.msg} in line {error.lineno}, column {error.colno}"
    except RecursionError:
        return "it is nested too deep"
    return "it cannot be read"


def _has_speaker(lines: Iterable[str]) -> bool:
    """Say whether a line outside of fences begins with who speaks."""
    fenced = False
    for line in lines:
        fenced ^= line.lstrip().startswith(FENCES)
        if not fenced and _speaker(line):
            return True
    return False


def _split(text: str) -> Iterator[tuple[Reader, Iterable[Any]]]:
    text = text.removeprefix("\ufeff")
    whole = _json(text)
    if whole is not None:
        for items in conversations_in(whole):
            yield Reader(), items
        return
    lines = [_json(line) for line in text.split("\n") if line.strip()]
    if any(isinstance(line, dict) for line in lines):
        yield Reader(), [line for line in lines if isinstance(line, dict)]
    else:
        yield Reader(), _spoken(text)


def conversations_in(value: Any) -> Iterator[list[Any]]:
    """Yield the conversations of a JSON value, each as its items: one, or several side by side."""
    is_mapping = isinstance(value, dict)
    several = next((value[name] for name in SEVERAL if isinstance(value.get(name), list)), []) if is_mapping else value
    lists = [turn_list(one) if isinstance(one, dict) else None for one in several]
    if lists and None not in lists:
        yield from (one for one in lists if one)
    elif is_mapping:
        held = turn_list(value)
        yield [value] if held is None else held
    elif isinstance(value, list):
        yield value


def turn_list(value: dict[str, Any]) -> list[Any] | None:
    """Give the list in which a mapping holds a conversation's turns, or None."""
    return next((value[name] for name in LISTS if isinstance(value.get(name), list)), None)


def _json(text: str) -> Any:
    """Give what a JSON text says, if it is a mapping or a list."""
    if text.lstrip()[:1] not in ("{", "["):
        return None
    try:
        return fast_json.loads(text)
    except ValueError:
        return None


def _spoken(text: str) -> Iterator[str]:
    """Cut a plain text or Markdown where a line begins with who speaks (`User:`, `**Assistant:**`, `## User`)."""
    part: list[str] = []
    fenced = False
    for line in text.split("\n"):
        fenced ^= line.lstrip().startswith(FENCES)
        speaker = "" if fenced else _speaker(line)
        if speaker and any(map(str.strip, part)):
            yield "\n".join(part).strip()
            part = []
        part.append(speaker or line)
    if any(map(str.strip, part)):
        yield "\n".join(part).strip()


def _speaker(line: str) -> str:
    """Give a line that begins with who speaks in its plain form, `User: …`, or the empty text."""
    is_heading = line.startswith("#")
    bare = line.lstrip("#* ")
    name, colon, rest = bare.partition(":")
    name = name.rstrip("* ")
    if (colon or is_heading) and name.lower().replace(" ", "_") in PREFIXES:
        return f"{name}: {rest.removeprefix('**').lstrip()}"
    return ""
