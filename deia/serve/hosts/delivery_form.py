"""The form that an injection takes at a moment of a host: added context, a hold, a question or a note.

A host's table CARRIES decides, so that hosts are described and not programmed. A text that a moment cannot carry is not
shortened to fit; it waits for the next moment that can carry it.
"""

from __future__ import annotations

from deia.firing import Injection
from deia.records import TYPE_CHECKING, Record
from deia.text import one_line, shorten

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


MOST_CHARS = 9_500  # of one string; hosts cut or move away more than 10,000
REPEAT = "The same call passes when it is made again."


class Said(Record):
    """What deia says at a moment: the model reads `context` and `hold`, the person `ask` and `note`."""

    context: str = ""
    hold: str = ""
    ask: str = ""
    note: str = ""

    @property
    def reaches(self) -> bool:
        """Whether the model reads what was to be injected."""
        return bool(self.context or self.hold)


def form_of(can: Mapping[str, str], action: str, *, hold: bool) -> str:
    """Return the form for an action: the one that it asks for, else the nearest that the moment carries.

    At a host without questions a question becomes a hold, whose reason the model can pass on to the person.
    """
    wanted = {"hold": ("hold", "ask") if hold else (), "ask": ("ask", "hold") if hold else ("ask",)}.get(action, ())
    return next((form for form in wanted if form in can), "context")


def say(
    can: Mapping[str, str], injection: Injection | None, *, waiting: Sequence[str] = (), note: str = "",
    hold: bool = True, stops: bool = False, code: str = "",
) -> Said:  # fmt: skip
    """Return what to say at a moment that carries the forms in `can`.

    `waiting` are texts that waited for this moment; with `stops` they hold the call by themselves. `code` is only for
    the person: it is shown only if the host keeps notes from the model.
    """
    action = injection.action if injection else "note"
    form = "hold" if stops and "hold" in can else form_of(can, action, hold=hold)
    texts = "\n\n".join(_unrepeated((*waiting, *((injection.text,) if injection else ()))))
    note = note or (_note(injection, code) if injection and action != "note" else "")
    shown = note if "note" in can else ""
    if form == "hold":
        return Said(hold=f"{shorten(texts, MOST_CHARS - len(REPEAT) - 2)}\n\n{REPEAT}", note=shown)
    context = shorten(texts, MOST_CHARS) if "context" in can else ""
    if form == "ask" and injection:
        return Said(ask=shorten(question(injection), MOST_CHARS), context=context, note=shown)
    return Said(context=context, note=shown)


def _unrepeated(texts: Sequence[str]) -> Sequence[str]:
    """Return the texts with each trigger once; the newest text repeats what an older one says."""
    if len(texts) < 2:
        return texts
    from deia.watch.injection import unrepeated  # noqa: PLC0415 - two texts hardly ever come together

    return unrepeated(texts)


def forbid(can: Mapping[str, str], reason: str) -> Said:
    """Return what stops a call for good; the model reads the reason if the host allows it."""
    note = f"deia: {reason}" if "note" in can else ""
    return Said(hold=reason, note=note) if "hold" in can else Said(ask=reason if "ask" in can else "", note=note)


def trouble(can: Mapping[str, str], problem: str) -> Said:
    """Return a report to the person of a problem in deia itself, through the model if there is no other way.

    It is one line, even if a path in it has line breaks.
    """
    report = f"deia: {one_line(problem)}"
    return Said(note=report) if "note" in can else Said(context=report if "context" in can else "")


def with_trouble(can: Mapping[str, str], message: Said | None, problem: str) -> Said:
    """Return a message with a report of a problem in deia itself added to it."""
    report = trouble(can, problem)
    if message is None:
        return report
    context = "\n\n".join(filter(None, (message.context, report.context)))
    return message.but(context=context, note="\n".join(filter(None, (message.note, report.note))))


def question(injection: Injection) -> str:
    """Return the question that the person reads."""
    first = injection.parts[0]["injection"]
    instead = f"Instead: {'; or: '.join(first['instead'])}" if first["instead"] else ""
    return one_line(f"{first['message']} {first['action_required']} {instead}")


def _note(injection: Injection, code: str) -> str:
    permission = f"deia allow {code} lets it pass once; " if code else ""
    mute = f"deia mute {injection.triggers[0]} --for 7d silences it for a week"
    return f"deia: {', '.join(injection.triggers)} ({permission}{mute})"
