"""Drafts held against what they do: those that help and harm nothing are left, each with its figures.

Each is tried alone, and once more without the words that did harm; what is left is tried all together, and whoever
harms a question then goes. Keywords of documents that are much alike may help only together: these are one proposal,
and so are those of a log that speaks for many words at once.
Refuses whatever makes a golden question or a figure worse.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from deia.learn.changes import ADD, CONCEPT, PATTERN
from deia.learn.index_drafts import CAREFUL, Reach, consistent
from deia.learn.proposals import Effect, Proposal, propose
from deia.learn.trials.index_trial import Comparison, Trial

KEYWORDS = "keywords"
SEARCHED = (CONCEPT, KEYWORDS, "promote", "demote")  # kinds that move documents in answers
ASKED = ("pattern", "refine")  # kinds that must find now what they say will be found
TRIES = 3  # of one draft
MOST_TRIED = 200  # drafts, those with most behind them first
ROUNDS = 40  # of leaving out who harms together
BUNDLE_ROUNDS, EXAMPLES = 12, 5
UNMOVED = "moves no document in any answer"


def judged(
    drafts: Sequence[Proposal], trial: Trial, *, reach: Reach = CAREFUL, tell: Callable[[str], None] = lambda _: None
) -> tuple[list[Proposal], Comparison]:
    """Give the drafts that help and harm nothing, and what all of them together do.

    Keywords of a wide `reach` were found to help together, so they are tried and proposed so.
    """
    moving = sorted((one for one in drafts if one.kind in SEARCHED), key=lambda one: -one.weight)
    kept = _tried([one for one in moving if one.kind == CONCEPT][:MOST_TRIED], trial, tell)
    moving = consistent([*kept, *(one for one in moving if one.kind != CONCEPT)])[len(kept) :]
    alone = [one for one in moving if one.kind != KEYWORDS or not reach.is_wide]
    kept, together = _together([*kept, *_tried(alone[:MOST_TRIED], trial, tell)], trial)
    tell("trying the rest together")
    settled = {change.target for one in kept if one.kind == KEYWORDS for change in one.changes}
    rest = [one for one in moving if one.kind == KEYWORDS and one.changes[0].target not in settled]
    bundle = _bundled(rest, kept, trial)
    if bundle:
        kept.append(bundle[0])
        together = bundle[1]
    order = [one.kind for one in drafts]
    others = [one for one in (_still(one, trial) for one in drafts if one.kind not in SEARCHED) if one]
    return sorted([*kept, *others], key=lambda one: (order.index(one.kind), -one.weight)), together


def _tried(drafts: Sequence[Proposal], trial: Trial, tell: Callable[[str], None]) -> list[Proposal]:
    kept: list[Proposal] = []
    for number, draft in enumerate(drafts, 1):
        tell(f"trying {number} of {len(drafts)}")
        kept += _alone(draft, trial)
    return kept


def _alone(draft: Proposal, trial: Trial) -> list[Proposal]:
    """Try a draft; words of it that stand in what it harms are left out, and the others tried again."""
    change, made = draft.changes[0], draft
    for _ in range(TRIES):
        found = trial.tried(made.changes)
        if found.helps:
            return [made.but(effect=effect_of(found))]
        if len(made.changes) > 1:  # what it would take elsewhere stays where it is
            made = propose(draft.kind, [change], because=draft.because, evidence=draft.evidence, weight=draft.weight)
            continue
        if change.kind != ADD or not found.gain:
            break
        hurt = set(found.harmed or found.worse)
        words = tuple(word for word in change.value if trial.touched([change.but(value=(word,))]).isdisjoint(hurt))
        if not words or len(words) == len(change.value):
            break
        change = change.but(value=words)
        made = propose(draft.kind, [change], because=draft.because, evidence=draft.evidence, weight=draft.weight)
    return []


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


def _bundled(rest: Sequence[Proposal], kept: Sequence[Proposal], trial: Trial) -> tuple[Proposal, Comparison] | None:
    """Put keywords together that help only so, since documents that are alike each need their own.

    Whatever stands before the right document in an answer that got worse is left out, the worst first, until all helps.
    """
    left = sorted(rest, key=lambda one: -one.weight)[:MOST_TRIED]
    ground = [change for one in kept for change in one.changes]
    for _ in range(BUNDLE_ROUNDS):
        if len(left) < 2:
            return None
        changes = [change for one in left for change in one.changes]
        found = trial.tried([*ground, *changes], every=True)
        if found.helps:
            more = trial.tried(ground, every=True) if ground else None
            if more and found.gain - found.loss <= more.gain - more.loss:
                return None
            made = propose(
                KEYWORDS, changes, because=f"questions found {len(left)} documents; their words help only together",
                evidence=[text for one in left for text in one.evidence[:1]][:EXAMPLES],
                weight=sum(one.weight for one in left),
            )  # fmt: skip
            return made.but(effect=effect_of(found)), found
        blamed = sorted(left, key=lambda one: -found.blamed.get(one.changes[0].target, 0))
        gone = {one.id for one in blamed[: max(1, len(left) // 8)]}
        left = [one for one in left if one.id not in gone]
    return None


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
