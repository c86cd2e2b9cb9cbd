"""`deia trust`: whose commons counts in full."""

from __future__ import annotations

import os

import click

from deia.folders import MARKERS, is_commons, is_trusted, nearest_commons
from deia.problems import CommonsError
from deia.serve.cli import output
from deia.serve.cli.commands.commons import compile_and_say
from deia.serve.cli.commands.shared_options import here, is_person, json_option
from deia.trust import distrust, listed
from deia.trust import trust as add_to_list

NOBODY = "You trust no commons yet. To trust one, type: deia trust FOLDER"


@click.command(short_help="Trust a commons, so that all of it counts.")
@click.argument("folder", default="")
@click.option("--below", is_flag=True, help="Trust every commons in the folder and below that belongs to you.")
@click.option("--remove", is_flag=True, help="Trust it no longer.")
@click.option("--list", "listing", is_flag=True, help="Show the folders that you trust.")
@json_option
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
    if not is_person():
        raise CommonsError("only a person at a terminal can run this", fix="Type it in a terminal.")
    root = _folder(folder, any_folder=below or remove)
    if remove:
        return _remove(root, below=below)
    output.say(f"You trust {add_to_list(root, os.environ, below=below)}")
    if is_commons(root) and is_trusted(root, os.environ):
        compile_and_say(root)
    return output.FOUND


def _folder(folder: str, *, any_folder: bool) -> str:
    """Return the folder that is meant, in full."""
    root = os.path.abspath(folder).replace("\\", "/") if folder else nearest_commons(here())
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
