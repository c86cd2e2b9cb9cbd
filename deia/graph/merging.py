"""Entities that may be one: proposals for a person, each with what speaks for it. Nothing is merged unasked.

Only what is shared between documents can be merged, since a class or a section is what its document defines.
"""

from __future__ import annotations

from collections import defaultdict
from hashlib import blake2b
from itertools import pairwise

from deia.graph.graph_store import SAME, shared_key
from deia.graph.model_proposals import SAME_AS
from deia.graph.names import spelling
from deia.records import TYPE_CHECKING, Record

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from deia.graph.graph_store import Graph

# What is known by its exact name: two spellings are two things.
EXACT = ("ACTION", "COMMAND", "DOCUMENT", "ERROR", "IMAGE", "LABEL", "PACKAGE")
SHARED = f"""select entities.id, name, type, (select count(*) from places where entity = entities.id) named
    from entities where shared and type not in {EXACT} order by name"""  # noqa: S608 - constants
ALIKE = f"""select relations.source, relations.target,
    'a document says so: ' || documents.name || ':' || line || ' ' || refs.description
    from relations join refs on refs.id = ref join documents on documents.id = refs.document
    where relations.type = '{SAME_AS}'
    union select a.id, b.id, 'an alias: ' || documents.name from aliases
    join documents on documents.id = aliases.document
    join entities a on a.name = aliases.name and a.shared join entities b on b.name = target and b.shared
    where a.id != b.id order by 1, 2, 3"""  # noqa: S608 - constants


class Merge(Record):
    """Two entities of which the first is to become another name of the second."""

    name: str
    type: str
    into: str
    into_type: str
    because: str

    @property
    def id(self) -> str:
        """What a person types: the same two have the same."""
        return f"merge-{blake2b(repr(self.keys).encode('utf-8', 'replace'), digest_size=3).hexdigest()}"

    @property
    def keys(self) -> tuple[str, str]:
        """The keys of both in the graph."""
        return shared_key(self.type, self.name), shared_key(self.into_type, self.into)

    def __str__(self) -> str:
        return f"{self.id}  {self.type} {self.name} is {self.into_type} {self.into}: {self.because}"


def proposed_merges(graph: Graph) -> list[Merge]:
    """Return the merges for which something speaks: another spelling, an alias, or what a document or a model says."""
    shared = {row[0]: row for row in graph.database.execute(SHARED)}
    pairs = [*_spelled_alike(shared), *graph.database.execute(ALIKE)]
    found: dict[str, Merge] = {}
    for one, other, because in pairs:
        if one in shared and other in shared:
            # What fewer documents name becomes the other name of what more do.
            lesser, greater = sorted((shared[one], shared[other]), key=lambda row: (row[3], -len(row[1]), row[1]))
            merge = Merge(name=lesser[1], type=lesser[2], into=greater[1], into_type=greater[2], because=because)
            found.setdefault(merge.id, merge)
    return list(found.values())


def _spelled_alike(shared: Mapping[int, tuple[int, str, str, int]]) -> Iterator[tuple[int, int, str]]:
    alike: dict[tuple[str, str], list[int]] = defaultdict(list)
    for entity, name, kind, _ in shared.values():
        alike[SAME.get(kind, kind), spelling(name)].append(entity)
    for group in alike.values():
        for one, other in pairwise(sorted(group, key=lambda entity: -shared[entity][3])):
            yield one, other, "the same but for case, signs or the plural"


def followed(merges: Mapping[str, str], key: str) -> str:
    """Return the key of what an entity is part of after some merges."""
    seen = {key}
    while (into := merges.get(key)) is not None and into not in seen:
        seen.add(into)
        key = into
    return key
