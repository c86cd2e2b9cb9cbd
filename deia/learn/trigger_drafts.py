"""Drafts for triggers, made from what came of their firings: silencing words, milder actions, cases, retirement.

The ledger has no turns; whoever gives transcripts adds the turns to what the ledger says about their conversations. No
trigger is changed without a judgement of people, except one that never fired.

Noise is a budget: a trigger that was called noise twice gets a milder form, one step at a time: hold → ask → warn →
note, and then the clause that made the noise (`trials/trigger_trial`). A trigger of the project's own is changed in its
file; one of another layer in the project's `[forms]`; without a project, the person may mute it. What only talk brought
up is never more than a warning, so for it the clause is looked for at once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from types import MappingProxyType

from deia.fast_json import Json
from deia.knowledge import Trigger
from deia.learn.changes import ADD, CASES, FORMS, MUTE, PERSON, SET, SETTING, TRIGGER, Change
from deia.learn.corpus_words import Vocabulary
from deia.learn.proposals import Proposal, propose
from deia.learn.signals import Evidence, FiringSignals
from deia.ledger.warehouse_schema import SMALL_WORDS
from deia.records import ACTIONS, Record
from deia.text import words

SILENT_DAYS = 90  # days that the ledger must span to retire a trigger that never fired
SILENCED = 2  # noisy turns, and conversations, in which a silencing word must occur
MOST_UNLESS, MOST_CASES = 2, 3
EXAMPLES = 5
SHOWN = 120  # characters of a turn that is shown as evidence
OFF = "off"
MILDER = {"hold": "ask", "ask": "warn", "warn": "note"}
TWICE = 2  # voices that must have called a trigger noise or wrong
JUDGED = 4  # or judgements of any kind, mutes among them
NOISY, USELESS = 0.5, 0.2  # shares of good judgements below which a trigger is noisy, or useless
USELESS_JUDGED = 8
GOOD, BAD = ("useful", "prevented"), ("noise", "wrong", "muted")
THEN = {
    "ask": "a call is asked about and not stopped any more",
    "warn": "no call is stopped or asked about any more",
    "note": "there is only a note, and no call is stopped or asked about",
    OFF: "nothing is said any more",
}


class Writable(Record):
    """Where a milder form may be written besides the triggers' own files, and the settings that are in force."""

    forms: bool = False  # the project's `deia.toml`
    mutes: bool = False  # the person's own, where there is no project
    settings: Mapping[str, Json] = MappingProxyType({})
    muted: frozenset[str] = frozenset()  # what the person muted for good


class Noise(Record):
    """A trigger that is noise more often than not, and the action that it has by the settings."""

    trigger: Trigger
    signals: FiringSignals
    why: str
    action: str
    is_own: bool
    is_useless: bool

    @property
    def only_said(self) -> bool:
        """Whether nothing shows that two voices called noise what the trigger does to calls.

        A trigger of `ask` or `hold` does less to talk. If nobody knows what a noisy firing did, one that only warns is
        taken to have warned, and one that does more is left as it is.
        """
        noisy = [firing for firing in self.signals.judged if not firing.is_good]
        if self.action in ("note", "warn"):
            return bool(noisy) and all(firing.action not in ("", self.action) for firing in noisy)
        return len({firing.voice for firing in noisy if firing.action == self.action}) < TWICE


def noisy_triggers(evidence: Evidence, vocabulary: Vocabulary, writable: Writable) -> Iterator[Noise]:
    """Yield the triggers that were called noise twice, or judged badly often, and that are neither off nor muted."""
    for signals in evidence.firings:
        trigger = vocabulary.triggers.get(signals.trigger)
        if trigger is None or trigger.status == "deprecated" or trigger.id in writable.muted:
            continue
        praised, blamed = (sum(signals.signals.get(name, 0) for name in names) for names in (GOOD, BAD))
        count, good = praised + blamed, (praised + 0.5) / (praised + blamed + 1)  # smoothed towards one half
        voices = max(signals.called_noise, *(signals.signals.get(name, 0) for name in BAD))
        is_noisy = signals.called_noise >= TWICE or (voices >= TWICE and count >= JUDGED)
        action = action_in_force(trigger, writable.settings)
        if good >= NOISY or action == OFF or not is_noisy:
            continue
        is_useless = count >= USELESS_JUDGED and good < USELESS and not signals.signals.get("prevented")
        yield Noise(
            trigger=trigger, signals=signals, action=action, is_own=trigger.id in vocabulary.own,
            is_useless=is_useless, why=f"{count} judgements, {good:.0%} of them good",
        )  # fmt: skip


def action_in_force(trigger: Trigger, settings: Mapping[str, Json]) -> str:
    """Return the most that a trigger may do by the settings, `off` for nothing."""
    forms = settings.get(FORMS)
    limits = forms if isinstance(forms, Mapping) else {}
    limit = limits.get(trigger.id, limits.get(trigger.urgency, ACTIONS[-1]))
    strength = (OFF, *ACTIONS)
    bounds = (trigger.action, str(limit), str(settings.get("max_action", ACTIONS[-1])))
    mildest = min(bounds, key=strength.index)
    return "note" if mildest == "hold" and settings.get("hold") is False else mildest


def draft_milder(noise: Noise, writable: Writable) -> Proposal | None:
    """Return the next milder form of a noisy trigger, or None if there is none that may be proposed."""
    if noise.is_own and noise.is_useless:
        return _propose("retire", noise, TRIGGER, "status", "deprecated")
    milder = "" if noise.only_said else MILDER.get(noise.action, "")
    if noise.is_own:
        return _propose("milder", noise, TRIGGER, "action", milder) if milder else None
    if writable.forms:
        wanted = OFF if noise.is_useless and noise.trigger.urgency != "critical" else milder
        return _propose("form", noise, SETTING, FORMS, wanted) if wanted else None
    if writable.mutes and noise.action in ("warn", "note") and noise.trigger.urgency != "critical":
        return _propose("mute", noise, PERSON, MUTE, OFF)
    return None


def _propose(kind: str, noise: Noise, of: str, field: str, value: str) -> Proposal:
    """Return the proposal to set one field, which says so plainly if a guard against what cannot be undone goes."""
    change = Change(kind=SET, of=of, target=noise.trigger.id, field=field, value=value)
    proposal = propose(kind, [change], because=noise.why, evidence=evidence_of(noise), weight=-noise.signals.weight)
    return proposal.but(warning=_warning(noise, OFF if kind in ("retire", "mute") else value))


def evidence_of(noise: Noise) -> Sequence[str]:
    """Return the reasons of the firings that were called noise."""
    reasons = (firing.because for firing in noise.signals.judged if not firing.is_good)
    return tuple(dict.fromkeys(filter(None, reasons)))[:5]


def _warning(noise: Noise, value: str) -> str:
    if noise.trigger.urgency != "critical" or noise.action not in ("hold", "ask"):
        return ""
    verb = "holds" if noise.action == "hold" else "asks about"
    return f"this trigger is critical and {verb} calls whose damage cannot be undone. With this, {THEN[value]}."


class FiredTurn(Record):
    """A turn in which a trigger fired, as a case would have it, and the weight of what people said about it."""

    trigger: str
    weight: float  # below 0 for noise
    case: Json  # as in a case file: a text, or a mapping with turns
    text: str
    conversation: str
    action: str = ""
    because: str = ""


def draft_triggers(
    evidence: Evidence, vocabulary: Vocabulary, turns: Sequence[FiredTurn], writable: Writable
) -> list[Proposal]:
    """Return every draft for triggers, by kind; within a kind, the heaviest first."""
    groups = (
        silencers(vocabulary, turns), milder(evidence, vocabulary, turns, writable), unused(evidence, vocabulary),
        cases(vocabulary, turns),
    )  # fmt: skip
    proposals = [proposal for group in groups for proposal in sorted(group, key=lambda proposal: -proposal.weight)]
    return list({proposal.id: proposal for proposal in proposals}.values())


def _own_triggers(vocabulary: Vocabulary) -> list[Trigger]:
    triggers = vocabulary.triggers.values()
    return [trigger for trigger in triggers if trigger.id in vocabulary.own and trigger.status != "deprecated"]


def silencers(vocabulary: Vocabulary, turns: Sequence[FiredTurn]) -> Iterator[Proposal]:
    """Draft `unless` words: those in turns where a trigger was noise, and in none where it was useful."""
    for trigger in _own_triggers(vocabulary):
        noisy, useful = _noisy_and_useful(trigger, turns)
        firing = [case for case in vocabulary.commons.cases if case.trigger == trigger.id and case.fires]
        must_fire = [turn.text for turn in useful] + [turn.text for case in firing for turn in case.turns]
        chosen = _silencing(trigger, noisy, must_fire)
        silenced = [turn for turn in noisy if any(_contains(turn.text, phrase) for phrase in chosen)]
        if chosen:
            cases = tuple({words_of(turn.text): turn.case for turn in silenced}.values())[:MOST_CASES]
            yield propose(
                "unless",
                [
                    Change(kind=ADD, of=TRIGGER, target=trigger.id, field="unless", value=tuple(chosen)),
                    Change(kind=CASES, of=TRIGGER, target=trigger.id, field="silent", value=cases),
                ],
                because=f"noise {len(silenced)} times with these words, and useful without them",
                evidence=list(dict.fromkeys(turn.text[:SHOWN] for turn in silenced))[:EXAMPLES],
                weight=2.0 * len(silenced),
            )  # fmt: skip


def _noisy_and_useful(trigger: Trigger, turns: Sequence[FiredTurn]) -> tuple[list[FiredTurn], list[FiredTurn]]:
    own = [turn for turn in turns if turn.trigger == trigger.id]
    return [turn for turn in own if turn.weight < 0], [turn for turn in own if turn.weight > 0]


def _silencing(trigger: Trigger, noisy: Sequence[FiredTurn], must_fire: Sequence[str]) -> list[str]:
    """Return the words that occur in most noisy turns, of several conversations, and in none that must fire."""
    own = set(words(" ".join(str(clause.value) for clause in (*trigger.any, *trigger.all))))
    chosen: list[str] = []
    remaining = list(noisy)
    while len(chosen) < MOST_UNLESS:
        counts = Counter(phrase for turn in remaining for phrase in phrases(turn.text))
        best = [
            phrase for phrase, count in counts.most_common()
            if count >= SILENCED and own.isdisjoint(phrase.split())
            and not any(_contains(text, phrase) for text in must_fire)
            and len({turn.conversation for turn in remaining if _contains(turn.text, phrase)}) >= SILENCED
        ]  # fmt: skip
        if not best:
            break
        most = counts[best[0]]
        chosen.append(max((phrase for phrase in best if counts[phrase] == most), key=lambda text: (len(text), text)))
        remaining = [turn for turn in remaining if not _contains(turn.text, chosen[-1])]
    return chosen


def phrases(text: str) -> set[str]:
    """Return the meaningful words of a turn, and the pairs of neighbours that contain one."""
    all_words = words(text)
    single = {word for word in all_words if len(word) > 2 and word not in SMALL_WORDS and not word.isdecimal()}
    return single | {f"{first} {second}" for first, second in pairwise(all_words) if {first, second} & single}


def _contains(text: str, phrase: str) -> bool:
    return f" {phrase} " in f" {' '.join(words(text))} "


def milder(
    evidence: Evidence, vocabulary: Vocabulary, turns: Sequence[FiredTurn], writable: Writable
) -> Iterator[Proposal]:
    """Draft a milder form for triggers that are noise more often than not, and retirement for useless ones."""
    for noise in still_noisy(evidence, vocabulary, turns, writable):
        proposal = draft_milder(noise, writable)
        if proposal is not None:
            yield proposal


def still_noisy(
    evidence: Evidence, vocabulary: Vocabulary, turns: Sequence[FiredTurn], writable: Writable
) -> Iterator[Noise]:
    """Yield the noisy triggers whose noise was not silenced since.

    Old judgements stay in the ledger. If there are turns in which the trigger fires to this day, these decide.
    """
    for noise in noisy_triggers(evidence, vocabulary, writable):
        noisy, useful = _noisy_and_useful(noise.trigger, turns)
        if not (noisy or useful) or len(useful) < len(noisy):
            yield noise


def unused(evidence: Evidence, vocabulary: Vocabulary) -> Iterator[Proposal]:
    """Draft retirement for experiments that never fired, if the ledger is long enough."""
    fired = {signals.trigger for signals in evidence.firings}
    for trigger in _own_triggers(vocabulary) if evidence.days >= SILENT_DAYS and fired else ():
        if trigger.status == "experimental" and trigger.id not in fired:
            why = f"an experiment that did not fire once in {evidence.days} days"
            change = Change(kind=SET, of=TRIGGER, target=trigger.id, field="status", value="deprecated")
            yield propose("retire", [change], because=why, evidence=(), weight=0.0)


def cases(vocabulary: Vocabulary, turns: Sequence[FiredTurn]) -> Iterator[Proposal]:
    """Draft cases: turns in which a trigger was useful must fire it, and those in which it was noise must not."""
    for trigger in _own_triggers(vocabulary):
        own_cases = [case for case in vocabulary.commons.cases if case.trigger == trigger.id]
        known = {words_of(turn.text) for case in own_cases for turn in case.turns}
        for field, judged in zip(("silent", "fires"), _noisy_and_useful(trigger, turns), strict=True):
            new = {words_of(turn.text): turn for turn in judged if words_of(turn.text) not in known}
            chosen = list(new.values())[:MOST_CASES]
            if chosen:
                value = tuple(turn.case for turn in chosen)
                change = Change(kind=CASES, of=TRIGGER, target=trigger.id, field=field, value=value)
                why = f"{len(chosen)} turns in which it was {'noise' if field == 'silent' else 'useful'}"
                evidence = [turn.text[:SHOWN] for turn in chosen]
                yield propose("case", [change], because=why, evidence=evidence, weight=float(len(chosen)))


def words_of(text: str) -> str:
    """Return the words of a text as one string; two texts with the same words are the same case."""
    return " ".join(words(text))
