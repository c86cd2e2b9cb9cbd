"""Bring the graph of a commons and its library up to date: only documents that changed are read again.

It lies in the person's cache beside the other compiled files, and is made anew if it is damaged.
"""

from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, nullcontext, suppress
from functools import partial
from hashlib import blake2b
from typing import NamedTuple

from filelock import FileLock

from deia import files, freshness
from deia.commons.triggers.clause_language import FEWEST_IMPORTERS
from deia.compile.graph_merges import applied_merges, merged_keys
from deia.compile.graph_proposals import Proposals, kept_proposals, proposals_folder, propose, read_kept
from deia.compile.indexing import record_indexing
from deia.errors import QueryError
from deia.folders import (
    GRAPH,
    INDEX_NAMES,
    LIBRARY_PREFIX,
    derived_folder,
    is_trusted,
    library_collections,
    part_folder,
)
from deia.graph.extractor import extractor
from deia.graph.facts import Facts, Page, joined
from deia.graph.facts_process import FactsProcess
from deia.graph.graph_store import DATABASE, FOUND_BY, SCHEMA, Graph, GraphError
from deia.graph.python_modules import SUFFIXES, module_names
from deia.graph.schema import Schema, read_schema
from deia.ingest.library_store import EVER, Library, Shelved, library_at
from deia.ingest.reading import ReadingError
from deia.knowledge import Entry
from deia.records import TYPE_CHECKING
from deia.settings import Settings, resolve
from deia.watch.clauses.importers import NAME as IMPORTERS_LIST

if TYPE_CHECKING:
    from deia.commons.index.load_commons import Commons
    from deia.language_model import Endpoint

LOCK = "lock"
COMMONS, LIBRARY = "commons", "library"  # the parts of the graph, each made again only if it changed
# How many documents import another, or what it defines.
IMPORTERS = """select name, count(distinct importer) number from (
    select of.name, refs.document importer from relations join entities on entities.id = relations.target
    join documents of on of.id = entities.document join refs on refs.id = ref
    where relations.type = 'IMPORTS' and refs.document != of.id
    union all select of.name, refs.document from relations join documents of on of.entity = relations.target
    join refs on refs.id = ref where relations.type = 'IMPORTS' and refs.document != of.id)
    group by name having number >= ?"""
# How many entities and relations are in documents that are counted; those in others are fewer, which is faster.
COUNTS = """with others as (select id from documents where not is_counted(name)) select
    (select count(*) from places) - (select count(*) from places where document in others),
    (select count(*) from relations)
    - (select count(*) from relations join refs on refs.id = ref where document in others)"""
BATCH = 2_000  # documents of a transaction, which a kill can lose


class Text(NamedTuple):
    """A document whose text has facts: a lesson, or one of the library."""

    name: str
    key: str  # of its content
    title: str
    page: Callable[[], Page]
    module: str = ""


class _Wanted(NamedTuple):
    """A document that the graph is to have: the hash of all that its facts depend on, and how these are found."""

    digest: str
    find: Callable[[FactsProcess], Facts]
    title: str = ""


def open_graph(
    root: str, environ: Mapping[str, str], collections: Sequence[str] = (), *, process: FactsProcess | None = None
) -> Graph:
    """Return the graph of a commons, brought up to date; the caller closes it, and the process if it gives one.

    The graph of some collections is built from their documents alone, without the types and merges that the person set
    for all.

    Raise GraphError if it cannot be written, SettingsError if the schema is wrong, and what compiling raises.
    """
    folder = graph_folder(root, environ, collections)
    try:
        graph = Graph(folder)
    except GraphError:
        for ending in ("", "-wal", "-shm"):
            files.remove(f"{folder}/{DATABASE}{ending}")
        graph = Graph(folder)
    with ExitStack() as stack:  # closes the graph if the update fails
        stack.enter_context(graph)
        _update(graph, root, environ, collections, process)
        stack.pop_all()
    return graph


def graph_folder(root: str, environ: Mapping[str, str], collections: Sequence[str] = ()) -> str:
    """Return the folder of the graph of a commons, or of some collections of it."""
    return f"{part_folder(derived_folder(root, environ), collections)}/{GRAPH}"


def propose_for(
    root: str, environ: Mapping[str, str], endpoint: Endpoint, names: Sequence[str], tell: Callable[[str, int], None]
) -> Proposals:
    """Ask a model about documents, or about all that were not asked about before; keep and return what it proposed.

    `tell` is called with each document and the number of its proposals. Raise QueryError if there is no document of a
    name, and ModelError if the model does not answer.
    """
    from deia.commons.layers.merge_layers import load_layered  # noqa: PLC0415 - YAML, which a library does not need

    settings = resolve(root, environ=environ)
    schema = read_schema(settings.schema, settings.sources.get("schema", ""))
    library = library_at(root, environ) if is_trusted(root, environ) else None
    commons = load_layered(root, starter=False, trusted=is_trusted(root, environ))
    texts = [*lessons(commons, schema), *(passages(library, schema) if library else ())]
    known = {text.name for text in texts}
    if wrong := [name for name in names if name not in known]:
        raise QueryError(f"there is no document {wrong[0]!r}", fix="Name it as answers do, such as bok/git/force.md")
    kept = kept_proposals(root, environ)
    chosen = [text for text in texts if (text.name in names if names else text.key not in kept)]
    folder = proposals_folder(root, environ)
    return propose(folder, ((text.name, text.key, text.page().text) for text in chosen), endpoint, schema, tell)


def counts_of(graph: Graph, prefixes: Sequence[str]) -> tuple[int, int]:
    """Return how many entities and how many relations are in the documents whose names begin with the prefixes."""
    beginnings = tuple(prefixes)
    graph.database.create_function("is_counted", 1, lambda name: name.startswith(beginnings), deterministic=True)
    entities, relations = graph.database.execute(COUNTS).fetchone()
    return int(entities), int(relations)


def _update(
    graph: Graph, root: str, environ: Mapping[str, str], collections: Sequence[str], process: FactsProcess | None
) -> None:
    """Take in what changed since the graph was made."""
    derived = files.parent(graph.folder)
    if freshness.changed(derived, root, freshness.DOCUMENTS):
        from deia.compile.compiler import compile_commons  # noqa: PLC0415 - everything, if the commons itself changed

        compile_commons(root, environ=environ, collections=collections)
    settings = resolve(root, environ=environ)
    schema, library = _schema(settings, collections), _library(root, environ, collections)
    proposals = kept_proposals(root, environ)
    catalog = files.read(f"{derived}/catalog")
    merges = {} if collections else merged_keys(applied_merges(root, environ))
    states = {
        SCHEMA: json.dumps(schema.shown()),
        FOUND_BY: extractor(),
        COMMONS: _digest(schema.shown(), sorted(proposals), merges, catalog, settings.starter),
        LIBRARY: f"{_digest(schema.shown(), sorted(proposals), merges)}:{library.state if library else ''}",
    }
    if all(graph.about(part) == state for part, state in states.items()):
        return
    with FileLock(f"{graph.folder}/{LOCK}"), nullcontext(process) if process else FactsProcess() as running:
        running.start()
        changed = [part for part, state in states.items() if graph.about(part) != state]
        wanted: dict[str, _Wanted] = {}
        if COMMONS in changed:
            commons = _commons(root, environ, settings, collections)
            wanted |= {**_described(commons, schema), **_read(lessons(commons, schema), proposals, schema)}
        since = _unchanged_until(graph, library, states[LIBRARY]) if LIBRARY in changed and library else EVER
        if LIBRARY in changed and library:
            others = graph.hashes if since != EVER else tuple  # the graph may have files that are gone
            wanted |= _read(passages(library, schema, since, others), proposals, schema)
        whole = [part for part in changed if part != LIBRARY or since == EVER]
        hashes = graph.hashes(None if whole else wanted)
        known = {name: digest for name, digest in hashes.items() if _part_of(name) in whole} if whole else {}
        known |= {name: hashes[name] for name in wanted.keys() & hashes.keys()}
        known |= dict.fromkeys(graph.naming(merges) & known.keys(), "")
        with graph.transaction():
            graph.merge(merges)
        _put(graph, running, wanted, known, states)
        if not collections:
            files.replace(f"{graph.folder}/{IMPORTERS_LIST}", _importers(graph, library) if library else b"")
            record_indexing(root, environ, settings, extractor=extractor(), total=graph.size())


def _unchanged_until(graph: Graph, library: Library, state: str) -> int:
    """Return the revision of the library since which documents of the graph have only got another content, or EVER."""
    before, _, revision = graph.about(LIBRARY).rpartition(":")
    if before != state.rpartition(":")[0] or not revision.isdecimal() or library.removed(int(revision)):
        return EVER
    changed = {document.id for document in library.documents(int(revision))}
    return int(revision) if changed <= graph.hashes(changed).keys() else EVER


def _schema(settings: Settings, collections: Sequence[str]) -> Schema:
    """Return the types that the person set, or the usual ones for the graph of some collections."""
    return read_schema({}) if collections else read_schema(settings.schema, settings.sources.get("schema", ""))


def _library(root: str, environ: Mapping[str, str], collections: Sequence[str]) -> Library | None:
    """Return the library, or the part of it that is in some collections."""
    only = library_collections(collections)
    return library_at(root, environ, only=only) if is_trusted(root, environ) and (only or not collections) else None


def _commons(root: str, environ: Mapping[str, str], settings: Settings, collections: Sequence[str]) -> Commons:
    """Return the commons, or the part of it that is in some collections."""
    from deia.commons.layers.collections import select_collections  # noqa: PLC0415 - likewise
    from deia.commons.layers.merge_layers import load_layered  # noqa: PLC0415 - likewise

    commons = load_layered(root, starter=settings.starter, trusted=is_trusted(root, environ))
    of_commons = [name for name in collections if not name.startswith(LIBRARY_PREFIX)]
    return select_collections(commons, of_commons) if collections else commons


def _importers(graph: Graph, library: Library) -> bytes:
    """Return the list that the hook reads: how many files import each file that lies in a folder, by its real path."""
    counts = graph.database.execute(IMPORTERS, (FEWEST_IMPORTERS,))
    by_path = ((library.original(name), number) for name, number in counts if name.startswith(LIBRARY_PREFIX))
    lines = (f"{number}\t{files.real(path)}\n" for path, number in by_path if path and path.isprintable())
    return "".join(lines).encode("utf-8", "surrogateescape")


def _part_of(name: str) -> str:
    return LIBRARY if _in_library(name) else COMMONS


def _in_library(name: str) -> bool:
    return name.startswith(LIBRARY_PREFIX)


def _put(
    graph: Graph,
    process: FactsProcess,
    wanted: Mapping[str, _Wanted],
    known: Mapping[str, str],
    states: Mapping[str, str],
) -> None:
    """Put the wanted documents that are new or changed into the graph, and remove known ones that are not wanted."""
    due = [name for name, document in wanted.items() if known.get(name) != document.digest]
    for start in range(0, len(due) or 1, BATCH):
        with graph.transaction(states if start + BATCH >= len(due) else {}):
            for name in () if start else known.keys() - wanted.keys():
                graph.remove(name)
            for name in due[start : start + BATCH]:
                facts = Facts()  # stays empty if the document breaks a limit; the others go on
                with suppress(ReadingError):
                    facts = wanted[name].find(process)
                graph.put(name, wanted[name].digest, facts, title=wanted[name].title)


def _digest(*values: object) -> str:
    return blake2b(repr((extractor(), *values)).encode("utf-8", "replace"), digest_size=16).hexdigest()


# --- what the commons says of itself ---


def _described(commons: Commons, schema: Schema) -> dict[str, _Wanted]:
    """Return what the graph is to hold for the master indexes and the files of triggers."""
    from deia.graph.commons_facts import index_facts, trigger_facts  # noqa: PLC0415 - of the commons only

    wanted: dict[str, _Wanted] = {}
    for index, entries in _by_index(commons).items():
        rows = [(entry.values(), entry.line) for entry in entries]
        wanted[index] = _Wanted(_digest(schema.shown(), rows), _returning(index_facts(entries, schema)), "Master index")
    paths = {name: entry.path for entry in commons.entries for name in (entry.id, entry.path)}
    by_file = defaultdict(list)
    for trigger in commons.triggers:
        by_file[trigger.path].append(trigger)
    for path, triggers in by_file.items():
        facts = trigger_facts(triggers, paths)
        wanted[path] = _Wanted(_digest(facts), _returning(facts))
    return wanted


def _by_index(commons: Commons) -> dict[str, list[Entry]]:
    """Return the entries by the master index in which they are written."""
    from deia.commons.layers.merge_layers import local_path  # noqa: PLC0415 - likewise

    by_index: dict[str, list[Entry]] = defaultdict(list)
    own = os.path.basename(commons.index.path) or INDEX_NAMES[0]
    for entry in commons.entries:
        layer = entry.path.removesuffix(local_path(entry.path))
        by_index[f"{layer}{INDEX_NAMES[0] if layer else own}"].append(entry)
    return by_index


def _returning(facts: Facts) -> Callable[[FactsProcess], Facts]:
    return lambda _process: facts


# --- what documents say ---


def lessons(commons: Commons, schema: Schema) -> Iterator[Text]:
    """Yield the documents of a commons."""
    for document in commons.documents:
        text = "\n" * (document.first_line - 1) + document.text
        page = partial(
            Page, name=document.path, type="markdown", text=text, title=document.title, schema=schema.shown()
        )
        yield Text(document.path, _digest(text), document.title, page)


def passages(
    library: Library, schema: Schema, since: int = EVER, known: Callable[[], Iterable[str]] = tuple
) -> Iterator[Text]:
    """Yield the documents of a library, or those that changed after a revision; `known` has the ids of the others."""
    documents = library.documents(since)
    names = {document.id for document in documents}
    is_python = any(name.endswith(SUFFIXES) for name in names)  # else nobody asks for names of modules
    modules = module_names(names, filter(_in_library, known())) if is_python else {}
    for document in documents:
        module = modules.get(document.id, "")
        page = partial(_kept_page, library, document, schema, module)
        yield Text(document.id, document.content, document.title, page, module)


def _kept_page(library: Library, shelved: Shelved, schema: Schema, module: str) -> Page:
    kept = library.kept(shelved.content)
    return Page(
        name=shelved.id, type=kept.type, text=kept.text, language=kept.language, module=module, title=shelved.title,
        anchors=kept.anchors, links=kept.links, schema=schema.shown(),
    )  # fmt: skip


def _read(texts: Iterator[Text], proposals: Mapping[str, str], schema: Schema) -> dict[str, _Wanted]:
    """Return what the graph is to hold for texts, with what a model proposed for them."""
    types = schema.shown()
    return {
        text.name: _Wanted(
            _digest(text.key, text.module, types, proposals.get(text.key, "")),
            partial(_facts, text, proposals.get(text.key, "")),
            text.title,
        )
        for text in texts
    }


def _facts(text: Text, proposal: str, process: FactsProcess) -> Facts:
    facts = process.facts(text.page())
    return joined(facts, read_kept(proposal)) if proposal else facts
