"""Values of the fields that a schema names: at the head of documents, in the entries of an index, in YAML and JSON.

A head or an entry whose `type` is one of the schema's describes an entity: by `name`, or the document's title. Its keys
that are types of relations in small letters lead to others: `uses: [Kafka, {name: Redis, protocol: tcp}]`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from deia.graph.facts import Entity, Facts, Reference
from deia.graph.marked_data import Map, read_marked, walk
from deia.graph.prose_relations import CONCEPT
from deia.graph.schema import field_values

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from deia.fast_json import Json
    from deia.graph.schema import Schema

LONGEST_HEAD = 200  # lines
MOST_NAME = 200  # characters
MOST_TARGETS = 200  # of a key
MARKS = ("labels", "annotations")  # where compose files and manifests keep what their readers do not know


def head_facts(text: str, title: str, schema: Schema) -> Facts:
    """Return what the front matter of a text says of the document and of what this describes."""
    rows = text.split("\n", LONGEST_HEAD)[:LONGEST_HEAD]
    end = next((at for at, row in enumerate(rows) if at and row.rstrip() in {"---", "..."}), 0)
    if not end or rows[0].rstrip() != "---":
        return Facts()
    head = next(iter(read_marked("\n".join(["", *rows[1:end]]))), None)  # so that lines have their numbers
    return described(head, title, schema, line=1, lines=head.lines) if isinstance(head, Map) else Facts()


def described(
    written: Mapping[str, Json], title: str, schema: Schema, *, line: int, lines: Mapping[str, int] = {}
) -> Facts:
    """Return what fields say of a document and of what it describes; `lines` are those of single fields."""
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
            fields=tuple(field_values(schema.relation_fields, given).items()),
        )
        for relation in schema.relation_types
        for target, given in _targets(written.get(relation.lower()))
    )  # fmt: skip
    return Facts(entities=(entity,), references=references, fields=fields)


def _targets(value: Json) -> Iterator[tuple[str, Mapping[str, Json]]]:
    for item in value[:MOST_TARGETS] if isinstance(value, list) else [value]:
        given = item if isinstance(item, dict) else {"name": item}
        if isinstance(name := given.get("name"), str) and name.strip():
            yield name.strip()[:MOST_NAME], given


def with_fields(facts: Facts, parts: Sequence[Any], schema: Schema) -> Facts:
    """Return the facts of YAML or JSON with the fields that stand in the maps of entities and relations."""
    if not (schema.document_fields or schema.entity_fields or schema.relation_fields):
        return facts
    maps: dict[tuple[int, str], Map] = {}  # by the line and the name of the key that holds them
    for part in parts:
        for data, key, line in walk(part):
            if isinstance(data[key], Map):
                maps.setdefault((line, key.casefold()), data[key])
            if key == "apiVersion":
                maps.setdefault((line, ""), data)

    def values(fields: Mapping[str, Any], name: str, line: int) -> dict[str, Json]:
        """Return the values in the map of something that has a name and begins on a line."""
        folded = name.casefold()
        keys = (folded, folded.rpartition(".")[2], folded.partition(" ")[0], "")
        found = next((maps[line, key] for key in keys if (line, key) in maps), Map())
        return field_values(fields, _written(found))

    return facts._replace(
        fields=field_values(schema.document_fields, parts[0]) if parts else {},
        entities=tuple(
            each._replace(fields={**each.fields, **values(schema.entity_fields, each.name, each.first)})
            for each in facts.entities
        ),
        references=tuple(
            each._replace(fields=tuple(values(schema.relation_fields, each.target, each.line).items()))
            for each in facts.references
        ),
    )


def _written(data: Map) -> dict[str, Json]:
    """Return the values of a map, its own before those of its labels and annotations."""
    found: dict[str, Json] = {}
    for holder in (data.map("metadata"), data):
        for key in MARKS:
            listed = (mark.partition("=")[::2] for mark, _ in holder.items_at(key) if isinstance(mark, str))
            found |= dict(listed) | holder.map(key)
    return found | {key.removeprefix("x-"): value for key, value in data.items()}
