"""The audit of the state that answers come from, by stamps and small files: index, compiled files and library.

Every answer is audited, so nothing here costs more than some file stamps, and nothing is repaired.
"""

from __future__ import annotations

from deia import fast_json, files, freshness
from deia.commons.source_files.findings import quote
from deia.compile.health import ACCEPT, Health, read_health
from deia.fast_json import Json
from deia.folders import LIBRARY_SOURCES, LIBRARY_STAMPS, derived_folder, state_folder
from deia.records import TYPE_CHECKING, Record
from deia.text import counted, one_line, shorten

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

MOST_NAMED = 5
MOST_TEXT = 160  # characters of what a file or a source brings into a message
SERVERS = "servers"  # the folder of the notes of servers that listen
PROCESSED, FAILED = "processed", "failed"  # states of a source, all others being underway
COMPILE = "Type: deia compile"
UPDATE = "Type: deia source update"


class Place(Record):
    """Where the state is that is audited."""

    root: str
    folder: str  # of the compiled files
    library: str = ""  # the folder of the library; "" if answers do not come from one
    headers: Sequence[Mapping[str, Any]] = ()  # of the open catalogs
    here: str = ""  # the working folder from which the commons was looked for, if it was
    environ: Mapping[str, str] = {}
    is_fresh: bool = False  # whether the sources are known to be as they were compiled


class Issue(Record):
    """One thing that is wrong with the state, and what to do about it."""

    text: str
    fix: str
    is_error: bool = False  # whether answers cannot be relied on


class State(Record):
    """The state that answers come from."""

    findings: tuple[Issue, ...]
    index: str
    entries: int
    manifest: bool  # whether there are compiled files that can be read
    chunks: int
    vectors: int
    by_status: Mapping[str, int]  # how many sources of the library have it
    stale: tuple[str, ...] = ()  # sources that changed since they were taken in
    gone: tuple[str, ...] = ()  # documents whose files are gone
    server: str = ""  # the address of a server of this commons; "" if none runs

    @property
    def is_valid(self) -> bool:
        """Whether answers can be relied on."""
        return not any(issue.is_error for issue in self.findings)

    @property
    def issues(self) -> tuple[str, ...]:
        """What is wrong, in words."""
        return tuple(issue.text for issue in self.findings)

    @property
    def recommendations(self) -> tuple[str, ...]:
        """What to do about it."""
        return tuple(dict.fromkeys(issue.fix for issue in self.findings))

    def short(self) -> dict[str, Json]:
        """Return what every answer says of the state."""
        stats = {"sources": sum(self.by_status.values()), "chunks": self.chunks, "vectors": self.vectors}
        return {"isValid": self.is_valid, "issues": [*self.issues], "stats": stats}

    def to_dict(self) -> dict[str, Json]:
        """Return all that is known of the state."""
        counted = {name: self.by_status.get(name, 0) for name in (PROCESSED, FAILED)}
        total = sum(self.by_status.values())
        return {
            **self.short(),
            "index": {"path": self.index, "entries": self.entries},
            "manifest": {"isValid": self.manifest},
            "sources": {"total": total, "pending": total - sum(counted.values()), **counted},
            "stale": [*self.stale],
            "gone": [*self.gone],
            "server": {"running": bool(self.server), "address": self.server},
            "recommendations": [*self.recommendations],
        }


def audit_state(place: Place) -> State:
    """Return the state of what answers come from."""
    health, sources = read_health(place.folder), _sources(place.library)
    statuses = [str(fields.get("status", "")) for fields in sources.values()]
    stale = {name: path for name in sources if (path := _changed(place, name))}
    chunks = sum(int(header.get("chunks", 0)) for header in place.headers)
    vectors = sum(map(_vectors, place.headers))
    manifest = files.exists(f"{place.folder}/manifest.json")
    findings = [
        *_of_index(place, health),
        *_of_compiled_files(place, manifest=manifest, chunks=chunks, vectors=vectors),
        *_of_sources(sources, stale),
    ]
    return State(
        findings=tuple(findings), index=health.index, entries=health.entries, manifest=manifest, chunks=chunks,
        vectors=vectors, by_status={status: statuses.count(status) for status in statuses}, stale=tuple(stale),
        gone=health.gone, server=next((at for root, at in running_servers(place.environ) if root == place.root), ""),
    )  # fmt: skip


def stamp_of(place: Place) -> tuple[object, ...]:
    """Return a value that differs after anything was compiled or taken in: until then a state holds."""
    names = (f"{place.folder}/health.json", f"{place.folder}/manifest.json", f"{place.folder}/catalog")
    return (*map(files.stamp, names), *(header.get("built_at") for header in place.headers)) + (
        (files.stamp(f"{place.library}/{LIBRARY_SOURCES}"),) if place.library else ()
    )


def server_note(environ: Mapping[str, str], process: int) -> str:
    """Return the path of the note that a server writes while it listens."""
    return f"{state_folder(environ)}/{SERVERS}/{process}"


def running_servers(environ: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the root and the address of each server whose process is there; notes of others are removed."""
    for name in files.names(f"{state_folder(environ)}/{SERVERS}"):
        process = int(name) if name.isascii() and name.isdigit() else 0
        note = server_note(environ, process)
        if process and files.is_running(process):
            root, _, address = (files.read(note) or b"").decode("utf-8", "surrogateescape").partition("\n")
            yield root, one_line(address)
        elif process:
            files.remove(note)


# --- the index and the compiled files ---


def _of_index(place: Place, health: Health) -> Iterator[Issue]:
    if health.lost:
        yield Issue(text=shorten(one_line(health.lost), MOST_TEXT), fix=ACCEPT, is_error=True)
    elif health.index and not _is_readable(place.root, health.index):
        text = f"{health.index} cannot be read; it had {counted(health.entries, 'entry')}"
        yield Issue(text=text, fix=f"Type: ls -l {place.root}/{health.index}", is_error=True)
    yield from _hidden(place)
    if health.gone:
        more = f" and {len(health.gone) - MOST_NAMED} more" if len(health.gone) > MOST_NAMED else ""
        text = (
            f"the index lists documents whose files are gone: {', '.join(map(quote, health.gone[:MOST_NAMED]))}{more}"
        )
        yield Issue(text=text, fix="Restore them, or remove their entries. To see their lines, type: deia lint")


def _is_readable(root: str, name: str) -> bool:
    path = f"{root}/{name}"
    leads_out = files.is_link(path) and not files.real(path).startswith(f"{files.real(root)}/")
    return files.is_regular(path) and files.system.access(path, 4) and not leads_out


def _hidden(place: Place) -> Iterator[Issue]:
    """Yield that a folder between the working folder and the commons was one itself, whose index is gone."""
    for folder in files.upwards(place.here) if place.here else ():
        if folder == place.root:
            return
        for trusted in (True, False):
            health = read_health(derived_folder(folder, place.environ, trusted=trusted))
            if health.index and not files.exists(f"{folder}/{health.index}"):
                had = counted(health.entries, "entry")
                text = f"{folder}/{health.index} is gone; it had {had}, and another commons counts"
                yield Issue(text=text, fix=f"Restore it, or type: deia init {folder}", is_error=True)
                return


def _of_compiled_files(place: Place, *, manifest: bool, chunks: int, vectors: int) -> Iterator[Issue]:
    if not manifest:
        yield Issue(text="there are no compiled files", fix=COMPILE, is_error=True)
    compare = manifest and not place.is_fresh
    if compare and (changed := freshness.changed(place.folder, place.root, freshness.DOCUMENTS)):
        yield Issue(text=f"{changed} changed since the commons was compiled", fix=COMPILE)
    if place.headers and vectors not in (0, chunks):
        yield Issue(text=f"there are {vectors} vectors for {chunks} passages", fix=f"{COMPILE} --force", is_error=True)


def _vectors(header: Mapping[str, Any]) -> int:
    """Return how many passages of a catalog have vectors of its best tier."""
    sizes: Mapping[str, int] = header.get("sizes", {})
    tiers: Mapping[str, Mapping[str, int]] = header.get("tiers", {})
    counts = [
        (sizes[f"{tier}.codes"] - 1) // max(1, int(fields.get("dimensions", 1)))
        for tier, fields in tiers.items()
        if f"{tier}.codes" in sizes
    ]
    return max(counts, default=0)


# --- the library ---


def _sources(library: str) -> dict[str, dict[str, str]]:
    """Return how each source of a library stands."""
    try:
        value = fast_json.loads((files.read(f"{library}/{LIBRARY_SOURCES}") or b"{}").decode("utf-8", "replace"))
        return {str(name): dict(fields) for name, fields in value.items()} if library else {}
    except (ValueError, TypeError, AttributeError):
        return {}


def _changed(place: Place, name: str) -> str:
    """Return a file of a source that changed since it was taken in, or "" if none did or that cannot be told."""
    folder = f"{place.library}/{LIBRARY_STAMPS}"
    size, _ = files.stamp(f"{folder}/{name}") or (0, 0)
    return freshness.changed(folder, "", name) if size else ""


def _of_sources(sources: Mapping[str, Mapping[str, str]], stale: Mapping[str, str]) -> Iterator[Issue]:
    for name, fields in [*sources.items()][:MOST_NAMED]:
        place = fields.get("place", "")
        if name in stale and place and not files.exists(place):
            fix = f"Put it back, or type: deia source remove {name}"
            yield Issue(text=f"the source {name} is gone from {place}", fix=fix)
        elif name in stale:
            text = f"the source {name} changed since it was taken in: {stale[name]}"
            yield Issue(text=text, fix=f"{UPDATE} {name}")
        elif fields.get("status") == FAILED:
            if fields.get("empty"):  # no answer misses what there never was; `deia source list` shows that it failed
                continue
            from deia.ingest.source import without_password  # noqa: PLC0415 - few sources fail

            error = shorten(one_line(without_password(fields.get("error", ""), place)).rstrip("."), MOST_TEXT)
            yield Issue(text=f"the source {name} could not be taken in: {error}", fix=f"{UPDATE} {name}")
        elif fields.get("status") != PROCESSED:
            yield Issue(text=f"the source {name} is not taken in yet", fix=f"{UPDATE} {name}")
