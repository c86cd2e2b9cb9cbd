"""How far the words of a question help other questions, found out by leaving questions out.

The questions of the log are divided into parts, and each part is asked with what follows from the others alone. What
helps there helps questions that nobody asked yet, and that is the purpose of a proposal: a question always finds what
was made from its own words. If too few questions moved to tell, the least reach is chosen.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from math import sqrt
from types import MappingProxyType

from deia.learn.corpus_words import Vocabulary
from deia.learn.index_drafts import REACHES, Reach, consistent, draft
from deia.learn.signals import Evidence
from deia.learn.trials.index_trial import IndexTrial
from deia.records import Record

PARTS = 4
# The least number of standard errors above zero; by chance alone it is reached one time in twenty.
CERTAIN = 1.64
WORDS, STRENGTHS = ("concept", "keywords"), ("promote", "demote")
NOTHING, RAISED = Reach(name="no words", new=0), Reach(name="standing", new=0, is_standing=True)


class ReachResult(Record):
    """What a reach did to questions that it was not learned from."""

    reach: Reach
    moves: Mapping[int, float]  # of nDCG, by question

    @property
    def net(self) -> float:
        """The nDCG that the questions gained, less what they lost."""
        return sum(self.moves.values())

    @property
    def better(self) -> int:
        """The number of questions that were answered better."""
        return sum(move > 0 for move in self.moves.values())

    @property
    def worse(self) -> int:
        """The number of questions that were answered worse."""
        return sum(move < 0 for move in self.moves.values())


class ReachChoice(Record):
    """The chosen reach, and the result of each that was tried."""

    reach: Reach
    tried: tuple[ReachResult, ...]


def choose_reach(
    evidence: Evidence, vocabulary: Vocabulary, trial: IndexTrial, *, report: Callable[[str], None] = lambda _: None
) -> ReachChoice:
    """Return the smallest reach by which questions that were left out gain, unless a wider one surely gains more.

    `report` is called with the progress.
    """
    results = []
    for number, reach in enumerate(REACHES, 1):
        report(f"leaving questions out: {number} of {len(REACHES) + 1}")
        results.append(_try_reach(evidence, vocabulary, trial, reach, kinds=WORDS))
    chosen = results[0]
    for wider in results[1:]:
        chosen = wider if certainty(wider.moves, than=chosen.moves) >= CERTAIN else chosen
    reach = chosen.reach if chosen.net >= 0 else NOTHING
    report(f"leaving questions out: {len(REACHES) + 1} of {len(REACHES) + 1}")
    results.append(_try_reach(evidence, vocabulary, trial, RAISED, kinds=STRENGTHS))
    return ReachChoice(
        reach=reach.but(is_standing=certainty(results[-1].moves) >= CERTAIN), tried=tuple(results)
    )  # fmt: skip


def certainty(moves: Mapping[int, float], *, than: Mapping[int, float] = MappingProxyType({})) -> float:
    """Return how many standard errors the moves are above zero, or above those of `than` for the same questions."""
    differences = [moves.get(number, 0.0) - than.get(number, 0.0) for number in moves.keys() | than.keys()]
    spread = sqrt(sum(difference * difference for difference in differences))
    return sum(differences) / spread if spread else 0.0


def _try_reach(
    evidence: Evidence, vocabulary: Vocabulary, trial: IndexTrial, reach: Reach, *, kinds: Sequence[str]
) -> ReachResult:
    """Return what a reach does to each part of the questions if it is learned from the other parts."""
    moves: dict[int, float] = {}
    for part in range(PARTS):
        proposals = consistent(draft(_without(evidence, part), vocabulary, reach=reach))
        changes = [change for proposal in proposals if proposal.kind in kinds for change in proposal.changes]
        if changes:
            left_out = {number for number, probe in enumerate(trial.probes) if part_of(probe.question) == part}
            moves |= trial.try_changes(changes, among=left_out).moves
    return ReachResult(reach=reach, moves=moves)


def _without(evidence: Evidence, part: int) -> Evidence:
    """Return the evidence without the questions of one part."""
    return evidence.but(
        pairs=tuple(pair for pair in evidence.pairs if part_of(pair.question) != part),
        rephrased=tuple(
            attempt for attempt in evidence.rephrased if part not in (part_of(attempt.first), part_of(attempt.then))
        ),
    )


def part_of(question: str) -> int:
    """Return the part that a question belongs to, which is always the same."""
    return hashlib.sha256(question.encode("utf-8", "replace")).digest()[0] % PARTS
