"""Facts of a commons itself: the documents of its master index, and the triggers that show them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from deia.fast_json import Json
from deia.graph.custom_fields import described
from deia.graph.facts import DOCUMENT, Alias, Entity, Facts, Reference
from deia.graph.schema import Schema
from deia.knowledge import Entry, Trigger

TRIGGER, TEAM = "TRIGGER", "TEAM"
# The fields of an entry that name shared things, each with the type of the thing and of the relation to it.
NAMED = {
    "platforms": ("PLATFORM", "ON_PLATFORM"),
    "clusters": ("CLUSTER", "IN_CLUSTER"),
    "tags": ("TAG", "TAGGED"),
    "audience": ("AUDIENCE", "FOR_AUDIENCE"),
}
OWNER_FIELDS = ("owner", "owners", "team", "teams", "maintainer", "maintainers")


def index_facts(entries: Sequence[Entry], schema: Schema) -> Facts:
    """Return what a master index says about its documents, each on the line of its entry."""
    paths = {entry.id: entry.path for entry in entries}
    entities: list[Entity] = []
    references: list[Reference] = []
    for entry in entries:
        facts = described(entry.extra, entry.title, schema, line=entry.line)
        entities.append(Entity(entry.path, DOCUMENT, entry.line, entry.line, entry.title, facts.fields, shared=True))
        entities += facts.entities
        references += [*facts.references, *_references(entry, paths)]
        for owner in _owners(entry.extra):
            entities.append(Entity(owner, TEAM, entry.line, entry.line, shared=True))
            references.append(Reference("OWNS", entry.path, entry.line, owner, DOCUMENT))
    aliases = tuple(Alias(entry.id, entry.path) for entry in entries if entry.id != entry.path)
    return Facts(entities=tuple(entities), references=tuple(references), aliases=aliases)


def _references(entry: Entry, paths: Mapping[str, str]) -> Iterator[Reference]:
    for field, (kind, relation) in NAMED.items():
        yield from (Reference(relation, name, entry.line, entry.path, kind) for name in getattr(entry, field))
    for other in entry.related_docs:
        if other in paths:
            yield Reference("RELATED_TO", paths[other], entry.line, entry.path, DOCUMENT)


def _owners(extra: Mapping[str, Json]) -> Iterator[str]:
    for field in OWNER_FIELDS:
        value = extra.get(field)
        yield from (name for name in (value if isinstance(value, list) else [value]) if isinstance(name, str) and name)


def trigger_facts(triggers: Iterable[Trigger], paths: Mapping[str, str]) -> Facts:
    """Return which documents the triggers of a file show; `paths` maps documents' ids and paths to their paths."""
    entities: list[Entity] = []
    references: list[Reference] = []
    for trigger in triggers:
        entities.append(Entity(trigger.id, TRIGGER, trigger.line, trigger.line, trigger.title))
        for document in trigger.documents:
            path = paths.get(document.id)
            if path:
                references.append(Reference("SHOWS", path, trigger.line, trigger.id, DOCUMENT))
    return Facts(entities=tuple(entities), references=tuple(references))
