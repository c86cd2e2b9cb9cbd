"""Understands what the person says to deia in the conversation: "deia: not relevant", "deia: mute", "deia: why" etc.

A remark is a whole prompt on one line, in exactly these words, so that pasted text and text about deia are never taken
for one; what tools and models say never comes here. It counts only in its own conversation and for the agents that work
for it; the command line reaches further. It is not a turn of the conversation: a "yes" after it still answers what was
said before it.
"""

from __future__ import annotations

import time

from deia import spool
from deia.durations import ago, read_duration
from deia.records import TYPE_CHECKING, Record
from deia.serve.hooks.duplicates import is_first
from deia.serve.hosts.delivery_form import Said
from deia.text import one_line, shorten
from deia.watch.injection import framed, whose
from deia.watch.memory.history import PastInjection, past_injections
from deia.watch.memory.log import FileLog, belongs_to
from deia.watch.silence import allow
from deia.watch.silence.mutes import Mute, read_mutes, write_mute
from deia.watch.verdict.escalation import numbers_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from deia.serve.hooks.place import Place
    from deia.serve.hosts.event import Occasion
    from deia.watch.gate.artefact import Artefact

ADDRESS = "deia:"
MOST_CHARS = 200  # of a remark
MUTE_SECONDS = 30 * 86_400.0  # until the end of the conversation: nobody continues one after so long
MOST_REASON = 300  # characters
# The remarks that consist of fixed words. A kind that is a verdict has the name that the verdict has in the ledger.
WORDS = {
    "noise": ("not relevant", "irrelevant", "noise"),
    "wrong": ("wrong", "that is wrong", "that's wrong"),
    "useful": ("useful", "helpful", "thanks", "thank you"),
    "prevented": ("prevented a mistake", "that prevented a mistake"),
    "mute": ("mute", "mute this", "mute it", "mute that"),
    "unmute": ("unmute", "unmute this", "unmute it", "unmute that"),
    "why": ("why", "why?"),
}
KINDS = {words: kind for kind, phrases in WORDS.items() for words in phrases}
VERDICTS = {"noise": "not relevant", "wrong": "wrong", "useful": "useful", "prevented": "what prevented a mistake"}
LETTERS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-")
NO_INJECTION = "nothing was said in this conversation yet"


class Remark(Record):
    """A remark of the person."""

    kind: str  # noise | wrong | useful | prevented | mute | unmute | why | allow
    trigger: str = ""  # "" for those that fired last
    seconds: int = 0  # of a mute; 0 until the end of the conversation
    code: str = ""


def read_remark(text: str) -> Remark | None:
    """Return the remark that a prompt is, or None if it is anything else."""
    line = text.strip(" \t\r\n")
    if len(line) > MOST_CHARS or len(line.splitlines()) != 1 or line[: len(ADDRESS)].lower() != ADDRESS:
        return None
    words = line[len(ADDRESS) :].rstrip(".! \t").lower().split()
    kind = KINDS.get(" ".join(words))
    if kind:
        return Remark(kind=kind)
    if len(words) == 2 and words[0] == "allow":
        code = words[1].upper()
        is_code = len(code) == allow.CODE_LENGTH and set(code) <= set(allow.LETTERS)
        return Remark(kind="allow", code=code) if is_code else None
    return _mute(words)


def _mute(words: Sequence[str]) -> Remark | None:
    """Parse `mute TRIGGER for 2h`, `mute for 2h`, `mute TRIGGER` and `unmute TRIGGER`; None for anything else."""
    kind, rest = (words[0], list(words[1:])) if words else ("", [])
    seconds = 0
    if kind == "mute" and len(rest) > 1 and rest[-2] == "for":
        try:
            seconds = read_duration(rest[-1])
        except ValueError:
            return None
        del rest[-2:]
    if kind not in {"mute", "unmute"} or len(rest) > 1:
        return None
    trigger = rest[0] if rest and rest[0] not in {"this", "it", "that"} else ""
    return Remark(kind=kind, trigger=trigger, seconds=seconds) if LETTERS.issuperset(trigger) else None


def answer_remark(
    place: Place, artefact: Artefact, occasion: Occasion, log: FileLog, can: Mapping[str, str]
) -> Said | None:
    """Do what the person's remark asks and return a confirmation, or None if the prompt is not a remark."""
    turn = occasion.turn
    remark = read_remark(turn.text) if turn is not None else None
    if turn is None or remark is None:
        return None
    if not is_first(log, occasion.moment, occasion.mark, turn, now=time.time()):
        return Said()  # the same prompt also came through another host's settings, and is answered there
    past = past_injections(place.state, occasion.conversation)
    reply = Listener(place, artefact, occasion.conversation, past).hear(remark)
    note = f"deia: {reply}." if "note" in can else ""
    context = f"The person said this to deia, not to you, and deia has dealt with it: {remark.kind}."
    context = context if note else f"The person said this to deia. Tell them what deia answers: {reply}."
    return Said(note=note, context=framed(context) if "context" in can else "")


class Listener:
    """Carries out the remarks of one conversation and reports what was done."""

    def __init__(self, place: Place, artefact: Artefact, conversation: str, past: Sequence[PastInjection]) -> None:
        self._place, self._artefact, self._conversation = place, artefact, conversation
        self._past = past
        self._telemetry: str = artefact.meta.settings["telemetry"]
        self._now = time.time()

    def hear(self, remark: Remark) -> str:
        """Do what a remark asks; return a sentence about it."""
        if remark.kind == "allow":
            return self._allow(remark.code)
        if remark.kind == "unmute":
            return self._unmute(remark.trigger)
        if remark.trigger:
            known = list(numbers_of(self._artefact, [remark.trigger]))
            fix = "To see them all, type in a terminal: deia trigger list"
            return self._mute([remark.trigger], remark) if known else f"there is no trigger {remark.trigger}. {fix}"
        if not self._past:
            return NO_INJECTION
        last = self._past[-1]
        if remark.kind == "why":
            return "; ".join(self._why(trigger, last) for trigger in last.triggers)
        noted = self._note(last, remark.kind) if remark.kind in VERDICTS else ""
        muted = self._mute(last.triggers, remark) if remark.kind in {"mute", "noise"} else ""
        return "; ".join(filter(None, (noted, muted)))

    def _note(self, last: PastInjection, verdict: str) -> str:
        """Write the person's verdict on the last injection to the ledger."""
        fields = {"conversation": self._conversation, "verdict": verdict}
        noted = [
            trigger
            for trigger, event in last.events.items()
            if event and self._place.spool("feedback", {**fields, "of": event}, telemetry=self._telemetry)
        ]
        return (
            f"{', '.join(noted)}: noted as {VERDICTS[verdict]}" if noted else "telemetry is off, so nothing was noted"
        )

    def _mute(self, triggers: Iterable[str], remark: Remark) -> str:
        until = self._now + (remark.seconds or MUTE_SECONDS)
        mutes = [Mute(trigger=trigger, until=until, conversation=self._conversation) for trigger in triggers]
        if not all(write_mute(self._place.state, mute) for mute in mutes):
            return f"the mute cannot be written in {self._place.state}"
        names = ", ".join(mute.trigger for mute in mutes)
        length = f" until {time.strftime('%H:%M', time.localtime(until))}" if remark.seconds else ""
        return f"{names} is muted in this conversation{length} (deia: unmute takes it back)"

    def _unmute(self, trigger: str) -> str:
        mutes = [
            mute
            for mute in read_mutes(self._place.state, now=self._now)
            if mute.conversation == self._conversation and trigger in {"", mute.trigger}
        ]
        for mute in mutes:
            write_mute(self._place.state, mute.but(lifted=True))
        names = ", ".join(mute.trigger for mute in mutes)
        if mutes:
            return f"{names} is heard again"
        return f"{trigger} is not muted in this conversation" if trigger else "nothing is muted in this conversation"

    def _allow(self, code: str) -> str:
        """Let a call pass by a code, which only the person saw, in the conversation in which it was shown."""
        permission = allow.offered(self._place.state, code, now=self._now)
        if permission is None or not belongs_to(permission.conversation, self._conversation):
            return f"there is no code {code} for this conversation"
        allow.grant(self._place.state, code, now=self._now)
        return f"{', '.join(permission.triggers)} may pass once"

    def _why(self, trigger: str, last: PastInjection) -> str:
        """Return why a trigger fired, and what it showed."""
        event = spool.find_event(self._place.events, last.events.get(trigger, ""))
        triggers = [self._artefact.trigger(number) for number in numbers_of(self._artefact, [trigger])]
        because = shorten(one_line(str(event.get("because") or "the reason was not kept")), MOST_REASON)
        shown = [self._artefact.document(number)["path"] for compiled in triggers for number, *_ in compiled.documents]
        outcome = f" ({event['outcome']})" if event.get("outcome") else ""
        parts = [
            f"{trigger}{outcome} {ago(self._now - last.at)}: {because}",
            f"from {whose(triggers[0].origin)}" if triggers else "it is not among the triggers any more",
            f"with {', '.join(shown)}" if shown else "",
        ]
        return ", ".join(filter(None, parts))
