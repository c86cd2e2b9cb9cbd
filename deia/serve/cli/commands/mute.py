"""`deia mute` and `deia allow`: what a person silences or lets pass on this machine."""

from __future__ import annotations

import os
import sys
import time

import click

from deia import files, spool
from deia.durations import read_duration
from deia.errors import ArtefactError
from deia.fast_json import Json
from deia.folders import state_folder
from deia.librarian import Librarian
from deia.problems import CommonsError
from deia.serve.cli import output
from deia.serve.cli.commands.shared_options import commons_option, json_option, named_commons
from deia.serve.cli.shell_completion import complete_triggers
from deia.suggestions import nearest
from deia.watch.silence.allow import grant
from deia.watch.silence.mutes import Mute, read_mutes, switch_path, write_mute


@click.command(short_help="Mute a trigger, or everything.")
@click.argument("trigger", required=False, shell_complete=complete_triggers)
@click.option("--for", "length", metavar="TIME", help="For how long, such as 30m, 2h or 7d; by default permanently.")
@click.option("--folder", metavar="FOLDER", help="Only for work in this folder and below.")
@click.option("--path", metavar="GLOB", help="Only for calls that touch no other paths, such as 'infra/**'.")
@click.option("--once", is_flag=True, help="Only the next time it fires.")
@click.option("--off", "--remove", "off", is_flag=True, help="End the mute.")
@click.option("--all", "everything", is_flag=True, help="Mute everything, until `deia mute --all --off`.")
@click.option("--list", "listing", is_flag=True, help="Show what is muted.")
@json_option
@commons_option
def mute(  # noqa: PLR0913 - every option narrows what is muted
    *, trigger: str | None, length: str | None, folder: str | None, path: str | None, once: bool, off: bool,
    everything: bool, listing: bool, as_json: bool,
) -> int:  # fmt: skip
    """Mute TRIGGER for you on this machine: for a while, once, in a folder, for some paths, or permanently.

    --path is relative to the current folder. If a call also touches other paths, the trigger still fires.
    """
    state = state_folder(os.environ)
    narrowed = folder is not None or path is not None or once
    if off and trigger is None and not (everything or listing):
        raise click.UsageError("Name a trigger: deia mute TRIGGER --off. Or unmute everything: deia mute --all --off")
    if listing or (trigger is None and not everything):
        if narrowed or length is not None:
            raise click.UsageError("--for, --folder, --path and --once need a TRIGGER.")
        return _list_mutes(state, as_json=as_json)
    if as_json:
        raise click.UsageError("--json can only be used with --list.")
    if everything:
        if trigger is not None or length is not None or narrowed:
            raise click.UsageError("--all can only be combined with --off; the other options need a TRIGGER.")
        return _switch(state, off=off)
    decision = Mute(
        trigger=trigger or "", until=_until(length), folder=_absolute(folder) if folder is not None else "",
        path=path or "", base=_absolute(".") if path else "", once=once,
    )  # fmt: skip
    if off:
        return _unmute(state, decision)
    _check_trigger(decision.trigger)
    _write(state, decision)
    output.say(f"{decision.trigger} is muted {_extent(decision)}.")
    return output.FOUND


def _absolute(folder: str) -> str:
    return files.forward(os.path.abspath(folder))


def _unmute(state: str, decision: Mute) -> int:
    """End the mutes of a trigger: those of the folder or path if one is named, otherwise all of them."""
    mutes = [mute for mute in read_mutes(state, now=time.time()) if mute.trigger == decision.trigger]
    ended = [
        mute for mute in mutes if decision.folder in ("", mute.folder) and decision.path in ("", mute.path)
    ]  # fmt: skip
    for mute in ended:
        _write(state, mute.but(lifted=True))
    remaining = [mute for mute in mutes if mute not in ended]
    if ended and not remaining:
        output.say(f"{decision.trigger} is no longer muted.")
    elif ended:
        output.say("That mute is ended.")
    else:
        output.say(f"{decision.trigger} was not muted{' for that' if remaining else ''}.")
    for mute in remaining:
        output.say(f"{mute.trigger} is muted {_extent(mute)}.")
    if remaining:
        output.say(f"To end all of them, type: deia mute {decision.trigger} --off")
    return output.FOUND


def _write(state: str, decision: Mute) -> None:
    if not write_mute(state, decision):
        raise CommonsError("the mute cannot be written", where=state, fix="Check the permissions of that folder.")


def _until(length: str | None) -> float:
    try:
        return time.time() + read_duration(length) if length is not None else 0.0
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="--for") from error


def _check_trigger(trigger: str) -> None:
    """Check that a compiled trigger has this name; if nothing is compiled, any name is accepted."""
    try:
        artefact = Librarian(named_commons() or None, ledger=False).open_artefact()
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
    output.say("deia is no longer muted." if off else "Everything is muted. To end that, type: deia mute --all --off")
    return output.FOUND


def _list_mutes(state: str, *, as_json: bool) -> int:
    mutes, everything = read_mutes(state, now=time.time()), os.path.exists(switch_path(state))
    lines = ["Everything is muted. To end that, type: deia mute --all --off"] if everything else []
    lines += [f"{mute.trigger} is muted {_extent(mute)}." for mute in mutes]
    fields: list[Json] = [_fields(mute) for mute in mutes]
    output.answer({"everything": everything, "mutes": fields}, lines or ["Nothing is muted."], as_json=as_json)
    return output.FOUND


def _fields(decision: Mute) -> Json:
    return {
        "trigger": decision.trigger, "until": spool.timestamp(decision.until) if decision.until else "",
        "once": decision.once, "folder": decision.folder, "path": decision.path, "base": decision.base,
        "conversation": decision.conversation,
    }  # fmt: skip


def _extent(decision: Mute) -> str:
    until = f"until {time.strftime('%Y-%m-%d %H:%M', time.localtime(decision.until))}" if decision.until else ""
    parts = [
        ("once" if not until else f"once, {until}") if decision.once else (until or "permanently"),
        f"in {decision.folder}" if decision.folder else "",
        f"for {decision.path} in {decision.base}" if decision.path else "",
        f"in the conversation {decision.conversation}" if decision.conversation else "",
    ]
    return ", ".join(part for part in parts if part)


@click.command(short_help="Allow a blocked call by its code.")
@click.argument("code")
@click.option("--conversation", "whole", is_flag=True, help="For the rest of the conversation, not only once.")
def allow(*, code: str, whole: bool) -> int:
    """Allow a blocked call by its CODE, in the conversation in which the code was shown.

    You see a code when a call is blocked; it is valid for 30 minutes. Only a person at a terminal can run this.
    """
    if not sys.stdin.isatty():
        raise CommonsError("only a person at a terminal can run this", fix=f"Type in a terminal: deia allow {code}")
    permission = grant(state_folder(os.environ), code, now=time.time(), whole=whole)
    if permission is None:
        fix = "Use the code of the last message; it is valid for 30 minutes. Or type: deia mute TRIGGER"
        raise CommonsError(f"the code {code!r} is unknown or has expired", fix=fix)
    extent = "for the rest of that conversation" if whole else "once in that conversation"
    output.say(f"{', '.join(permission.triggers)} will not stop calls {extent}.")
    return output.FOUND
