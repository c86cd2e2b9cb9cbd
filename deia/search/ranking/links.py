"""Links as evidence: what the best passages refer to is ranked higher, or found although it shares no word.

A question often names only one end of a link, and the page that it names leads to the other. A link counts as much as
the passage that it is in, times the square of its line's share of the question, and less if many links lead to the same
place. Code leads to what its file imports and inherits, and to what calls and inherits it.
"""

from __future__ import annotations

import bisect
from math import log2
from operator import itemgetter

from deia import fast_json, files
from deia.match.tokeniser import words
from deia.records import TYPE_CHECKING, Record
from deia.search.ranking.rank import Ranked

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence
    from sqlite3 import Connection

    from deia.search.catalog import Catalog
    from deia.search.question.terms import Question
    from deia.search.stored_document import StoredDocument

# Chosen with bench/links.py on 400 of the questions made of CPython's documentation, and reported on others.
SEEDS = 10  # of the best passages, whose links are followed
WEIGHT = 2.0  # of a link of the best passage whose line has all of the question, where that passage's score is 1
STRUCTURE = 0.5  # of a passage of code that is related to the best one, if it has as much of the question as that one
FAN = 0.05  # how much a link counts less each time twice as many lead there
WHOLE, CODE = -1, "code"
MOST_LINKS = 200  # of a passage
MOST_FAN = 1_000  # links that are counted
DATABASE = "graph.sqlite"  # as `deia.graph.graph_store` writes it
# Relations that lead a reader on: from the line that names something to the lines that define it.
LINKS = """select refs.line, documents.name, places.first, refs.target,
    (select count(*) from (select 1 from relations others where others.target = relations.target limit ?))
    from documents source join refs on refs.document = source.id join relations on relations.ref = refs.id
    join places on places.entity = relations.target and places.document != source.id
    join documents on documents.id = places.document
    where source.name = ? and refs.line between ? and ? and relations.type in ('LINKS_TO')
    order by 1, 2, 3, 4 limit ?"""

# A relation has the type of the reference that it comes from: asking that first leaves calls aside, which are many.
# Relations between files of code, which count whatever their lines say, for files that have words of the question.
PARTS = """select distinct documents.name, refs.target, refs.line, relations.target, relations.type
    from documents source join refs on refs.document = source.id join relations on relations.ref = refs.id
    join places on places.entity = relations.target and places.document != source.id
    join documents on documents.id = places.document
    where source.name = ? and refs.type in ('IMPORTS', 'INHERITS') order by 1, 3 limit ?"""
# What calls or inherits what the passage of some lines defines, and where, as far as it is in some documents.
CALLERS = """select documents.name, found.target, found.line, found.entity, found.type from (
    select refs.document, refs.target, refs.line, own.entity, relations.type
    from documents source cross join places own on own.document = source.id
    cross join relations on relations.target = own.entity and relations.type in ('CALLS', 'INHERITS')
    join refs on refs.id = relations.ref
    where source.name = ? and own.first between ? and ? limit ?) found
    join documents on documents.id = found.document where found.document in (select value from json_each(?))"""
NUMBERS = "select id from documents where name in (select value from json_each(?))"
VERBS = {"IMPORTS": "imported", "INHERITS": "inherited", "CALLS": "called", "LINKS_TO": "referred to"}
LEADING = "select count(*) from (select 1 from relations where target = ? limit ?)"

Place = tuple[int, int]  # a document's number and, of code, the ordinal of a passage: what is ranked by itself


class Link(Record):
    """A link to a passage: how much it counts, and what to say of it."""

    ordinal: int
    strength: float
    why: str


def open_links(folder: str) -> Connection | None:
    """Return the database of links in a folder, or None if there is none that can be read."""
    if not files.exists(f"{folder}/{DATABASE}"):
        return None
    try:
        from _sqlite3 import Error, connect  # noqa: PLC0415 - `sqlite3` imports `datetime`, and costs three times this
    except ImportError:  # another Python than CPython
        from sqlite3 import Error, connect  # noqa: PLC0415 - likewise
    try:
        database: Connection = connect(f"{folder}/{DATABASE}", check_same_thread=False)
        database.execute("pragma query_only = on")
        database.execute(LINKS, (1, "", 0, 0, 1))
    except Error:
        return None
    return database


def with_links(
    catalog: Catalog,
    question: Question,
    ranked: Sequence[Ranked],
    retrieved: Sequence[Ranked],
    passing: Collection[int] | None,
    named: Mapping[Place, Link],
    *,
    seeds: int = SEEDS,
) -> list[Ranked]:
    """Return a ranking in which the links of the first `seeds` passages count; the best one stays first.

    What was `retrieved` and is not in the ranking is added if the best files of code import it. Of documents that only
    links lead to, those in `passing` are added, or all of them if it is None.
    """
    database = catalog.links
    if database is None:
        return list(ranked)
    links = _links(database, catalog, question, ranked[:seeds]) if ranked else {}
    links |= {
        place: link for place, link in named.items() if place not in links or link.strength > links[place].strength
    }
    parts = _parts(database, catalog, (*ranked, *retrieved)) if seeds else {}
    if not links and not parts:
        return list(ranked)
    top = ranked[0].score
    present = {(passage.number, passage.ordinal) for passage in ranked}
    more = [passage for passage in retrieved if (passage.number, passage.ordinal) in parts.keys() - present]
    ranked = [_linked(passage, parts.get((passage.number, passage.ordinal)), top) for passage in (*ranked, *more)]
    scored = [
        _linked(
            passage,
            links.pop((passage.number, passage.ordinal), None) or links.pop((passage.number, WHOLE), None),
            top,
        )
        for passage in ranked
    ]
    added = [
        _linked(Ranked(number=number, ordinal=link.ordinal, score=0.0), link, top)
        for (number, _), link in links.items()
        if passing is None or number in passing
    ]
    rest = sorted([*scored[1:], *added], key=lambda passage: (-passage.score, passage.number, passage.ordinal))
    most = scored[0].score
    return [scored[0], *(passage if passage.score <= most else passage.but(score=most) for passage in rest)]


def _linked(ranked: Ranked, link: Link | None, top: float) -> Ranked:
    return ranked.but(score=ranked.score + top * WEIGHT * link.strength, linked=link.why) if link else ranked


def _links(database: Connection, catalog: Catalog, question: Question, seeds: Iterable[Ranked]) -> dict[Place, Link]:
    """Return the strongest link from any of the seeds to each other passage."""
    strongest: dict[Place, Link] = {}
    found = []
    for seed in seeds:
        source = catalog.document_at(seed.number)
        parameters = (MOST_FAN, source.entry.id, *source.passages[seed.ordinal], MOST_LINKS)
        found.append((seed, source, database.execute(LINKS, parameters).fetchall()))
    pages = catalog.documents_by_id({row[1] for _, _, rows in found for row in rows})
    best = (found[0][0].score if found else 0.0) or 1.0
    for seed, source, rows in found:
        shares = _shares(question, catalog, source, {row[0] for row in rows})
        for line, name, first, target, fan in rows:
            page = pages.get(name)
            if page is None or page.number == seed.number:
                continue
            ordinal = passage_at(page, first)
            place = (page.number, ordinal if page.type == CODE else WHOLE)
            strength = seed.score / best * shares[line] ** 2 / (1 + FAN * log2(max(1, fan)))
            if strength > (strongest[place].strength if place in strongest else 0.0):
                why = (
                    f"{target.rpartition('#')[2].rpartition('/')[2]} is referred to in {source.entry.path}, line {line}"
                )
                strongest[place] = Link(ordinal=ordinal, strength=strength, why=why)
    return strongest


def _parts(database: Connection, catalog: Catalog, retrieved: Sequence[Ranked]) -> dict[Place, Link]:
    """Return the strongest link to each passage of code that is related to one of the best.

    These are what its file imports and inherits, and what calls or inherits what it defines.
    """
    by_name: dict[str, list[Ranked]] = {}
    for passage in dict.fromkeys(retrieved):
        by_name.setdefault(catalog.id(passage.number), []).append(passage)
    best = max((passage.score for passage in retrieved), default=0.0) or 1.0
    strongest: dict[Place, Link] = {}
    fans: dict[int, int] = {}

    def count(seed: Ranked, others: Iterable[Ranked], entity: int, why: str) -> None:
        for other in others:
            share = STRUCTURE / WEIGHT * seed.score / best / (1 + FAN * log2(max(1, _fan(database, fans, entity))))
            place, strength = (other.number, other.ordinal), share * other.score / best
            if other != seed and strength > (strongest[place].strength if place in strongest else 0.0):
                strongest[place] = Link(ordinal=other.ordinal, strength=strength, why=why)

    for name, passages in list(by_name.items())[:SEEDS]:
        for other, target, line, entity, kind in database.execute(PARTS, (name, MOST_LINKS)).fetchall():
            if other in by_name:
                count(passages[0], by_name[other], entity, f"{target} is {VERBS[kind]} in {name}, line {line}")
    seeds = [(seed, catalog.document_at(seed.number)) for seed in retrieved[:SEEDS]]
    numbers = fast_json.dumps([row[0] for row in database.execute(NUMBERS, (fast_json.dumps([*by_name]),))])
    for seed, source in (pair for pair in seeds if pair[1].type == CODE):
        parameters = (source.entry.id, *source.passages[seed.ordinal], MOST_LINKS, numbers)
        for other, target, line, entity, kind in sorted(database.execute(CALLERS, parameters)):
            callers = [passage for passage in by_name.get(other, ()) if _has_line(catalog, passage, line)]
            count(seed, callers, entity, f"{target} is {VERBS[kind]} in {other}, line {line}")
    return strongest


def _fan(database: Connection, known: dict[int, int], entity: int) -> int:
    """Return how many links lead to an entity, as far as they are counted."""
    if entity not in known:
        known[entity] = database.execute(LEADING, (entity, MOST_FAN)).fetchone()[0]
    return known[entity]


def _has_line(catalog: Catalog, ranked: Ranked, line: int) -> bool:
    first, last = catalog.document_at(ranked.number).passages[ranked.ordinal]
    return first <= line <= last


def _shares(
    question: Question, catalog: Catalog, document: StoredDocument, lines: Collection[int]
) -> Mapping[int, float]:
    """Return the share of a question, weighed by its words, that each line of a document contains."""
    weights = {term.typed: term.weight for term in question.terms if term.part}
    whole = sum(weights.values()) or 1.0
    first = min(lines, default=document.first_line)
    text = catalog.lines(document, first, max(lines)) if lines else []
    parts_by_line = {line: {part for word in words(text[line - first]) for part in word} for line in lines}
    return {
        line: sum(weights[word] for word in weights.keys() & parts) / whole for line, parts in parts_by_line.items()
    }


def passage_at(document: StoredDocument, line: int) -> int:
    """Return the ordinal of the innermost passage that contains a line."""
    return max(0, bisect.bisect_right(document.passages, line, key=itemgetter(0)) - 1)
