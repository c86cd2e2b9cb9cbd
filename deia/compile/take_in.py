"""Take sources into the library of a commons, and compile what changed: for commands, servers and Python programs.

Only the library of a commons that the person trusts is written: a cloned repository has none.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from hashlib import blake2b
from typing import TypedDict

from deia import files
from deia.compile.shared_reading import read_by_others
from deia.errors import ArtefactError
from deia.fast_json import Json
from deia.folders import (
    LIBRARY_PREFIX,
    LIBRARY_STATE,
    derived_folder,
    is_trusted,
    library_catalog_name,
    library_collections,
    library_folder,
    part_folder,
)
from deia.graph.facts_process import FactsProcess
from deia.ingest.added_chunkers import added_chunkers, chosen
from deia.ingest.checked_source import checked, refuse_address
from deia.ingest.hidden_secrets import file_without_secrets
from deia.ingest.ingesting import Outcome, Progress, ingest, no_progress, remove, uploads
from deia.ingest.library_store import DATABASE, Library, Registered, library_at
from deia.ingest.naming import said_of
from deia.ingest.reading import ChunkerConfig
from deia.ingest.source import MOST_BYTES, UPLOAD, Source, SourceError, Sources, UploadSource, described, slug
from deia.problems import CommonsError
from deia.records import Record
from deia.text import counted

ONLY_OWNER = 0o600  # may read a file that was handed over: in what is no text, secrets stay
UPLOADED = (
    ".md", ".txt", ".rst", ".pdf", ".docx", ".pptx", ".xlsx", ".html", ".htm", ".json", ".yaml", ".yml", ".xml", ".csv",
    ".eml", ".log", ".ipynb", ".py", ".js", ".ts", ".java", ".go", ".rs", ".c", ".h", ".cpp", ".sql", ".png", ".jpg",
)  # fmt: skip


class HowToTakeIn(TypedDict, total=False):
    """The keyword arguments of `Librarian.ingest`."""

    collection: str
    chunker_config: ChunkerConfig | Mapping[str, Json] | None
    force: bool  # read every file again
    progress: Callable[[Progress], None]


class TakenIn(Record):
    """What an ingest of some sources did; it can also be awaited."""

    outcomes: tuple[Outcome, ...]
    entities: int = 0  # of the graph, that these sources name
    relations: int = 0

    @property
    def documents(self) -> int:
        """How many documents these sources have."""
        return sum(outcome.documents for outcome in self.outcomes)

    @property
    def chunks(self) -> int:
        """How many chunks these sources have."""
        return sum(outcome.chunks for outcome in self.outcomes)

    @property
    def errors(self) -> tuple[str, ...]:
        """Why sources failed as a whole."""
        return tuple(f"{outcome.name}: {outcome.error}" for outcome in self.outcomes if outcome.error)

    @property
    def summary(self) -> str:
        """One line that says what was done."""
        summary = f"Indexed {counted(self.documents, 'document')}, {counted(self.chunks, 'chunk')}"
        if self.entities:
            summary += f", {counted(self.entities, 'entity')}, {counted(self.relations, 'relation')}"
        return summary

    def __await__(self) -> Generator[object, None, TakenIn]:
        """Return it at once, since it is complete."""
        yield from ()
        return self


def open_library(root: str, environ: Mapping[str, str]) -> Library:
    """Return the library of a commons, or a new one.

    Raise CommonsError if the person does not trust the commons, or if there is a replica, which it would replace.
    """
    if not is_trusted(root, environ):
        raise CommonsError(f"you do not trust the commons in {root}", fix=f"If it is yours, type: deia trust {root}")
    folder = library_folder(root, environ)
    if is_replica(folder):
        fix = "Take sources in where it is published, or into another commons."
        raise CommonsError("the library here is a replica of another one", fix=fix)
    return Library(folder)


def is_replica(folder: str) -> bool:
    """Return whether a library was pulled: then it has a state, but no texts."""
    return files.exists(f"{folder}/{LIBRARY_STATE}") and not files.exists(f"{folder}/{DATABASE}")


def said_of_replica(root: str, environ: Mapping[str, str]) -> str:
    """Return why no source is listed although searches find passages, or "" if the library is no replica."""
    if not is_replica(library_folder(root, environ)):
        return ""
    return "The library here is a replica of another one. Its sources are listed where it is published."


def registered_sources(root: str, environ: Mapping[str, str]) -> list[Registered]:
    """Return the sources of a commons' library as they may be shown, without passwords."""
    library = library_at(root, environ) if is_trusted(root, environ) else None
    if library is None:
        return []
    with library:
        return [registered.shown() for registered in library.sources()]


def take_in(
    root: str,
    sources: Sequence[Source],
    environ: Mapping[str, str],
    *,
    force: bool = False,
    progress: Callable[[Progress], None] = no_progress,
) -> TakenIn:
    """Register sources, take them in and compile; raise SourceError if one makes no sense.

    A new source at an address that is refused is not registered: it would be one of which nothing can come.
    """
    ready = [checked(source) for source in sources]
    for source in ready:
        chosen("", source.config, added_chunkers(environ))
    with FactsProcess() as process:
        with open_library(root, environ) as library:
            known = [registered.source for registered in library.registry()]
            steps = [_registered(library, source, known) for source in ready]
            registrations = [step for step in steps if isinstance(step, Registered)]
            said = [said_of(registered.source, known) for registered in registrations]
            done = _ingested(library, registrations, process, environ, force=force, progress=progress)
        taken = iter([outcome.but(said=text) for outcome, text in zip(done, said, strict=True)])
        done = tuple(step if isinstance(step, Outcome) else next(taken) for step in steps)
        return _compiled(root, done, environ, process)


def _registered(library: Library, source: Source, known: Sequence[Source]) -> Registered | Outcome:
    """Return a source as registered, or why its address is refused; those that were `known` stay registered."""
    named = library.named(source)
    try:
        refuse_address(named, known)
    except SourceError as error:
        return Outcome(name=named.name, error=str(error))
    return library.register(source)


def take_in_described(
    root: str,
    source: Sources,
    environ: Mapping[str, str],
    *,
    collection: str = "",
    chunker_config: ChunkerConfig | Mapping[str, Json] | None = None,
    force: bool = False,
    progress: Callable[[Progress], None] = no_progress,
) -> TakenIn:
    """Take in a source that a Python program describes; raise SourceError if it makes no sense."""
    chunker = {name: value for name, value in _fields(chunker_config).items() if value}
    ready = checked(described(source).but(chunker=chunker, collection=collection))
    if isinstance(source, UploadSource):
        name, content = _handed_over(source.file, source.content)
        kept, _ = keep_upload(root, name, content, environ, collection=ready.collection)
        ready = ready.but(name=kept.name)
    return take_in(root, [ready], environ, force=force, progress=progress)


def _handed_over(name: object, content: object) -> tuple[str, bytes]:
    """Return the name and the content of a file, which a program may write as a text."""
    content = content.encode("utf-8", "replace") if isinstance(content, str) else content
    if not (isinstance(content, bytes) and isinstance(name, str)):
        raise SourceError("an upload has a name and a content", fix='Write UploadSource(file="a.md", content=b"…").')
    return name, content


def _fields(config: ChunkerConfig | Mapping[str, Json] | None) -> Mapping[str, Json]:
    """Return the settings of a chunker, however a program wrote them."""
    if config is None or isinstance(config, Mapping):
        return config or {}
    if not isinstance(config, ChunkerConfig):
        raise SourceError(f"chunker_config = {config!r} cuts nothing", fix="Write ChunkerConfig(max_chars=800).")
    return config.values()


def update(
    root: str,
    names: Sequence[str],
    environ: Mapping[str, str],
    *,
    force: bool = False,
    failed: bool = False,
    progress: Callable[[Progress], None] = no_progress,
) -> TakenIn:
    """Take sources in again, all of them if none is named; raise SourceError if a name is unknown."""
    with FactsProcess() as process:
        with open_library(root, environ) as library:
            known = {registered.source.name: registered for registered in library.registry()}
            wanted = [known[name] for name in _named(names, known)]
            done = _ingested(library, wanted, process, environ, force=force, failed=failed, progress=progress)
        return _compiled(root, done, environ, process)


def _ingested(
    library: Library, sources: Sequence[Registered], process: FactsProcess, environ: Mapping[str, str], *,
    progress: Callable[[Progress], None], force: bool, failed: bool = False,
) -> tuple[Outcome, ...]:  # fmt: skip
    """Take in each source with a process that has read nothing of another one; return what was done."""
    options = {"force": force, "failed": failed}
    done = []
    with read_by_others(environ) as others:
        for registered in sources:
            done.append(
                ingest(
                    library, registered, **options, progress=progress, environ=environ, others=others, reader=process,
                    meanwhile=_load_compilers,
                )
            )  # fmt: skip
            if len(sources) > 1:
                process.close()
    return tuple(done)


def _load_compilers() -> None:
    """Import what compiles, which takes a tenth of a second, and which nobody needs for unchanged sources."""
    import deia.compile.graph_update  # noqa: PLC0415 - as above
    import deia.compile.library_catalog  # noqa: F401, PLC0415 - likewise


def _compiled(
    root: str, outcomes: tuple[Outcome, ...], environ: Mapping[str, str], process: FactsProcess | None = None
) -> TakenIn:
    """Compile the catalog and the graph, and return what the ingest of these sources did."""
    bring_up_to_date(root, environ)
    from deia.compile.graph_update import counts_of, open_graph  # noqa: PLC0415 - a process of its own, as above
    from deia.graph.graph_store import GraphError  # noqa: PLC0415 - likewise

    names = {outcome.name for outcome in outcomes}
    with open_library(root, environ) as library:
        prefixes = [registered.prefix for registered in library.registry() if registered.source.name in names]
    try:
        with open_graph(root, environ, process=process) as graph:
            entities, relations = counts_of(graph, [f"{LIBRARY_PREFIX}{prefix}" for prefix in prefixes])
    except GraphError:  # the sources are taken in; a question to the graph reports the error
        entities = relations = 0
    return TakenIn(outcomes=outcomes, entities=entities, relations=relations)


def forget(root: str, names: Sequence[str], environ: Mapping[str, str]) -> None:
    """Take sources and their documents out of the library; raise SourceError if a name is unknown."""
    with open_library(root, environ) as library:
        for name in _named(names, {registered.source.name for registered in library.registry()}):
            remove(library, name)
    _compiled(root, (), environ)


def _named(names: Sequence[str], known: Mapping[str, Registered] | set[str]) -> list[str]:
    for name in names:
        if name not in known:
            listed = f"Known are: {', '.join(sorted(known))}." if known else "To add one, type: deia ingest FOLDER"
            raise SourceError(f"there is no source {name!r}", fix=listed)
    return list(names) or sorted(known)


def keep_upload(
    root: str, name: str, content: bytes, environ: Mapping[str, str], *, collection: str = ""
) -> tuple[Source, str]:
    """Keep a file that was handed over, without secrets if it is text; return its source, and its name there.

    Raise SourceError if it is empty, too large, or of a type that is not taken.
    """
    base, dot, ending = name.replace("\\", "/").rpartition("/")[2].rpartition(".")
    kept = f"{slug(base)}{dot}{slug(ending)}"
    if not slug(base) or f".{slug(ending)}" not in UPLOADED:
        raise SourceError(f"files such as {name[:100]!r} are not taken", fix=f"Types are: {' '.join(UPLOADED)}")
    if not 0 < len(content) <= MOST_BYTES:
        problem = f"larger than {MOST_BYTES // 1_000_000} MB" if content else "empty"
        raise SourceError(f"{kept} is {problem}", fix="Cut it into parts." if content else "Send its content.")
    collection = slug(collection)
    source = Source(kind=UPLOAD, place="", name=f"{UPLOAD}-{collection}".rstrip("-"), collection=collection)
    content = file_without_secrets(kept, content)
    with open_library(root, environ) as library:
        folder = uploads(library, source.name)
        before = files.read(f"{folder}/{kept}", MOST_BYTES)
        if before is not None and file_without_secrets(kept, before) != content:
            kept = f"{slug(base)}-{blake2b(content, digest_size=4).hexdigest()}.{slug(ending)}"
        if not files.keep(f"{folder}/{kept}", content, ONLY_OWNER):
            raise SourceError("the file cannot be kept", where=folder, fix="Check permissions and space.")
    return source, kept


def is_up_to_date(root: str, environ: Mapping[str, str], folder: str = "") -> bool:
    """Return whether the library's catalog can be read and has its present state; without trust there is no library.

    The catalog is the one in a `folder` of compiled files, by default that of the whole commons.
    """
    if not is_trusted(root, environ):
        return True
    state = (files.read(f"{library_folder(root, environ)}/{LIBRARY_STATE}") or b"").decode("ascii", "replace")
    place = f"{folder or derived_folder(root, environ)}/library"
    catalog = (files.read(f"{place}/catalog") or b"").decode("ascii", "replace")
    if not catalog.startswith(library_catalog_name(state)):
        return False
    from deia.search.catalog import is_readable  # noqa: PLC0415 - an index, which few callers need otherwise

    return is_readable(f"{place}/{catalog}")


def bring_up_to_date(root: str, environ: Mapping[str, str], *, force: bool = False) -> None:
    """Compile the catalog of the library, with `force` anew; raise ArtefactError if it cannot be written."""
    if is_up_to_date(root, environ) and not (force and is_trusted(root, environ)):
        return
    _compile_at(root, environ, derived_folder(root, environ), force=force)


def compile_part_of_library(root: str, environ: Mapping[str, str], collections: Sequence[str]) -> None:
    """Compile the collections of the library that a server offers; raise ArtefactError if that is impossible."""
    only = library_collections(collections)
    folder = part_folder(derived_folder(root, environ), collections)
    if only and not is_up_to_date(root, environ, folder):
        _compile_at(root, environ, folder, only=only)


def _compile_at(
    root: str, environ: Mapping[str, str], folder: str, *, force: bool = False, only: Sequence[str] = ()
) -> None:
    from deia.compile.library_catalog import compile_library  # noqa: PLC0415 - numpy and an index, if it changed

    place = f"{folder}/library"
    try:
        compile_library(root, environ, place, force=force, only=only)
    except OSError as error:
        fix = "Free some space, or get write permission for that folder, then type: deia source update"
        raise ArtefactError(f"cannot write the library's catalog: {error}", where=place, fix=fix) from error
