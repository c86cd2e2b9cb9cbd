"""Drafts held against what they do: those that help and harm nothing are left, each with its figures.

Each is tried alone; keywords that fail together are tried one by one; what is left is tried all together, and whoever
harms a question then goes. Refuses whatever makes a golden question or a figure worse, and answers what had none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from deia.learn.changes import ADD, PATTERN, Change
from deia.learn.proposals import Effect, Proposal, propose

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from deia.serve.learning.trial import Comparison, Trial

SEARCHED = ("concept", "keywords", "promote", "demote")  # kinds that move documents in answers
ASKED = ("pattern", "refine")  # kinds that must find now what they say will be found
MOST_TRIED = 200  # drafts, those with most behind them first
ROUNDS = 40  # of leaving out who harms together
UNMOVED = "moves no document in any answer"


def judged(
    drafts: Sequence[Proposal], trial: Trial, *, tell: Callable[[str], None] = lambda _: None
) -> tuple[list[Proposal], Comparison]:
    """Give the drafts that help and harm nothing, and what all of them together do."""
    moving = [one for one in drafts if one.kind in SEARCHED]
    kept: list[Proposal] = []
    for number, draft in enumerate(sorted(moving, key=lambda one: -one.weight)[:MOST_TRIED], 1):
        tell(f"trying {number} of {min(len(moving), MOST_TRIED)}")
        kept += _alone(draft, trial)
    kept, together = _together(kept, trial)
    order = [one.kind for one in drafts]
    others = [one for one in (_still(one, trial) for one in drafts if one.kind not in SEARCHED) if one]
    return sorted([*kept, *others], key=lambda one: (order.index(one.kind), -one.weight)), together


def _alone(draft: Proposal, trial: Trial) -> list[Proposal]:
    found = trial.tried(draft.changes)
    if found.helps:
        return [draft.but(effect=effect_of(found))]
    change = draft.changes[0]
    if change.kind != ADD or len(change.value) < 2 or not found.gain:
        return []
    return list(_in_parts(draft, change, trial))


def _in_parts(draft: Proposal, change: Change, trial: Trial) -> Iterator[Proposal]:
    """Try the words of a draft one by one, and those that help together."""
    words = []
    for word in change.value:
        found = trial.tried([change.but(value=(word,))])
        if found.helps:
            words.append(word)
    if words:
        fewer = change.but(value=tuple(words))
        found = trial.tried([fewer])
        if found.helps:
            made = propose(draft.kind, [fewer], because=draft.because, evidence=draft.evidence, weight=draft.weight)
            yield made.but(effect=effect_of(found))


def _together(kept: Sequence[Proposal], trial: Trial) -> tuple[list[Proposal], Comparison]:
    """Leave out, those with least behind them first, whoever harms a question when all are made."""
    left = list(kept)
    for _ in range(ROUNDS):
        found = trial.tried([change for one in left for change in one.changes], every=True)
        if found.helps or not left:
            return left, found
        hurt = found.harmed or found.worse
        suspects = [one for one in left if not trial.touched(one.changes).isdisjoint(hurt)] or left
        gone = {one.id for one in sorted(suspects, key=lambda one: one.weight)[: max(1, len(hurt) // 4)]}
        left = [one for one in left if one.id not in gone]
    return [], trial.tried([], every=True)


def _still(draft: Proposal, trial: Trial) -> Proposal | None:
    """Give a draft that moves nothing in answers, if what it says is so today."""
    change = draft.changes[0]
    if draft.kind in ASKED and change.kind == PATTERN:
        wanted = set(change.value["common_docs"])
        if not any(wanted & set(trial.finds(text)) for text in change.value["natural_language"][:1]):
            return None
        return draft.but(effect=Effect(note="its first wording finds it; it is a golden query from now on"))
    return draft.but(effect=Effect(note=UNMOVED))


def effect_of(found: Comparison) -> Effect:
    """Give what a comparison says, as a proposal tells it."""
    return Effect(before=found.before, after=found.after, asked=found.asked, better=found.better)
