"""Immutable, typed values that travel between the parts of deia, and their base class `Record`.

The hook imports this module, so it imports nothing itself: `dataclasses` costs 16 ms and `typing` 3 to 10 ms, these
classes less than 1 ms. `Record` gives a class `__slots__`, a keyword-only constructor, equality, a representation and
immutability. Type checkers see an ordinary frozen dataclass.
"""

from __future__ import annotations

# Only type checkers read these imports: importing `typing` at run time would double the hook's start-up time.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, Literal, Self, dataclass_transform

    Role = Literal["user", "assistant", "tool_call", "tool_result", "system"]
    Urgency = Literal["critical", "high", "medium", "low"]
    Action = Literal["note", "warn", "ask", "hold"]
    Mode = Literal["full_context", "summary_only"]

URGENCIES: tuple[Urgency, ...] = ("critical", "high", "medium", "low")
ACTIONS: tuple[Action, ...] = ("note", "warn", "ask", "hold")
STOPPING = frozenset(("ask", "hold"))  # those that stop a call
MODES: tuple[Mode, ...] = ("full_context", "summary_only")
UNTRUSTED = "untrusted"  # the origin of triggers of a commons that the person does not trust
TIMINGS = ("pre-action", "on-error", "post-action")
ROLES: tuple[Role, ...] = ("user", "assistant", "tool_call", "tool_result", "system")
STATUSES = ("experimental", "test", "stable", "deprecated")
STANCES = (
    "announced", "requested", "running", "negated", "reported", "done", "asked", "supposed", "quoted", "dry_run",
)  # fmt: skip

_set = object.__setattr__


class _RecordType(type):
    """The metaclass of records: turns annotated names into slots, and their values into defaults."""

    if TYPE_CHECKING:
        FIELDS: tuple[str, ...]
        DEFAULTS: dict[str, object]

    def __new__(cls, name: str, bases: tuple[_RecordType, ...], body: dict[str, Any]) -> _RecordType:
        names = tuple(body.get("__annotations__", ()))
        defaults = {field: body.pop(field) for field in names if field in body}
        body["FIELDS"] = (*(bases[0].FIELDS if bases else ()), *names)
        body["DEFAULTS"] = {**bases[0].DEFAULTS, **defaults} if bases else defaults
        body["__slots__"] = names
        return super().__new__(cls, name, bases, body)


class _Record(metaclass=_RecordType):
    if TYPE_CHECKING:
        FIELDS: tuple[str, ...]
        DEFAULTS: dict[str, object]

    def __init__(self, **values: object) -> None:
        for name in self.FIELDS:
            if name in values:
                _set(self, name, values.pop(name))
            elif name in self.DEFAULTS:
                _set(self, name, self.DEFAULTS[name])
            else:
                raise TypeError(f"{type(self).__name__} needs {name}")
        if values:
            raise TypeError(f"{type(self).__name__} has no {', '.join(values)}")

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

    def __setstate__(self, state: tuple[None, dict[str, object]]) -> None:
        for name, value in state[1].items():
            _set(self, name, value)

    def but(self, **changes: object) -> _Record:
        """Return a copy with some fields changed."""
        return type(self)(**{**self.values(), **changes})

    def values(self) -> dict[str, object]:
        """Return the fields as a dictionary, in order of declaration."""
        return {name: getattr(self, name) for name in self.FIELDS}


if TYPE_CHECKING:

    @dataclass_transform(kw_only_default=True, frozen_default=True)
    class _Checked(type):
        """The metaclass that type checkers see."""

    class Record(metaclass=_Checked):
        """An immutable value with named fields, declared as annotations in the class body."""

        def but(self, **changes: object) -> Self:  # noqa: ARG002 - for the checker only
            """Return a copy with some fields changed."""
            return self

        def values(self) -> dict[str, Any]:
            """Return the fields as a dictionary, in order of declaration."""
            return {}
else:
    Record = _Record


class Turn(Record):
    """One turn of a conversation: a message, a tool call or its result."""

    role: Role
    text: str
    tool: str = ""
    tool_input: Mapping[str, object] | None = None
    failed: bool = False  # a tool_result that reports an error
    index: int = 1  # position in the conversation, from 1
