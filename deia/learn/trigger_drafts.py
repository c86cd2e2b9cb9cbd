"""Drafts for triggers, from what came of their firings: words that silence them, a milder form, cases, retirement.

The ledger has no turns; who gives transcripts gives the turns to what the ledger says of their conversations. Refuses
to touch a trigger of which nobody said anything, except one that never fired.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

from deia.knowledge import Case, Trigger
from deia.learn.changes import ADD, CASES, SET, TRIGGER, Change
from deia.learn.corpus_words import Shelf
from deia.learn.proposals import Proposal, propose
from deia.learn.signals import Evidence, Heard
from deia.ledger.gaps import SMALL_WORDS
from deia.records import Record
from deia.text import words

MILDER = {"hold": "ask", "ask": "warn", "warn": "note"}
JUDGED = 4  # judgements from which a trigger can be called noisy
NOISY, USELESS = 0.5, 0.2  # of the judgements that were good
USELESS_JUDGED = 8
SILENT_DAYS = 90  # of the ledger, for a trigger that never fired
SILENCED = 2  # noisy turns that a word must stand in
MOST_UNLESS, MOST_CASES = 2, 3
LONGEST = 2  # words of what silences
GOOD, BAD = ("useful", "prevented"), ("noise", "wrong", "muted")
EXAMPLES = 5
TOLD = 120  # characters of a turn


class Fired(Record):
    """A turn in which a trigger fired, as a case would have it, and what the ledger says came of it."""

    trigger: str
    weight: float  # below 0 for noise
    case: object  # a text, or a mapping with turns
    text: str
    conversation: str


def draft_triggers(evidence: Evidence, shelf: Shelf, turns: Sequence[Fired]) -> list[Proposal]:
    """Give every draft for triggers."""
    found = [one for make in DRAFTS for one in sorted(make(evidence, shelf, turns), key=lambda one: -one.weight)]
    return list({proposal.id: proposal for proposal in found}.values())


def share_good(heard: Heard) -> tuple[int, float]:
    """Give how many judgements of a trigger there are, and the share that was good, drawn a little to the middle."""
    good, bad = (sum(heard.signals.get(name, 0) for name in names) for names in (GOOD, BAD))
    return good + bad, (good + 0.5) / (good + bad + 1)


def _own(shelf: Shelf) -> Iterator[Trigger]:
    yield from (one for one in shelf.triggers.values() if one.id in shelf.own and one.status != "deprecated")


def silencers(_evidence: Evidence, shelf: Shelf, turns: Sequence[Fired]) -> Iterator[Proposal]:
    """Draft `unless` words: what stands in turns where a trigger was noise, and in none where it was of use."""
    for trigger in _own(shelf):
        noisy, good = _parted(trigger, turns)
        kept = [*(each.text for each in good), *_fires(trigger, shelf.commons.cases)]
        chosen = _silencing(trigger, noisy, kept)
        silenced = [each for each in noisy if any(_holds(each.text, one) for one in chosen)]
        if chosen:
            cases = tuple({words_of(each.text): each.case for each in silenced}.values())[:MOST_CASES]
            yield propose(
                "unless",
                [
                    Change(kind=ADD, of=TRIGGER, target=trigger.id, field="unless", value=tuple(chosen)),
                    Change(kind=CASES, of=TRIGGER, target=trigger.id, field="silent", value=cases),
                ],
                because=f"noise {len(silenced)} times with these words, and of use without them",
                evidence=list(dict.fromkeys(each.text[:TOLD] for each in silenced))[:EXAMPLES],
                weight=2.0 * len(silenced),
            )  # fmt: skip


def _parted(trigger: Trigger, turns: Sequence[Fired]) -> tuple[list[Fired], list[Fired]]:
    own = [each for each in turns if each.trigger == trigger.id]
    return [each for each in own if each.weight < 0], [each for each in own if each.weight > 0]


def _fires(trigger: Trigger, cases: Sequence[Case]) -> list[str]:
    held = [case for case in cases if case.trigger == trigger.id and case.fires]
    return [turn.text for case in held for turn in case.turns]


def _silencing(trigger: Trigger, noisy: Sequence[Fired], kept: Sequence[str]) -> list[str]:
    """Choose the few words that stand in most noisy turns of several conversations and in none that must stay."""
    own = set(words(" ".join(str(clause.value) for clause in (*trigger.any, *trigger.all))))
    chosen: list[str] = []
    left = list(noisy)
    while len(chosen) < MOST_UNLESS:
        counted = Counter(one for each in left for one in _runs(each.text))
        best = [
            one for one, count in counted.most_common()
            if count >= SILENCED and own.isdisjoint(one.split()) and not any(_holds(text, one) for text in kept)
            and len({each.conversation for each in left if _holds(each.text, one)}) >= SILENCED
        ]  # fmt: skip
        if not best:
            break
        most = counted[best[0]]
        chosen.append(max((one for one in best if counted[one] == most), key=lambda one: (len(one), one)))
        left = [each for each in left if not _holds(each.text, chosen[-1])]
    return chosen


def _runs(text: str) -> set[str]:
    """Give the words of a turn that say something, and its pairs of words."""
    told = words(text)
    single = {word for word in told if len(word) > 2 and word not in SMALL_WORDS and not word.isdecimal()}
    pairs = {f"{one} {other}" for one, other in pairwise(told) if {one, other} & single}
    return single | pairs


def _holds(text: str, run: str) -> bool:
    return f" {run} " in f" {' '.join(words(text))} "


def milder(evidence: Evidence, shelf: Shelf, turns: Sequence[Fired]) -> Iterator[Proposal]:
    """Draft a milder form for triggers that are noise more often than not, and retirement for useless ones.

    Judgements stay in the ledger; where the turns are there, those count in which it fires to this day.
    """
    for heard in evidence.firings:
        trigger = shelf.triggers.get(heard.trigger)
        if trigger is None or trigger.id not in shelf.own or trigger.status == "deprecated":
            continue
        noisy, fine = _parted(trigger, turns)
        if (noisy or fine) and len(fine) >= len(noisy):
            continue
        judged, good = share_good(heard)
        why = f"{judged} judgements, {good:.0%} of them good"
        if judged >= USELESS_JUDGED and good < USELESS and not heard.signals.get("prevented"):
            yield _set("retire", trigger, "status", "deprecated", why, -heard.weight)
        elif judged >= JUDGED and good < NOISY and trigger.action in MILDER:
            yield _set("milder", trigger, "action", MILDER[trigger.action], why, -heard.weight)


def unused(evidence: Evidence, shelf: Shelf, _turns: Sequence[Fired]) -> Iterator[Proposal]:
    """Draft retirement for experiments that never fired, in a ledger long enough to say so."""
    fired = {heard.trigger for heard in evidence.firings}
    for trigger in _own(shelf) if evidence.days >= SILENT_DAYS and fired else ():
        if trigger.status == "experimental" and trigger.id not in fired:
            why = f"an experiment that did not fire once in {evidence.days} days"
            yield _set("retire", trigger, "status", "deprecated", why, 0.0)


def _set(kind: str, trigger: Trigger, field: str, value: str, why: str, weight: float) -> Proposal:
    change = Change(kind=SET, of=TRIGGER, target=trigger.id, field=field, value=value)
    return propose(kind, [change], because=why, evidence=(), weight=weight)


def cases(_evidence: Evidence, shelf: Shelf, turns: Sequence[Fired]) -> Iterator[Proposal]:
    """Draft cases: turns in which a trigger was of use must fire it, and those in which it was noise must not."""
    for trigger in _own(shelf):
        held = {
            words_of(turn.text) for case in shelf.commons.cases if case.trigger == trigger.id for turn in case.turns
        }
        for field, found in zip(("silent", "fires"), _parted(trigger, turns), strict=True):
            new = {words_of(each.text): each for each in found if words_of(each.text) not in held}
            chosen = list(new.values())[:MOST_CASES]
            if chosen:
                change = Change(
                    kind=CASES, of=TRIGGER, target=trigger.id, field=field, value=tuple(each.case for each in chosen)
                )
                why = f"{len(chosen)} turns in which it was {'noise' if field == 'silent' else 'of use'}"
                told = [each.text[:TOLD] for each in chosen]
                yield propose("case", [change], because=why, evidence=told, weight=float(len(chosen)))


def words_of(text: str) -> str:
    """Give a text as its words, by which two are the same."""
    return " ".join(words(text))


DRAFTS: tuple[Callable[[Evidence, Shelf, Sequence[Fired]], Iterator[Proposal]], ...] = (
    silencers, milder, unused, cases,
)  # fmt: skip
