"""Drafts are tried, and those that help and harm nothing are kept, each with its figures.

Each is tried alone, and again without the words that did harm. What is left is tried all together, and drafts that then
harm a question are dropped. Keywords of similar documents may help only together, and so may all keywords of a wide
reach: these become one proposal. Nothing is kept that makes a golden question or a figure worse.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from deia.learn.changes import ADD, CONCEPT, PATTERN, Change
from deia.learn.index_drafts import CAREFUL, Reach, consistent
from deia.learn.proposals import Effect, Proposal, propose
from deia.learn.trials.index_trial import Comparison, IndexTrial

KEYWORDS = "keywords"
SEARCHED = (CONCEPT, KEYWORDS, "promote", "demote")  # kinds that change answers
ASKED = ("pattern", "refine")  # kinds whose first wording must find their document today
TRIES = 3  # of one draft
MOST_TRIED = 200  # drafts, the heaviest first
ROUNDS = 40  # of dropping drafts that do harm together
BUNDLE_ROUNDS, EXAMPLES = 12, 5
UNMOVED = "moves no document in any answer"


def judge_drafts(
    drafts: Sequence[Proposal],
    trial: IndexTrial,
    *,
    reach: Reach = CAREFUL,
    report: Callable[[str], None] = lambda _: None,
) -> tuple[list[Proposal], Comparison]:
    """Return the drafts that help and harm nothing, and what all of them do together.

    Keywords of a wide `reach` were found to help together, so they are tried and proposed together. `report` is called
    with the progress.
    """
    moving = sorted((draft for draft in drafts if draft.kind in SEARCHED), key=lambda draft: -draft.weight)
    kept = _try_each([draft for draft in moving if draft.kind == CONCEPT][:MOST_TRIED], trial, report)
    moving = consistent([*kept, *(draft for draft in moving if draft.kind != CONCEPT)])[len(kept) :]
    alone = [draft for draft in moving if draft.kind != KEYWORDS or not reach.is_wide]
    kept, together = _try_together([*kept, *_try_each(alone[:MOST_TRIED], trial, report)], trial)
    report("trying the rest together")
    settled = {change.target for draft in kept if draft.kind == KEYWORDS for change in draft.changes}
    rest = [draft for draft in moving if draft.kind == KEYWORDS and draft.changes[0].target not in settled]
    bundle = _bundled(rest, kept, trial)
    if bundle:
        kept.append(bundle[0])
        together = bundle[1]
    order = [draft.kind for draft in drafts]
    unmoving = (_checked(draft, trial) for draft in drafts if draft.kind not in SEARCHED)
    kept += [draft for draft in unmoving if draft]
    return sorted(kept, key=lambda draft: (order.index(draft.kind), -draft.weight)), together


def _try_each(drafts: Sequence[Proposal], trial: IndexTrial, report: Callable[[str], None]) -> list[Proposal]:
    kept: list[Proposal] = []
    for number, draft in enumerate(drafts, 1):
        report(f"trying {number} of {len(drafts)}")
        kept += _try_alone(draft, trial)
    return kept


def _try_alone(draft: Proposal, trial: IndexTrial) -> list[Proposal]:
    """Return a draft that helps, as a list of one; words that do harm are left out, and the others tried again."""
    change, attempt = draft.changes[0], draft
    for _ in range(TRIES):
        comparison = trial.try_changes(attempt.changes)
        if comparison.helps:
            return [attempt.but(effect=effect_of(comparison))]
        if len(attempt.changes) > 1:  # without the words that it would drop elsewhere
            attempt = draft.with_changes([change])
            continue
        if change.kind != ADD or not comparison.gain:
            break
        hurt = set(comparison.harmed or comparison.worse)
        words = tuple(
            word for word in change.words if trial.probes_touched([change.but(value=(word,))]).isdisjoint(hurt)
        )
        if not words or len(words) == len(change.words):
            break
        change = change.but(value=words)
        attempt = draft.with_changes([change])
    return []


def _try_together(kept: Sequence[Proposal], trial: IndexTrial) -> tuple[list[Proposal], Comparison]:
    """Return the drafts that harm nothing when all are made; the lightest suspects are dropped first."""
    remaining = list(kept)
    for _ in range(ROUNDS):
        comparison = trial.try_changes(_changes_of(remaining), every=True)
        if comparison.helps or not remaining:
            return remaining, comparison
        hurt = comparison.harmed or comparison.worse
        suspects = [draft for draft in remaining if not trial.probes_touched(draft.changes).isdisjoint(hurt)]
        weakest = sorted(suspects or remaining, key=lambda draft: draft.weight)
        dropped = {draft.id for draft in weakest[: max(1, len(hurt) // 4)]}
        remaining = [draft for draft in remaining if draft.id not in dropped]
    return [], trial.try_changes([], every=True)


def _changes_of(drafts: Sequence[Proposal]) -> list[Change]:
    return [change for draft in drafts for change in draft.changes]


def _bundled(
    rest: Sequence[Proposal], kept: Sequence[Proposal], trial: IndexTrial
) -> tuple[Proposal, Comparison] | None:
    """Return one proposal of keywords that help only together, because similar documents each need their own.

    Documents that come before the right one in answers that got worse are left out, the worst first, until the rest
    helps.
    """
    remaining = sorted(rest, key=lambda draft: -draft.weight)[:MOST_TRIED]
    ground = _changes_of(kept)
    for _ in range(BUNDLE_ROUNDS):
        if len(remaining) < 2:
            return None
        comparison = trial.try_changes([*ground, *_changes_of(remaining)], every=True)
        if comparison.helps:
            without = trial.try_changes(ground, every=True) if ground else None
            if without and comparison.gain - comparison.loss <= without.gain - without.loss:
                return None
            return _bundle(remaining).but(effect=effect_of(comparison)), comparison
        worst = sorted(remaining, key=lambda draft: -comparison.blamed.get(draft.changes[0].target, 0))
        dropped = {draft.id for draft in worst[: max(1, len(remaining) // 8)]}
        remaining = [draft for draft in remaining if draft.id not in dropped]
    return None


def _bundle(drafts: Sequence[Proposal]) -> Proposal:
    return propose(
        KEYWORDS, _changes_of(drafts),
        because=f"questions found {len(drafts)} documents; their words help only together",
        evidence=[text for draft in drafts for text in draft.evidence[:1]][:EXAMPLES],
        weight=sum(draft.weight for draft in drafts),
    )  # fmt: skip


def _checked(draft: Proposal, trial: IndexTrial) -> Proposal | None:
    """Return a draft that moves no answers, if it is still true; None if its question does not find its document."""
    change = draft.changes[0]
    if draft.kind not in ASKED or change.kind != PATTERN:
        return draft.but(effect=Effect(note=UNMOVED))
    pattern = change.pattern
    if not any(set(pattern.common_docs) & set(trial.documents_found(text)) for text in pattern.natural_language[:1]):
        return None
    return draft.but(effect=Effect(note="its first wording finds it; it is a golden query from now on"))


def effect_of(comparison: Comparison) -> Effect:
    """Return a comparison as a proposal shows it."""
    return Effect(
        before=comparison.before, after=comparison.after, asked=comparison.asked, better=comparison.better
    )  # fmt: skip
