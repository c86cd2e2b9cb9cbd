"""Compile the search catalog: a keyword index of passages, a shelf of metadata and texts, a vocabulary.

The same commons gives the same ranking. Where few documents of a large commons changed, the previous catalog is
carried over and only those are compiled again. It refuses to touch anything but the folder it is given, which the
caller swaps in as a whole; the header is written last, so that a catalog cut short is not taken for one.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from deia import fast_json
from deia.commons.index.index_records import Cluster, Concept, LearningPath, QueryPattern
from deia.compile.catalog.abbreviations import MOST_DEFINED, concepts_source, counted
from deia.compile.catalog.carry_over import (
    LOCKS,
    Plan,
    carry_file,
    compile_changes,
    identity,
    plan_changes,
    plan_revision,
)
from deia.compile.catalog.document_store import Volume, printable, volumes
from deia.compile.catalog.embeddings import ALWAYS, UNASKED, Effort
from deia.compile.catalog.workers import each_prepared
from deia.compile.catalog.writers import TIERS, Writers, new_index, write_prepared, write_words
from deia.knowledge import Document, Entry
from deia.match.keyword import analyser, key
from deia.match.tiers import open_tier
from deia.match.tokeniser import distinct, question_words, terms
from deia.records import TYPE_CHECKING, Record
from deia.search.catalog import CONCEPTS, FORMAT, HEADER, KEYWORD, NEW_WORDS, PATTERNS, WORDS

if TYPE_CHECKING:
    import tantivy

INCREMENTAL_FROM = 5_000  # chunks; a smaller catalog is compiled whole in about a second


class CatalogReport(Record):
    """What a compile did."""

    documents: int
    chunks: int
    compiled: int  # documents read and indexed in this run
    removed: int = 0
    incremental: bool = False
    tiers: tuple[str, ...] = ()  # whose vectors are in it


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
    learning_paths: Sequence[LearningPath] = (),
) -> CatalogReport:
    """Write a search catalog into an empty folder; `previous` is the last one's, `progress` hears (done, total).

    The sentence model's vectors are left out where making them would go beyond `effort`; `tell` hears how that goes on.

    Raises:
        ArtefactError: the model of a tier is missing or damaged.
        OSError: the folder cannot be written.
    """
    shelved = volumes(entries, documents)
    heard = progress or (lambda _done, _total: None)
    plan = plan_changes(shelved, previous, incremental_from, tiers, quick=effort.most <= UNASKED)
    to = Writers(folder, plan.tiers if plan else tiers, effort, tell or (lambda _said: None))
    made = compile_changes(plan, to, heard) if plan else _compile_whole(shelved, to, heard)
    made_of = to.complete_tiers()
    _write_json(folder, PATTERNS, _patterns(query_patterns))
    _write_json(folder, CONCEPTS, concepts_source(concepts, _definitions(to, plan)))
    header = {
        "format": FORMAT,
        "byteorder": sys.byteorder,
        "built_at": built_at,
        "sources": list(sources),
        "documents": len(shelved),
        "chunks": made,
        "tiers": {each.name: identity(each) for each in made_of},
        "clusters": _clusters(clusters, shelved),
        "strengths": _strengths(shelved),
        "learning_paths": _learning_paths(learning_paths),
        "sizes": _sizes(folder),
    }
    _write_json(folder, HEADER, header)
    compiled = len(plan.changed) + len(plan.new) if plan else len(shelved)
    removed = len(plan.removed) if plan else 0
    return CatalogReport(
        documents=len(shelved), chunks=made, compiled=compiled, removed=removed, incremental=plan is not None,
        tiers=tuple(each.full_name for each in made_of),
    )  # fmt: skip


def revise_catalog(
    changed: Sequence[Volume], folder: str, *, previous: str, built_at: str, tiers: Sequence[str], effort: Effort
) -> CatalogReport | None:
    """Write a catalog into an empty folder that differs from the previous one in the texts of some documents alone.

    None, and nothing written, where the whole commons has to be compiled.

    Raises:
        ArtefactError: the model of a tier is missing or damaged.
        OSError: the folder cannot be written.
    """
    plan = plan_revision(changed, previous, tiers, quick=effort.most <= UNASKED)
    if plan is None or _defines_more(changed, plan.previous.concepts_held["defined"]):
        return None
    to = Writers(folder, plan.tiers, effort, lambda _said: None)
    made, made_of = compile_changes(plan, to, lambda _done, _total: None), to.complete_tiers()
    for name in (PATTERNS, CONCEPTS):
        carry_file(plan.previous, folder, name)
    written = {each.name: identity(each) for each in made_of}
    header = {**plan.previous.header, "built_at": built_at, "chunks": made, "tiers": written, "sizes": _sizes(folder)}
    _write_json(folder, HEADER, header)
    return CatalogReport(
        documents=len(plan.previous), chunks=made, compiled=len(changed), incremental=True,
        tiers=tuple(each.full_name for each in made_of),
    )  # fmt: skip


def _defines_more(changed: Sequence[Volume], before: Mapping[str, int]) -> bool:
    """Say whether texts define an abbreviation that is not among those held, and there is room for it."""
    return len(before) < MOST_DEFINED and not counted(each.document.text for each in changed).keys() <= before.keys()


# --- the whole -------------------------------------------------------------------------------------------------------


def models(tiers: Sequence[str] = TIERS) -> list[str]:
    """Give the digests of the models that a catalog is made with: what it depends on besides its sources.

    Raises:
        ArtefactError: the model of a tier is missing or damaged.
    """
    return [open_tier(name).digest for name in tiers]


def _compile_whole(shelved: Sequence[Volume], to: Writers, heard: Callable[[int, int], None]) -> int:
    to.write_to(new_index(os.path.join(to.folder, KEYWORD)))
    static, _ = to.wanted()
    done = 0
    for some, made in each_prepared(shelved, static=static, said=lambda: to.wanted()[1]):
        write_prepared(some, made, done, to)
        for _ in some:
            done += 1
            heard(done, len(shelved))
    write_words(to.folder, WORDS, to.counts)
    write_words(to.folder, NEW_WORDS, {})
    return to.close()


# --- the small files -------------------------------------------------------------------------------------------------


def _definitions(to: Writers, plan: Plan | None) -> Mapping[str, int]:
    """Count what the texts define; those that stayed have been counted, and of a changed one the old count stays."""
    if plan is None:
        return to.defined
    before: Mapping[str, int] = plan.previous.concepts_held["defined"]
    return {**to.defined, **before}


def _write_json(folder: str, name: str, value: Mapping[str, Any]) -> None:
    with open(os.path.join(folder, name), "w", encoding="ascii") as file:
        file.write(fast_json.dumps(value))


def _patterns(query_patterns: Sequence[QueryPattern]) -> dict[str, Any]:
    """Give past questions with an inverted list of their stems."""
    stemmer = analyser()
    holding: dict[str, list[int]] = {}
    for number, pattern in enumerate(query_patterns):
        text = " | ".join((*pattern.natural_language, *pattern.query_keywords))
        for stem in dict.fromkeys(stemmer.analyze(" ".join(distinct(question_words(text))))):
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


def _strengths(shelved: Iterable[Volume]) -> dict[str, float]:
    """Give the standing of the documents that have one."""
    return {volume.entry.id: volume.strength for volume in shelved if volume.strength}


def _learning_paths(paths: Sequence[LearningPath]) -> dict[str, list[list[str]]]:
    """Give what each audience should read, in order: a document and why."""
    return {
        printable(path.audience.casefold()): [[printable(step.document), printable(step.why)] for step in path.steps]
        for path in paths
    }


def _sizes(folder: str) -> dict[str, int]:
    found: dict[str, int] = {}
    for place, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(place, name)
            if name not in LOCKS and name != HEADER:
                found[os.path.relpath(path, folder).replace(os.sep, "/")] = os.stat(path).st_size
    return dict(sorted(found.items()))
