"""Accepted proposals are written to the commons and to a changelog, and can be taken back byte for byte.

`telemetry/CHANGES.jsonl` says what was done, why, and which lines changed; a person may keep it in git. It is written
first, so that no change lacks its line. A file that somebody else changed meanwhile is not overwritten, and lines that
are no longer there are not taken back. Anybody can have written a changelog: taking back touches only such files as
applying writes, and only where the lines are those that the changelog describes.
"""

from __future__ import annotations

import codecs
import contextlib
import difflib
import hashlib
from collections.abc import Iterator, Mapping, Sequence

from deia import files, spool
from deia.commons.index.documents import ENDING
from deia.commons.index.load_commons import load_commons
from deia.commons.index.read_index import find_index, load_index
from deia.commons.source_files import safe_files
from deia.commons.source_files.findings import quote
from deia.commons.source_files.write_lock import hold_write_lock
from deia.commons.triggers.cases import ENDINGS as CASES_ENDINGS
from deia.commons.triggers.read_triggers import ENDINGS as TRIGGER_ENDINGS
from deia.commons.triggers.read_triggers import FOLDER as TRIGGERS
from deia.commons.write.import_notes import SETTINGS
from deia.fast_json import Json, dumps, loads
from deia.learn.file_edits import edit_texts, is_undone_form
from deia.learn.line_diff import CLOSE, equal_ends, line_diff, plain_text
from deia.learn.proposals import Proposal
from deia.problems import CommonsError
from deia.records import Record
from deia.typed_json import plain, read_record

CHANGELOG = "telemetry/CHANGES.jsonl"
MOST_CHANGELOG = 64_000_000  # bytes
CONTEXT = 2  # lines around a hunk by which it is found again


class Hunk(Record):
    """Lines of a file that were replaced by others; `at` counts from 0 in the new file."""

    at: int
    old: tuple[str, ...]
    new: tuple[str, ...]
    above: tuple[str, ...] = ()
    below: tuple[str, ...] = ()


class FileEdit(Record):
    """One file before and after; a digest is empty if the file did not exist."""

    path: str
    before: str
    after: str
    hunks: tuple[Hunk, ...]


class AppliedProposal(Record):
    """One entry of the changelog."""

    id: str
    at: str
    does: tuple[str, ...]
    because: str
    files: tuple[FileEdit, ...]
    kind: str = ""
    targets: tuple[str, ...] = ()  # the ids that its changes are about
    undone: bool = False
    line: int = 0  # of the changelog


def apply_proposal(root: str, proposal: Proposal, *, now: float) -> AppliedProposal:
    """Write a proposal into the commons, and an entry into the changelog."""
    with hold_write_lock(root):
        if any(entry.id == proposal.id and not entry.undone for entry in read_changes(root)):
            fix = f"To take it back, type: deia learn undo {proposal.id}"
            raise CommonsError(f"{proposal.id} was applied already.", fix=fix)
        before = {path: safe_files.read_bytes(root, path) for path in proposal.files}
        texts = edit_texts(load_commons(root), proposal.changes)
        before |= {path: safe_files.read_bytes(root, path) for path in texts if path not in before}
        contents = {path: _encoded(path, text, before[path]) for path, text in texts.items()}
        after = {path: data for path, data in contents.items() if data != before[path]}
        edits = [
            FileEdit(path=path, before=digest(old := before[path]), after=digest(new), hunks=tuple(_hunks(old, new)))
            for path, new in after.items()
        ]
        applied = AppliedProposal(
            id=proposal.id, at=spool.timestamp(now), because=proposal.because, files=tuple(edits),
            does=tuple(change.summary() for change in proposal.changes), kind=proposal.kind,
            targets=tuple(dict.fromkeys(change.target for change in proposal.changes)),
        )  # fmt: skip
        figures = {"before": proposal.effect.before, "after": proposal.effect.after}
        names = ("at", "id", "does", "because", "kind", "targets")
        fields = {**{name: getattr(applied, name) for name in names}, "files": plain(edits)}
        _log(root, {**fields, "evidence": list(proposal.evidence), "figures": figures})
        try:
            _write(root, before, after)
        except CommonsError:
            _log(root, {"at": spool.timestamp(now), "undo": proposal.id, "why": "it could not be written"})
            raise
        return applied


def undo(root: str, ident: str = "", *, now: float) -> AppliedProposal:
    """Take back an applied proposal, by default the last one, and note it in the changelog."""
    with hold_write_lock(root):
        applied = [entry for entry in read_changes(root) if not entry.undone and ident in ("", entry.id)]
        if not applied:
            problem = (
                f"{ident} was not applied, or was taken back." if ident else "Nothing was applied that still stands."
            )
            raise CommonsError(problem, fix="To see what was applied, type: deia learn log")
        last = applied[-1]
        before, after = _taken_back(root, last)
        _log(root, {"at": spool.timestamp(now), "undo": last.id})
        _write(root, before, after)
        return last


def undo_diff(root: str, entry: AppliedProposal) -> list[str]:
    """Return the lines that taking back an entry would change, as a unified diff; raise CommonsError if it cannot."""
    before, after = _taken_back(root, entry)
    texts = ((path, plain_text(before[path]), plain_text(after[path])) for path in after)
    return [line for path, old, new in texts for line in line_diff(path, old, new, around=1)]


def _taken_back(root: str, entry: AppliedProposal) -> tuple[Mapping[str, bytes | None], Mapping[str, bytes | None]]:
    """Return the files of an entry as they are and as they become; raise CommonsError if it cannot be taken back."""
    for edit in entry.files:
        _refuse_forged(root, edit, f"{CHANGELOG}:{entry.line}")
    before = {edit.path: safe_files.read_bytes(root, edit.path) for edit in entry.files}
    after = {edit.path: _reverted(edit, before[edit.path], entry.id) for edit in entry.files}
    if SETTINGS in after and not is_undone_form(before[SETTINGS], after[SETTINGS]):
        raise _forged(f"It would not only take back a form in {SETTINGS}.", f"{CHANGELOG}:{entry.line}")
    return before, after


def read_changes(root: str) -> list[AppliedProposal]:
    """Return the applied proposals, the oldest first, including those taken back; broken lines are skipped."""
    entries: list[AppliedProposal] = []
    text = (safe_files.read_bytes(root, CHANGELOG, limit=MOST_CHANGELOG) or b"").decode("utf-8", "replace")
    for number, line in enumerate(text.split("\n"), 1):
        try:
            values = loads(line)
        except ValueError:
            continue
        if isinstance(values, dict) and "undo" in values:
            numbers = [n for n, entry in enumerate(entries) if entry.id == values["undo"] and not entry.undone]
            if numbers:
                entries[numbers[-1]] = entries[numbers[-1]].but(undone=True)
        elif isinstance(values, dict):
            with contextlib.suppress(TypeError):
                entries.append(read_record(AppliedProposal, {**values, "line": number, "undone": False}))
    return entries


def _log(root: str, line: Mapping[str, Json]) -> None:
    if not files.append(safe_files.checked_place(root, CHANGELOG), dumps(line).encode() + b"\n"):
        raise CommonsError(f"{CHANGELOG} cannot be written.", fix="Give yourself the right to write there.")


def digest(data: bytes | None) -> str:
    """Return the SHA-256 of a file's content, "" for no file."""
    return hashlib.sha256(data).hexdigest() if data is not None else ""


def _refuse_forged(root: str, edit: FileEdit, where: str) -> None:
    """Raise a CommonsError if an entry names a file that `apply_proposal` would not have written.

    It writes the index, triggers, cases, documents and settings, and creates only files of cases and settings.
    """
    path = safe_files.normalise(edit.path)
    is_cases = path.startswith(f"{TRIGGERS}/") and path.endswith(CASES_ENDINGS)
    problem = ""
    try:
        safe_files.checked_place(root, edit.path)
    except CommonsError as error:
        problem = error.message
    if not problem and not _is_written_here(root, path):
        problem = f"It names {quote(edit.path)}, which is no file that deia learn writes."
    if not problem and not edit.before and not is_cases and path != SETTINGS:
        problem = f"It says that {quote(edit.path)} was created, and deia learn creates no such file."
    if problem:
        raise _forged(problem, where)


def _forged(problem: str, where: str) -> CommonsError:
    line = where.rpartition(":")[2]
    fix = f"Nothing was changed. If you do not know this entry, remove its line: sed -i {line}d {CHANGELOG}"
    return CommonsError(problem, where=where, fix=fix)


def _is_written_here(root: str, path: str) -> bool:
    """Return whether a path is that of the index, the settings, of triggers, of cases, or of a document."""
    if path in (find_index(root), SETTINGS):
        return True
    if any(part.startswith(".") for part in path.split("/")):
        return False
    is_trigger_file = path.startswith(f"{TRIGGERS}/") and path.endswith(TRIGGER_ENDINGS)
    return is_trigger_file or path.endswith(ENDING) or any(path == entry.path for entry in load_index(root).entries)


def _encoded(path: str, text: str, before: bytes | None) -> bytes:
    """Return a text as bytes, with the line ends and the byte order mark that the file had."""
    old = before or b""
    refuse_mixed(path, old)
    data = (text.replace("\n", "\r\n") if b"\r\n" in old else text).encode("utf-8", "replace")
    return codecs.BOM_UTF8 + data if old.startswith(codecs.BOM_UTF8) else data


def refuse_mixed(path: str, data: bytes) -> None:
    """Raise CommonsError if a file is not UTF-8 or has mixed line ends, so that a text cannot stand for its bytes."""
    if data.decode("utf-8", "ignore").encode() != data or data.count(b"\r\n") not in (0, data.count(b"\n")):
        fix = "Save it as UTF-8 with one kind of line ends."
        raise CommonsError(f"{path} has mixed line ends, or is not UTF-8.", fix=fix)


def _write(root: str, before: Mapping[str, bytes | None], after: Mapping[str, bytes | None]) -> None:
    """Write new contents, all or none, unless a file is not what it was when it was read."""
    for path in after:
        if safe_files.read_bytes(root, path) != before[path]:
            raise CommonsError(f"{path} was changed meanwhile.", fix="Nothing was written. Try again.")
    done: list[str] = []
    try:
        for path, data in after.items():
            _put(root, path, data)
            done.append(path)
    except CommonsError:
        for path in done:
            _put(root, path, before[path])
        raise


def _put(root: str, path: str, data: bytes | None) -> None:
    if data is None:
        safe_files.remove(root, path)
    else:
        safe_files.write_bytes(root, path, data)


def _lines(data: bytes) -> list[str]:
    return data.decode("utf-8", "replace").split("\n")


def _hunks(before: bytes | None, after: bytes) -> Iterator[Hunk]:
    """Yield the differences; more than `CLOSE` lines between the first and the last are one hunk."""
    old, new = _lines(before or b""), _lines(after)
    first, last = equal_ends(old, new)
    left, right = old[first : len(old) - last], new[first : len(new) - last]
    codes: Sequence[tuple[str, int, int, int, int]] = [("replace", 0, len(left), 0, len(right))]
    if max(len(left), len(right)) <= CLOSE:
        codes = difflib.SequenceMatcher(None, left, right, autojunk=False).get_opcodes()
    for kind, begin, end, start, stop in codes:
        if kind != "equal":
            at, over = first + start, first + stop
            yield Hunk(
                at=at, old=tuple(left[begin:end]), new=tuple(right[start:stop]),
                above=tuple(new[max(0, at - CONTEXT) : at]), below=tuple(new[over : over + CONTEXT]),
            )  # fmt: skip


def _reverted(edit: FileEdit, now: bytes | None, ident: str) -> bytes | None:
    """Return a file's content with an edit taken back, even if other lines were edited since."""
    if digest(now) == edit.before:
        return now
    if now is None:
        raise CommonsError(f"{edit.path} is gone.", fix="Bring it back first.")
    lines = _lines(now)
    for hunk in reversed(edit.hunks):
        at = hunk.at if digest(now) == edit.after else _hunk_position(lines, hunk)
        if at < 0 or tuple(lines[at : at + len(hunk.new)]) != hunk.new:
            fix = f"Take back later changes first, or correct {edit.path} by hand."
            raise CommonsError(f"The lines of {ident} in {edit.path} were changed since.", fix=fix)
        lines[at : at + len(hunk.new)] = hunk.old
    content = "\n".join(lines).encode("utf-8", "replace")
    return None if not edit.before and not content.strip() else content


def _hunk_position(lines: Sequence[str], hunk: Hunk) -> int:
    """Return where the new lines of a hunk are now, by the lines around them; -1 if they are not found once."""
    expected = [*hunk.above, *hunk.new, *hunk.below]
    positions = [at for at in range(len(lines) - len(expected) + 1) if list(lines[at : at + len(expected)]) == expected]
    return positions[0] + len(hunk.above) if len(positions) == 1 else -1
