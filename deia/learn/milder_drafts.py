"""Noise as a budget: a trigger that was called noise twice gets a milder form, one step at a time.

hold → ask → warn → note, and then the clause that made the noise (`trials/noisy_clauses`). A trigger of the project's
own is changed in its file; one of another layer in the project's `[forms]`; without a project, the person may mute it.
What only talk brought up is never more than a warning, so a milder action would weaken what the trigger does to calls
and leave the noise as it is: then the clause is looked for at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from deia.fast_json import Json
from deia.knowledge import Trigger
from deia.learn.changes import FORMS, MUTE, PERSON, SET, SETTING, TRIGGER, Change
from deia.learn.corpus_words import Vocabulary
from deia.learn.proposals import Proposal, propose
from deia.learn.signals import Evidence, FiringSignals
from deia.records import ACTIONS, Record

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
        count, good = share_good(signals)
        action = action_in_force(trigger, writable.settings)
        if good >= NOISY or action == OFF or not _is_called_noisy(signals, count):
            continue
        is_useless = count >= USELESS_JUDGED and good < USELESS and not signals.signals.get("prevented")
        yield Noise(
            trigger=trigger, signals=signals, action=action, is_own=trigger.id in vocabulary.own,
            is_useless=is_useless, why=f"{count} judgements, {good:.0%} of them good",
        )  # fmt: skip


def _is_called_noisy(signals: FiringSignals, count: int) -> bool:
    """Return whether several voices called a trigger noise, or muted it beside other judgements."""
    voices = max(signals.called_noise, *(signals.signals.get(name, 0) for name in BAD))
    return signals.called_noise >= TWICE or (voices >= TWICE and count >= JUDGED)


def share_good(firing: FiringSignals) -> tuple[int, float]:
    """Return how many judgements of a trigger there are, and the share that was good, smoothed towards one half."""
    good, bad = (sum(firing.signals.get(name, 0) for name in names) for names in (GOOD, BAD))
    return good + bad, (good + 0.5) / (good + bad + 1)


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
