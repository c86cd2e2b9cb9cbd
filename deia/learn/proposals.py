"""A proposal: a small change, what speaks for it, and what it did when it was tried. Values alone, to and from JSON."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from deia.fast_json import dumps
from deia.learn.changes import Change, from_values
from deia.records import Record

# The kinds, in the order in which they are told, each with the letters that its ids begin with.
KINDS = {
    "concept": "syn", "keywords": "kw", "promote": "up", "demote": "down", "related": "rel", "pattern": "ask",
    "refine": "ref", "unless": "un", "milder": "mild", "case": "case", "retire": "ret", "review": "rev",
}  # fmt: skip


class Effect(Record):
    """What a change did to what was asked and said before: figures without it and with it."""

    before: Mapping[str, float] = {}
    after: Mapping[str, float] = {}
    asked: int = 0  # questions or turns that were judged anew
    better: tuple[str, ...] = ()  # some of those that it helped
    note: str = ""


class Proposal(Record):
    """Something that a person may say yes to."""

    id: str
    kind: str
    changes: tuple[Change, ...]
    because: str  # in one line
    evidence: tuple[str, ...]  # the questions or turns behind it
    weight: float
    files: tuple[str, ...] = ()
    effect: Effect = Effect()

    def to_dict(self) -> dict[str, Any]:
        """Give it as JSON has it."""
        changes = [{**change.values(), "value": _plain(change.value)} for change in self.changes]
        told = [change.told() for change in self.changes]
        return {**self.values(), "changes": changes, "does": told, "effect": self.effect.values()}


def propose(kind: str, changes: Sequence[Change], *, because: str, evidence: Sequence[str], weight: float) -> Proposal:
    """Make a proposal; the same change has the same id whenever it is proposed."""
    said = dumps([{**change.values(), "value": _plain(change.value)} for change in changes])
    mark = hashlib.sha256(said.encode("utf-8", "replace")).hexdigest()[:6]
    return Proposal(
        id=f"{KINDS[kind]}-{mark}", kind=kind, changes=tuple(changes), because=because, weight=round(weight, 2),
        evidence=tuple(evidence),
    )  # fmt: skip


def read_proposal(values: Mapping[str, Any]) -> Proposal:
    """Make a proposal from what `to_dict` gave.

    Raises:
        KeyError: something is missing.
        TypeError: something is no list.
    """
    effect = values["effect"]
    return Proposal(
        id=str(values["id"]), kind=str(values["kind"]), changes=tuple(map(from_values, values["changes"])),
        because=str(values["because"]), evidence=tuple(values["evidence"]), weight=float(values["weight"]),
        files=tuple(values["files"]),
        effect=Effect(**{name: effect[name] for name in ("before", "after", "asked", "note")},
                      better=tuple(effect["better"])),
    )  # fmt: skip


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value
