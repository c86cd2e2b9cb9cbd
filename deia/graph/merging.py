"""Proposals to merge entities that may be one, each with its reason. A person decides; nothing is merged unasked.

Only entities shared between documents can be merged, since a class or a section belongs to the document defining it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from hashlib import blake2b
from itertools import pairwise

from deia.graph.graph_store import SAME, Graph, shared_key
from deia.graph.model_proposals import SAME_AS
from deia.graph.names import spelling
from deia.records import Record

# Types whose entities are known by their exact names: two spellings are two entities.
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
    """A proposal that an entity become another name of a second one."""

    name: str
    type: str
    into: str
    into_type: str
    because: str

    @property
    def id(self) -> str:
        """The id that a person types; the same two entities always have the same one."""
        return f"merge-{blake2b(repr(self.keys).encode('utf-8', 'replace'), digest_size=3).hexdigest()}"

    @property
    def keys(self) -> tuple[str, str]:
        """The keys of both in the graph."""
        return shared_key(self.type, self.name), shared_key(self.into_type, self.into)

    def __str__(self) -> str:
        return f"{self.id}  {self.type} {self.name} is {self.into_type} {self.into}: {self.because}"


def proposed_merges(graph: Graph) -> list[Merge]:
    """Return the merges that have a reason: another spelling, an alias, or a statement of a document or a model."""
    shared = {row[0]: row for row in graph.database.execute(SHARED)}
    pairs = [*_spelled_alike(shared), *graph.database.execute(ALIKE)]
    merges: dict[str, Merge] = {}
    for first, second, because in pairs:
        if first in shared and second in shared:
            # The entity that fewer documents name becomes another name of the one that more do.
            lesser, greater = sorted((shared[first], shared[second]), key=lambda row: (row[3], -len(row[1]), row[1]))
            merge = Merge(name=lesser[1], type=lesser[2], into=greater[1], into_type=greater[2], because=because)
            merges.setdefault(merge.id, merge)
    return list(merges.values())


def _spelled_alike(shared: Mapping[int, tuple[int, str, str, int]]) -> Iterator[tuple[int, int, str]]:
    alike: dict[tuple[str, str], list[int]] = defaultdict(list)
    for entity, name, kind, _ in shared.values():
        alike[SAME.get(kind, kind), spelling(name)].append(entity)
    for group in alike.values():
        for first, second in pairwise(sorted(group, key=lambda entity: -shared[entity][3])):
            yield first, second, "the same but for case, signs or the plural"


def followed(merges: Mapping[str, str], key: str) -> str:
    """Return the key of the entity that a key stands for after some merges."""
    seen = {key}
    while (into := merges.get(key)) is not None and into not in seen:
        seen.add(into)
        key = into
    return key
