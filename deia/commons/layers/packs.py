"""Packs: other people's commons copied into `packs/`, and `deia.lock`, which records their content at that time.

A pack is used only while each of its files matches the lock. Otherwise the whole pack is left out, with the reason.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping

from deia import files
from deia.commons.source_files import safe_files
from deia.commons.source_files.findings import Findings, quote
from deia.problems import Problem
from deia.records import Record
from deia.typed_json import read_record

FOLDER, LOCK = "packs", "deia.lock"
NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")
VERSION = 1
LOCK_BYTES = 8_000_000
TEXTS = ("source", "rev", "commit", "sha256")  # fields of a pack in the lock
MOST_FILES = 10_000
MOST_BYTES = 200_000_000
HEAD = "# The packs in packs/ as `deia pack` installed them. Do not edit; type: deia pack update\n"
FIX = "Type `deia pack update {name}` to install it again, or `deia pack remove {name}`."


class Pack(Record):
    """A pack as the lock describes it."""

    name: str
    source: str  # a folder or a git URL
    sha256: str  # of the whole
    files: Mapping[str, str]  # path in the pack → SHA-256
    rev: str = ""  # the branch, tag or commit that was requested
    commit: str = ""  # the commit that was fetched
    hides: tuple[str, ...] = ()  # ids of grave triggers that it is allowed to hide


class Packs(Record):
    """The packs that can be used, all packs in the lock, and their problems."""

    sound: tuple[Pack, ...] = ()
    locked: tuple[Pack, ...] = ()
    problems: tuple[Problem, ...] = ()


def pack_folder(name: str) -> str:
    """Return the folder of a pack, from the root of the commons."""
    return f"{FOLDER}/{name}"


def check_packs(root: str) -> Packs:
    """Compare the files of every pack with the lock."""
    findings = Findings(LOCK)
    locked = read_lock(root, findings)
    sound = tuple(pack for pack in locked if _is_sound(root, pack, findings))
    known = {pack.name for pack in locked}
    for name in _folders(root):
        if name not in known:
            message = f"The folder {pack_folder(name)} is not in {LOCK}; it is left out."
            fix = "Add packs with `deia pack add`, or move the folder away."
            findings.problems.append(
                Problem(path=pack_folder(name), line=0, found=message, fix=fix, code="unlocked-pack")
            )
    return Packs(sound=sound, locked=locked, problems=tuple(findings.problems))


def _folders(root: str) -> list[str]:
    top = os.path.join(root, FOLDER)
    return [name for name in files.names(top) if not name.startswith(".") and os.path.isdir(os.path.join(top, name))]


def _is_sound(root: str, pack: Pack, findings: Findings) -> bool:
    where = pack_folder(pack.name)
    folder = os.path.join(root, where)
    exists = os.path.isdir(folder)
    linked = os.path.islink(folder) or not safe_files.resolve(root, where)
    difference = "it is a link" if linked else _difference(folder, pack) if exists else ""
    if exists and not difference:
        return True
    state = f"differs from {LOCK} ({difference}); it is left out" if difference else "is missing"
    problem = Problem(
        path=where,
        line=0,
        found=f"The pack {where} {state}.",
        fix=FIX.format(name=pack.name),
        code="changed-pack" if difference else "missing-pack",
    )
    findings.problems.append(problem)
    return False


def _difference(folder: str, pack: Pack) -> str:
    """Return how a folder differs from a pack, or an empty text."""
    checksums = checksums_of(folder)
    if isinstance(checksums, str):
        return checksums
    for verb, paths in (
        ("changed", sorted(path for path in checksums if path in pack.files and checksums[path] != pack.files[path])),
        ("missing", sorted(path for path in pack.files if path not in checksums)),
        ("new", sorted(path for path in checksums if path not in pack.files)),
    ):
        if paths:
            more = f" and {len(paths) - 1} more" if len(paths) > 1 else ""
            return f"{verb}: {quote(paths[0])}{more}"
    return "" if pack_checksum(checksums) == pack.sha256 else "the checksum of the whole differs"


def checksums_of(folder: str) -> dict[str, str] | str:
    """Return the SHA-256 of every file below a folder, or a description of something that no pack may contain."""
    checksums: dict[str, str] = {}
    size = 0
    for path in walk(folder):
        full = os.path.join(folder, path)
        if os.path.islink(full):
            return f"a link: {quote(path)}"
        try:
            size += os.path.getsize(full)
            if len(checksums) >= MOST_FILES or size > MOST_BYTES:
                return f"more than {MOST_FILES} files or {MOST_BYTES // 1_000_000} MB"
            data = files.read(full, MOST_BYTES)
        except OSError as error:
            return f"unreadable: {quote(path)}, {error.strerror}"
        if data is None:
            return f"not a regular, readable file: {quote(path)}"
        checksums[path] = hashlib.sha256(data).hexdigest()
    return checksums


def walk(folder: str) -> Iterator[str]:
    """Yield every file and link below a folder, relative to it, sorted; links are not followed."""
    for top, folders, names in os.walk(folder, followlinks=False):
        folders.sort()
        relative = os.path.relpath(top, folder).replace(os.sep, "/")
        links = [name for name in folders if os.path.islink(os.path.join(top, name))]
        yield from (name if relative == "." else f"{relative}/{name}" for name in sorted([*names, *links]))


def pack_checksum(files: Mapping[str, str]) -> str:
    """Return the SHA-256 of a whole pack, made from those of its files."""
    lines = "".join(f"{files[path]}  {path}\n" for path in sorted(files))
    return hashlib.sha256(lines.encode("utf-8", "surrogateescape")).hexdigest()


# --- the lock ---


def read_lock(root: str, findings: Findings) -> tuple[Pack, ...]:
    """Read the lock; a malformed pack is reported and treated as not locked."""
    if not os.path.lexists(os.path.join(root, LOCK)):
        return ()
    text = safe_files.read_text(root, LOCK, limit=LOCK_BYTES)
    findings.problems += text.problems
    if not text.readable:
        return ()
    try:
        value = tomllib.loads(text.text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        findings.error(0, "bad-lock", f"This is not TOML: {error}.", "Restore the file, or add the packs again.")
        return ()
    packs = value.get("packs", {})
    if value.get("version") != VERSION or not isinstance(packs, dict):
        message = f"This is not a lock of version {VERSION}."
        findings.error(0, "bad-lock", message, "Restore the file, or add the packs again.")
        return ()
    locked = (_read_pack(name, lines, findings) for name, lines in packs.items())
    return tuple(pack for pack in locked if pack is not None)


def _read_pack(name: str, value: object, findings: Findings) -> Pack | None:
    try:
        pack = read_record(Pack, {**value, "name": name} if isinstance(value, dict) else None)
    except TypeError:
        pack = None
    if pack and NAME.fullmatch(name) and all(isinstance(checksum, str) for checksum in pack.files.values()):
        return pack
    fix = "Restore the lines of the pack, or add it again."
    findings.error(0, "bad-lock", f"The lines of the pack {quote(name)} cannot be read.", fix)
    return None


def lock_text(packs: Iterable[Pack]) -> str:
    """Return the text of a lock; the same packs always give the same text."""
    parts = [f"{HEAD}version = {VERSION}\n"]
    for pack in sorted(packs, key=lambda pack: pack.name):
        fields = "".join(f"{field} = {json.dumps(getattr(pack, field))}\n" for field in TEXTS)
        fields += f"hides = {json.dumps(pack.hides)}\n" if pack.hides else ""
        files = "".join(f"{json.dumps(path)} = {json.dumps(pack.files[path])}\n" for path in sorted(pack.files))
        parts.append(f"[packs.{pack.name}]\n{fields}\n[packs.{pack.name}.files]\n{files}")
    return "\n".join(parts)
