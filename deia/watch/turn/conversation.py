"""Convert conversations into turns: strings, role and text, and the message dictionaries of OpenAI and Anthropic.

Nothing here raises: an item of unknown shape becomes a turn with its text. Which turns of a conversation are new is
decided by their order and content, so a growing list, a sliding window and a single new turn all work.
"""

from __future__ import annotations

from _thread import allocate_lock  # `threading.Lock` without importing `threading`
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Generic, TypeVar

from deia.fast_json import loads
from deia.records import Turn

if TYPE_CHECKING:
    from deia.records import Role

PREFIXES: dict[str, Role] = {
    "user": "user", "human": "user", "assistant": "assistant", "ai": "assistant", "agent": "assistant",
    "tool": "tool_result", "tool_call": "tool_call", "tool_result": "tool_result", "system": "system",
    "developer": "system", "model": "assistant", "function": "tool_result",
}  # fmt: skip
TEXT_BLOCKS = ("text", "input_text", "output_text")
MOST_DEPTH = 6
State = TypeVar("State")

MOST_CONVERSATIONS = 1000


def turns_of(conversation: Iterable[object] | str) -> list[Turn]:
    """Return the turns of a conversation, numbered from 1."""
    is_single = isinstance(conversation, (str, dict)) or not hasattr(conversation, "__iter__")
    items: Iterable[object] = [conversation] if is_single else conversation
    turns = [turn for item in items for turn in _turns(item)]
    return [turn if turn.index == number else turn.but(index=number) for number, turn in enumerate(turns, start=1)]


def _turns(item: object) -> Iterator[Turn]:
    if isinstance(item, Turn):
        yield item
    elif isinstance(item, str):
        yield _prefixed(item)
    elif isinstance(item, dict):
        yield from _message(item)
    elif item is not None:
        yield Turn(role="user", text=_shown(item))


def _prefixed(text: str) -> Turn:
    """Return the turn of `User: …` or `Assistant: …`; a text without such a prefix is the user's."""
    head, colon, rest = text.partition(":")
    role = PREFIXES.get(head.strip().lower().replace(" ", "_")) if colon and len(head) < 20 else None
    return Turn(role=role or "user", text=rest.lstrip() if role else text)


def _message(item: Mapping[str, object]) -> Iterator[Turn]:
    role = PREFIXES.get(_string(item.get("role")).lower(), "user")
    content = item.get("content", item.get("text", ""))
    if role == "tool_call" or isinstance(item.get("tool_input"), dict):
        yield _call(_string(item.get("tool", item.get("name"))), item.get("tool_input"), _string(item.get("text")))
        return
    if role == "tool_result":
        failed = bool(item.get("is_error") or item.get("failed"))
        tool = _string(item.get("tool") or item.get("name"))
        yield Turn(role="tool_result", text="\n".join(_texts(content)), tool=tool, failed=failed)
        return
    yield from _blocks(role, content)
    calls = item.get("tool_calls")
    for call in calls if isinstance(calls, list) else ():
        function = call.get("function", call) if isinstance(call, dict) else {}
        if isinstance(function, dict):
            yield _call(_string(function.get("name")), function.get("arguments", function.get("args")), "")


def _blocks(role: Role, content: object) -> Iterator[Turn]:
    """Yield one turn for all text blocks of a message, and one for each tool block."""
    if not isinstance(content, list):
        if content:
            yield Turn(role=role, text="\n".join(_texts(content)))
        return
    texts = [text for block in content if _is_text(block) for text in _texts(block)]
    if texts:
        yield Turn(role=role, text="\n".join(texts))
    for block in content:
        kind = block.get("type") if isinstance(block, dict) else None
        if kind in ("tool_use", "function_call", "tool_call"):
            yield _call(_string(block.get("name")), block.get("input", block.get("arguments")), "")
        elif kind in ("tool_result", "function_call_output"):
            texts = _texts(block.get("content", block.get("output")))
            yield Turn(role="tool_result", text="\n".join(texts), failed=bool(block.get("is_error")))


def _is_text(block: object) -> bool:
    return isinstance(block, str) or (isinstance(block, dict) and block.get("type", "text") in TEXT_BLOCKS)


def _call(tool: str, arguments: object, text: str) -> Turn:
    parsed: object = arguments
    if isinstance(arguments, str):  # OpenAI sends a call's arguments as JSON text
        try:
            parsed = loads(arguments)
        except ValueError:
            text, parsed = text or arguments, None
    tool_input = parsed if isinstance(parsed, dict) else {}
    command = tool_input.get("command")
    return Turn(
        role="tool_call", text=text or (command if isinstance(command, str) else ""), tool=tool, tool_input=tool_input
    )


def _texts(value: object, depth: int = 0) -> list[str]:
    if isinstance(value, str):
        return [value]
    if depth < MOST_DEPTH and isinstance(value, dict):
        inner = value.get("text", value.get("content"))
        return _texts(inner, depth + 1) if inner is not None else []
    if depth < MOST_DEPTH and isinstance(value, (list, tuple)):
        return [text for item in value for text in _texts(item, depth + 1)]
    return [] if value is None else [_shown(value)]


def _string(value: object) -> str:
    return value if isinstance(value, str) else ""


def _shown(value: object) -> str:
    try:
        return str(value)
    except RecursionError:  # nested too deep
        return ""


class Judged:
    """The turns of a conversation that were judged already, recognised by content and order."""

    __slots__ = ("places", "prints")

    def __init__(self) -> None:
        self.prints: list[int] = []
        self.places: dict[int, list[int]] = {}  # the positions of each print in `prints`

    def take_new(self, turns: Sequence[Turn]) -> list[Turn]:
        """Return the new turns, numbered by their position in the whole conversation, and remember them."""
        window = [hash((turn.role, turn.text, turn.tool, _shown(turn.tool_input))) for turn in turns]
        known = self._count_known(window)
        new = []
        for turn, print_ in zip(turns[known:], window[known:], strict=True):
            self.places.setdefault(print_, []).append(len(self.prints))
            self.prints.append(print_)
            new.append(turn.but(index=len(self.prints)))
        return new

    def _count_known(self, window: list[int]) -> int:
        """Return how many turns at the beginning of a window were judged: the longest overlap with the end."""
        # A window of several turns that occurred before is known as a whole; a single turn may well be said again.
        prints, length = self.prints, len(window)
        starts = self.places.get(window[0], ()) if window else ()
        for at in starts:
            if len(prints) - at <= length and prints[at:] == window[: len(prints) - at]:
                return len(prints) - at
        return length if length > 1 and any(prints[at : at + length] == window for at in starts) else 0


class Conversations(Generic[State]):
    """The states of conversations by id; the one that was unused longest is forgotten if there are too many."""

    def __init__(self, make: Callable[[], State]) -> None:
        self._make = make
        self._lock = allocate_lock()
        self._states: dict[str, State] = {}  # in order of their last use

    def get(self, identity: str) -> State:
        """Return the state of a conversation, new if it is not known."""
        with self._lock:
            state = self._states.pop(identity) if identity in self._states else self._make()
            self._states[identity] = state
            while len(self._states) > MOST_CONVERSATIONS:
                del self._states[next(iter(self._states))]
            return state
