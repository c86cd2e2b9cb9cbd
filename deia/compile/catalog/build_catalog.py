"""Compile the search catalog: a keyword index of passages, a store of metadata and texts, a vocabulary and vectors.

The same commons always gives the same ranking. If few documents of a large commons changed, the previous catalog is
carried over and only those documents are compiled again. The header is written last, so that an unfinished catalog is
not mistaken for a complete one; the caller swaps the folder in as a whole.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial

import tantivy

from deia import fast_json
from deia.commons.index.index_records import Cluster, Concept, LearningPath, QueryPattern
from deia.compile.catalog.abbreviations import MOST_DEFINED, concepts_source, counted
from deia.compile.catalog.carry_over import (
    LOCKS,
    Fill,
    carry_file,
    compile_changes,
    identity,
    plan_changes,
    plan_revision,
)
from deia.compile.catalog.document_store import Volume, block_size, filled, library_volumes, printable, volumes
from deia.compile.catalog.effort import BACKGROUND_LIMIT, TIERS, UNLIMITED, Effort
from deia.compile.catalog.writers import Writers, new_index, write_prepared, write_words
from deia.fast_json import Json
from deia.ingest.library_store import Library
from deia.knowledge import Document, Entry
from deia.match.keyword import analyser, key
from deia.match.tiers import Tier
from deia.match.tokeniser import distinct, question_words, terms
from deia.records import Record
from deia.search.catalog import CONCEPTS, FORMAT, HEADER, KEYWORD, NEW_WORDS, PATTERNS, WORDS

INCREMENTAL_FROM = 5_000  # passages; a smaller catalog is compiled whole in about a second


class CatalogReport(Record):
    """What was written to a catalog."""

    documents: int
    chunks: int
    compiled: int  # documents that were read and indexed in this run
    removed: int = 0
    incremental: bool = False
    tiers: tuple[str, ...] = ()  # the tiers whose vectors are in the catalog


def build_catalog(  # noqa: PLR0913 - the parts of a commons, and how to compile them
    entries: Iterable[Entry],
    documents: Iterable[Document],
    clusters: Sequence[Cluster],
    query_patterns: Sequence[QueryPattern],
    folder: str,
    *,
    built_at: str = "",
    sources: Sequence[str] = (),
    previous: str | None = None,
    incremental_from: int = INCREMENTAL_FROM,
    tiers: Sequence[str] = TIERS,
    effort: Effort = UNLIMITED,
    tell: Callable[[str], None] | None = None,
    concepts: Sequence[Concept] = (),
    learning_paths: Sequence[LearningPath] = (),
    own_first: bool = True,
    library: Library | None = None,
) -> CatalogReport:
    """Write a search catalog into an empty folder; `previous` is the folder of the last catalog.

    `own_first` is whether searches prefer the project's own documents to those of other layers that fit as well.
    `library` holds what the person took in, and is compiled instead of the documents of a commons.
    The sentence model's vectors are left out if making them would exceed `effort`; `tell` receives progress messages.
    Raise ArtefactError if the model of a tier is missing or damaged, and OSError if the folder cannot be written.
    """
    shelved = library_volumes(library) if library else volumes(entries, documents)
    fill = partial(filled, library)
    plan = plan_changes(shelved, previous, incremental_from, tiers, quick=effort.limit <= BACKGROUND_LIMIT)
    block = plan.previous.blocks.size if plan else block_size(len(shelved))
    writers = Writers(folder, plan.tiers if plan else tiers, effort, tell or (lambda _message: None), block=block)
    chunks = compile_changes(plan, writers, fill) if plan else _compile_whole(shelved, writers, fill)
    _write_json(folder, PATTERNS, _patterns(query_patterns))
    # In an incremental compile, the counts of the previous catalog are kept, also for changed documents.
    defined = {**writers.defined, **(plan.previous.concept_groups.defined if plan else {})}
    _write_json(folder, CONCEPTS, concepts_source(concepts, defined))
    header: dict[str, Json] = {
        "format": FORMAT, "byteorder": sys.byteorder, "sources": list(sources), "documents": len(shelved),
        "own_first": own_first, "clusters": _clusters(clusters, shelved),
        "strengths": {volume.entry.id: volume.strength for volume in shelved if volume.strength},
        "learning_paths": dict(map(_path_of, learning_paths)),
    }  # fmt: skip
    if effort.plain is not None:
        header |= {"plain": list(effort.plain)}
    made_tiers = writers.complete_tiers()
    _write_header(header, writers, built_at=built_at, chunks=chunks, tiers=made_tiers)
    replaced = len(plan.changed) + len(plan.new) if plan else len(shelved)
    return CatalogReport(
        documents=len(shelved), chunks=chunks, compiled=replaced, removed=len(plan.removed) if plan else 0,
        incremental=plan is not None, tiers=tuple(tier.full_name for tier in made_tiers),
    )  # fmt: skip


def _path_of(path: LearningPath) -> tuple[str, Json]:
    """Return the audience of a learning path, and its steps as the header has them."""
    steps: list[Json] = [[*map(printable, (step.document, step.why))] for step in path.steps]
    return printable(path.audience.casefold()), steps


def revise_catalog(  # noqa: PLR0913 - what changed in which catalog, and how to compile it
    changed: Sequence[Volume], folder: str, *, previous: str, built_at: str, tiers: Sequence[str], effort: Effort,
    library: Library | None = None, removed: Sequence[str] = (),
) -> CatalogReport | None:  # fmt: skip
    """Write a catalog into an empty folder that differs from the previous one only in some documents.

    Return None, and write nothing, if everything has to be compiled: without a `library`, also if there are new
    documents or abbreviations. The next whole compile reads the abbreviations of a library. Raise ArtefactError if the
    model of a tier is missing or damaged, and OSError if the folder cannot be written.
    """
    plan = plan_revision(changed, previous, tiers, quick=effort.limit <= BACKGROUND_LIMIT, removed=removed)
    if plan is None:
        return None
    if library is None and (plan.new or _defines_more(changed, plan.previous.concept_groups.defined)):
        return None
    writers = Writers(folder, plan.tiers, effort, lambda _message: None, block=plan.previous.blocks.size)
    chunks, made_tiers = compile_changes(plan, writers, partial(filled, library)), writers.complete_tiers()
    for name in (PATTERNS, CONCEPTS):
        carry_file(plan.previous, folder, name)
    documents = len(plan.previous) + len(plan.new) - len(plan.removed)
    header = {**plan.previous.header, "documents": documents}
    _write_header(header, writers, built_at=built_at, chunks=chunks, tiers=made_tiers)
    return CatalogReport(
        documents=documents, chunks=chunks, compiled=len(plan.changed) + len(plan.new), incremental=True,
        tiers=tuple(tier.full_name for tier in made_tiers),
    )  # fmt: skip


def _defines_more(changed: Sequence[Volume], before: Mapping[str, int]) -> bool:
    """Return whether texts define an abbreviation that the catalog lacks although there is room for it."""
    now = counted(volume.document.text for volume in changed)
    return len(before) < MOST_DEFINED and not now.keys() <= before.keys()


# --- compiling everything --------------------------------------------------------------------------------------------


def _compile_whole(shelved: Sequence[Volume], writers: Writers, fill: Fill) -> int:
    from deia.compile.catalog.workers import each_prepared  # noqa: PLC0415 - pools of processes, for a whole compile

    writers.write_to(new_index(os.path.join(writers.folder, KEYWORD)))
    static, _ = writers.wanted()
    done = 0
    for batch, prepared in each_prepared(shelved, static=static, with_passages=lambda: writers.wanted()[1], fill=fill):
        write_prepared(batch, prepared, done, writers)
        done += len(batch)
    write_words(writers.folder, WORDS, writers.counts)
    write_words(writers.folder, NEW_WORDS, {})
    return writers.close()


# --- the small files -------------------------------------------------------------------------------------------------


def _write_header(
    header: Mapping[str, Json], writers: Writers, *, built_at: str, chunks: int, tiers: Sequence[Tier]
) -> None:
    written = {tier.name: {key: value for key, value in identity(tier).values().items() if value} for tier in tiers}
    shelf = {"block": writers.shelf.size, "text_bytes": writers.shelf.text_bytes}
    details = {"built_at": built_at, "chunks": chunks, "tiers": written, "sizes": _sizes(writers.folder)}
    _write_json(writers.folder, HEADER, {**header, **shelf, **details})


def _write_json(folder: str, name: str, value: Mapping[str, object]) -> None:
    with open(os.path.join(folder, name), "w", encoding="ascii") as file:
        file.write(fast_json.dumps(value))


def _patterns(query_patterns: Sequence[QueryPattern]) -> dict[str, Json]:
    """Return past questions, with an inverted index of their stems."""
    stemmer = analyser()
    numbers_by_stem: dict[str, list[int]] = {}
    for number, pattern in enumerate(query_patterns):
        text = " | ".join((*pattern.natural_language, *pattern.query_keywords))
        for stem in dict.fromkeys(stemmer.analyze(" ".join(distinct(question_words(text))))):
            numbers_by_stem.setdefault(stem, []).append(number)
    return {"patterns": [_pattern(pattern, stemmer) for pattern in query_patterns], "stems": numbers_by_stem}


def _pattern(pattern: QueryPattern, stemmer: tantivy.TextAnalyzer) -> dict[str, Json]:
    return {
        "wordings": [printable(line) for line in pattern.natural_language],
        "keywords": [stemmer.analyze(" ".join(terms(keyword))) for keyword in pattern.query_keywords],
        "cluster": printable(pattern.primary_cluster),
        "urgency": pattern.urgency,
        "documents": [key(document) for document in pattern.common_docs],
    }


def _clusters(clusters: Sequence[Cluster], shelved: Iterable[Volume]) -> dict[str, Json]:
    sizes = Counter(name for volume in shelved for name in volume.entry.clusters)
    described: dict[str, dict[str, Json]] = {
        printable(cluster.id): {
            "description": printable(cluster.description),
            "related": [printable(name) for name in cluster.related_clusters],
        }
        for cluster in clusters
    }
    return {
        name: {"description": "", "related": [], **described.get(name, {}), "documents": sizes[name]}
        for name in sorted({*described, *sizes})
    }


def _sizes(folder: str) -> dict[str, int]:
    sizes: dict[str, int] = {}
    for place, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(place, name)
            if name not in LOCKS and name != HEADER:
                sizes[os.path.relpath(path, folder).replace(os.sep, "/")] = os.stat(path).st_size
    return dict(sorted(sizes.items()))
