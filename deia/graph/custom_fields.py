"""Values of the fields that a schema names: at the head of documents, in the entries of an index, in YAML and JSON.

A head or an entry whose `type` is one of the schema's describes an entity, named by `name` or the document's title. Its
keys that are relation types in small letters name the targets: `uses: [Kafka, {name: Redis, protocol: tcp}]`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from deia.fast_json import Json
from deia.graph.facts import Entity, Facts, Reference
from deia.graph.marked_data import Map, read_marked, walk
from deia.graph.prose_relations import CONCEPT
from deia.graph.schema import Schema, field_values

LONGEST_HEAD = 200  # lines
MOST_NAME = 200  # characters
MOST_TARGETS = 200  # per key
MARKS = ("labels", "annotations")  # where compose files and manifests keep keys that their own tools do not know


def head_facts(text: str, title: str, schema: Schema) -> Facts:
    """Return what a text's front matter says about the document and the entity that it describes."""
    rows = text.split("\n", LONGEST_HEAD)[:LONGEST_HEAD]
    end = next((at for at, row in enumerate(rows) if at and row.rstrip() in {"---", "..."}), 0)
    if not end or rows[0].rstrip() != "---":
        return Facts()
    head = next(iter(read_marked("\n".join(["", *rows[1:end]]))), None)  # the empty line keeps the line numbers right
    return described(head, title, schema, line=1, lines=head.lines) if isinstance(head, Map) else Facts()


def described(
    written: Mapping[str, Json], title: str, schema: Schema, *, line: int, lines: Mapping[str, int] = {}
) -> Facts:
    """Return what fields say about a document and the entity it describes; `lines` has the line of each field."""
    fields = field_values(schema.document_fields, written)
    kind, name = str(written.get("type", "")).upper(), written.get("name") or title
    if kind not in schema.entity_types or not isinstance(name, str) or not name.strip():
        return Facts(fields=fields)
    name, at = name.strip()[:MOST_NAME], lines.get("type", line)
    about = str(written.get("description") or "").partition("\n")[0][:MOST_NAME]
    entity = Entity(name, kind, at, at, about, field_values(schema.entity_fields, written), shared=True)
    references = tuple(
        Reference(
            relation, target, lines.get(relation.lower(), at), name, CONCEPT,
            fields=tuple(field_values(schema.relation_fields, values).items()),
        )
        for relation in schema.relation_types
        for target, values in _targets(written.get(relation.lower()))
    )  # fmt: skip
    return Facts(entities=(entity,), references=references, fields=fields)


def _targets(value: Json) -> Iterator[tuple[str, Mapping[str, Json]]]:
    for item in value[:MOST_TARGETS] if isinstance(value, list) else [value]:
        values = item if isinstance(item, dict) else {"name": item}
        if isinstance(name := values.get("name"), str) and name.strip():
            yield name.strip()[:MOST_NAME], values


def with_fields(facts: Facts, parts: Sequence[Any], schema: Schema) -> Facts:
    """Return the facts of YAML or JSON with the fields that the maps of their entities and relations hold."""
    if not (schema.document_fields or schema.entity_fields or schema.relation_fields):
        return facts
    maps: dict[tuple[int, str], Map] = {}  # by the line and name of the key that holds the map
    for part in parts:
        for data, key, line in walk(part):
            if isinstance(data[key], Map):
                maps.setdefault((line, key.casefold()), data[key])
            if key == "apiVersion":
                maps.setdefault((line, ""), data)

    def values(fields: Mapping[str, Any], name: str, line: int) -> dict[str, Json]:
        """Return the values in the map of the entity or relation that has this name and begins on this line."""
        folded = name.casefold()
        keys = (folded, folded.rpartition(".")[2], folded.partition(" ")[0], "")
        own_map = next((maps[line, key] for key in keys if (line, key) in maps), Map())
        return field_values(fields, _written(own_map))

    return facts._replace(
        fields=field_values(schema.document_fields, parts[0]) if parts else {},
        entities=tuple(
            entity._replace(fields={**entity.fields, **values(schema.entity_fields, entity.name, entity.first)})
            for entity in facts.entities
        ),
        references=tuple(
            reference._replace(fields=tuple(values(schema.relation_fields, reference.target, reference.line).items()))
            for reference in facts.references
        ),
    )


def _written(data: Map) -> dict[str, Json]:
    """Return the values of a map; its own take precedence over those of its labels and annotations."""
    marks: dict[str, Json] = {}
    for holder in (data.map("metadata"), data):
        for key in MARKS:
            listed = (mark.partition("=")[::2] for mark, _ in holder.items_at(key) if isinstance(mark, str))
            marks |= dict(listed) | holder.map(key)
    return marks | {key.removeprefix("x-"): value for key, value in data.items()}
