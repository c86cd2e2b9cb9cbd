"""A folder, or a single file, as a source: regular files only, links are not followed, `.gitignore` files count."""

from __future__ import annotations

import os
import sys
import time

from deia import files
from deia.ingest.source import MOST_BYTES, UNLISTED, Found, Source, SourceError
from deia.ingest.source_kinds.folder_door import read_within
from deia.ingest.source_kinds.globs_of_source import IGNORE, Selection, ignore_spec
from deia.records import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pathspec import GitIgnoreSpec

    Ignored = tuple[tuple[str, GitIgnoreSpec], ...]  # the `.gitignore` files above, innermost first, with their folders

RACY_NS = 2_000_000_000  # a file that changed this recently may change again within the same tick of the clock


class FolderFiles:
    """The files of a folder."""

    def __init__(self, source: Source) -> None:
        self._top = source.place
        self._selection = Selection(source)
        self._named: dict[str, str] = {}  # paths that are not valid text, by the text that stands for them
        self._newest = time.time_ns() - RACY_NS
        self._entered: dict[str, str] = {}  # folders and the `.gitignore` files in them, with their stamps before

    def files(self) -> Iterator[Found]:
        """Yield the files that count, sorted by path; a folder that cannot be listed has the stamp `UNLISTED`.

        Raise SourceError if the whole folder, or the single file, is gone, or the folder cannot be listed.
        """
        if os.path.isfile(self._top):
            yield self._found(os.path.basename(self._top), os.stat(self._top))
            return
        if not os.path.isdir(self._top):
            fix = "Put it back, or type: deia source remove NAME"
            raise SourceError(f"there is nothing at {self._top} any more", fix=fix)
        yield from self._below("", ())

    def _below(self, folder: str, ignored: Ignored) -> Iterator[Found]:
        place = f"{self._top}/{folder}"
        before = _stamp(place)
        try:
            with os.scandir(place) as listing:
                entries = sorted(listing, key=lambda entry: entry.name)
        except FileNotFoundError:  # it was there when the folder above was listed
            return
        except OSError as error:
            yield self._unlisted(folder, error)
            return
        self._entered[place] = before
        if any(entry.name == IGNORE for entry in entries):
            self._entered[place + IGNORE] = _stamp(place + IGNORE)
            text = files.read(place + IGNORE) or b""
            ignored = ((folder, ignore_spec(text.decode("utf-8", "replace"))), *ignored)
        for entry in entries:
            path = folder + entry.name
            try:
                is_folder = entry.is_dir(follow_symlinks=False)
                counts = not is_folder and entry.is_file(follow_symlinks=False) and self._counts(path, ignored)
                state = entry.stat(follow_symlinks=False) if counts else None
            except FileNotFoundError:  # it was there when the folder was listed
                continue
            except OSError as error:
                yield self._unlisted(folder, error)
                return
            if is_folder and self._is_open(path, ignored):
                yield from self._below(f"{path}/", ignored)
            elif state is not None:
                yield self._found(path, state)

    def _is_open(self, path: str, ignored: Ignored) -> bool:
        forced = self._selection.forces
        return self._selection.enters(path) and (forced or not _is_ignored(f"{path}/", ignored))

    def _unlisted(self, folder: str, error: OSError) -> Found:
        """Return what stands for a folder that cannot be listed."""
        if not folder:
            fix = "Get permission to read it, and try again."
            raise SourceError(f"the folder {self._top} cannot be listed: {error.strerror}", fix=fix) from error
        return Found(self._shown(folder), UNLISTED)

    def _counts(self, path: str, ignored: Ignored) -> bool:
        is_taken = self._selection.takes(path)
        return is_taken and (not ignored or not _is_ignored(path, ignored) or self._selection.forced(path))

    def _found(self, path: str, state: os.stat_result) -> Found:
        is_racy = state.st_mtime_ns >= self._newest
        stamp = "" if is_racy else f"{state.st_size} {state.st_mtime_ns}"
        return Found(self._shown(path), stamp, state.st_mtime)

    def _shown(self, path: str) -> str:
        shown = path if path.isascii() else path.encode("utf-8", "backslashreplace").decode()
        if shown != path:
            self._named[shown] = path
        return shown

    def read(self, file: Found) -> bytes | None:
        """Return the content of a file, or None if it cannot be read or is too large."""
        if os.path.isfile(self._top):
            return None if files.is_link(self._top) else files.read(self._top, MOST_BYTES)
        return read_within(self._top, self._path(file))

    def _path(self, file: Found) -> str:
        return self._named.get(file.path, file.path)

    def _place(self, file: Found) -> str:
        return self._top if os.path.isfile(self._top) else f"{self._top}/{self._path(file)}"

    def places(self) -> list[str]:
        """Return the paths whose stamps differ if any file that counts is changed, new or gone."""
        try:
            return [self._top, *map(self._place, self.files()), *self._entered]
        except SourceError:
            return [self._top]

    def stamps(self, found: Sequence[Found], most: int) -> dict[str, str]:
        """Return the places of files that were just found, or of their folders if they are more than `most`.

        Each has the stamp that it had then. That of a file is "" if it was too fresh to tell a later change, and on
        Windows, where a listing shows old stamps of files that are held open or have several names.
        """
        few = [file for file in found if file.stamp != UNLISTED] if len(found) + len(self._entered) <= most else []
        listed = {self._place(file): "" if sys.platform == "win32" else file.stamp for file in few}
        return {self._top: "", **listed, **self._entered}

    def close(self) -> None:
        """Do nothing: no file is left open."""


def _stamp(place: str) -> str:
    return " ".join(map(str, files.stamp(place) or ()))


def _is_ignored(path: str, ignored: Ignored) -> bool:
    """Return whether the innermost `.gitignore` that names a path keeps it out."""
    for folder, patterns in ignored:
        verdict = patterns.check_file(path.removeprefix(folder)).include
        if verdict is not None:
            return bool(verdict)
    return False
