"""Compile the search catalog: a keyword index of passages, a shelf of metadata and texts, a vocabulary.

The same commons gives the same ranking. Where few documents of a large commons changed, the previous catalog is
carried over and only those are compiled again. It refuses to touch anything but the folder it is given, which the
caller swaps in as a whole; the header is written last, so that a catalog cut short is not taken for one.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections import Counter

import tantivy

from deia import fast_json
from deia.compile.abbreviations import concepts_source, counted
from deia.compile.encoding import ALWAYS, TIER, UNASKED, Effort, LaterWriter
from deia.compile.rows import about, row_of
from deia.compile.shelf import DIGEST_SIZE, ShelfWriter, Volume, digest, printable, volumes
from deia.compile.vectors import VectorWriter
from deia.compile.vocabulary import vocabulary_bytes
from deia.errors import ArtefactError
from deia.ingest.chunker import chunk_document
from deia.match.fuzzy import worth_keeping
from deia.match.keyword import ANALYSER, analyser, key, schema
from deia.match.semantic import kind_of, open_tier
from deia.match.terms import distinct, question, terms
from deia.records import TYPE_CHECKING, Record
from deia.search.catalog import (
    CONCEPTS,
    DIGESTS,
    FORMAT,
    HEADER,
    KEYWORD,
    NEW_WORDS,
    PATTERNS,
    WORDS,
    Catalog,
    open_catalog,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any

    from deia.commons.index_records import Cluster, Concept, QueryPattern
    from deia.knowledge import Document, Entry
    from deia.match.semantic import Tier

TIERS = ("static",)  # made unless said otherwise: the sentence model takes a thousand times as long for a passage
WRITER_BYTES = 256_000_000
INCREMENTAL_FROM = 5_000  # chunks; a smaller catalog is compiled whole in about a second
FEW = 20  # one document in so many may have changed
MOST_NEW_WORDS = 5_000
LOCKS = (".tantivy-writer.lock", ".tantivy-meta.lock")


class CatalogReport(Record):
    """What a compile did."""

    documents: int
    chunks: int
    compiled: int  # documents read and indexed in this run
    removed: int = 0
    incremental: bool = False
    tiers: tuple[str, ...] = ()  # whose vectors are in it


class _Plan(Record):
    """What an incremental compile has to do; numbers are those of the previous catalog."""

    previous: Catalog
    tiers: tuple[str, ...]
    holes: frozenset[int]  # without a document from now on, or before
    changed: Mapping[int, Volume]
    new: tuple[Volume, ...]
    removed: tuple[str, ...]


def build_catalog(  # noqa: PLR0913 - what a commons holds, and where it goes
    entries: Iterable[Entry],
    documents: Iterable[Document],
    clusters: Sequence[Cluster],
    query_patterns: Sequence[QueryPattern],
    folder: str,
    *,
    built_at: str = "",
    sources: Sequence[str] = (),
    previous: str | None = None,
    progress: Callable[[int, int], None] | None = None,
    incremental_from: int = INCREMENTAL_FROM,
    tiers: Sequence[str] = TIERS,
    effort: Effort = ALWAYS,
    tell: Callable[[str], None] | None = None,
    concepts: Sequence[Concept] = (),
) -> CatalogReport:
    """Write a search catalog into an empty folder; `previous` is the last one's, `progress` hears (done, total).

    The sentence model's vectors are left out where making them would go beyond `effort`; `tell` hears how that goes on.

    Raises:
        ArtefactError: the model of a tier is missing or damaged.
        OSError: the folder cannot be written.
    """
    shelved = volumes(entries, documents)
    heard = progress or (lambda _done, _total: None)
    plan = _plan(shelved, previous, incremental_from, tiers, quick=effort.most <= UNASKED)
    to = _Writers(folder, plan.tiers if plan else tiers, effort, tell or (lambda _said: None))
    made = _compile_changes(plan, to, heard) if plan else _compile_whole(shelved, to, heard)
    made_of = [each.tier for each in to.vectors if each.complete]
    written = {each.name: _identity(each) for each in made_of}
    _write_json(folder, PATTERNS, _patterns(query_patterns))
    _write_json(folder, CONCEPTS, concepts_source(concepts, _definitions(shelved, plan)))
    _write_json(
        folder,
        HEADER,
        {
            "format": FORMAT,
            "byteorder": sys.byteorder,
            "built_at": built_at,
            "sources": list(sources),
            "documents": len(shelved),
            "chunks": made,
            "tiers": written,
            "clusters": _clusters(clusters, shelved),
            "sizes": _sizes(folder),
        },
    )
    compiled = len(plan.changed) + len(plan.new) if plan else len(shelved)
    removed = len(plan.removed) if plan else 0
    return CatalogReport(
        documents=len(shelved), chunks=made, compiled=compiled, removed=removed, incremental=plan is not None,
        tiers=tuple(each.full_name for each in made_of),
    )  # fmt: skip


# --- the whole -------------------------------------------------------------------------------------------------------


def _identity(tier: Tier) -> dict[str, Any]:
    _, _, model = tier.full_name.partition(":")
    return {"digest": tier.digest, "dimensions": tier.dimensions, **({"model": model} if model else {})}


def models(tiers: Sequence[str] = TIERS) -> list[str]:
    """Give the digests of the models that a catalog is made with: what it depends on besides its sources.

    Raises:
        ArtefactError: the model of a tier is missing or damaged.
    """
    return [open_tier(name).digest for name in tiers]


class _Writers:
    """Everything that a document is written to."""

    __slots__ = ("counts", "folder", "index", "shelf", "vectors", "writer")

    def __init__(self, folder: str, tiers: Sequence[str], effort: Effort, tell: Callable[[str], None]) -> None:
        self.folder = folder
        self.shelf = ShelfWriter(folder)
        self.vectors = [
            VectorWriter(folder, name) if name in TIERS else LaterWriter(folder, name, effort, tell) for name in tiers
        ]
        self.counts = Counter[str]()

    def write_to(self, index: tantivy.Index) -> None:
        """Take the index that passages go to."""
        self.index = index
        self.writer = index.writer(WRITER_BYTES, 1)

    def copy(self, before: Catalog, documents: range, digests: bytes) -> None:
        """Take over some documents, one after another, from an earlier catalog."""
        known = digests[documents.start * DIGEST_SIZE : documents.stop * DIGEST_SIZE]
        self.shelf.copy(before, documents, known)
        for each in self.vectors:
            each.copy(before.vectors(each.tier.name), documents)

    def leave_out(self) -> None:
        """Leave a number without a document."""
        self.shelf.leave_out()
        for each in self.vectors:
            each.leave_out()

    def close(self) -> int:
        """Finish all files; give how many passages there are."""
        self.shelf.close()
        for each in self.vectors:
            each.close()
        self.writer.commit()
        self.writer.wait_merging_threads()
        self.index.reload()
        return self.index.searcher().num_docs


def _compile_whole(shelved: Sequence[Volume], to: _Writers, heard: Callable[[int, int], None]) -> int:
    to.write_to(_new_index(os.path.join(to.folder, KEYWORD)))
    for number, volume in enumerate(shelved):
        _compile(volume, number, to)
        heard(number + 1, len(shelved))
    _write_words(to.folder, WORDS, to.counts)
    _write_words(to.folder, NEW_WORDS, {})
    return to.close()


def _new_index(folder: str) -> tantivy.Index:
    os.mkdir(folder)
    index = tantivy.Index(schema(), path=folder)
    index.register_tokenizer(ANALYSER, analyser())
    return index


def _compile(volume: Volume, number: int, to: _Writers) -> None:
    """Index one document's passages, shelve it, and count its words once a passage."""
    chunks = chunk_document(volume.document, id=volume.entry.id)
    described = about(volume.entry)
    to.counts.update(set(described))
    for chunk in chunks:
        found = terms(f"{chunk.heading}\n{chunk.text}")
        to.counts.update(set(found))
        to.writer.add_document(row_of(volume, chunk, number, " ".join(described + found)))
    to.shelf.add(volume, chunks)
    for each in to.vectors:
        each.add(volume.entry, chunks)


# --- what changed ----------------------------------------------------------------------------------------------------


def _definitions(shelved: Sequence[Volume], plan: _Plan | None) -> Mapping[str, int]:
    """Count what the texts define; those that stayed have been counted, and of a changed one the old count stays."""
    if plan is None:
        return counted(volume.document.text for volume in shelved)
    before: Mapping[str, int] = plan.previous.concepts_held["defined"]
    new = counted(volume.document.text for volume in (*plan.changed.values(), *plan.new))
    return {**new, **before}


def _plan(
    shelved: Sequence[Volume], previous: str | None, least: int, tiers: Sequence[str], *, quick: bool
) -> _Plan | None:
    """Compare with the previous catalog; None where compiling the whole is simpler or the only way.

    A tier that it lacks can only be made whole; who has to be `quick` goes on without it.
    """
    old = _open(previous)
    if old is None or old.header["chunks"] <= least or len(old.vocabularies()[1]) > MOST_NEW_WORDS:
        return None
    carried = tuple(name for name in tiers if old.tiers.get(kind_of(name)) == _identity(open_tier(name)))
    lacking = set(tiers) - set(carried)
    if lacking and not (quick and lacking == {TIER}):
        return None
    known, digests = old.ids(), _digests(old)
    holes, changed, new = set(range(old.numbers)), dict[int, Volume](), list[Volume]()
    for volume in shelved:
        number = known.pop(volume.entry.id, None)
        if number is None:
            new.append(volume)
            continue
        holes.discard(number)
        if digests[number * DIGEST_SIZE : (number + 1) * DIGEST_SIZE] != digest(volume):
            changed[number] = volume
    if (len(changed) + len(new) + len(holes)) * FEW > len(shelved):
        return None
    return _Plan(
        previous=old, tiers=carried, holes=frozenset(holes), changed=changed, new=tuple(new), removed=tuple(known)
    )


def _open(previous: str | None) -> Catalog | None:
    if previous is None:
        return None
    try:
        return open_catalog(previous)
    except ArtefactError:  # it is only a short cut
        return None


def _digests(old: Catalog) -> bytes:
    with open(os.path.join(old.folder, DIGESTS), "rb") as file:
        return file.read()


def _compile_changes(plan: _Plan, to: _Writers, heard: Callable[[int, int], None]) -> int:
    to.write_to(_carried_index(plan, to.folder))
    for gone in (*plan.removed, *(volume.entry.id for volume in plan.changed.values())):
        to.writer.delete_documents_by_term("id", gone)
    digests, number = _digests(plan.previous), 0
    for changed in sorted({*plan.changed, *plan.holes, plan.previous.numbers}):
        if number < changed:
            to.copy(plan.previous, range(number, changed), digests)
        if changed in plan.changed:
            _compile(plan.changed[changed], changed, to)
        elif changed in plan.holes:
            to.leave_out()
        number = changed + 1
    for number, volume in enumerate(plan.new, plan.previous.numbers):
        _compile(volume, number, to)
    _carry_words(plan.previous, to.folder, to.counts)
    heard(1, 1)
    return to.close()


def _carried_index(plan: _Plan, folder: str) -> tantivy.Index:
    """Take over the previous index: its segments never change, so they are linked where the system can."""
    old, new = os.path.join(plan.previous.folder, KEYWORD), os.path.join(folder, KEYWORD)
    os.mkdir(new)
    for name in sorted(os.listdir(old)):
        if name.endswith(".json"):  # these are replaced by the writer
            shutil.copyfile(os.path.join(old, name), os.path.join(new, name))
        elif name not in LOCKS:
            _link(os.path.join(old, name), os.path.join(new, name))
    index = tantivy.Index.open(new)
    index.register_tokenizer(ANALYSER, analyser())
    return index


def _link(old: str, new: str) -> None:
    try:
        os.link(old, new)
    except OSError:  # another file system, or one without links
        shutil.copyfile(old, new)


def _carry_words(old: Catalog, folder: str, counts: Mapping[str, int]) -> None:
    """Keep the large vocabulary as it is, and write the words it lacks beside it."""
    whole, lately = old.vocabularies()
    new = {word: count for word, count in counts.items() if worth_keeping(word) and not whole.count(word)}
    _link(os.path.join(old.folder, WORDS), os.path.join(folder, WORDS))
    _write_words(folder, NEW_WORDS, {**dict(lately.words()), **new})


# --- the small files -------------------------------------------------------------------------------------------------


def _write_words(folder: str, name: str, counts: Mapping[str, int]) -> None:
    with open(os.path.join(folder, name), "wb") as file:
        file.write(vocabulary_bytes({word: count for word, count in counts.items() if worth_keeping(word)}))


def _write_json(folder: str, name: str, value: Mapping[str, Any]) -> None:
    with open(os.path.join(folder, name), "w", encoding="ascii") as file:
        file.write(fast_json.dumps(value))


def _patterns(query_patterns: Sequence[QueryPattern]) -> dict[str, Any]:
    """Give past questions with an inverted list of their stems."""
    stemmer = analyser()
    holding: dict[str, list[int]] = {}
    for number, pattern in enumerate(query_patterns):
        text = " | ".join((*pattern.natural_language, *pattern.query_keywords))
        for stem in dict.fromkeys(stemmer.analyze(" ".join(distinct(question(text))))):
            holding.setdefault(stem, []).append(number)
    return {"patterns": [_pattern(pattern, stemmer) for pattern in query_patterns], "stems": holding}


def _pattern(pattern: QueryPattern, stemmer: tantivy.TextAnalyzer) -> dict[str, Any]:
    return {
        "wordings": [printable(line) for line in pattern.natural_language],
        "keywords": [stemmer.analyze(" ".join(terms(keyword))) for keyword in pattern.query_keywords],
        "cluster": printable(pattern.primary_cluster),
        "urgency": pattern.urgency,
        "documents": [key(document) for document in pattern.common_docs],
    }


def _clusters(clusters: Sequence[Cluster], shelved: Iterable[Volume]) -> dict[str, Any]:
    held = Counter(name for volume in shelved for name in volume.entry.clusters)
    described = {
        printable(cluster.id): {
            "description": printable(cluster.description),
            "related": [printable(name) for name in cluster.related_clusters],
        }
        for cluster in clusters
    }
    names = sorted({*described, *held})
    return {
        name: {"description": "", "related": [], **described.get(name, {}), "documents": held[name]} for name in names
    }


def _sizes(folder: str) -> dict[str, int]:
    found: dict[str, int] = {}
    for place, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(place, name)
            if name not in LOCKS and name != HEADER:
                found[os.path.relpath(path, folder).replace(os.sep, "/")] = os.stat(path).st_size
    return dict(sorted(found.items()))
