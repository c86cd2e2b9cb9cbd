"""Edit a document or a file of triggers in the browser: a preview first, then the checks that the commands make.

What would add an error to the commons is not kept, and a file that somebody else changed meanwhile is not overwritten.
Git stays the truth: nothing is committed.
"""

from __future__ import annotations

import difflib
import os
import tempfile
from collections.abc import Sequence

from deia.commons.checks import lint
from deia.commons.index.documents import DOCUMENT_BYTES
from deia.commons.index.read_index import find_index
from deia.commons.source_files import safe_files
from deia.commons.source_files.front_matter import split
from deia.commons.source_files.write_lock import hold_write_lock
from deia.commons.triggers.own_act_words import PATH as OWN_ACT_WORDS
from deia.commons.triggers.read_triggers import ENDINGS, FOLDER, load_triggers
from deia.commons.write.revise_lesson import revise_lesson
from deia.errors import QueryError
from deia.fast_json import Json
from deia.learn.apply import digest
from deia.problems import CommonsError, Problem
from deia.serve.page.asked_values import Asked, name, text
from deia.serve.page.case_making import note_change
from deia.serve.page.lesson_views import forget, loaded
from deia.serve.server.desk import Desk
from deia.settings import resolve

RELOAD = "Open it again, and make your change there."


def editable_text(desk: Desk, asked: Asked) -> dict[str, Json]:
    """Return what can be edited: the text of a document below its metadata, or a whole file of triggers or cases."""
    path, ident = _place(desk, asked)
    data = safe_files.read_bytes(desk.writable, path)
    if data is None:
        raise CommonsError(f"There is no file {path}.", fix=RELOAD)
    whole = data.decode("utf-8", "replace").replace("\r\n", "\n")
    return {"path": path, "text": split(whole, path=path).body if ident else whole, "digest": digest(data)}


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
    """Return the lines that would change, and what is wrong with the new text by itself."""
    before, after = editable_text(desk, asked), text(asked, "text")
    path, old = str(before["path"]), str(before["text"])
    lines = difflib.unified_diff(old.split("\n"), after.split("\n"), path, path, lineterm="", n=2)
    found = split(after, path=path).problems if asked.get("id") else _trigger_problems(desk.writable, path, after)
    return {"diff": "\n".join(lines), "problems": [str(problem) for problem in found]}


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
    root, (path, ident), after = desk.writable, _place(desk, asked), text(asked, "text")
    with hold_write_lock(root):
        before = safe_files.read_bytes(root, path, limit=DOCUMENT_BYTES)
        if before is None or digest(before) != name(asked, "digest"):
            raise CommonsError(f"{path} was changed meanwhile.", fix=RELOAD)
        known, index = _known(root), find_index(root)
        kept = {path: before} | ({index: safe_files.read_bytes(root, index)} if index else {})
        if ident:
            revise_lesson(root, ident, text=after, today=desk.today, stamp=desk.stamp)
        else:
            ends = "\r\n" if b"\r\n" in before else "\n"
            safe_files.write_text(root, path, f"{after.rstrip()}\n".replace("\n", ends))
        added = [problem for problem in find_problems(root) if (problem.path, problem.code, problem.found) not in known]
        wrong = [problem for problem in added if problem.severity == "error"]
        if wrong:
            for other, data in kept.items():
                safe_files.write_bytes(root, other, data or b"")
            listed = "; ".join(f"line {problem.line}: {problem.found} {problem.fix}" for problem in wrong[:5])
            raise CommonsError(f"Nothing was changed, since {path} would have errors.", wrong, fix=listed)
    forget(desk.root)
    note_change(root, f"page: edited {os.path.basename(path)}")
    return {"path": path, "warnings": [str(problem) for problem in added]}


def find_problems(root: str) -> list[Problem]:
    """Return every problem of a commons, as `deia lint` does."""
    settings = resolve(root, environ=os.environ)
    return lint(root, starter=settings.starter, settings=settings)


def _known(root: str) -> set[tuple[str, str, str]]:
    return {(problem.path, problem.code, problem.found) for problem in find_problems(root)}
