"""The arguments of a tool's call, checked against the tool's schema; all problems are reported at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from jsonschema import Draft202012Validator, ValidationError, validators
from jsonschema.protocols import Validator

from deia.errors import QueryError
from deia.fast_json import Json
from deia.serve.server.tool_schemas import MOST_CONVERSATION, MOST_SHORT, MOST_TEXT, Inputs, Schema, Tool
from deia.suggestions import did_you_mean

LONG = frozenset(("text", "content", "query"))  # parameters that contain more than a name
MOST_ITEMS = 2_000
MOST_NUMBER = 1_000_000
MOST_DEPTH = 40  # of the blocks of a conversation; tool inputs nest a few levels
MOST_SHOWN = 60  # characters of a wrong name or value that a message repeats


# JSON Schema would also accept 3.0 as an integer.
_TYPES = Draft202012Validator.TYPE_CHECKER.redefine(
    "integer", lambda _checker, value: isinstance(value, int) and not isinstance(value, bool)
)
_Validator: type[Validator] = validators.extend(Draft202012Validator, type_checker=_TYPES)  # type: ignore[no-untyped-call]  # its stubs lack a signature


def checked(tool: Tool, arguments: Mapping[str, Json] | None) -> Mapping[str, Json]:
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
    if size > MOST_CONVERSATION:
        return f"has {size} characters; at most {MOST_CONVERSATION} are accepted: pass only the last turns"
    return ""


def _describe(error: ValidationError, schema: Schema) -> str:
    instance: object = error.instance
    wanted: Any = error.validator_value
    where = "has an item that " if error.path else ""
    if error.validator == "enum":
        return f"is {_excerpt(instance)}; it must be one of {', '.join(wanted)}"
    if error.validator in ("type", "anyOf"):
        kinds = wanted if isinstance(wanted, str) else " or ".join(kind["type"] for kind in wanted)
        return f"{where}is {_excerpt(instance)}; it must be of type {kinds}"
    if error.validator in ("maxLength", "maxItems") and isinstance(instance, (str, list)):
        unit = "characters" if isinstance(instance, str) else "items"
        return f"has {len(instance)} {unit}; at most {wanted} are accepted"
    return f"is {_excerpt(instance)}; it must be between {schema['minimum']} and {schema['maximum']}"


def _excerpt(value: object) -> str:
    shown = repr(value[:MOST_SHOWN] if isinstance(value, str) else value)
    return shown if len(shown) <= MOST_SHOWN + 2 else f"{shown[:MOST_SHOWN]}…"


def _children(value: Json) -> Iterator[Json]:
    if isinstance(value, dict):
        yield from value.values()
    elif isinstance(value, list):
        yield from value


def _is_deeper(value: Json, levels: int) -> bool:
    """Return whether a value is nested deeper than `levels`, without descending further."""
    children = list(_children(value))
    return bool(children) and (levels == 0 or any(_is_deeper(child, levels - 1) for child in children))


def _size(value: Json) -> int:
    """Return the number of characters in a value that is not nested deeply."""
    return len(value) if isinstance(value, str) else sum(map(_size, _children(value)))


def _usage(inputs: Inputs) -> str:
    optional = ", ".join(name for name in inputs.properties if name not in inputs.required)
    return f"Required: {', '.join(inputs.required) or 'nothing'}. Optional: {optional or 'nothing'}."
