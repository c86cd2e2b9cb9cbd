"""Taking packs in, renewing and removing them: the files of a commons are copied, checked as a copy, then locked.

Only what a commons consists of is copied: the index, documents, triggers, and a licence. Refuses a pack that could do
harm: links, paths that leave, patterns that could hang, files that are too large or no plain data.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence

from deia.commons.index.documents import DOCUMENT_BYTES
from deia.commons.index.documents import FOLDER as DOCUMENTS
from deia.commons.index.load_commons import load_commons
from deia.commons.index.read_index import find_index, load_index
from deia.commons.layers.merge_layers import load_below, load_pack
from deia.commons.layers.packs import (
    FOLDER,
    LOCK,
    MOST_BYTES,
    MOST_FILES,
    NAME,
    Pack,
    check_packs,
    lock_text,
    pack_folder,
    read_lock,
    walk,
    whole_sum,
)
from deia.commons.layers.shadowing import Hiding, describe_hiding, find_hidings, hiding_problem, without_location
from deia.commons.source_files import safe_files
from deia.commons.source_files.atomic_write import replace_file
from deia.commons.source_files.findings import Findings, quote
from deia.commons.source_files.write_lock import with_write_lock
from deia.commons.triggers.read_triggers import FOLDER as TRIGGERS
from deia.errors import CommonsError, Problem
from deia.knowledge import Trigger
from deia.records import Record

ENDINGS = {DOCUMENTS: (".md",), TRIGGERS: (".yaml", ".yml")}
PAPERS = ("license", "licence", "copying", "notice", "readme")
# What no honest mistake looks like, or what a reader could be harmed by.
HOSTILE = (
    "path-leaves-commons", "unsafe-pattern", "file-too-large", "unreadable-file", "file-name", "yaml-alias", "yaml-tag",
    "yaml-depth", "json-depth",
)  # fmt: skip


class InstalledPack(Record):
    """A pack taken in, and how it differs from what was there under its name."""

    pack: Pack
    files: tuple[str, ...] = ()  # `+ path`, `- path`, `~ path`
    triggers: tuple[str, ...] = ()  # `+ id`, `- id`, `~ id`
    hides: tuple[str, ...] = ()  # what it hides of lower layers, in words


@with_write_lock
def install_pack(  # noqa: PLR0913 - where it came from is three of them
    root: str, folder: str, *, name: str, source: str, rev: str = "", commit: str = "", write: bool = True,
    starter: bool = True, allow_hiding: bool = False,
) -> InstalledPack:  # fmt: skip
    """Take the commons in `folder` in as the pack `name`, in place of what was there under that name.

    `starter` says whether the starter commons lies below, and `allow_hiding` gives the pack leave to hide triggers of
    lower layers that hold or are critical; leave that was given once is kept in the lock.

    Raises:
        CommonsError: the name is unusable, or the folder is no commons or holds what no pack may hold, or it hides
            such triggers without leave.
    """
    if not NAME.fullmatch(name):
        fix = "Use small letters, digits and `-`, at most 40: --name team"
        raise CommonsError(f"{name!r} is no name for a pack.", fix=fix)
    staging = f"{pack_folder('')}.new-{name}"
    target = os.path.join(root, staging)
    _refuse_links(root, FOLDER, staging, pack_folder(name), LOCK)
    before = {pack.name: pack for pack in _locked(root)}
    old = _triggers(os.path.join(root, pack_folder(name)))
    try:
        files = _copy(folder, target)
        _refuse_hostile(target)
        was = before.get(name, Pack(name=name, source=source, files={}, sha256=""))
        hides = _hides(root, target, name, starter=starter)
        let = _let_hide(hides, was.hides, allow=allow_hiding)
        pack = Pack(
            name=name, source=source, rev=rev, commit=commit, files=files, sha256=whole_sum(files), hides=let
        )  # fmt: skip
        changes = {"files": _changes(was.files, files), "triggers": _changes(old, _triggers(target))}
        taken = InstalledPack(pack=pack, hides=tuple(describe_hiding(one) for one in hides), **changes)
        if write:
            shutil.rmtree(os.path.join(root, pack_folder(name)), ignore_errors=True)
            os.rename(target, os.path.join(root, pack_folder(name)))
            _write_lock(root, {**before, name: pack})
    except OSError as error:
        raise CommonsError(
            f"The pack cannot be copied: {error}.", fix="Free space, or mend the permissions."
        ) from error
    finally:
        shutil.rmtree(target, ignore_errors=True)
        with contextlib.suppress(OSError):
            os.rmdir(os.path.join(root, FOLDER))  # only where nothing is in it
    return taken


@with_write_lock
def remove_pack(root: str, name: str) -> None:
    """Remove a pack and its lines of the lock.

    Raises:
        CommonsError: there is no such pack, or it cannot be removed.
    """
    packs = {pack.name: pack for pack in _locked(root)}
    folder = os.path.join(root, pack_folder(name))
    if name not in packs and not (NAME.fullmatch(name) and os.path.isdir(folder)):
        known = f"There are: {', '.join(packs)}." if packs else "There are none."
        raise CommonsError(f"There is no pack {name!r}.", fix=known)
    _refuse_links(root, FOLDER, pack_folder(name), LOCK)
    packs.pop(name, None)
    try:
        _write_lock(root, packs)
        shutil.rmtree(folder, ignore_errors=True)
        with contextlib.suppress(OSError):
            os.rmdir(os.path.join(root, FOLDER))
    except OSError as error:
        raise CommonsError(f"The pack cannot be removed: {error}.", fix="Mend the folder's permissions.") from error


def _locked(root: str) -> tuple[Pack, ...]:
    """Give the packs of the lock; one that cannot be read stops everything, since writing it anew would lose lines."""
    findings = Findings(LOCK)
    packs = read_lock(root, findings)
    if findings.problems:
        raise CommonsError(f"{LOCK} cannot be read.", findings.problems, fix="Restore it first:")
    return packs


def _write_lock(root: str, packs: Mapping[str, Pack]) -> None:
    path = os.path.join(root, LOCK)
    if packs:
        replace_file(path, lock_text(packs.values()))
    elif os.path.lexists(path):
        os.unlink(path)


def _refuse_links(root: str, *paths: str) -> None:
    for path in paths:
        if os.path.islink(os.path.join(root, path)):
            raise CommonsError(f"{path} is a link, which is not followed.", fix="Put a folder or file in its place.")


# --- copying ---


def _copy(source: str, target: str) -> dict[str, str]:
    """Copy what a commons consists of; give the SHA-256 of each file."""
    if not os.path.isdir(source):
        raise CommonsError(f"There is no folder {source}.", fix="Name a folder that holds a commons, or a git URL.")
    problems: list[Problem] = []
    paths = [path for path in _wanted(source) if _is_plain(source, path, problems)]
    size = sum(os.path.getsize(os.path.join(source, path)) for path in paths) if not problems else 0
    if len(paths) > MOST_FILES or size > MOST_BYTES:
        found = f"It has {len(paths)} files and {size // 1_000_000} MB."
        problems.append(_problem(".", found, f"At most {MOST_FILES} files and {MOST_BYTES // 1_000_000} MB."))
    _refuse(problems)
    shutil.rmtree(target, ignore_errors=True)
    sums = {}
    for path in paths:
        with open(os.path.join(source, path), "rb") as file:
            data = file.read(MOST_BYTES)
        copy = os.path.join(target, path)
        os.makedirs(os.path.dirname(copy), exist_ok=True)
        with open(copy, "wb") as file:
            file.write(data)
        sums[path] = hashlib.sha256(data).hexdigest()
    return sums


def _wanted(source: str) -> Iterator[str]:
    """Yield the paths that a pack is made of, links included, so that they can be refused."""
    index = find_index(source)
    papers = [name for name in sorted(os.listdir(source)) if name.lower().partition(".")[0] in PAPERS]
    below = {path for top in ENDINGS for path in _below(source, top)}
    named = {entry.path for entry in load_index(source).entries} if index else set()
    open_ = {path for path in named if not safe_files.leaves_commons(path) and not any(map(_hidden, path.split("/")))}
    also = {path for path in open_ if os.path.lexists(os.path.join(source, path))}
    yield from sorted({*papers, *below, *also, *([index] if index else [])})


def _hidden(part: str) -> bool:
    """Say whether a name is not meant for others: `.git`, `.env`."""
    return part.startswith(".")


def _below(source: str, top: str) -> Iterator[str]:
    folder = os.path.join(source, top)
    if os.path.islink(folder):
        yield top
        return
    for path in walk(folder):
        if path.lower().endswith(ENDINGS[top]) or os.path.islink(os.path.join(folder, path)):
            yield f"{top}/{path}"


def _is_plain(source: str, path: str, problems: list[Problem]) -> bool:
    """Say whether something may be copied; what may not is a problem, what is merely no file is passed over."""
    full = os.path.join(source, path)
    unspeakable = safe_files.file_name_problem(path)
    limit = DOCUMENT_BYTES if path.lower().endswith(".md") else safe_files.YAML_BYTES
    if unspeakable:
        problems.append(unspeakable)
    elif os.path.islink(full) or not safe_files.resolve(source, path) or _through_link(source, path):
        problems.append(_problem(path, "It is a link, or lies behind one.", "A pack holds plain files only."))
    elif os.path.isfile(full) and os.path.getsize(full) > limit:
        problems.append(_problem(path, f"It is larger than {limit // 1_000_000} MB.", "A lesson is a few pages."))
    elif os.path.isfile(full):
        return True
    return False


def _through_link(source: str, path: str) -> bool:
    parts = path.split("/")
    return any(os.path.islink(os.path.join(source, *parts[:at])) for at in range(1, len(parts)))


def _problem(path: str, found: str, fix: str) -> Problem:
    return Problem(path=path, line=0, found=found, fix=fix, code="refused-pack")


def _refuse_hostile(folder: str) -> None:
    commons = load_commons(folder)
    _refuse([problem for problem in commons.problems if problem.code in HOSTILE and problem.severity == "error"])
    if not commons.triggers and not commons.entries:
        raise CommonsError("The pack holds neither documents nor triggers.", fix="Name the folder that holds them.")


def _refuse(problems: list[Problem]) -> None:
    if problems:
        message = "The pack is refused; nothing of it was taken in."
        raise CommonsError(message, problems, fix="Tell whoever keeps it:")


# --- what it hides ---


def _hides(root: str, folder: str, name: str, *, starter: bool) -> list[Hiding]:
    """Give what a pack would hide of the starter and of the packs below it, which are those after it by name."""
    lower = [one.name for one in check_packs(root).sound if one.name > name]
    layers = [load_pack(folder, name), *load_below(root, lower, starter=starter)]
    return [one for one in find_hidings(layers) if one.winner.path.startswith(f"{pack_folder(name)}/")]


def _let_hide(hides: Sequence[Hiding], let: Sequence[str], *, allow: bool) -> tuple[str, ...]:
    """Give the ids of grave triggers that the pack may hide.

    Raises:
        CommonsError: there are some for which nobody gave leave.
    """
    grave = [one for one in hides if one.grave]
    refused = [hiding_problem(one).but(severity="error", fix="") for one in grave if one.hidden.id not in let]
    if refused and not allow:
        message = "The pack would hide triggers that hold or are critical; nothing of it was taken in."
        raise CommonsError(message, refused, fix="If that is meant, type it again with --allow-hiding:")
    return tuple(dict.fromkeys(one.hidden.id for one in grave))


# --- what changed ---


def _triggers(folder: str) -> dict[str, Trigger]:
    """Give the triggers of a pack by id, apart from where they stand."""
    if os.path.islink(folder) or not os.path.isdir(folder):
        return {}
    try:
        found = load_commons(folder).triggers
    except CommonsError:
        return {}
    return {one.id: without_location(one) for one in found}


def _changes(old: Mapping[str, object], new: Mapping[str, object]) -> tuple[str, ...]:
    """Say what came, went and changed, in the order of names."""
    marked = {name: "+" if name not in old else "-" if name not in new else "~" for name in {*old, *new}}
    same = {name for name in new if name in old and old[name] == new[name]}
    return tuple(f"{marked[name]} {quote(name).strip('`')}" for name in sorted(marked) if name not in same)
