"""Conversations as bots hold them → turns: strings, role and text, OpenAI's and Anthropic's message dictionaries.

Lenient to the last: what has no known shape becomes its text, and nothing raises. Which of a conversation's turns are
new is decided by order and content, so a growing list, a sliding window and a single new turn all work.
"""

from __future__ import annotations

from deia.fast_json import loads
from deia.records import TYPE_CHECKING, Turn

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any

PREFIXES = {"user": "user", "human": "user", "assistant": "assistant", "ai": "assistant", "agent": "assistant",
            "tool": "tool_result", "tool_call": "tool_call", "tool_result": "tool_result", "system": "system",
            "developer": "system", "model": "assistant", "function": "tool_result"}  # fmt: skip
TEXT_BLOCKS = ("text", "input_text", "output_text")
MOST_DEPTH = 6


def turns_of(conversation: Iterable[Any] | str) -> list[Turn]:
    """Give the turns of a conversation, numbered from 1."""
    is_one = isinstance(conversation, (str, dict)) or not hasattr(conversation, "__iter__")
    items: Iterable[Any] = [conversation] if is_one else conversation
    turns = [turn for item in items for turn in _turns(item)]
    return [turn if turn.index == number else turn.but(index=number) for number, turn in enumerate(turns, start=1)]


def _turns(item: Any) -> Iterator[Turn]:
    if isinstance(item, Turn):
        yield item
    elif isinstance(item, str):
        yield _spoken(item)
    elif isinstance(item, dict):
        yield from _message(item)
    elif item is not None:
        yield Turn(role="user", text=_shown(item))


def _spoken(text: str) -> Turn:
    """Read `User: …` and `Assistant: …`; a text without such a beginning is the user's."""
    head, colon, rest = text.partition(":")
    role: Any = PREFIXES.get(head.strip().lower().replace(" ", "_")) if colon and len(head) < 20 else None
    return Turn(role=role or "user", text=rest.lstrip() if role else text)


def _message(item: dict[str, Any]) -> Iterator[Turn]:
    role: Any = PREFIXES.get(_name(item.get("role")).lower(), "user")
    content = item.get("content", item.get("text", ""))
    if role == "tool_call" or isinstance(item.get("tool_input"), dict):
        yield _call(_name(item.get("tool", item.get("name"))), item.get("tool_input"), _name(item.get("text")))
        return
    if role == "tool_result":
        failed = bool(item.get("is_error") or item.get("failed"))
        tool = _name(item.get("tool") or item.get("name"))
        yield Turn(role="tool_result", text="\n".join(_texts(content)), tool=tool, failed=failed)
        return
    yield from _blocks(role, content)
    calls = item.get("tool_calls")
    for call in calls if isinstance(calls, list) else ():
        function = call.get("function", call) if isinstance(call, dict) else {}
        if isinstance(function, dict):
            yield _call(_name(function.get("name")), function.get("arguments", function.get("args")), "")


def _blocks(role: Any, content: Any) -> Iterator[Turn]:
    """Give a turn for the spoken blocks of a message together, and one for each tool block."""
    if not isinstance(content, list):
        if content:
            yield Turn(role=role, text="\n".join(_texts(content)))
        return
    spoken = [text for block in content if _is_spoken(block) for text in _texts(block)]
    if spoken:
        yield Turn(role=role, text="\n".join(spoken))
    for block in content:
        kind = block.get("type") if isinstance(block, dict) else None
        if kind in ("tool_use", "function_call", "tool_call"):
            yield _call(_name(block.get("name")), block.get("input", block.get("arguments")), "")
        elif kind in ("tool_result", "function_call_output"):
            texts = _texts(block.get("content", block.get("output")))
            yield Turn(role="tool_result", text="\n".join(texts), failed=bool(block.get("is_error")))


def _is_spoken(block: Any) -> bool:
    return isinstance(block, str) or (isinstance(block, dict) and block.get("type", "text") in TEXT_BLOCKS)


def _call(tool: str, given: Any, text: str) -> Turn:
    if isinstance(given, str):  # OpenAI sends a call's arguments as JSON text
        try:
            given = loads(given)
        except ValueError:
            text, given = text or given, None
    tool_input = given if isinstance(given, dict) else {}
    command = tool_input.get("command")
    return Turn(
        role="tool_call", text=text or (command if isinstance(command, str) else ""), tool=tool, tool_input=tool_input
    )


def _texts(value: Any, depth: int = 0) -> list[str]:
    if isinstance(value, str):
        return [value]
    if depth < MOST_DEPTH and isinstance(value, dict):
        inner = value.get("text", value.get("content"))
        return _texts(inner, depth + 1) if inner is not None else []
    if depth < MOST_DEPTH and isinstance(value, (list, tuple)):
        return [text for item in value for text in _texts(item, depth + 1)]
    return [] if value is None else [_shown(value)]


def _name(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _shown(value: Any) -> str:
    try:
        return str(value)
    except RecursionError:  # nested deeper than anybody reads
        return ""


class Judged:
    """Which turns of a conversation were judged already, by content and order."""

    __slots__ = ("places", "prints")

    def __init__(self) -> None:
        self.prints: list[int] = []
        self.places: dict[int, list[int]] = {}  # where in `prints` each print stands

    def take_new(self, turns: Sequence[Turn]) -> list[Turn]:
        """Give the turns that are new, numbered by their place in the whole conversation, and remember them."""
        given = [_print(turn) for turn in turns]
        known = self._count_known(given)
        new = []
        for turn, print_ in zip(turns[known:], given[known:], strict=True):
            self.places.setdefault(print_, []).append(len(self.prints))
            self.prints.append(print_)
            new.append(turn.but(index=len(self.prints)))
        return new

    def _count_known(self, given: list[int]) -> int:
        """Say how many of the given turns were judged: those that overlap the end, the more the better, or all of them.

        All of them, where a longer window was seen before as it stands; a lone turn may well be said a second time.
        """
        prints, length = self.prints, len(given)
        starts = self.places.get(given[0], ()) if given else ()
        for at in starts:
            if len(prints) - at <= length and prints[at:] == given[: len(prints) - at]:
                return len(prints) - at
        return length if length > 1 and any(prints[at : at + length] == given for at in starts) else 0


def _print(turn: Turn) -> int:
    """Tell one turn from another by what is in it."""
    return hash((turn.role, turn.text, turn.tool, _shown(turn.tool_input)))
