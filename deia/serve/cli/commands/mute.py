"""`deia mute`, `deia allow` and `deia trust`: what a person silences, lets pass and trusts on this machine."""

from __future__ import annotations

import os
import time
from contextlib import suppress

import click

from deia import files, spool
from deia.errors import ArtefactError
from deia.fast_json import Json
from deia.folders import MARKERS, is_commons, is_trusted, nearest_commons, state_folder
from deia.problems import CommonsError
from deia.serve.cli import output
from deia.serve.cli.commands import shared_options as shared
from deia.serve.cli.commands.commons import compile_and_say
from deia.serve.cli.shell_completion import complete_triggers
from deia.trust import distrust, listed
from deia.trust import trust as add_to_list
from deia.watch.silence.allow import grant
from deia.watch.silence.mutes import Mute, read_mutes, switch_path, write_mute

NOBODY = "You trust no commons yet. To trust one, type: deia trust FOLDER"


@click.command(short_help="Mute a trigger, or everything.")
@click.argument("trigger", required=False, shell_complete=complete_triggers)
@click.option(
    "--for", "length", callback=shared.read_span, metavar="TIME",
    help="For how long, such as 30m, 2h or 7d; by default permanently.",
)  # fmt: skip
@click.option("--folder", metavar="FOLDER", help="Only for work in this folder and below.")
@click.option("--path", metavar="GLOB", help="Only for calls that touch no other paths, such as 'infra/**'.")
@click.option("--once", is_flag=True, help="Only the next time it fires.")
@click.option("--off", "--remove", "off", is_flag=True, help="End the mute.")
@click.option("--all", "everything", is_flag=True, help="Mute everything, until `deia mute --all --off`.")
@click.option("--list", "listing", is_flag=True, help="Show what is muted.")
@shared.json_option
def mute(  # noqa: PLR0913 - every option narrows what is muted
    *, trigger: str | None, length: int, folder: str | None, path: str | None, once: bool, off: bool,
    everything: bool, listing: bool, as_json: bool,
) -> None:  # fmt: skip
    """Mute TRIGGER for you on this machine: for a while, once, in a folder, for some paths, or permanently.

    --path is relative to the current folder. If a call also touches other paths, the trigger still fires.
    """
    state = state_folder(os.environ)
    narrowed = folder is not None or path is not None or once
    if off and trigger is None and not (everything or listing):
        raise click.UsageError("Name a trigger: deia mute TRIGGER --off. Or unmute everything: deia mute --all --off")
    if listing or (trigger is None and not everything):
        if narrowed or length:
            raise click.UsageError("--for, --folder, --path and --once need a TRIGGER.")
        _list_mutes(state, as_json=as_json)
        return
    if as_json:
        raise click.UsageError("--json can only be used with --list.")
    if everything:
        if trigger is not None or length or narrowed:
            raise click.UsageError("--all can only be combined with --off; the other options need a TRIGGER.")
        _switch(state, off=off)
        return
    decision = Mute(
        trigger=trigger or "", until=time.time() + length if length else 0.0, once=once, path=path or "",
        folder=files.forward(os.path.abspath(folder)) if folder is not None else "", base=shared.here() if path else "",
    )  # fmt: skip
    if off:
        _unmute(state, decision)
        return
    with suppress(ArtefactError):  # if nothing is compiled, any name is accepted
        artefact = shared.open_librarian().open_artefact()
        shared.check_trigger(decision.trigger, [trigger.id for trigger in artefact.triggers()])
    write(state, decision)
    output.say(f"{decision.trigger} is muted {_extent(decision)}.")


def _unmute(state: str, decision: Mute) -> None:
    """End the mutes of a trigger: those of the folder or path if one is named, otherwise all of them."""
    mutes = [mute for mute in read_mutes(state, now=time.time()) if mute.trigger == decision.trigger]
    ended = [mute for mute in mutes if decision.folder in ("", mute.folder) and decision.path in ("", mute.path)]
    for mute in ended:
        write(state, mute.but(lifted=True))
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


def write(state: str, decision: Mute) -> None:
    """Write a mute; raise CommonsError if that fails."""
    if not write_mute(state, decision):
        raise CommonsError("the mute cannot be written", where=state, fix="Check the permissions of that folder.")


def _switch(state: str, *, off: bool) -> None:
    path = switch_path(state)
    if not off:
        os.makedirs(state, mode=0o700, exist_ok=True)
        with open(path, "ab"):
            pass
    elif os.path.lexists(path):
        os.unlink(path)
    output.say("deia is no longer muted." if off else "Everything is muted. To end that, type: deia mute --all --off")


def _list_mutes(state: str, *, as_json: bool) -> None:
    mutes, everything = read_mutes(state, now=time.time()), os.path.exists(switch_path(state))
    lines = ["Everything is muted. To end that, type: deia mute --all --off"] if everything else []
    lines += [f"{mute.trigger} is muted {_extent(mute)}." for mute in mutes]
    fields: list[Json] = [
        {
            **{name: getattr(mute, name) for name in ("trigger", "once", "folder", "path", "base", "conversation")},
            "until": spool.timestamp(mute.until) if mute.until else "",
        }
        for mute in mutes
    ]
    output.answer({"everything": everything, "mutes": fields}, lines or ["Nothing is muted."], as_json=as_json)


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
def allow(*, code: str, whole: bool) -> None:
    """Allow a blocked call by its CODE, in the conversation in which the code was shown.

    You see a code when a call is blocked; it is valid for 30 minutes. Only a person at a terminal can run this.
    """
    shared.require_person(f"deia allow {code}")
    permission = grant(state_folder(os.environ), code, now=time.time(), whole=whole)
    if permission is None:
        fix = "Use the code of the last message; it is valid for 30 minutes. Or type: deia mute TRIGGER"
        raise CommonsError(f"the code {code!r} is unknown or has expired", fix=fix)
    extent = "for the rest of that conversation" if whole else "once in that conversation"
    output.say(f"{', '.join(permission.triggers)} will not stop calls {extent}.")


@click.command(short_help="Trust a commons, so that all of it counts.")
@click.argument("folder", default="")
@click.option("--below", is_flag=True, help="Trust every commons in the folder and below that belongs to you.")
@click.option("--remove", is_flag=True, help="Trust it no longer.")
@click.option("--list", "listing", is_flag=True, help="Show the folders that you trust.")
@shared.json_option
def trust(*, folder: str, below: bool, remove: bool, listing: bool, as_json: bool) -> int:
    """Trust the commons in FOLDER, by default the nearest one: its settings, triggers and packs count in full.

    Until then its lessons can only add notes that name where they come from, and its settings do not count, so that a
    repository you merely enter cannot weaken what you installed. Only a person at a terminal can run
    this.
    """
    if listing:
        lines = listed(os.environ)
        output.answer([*lines], lines or [NOBODY], as_json=as_json)
        return output.FOUND
    if as_json:
        raise click.UsageError("--json can only be used with --list.")
    shared.require_person("deia trust")
    root = _folder(folder, any_folder=below or remove)
    if remove:
        return _remove(root, below=below)
    output.say(f"You trust {add_to_list(root, os.environ, below=below)}")
    if is_commons(root) and is_trusted(root, os.environ):
        compile_and_say(root)
    return output.FOUND


def _folder(folder: str, *, any_folder: bool) -> str:
    root = os.path.abspath(folder).replace("\\", "/") if folder else nearest_commons(shared.here())
    if not root:
        raise CommonsError("there is no commons here or above", fix="Type: deia trust FOLDER")
    if not (is_commons(root) or (any_folder and folder)):
        fix = "Name a folder that does, or add --below to trust every commons in it."
        raise CommonsError(f"{folder} contains none of {', '.join(MARKERS)}", fix=fix)
    return root


def _remove(root: str, *, below: bool) -> int:
    was_listed = distrust(root, os.environ, below=below)
    output.say(f"{root} was taken off the list." if was_listed else f"{root} is not on the list.")
    if is_trusted(root, os.environ):
        output.say("It is still trusted by another line or by DEIA_TRUST; to see the lines, type: deia trust --list")
    return output.FOUND if was_listed else output.NOTHING
