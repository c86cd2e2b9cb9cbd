"""The types of entities and relations that a team names in its settings, and the fields that they may have.

    [schema]
    entityTypes = ["SERVICE", "DATABASE", "PROTOCOL", "TEAM", "CONCEPT"]
    relationTypes = ["USES", "PRODUCES", "CONSUMES", "OWNS", "DEPENDS_ON"]

    [schema.documentFields]
    status = {type = "enum", values = ["active", "deprecated"], default = "active"}

It is data: nothing in it is run. Types that deia finds by itself (modules, classes, packages) need not be named.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from deia.errors import QueryError
from deia.fast_json import Json
from deia.graph.facts import DOCUMENT
from deia.problems import SettingsError
from deia.records import Record

ENTITY_TYPES = ("SERVICE", "DATABASE", "PROTOCOL", "TEAM", "CONCEPT")
RELATION_TYPES = ("USES", "PRODUCES", "CONSUMES", "OWNS", "DEPENDS_ON")
LISTS = {"entityTypes": "entity_types", "relationTypes": "relation_types"}
MAPS = {"documentFields": "document_fields", "entityFields": "entity_fields", "relationFields": "relation_fields"}
TYPE_NAME = re.compile(r"[A-Z][A-Z0-9_]{0,49}")
MOST_TYPES = 100
MOST_FIELDS = 100
VALUES = "values"
NUMBER = re.compile(r"-?\d{1,15}(\.\d{1,15})?", re.ASCII)
BOOLEANS = {"true": True, "false": False}
KINDS: dict[str, Callable[[object], bool]] = {
    "string": lambda value: isinstance(value, str),
    "number": lambda value: isinstance(value, (int, float)) and not isinstance(value, bool),
    "boolean": lambda value: isinstance(value, bool),
    "enum": lambda value: isinstance(value, str),
}
FIX = 'Write it as data: entityTypes = ["SERVICE"], documentFields.status = {type = "enum", values = ["active"]}'


class Field(Record):
    """The values that a field of documents, entities or relations may have."""

    type: str
    options: tuple[str, ...] = ()  # of an enum
    default: Json = None

    def holds(self, value: object) -> bool:
        """Return whether a value fits."""
        return KINDS[self.type](value) and (self.type != "enum" or value in self.options)

    def read(self, value: Json) -> Json:
        """Return a value, read from text if the field is a number or a boolean, or None if it does not fit."""
        if isinstance(value, str) and self.type == "boolean":
            value = BOOLEANS.get(value.lower())
        if isinstance(value, str) and self.type == "number" and NUMBER.fullmatch(value):
            value = float(value) if "." in value else int(value)
        return value if self.holds(value) else None

    def shown(self) -> dict[str, Json]:
        """Return the field as it is written in the settings."""
        more = {VALUES: list(self.options)} if self.options else {}
        return {"type": self.type, **more, **({} if self.default is None else {"default": self.default})}


class Schema(Record):
    """The named types, and the fields by name."""

    entity_types: tuple[str, ...] = ENTITY_TYPES
    relation_types: tuple[str, ...] = RELATION_TYPES
    document_fields: Mapping[str, Field] = {}
    entity_fields: Mapping[str, Field] = {}
    relation_fields: Mapping[str, Field] = {}

    def fields_of(self, kind: str, stored: Mapping[str, Json]) -> dict[str, Json]:
        """Return an entity's fields: what documents say, and the defaults for documents and for types named here."""
        fields = self.document_fields if kind == DOCUMENT else self.entity_fields if kind in self.entity_types else {}
        return {**_defaults(fields), **stored}

    def fields_of_relation(self, kind: str, stored: Mapping[str, Json]) -> dict[str, Json]:
        """Return a relation's fields: what documents say, and the defaults for types that are named here."""
        return {**_defaults(self.relation_fields if kind in self.relation_types else {}), **stored}

    def shown(self) -> dict[str, Json]:
        """Return the schema under the names by which it is written, for `deia://schema`."""
        lists: dict[str, Json] = {name: list(getattr(self, attribute)) for name, attribute in LISTS.items()}
        maps = {
            name: {key: field.shown() for key, field in getattr(self, attribute).items()}
            for name, attribute in MAPS.items()
        }
        return {**lists, **maps}


def field_values(fields: Mapping[str, Field], written: Mapping[str, Json]) -> dict[str, Json]:
    """Return the written values of fields, without those that do not fit their field."""
    values = {name: field.read(written[name]) for name, field in fields.items() if name in written}
    return {name: value for name, value in values.items() if value is not None}


def fields_of(typed: Iterable[str]) -> dict[str, str]:
    """Parse typed values of fields such as `status=active`; raise QueryError if one is malformed."""
    pairs = [text.partition("=") for text in typed]
    for name, equals, _value in pairs:
        if not equals or not name:
            raise QueryError(f"{name[:100]!r} is no field with a value", fix="Write it as status=active")
    return {name: value for name, _, value in pairs}


def field_text(value: Json) -> str:
    """Return the value of a field as it is typed."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _defaults(fields: Mapping[str, Field]) -> dict[str, Json]:
    return {name: field.default for name, field in fields.items() if field.default is not None}


def read_schema(written: Mapping[str, Any], where: str = "") -> Schema:
    """Return the schema of the settings, or the default one; raise SettingsError with all of its problems."""
    known = {**LISTS, **MAPS}
    problems = [f"{name!r:.80} is unknown; known are {', '.join(known)}" for name in written if name not in known]
    for name in LISTS:
        if name in written:
            problems += _type_problems(name, written[name])
    for name in MAPS:
        if name in written:
            problems += _field_problems(name, written[name])
    if problems:
        raise SettingsError(f"schema: {'; '.join(problems)}", where=where, fix=FIX)
    values: dict[str, Any] = {
        attribute: tuple(dict.fromkeys(written[name])) for name, attribute in LISTS.items() if name in written
    }
    for name, attribute in MAPS.items():
        values[attribute] = {key: _field(table) for key, table in _entries(written.get(name, {}))}
    return Schema(**values)


def _entries(value: object) -> list[tuple[str, dict[str, Json]]]:
    return list(value.items()) if isinstance(value, dict) else []


def _field(written: dict[str, Json]) -> Field:
    values = written.get(VALUES, ())
    options = tuple(map(str, values)) if isinstance(values, list) else ()
    return Field(type=str(written["type"]), options=options, default=written.get("default"))


def _type_problems(name: str, value: object) -> Iterator[str]:
    if not isinstance(value, list) or not 0 < len(value) <= MOST_TYPES:
        yield f"{name} is {value!r:.80}, wanted is a list of at most {MOST_TYPES} names in capitals"
        return
    for type_name in value:
        if not isinstance(type_name, str) or not TYPE_NAME.fullmatch(type_name):
            yield f"{name}: {type_name!r:.80} is no name in capitals, such as DATA_STORE"


def _field_problems(name: str, value: object) -> Iterator[str]:
    if not isinstance(value, dict) or len(value) > MOST_FIELDS:
        yield f"{name} is no table of at most {MOST_FIELDS} fields"
        return
    for key, table in value.items():
        yield from (f"{name}.{key}: {problem}" for problem in _problems_of(table))


def _problems_of(written: object) -> Iterator[str]:
    if not isinstance(written, dict) or written.get("type") not in [*KINDS]:
        yield f"wanted is a table with type = {' | '.join(KINDS)}"
        return
    values, default = written.get(VALUES), written.get("default")
    if unknown := sorted(set(written) - {"type", VALUES, "default"}):
        yield f"{', '.join(unknown)} is unknown; known are type, values, default"
    if (written["type"] == "enum") != bool(values):
        yield "`values` is for an enum, and an enum needs some"
    elif values and not (isinstance(values, list) and all(isinstance(option, str) for option in values)):
        yield "`values` takes a list of texts"
    elif default is not None and not _field(written).holds(default):
        yield f"the default {default!r:.80} is not a value of the field"
