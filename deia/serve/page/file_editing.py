"""Edit a document or a file of triggers in the browser: a preview first, then the checks that the commands make.

What would add an error to the commons is not kept, and a file that somebody else changed meanwhile is not overwritten.
Git stays the truth: nothing is committed.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from deia.commons.checks import lint
from deia.commons.index.documents import DOCUMENT_BYTES
from deia.commons.index.read_index import find_index
from deia.commons.source_files import safe_files
from deia.commons.source_files.front_matter import split
from deia.commons.source_files.write_lock import hold_write_lock
from deia.commons.triggers.own_act_words import PATH as OWN_ACT_WORDS
from deia.commons.triggers.read_triggers import ENDINGS, FOLDER, load_triggers
from deia.commons.write.revise_lesson import revise_lesson, revised_text
from deia.commons.write.trash import copies, drop_copy
from deia.errors import QueryError
from deia.fast_json import Json
from deia.learn.apply import digest, refuse_mixed
from deia.learn.line_diff import line_diff
from deia.problems import CommonsError, Problem
from deia.serve.page.asked_values import MOST_TEXT, Asked, name, text
from deia.serve.page.case_making import note_change
from deia.serve.page.lesson_views import forget, loaded
from deia.serve.server.desk import Desk
from deia.settings import resolve

BOM = "\ufeff"  # a byte order mark
RELOAD = "Open it again, and make your change there."


def editable_text(desk: Desk, asked: Asked) -> dict[str, Json]:
    """Return what can be edited: the text of a document below its metadata, or a whole file of triggers or cases."""
    path, ident, data = _found(desk, asked)
    whole = _decoded(path, data)
    shown = split(whole, path=path).body if ident else whole
    if len(shown) > MOST_TEXT:
        problem = f"{path} has more than {MOST_TEXT:,} characters, too many to be edited here."
        raise CommonsError(problem, fix="Edit the file itself in an editor.")
    return {"path": path, "text": shown, "digest": digest(data)}


def _found(desk: Desk, asked: Asked) -> tuple[str, str, bytes]:
    """Return the path of what is edited, the id of a document, and the bytes of the file."""
    path, ident = _place(desk, asked)
    data = safe_files.read_bytes(desk.writable, path, limit=DOCUMENT_BYTES)
    if data is None:
        raise CommonsError(f"There is no file {path}.", fix=RELOAD)
    return path, ident, data


def _decoded(path: str, data: bytes) -> str:
    """Return a file as text, with one kind of line end; raise CommonsError if bytes would be lost when it is saved."""
    refuse_mixed(path, data)
    text = data.decode().removeprefix(BOM).replace("\r\n", "\n")
    if "\r" in text or "\0" in text:
        raise CommonsError(f"{path} has carriage returns or zero bytes inside.", fix="Edit the file in an editor.")
    return text


def _place(desk: Desk, asked: Asked) -> tuple[str, str]:
    """Return the path of what is edited, and the id of the document, "" for a file of triggers or cases."""
    ident, path = name(asked, "id"), name(asked, "path")
    if ident:
        entry = next((entry for entry in loaded(desk).whole.entries if entry.id == ident), None)
        if entry is None:
            raise QueryError(f"there is no document {ident!r}", fix="To see them all, open Lessons.")
        return entry.path, ident
    path = safe_files.normalise(path)
    if not (path.startswith(f"{FOLDER}/") and path.endswith(ENDINGS)):
        raise QueryError(f"{path!r} is no file of triggers or cases", fix="To see them all, open Lessons.")
    return path, ""


def preview(desk: Desk, asked: Asked) -> dict[str, Json]:
    """Return the lines of the file that saving would change, and what is wrong with the new text by itself."""
    path, ident, data = _found(desk, asked)
    before, root = _decoded(path, data), desk.writable
    after = _to_write(desk, ident, before, text(asked, "text"))
    problems = split(after, path=path).problems if ident else _trigger_problems(root, path, after)
    return {"diff": "\n".join(line_diff(path, before, after)), "problems": [str(problem) for problem in problems]}


def _to_write(desk: Desk, ident: str, before: str, typed: str) -> str:
    """Return the whole text that saving writes."""
    typed = typed.replace("\r\n", "\n")
    return revised_text(before, typed, {"updated": desk.today}) if ident else f"{typed.rstrip()}\n"


def _trigger_problems(root: str, path: str, after: str) -> Sequence[Problem]:
    """Return the problems of a file of triggers or cases, read beside its companion as the commons would read it."""
    stem = path.partition(".")[0]
    beside = [other for ending in ENDINGS for other in safe_files.list_files(root, FOLDER, ending)]
    needed = [other for other in beside if other.partition(".")[0] == stem or other == OWN_ACT_WORDS]
    with tempfile.TemporaryDirectory(prefix="deia-page-") as folder:
        for other in {*needed, path}:
            data = after.encode("utf-8", "replace") if other == path else safe_files.read_bytes(root, other) or b""
            safe_files.create(folder, other, data)
        return [problem for problem in load_triggers(folder).problems if problem.path == path]


def save(desk: Desk, asked: Asked) -> dict[str, Json]:
    """Write a new text, unless it adds an error to the commons; return the path and the warnings that it adds."""
    root, typed = desk.writable, text(asked, "text")
    with hold_write_lock(root):
        path, ident, before = _found(desk, asked)
        if digest(before) != name(asked, "digest"):
            raise CommonsError(f"{path} was changed meanwhile.", fix=RELOAD)
        after = _to_write(desk, ident, _decoded(path, before), typed)
        known = {(problem.path, problem.code, problem.found) for problem in find_problems(root)}
        with _restoring(root, path):
            if ident:
                revise_lesson(root, ident, text=typed, today=desk.today, stamp=desk.stamp)
            else:
                safe_files.write_bytes(root, path, _like(before, after))
            problems = [
                problem for problem in find_problems(root) if (problem.path, problem.code, problem.found) not in known
            ]
            _refuse_errors(path, problems)
    forget(desk.root)
    note_change(root, f"page: edited {os.path.basename(path)}")
    return {"path": path, "warnings": [str(problem) for problem in problems]}


def _like(before: bytes, after: str) -> bytes:
    """Return a text as bytes, with the line ends and the byte order mark that the file has."""
    whole = after.replace("\n", "\r\n") if b"\r\n" in before else after
    return (BOM if before.startswith(BOM.encode()) else "").encode() + whole.encode("utf-8", "replace")


@contextmanager
def _restoring(root: str, path: str) -> Iterator[None]:
    """Restore a file and the index if an edit of them fails, and leave no copy in the trash."""
    kept = {kept_path: safe_files.read_bytes(root, kept_path) for kept_path in (path, find_index(root)) if kept_path}
    copies_before = copies(root)
    is_done = False
    try:
        yield
        is_done = True
    finally:
        if not is_done:
            for other, data in kept.items():
                if data is not None and safe_files.read_bytes(root, other) != data:
                    safe_files.write_bytes(root, other, data)
            for copy in copies(root) - copies_before:
                drop_copy(root, copy, path)


def _refuse_errors(path: str, problems: Sequence[Problem]) -> None:
    wrong = [problem for problem in problems if problem.severity == "error"]
    if wrong:
        listed = "; ".join(f"line {problem.line}: {problem.found} {problem.fix}" for problem in wrong[:5])
        raise CommonsError(f"Nothing was changed, since {path} would have errors.", wrong, fix=listed)


def find_problems(root: str) -> list[Problem]:
    """Return every problem of a commons, as `deia lint` does."""
    settings = resolve(root, environ=os.environ)
    return lint(root, starter=settings.starter, settings=settings)
