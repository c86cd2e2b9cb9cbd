"""Which form an injection takes at a host's moment: added context, a hold, a question, a note; or it has to wait.

A host's table CARRIES decides, so that a host is described and not programmed. What a moment cannot carry is not cut
down to what it can: it waits for the next moment that carries it.
"""

from __future__ import annotations

from deia.records import TYPE_CHECKING, Record
from deia.text import one_line, shorten

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from deia.records import Injection

MOST_CHARS = 9_500  # of one string; hosts cut or spill more than 10,000
AGAIN = "The same call passes when it is made again."


class Said(Record):
    """What to tell whom: `context` and `hold` are read by the model, `ask` and `note` by the person."""

    context: str = ""
    hold: str = ""
    ask: str = ""
    note: str = ""

    @property
    def reaches(self) -> bool:
        """Whether the model reads what was to be injected."""
        return bool(self.context or self.hold)


def form_of(can: Mapping[str, str], action: str, *, hold: bool) -> str:
    """Give the form for an action: the one that it asks for, else the nearest that the moment carries.

    A question that a host does not know becomes a hold, whose reason the model can put to the person.
    """
    wanted = {"hold": ("hold", "ask") if hold else (), "ask": ("ask", "hold") if hold else ("ask",)}.get(action, ())
    return next((form for form in wanted if form in can), "context")


def say(
    can: Mapping[str, str], injection: Injection | None, *, waiting: Sequence[str] = (), note: str = "",
    hold: bool = True, stops: bool = False, code: str = "",
) -> Said:  # fmt: skip
    """Give what to say at a moment that carries the forms in `can`.

    `waiting` are texts that waited for this moment, and with `stops` they hold the call by themselves; `code` is the
    person's alone: it goes where the host shows the model nothing.
    """
    action = injection.action if injection else "note"
    form = "hold" if stops and "hold" in can else form_of(can, action, hold=hold)
    texts = "\n\n".join(_unrepeated((*waiting, *((injection.text,) if injection else ()))))
    told = note or (_told(injection, code) if injection and action != "note" else "")
    shown = told if "note" in can else ""
    if form == "hold":
        return Said(hold=f"{shorten(texts, MOST_CHARS - len(AGAIN) - 2)}\n\n{AGAIN}", note=shown)
    context = shorten(texts, MOST_CHARS) if "context" in can else ""
    if form == "ask" and injection:
        return Said(ask=shorten(question(injection), MOST_CHARS), context=context, note=shown)
    return Said(context=context, note=shown)


def _unrepeated(texts: Sequence[str]) -> Sequence[str]:
    """Give what waited and what is said now, each trigger once: the newest says what the older said."""
    if len(texts) < 2:
        return texts
    from deia.watch.injection import unrepeated  # noqa: PLC0415 - hardly ever two texts come together

    return unrepeated(texts)


def forbid(can: Mapping[str, str], reason: str) -> Said:
    """Give what stops a call for good, with a reason that the model reads where the host can."""
    note = f"deia: {reason}" if "note" in can else ""
    return Said(hold=reason, note=note) if "hold" in can else Said(ask=reason if "ask" in can else "", note=note)


def trouble(can: Mapping[str, str], what: str) -> Said:
    """Tell the person that deia itself is in trouble, through the model where the host has no other way."""
    return Said(note=f"deia: {what}") if "note" in can else Said(context=f"deia: {what}" if "context" in can else "")


def with_trouble(can: Mapping[str, str], said: Said | None, what: str) -> Said:
    """Give what is said with a word to the person that deia itself is in trouble."""
    told = trouble(can, what)
    if said is None:
        return told
    context = "\n\n".join(filter(None, (said.context, told.context)))
    return said.but(context=context, note="\n".join(filter(None, (said.note, told.note))))


def question(injection: Injection) -> str:
    """Give the question that the person reads."""
    first = injection.parts[0]["injection"]
    instead = f"Instead: {'; or: '.join(first['instead'])}" if first["instead"] else ""
    return one_line(f"{first['message']} {first['action_required']} {instead}")


def _told(injection: Injection, code: str) -> str:
    leave = f"deia allow {code} lets it pass once; " if code else ""
    return f"deia: {', '.join(injection.triggers)} ({leave}deia mute {injection.triggers[0]} silences it)"
