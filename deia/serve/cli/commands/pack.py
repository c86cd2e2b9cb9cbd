"""`deia pack`: other people's lessons as layers below the project's own, locked to the version that was added."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping, Sequence
from typing import Any

import click

from deia import files
from deia.commons.index.load_commons import load_commons
from deia.commons.layers.pack_install import InstalledPack, fetch, install_pack, is_git, remove_pack
from deia.commons.layers.packs import Pack, Packs, check_packs, pack_folder
from deia.commons.source_files.slugs import slug
from deia.folders import is_trusted
from deia.problems import CommonsError
from deia.serve.cli import output
from deia.serve.cli.commands.commons import compile_and_say
from deia.serve.cli.commands.shared_options import commons_root, json_option, writable_root
from deia.settings import resolve
from deia.suggestions import nearest
from deia.text import counted

SHOWN = 40  # lines of changes
hiding_option = click.option(
    "--allow-hiding", is_flag=True, help="Let it replace triggers of lower layers that are critical or stop calls."
)


@click.group(short_help="Add shared packs; yours override.")
def pack() -> None:
    """Add shared packs of lessons; your own lessons override them.

    A pack is stored in packs/NAME and is not meant to be edited: it is used only while its files match deia.lock. If
    several layers have a trigger or document with the same id, the project's is used before a pack's, and a pack's
    before the starter's.
    """


@pack.command("add")
@click.argument("source", metavar="FOLDER|GIT-URL")
@click.option("--name", default="", help="The name of the pack; by default taken from the source.")
@click.option("--rev", default="", help="A branch, tag or commit of a git repository.")
@hiding_option
def add(*, source: str, name: str, rev: str, allow_hiding: bool) -> None:
    """Add a pack: a commons in a folder, or in a git repository at https://, ssh:// or file://.

    Its triggers replace those with the same id in the starter and in packs whose names come later; `!` marks them in
    the output. A pack that replaces a trigger that is critical or stops calls needs --allow-hiding.
    """
    root = writable_root()
    base = source.rstrip("/\\").replace("\\", "/").rpartition("/")[2].removesuffix(".git")
    name = name or slug(base)[:40].strip("-")
    if any(known.name == name for known in check_packs(root).locked):
        raise CommonsError(f"There is already a pack {name!r}.", fix=f"Type: deia pack update {name}, or use --name.")
    address = source if is_git(source) or "://" in source else files.forward(os.path.abspath(source))
    installed = _install(root, address, name=name, rev=rev, allow_hiding=allow_hiding)
    output.say("\n".join(_report(installed, "added")))
    compile_and_say(root, requested=True)


@pack.command("update")
@click.argument("names", nargs=-1, metavar="[NAME]…")
@click.option("--dry-run", is_flag=True, help="Only show what would change.")
@hiding_option
def update(*, names: Sequence[str], dry_run: bool, allow_hiding: bool) -> int:
    """Update packs from their sources, and show what changed; without a NAME, all packs.

    If a pack cannot be updated, the others still are, and the exit code is 2.
    """
    root = writable_root()
    packs = {pack.name: pack for pack in check_packs(root).locked}
    for name in names:
        if name not in packs:
            fix = nearest(name, packs) if packs else "To add one, type: deia pack add FOLDER|GIT-URL"
            raise CommonsError(f"There is no pack {name!r}.", fix=fix)
    if packs and not is_trusted(root, os.environ):
        raise CommonsError(
            "This project is not trusted, and its deia.lock names the folders and addresses that would be copied.",
            where="deia.lock", fix="Read the sources in deia.lock, and then type: deia trust",
        )  # fmt: skip
    failed = 0
    for name in names or tuple(packs):
        source, rev = packs[name].source, packs[name].rev
        try:
            installed = _install(root, source, name=name, rev=rev, allow_hiding=allow_hiding, write=not dry_run)
        except CommonsError as error:
            output.complain(f"{name} was not updated.")
            output.complain_of(error)
            failed += 1
        else:
            output.say("\n".join(_report(installed, "would update" if dry_run else "updated")))
    if dry_run or not packs:
        output.say("Nothing was written (--dry-run)." if packs else "There are no packs.")
    else:
        compile_and_say(root, requested=True)
    return output.BROKEN if failed else output.FOUND


@pack.command("remove")
@click.argument("name")
def remove(*, name: str) -> None:
    """Remove a pack."""
    root = writable_root()
    remove_pack(root, name)
    output.say(f"removed {pack_folder(name)}")
    compile_and_say(root, requested=True)


@pack.command("list")
@json_option
def list_packs(*, as_json: bool) -> int:
    """Show the packs, their sources, and whether their files still match deia.lock.

    If those of a pack do not, exits 1.
    """
    root = commons_root()
    packs = check_packs(root)
    fields = [_fields(root, pack, packs) for pack in packs.locked]
    lines = [*map(_line, packs.locked, fields), *map(str, packs.problems)]
    lines = lines or ["There are no packs. To add one, type: deia pack add FOLDER|GIT-URL"]
    output.answer(fields, lines, as_json=as_json)
    return int(bool(packs.problems))


def _fields(root: str, pack: Pack, packs: Packs) -> dict[str, Any]:
    is_sound = pack in packs.sound
    commons = load_commons(os.path.join(root, pack_folder(pack.name)), globs=()) if is_sound else None
    return {
        "name": pack.name, "source": pack.source, "rev": pack.rev, "commit": pack.commit, "sha256": pack.sha256,
        "counts": is_sound, "triggers": len(commons.triggers) if commons else 0,
        "documents": len(commons.entries) if commons else 0,
    }  # fmt: skip


def _line(pack: Pack, fields: Mapping[str, Any]) -> str:
    counts = f"{counted(fields['triggers'], 'trigger')}, {counted(fields['documents'], 'document')}"
    counts = counts if fields["counts"] else "NOT USED"
    commit = f" at {pack.commit[:12]}" if pack.commit else ""
    return f"{pack.name}: {counts}, from {pack.source}{commit} (sha256 {pack.sha256[:12]})"


def _install(root: str, source: str, *, name: str, rev: str, allow_hiding: bool, write: bool = True) -> InstalledPack:
    with tempfile.TemporaryDirectory(prefix="deia-pack-", ignore_cleanup_errors=True) as folder:
        fetched = fetch(source, rev=rev, into=folder, environ=os.environ)
        return install_pack(
            root, fetched.folder, name=name, source=source, rev=rev, commit=fetched.commit, write=write,
            starter=resolve(root, environ=os.environ).starter, allow_hiding=allow_hiding,
        )  # fmt: skip


def _report(installed: InstalledPack, verb: str) -> list[str]:
    pack = installed.pack
    commit = f", commit {pack.commit[:12]}" if pack.commit else ""
    lines = [f"{verb} {pack.name} from {pack.source}{commit}: {len(pack.files)} files, sha256 {pack.sha256[:12]}"]
    lines += [f"  ! {hiding}" for hiding in installed.hides]
    for heading, changes in (("triggers", installed.triggers), ("files", installed.files)):
        lines += [f"  {heading}:", *(f"    {change}" for change in changes[:SHOWN])] if changes else []
        lines += [f"    … and {len(changes) - SHOWN} more"] if len(changes) > SHOWN else []
    return lines if len(lines) > 1 else [*lines, "  nothing changed"]
