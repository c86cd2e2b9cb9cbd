"""Take existing notes into a commons: those inside it are read where they are, others are copied into `bok/`.

A copy is the whole note; what its conventions say of it becomes its entry in the index. Nothing is overwritten,
and a note that was imported before is recognised.
"""

from __future__ import annotations

import contextlib
import os
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from deia.commons.index.documents import DOCUMENT_BYTES, as_document, read_documents
from deia.commons.index.entries import derived_entry
from deia.commons.index.load_commons import build_entries
from deia.commons.index.read_index import find_index, load_index
from deia.commons.layers.lower_ids import LowerIds, lower_ids
from deia.commons.notes.conventions import NOTE, Kind, kind_of
from deia.commons.notes.list_notes import escaped, find_notes
from deia.commons.notes.note_text import read_note, with_links
from deia.commons.source_files import front_matter, safe_files
from deia.commons.source_files.findings import Findings
from deia.commons.source_files.slugs import id_from_path, slug
from deia.commons.source_files.write_lock import with_write_lock
from deia.commons.write import index_store
from deia.fast_json import Json, dumps
from deia.folders import INDEX_NAMES
from deia.knowledge import Document, Entry
from deia.problems import CommonsError, Problem
from deia.records import Record
from deia.settings import resolve

IN_PLACE, COPIED, KNOWN = "in place", "copied", "known"


class Note(Record):
    """A note that is imported, or was imported before."""

    source: str  # the file, as the person would name it
    how: str
    kind: Kind
    entry: Entry
    content: bytes = b""  # of a copy


class Import(Record):
    """What an import would do, or did."""

    notes: tuple[Note, ...]
    globs: tuple[str, ...] = ()  # that the settings get
    problems: tuple[Problem, ...] = ()
    left_out: Mapping[str, int] = {}  # the number of other files, by ending or name

    def having(self, how: str) -> list[Note]:
        """Return the notes that are imported in this way."""
        return [note for note in self.notes if note.how == how]


class _Selection(Record):
    """The notes of one folder or file that a person named."""

    base: str  # the folder from which the paths are given
    paths: tuple[str, ...]
    shown: str = ""  # what a person writes before a path
    glob: str = ""  # what names them in the settings; "" if they are copied


def plan_import(root: str, sources: Sequence[str], *, copy: bool, category: str, environ: Mapping[str, str]) -> Import:
    """Return what an import of some files and folders into the commons at `root` would do.

    Files that cannot be imported are reported, all of them. Raise CommonsError if nothing can be imported at all.
    """
    problems: list[Problem] = []
    left_out: Counter[str] = Counter()
    selections = [selection for source in sources for selection in _selections(root, source, copy, problems, left_out)]
    settings = resolve(root, environ=environ)
    in_place = list(_in_place(root, selections, settings.documents, problems))
    new = {note.source for note in in_place if note.how == IN_PLACE}
    globs = tuple(
        dict.fromkeys(
            selection.glob for selection in selections if selection.glob and not new.isdisjoint(selection.paths)
        )
    )
    if globs and not settings.trusted:
        message = "The settings of this commons do not count until you trust it, so its notes cannot be read in place."
        raise CommonsError(message, fix="In a terminal, type: deia trust. Or copy the notes with --copy.")
    copies = _Copies(root, category, lower_ids(root))
    for selection in selections:
        if not selection.glob:
            copies.add(selection, problems)
    return Import(notes=(*in_place, *copies.notes()), globs=globs, problems=tuple(problems), left_out=left_out)


@with_write_lock
def import_notes(root: str, plan: Import, *, today: str, environ: Mapping[str, str]) -> None:
    """Write what a plan says: the copies, their entries in the index, and the setting.

    Raise CommonsError if that fails, after the copies were removed again and the settings are as before.
    """
    copies = plan.having(COPIED)
    before = safe_files.read_bytes(root, SETTINGS)
    settings = (before or b"").decode("utf-8", "replace")
    if plan.globs:
        settings = with_globs(settings, [*resolve(root, environ=environ).documents, *plan.globs])
    safe_files.checked_place(root, find_index(root) or INDEX_NAMES[0])
    written: list[str] = []
    try:
        for note in copies:
            safe_files.create(root, note.entry.path, note.content)
            written.append(note.entry.path)
        if plan.globs:  # before the index, whose entries could not be taken back
            safe_files.write_text(root, SETTINGS, settings)
        if copies:
            index_store.add_entries(root, [index_store.filled(note.entry) for note in copies], today=today)
    except CommonsError:
        for path in written:
            with contextlib.suppress(CommonsError):
                safe_files.remove(root, path)
        with contextlib.suppress(CommonsError):
            if plan.globs and before is not None:
                safe_files.write_bytes(root, SETTINGS, before)
            elif plan.globs:
                safe_files.remove(root, SETTINGS)
        raise


# --- what a person named ---


def _selections(
    root: str,
    source: str,
    copy: bool,  # noqa: FBT001 - the option of the command
    problems: list[Problem],
    left_out: Counter[str],
) -> Iterator[_Selection]:
    """Yield the notes that a person named with one file or folder."""
    place, top = os.path.realpath(source), os.path.realpath(root)
    inside = os.path.relpath(place, top).replace(os.sep, "/") if f"{place}{os.sep}".startswith(f"{top}{os.sep}") else ""
    if not source or not os.path.exists(place):
        problems.append(_problem(source, "There is no such file or folder.", "Check how it is written."))
    elif inside.split("/")[0] == "bok":
        fix = "To enter its documents in the index, type: deia index build --write"
        problems.append(_problem(source, "It is in bok/, where every document is read already.", fix))
    elif os.path.isdir(place):
        listing = find_notes(top if inside else place, "" if inside in ("", ".") else inside)
        left_out.update(listing.left_out)
        if not listing.notes:
            problems.append(_problem(source, "There are no notes in it.", "Notes are Markdown files (.md, .mdc)."))
        glob = "**" if inside == "." else f"{escaped(inside)}/**" if inside else ""
        yield _selection(root, source, place, listing.notes, "" if copy else glob, inside=inside)
    elif inside and not copy:
        yield _Selection(base=top, paths=(inside,), glob=escaped(inside))
    else:
        folder, name = os.path.split(place)
        yield _Selection(base=folder, paths=(name,), shown=os.path.dirname(source))


def _selection(root: str, source: str, place: str, notes: Sequence[str], glob: str, *, inside: str) -> _Selection:
    """Return the notes of a folder; paths of copies are given from that folder."""
    if glob:
        return _Selection(base=os.path.realpath(root), paths=tuple(notes), glob=glob)
    prefix = f"{inside}/" if inside not in ("", ".") else ""
    return _Selection(base=place, paths=tuple(path.removeprefix(prefix) for path in notes), shown=source)


def _problem(path: str, message: str, fix: str) -> Problem:
    return Problem(path=path, line=0, found=message, fix=fix, code="not-imported")


# --- notes that are read where they are ---


def _in_place(
    root: str, selections: Sequence[_Selection], globs: Sequence[str], problems: list[Problem]
) -> Iterator[Note]:
    """Yield the notes inside the commons, as the documents that they become."""
    named = {path for selection in selections if selection.glob for path in selection.paths}
    if not named:
        return
    listed = load_index(root).entries
    before = read_documents(root, also=tuple(entry.path for entry in listed), globs=globs).by_path
    read = read_documents(root, also=(*(entry.path for entry in listed), *sorted(named)))
    problems += [problem for problem in read.problems if problem.path in named]
    missing = sorted(named - read.by_path.keys() - {problem.path for problem in read.problems})
    problems += [_problem(path, "It cannot be read.", "Put a regular file of at most 2 MB there.") for path in missing]
    for entry in build_entries(listed, read.by_path, []):
        if entry.path in named:
            how = KNOWN if entry.path in before else IN_PLACE
            yield Note(source=entry.path, how=how, kind=_kind(read.by_path[entry.path]), entry=entry)


def _kind(document: Document) -> Kind:
    return kind_of(document.path, read_note(document.text).sections)


# --- notes that are copied ---


class _Copies:
    """The notes that are copied, each with a path and an id that nothing else has."""

    def __init__(self, root: str, category: str, lower: LowerIds) -> None:
        self._root, self._category, self._lower = root, category, lower
        self._listed = load_index(root).entries
        self._ids = {entry.id for entry in self._listed}
        self._notes: list[Note] = []
        self._paths: set[str] = set()

    def notes(self) -> list[Note]:
        """Return the notes."""
        return self._notes

    def add(self, selection: _Selection, problems: list[Problem]) -> None:
        """Add the notes of a folder, linked with each other and with what the index lists."""
        documents, contents = _read_all(selection, problems)
        kinds = {path: _kind(document) for path, document in documents.items()}
        places = {path: self._place(path, kinds[path], contents[path]) for path in documents}
        entries = [self._entry(document, places[path][0]) for path, document in documents.items()]
        linked = with_links([*self._listed, *entries], documents, documents)[len(self._listed) :]
        for entry in linked:
            target, is_known = places[entry.path]
            how, content = KNOWN if is_known else COPIED, contents[entry.path]
            source, placed = os.path.join(selection.shown, entry.path), entry.but(path=target)
            self._notes.append(Note(source=source, how=how, kind=kinds[entry.path], entry=placed, content=content))

    def _place(self, path: str, kind: Kind, content: bytes) -> tuple[str, bool]:
        """Return where a note goes, and whether it is there already."""
        folder, _, name = path.rpartition("/")
        parts = [slug(part) for part in folder.split("/") if part.strip(". ")]
        below = self._category or (kind.bok if kind is not NOTE or not parts else "/".join(parts[-3:]))
        stem = slug(front_matter.name_in_words(name))
        for candidate in _candidates(stem, parts):
            target = f"bok/{below}/{candidate}.md"
            if target in self._paths:
                continue
            if not os.path.lexists(os.path.join(self._root, target)):
                self._paths.add(target)
                return target, False
            if safe_files.read_bytes(self._root, target) == content:
                self._paths.add(target)
                return target, True
        raise CommonsError(f"There is no free name for {path}.", fix="Copy it to another --category.")

    def _entry(self, document: Document, target: str) -> Entry:
        """Return the entry of a copy, still with the path of the note, by which its links are read."""
        known = next((entry for entry in self._listed if entry.path == target), None)
        if known:
            return known.but(path=document.path)
        entry = derived_entry(document, Findings(document.path))
        is_own = entry.id == slug(entry.id) and entry.id != id_from_path(document.path)
        own = entry.id if is_own else id_from_path(target)
        ident, number = self._lower.free_id(own), 2
        while ident in self._ids:
            ident, number = self._lower.free_id(f"{own}-{number}"), number + 1
        self._ids.add(ident)
        return entry.but(id=ident)


def _candidates(stem: str, parts: Sequence[str]) -> Iterator[str]:
    """Yield names for a copy: its own, with its folder, and numbered."""
    yield stem
    if parts:
        yield f"{parts[-1]}-{stem}"
    yield from (f"{stem}-{number}" for number in range(2, 1000))


def _read_all(selection: _Selection, problems: list[Problem]) -> tuple[dict[str, Document], dict[str, bytes]]:
    """Read notes outside of the commons; those that cannot be read are reported."""
    documents: dict[str, Document] = {}
    contents: dict[str, bytes] = {}
    for path in selection.paths:
        text = safe_files.read_text(selection.base, path, limit=DOCUMENT_BYTES)
        name_problem = safe_files.file_name_problem(path)
        if name_problem or text.problems:
            own_problems = [name_problem] if name_problem else text.problems
            problems += [problem.but(path=os.path.join(selection.shown, path)) for problem in own_problems]
            continue
        documents[path] = as_document(front_matter.split(text.text, path=path), path)
        contents[path] = text.text.encode("utf-8", "replace")
    return documents, contents


# --- the setting ---

SETTINGS = "deia.toml"
SETTING = "documents"


def with_globs(text: str, globs: Sequence[str]) -> str:
    """Return the text of the settings with `globs` as the setting `documents`; everything else stays as it is.

    The new text is parsed and compared. Raise CommonsError if the file is broken, or if the setting is written in a way
    that this edit cannot change.
    """
    before = parsed_settings(text)
    line = f"{SETTING} = [{', '.join(map(dumps, globs))}]"
    lines = text.split("\n")
    first_table = next((at for at, old in enumerate(lines) if old.lstrip().startswith("[")), len(lines))
    place = next((at for at in range(first_table) if lines[at].partition("=")[0].strip() == SETTING), -1)
    if place >= 0:
        after = "\n".join([*lines[:place], line, *lines[place + 1 :]])
    else:
        end = max((at + 1 for at in range(first_table) if lines[at].strip()), default=0)
        after = "\n".join([*lines[:end], line, *(lines[end:] or [""])])
    if (place >= 0 and "#" in lines[place]) or not says_exactly(after, {**before, SETTING: list(globs)}):
        fix = f"Write it there yourself: {line}"
        raise CommonsError(f"{SETTINGS} has {SETTING} in a form that deia import does not change.", fix=fix)
    return after


def says_exactly(text: str, wanted: Mapping[str, Json]) -> bool:
    """Return whether a text of settings has exactly these values."""
    try:
        return parsed_settings(text) == wanted
    except CommonsError:
        return False


def parsed_settings(text: str) -> dict[str, Json]:
    """Return the settings that a text has; raise CommonsError if it is not TOML."""
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise CommonsError(f"{SETTINGS} is not valid TOML: {error}", fix="Correct it by hand first.") from error
