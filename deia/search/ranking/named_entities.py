"""Find what a question names, and search what is around it in the graph for the rest of the question.

"What argparse imports to find the next frame" names one end of a relation and describes the other. What is named leads
to what it imports, inherits and calls, to what calls and inherits it, and to what its page links to. The passages there
that have most of the rest of the question come higher, or are found although others have more of it.
"""

from __future__ import annotations

from deia.match.keyword import ALSO, NUMBERS
from deia.match.tokeniser import words
from deia.records import TYPE_CHECKING, Record
from deia.search.question.terms import stem_weights
from deia.search.ranking.links import CODE, VERBS, WHOLE, Link, passage_at
from deia.search.ranking.weights import general_information

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from sqlite3 import Connection

    from deia.match.keyword import Filters
    from deia.search.catalog import Catalog
    from deia.search.question.terms import Question
    from deia.search.ranking.links import Place
    from deia.search.ranking.rank import Ranked
    from deia.search.stored_document import StoredDocument

# Chosen with bench/links.py, with questions of other seeds than those that are reported.
NAMED = 2.0  # strength of a link to what is named, times the share of the question that its name is
AROUND = 0.8  # strength for a passage around it that has as much of the rest of the question as the best can have
REST = 0.4  # if the rest is a smaller share of the question than this, it counts less
ORDINARY = 5.0  # nats: a word without a sign in it names something only if software texts in general use it less
LOOKED_AT = 4_000  # characters of a question
MOST_TOKENS = 40  # words that are looked up
MOST_ENTITIES = 8  # of one name
MOST_AROUND = 300  # relations of an entity, of each kind
MOST_PASSAGES = 20  # around what is named, that count
HEADING = 6  # lines from where something is defined to where that is described
BEYOND = 200  # passages that are looked through for these
SIGNS = "\"'`()[]{}<>,;:!?."
ENTITIES = """select entities.id, documents.name, iif(entities.type = 'MODULE', 0, places.first) from entities
    join places on places.entity = entities.id join documents on documents.id = places.document
    where entities.id in (select id from entities where name = :name and not shared union
    select entities.id from aliases join entities on entities.name = aliases.target where aliases.name = :name)
    order by 2, 3 limit :most"""
WAYS = (
    """select documents.name, iif(entities.type = 'MODULE', 0, places.first),
    relations.type, refs.line, refs.target, :name from relations
    join refs on refs.id = relations.ref join entities on entities.id = relations.target
    join places on places.entity = entities.id join documents on documents.id = places.document
    where relations.source = :entity and relations.type in ('IMPORTS', 'INHERITS', 'CALLS') limit :most""",
    """select documents.name, refs.line, relations.type, refs.line, refs.target, documents.name
    from relations join refs on refs.id = relations.ref join documents on documents.id = refs.document
    where relations.target = :entity and relations.type in ('CALLS', 'INHERITS') limit :most""",
    """select documents.name, places.first, relations.type, refs.line, refs.target, :name
    from (select refs.id, line, target from documents join refs on refs.document = documents.id
    where name = :name and type = 'LINKS_TO' order by abs(line - :line) limit :most) refs
    join relations on relations.ref = refs.id join places on places.entity = relations.target
    join documents on documents.id = places.document limit :most""",
)


class Named(Record):
    """An entity that a question names, where it is defined, and the share of the question that its name is."""

    entity: int
    name: str
    document: StoredDocument
    line: int  # 0 for all of the document
    share: float


def named_links(
    database: Connection, catalog: Catalog, question: Question, ranked: Sequence[Ranked], filters: Filters
) -> dict[Place, Link]:
    """Return the strongest link to each passage that the question names, or that is around what it names."""
    strongest: dict[Place, Link] = {}
    best = max((document.words for document in ranked), default=0.0)
    for named in _named(database, catalog, question) if best else ():
        ordinal = passage_at(named.document, named.line)
        place = _place(named.document, ordinal) if named.line else (named.document.number, WHOLE)
        why = f"{named.name} is named in the question"
        links = {place: Link(ordinal=ordinal, strength=NAMED * named.share, why=why)}
        if named.share < 1:
            links |= _around(database, catalog, question, named, best, filters)
        for place, link in links.items():
            if place not in strongest or link.strength > strongest[place].strength:
                strongest[place] = link
    return strongest


def _named(database: Connection, catalog: Catalog, question: Question) -> Iterator[Named]:
    """Yield what a question names by its exact name."""
    known = {term.typed: term.information for term in question.terms if term.part}
    whole = sum(known.values()) or 1.0
    text = question.text[:LOOKED_AT].encode("utf-8", "replace").decode()
    tokens = dict.fromkeys(token.strip(SIGNS) for token in text.split())
    for token in [token for token in tokens if _is_name(token, catalog)][:MOST_TOKENS]:
        parts = {part for word in words(token) for part in (word[1:] or word)}
        share = sum(known.get(part, 0.0) for part in parts) / whole
        for entity, name, first in database.execute(ENTITIES, {"name": token, "most": MOST_ENTITIES}).fetchall():
            document = catalog.document(name)
            if document is not None and document.passages:
                yield Named(entity=entity, name=token, document=document, line=first, share=share)


def _is_name(token: str, catalog: Catalog) -> bool:
    """Return whether a word may name something: with a sign or a capital inside, or not used in general."""
    if any(sign in token for sign in "._:") or token[1:] != token[1:].lower():
        return True
    stems = catalog.keyword.stems([token.lower()]) if token.isidentifier() else []
    return bool(stems) and min(general_information(stems).values()) >= ORDINARY


def _around(
    database: Connection, catalog: Catalog, question: Question, named: Named, best: float, filters: Filters
) -> dict[Place, Link]:
    """Return links to the passages around what is named that have most of the rest of the question."""
    reasons = _reasons(database, catalog, named)
    among = {**filters, ALSO * (1 + len(filters)) + NUMBERS: frozenset(number for number, _ in reasons)}
    parts = {part for word in words(named.name) for part in word}
    rest = question.but(terms=tuple(term for term in question.terms if term.typed not in parts))
    most = best * max(REST, 1 - named.share)
    hits = catalog.keyword.passages(stem_weights(rest), filters=among, limit=BEYOND) if reasons else []
    links: dict[Place, Link] = {}
    for number, ordinal, score in hits:
        document = catalog.document_at(number)
        reason = reasons.get((number, ordinal)) or reasons.get((number, WHOLE))
        place = _place(document, ordinal)
        if reason and place not in links:
            links[place] = Link(ordinal=ordinal, strength=AROUND * min(1.0, score / most), why=reason)
            if len(links) == MOST_PASSAGES:
                break
    return links


def _reasons(database: Connection, catalog: Catalog, named: Named) -> dict[Place, str]:
    """Return the passages around an entity, or whole documents, each with what to say of it."""
    source = named.document
    parameters = {"entity": named.entity, "name": source.entry.id, "line": named.line, "most": MOST_AROUND}
    reasons: dict[Place, str] = {}
    rows = [row for way in WAYS for row in database.execute(way, parameters).fetchall()]
    documents = catalog.documents_by_id({row[0] for row in rows})
    for name, at, kind, line, target, where in rows:
        document = documents.get(name)
        if document is not None and document.passages:
            for ordinal in {passage_at(document, at), passage_at(document, at + HEADING)} if at else {WHOLE}:
                place = (document.number, ordinal)
                reasons.setdefault(place, f"{target} is {VERBS[kind]} in {where}, line {line}")
    return reasons


def _place(document: StoredDocument, ordinal: int) -> Place:
    return (document.number, ordinal if document.type == CODE else WHOLE)
