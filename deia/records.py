"""The values that travel between the parts of deia: immutable, typed, cheap to import.

The hook reaches this file, so it imports nothing: `dataclasses` costs 16 ms and `typing` 3 to 10, these classes less
than one. `Record` gives a class `__slots__`, a keyword-only constructor, equality, a representation and immutability;
type checkers see an ordinary frozen dataclass.
"""

from __future__ import annotations

# `typing` is for the checker alone: importing it would double the hook's start-up.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, Literal, Self, TypeVar, dataclass_transform

    T = TypeVar("T")
    Role = Literal["user", "assistant", "tool_call", "tool_result", "system"]
    Urgency = Literal["critical", "high", "medium", "low"]
    Action = Literal["note", "warn", "ask", "hold"]
    Mode = Literal["full_context", "summary_only"]

URGENCIES = ("critical", "high", "medium", "low")
ACTIONS = ("note", "warn", "ask", "hold")
MODES = ("full_context", "summary_only")
TIMINGS = ("pre-action", "on-error", "post-action")
ROLES = ("user", "assistant", "tool_call", "tool_result", "system")
STATUSES = ("experimental", "test", "stable", "deprecated")
STANCES = ("announced", "requested", "negated", "reported", "asked", "quoted", "dry_run")

_set = object.__setattr__


class _RecordType(type):
    """Turn a class's annotated names into slots and their values into defaults, before the class is made."""

    def __new__(cls, name: str, bases: tuple[type, ...], body: dict[str, Any]) -> Any:
        names = tuple(body.get("__annotations__", ()))
        body["DEFAULTS"] = {field: body.pop(field) for field in names if field in body}
        body["__slots__"] = names
        return super().__new__(cls, name, bases, body)


class _Record(metaclass=_RecordType):
    if TYPE_CHECKING:
        __slots__: tuple[str, ...]
        DEFAULTS: dict[str, Any]

    def __init__(self, **given: Any) -> None:
        for name in self.__slots__:
            if name in given:
                _set(self, name, given.pop(name))
            elif name in self.DEFAULTS:
                _set(self, name, self.DEFAULTS[name])
            else:
                raise TypeError(f"{type(self).__name__} needs {name}")
        if given:
            raise TypeError(f"{type(self).__name__} has no {', '.join(given)}")

    def __setattr__(self, name: str, _value: object) -> None:
        raise AttributeError(f"{type(self).__name__} is immutable; use but({name}=…)")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{type(self).__name__} is immutable; use but({name}=…)")

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.values() == other.values()

    def __hash__(self) -> int:
        return hash(tuple(self.values().values()))

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={value!r}" for name, value in self.values().items())
        return f"{type(self).__name__}({shown})"

    def __setstate__(self, state: tuple[None, dict[str, Any]]) -> None:
        for name, value in state[1].items():
            _set(self, name, value)

    def but(self, **changes: Any) -> Any:
        """Give a copy with some fields changed."""
        return type(self)(**{**self.values(), **changes})

    def values(self) -> dict[str, Any]:
        """Give the fields as a dictionary, in order."""
        return {name: getattr(self, name) for name in self.__slots__}


if TYPE_CHECKING:

    @dataclass_transform(kw_only_default=True, frozen_default=True)
    class _Checked(type):
        """What the checker takes a record's type for."""

    class Record(metaclass=_Checked):
        """An immutable value with named fields: annotate them in the class body, defaults last or not."""

        def but(self, **changes: Any) -> Self:  # noqa: ARG002 - for the checker only
            """Give a copy with some fields changed."""
            return self

        def values(self) -> dict[str, Any]:
            """Give the fields as a dictionary, in order."""
            return {}
else:
    Record = _Record


def record(cls: type[T]) -> type[T]:
    """Mark a record; the base class does the work."""
    return cls


# --- what is watched ---


@record
class Turn(Record):
    """One turn of a conversation: what somebody said, or one tool call, or its result."""

    role: Role
    text: str
    tool: str = ""
    tool_input: Mapping[str, Any] | None = None
    failed: bool = False  # a tool_result that reports an error
    index: int = 1  # position in the conversation, from 1


@record
class Reference(Record):
    """A document that a trigger puts in front of the model."""

    id: str
    mode: Mode
    reason: str = ""


@record
class Clause(Record):
    """One condition of a trigger, as written."""

    kind: str  # phrase, pattern, command, error, write, tool
    value: str | Mapping[str, Any] | tuple[str, ...]
    line: int = 0


@record
class Trigger(Record):
    """A trigger as its author wrote it, checked and with its defaults filled in."""

    id: str
    title: str
    urgency: Urgency
    message: str
    documents: tuple[Reference, ...]
    who: tuple[Role, ...]
    any: tuple[Clause, ...] = ()
    all: tuple[Clause, ...] = ()
    status: str = "experimental"
    timing: str = "pre-action"
    action: Action = "note"
    action_required: str = ""
    context: tuple[str, ...] = ()
    unless: tuple[str, ...] = ()
    stance: tuple[str, ...] = ("announced", "requested")
    repeat: float = -1.0  # seconds until it may fire again; 0 is every time, negative is once a conversation
    references: tuple[str, ...] = ()
    since: str = ""
    path: str = ""  # the file it was read from, relative to the commons
    line: int = 0


@record
class Case(Record):
    """One example beside a trigger: a short conversation that must fire it, or must not."""

    trigger: str
    fires: bool
    turns: tuple[Turn, ...]
    cwd_files: tuple[str, ...] = ()
    path: str = ""
    line: int = 0


@record
class Firing(Record):
    """A trigger that matched a turn, and why."""

    trigger: str
    title: str
    urgency: Urgency
    action: Action
    timing: str
    message: str
    action_required: str
    documents: tuple[Reference, ...]
    because: str
    turn: int
    confidence: str = "high"


@record
class Injection(Record):
    """What is put in front of the model for some firings: the text, its parts, and the most a host may do."""

    text: str
    parts: tuple[Mapping[str, Any], ...]
    action: Action = "note"
    triggers: tuple[str, ...] = ()
    documents: tuple[str, ...] = ()


# --- what is known ---


@record
class Entry(Record):
    """One document as the master index describes it."""

    id: str
    path: str
    title: str
    summary: str = ""
    keywords: tuple[str, ...] = ()
    audience: tuple[str, ...] = ()
    urgency: str = ""  # "" where nobody said
    tags: tuple[str, ...] = ()
    platforms: tuple[str, ...] = ()
    clusters: tuple[str, ...] = ()  # the owner first
    related_docs: tuple[str, ...] = ()
    category: str = ""
    action: str = ""
    why_relevant: str = ""
    quick_tips: tuple[str, ...] = ()
    status: str = ""
    created: str = ""
    updated: str = ""
    verified: str = ""
    extra: Mapping[str, Any] = {}
    line: int = 0


@record
class Document(Record):
    """A document as it lies in the commons: its metadata, its text, and where the text begins."""

    path: str  # relative to the commons, with forward slashes
    title: str
    text: str  # without front-matter
    metadata: Mapping[str, Any] = {}
    first_line: int = 1  # the line of the file on which `text` begins


@record
class Chunk(Record):
    """A passage of a document, with its line range in the file."""

    document: str  # the entry's id
    ordinal: int
    heading: str
    text: str
    lines: tuple[int, int]


@record
class Query(Record):
    """A question to the commons: words and filters."""

    text: str
    platform: str = ""
    audience: str = ""
    urgency: str = ""
    cluster: str = ""
    tag: str = ""
    keywords: tuple[str, ...] = ()
    limit: int = 5


@record
class Hit(Record):
    """One matcher's opinion of one chunk."""

    document: str
    ordinal: int
    score: float
    matcher: str


@record
class Result(Record):
    """One document of an answer, fused from hits."""

    id: str
    path: str
    title: str
    summary: str
    score: float
    why_relevant: str = ""
    action: str = ""
    urgency: str = ""
    platforms: tuple[str, ...] = ()
    keywords_matched: tuple[str, ...] = ()
    lines: tuple[int, int] = (1, 1)
    passage: str = ""
    heading: str = ""
    text: str = ""  # the whole document, for renderings that quote it
