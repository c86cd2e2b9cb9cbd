"""The arguments of each tool: checked against its schema, with all problems at once, and then as records.

A record's type determines what the server does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from jsonschema import Draft202012Validator, ValidationError, validators
from jsonschema.protocols import Validator

from deia.errors import QueryError
from deia.fast_json import Json
from deia.records import Record
from deia.serve.server.tool_schemas import MOST_CONVERSATION, MOST_SHORT, MOST_TEXT, Inputs, Schema, Tool
from deia.suggestions import did_you_mean

LONG = frozenset(("text", "content", "query"))  # parameters that contain more than a name
MOST_ITEMS = 2_000
MOST_NUMBER = 1_000_000
MOST_DEPTH = 40  # of the blocks of a conversation; tool inputs nest a few levels
MOST_SHOWN = 60  # characters of a wrong name or value that a message repeats


class Arguments(Record):
    """The arguments of any tool."""


class QueryArguments(Arguments):
    """A question and its filters."""

    query: str
    platform: str = ""
    audience: str = ""
    urgency: str = ""
    cluster: str = ""
    asset_type: str = ""
    collection: str = ""
    mode: str = "natural"
    limit: int | None = None
    detail: str = "summary"


class ReadArguments(Arguments):
    """A document, and the lines of it to read, such as 12-30."""

    document: str
    lines: str = ""


class CheckArguments(Arguments):
    """A conversation to check: strings or messages."""

    conversation: tuple[str | Mapping[str, Json], ...]
    conversation_id: str = ""


class ListArguments(Arguments):
    """The filters and the page of a list of documents."""

    platform: str = ""
    audience: str = ""
    urgency: str = ""
    cluster: str = ""
    tag: str = ""
    below: str = ""  # what the paths begin with
    view: str = "sections"  # of the overview: sections, stats or tree
    limit: int = 50
    offset: int = 0

    @property
    def filters(self) -> dict[str, str]:
        """The filters that are set."""
        names = ("platform", "audience", "urgency", "cluster", "tag")
        return {name: value for name in names if (value := getattr(self, name))}


class SaveArguments(Arguments):
    """A lesson to save; `update` is the id of the document that it replaces."""

    text: str
    title: str = ""
    summary: str = ""
    platform: str = ""
    urgency: str = ""
    tags: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()
    category: str = "patterns"
    trigger: bool = False
    update: str = ""


class SuggestArguments(Arguments):
    """The text of a lesson for which a place is wanted."""

    text: str


class RemoveArguments(Arguments):
    """A document to move to the trash, or with `undo` to restore."""

    id: str
    undo: bool = False


class FeedbackArguments(Arguments):
    """A verdict on a document, a trigger or an event."""

    id: str
    verdict: str
    note: str = ""


class SourceArguments(Arguments):
    """A source to take into the library: a folder, an address, or the name of a file whose content is handed over."""

    source: str
    collection: str = ""
    branch: str = ""
    filter: str = ""
    content: str = ""
    encoding: str = ""  # of the content: base64, or "" for text


class SourcesArguments(Arguments):
    """Nothing: all sources are listed."""


class EntitiesArguments(Arguments):
    """What entities to list."""

    type: str = ""
    query: str = ""
    fields: tuple[str, ...] = ()
    limit: int = 20


class RelationsArguments(Arguments):
    """An entity whose relations are wanted."""

    entity: str
    direction: str = "both"
    limit: int = 20


class TraceArguments(Arguments):
    """An entity, and where to go from there."""

    entity: str
    direction: str = "downstream"
    max_depth: int = 5


class PathArguments(Arguments):
    """Two entities; `from` is a word of Python's."""

    start: str
    end: str
    max_depth: int = 5


class StatsArguments(Arguments):
    """Nothing: everything is counted."""


class ExportArguments(Arguments):
    """A part of the graph, and its format."""

    format: str = "json"
    type: str = ""
    limit: int = 1_000


class FolderArguments(Arguments):
    """A folder whose documents are to be added to the index."""

    path: str


def _is_whole(_checker: object, value: object) -> bool:
    """Return whether a value is an integer; JSON Schema would also accept 3.0."""
    return isinstance(value, int) and not isinstance(value, bool)


_Validator: type[Validator] = validators.extend(  # type: ignore[no-untyped-call]  # its stubs lack a signature
    Draft202012Validator, type_checker=Draft202012Validator.TYPE_CHECKER.redefine("integer", _is_whole)
)


def checked(tool: Tool, arguments: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the arguments of a call, without those that are null."""
    present = {name: value for name, value in (arguments or {}).items() if value is not None}
    problems = list(_problems(tool.inputs, present))
    if problems:
        raise QueryError(f"{tool.name}: {'; '.join(problems)}.", fix=_usage(tool.inputs))
    return present


def _problems(inputs: Inputs, arguments: Mapping[str, Json]) -> Iterator[str]:
    yield from (f"{name} is missing" for name in inputs.required if name not in arguments)
    for name, value in arguments.items():
        schema = inputs.properties.get(name)
        if schema is None:
            known = did_you_mean(name, inputs.properties) or f"known are {', '.join(inputs.properties) or 'none'}"
            yield f"there is no parameter {_excerpt(name)}, {known[:1].lower()}{known[1:]}"
        elif problem := _problem(name, value, schema):
            yield f"{name} {problem}"


def _problem(name: str, value: Json, schema: Schema) -> str:
    """Return the first problem of a value, or an empty text."""
    limits = {
        "maxLength": MOST_TEXT if name in LONG else MOST_SHORT, "maxItems": MOST_ITEMS, "minimum": 0,
        "maximum": MOST_NUMBER,
    }  # fmt: skip
    full_schema = {**limits, **schema}
    error = next(_Validator(full_schema).iter_errors(value), None)
    if error is not None:
        return _describe(error, full_schema)
    if isinstance(value, (str, int)):
        return ""
    if _is_deeper(value, MOST_DEPTH):
        return f"is nested more than {MOST_DEPTH} levels deep"
    size = _size(value)
    return (
        f"has {size} characters; at most {MOST_CONVERSATION} are accepted: pass only the last turns"
        if size > MOST_CONVERSATION
        else ""
    )


def _describe(error: ValidationError, schema: Mapping[str, Any]) -> str:
    found: Any = error.instance
    wanted: Any = error.validator_value
    where = "has an item that " if error.path else ""
    if error.validator == "enum":
        return f"is {_excerpt(found)}; it must be one of {', '.join(wanted)}"
    if error.validator == "anyOf":
        kinds = " or ".join(kind["type"] for kind in wanted)
        return f"{where}is {_excerpt(found)}; it must be of type {kinds}"
    if error.validator == "type":
        return f"{where}is {_excerpt(found)}; it must be of type {wanted}"
    if error.validator in ("maxLength", "maxItems"):
        unit = "characters" if isinstance(found, str) else "items"
        return f"has {len(found)} {unit}; at most {wanted} are accepted"
    return f"is {_excerpt(found)}; it must be between {schema['minimum']} and {schema['maximum']}"


def _excerpt(value: object) -> str:
    shown = repr(value[:MOST_SHOWN] if isinstance(value, str) else value)
    return shown if len(shown) <= MOST_SHOWN + 2 else f"{shown[:MOST_SHOWN]}…"


def _children(value: Json) -> Iterator[Json]:
    if isinstance(value, dict):
        yield from value.values()
    elif isinstance(value, list):
        yield from value


def _is_deeper(value: Json, levels: int) -> bool:
    """Return whether a value is nested deeper than so many levels, without descending further."""
    children = list(_children(value))
    return bool(children) and (levels == 0 or any(_is_deeper(child, levels - 1) for child in children))


def _size(value: Json) -> int:
    """Return the number of characters in a value that is not nested deeply."""
    return len(value) if isinstance(value, str) else sum(map(_size, _children(value)))


def _usage(inputs: Inputs) -> str:
    optional = ", ".join(name for name in inputs.properties if name not in inputs.required)
    return f"Required: {', '.join(inputs.required) or 'nothing'}. Optional: {optional or 'nothing'}."
