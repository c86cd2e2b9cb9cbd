"""`deia pack`: commonses of others as layers below the project's own, locked to what they were when taken in."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from typing import Any

import click

from deia import fast_json
from deia.commons.index.load_commons import load_commons
from deia.commons.layers.fetch_pack import fetch, is_git
from deia.commons.layers.pack_install import InstalledPack, install_pack, remove_pack
from deia.commons.layers.packs import Pack, Packs, check_packs, pack_folder
from deia.commons.source_files.slugs import slug
from deia.compile.compiler import compile_commons
from deia.errors import CommonsError
from deia.serve.cli import output
from deia.serve.cli.commands.commons import tell_compiled
from deia.serve.cli.commands.shared_options import commons_option, commons_root, form_option, writable_root
from deia.settings import resolve
from deia.text import counted

SHOWN = 40  # lines of changes
hiding_option = click.option(
    "--allow-hiding", is_flag=True, help="Let it hide triggers of lower layers that hold or are critical."
)


@click.group(short_help="Take in the lessons of others, as layers below the project's own.")
def pack() -> None:
    """Take in the lessons of others, as layers below the project's own.

    A pack lies in packs/NAME, is never edited there, and counts only while its files are what deia.lock says. Of one
    id, the project's trigger or document counts before a pack's, and a pack's before the starter's.
    """


@pack.command("add")
@click.argument("source", metavar="FOLDER|GIT-URL")
@click.option("--name", default="", help="What to call it; by default after the source.")
@click.option("--rev", default="", help="A branch, tag or commit of a git repository.")
@hiding_option
@commons_option
def add(*, source: str, name: str, rev: str, allow_hiding: bool) -> int:
    """Take a commons in: a folder, or a git repository by https://, ssh:// or file://.

    Its triggers count instead of those of the same id in the starter and in packs after it by name; each is listed with
    `!`. A pack that so hides one that holds or is critical is taken in only with --allow-hiding.
    """
    root = writable_root()
    given = name or slug(source.rstrip("/\\").replace("\\", "/").rpartition("/")[2].removesuffix(".git"))[:40].strip(
        "-"
    )
    if any(known.name == given for known in check_packs(root).locked):
        raise CommonsError(f"There is a pack {given!r} already.", fix=f"Type: deia pack update {given}, or use --name.")
    written = source if is_git(source) or "://" in source else os.path.abspath(source).replace("\\", "/")
    taken = _take(root, written, name=given, rev=rev, allow_hiding=allow_hiding)
    output.say("\n".join(_told(taken, "took in")))
    return _compiled(root)


@pack.command("update")
@click.argument("names", nargs=-1, metavar="[NAME]…")
@click.option("--dry-run", is_flag=True, help="Only show what would change.")
@hiding_option
@commons_option
def update(*, names: Sequence[str], dry_run: bool, allow_hiding: bool) -> int:
    """Take packs in anew from where they came, and show what changed; without a name, all of them.

    One that cannot be had does not keep the others from it. Exits with 2 where there was one.
    """
    root = writable_root()
    packs = {one.name: one for one in check_packs(root).locked}
    for name in names:
        _known(packs, name)
    failed = 0
    for name in names or tuple(packs):
        one = packs[name]
        try:
            taken = _take(root, one.source, name=name, rev=one.rev, allow_hiding=allow_hiding, write=not dry_run)
        except CommonsError as error:
            output.complain(f"{name} was not updated.")
            output.complain_of(error)
            failed += 1
        else:
            output.say("\n".join(_told(taken, "would update" if dry_run else "updated")))
    if dry_run or not packs:
        output.say("Nothing was written (--dry-run)." if packs else "There are no packs.")
    else:
        _compiled(root)
    return output.BROKEN if failed else output.FOUND


def _known(packs: dict[str, Pack], name: str) -> Pack:
    if name not in packs:
        known = f"There are: {', '.join(packs)}." if packs else "There are none; type: deia pack add FOLDER"
        raise CommonsError(f"There is no pack {name!r}.", fix=known)
    return packs[name]


@pack.command("remove")
@click.argument("name")
@commons_option
def remove(*, name: str) -> int:
    """Remove a pack."""
    root = writable_root()
    remove_pack(root, name)
    output.say(f"removed {pack_folder(name)}")
    return _compiled(root)


@pack.command("list")
@form_option("text", "json")
@commons_option
def list_packs(*, form: str) -> int:
    """Show the packs, where they came from, and whether they still are what deia.lock says.

    Exits with 1 where one is not.
    """
    root = commons_root()
    found = check_packs(root)
    if form == "json":
        output.say(fast_json.dumps([_fields(root, one, found) for one in found.locked]))
    else:
        for one in found.locked:
            output.say(_line(root, one, found))
        for problem in found.problems:
            output.say(str(problem))
        if not found.locked and not found.problems:
            output.say("There are no packs. To take one in, type: deia pack add FOLDER|GIT-URL")
    return int(bool(found.problems))


def _fields(root: str, one: Pack, found: Packs) -> dict[str, Any]:
    sound = one in found.sound
    commons = load_commons(os.path.join(root, pack_folder(one.name))) if sound else None
    return {
        "name": one.name, "source": one.source, "rev": one.rev, "commit": one.commit, "sha256": one.sha256,
        "counts": sound, "triggers": len(commons.triggers) if commons else 0,
        "documents": len(commons.entries) if commons else 0,
    }  # fmt: skip


def _line(root: str, one: Pack, found: Packs) -> str:
    fields = _fields(root, one, found)
    commit = f" at {one.commit[:12]}" if one.commit else ""
    counts = (
        f"{counted(fields['triggers'], 'trigger')}, {counted(fields['documents'], 'document')}"
        if fields["counts"]
        else "LEFT OUT"
    )
    return f"{one.name}: {counts}, from {one.source}{commit} (sha256 {one.sha256[:12]})"


def _take(root: str, source: str, *, name: str, rev: str, allow_hiding: bool, write: bool = True) -> InstalledPack:
    with tempfile.TemporaryDirectory(prefix="deia-pack-", ignore_cleanup_errors=True) as folder:
        fetched = fetch(source, rev=rev, into=folder, environ=os.environ)
        return install_pack(
            root, fetched.folder, name=name, source=source, rev=rev, commit=fetched.commit, write=write,
            starter=resolve(root, environ=os.environ).starter, allow_hiding=allow_hiding,
        )  # fmt: skip


def _told(taken: InstalledPack, verb: str) -> list[str]:
    one = taken.pack
    commit = f", commit {one.commit[:12]}" if one.commit else ""
    lines = [f"{verb} {one.name} from {one.source}{commit}: {len(one.files)} files, sha256 {one.sha256[:12]}"]
    lines += [f"  ! {each}" for each in taken.hides]
    for what, changes in (("triggers", taken.triggers), ("files", taken.files)):
        lines += [f"  {what}:", *(f"    {change}" for change in changes[:SHOWN])] if changes else []
        lines += [f"    … and {len(changes) - SHOWN} more"] if len(changes) > SHOWN else []
    return lines if len(lines) > 1 else [*lines, "  nothing changed"]


def _compiled(root: str) -> int:
    output.say("\n".join(tell_compiled(compile_commons(root, environ=os.environ))))
    return output.FOUND
