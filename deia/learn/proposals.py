"""A proposal: a small change, the reason for it, and its effect when it was tried; read from JSON and written to it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

from deia.fast_json import Json, dumps
from deia.learn.changes import PERSON, SETTING, Change
from deia.records import Record

# The kinds, in the order in which they are shown, each with the letters that its ids begin with.
KINDS = {
    "concept": "syn", "keywords": "kw", "promote": "up", "demote": "down", "related": "rel", "pattern": "ask",
    "refine": "ref", "unless": "un", "milder": "mild", "form": "form",
    "mute": "mute", "clause": "clause", "case": "case", "retire": "ret", "review": "rev",
}  # fmt: skip


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
        changes = [change.to_dict() for change in self.changes]
        summaries = [change.summary() for change in self.changes]
        return {**self.values(), "changes": changes, "does": summaries, "effect": self.effect.values()}

    def with_changes(self, changes: Sequence[Change]) -> Proposal:
        """Return a new proposal of the same kind and evidence with other changes, and so with another id."""
        return propose(self.kind, changes, because=self.because, evidence=self.evidence, weight=self.weight)


def propose(kind: str, changes: Sequence[Change], *, because: str, evidence: Sequence[str], weight: float) -> Proposal:
    """Return a new proposal; the same changes get the same id whenever they are proposed."""
    content = dumps([change.to_dict() for change in changes])
    digest = hashlib.sha256(content.encode("utf-8", "replace")).hexdigest()[:6]
    return Proposal(
        id=f"{KINDS[kind]}-{digest}", kind=kind, changes=tuple(changes), because=because, weight=round(weight, 2),
        evidence=tuple(evidence),
    )  # fmt: skip
