"""What concerns the person at this machine: mutes, leave, the ledger's last events, and the settings in force."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Mapping
from typing import Any

import click

from deia import fast_json
from deia.durations import read_duration
from deia.errors import ArtefactError, CommonsError
from deia.folders import derived_folder, events_folder, state_folder
from deia.ledger.tail import read_ledger
from deia.librarian import Librarian
from deia.serve.cli import output
from deia.serve.cli.commands.shared_options import commons_option, commons_root, form_option, given_commons, here
from deia.serve.cli.shell_completion import complete_triggers
from deia.serve.setup.why_commons import why_this_commons
from deia.settings import NAMES, SECRETS, resolve, secret
from deia.suggestions import nearest
from deia.text import one_line, shorten
from deia.watch.silence.allow import grant
from deia.watch.silence.mutes import Mute, read_mutes, switch_path, write_mute

EVENTS = ("query", "injection", "feedback", "read", "index", "maintenance", "error")
SHOWN = 160  # characters of an event on a line
HEAD = ("ts", "v", "id", "event")


@click.command(short_help="Silence a trigger, or deia altogether.")
@click.argument("trigger", required=False, shell_complete=complete_triggers)
@click.option("--for", "length", metavar="TIME", help="For how long, such as 30m, 2h or 7d; by default for good.")
@click.option("--folder", metavar="FOLDER", help="Only for work at and below this folder.")
@click.option("--path", metavar="GLOB", help="Only for calls that touch nothing but these paths, such as 'infra/**'.")
@click.option("--once", is_flag=True, help="Only the next time.")
@click.option("--off", "--remove", "off", is_flag=True, help="Lift the mute.")
@click.option("--all", "everything", is_flag=True, help="Silence deia altogether, until `deia mute --all --off`.")
@click.option("--list", "listing", is_flag=True, help="Show what is muted.")
@commons_option
def mute(  # noqa: PLR0913 - every option narrows what is silenced
    *, trigger: str | None, length: str | None, folder: str | None, path: str | None, once: bool, off: bool,
    everything: bool, listing: bool,
) -> int:  # fmt: skip
    """Silence TRIGGER for this person on this machine: for a while, once, in a folder, for some paths, or for good.

    A path is read from the working folder. Where a call also touches other paths, the trigger speaks.
    """
    state = state_folder(os.environ)
    narrowed = folder is not None or path is not None or once
    if off and trigger is None and not (everything or listing):
        raise click.UsageError("Which mute? Type: deia mute TRIGGER --off, or for everything: deia mute --all --off")
    if listing or (trigger is None and not everything):
        if narrowed or length is not None:
            raise click.UsageError("A time, a folder or a path needs a TRIGGER.")
        return _list_mutes(state)
    if everything:
        if trigger is not None or length is not None or narrowed:
            raise click.UsageError("--all goes with --off only; a time, a folder or a path needs a TRIGGER.")
        return _switch(state, off=off)
    decision = Mute(
        trigger=trigger or "", until=_until(length), folder=_full(folder) if folder is not None else "",
        path=path or "", base=_full(".") if path else "", once=once,
    )  # fmt: skip
    if off:
        return _lift(state, decision)
    _refuse_unknown(decision.trigger)
    _write(state, decision)
    output.say(f"{decision.trigger} is muted {_extent(decision)}.")
    return output.FOUND


def _full(folder: str) -> str:
    return os.path.abspath(folder).replace("\\", "/")


def _lift(state: str, decision: Mute) -> int:
    """Lift the mutes of a trigger: those of a folder or path where one was named, else all of them."""
    known = [each for each in read_mutes(state, now=time.time()) if each.trigger == decision.trigger]
    lifted = [
        each for each in known if decision.folder in ("", each.folder) and decision.path in ("", each.path)
    ]  # fmt: skip
    for each in lifted:
        _write(state, each.but(lifted=True))
    left = [each for each in known if each not in lifted]
    if lifted and not left:
        output.say(f"{decision.trigger} is heard again.")
    elif lifted:
        output.say("That mute is lifted.")
    else:
        output.say(f"{decision.trigger} was not muted{' so' if left else ''}.")
    for each in left:
        output.say(f"{each.trigger} is muted {_extent(each)}.")
    if left:
        output.say(f"To lift all of them: deia mute {decision.trigger} --off")
    return output.FOUND


def _write(state: str, decision: Mute) -> None:
    if not write_mute(state, decision):
        raise CommonsError("the mute cannot be written", where=state, fix="Give yourself the right to write there.")


def _until(length: str | None) -> float:
    try:
        return time.time() + read_duration(length) if length is not None else 0.0
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="--for") from error


def _refuse_unknown(trigger: str) -> None:
    """Refuse a name that no compiled trigger has; where nothing is compiled, any name is taken.

    Raises:
        CommonsError: the trigger is unknown.
    """
    try:
        artefact = Librarian(given_commons() or None, ledger=False).open_artefact()
    except ArtefactError:
        return
    known = [artefact.trigger(number).id for number in range(artefact.meta.triggers)]
    if trigger not in known:
        raise CommonsError(f"there is no trigger {trigger!r}", fix=nearest(trigger, known))


def _switch(state: str, *, off: bool) -> int:
    path = switch_path(state)
    if not off:
        os.makedirs(state, mode=0o700, exist_ok=True)
        with open(path, "ab"):
            pass
    elif os.path.lexists(path):
        os.unlink(path)
    output.say("deia is heard again." if off else "deia is silent now. To hear it again: deia mute --all --off")
    return output.FOUND


def _list_mutes(state: str) -> int:
    mutes = read_mutes(state, now=time.time())
    if os.path.exists(switch_path(state)):
        output.say("Everything is muted. To hear deia again: deia mute --all --off")
    for each in mutes:
        output.say(f"{each.trigger} is muted {_extent(each)}.")
    if not mutes and not os.path.exists(switch_path(state)):
        output.say("Nothing is muted.")
    return output.FOUND


def _extent(decision: Mute) -> str:
    until = f"until {time.strftime('%Y-%m-%d %H:%M', time.localtime(decision.until))}" if decision.until else ""
    parts = [
        ("once" if not until else f"once, {until}") if decision.once else (until or "for good"),
        f"in {decision.folder}" if decision.folder else "",
        f"for {decision.path} from {decision.base}" if decision.path else "",
        f"in the conversation {decision.conversation}" if decision.conversation else "",
    ]
    return ", ".join(part for part in parts if part)


@click.command(short_help="Let pass what was stopped, by the code that was shown.")
@click.argument("code")
@click.option("--conversation", "whole", is_flag=True, help="For the rest of that conversation, not only once.")
def allow(*, code: str, whole: bool) -> int:
    """Let the next call pass that the trigger behind CODE would stop, in the conversation in which it was shown.

    A code is shown to the person when a call is stopped, and can be used for 30 minutes. Type this in a terminal: an
    agent's tool call is not taken for your word.
    """
    if not sys.stdin.isatty():
        raise CommonsError("leave is given in a terminal, by a person", fix=f"Type there: deia allow {code}")
    leave = grant(state_folder(os.environ), code, now=time.time(), whole=whole)
    if leave is None:
        fix = "Take the code from the last message; it counts for 30 minutes. Or silence the trigger: deia mute TRIGGER"
        raise CommonsError(f"there is no code {code!r} that could be used", fix=fix)
    extent = "in that conversation from now on" if whole else "once in that conversation"
    output.say(f"{', '.join(leave.triggers)} may pass {extent}.")
    return output.FOUND


@click.command(short_help="Show the last events of the ledger.")
@click.option("-n", "number", type=click.IntRange(1), default=20, show_default=True, help="How many.")
@click.option("--event", type=click.Choice(EVENTS), help="Only of this kind.")
@form_option("text", "json")
@commons_option
def log(*, number: int, event: str | None, form: str) -> int:
    """Show the last events of the ledger: questions, injections, errors."""
    folder = events_folder(commons_root(), os.environ)
    ledger = read_ledger(folder, event=event or "", last=number)
    for each in ledger.events:
        output.say(fast_json.dumps(each) if form == "json" else _event_line(each))
    if form == "text" and not ledger.events:
        output.say(f"No events in {folder}.")
    if form == "text" and ledger.broken:
        output.say(f"{ledger.broken} broken lines were passed over.")
    return output.FOUND


def _event_line(event: Mapping[str, Any]) -> str:
    told = ", ".join(f"{name} {_value(value)}" for name, value in event.items() if name not in HEAD)
    return shorten(one_line(f"{event.get('ts', '?')} {event.get('event', 'query')}: {told}"), SHOWN)


def _value(value: Any) -> str:
    return value if isinstance(value, str) else fast_json.dumps(value)


@click.command(short_help="Show every setting and place, and where each comes from.")
@form_option("text", "json")
@commons_option
def config(*, form: str) -> int:
    """Show every setting with where its value comes from, and the places in use."""
    root = commons_root()
    settings = resolve(root, environ=os.environ)
    values = settings.values()
    state = state_folder(os.environ)
    places = {
        "commons": (root, why_this_commons(root, environ=os.environ, explicit=given_commons(), start=here())),
        "compiled": (derived_folder(root, os.environ), "derived"),
        "events": (events_folder(root, os.environ), "derived"),
        "state": (state, "DEIA_STATE" if os.environ.get("DEIA_STATE") else "default"),
    }
    origins = {name: secret(name, root, environ=os.environ)[1] for name in SECRETS}
    secrets = {
        name: ("set, not shown" if source else "not set", source or "default") for name, source in origins.items()
    }
    rows = {name: (values[name], settings.sources[name]) for name in NAMES} | secrets | places
    if form == "json":
        output.say(
            fast_json.dumps({name: {"value": value, "source": source} for name, (value, source) in rows.items()})
        )
    else:
        for name, (value, source) in rows.items():
            output.say(f"{name} = {fast_json.dumps(value) if name in NAMES else value}  ({source})")
    return output.FOUND
