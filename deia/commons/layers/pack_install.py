"""Fetch, install, update and remove packs: files of a commons are copied, the copy is checked, then it is locked.

Only the parts of a commons are copied: the index, documents, triggers, and a licence. A pack that could do harm is
refused: links, paths that lead out, patterns that could hang, files that are too large or not plain data.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
from collections.abc import Iterator, Mapping

from deia import files
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
    pack_checksum,
    pack_folder,
    read_lock,
    walk,
)
from deia.commons.layers.shadowing import find_hidden, without_location
from deia.commons.source_files import safe_files
from deia.commons.source_files.findings import Findings, quote
from deia.commons.source_files.write_lock import with_write_lock
from deia.commons.triggers.read_triggers import FOLDER as TRIGGERS
from deia.git_command import SHORT_SSH, GitError, check_address, is_revision, run_git
from deia.knowledge import Trigger
from deia.problems import CommonsError, Problem
from deia.records import Record

ENDINGS = {DOCUMENTS: (".md",), TRIGGERS: (".yaml", ".yml")}
PAPERS = ("license", "licence", "copying", "notice", "readme")
# Problems that are hardly honest mistakes, or that could harm a reader.
HOSTILE = (
    "path-leaves-commons", "unsafe-pattern", "file-too-large", "unreadable-file", "file-name", "yaml-alias", "yaml-tag",
    "yaml-depth", "json-depth",
)  # fmt: skip


class InstalledPack(Record):
    """An installed pack, and how it differs from the previous one of the same name."""

    pack: Pack
    files: tuple[str, ...] = ()  # `+ path`, `- path`, `~ path`
    triggers: tuple[str, ...] = ()  # `+ id`, `- id`, `~ id`
    hides: tuple[str, ...] = ()  # what it hides in lower layers, in words


@with_write_lock
def install_pack(  # noqa: PLR0913 - three of them are its source
    root: str, folder: str, *, name: str, source: str, rev: str = "", commit: str = "", write: bool = True,
    starter: bool = True, allow_hiding: bool = False,
) -> InstalledPack:  # fmt: skip
    """Install the commons in `folder` as the pack `name`, replacing the previous pack of that name.

    `starter` is whether the starter commons is a layer below. `allow_hiding` lets the pack hide triggers of lower
    layers that hold or are critical; the lock records this permission. Raise CommonsError if the name is invalid, the
    folder is not a commons or contains something that no pack may contain, or the pack hides such triggers without
    permission.
    """
    if not NAME.fullmatch(name):
        fix = "Use up to 40 lower-case letters, digits and `-`: --name team"
        raise CommonsError(f"{name!r} is not a valid name for a pack.", fix=fix)
    staging = f"{pack_folder('')}.new-{name}"
    target = os.path.join(root, staging)
    _refuse_links(root, FOLDER, staging, pack_folder(name), LOCK)
    before = {pack.name: pack for pack in _locked(root)}
    old = _read_triggers(os.path.join(root, pack_folder(name)))
    try:
        files = _copy(folder, target)
        _refuse_unusable(target)
        previous = before.get(name, Pack(name=name, source=source, files={}, sha256=""))
        lower = [pack.name for pack in check_packs(root).sound if pack.name > name]
        layers = [load_pack(target, name), *load_below(root, lower, starter=starter)]
        hidden = [item for item in find_hidden(layers) if item.winner.path.startswith(f"{pack_folder(name)}/")]
        grave = {item.id: item.problem for item in hidden if item.grave}
        if not allow_hiding:
            _refuse_hiding([problem for ident, problem in grave.items() if ident not in previous.hides])
        pack = Pack(
            name=name, source=source, rev=rev, commit=commit, files=files, sha256=pack_checksum(files),
            hides=tuple(grave),
        )  # fmt: skip
        installed = InstalledPack(
            pack=pack, hides=tuple(item.what for item in hidden), files=_differences(previous.files, files),
            triggers=_differences(old, _read_triggers(target)),
        )  # fmt: skip
        if write:
            shutil.rmtree(os.path.join(root, pack_folder(name)), ignore_errors=True)
            os.rename(target, os.path.join(root, pack_folder(name)))
            _write_lock(root, {**before, name: pack})
    except OSError as error:
        raise CommonsError(
            f"The pack cannot be copied: {error}.", fix="Free some space, or correct the permissions."
        ) from error
    finally:
        shutil.rmtree(target, ignore_errors=True)
        with contextlib.suppress(OSError):
            os.rmdir(os.path.join(root, FOLDER))  # only if it is empty
    return installed


def _refuse_unusable(folder: str) -> None:
    """Raise CommonsError if what is to be a pack could do harm, or contains nothing."""
    commons = load_commons(folder, globs=())
    _refuse([problem for problem in commons.problems if problem.code in HOSTILE and problem.severity == "error"])
    if not commons.triggers and not commons.entries:
        message = "The pack has neither documents nor triggers."
        raise CommonsError(message, fix="Name the folder that contains them.")


@with_write_lock
def remove_pack(root: str, name: str) -> None:
    """Remove a pack and its lines in the lock; raise CommonsError if there is no such pack, or it cannot be removed."""
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
        raise CommonsError(f"The pack cannot be removed: {error}.", fix="Correct the folder's permissions.") from error


def _locked(root: str) -> tuple[Pack, ...]:
    """Return the packs in the lock."""
    findings = Findings(LOCK)
    packs = read_lock(root, findings)
    if findings.problems:
        raise CommonsError(f"{LOCK} cannot be read.", findings.problems, fix="Restore it first:")
    return packs


def _write_lock(root: str, packs: Mapping[str, Pack]) -> None:
    if packs:
        safe_files.write_text(root, LOCK, lock_text(packs.values()))
    else:
        safe_files.remove(root, LOCK)


def _refuse_links(root: str, *paths: str) -> None:
    for path in paths:
        if os.path.islink(os.path.join(root, path)):
            raise CommonsError(f"{path} is a link, which is not followed.", fix="Put a folder or file in its place.")


# --- copying ---


def _copy(source: str, target: str) -> dict[str, str]:
    """Copy the parts of a commons and return the SHA-256 of each file."""
    if not os.path.isdir(source):
        raise CommonsError(f"There is no folder {source}.", fix="Name a folder that holds a commons, or a git URL.")
    problems: list[Problem] = []
    paths = [path for path in _paths_to_copy(source) if _is_plain(source, path, problems)]
    size = sum(os.path.getsize(os.path.join(source, path)) for path in paths) if not problems else 0
    if len(paths) > MOST_FILES or size > MOST_BYTES:
        message = f"It has {len(paths)} files and {size // 1_000_000} MB."
        problems.append(_problem(".", message, f"At most {MOST_FILES} files and {MOST_BYTES // 1_000_000} MB."))
    _refuse(problems)
    shutil.rmtree(target, ignore_errors=True)
    sums = {}
    for path in paths:
        data = safe_files.read_bytes(source, path) or b""
        safe_files.create(target, path, data)
        sums[path] = hashlib.sha256(data).hexdigest()
    return sums


def _paths_to_copy(source: str) -> Iterator[str]:
    """Yield the paths that belong to a pack, including links, so that they can be refused."""
    index = find_index(source)
    papers = [name for name in sorted(os.listdir(source)) if name.lower().partition(".")[0] in PAPERS]
    below = {path for top in ENDINGS for path in _below(source, top)}
    named = {entry.path for entry in load_index(source).entries} if index else set()
    public = {
        path
        for path in named
        if not safe_files.leaves_commons(path) and not any(part.startswith(".") for part in path.split("/"))
    }
    named_files = {path for path in public if os.path.lexists(os.path.join(source, path))}
    yield from sorted({*papers, *below, *named_files, *([index] if index else [])})


def _below(source: str, top: str) -> Iterator[str]:
    folder = os.path.join(source, top)
    if os.path.islink(folder):
        yield top
        return
    for path in walk(folder):
        if path.lower().endswith(ENDINGS[top]) or os.path.islink(os.path.join(folder, path)):
            yield f"{top}/{path}"


def _is_plain(source: str, path: str, problems: list[Problem]) -> bool:
    """Return whether a path may be copied; a forbidden one is reported, one that is not a file is skipped."""
    full = os.path.join(source, path)
    bad_name = safe_files.file_name_problem(path)
    limit = DOCUMENT_BYTES if path.lower().endswith(".md") else safe_files.YAML_BYTES
    parts = path.split("/")
    is_linked = any(os.path.islink(os.path.join(source, *parts[:end])) for end in range(1, len(parts) + 1))
    if bad_name:
        problems.append(bad_name)
    elif is_linked or not safe_files.resolve(source, path):
        problems.append(_problem(path, "It is a link, or inside one.", "A pack may contain plain files only."))
    elif os.path.isfile(full) and os.path.getsize(full) > limit:
        problems.append(_problem(path, f"It is larger than {limit // 1_000_000} MB.", "A lesson is a few pages."))
    elif os.path.isfile(full):
        return True
    return False


def _problem(path: str, message: str, fix: str) -> Problem:
    return Problem(path=path, line=0, found=message, fix=fix, code="refused-pack")


def _refuse(problems: list[Problem]) -> None:
    if problems:
        message = "The pack was refused; nothing was installed."
        raise CommonsError(message, problems, fix="Ask its maintainers to correct this:")


def _refuse_hiding(problems: list[Problem]) -> None:
    """Refuse a pack that hides grave triggers, or documents that such triggers show, without permission."""
    if problems:
        message = "The pack would hide triggers that hold or are critical, or what they show; nothing was installed."
        refused = [problem.but(severity="error", fix="") for problem in problems]
        raise CommonsError(message, refused, fix="If this is intended, type the command again with --allow-hiding:")


# --- differences from the previous pack ---


def _read_triggers(folder: str) -> dict[str, Trigger]:
    """Return the triggers of a pack by id, without their locations."""
    if os.path.islink(folder) or not os.path.isdir(folder):
        return {}
    try:
        triggers = load_commons(folder, globs=()).triggers
    except CommonsError:
        return {}
    return {trigger.id: without_location(trigger) for trigger in triggers}


def _differences(old: Mapping[str, object], new: Mapping[str, object]) -> tuple[str, ...]:
    """Return which names were added, removed or changed, sorted by name."""
    marked = {name: "+" if name not in old else "-" if name not in new else "~" for name in {*old, *new}}
    same = {name for name in new if name in old and old[name] == new[name]}
    return tuple(f"{marked[name]} {quote(name).strip('`')}" for name in sorted(marked) if name not in same)


# --- fetching: git is kept from doing anything else ---

PROTOCOLS = ("https://", "ssh://", "file://")


class Fetched(Record):
    """The folder of a fetched source, and its commit if it came from git."""

    folder: str
    commit: str = ""


def is_git(source: str) -> bool:
    """Return whether a source is a git URL rather than a folder."""
    return source.startswith(PROTOCOLS) or (not os.path.exists(source) and bool(SHORT_SSH.fullmatch(source)))


def fetch(source: str, *, rev: str, into: str, environ: Mapping[str, str]) -> Fetched:
    """Return the folder of a source; a git URL is fetched into `into`, an empty folder."""
    if not is_git(source):
        return Fetched(folder=_source_folder(source, rev))
    if rev and not is_revision(rev):
        raise CommonsError(f"{rev!r} is not the name of a branch, tag or commit.", fix="Use --rev main, or a commit.")
    try:
        check_address(source)
        for words in (
            ("init", "--quiet", "--template="),
            ("fetch", "--quiet", "--depth=1", "--no-tags", "--no-recurse-submodules", "--", source, rev or "HEAD"),
            ("checkout", "--quiet", "--detach", "FETCH_HEAD"),
        ):
            run_git(words, into, environ)
        return Fetched(folder=into, commit=run_git(("rev-parse", "FETCH_HEAD"), into, environ).decode().strip())
    except GitError as error:
        raise CommonsError(error.message, fix=error.fix) from error


def _source_folder(source: str, rev: str) -> str:
    if "://" in source or source.startswith("-"):
        known = ", ".join(PROTOCOLS)
        scheme = f": {source.partition('://')[0]}:// is not supported" if "://" in source else ""
        fix = f"Name a folder, or a git URL that begins with {known}."
        raise CommonsError(f"{source!r} cannot be fetched{scheme}.", fix=fix)
    if not os.path.isdir(source):
        raise CommonsError(f"There is no folder {source}.", fix="Name a folder that holds a commons, or a git URL.")
    if rev:
        raise CommonsError("--rev needs a git URL, and this is a folder.", fix="Leave it out, or use file://…")
    return files.forward(os.path.abspath(source))
