"""Proposals that somebody said yes to, written; a changelog beside them; and the way back, byte for byte.

`telemetry/CHANGES.jsonl` says what was done, why, and which lines changed; it needs no compiled file and is a person's
to keep in git. It is written first, so that no change is without its line. Refuses to write over what somebody else
changed meanwhile, and to take back lines that are no longer there.
"""

from __future__ import annotations

import codecs
import difflib
import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from deia import files, spool
from deia.commons.index.load_commons import load_commons
from deia.commons.source_files.atomic_write import replace_file
from deia.commons.source_files.write_lock import hold_write_lock
from deia.errors import CommonsError
from deia.fast_json import dumps, loads
from deia.learn.file_edits import edited
from deia.learn.proposals import Proposal
from deia.records import Record

CHANGELOG = "telemetry/CHANGES.jsonl"
CLOSE = 2000  # lines between the first and the last difference, up to which each is kept apart
CONTEXT = 2  # lines around a change by which it is found again


class Hunk(Record):
    """Lines of a file that were replaced by others; `at` counts from 0 in the new file."""

    at: int
    old: tuple[str, ...]
    new: tuple[str, ...]
    above: tuple[str, ...] = ()
    below: tuple[str, ...] = ()


class Edited(Record):
    """One file before and after; a digest is empty where the file was not there."""

    path: str
    before: str
    after: str
    hunks: tuple[Hunk, ...]


class Applied(Record):
    """One line of the changelog."""

    id: str
    at: str
    does: tuple[str, ...]
    because: str
    files: tuple[Edited, ...]
    undone: bool = False


def apply_proposal(root: str, proposal: Proposal, *, now: float) -> Applied:
    """Write a proposal into the commons, and its line into the changelog.

    Raises:
        CommonsError: something it names is gone, a file is broken, or was changed by somebody else meanwhile.
    """
    with hold_write_lock(root):
        if any(one.id == proposal.id and not one.undone for one in read_changes(root)):
            fix = f"To take it back, type: deia learn undo {proposal.id}"
            raise CommonsError(f"{proposal.id} was applied already.", fix=fix)
        before = {path: _bytes(root, path) for path in proposal.files}
        texts = edited(load_commons(root), proposal.changes)
        before |= {path: _bytes(root, path) for path in texts if path not in before}
        made = {path: _ended(path, text, before[path]) for path, text in texts.items()}
        after = {path: data for path, data in made.items() if data != before[path]}
        changed = [_edited(path, before[path], data) for path, data in after.items()]
        applied = Applied(
            id=proposal.id, at=spool.timestamp(now), because=proposal.because, files=tuple(changed),
            does=tuple(change.told() for change in proposal.changes),
        )  # fmt: skip
        figures = {"before": proposal.effect.before, "after": proposal.effect.after}
        _log(root, {**_fields(applied), "kind": proposal.kind, "evidence": list(proposal.evidence), "figures": figures})
        try:
            _write(root, before, after)
        except CommonsError:
            _log(root, {"at": spool.timestamp(now), "undo": proposal.id, "why": "it could not be written"})
            raise
        return applied


def undo(root: str, ident: str = "", *, now: float) -> Applied:
    """Take back an applied proposal, by default the last, and say so in the changelog.

    Raises:
        CommonsError: there is none, or its lines were changed since.
    """
    with hold_write_lock(root):
        standing = [one for one in read_changes(root) if not one.undone and ident in ("", one.id)]
        if not standing:
            told = f"{ident} was not applied, or was taken back." if ident else "Nothing was applied that still stands."
            raise CommonsError(told, fix="To see what was: deia learn log")
        last = standing[-1]
        before = {each.path: _bytes(root, each.path) for each in last.files}
        after = {each.path: _reverted(each, before[each.path], last.id) for each in last.files}
        _log(root, {"at": spool.timestamp(now), "undo": last.id})
        _write(root, before, after)
        return last


def read_changes(root: str) -> list[Applied]:
    """Give what was applied, the oldest first, with what was taken back; lines that say nothing are passed over."""
    found: list[Applied] = []
    for line in (files.read(f"{root}/{CHANGELOG}") or b"").decode("utf-8", "replace").split("\n"):
        try:
            values = loads(line)
        except ValueError:
            continue
        if isinstance(values, dict) and "undo" in values:
            at = max((n for n, one in enumerate(found) if one.id == values["undo"] and not one.undone), default=-1)
            if at >= 0:
                found[at] = found[at].but(undone=True)
        elif isinstance(values, dict):
            found += _applied(values)
    return found


# --- the changelog ---


def _fields(applied: Applied) -> dict[str, Any]:
    edits = [{**each.values(), "hunks": [hunk.values() for hunk in each.hunks]} for each in applied.files]
    return {"at": applied.at, "id": applied.id, "does": applied.does, "because": applied.because, "files": edits}


def _applied(values: Mapping[str, Any]) -> list[Applied]:
    try:
        edits = tuple(
            Edited(path=str(each["path"]), before=str(each["before"]), after=str(each["after"]),
                   hunks=tuple(_hunk(hunk) for hunk in each["hunks"]))
            for each in values["files"]
        )  # fmt: skip
        return [
            Applied(id=str(values["id"]), at=str(values["at"]), because=str(values["because"]), files=edits,
                    does=tuple(map(str, values["does"])))
        ]  # fmt: skip
    except (KeyError, TypeError, AttributeError):
        return []


def _hunk(values: Mapping[str, Any]) -> Hunk:
    texts = {name: tuple(map(str, values[name])) for name in ("old", "new", "above", "below")}
    return Hunk(at=int(values["at"]), **texts)


def _log(root: str, line: Mapping[str, Any]) -> None:
    if not files.append(f"{root}/{CHANGELOG}", dumps(line).encode() + b"\n"):
        raise CommonsError(f"{CHANGELOG} cannot be written.", fix="Give yourself the right to write there.")


# --- files ---


def digest(data: bytes | None) -> str:
    """Give what tells one content of a file from another; empty for no file."""
    return hashlib.sha256(data).hexdigest() if data is not None else ""


def _bytes(root: str, path: str) -> bytes | None:
    return files.read(f"{root}/{path}")


def _ended(path: str, text: str, before: bytes | None) -> bytes:
    """Give a text as bytes, with the line ends and the mark at the beginning that the file had.

    Raises:
        CommonsError: the file has line ends of both kinds, or bytes that are no text.
    """
    old = before or b""
    windows = old.count(b"\r\n")
    if old.decode("utf-8", "ignore").encode() != old or windows not in (0, old.count(b"\n")):
        fix = "Save it as UTF-8 with one kind of line ends."
        raise CommonsError(f"{path} could not be written back as it is.", fix=fix)
    data = (text.replace("\n", "\r\n") if windows else text).encode("utf-8", "replace")
    return codecs.BOM_UTF8 + data if old.startswith(codecs.BOM_UTF8) else data


def _write(root: str, before: Mapping[str, bytes | None], after: Mapping[str, bytes | None]) -> None:
    """Put new contents in place, all or none, unless a file is not what it was when it was read."""
    for path in after:
        if _bytes(root, path) != before[path]:
            raise CommonsError(f"{path} was changed meanwhile.", fix="Nothing was written. Try again.")
    done: list[str] = []
    try:
        for path, data in after.items():
            _put(f"{root}/{path}", data)
            done.append(path)
    except OSError as error:
        for path in done:
            _put(f"{root}/{path}", before[path])
        fix = "Check the folder's permissions and the space left on the disk."
        raise CommonsError(f"The commons cannot be written: {error.strerror}.", fix=fix) from error


def _put(path: str, data: bytes | None) -> None:
    if data is None:
        os.unlink(path)
    else:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        replace_file(path, data.decode("utf-8", "replace"))


# --- lines ---


def _edited(path: str, before: bytes | None, after: bytes) -> Edited:
    old, new = _lines(before or b""), _lines(after)
    return Edited(path=path, before=digest(before), after=digest(after), hunks=tuple(_hunks(old, new)))


def _lines(data: bytes) -> list[str]:
    return data.decode("utf-8", "replace").split("\n")


def _hunks(old: Sequence[str], new: Sequence[str]) -> Iterator[Hunk]:
    """Give what differs; the equal lines at both ends are passed over first, which keeps large files quick."""
    first = next((n for n, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
    most = min(len(old), len(new)) - first
    last = next((n for n in range(most) if old[-1 - n] != new[-1 - n]), most)
    left, right = list(old[first : len(old) - last]), list(new[first : len(new) - last])
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


def _reverted(edit: Edited, now: bytes | None, ident: str) -> bytes | None:
    """Give the content of a file with an edit taken back: as it was, or the same lines where it was edited since."""
    if digest(now) == edit.before:
        return now
    if now is None:
        raise CommonsError(f"{edit.path} is gone.", fix="Bring it back first.")
    lines = _lines(now)
    for hunk in reversed(edit.hunks):
        at = hunk.at if digest(now) == edit.after else _found(lines, hunk)
        if at < 0:
            fix = f"Take back later changes first, or correct {edit.path} by hand."
            raise CommonsError(f"The lines of {ident} in {edit.path} were changed since.", fix=fix)
        lines[at : at + len(hunk.new)] = hunk.old
    made = "\n".join(lines).encode("utf-8", "replace")
    return None if not edit.before and not made.strip() else made


def _found(lines: Sequence[str], hunk: Hunk) -> int:
    """Find where the new lines of an edit stand now, with what was around them; -1 where that is not one place."""
    wanted = [*hunk.above, *hunk.new, *hunk.below]
    places = [at for at in range(len(lines) - len(wanted) + 1) if list(lines[at : at + len(wanted)]) == wanted]
    return places[0] + len(hunk.above) if len(places) == 1 else -1
