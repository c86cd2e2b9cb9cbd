"""What a document says that belongs in the graph: entities, references to others, and names that stand for names.

Facts are those of one document alone; what a name in it leads to is decided when the graph is made. They are plain
tuples, because they travel as JSON from the process that reads untrusted documents.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from deia.fast_json import Json
from deia.records import Record

DOCUMENT, MODULE, PACKAGE = "DOCUMENT", "MODULE", "PACKAGE"
# How sure it is that a reference leads where a relation says, the surest first.
CERTAINTIES = RESOLVED, BY_NAME, MENTIONED = ("resolved", "by name", "mentioned")


class Page(Record):
    """A document as extractors see it."""

    name: str
    type: str  # one of `deia.ingest.reading.TYPES`
    text: str
    language: str = ""
    module: str = ""  # the name by which Python imports it
    anchors: Sequence[tuple[str, int]] = ()  # of a page that is not Markdown
    links: Sequence[tuple[str, int]] = ()
    title: str = ""
    schema: Mapping[str, object] = {}  # as it is written


class Entity(NamedTuple):
    """A thing that a document defines or names.

    A `shared` entity (a service, a tag, a package) is the same thing in whatever document names it, identified by its
    type and its name in any case. Any other (a class, a section) belongs to its document.
    """

    name: str  # qualified, such as json.decoder.JSONDecoder
    type: str  # in capitals: CLASS, SERVICE, ...
    first: int = 0  # its lines in the document, from 1; 0 if it has none
    last: int = 0
    description: str = ""
    fields: Mapping[str, Json] = {}
    shared: bool = False


class Reference(NamedTuple):
    """A relation from something in a document to something that is known by name only."""

    type: str  # in capitals: IMPORTS, CALLS, USES, ...
    target: str  # the name, as far as this document tells it
    line: int = 0
    source: str = ""  # the name of an entity of this document; "" for the document itself
    target_type: str = ""  # the type of a shared entity, which then need not be declared anywhere
    certainty: str = RESOLVED  # the most that the relation can have
    description: str = ""
    otherwise: str = ""  # the package that is meant if nothing has the name of the target
    fields: Sequence[Sequence[Json]] = ()  # of the relation, each a name and a value


class Alias(NamedTuple):
    """A name by which others may refer to something that is defined elsewhere."""

    name: str
    target: str


class Facts(NamedTuple):
    """The facts of one document."""

    module: str = ""  # the name by which others import it, "" if none does
    entities: tuple[Entity, ...] = ()
    references: tuple[Reference, ...] = ()
    aliases: tuple[Alias, ...] = ()
    fields: Mapping[str, Json] = {}  # of the document itself


def joined(first: Facts, second: Facts) -> Facts:
    """Return what two readings of one document say together."""
    module = first.module or second.module
    entities, references = first.entities + second.entities, first.references + second.references
    return Facts(module, entities, references, first.aliases + second.aliases, {**second.fields, **first.fields})


def facts_from(values: Any) -> Facts:
    """Return facts from decoded JSON; raise TypeError or ValueError if it has another shape."""
    module, entities, references, aliases, fields = values
    return Facts(
        str(module),
        tuple(Entity(*row) for row in entities),
        tuple(Reference(*row) for row in references),
        tuple(Alias(*row) for row in aliases),
        dict(fields),
    )
