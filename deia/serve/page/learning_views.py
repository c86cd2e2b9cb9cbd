"""Learning: the proposals of `deia learn propose` with their evidence and trial, applied or taken back by a click."""

from __future__ import annotations

import os
import time

from deia.commons.index.load_commons import load_commons
from deia.errors import QueryError
from deia.fast_json import Json
from deia.folders import state_folder
from deia.learn.apply import AppliedProposal, apply_proposal, read_changes, undo, undo_diff
from deia.learn.file_edits import diff_of
from deia.learn.proposals import Proposal, load_proposals
from deia.problems import CommonsError
from deia.serve.page.asked_values import Asked, name, wanted_name
from deia.serve.page.case_making import note_change
from deia.serve.page.lesson_views import forget
from deia.serve.server.desk import Desk
from deia.watch.silence.mutes import Mute, write_mute

MUTE = "mute"  # the kind of a proposal that changes no file
MOST_APPLIED = 50
MOST_LINES = 400  # of what undo would do


def proposals(desk: Desk, _asked: Asked) -> dict[str, Json]:
    """Return the proposals that were made last, and what was applied."""
    applied = read_changes(desk.root)
    standing = {change.id: change for change in applied if not change.undone}  # the last of an id is what undo takes
    try:
        listed = [proposal for proposal in load_proposals(desk.root, environ=os.environ) if proposal.id not in standing]
        none = ""
    except CommonsError as error:
        listed, none = [], error.message
    return {
        "proposals": [{**proposal.to_dict(), "diff": _diff(desk, proposal)} for proposal in listed], "none": none,
        "applied": [
            {"id": change.id, "at": change.at, "does": [*change.does], "because": change.because,
             "undone": change.undone, "files": [edit.path for edit in change.files],
             "diff": "" if change.undone else _undo_diff(desk.root, standing[change.id])}
            for change in applied[-MOST_APPLIED:][::-1]
        ],
    }  # fmt: skip


def _diff(desk: Desk, proposal: Proposal) -> str:
    if proposal.kind == MUTE:
        return ""
    try:
        return "\n".join(diff_of(load_commons(desk.root), proposal.changes))
    except CommonsError as error:
        return f"cannot be written: {error.message} {error.fix}"


def _undo_diff(root: str, change: AppliedProposal) -> str:
    """Return what undo would do to the files: anybody can have written the changelog, so a person should see it."""
    try:
        lines = undo_diff(root, change)
    except CommonsError as error:
        return f"cannot be undone: {error.message} {error.fix}"
    more = [f"… and {len(lines) - MOST_LINES:,} lines that are not shown"] if len(lines) > MOST_LINES else []
    return "\n".join([*lines[:MOST_LINES], *more])


def apply(desk: Desk, asked: Asked) -> dict[str, Json]:
    """Apply a proposal by its id: whoever has the page is the person at the terminal."""
    ident = name(asked, "id")
    known = {proposal.id: proposal for proposal in load_proposals(desk.root, environ=os.environ)}
    if ident not in known:
        raise QueryError(f"there is no proposal {ident!r}", fix="Look for proposals again.")
    proposal = known[ident]
    if proposal.kind == MUTE:
        write_mute(state_folder(os.environ), Mute(trigger=proposal.changes[0].target))
        return proposals(desk, asked)
    root = desk.writable
    apply_proposal(root, proposal, now=time.time())
    note_change(root, f"learn apply {proposal.id}")
    forget(desk.root)
    return proposals(desk, asked)


def undo_applied(desk: Desk, asked: Asked) -> dict[str, Json]:
    """Undo what was applied; the files become what they were."""
    root, ident = desk.writable, wanted_name(asked, "id")
    undone = undo(root, ident, now=time.time())
    note_change(root, f"learn undo {undone.id}")
    forget(desk.root)
    return proposals(desk, asked)
