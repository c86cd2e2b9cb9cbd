"""Reading transcripts in the formats of agent hosts, JSON, JSON lines, Markdown or plain text.

Lines that cannot be parsed in a file of JSON lines are skipped. Messages that a host itself adds to a conversation
(instructions, environment, summaries) are not turns.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from deia import fast_json
from deia.evaluate.exported_calls import call_message, copilot_messages, exported_call, gemini_messages, result_message
from deia.records import Record, Turn
from deia.watch.prose.pasted import is_notice
from deia.watch.turn.conversation import PREFIXES, turns_of

LISTS = ("messages", "turns", "conversation", "bubbles", "chat", "history")  # fields that may hold the turns
SEVERAL = ("conversations", "tabs", "chats", "sessions")  # fields that may hold several conversations
KEYS = ("conversation_id", "conversationId", "conversation")  # fields that name a row's conversation
FENCES = ("```", "~~~")
NUMBERED_ROLES = {1: "user", 2: "assistant", "1": "user", "2": "assistant"}  # in Cursor's own store
EXITS = ("Process exited with code ", "Exit code: ", "exit_code: ")  # in the text of Codex's results
OWN_LINES = ("summary", "file-history-snapshot", "system", "queue-operation")  # types of Claude Code's internal lines
CALLS = ("function_call", "custom_tool_call", "local_shell_call")
RESULTS = ("function_call_output", "custom_tool_call_output")
SPEAKER_EXAMPLES = "User: …, Assistant: …, ## User"
MOST_UNREADABLE = 0.02  # the share of a text's characters that may replace invalid UTF-8
MOST_WAITING = 1000  # calls in one conversation whose results are pending

Item = dict[str, Any]  # an object of a transcript
Message = object  # a turn in a form that `turns_of` reads: a text, a mapping or a Turn


class Call(Record):
    """A tool call whose result has not come yet."""

    tool: str
    tool_input: object


class Reader:
    """Reads the items of one conversation in order, and knows its pending calls and working folder."""

    __slots__ = ("_previous", "_waiting", "folder")

    def __init__(self) -> None:
        self._waiting: dict[str, Call] = {}
        self._previous: Turn | None = None
        self.folder = ""

    def turns(self, item: object) -> list[Turn]:
        """Return the turns in one item of a transcript, a text or a mapping."""
        if isinstance(item, dict):
            self._note_folder(item)
        turns = turns_of([part for message in _messages(item) for part in self._paired(message)])
        return [self._answered(turn) for turn in turns]

    def _answered(self, turn: Turn) -> Turn:
        """Return a turn; a result without an id answers the call of its tool right before it."""
        call, self._previous = self._previous, turn
        if turn.role != "tool_result" or turn.tool_input is not None or call is None or call.role != "tool_call":
            return turn
        return turn.but(tool_input=call.tool_input) if turn.tool and turn.tool == call.tool else turn

    def _note_folder(self, item: Item) -> None:
        payload, data = item.get("payload"), item.get("data")
        context = data.get("context") if isinstance(data, dict) else None
        for holder in (item, payload, context):
            if isinstance(holder, dict) and isinstance(holder.get("cwd"), str):
                self.folder = holder["cwd"]

    def _paired(self, message: Message) -> Iterator[Message]:
        """Yield the parts of a message; calls are remembered, and results get the call that they answer."""
        fields = message if isinstance(message, dict) else {}
        blocks = fields.get("content")
        tool_blocks = [block for block in blocks if _identity(block)] if isinstance(blocks, list) else []
        if not tool_blocks:
            yield message
            return
        text_blocks = [block for block in blocks or () if not _identity(block)]
        if text_blocks:
            yield {**fields, "content": text_blocks}
        for block in tool_blocks:
            if "tool_use_id" in block:
                yield self._result(block)
            else:
                if len(self._waiting) >= MOST_WAITING:
                    self._waiting.clear()
                self._waiting[_identity(block)] = Call(tool=str(block.get("name", "")), tool_input=block.get("input"))
                yield {"role": "assistant", "content": [block]}

    def _result(self, block: Item) -> Turn:
        call = self._waiting.pop(_identity(block), None)
        content = block.get("content")
        turns = turns_of([{"role": "tool_result", "content": content, "is_error": block.get("is_error")}])
        if call is None:
            return turns[0]
        tool_input = call.tool_input if isinstance(call.tool_input, dict) else None
        return turns[0].but(tool=call.tool, tool_input=tool_input)


def _identity(block: object) -> str:
    """Return the id that a call and its result share, or ""."""
    if not isinstance(block, dict) or block.get("type") not in ("tool_use", "tool_result"):
        return ""
    identity = block.get("tool_use_id", block.get("id"))
    return identity if isinstance(identity, str) else ""


# --- one item of a transcript ---


def _messages(item: object) -> list[Message]:
    """Return the messages in an item, read by the first format that fits it."""
    if isinstance(item, str):
        return [item]
    if not isinstance(item, dict):
        return []
    messages = next((messages for read in FORMATS if (messages := read(item)) is not None), [])
    return [message for message in messages if not _is_from_host(message)]


def _codex(item: Item) -> list[Message] | None:
    """Return the messages in a line of a Codex rollout; duplicates (`event_msg`) and internal state are skipped."""
    payload = item.get("payload")
    if isinstance(payload, dict) and "type" in item:
        return _codex_item(payload) if item["type"] == "response_item" else []
    return _codex_item(item) if item.get("type") in (*CALLS, *RESULTS, "reasoning") else None


def _codex_item(payload: Item) -> list[Message]:
    kind, identity = payload.get("type"), payload.get("call_id")
    if kind == "message":
        return [payload]
    if kind in CALLS:
        tool_input = _tool_input(payload.get("arguments", payload.get("input", payload.get("action"))))
        return [call_message(identity, payload.get("name", "local_shell"), tool_input)]
    if kind in RESULTS:
        text, failed = _output(payload.get("output"))
        return [result_message(identity, text, failed=failed)]
    return []


def _tool_input(value: object) -> object:
    """Return a call's input as a mapping: JSON text is parsed, any other text is the command or patch itself."""
    if not isinstance(value, str):
        return value
    parsed = _parse_json(value)
    return parsed if isinstance(parsed, dict) else {"input": value}


def _output(value: object) -> tuple[object, bool]:
    """Return the text of a Codex result, and whether the call failed."""
    result = _parse_json(value) if isinstance(value, str) else value
    if isinstance(result, dict) and "output" in result:
        metadata = result.get("metadata")
        code = metadata.get("exit_code") if isinstance(metadata, dict) else None
        return result["output"], code not in (None, 0) or result.get("success") is False
    if not isinstance(value, str):
        return value, False
    head = value[:400]
    return value, any(mark in head and head.partition(mark)[2][:1] not in ("0", "") for mark in EXITS)


def _claude_code(item: Item) -> list[Message] | None:
    """Return the message in a line of a Claude Code transcript, or of Cursor's agent, which puts the role beside it."""
    message = item.get("message")
    if isinstance(message, dict):
        outer_role = {} if "role" in message or "role" not in item else {"role": item["role"]}
        return [] if item.get("isMeta") or item.get("isCompactSummary") else [{**outer_role, **message}]
    return [] if item.get("type") in OWN_LINES else None


def _cursor(item: Item) -> list[Message] | None:
    """Return the messages in a bubble of Cursor's store: roles are numbers or names, tool calls `toolFormerData`."""
    kind = item.get("type")
    role = NUMBERED_ROLES.get(kind) if isinstance(kind, (int, str)) else None
    if role is None and not (kind in ("user", "ai") and "role" not in item and "content" not in item):
        return None
    messages: list[Item] = [{"role": role or kind, "text": item.get("text", item.get("rawText", ""))}]
    tool = item.get("toolFormerData")
    if isinstance(tool, dict):
        name, tool_input = str(tool.get("name", "")), _tool_input(tool.get("rawArgs", tool.get("params", {})))
        messages.append({"role": "tool_call", "tool": name, "tool_input": tool_input})
        if tool.get("result"):
            messages.append({"role": "tool_result", "tool": name, "text": str(tool["result"])})
    return [message for message in messages if message.get("text") or message.get("tool")]


def _plain(item: Item) -> list[Message] | None:
    """Return a message as programs hold it, or a row of a table of turns."""
    if item.get("role") == "tool_call" and not item.get("tool_input") and isinstance(item.get("text"), str):
        return [exported_call(str(item.get("tool", item.get("name", ""))), item["text"])]
    return [item] if "role" in item or "content" in item or "text" in item else None


FORMATS = (_codex, _claude_code, gemini_messages, copilot_messages, _cursor, _plain)


def _is_from_host(message: Message) -> bool:
    """Return whether the host itself wrote this user turn."""
    if not isinstance(message, dict) or message.get("role") != "user":
        return False
    content = message.get("content", message.get("text"))
    blocks = content if isinstance(content, list) else [content]
    texts = [block.get("text") if isinstance(block, dict) else block for block in blocks[:1]]
    return any(isinstance(text, str) and is_notice(text) for text in texts)


# --- whole texts ---


def read_transcript(text: str) -> list[Turn]:
    """Return the turns of a transcript, numbered from 1; several conversations follow each other."""
    return turns_of([turn for conversation in read_conversations(text) for turn in conversation])


def read_conversations(text: str) -> list[list[Turn]]:
    """Return the conversations in a text, each as its turns."""
    return [
        turns_of([turn for item in items for turn in reader.turns(item)])
        for reader, items in _split_conversations(text)
    ]


def why_no_transcript(text: str) -> str:
    """Return why a text is not a transcript, or "" if it is one; text without a speaker is nobody's turn."""
    text = text.removeprefix("\ufeff")
    if not text.strip():
        return "it is empty"
    if "\0" in text or text.count("\ufffd") > len(text) * MOST_UNREADABLE:
        return "it is not text"
    lines = text.split("\n")
    if (
        _parse_json(text) is not None
        or any(isinstance(_parse_json(line), dict) for line in lines)
        or _has_speaker(lines)
    ):
        return ""
    opening = text.lstrip()[:1]
    if opening in ("{", "["):
        return f"it begins like JSON but cannot be parsed: {_why_no_json(text)}"
    return f"it is not JSON, and no line says who speaks ({SPEAKER_EXAMPLES})"


def _why_no_json(text: str) -> str:
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        return f"{error.msg} in line {error.lineno}, column {error.colno}"
    except RecursionError:
        return "it is nested too deeply"
    return "it cannot be read"


def _has_speaker(lines: Iterable[str]) -> bool:
    """Return whether a line outside of code fences begins with a speaker."""
    fenced = False
    for line in lines:
        fenced ^= line.lstrip().startswith(FENCES)
        if not fenced and _speaker(line):
            return True
    return False


def _split_conversations(text: str) -> Iterator[tuple[Reader, Iterable[object]]]:
    text = text.removeprefix("\ufeff")
    whole = _parse_json(text)
    if whole is not None:
        yield from ((Reader(), items) for items in conversations_in(whole))
        return
    lines = [_parse_json(line) for line in text.split("\n") if line.strip()]
    if any(isinstance(line, dict) for line in lines):
        yield Reader(), [line for line in lines if isinstance(line, dict)]
    else:
        yield Reader(), _plain_turns(text)


def conversations_in(value: Item | list[object]) -> Iterator[list[object]]:
    """Yield the conversations of a JSON value, each as its items: one, or several side by side."""
    candidates = value if isinstance(value, list) else _first_list(value, SEVERAL) or []
    lists = [turn_list(candidate) if isinstance(candidate, dict) else None for candidate in candidates]
    if lists and None not in lists:
        yield from (items for items in lists if items)
    elif isinstance(value, list):
        yield value
    else:
        items = turn_list(value)
        yield [value] if items is None else items


def turn_list(value: Item) -> list[object] | None:
    """Return the list of a conversation's turns in a mapping, or None."""
    return _first_list(value, LISTS)


def _first_list(value: Item, names: Iterable[str]) -> list[object] | None:
    return next((value[name] for name in names if isinstance(value.get(name), list)), None)


def _parse_json(text: str) -> Item | list[object] | None:
    """Return the mapping or list that a JSON text describes, or None if it describes neither."""
    if text.lstrip()[:1] not in ("{", "["):
        return None
    try:
        value: Item | list[object] = fast_json.loads(text)
    except ValueError:
        return None
    return value


def _plain_turns(text: str) -> Iterator[str]:
    """Yield the turns of plain text or Markdown, cut at lines with a speaker (`User:`, `**Assistant:**`, `## User`)."""
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
    """Return a line that begins with a speaker in the form `User: …`, or "" if it does not."""
    is_heading = line.startswith("#")
    bare = line.lstrip("#* ")
    name, colon, rest = bare.partition(":")
    name = name.rstrip("* ")
    if (colon or is_heading) and name.lower().replace(" ", "_") in PREFIXES:
        return f"{name}: {rest.removeprefix('**').lstrip()}"
    return ""
