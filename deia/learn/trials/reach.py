"""How far the words of a question carry over to others, found out by leaving questions out.

The questions of the log are parted; each part is asked with what follows from the others alone. What helps there helps
questions that nobody asked yet, and that is what a proposal is for: a question always finds what was made of its own
words. Refuses to guess: where too few questions moved to tell, the least is taken from them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from math import sqrt
from types import MappingProxyType

from deia.learn.changes import Change
from deia.learn.corpus_words import Shelf
from deia.learn.index_drafts import REACHES, Reach, consistent, draft
from deia.learn.signals import Evidence
from deia.learn.trials.index_trial import Trial
from deia.records import Record

PARTS = 4
# Standard errors of the mean that a sum of differences must lie above zero: one time in twenty by chance alone.
CERTAIN = 1.64
WORDS, STANDING = ("concept", "keywords"), ("promote", "demote")
NOTHING, RAISED = Reach(name="no words", new=0), Reach(name="standing", new=0, is_standing=True)


class Carried(Record):
    """What a reach came to with questions that it was not drawn from."""

    reach: Reach
    moves: Mapping[int, float]  # of nDCG, by question

    @property
    def net(self) -> float:
        """What the questions gained, less what they lost."""
        return sum(self.moves.values())

    @property
    def better(self) -> int:
        """How many questions were answered better."""
        return sum(one > 0 for one in self.moves.values())

    @property
    def worse(self) -> int:
        """How many were answered worse."""
        return sum(one < 0 for one in self.moves.values())


class Reached(Record):
    """The reach that was found, and what each that was tried came to."""

    reach: Reach
    tried: tuple[Carried, ...]


def reach_of(
    evidence: Evidence, shelf: Shelf, trial: Trial, *, tell: Callable[[str], None] = lambda _: None
) -> Reached:
    """Give the least reach by which questions that were left out gain, if no wider one gains surely more."""
    tried = []
    for number, reach in enumerate(REACHES, 1):
        tell(f"leaving questions out: {number} of {len(REACHES) + 1}")
        tried.append(_carried(evidence, shelf, trial, reach, kinds=WORDS))
    chosen = tried[0]
    for wider in tried[1:]:
        chosen = wider if certainty(wider.moves, than=chosen.moves) >= CERTAIN else chosen
    reach = chosen.reach if chosen.net >= 0 else NOTHING
    tell(f"leaving questions out: {len(REACHES) + 1} of {len(REACHES) + 1}")
    tried.append(_carried(evidence, shelf, trial, RAISED, kinds=STANDING))
    return Reached(reach=reach.but(is_standing=certainty(tried[-1].moves) >= CERTAIN), tried=tuple(tried))


def certainty(moves: Mapping[int, float], *, than: Mapping[int, float] = MappingProxyType({})) -> float:
    """Give by how many standard errors moves lie above zero, or above others of the same questions."""
    apart = [moves.get(number, 0.0) - than.get(number, 0.0) for number in moves.keys() | than.keys()]
    spread = sqrt(sum(one * one for one in apart))
    return sum(apart) / spread if spread else 0.0


def _carried(evidence: Evidence, shelf: Shelf, trial: Trial, reach: Reach, *, kinds: Sequence[str]) -> Carried:
    """Ask each part of the questions with what follows from the others."""
    moves: dict[int, float] = {}
    for part in range(PARTS):
        changes = _changes(_without(evidence, part), shelf, reach, kinds)
        if changes:
            held = {number for number, probe in enumerate(trial.probes) if part_of(probe.question) == part}
            moves |= trial.tried(changes, among=held).moves
    return Carried(reach=reach, moves=moves)


def _changes(evidence: Evidence, shelf: Shelf, reach: Reach, kinds: Sequence[str]) -> list[Change]:
    drafts = consistent(draft(evidence, shelf, reach=reach))
    return [change for one in drafts if one.kind in kinds for change in one.changes]


def _without(evidence: Evidence, part: int) -> Evidence:
    return evidence.but(
        pairs=tuple(one for one in evidence.pairs if part_of(one.question) != part),
        rephrased=tuple(one for one in evidence.rephrased if part not in (part_of(one.first), part_of(one.then))),
    )


def part_of(question: str) -> int:
    """Give the part that a question belongs to, the same whenever and however often it is asked."""
    return hashlib.sha256(question.encode("utf-8", "replace")).digest()[0] % PARTS
