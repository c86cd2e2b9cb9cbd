"""A proposal: a small change, the reason for it, and its effect when it was tried.

The last proposals are kept, between the command that makes them and the one that applies them, in the person's own
state folder and not in the commons, so that nobody else sees the questions.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence

from deia import fast_json, files, spool
from deia.fast_json import Json, dumps
from deia.folders import state_folder
from deia.learn.changes import PERSON, SETTING, Change
from deia.problems import CommonsError
from deia.records import Record
from deia.typed_json import plain, read_record

# The kinds, in the order in which they are shown, each with the letters that its ids begin with.
KINDS = {
    "concept": "syn", "keywords": "kw", "promote": "up", "demote": "down", "related": "rel", "pattern": "ask",
    "refine": "ref", "unless": "un", "milder": "mild", "form": "form",
    "mute": "mute", "clause": "clause", "case": "case", "retire": "ret", "review": "rev",
}  # fmt: skip
FOLDER = "learn"


class Effect(Record):
    """What a change did to the questions or turns it was tried on: figures without it and with it."""

    before: Mapping[str, float] = {}
    after: Mapping[str, float] = {}
    asked: int = 0  # questions or turns that were judged again
    better: tuple[str, ...] = ()  # examples of those that it helped
    note: str = ""


class Proposal(Record):
    """Changes that a person may accept."""

    id: str
    kind: str
    changes: tuple[Change, ...]
    because: str  # in one line
    evidence: tuple[str, ...]  # the questions or turns behind it
    weight: float
    files: tuple[str, ...] = ()
    effect: Effect = Effect()
    warning: str = ""  # what a person must know before they accept it; then it is applied only by its own name

    @property
    def is_for_people(self) -> bool:
        """Whether only a person at a terminal may accept it: it makes a guard milder that is not the project's own."""
        return any(change.of in (SETTING, PERSON) for change in self.changes)

    def to_dict(self) -> dict[str, Json]:
        """Return the proposal as JSON."""
        return {**plain(self), "does": [change.summary() for change in self.changes]}

    def with_changes(self, changes: Sequence[Change]) -> Proposal:
        """Return a new proposal of the same kind and evidence with other changes, and so with another id."""
        return propose(self.kind, changes, because=self.because, evidence=self.evidence, weight=self.weight)


def propose(kind: str, changes: Sequence[Change], *, because: str, evidence: Sequence[str], weight: float) -> Proposal:
    """Return a new proposal; the same changes get the same id whenever they are proposed."""
    content = dumps(plain(changes))
    digest = hashlib.sha256(content.encode("utf-8", "replace")).hexdigest()[:6]
    return Proposal(
        id=f"{KINDS[kind]}-{digest}", kind=kind, changes=tuple(changes), because=because, weight=round(weight, 2),
        evidence=tuple(evidence),
    )  # fmt: skip


def _path(root: str, environ: Mapping[str, str]) -> str:
    mark = hashlib.sha256(os.path.realpath(root).encode("utf-8", "surrogateescape")).hexdigest()[:24]
    return f"{state_folder(environ)}/{FOLDER}/{mark}.json"


def store_proposals(root: str, proposals: Sequence[Proposal], *, environ: Mapping[str, str], at: float) -> bool:
    """Store proposals for `deia learn apply`, and return whether that was possible."""
    path = _path(root, environ)
    data = fast_json.dumps(
        {"at": spool.timestamp(at), "proposals": [proposal.to_dict() for proposal in proposals]}
    ).encode()
    return files.keep(path, data)


def load_proposals(root: str, *, environ: Mapping[str, str]) -> list[Proposal]:
    """Return the proposals that were made last; raise CommonsError if there are none, or they cannot be read."""
    fix = "Type: deia learn propose"
    data = files.read(_path(root, environ))
    if data is None:
        raise CommonsError("There are no proposals yet.", fix=fix)
    try:
        return [
            read_record(Proposal, values) for values in fast_json.loads(data.decode("utf-8", "replace"))["proposals"]
        ]
    except (ValueError, TypeError, KeyError) as error:
        raise CommonsError("The proposals cannot be read.", fix=fix) from error
