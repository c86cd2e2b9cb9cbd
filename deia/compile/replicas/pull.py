"""Pull the catalog of a library that somebody else published: what changed, checked, and switched to at once.

Nothing counts that does not follow from a head with the publisher's signature, and no head that is older than the last
one. A machine with a library of its own has no place for another.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import zlib
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256

from filelock import FileLock

from deia import files
from deia.compile.catalog_folder import CATALOG, LOCK, empty_building, sweep
from deia.compile.replicas.bucket import Bucket, open_bucket
from deia.compile.replicas.patches import is_counted, patched, plain, restored
from deia.compile.replicas.publish import link, mapped
from deia.compile.replicas.seal import is_signed
from deia.compile.replicas.version import (
    DAMAGED,
    DIGITS,
    HEAD,
    HEX,
    MOST_HEAD,
    MOST_LISTING,
    OBJECTS,
    PUBLISH,
    Head,
    Listed,
    Listing,
    ReplicaError,
    canonical,
    checked_path,
    digest_of,
    listing_digest,
    read_head,
    read_listing,
    written_listing,
)
from deia.errors import ArtefactError
from deia.folders import LIBRARY_STATE, derived_folder, is_trusted, library_folder
from deia.ingest.library_store import DATABASE
from deia.records import Record
from deia.search.catalog import is_readable, open_catalog
from deia.typed_json import read_record

ABOUT = "replica.json"  # beside the catalogs: what was pulled last
LARGEST = 16 << 20  # bytes of a piece
MOST_STEPS = 1_000
AGAIN = "If that is meant, type the key that deia publish says, with --key."


class Replica(Record):
    """What a machine pulled last, and whom it trusts."""

    place: str = ""
    key: str = ""
    head: Head = Head(sequence=0, name="", state="", listing="")
    listing: str = ""  # as `written_listing` writes it


class Pulled(Record):
    """What pulling came to."""

    sequence: int
    moved: int = 0  # bytes
    is_new: bool = True


class _Step(Record):
    """What leads from one version to the next."""

    before: str  # the digest of that version's listing
    step: str  # the object that leads there, or "" if it is whole
    size: int
    plans: Mapping[str, Sequence[object]]
    gone: Sequence[str]
    added: bytes


class _Reader:
    """A bucket, and how many bytes came from it."""

    def __init__(self, bucket: Bucket) -> None:
        self._bucket = bucket
        self.moved = 0

    def object(self, name: str, most: int) -> bytes:
        """Return an object, not yet checked; raise ReplicaError if it is not there."""
        data = self._bucket.get(f"{OBJECTS}/{name}", most)
        if data is None:
            raise ReplicaError("the bucket lacks a part of the version, or has another one", where=name, fix=DAMAGED)
        self.moved += len(data)
        return data

    def head(self, key: str) -> Head:
        """Return the head; raise ReplicaError if the owner of the key did not sign it."""
        data = self._bucket.get(HEAD, MOST_HEAD)
        if data is None:
            raise ReplicaError("nothing was published there", fix=PUBLISH)
        self.moved += len(data)
        head, signature = read_head(data)
        if not is_signed(head.signed, signature, key):
            raise ReplicaError("the head of the bucket is not signed by the publisher that you trust", fix=AGAIN)
        return head


def pull(root: str, environ: Mapping[str, str], place: str = "", *, key: str = "", private: bool = False) -> Pulled:
    """Bring the library's catalog up to date with what was published; raise ReplicaError if that is impossible.

    Place and key are remembered from the first time.
    """
    folder, library = f"{derived_folder(root, environ)}/library", library_folder(root, environ)
    if not is_trusted(root, environ):
        raise ReplicaError("you do not trust this commons", fix=f"If it is yours, type: deia trust {root}")
    if files.exists(f"{library}/{DATABASE}"):
        problem = "this commons has a library of its own here, which a replica would hide"
        raise ReplicaError(problem, fix="Pull into another commons.")
    known = read_replica(folder)
    if (place or known.place, key or known.key) != (known.place, known.key):
        known = Replica(place=place or known.place, key=key or known.key)
    if not known.place or not known.key:
        raise ReplicaError("it is not known what to pull", fix="Type: deia pull PLACE --key KEY, as deia publish says.")
    reader = _Reader(open_bucket(known.place, private=private))
    files.make_folders(folder)
    with FileLock(f"{folder}/{LOCK}"):
        head = _newer(reader.head(known.key), known.head, f"{folder}/{ABOUT}")
        if not is_readable(f"{folder}/{known.head.name}"):
            known = known.but(listing="")  # nothing is made of its files
        elif head == known.head:
            return Pulled(sequence=head.sequence, moved=reader.moved, is_new=False)
        building = empty_building(folder)
        try:
            listing = _built(reader, head, known, f"{folder}/{known.head.name}", building)
            open_catalog(building)
            _switch(folder, library, building, known, head, listing)
        except (ArtefactError, OSError) as error:
            raise ReplicaError(f"what was published cannot be used here: {error}", fix=DAMAGED) from error
        finally:
            shutil.rmtree(building, ignore_errors=True)
    return Pulled(sequence=head.sequence, moved=reader.moved)


def read_replica(folder: str) -> Replica:
    """Return what was pulled into a folder of compiled files, or an empty one."""
    try:
        return read_record(Replica, json.loads(files.read(f"{folder}/{ABOUT}", MOST_LISTING) or b""))
    except (ValueError, TypeError, RecursionError):
        return Replica()


def _newer(head: Head, known: Head, about: str) -> Head:
    problem = ""
    if head.sequence < known.sequence:
        problem = f"the bucket has version {head.sequence}, after version {known.sequence} was pulled"
    elif head.sequence == known.sequence and head.listing != known.listing:
        problem = f"the bucket has another version {head.sequence} than the one that was pulled"
    elif known.state and head.state[:8] != known.state[:8]:
        problem = "the bucket has another library than before"
    if problem:
        raise ReplicaError(problem, fix=f"If that is meant, remove {about}, and pull with --key again.")
    return head


def _switch(folder: str, library: str, building: str, known: Replica, head: Head, listing: Listing) -> None:
    """Make a built catalog the current one; a kill in between leaves the one before, or this one.

    What was pulled is written down last, so that whatever is not done is made up for by the next pull.
    """
    name, before = head.name, (files.read(f"{folder}/{CATALOG}") or b"").decode("ascii", "replace")
    if os.path.isdir(f"{folder}/{name}"):
        _write(folder, known.but(listing=""))  # its files are no longer what the next version could be made of
        shutil.rmtree(f"{folder}/{name}")
    os.rename(building, f"{folder}/{name}")
    files.make_folders(library)
    files.replace(f"{folder}/{CATALOG}", name.encode())
    files.replace(f"{library}/{LIBRARY_STATE}", head.state.encode())
    _write(folder, known.but(head=head, listing=written_listing(listing).decode()))
    sweep(folder, keep={name, before})


def _write(folder: str, replica: Replica) -> None:
    files.replace(f"{folder}/{ABOUT}", canonical({**replica.values(), "head": replica.head.values()}))


def _built(reader: _Reader, head: Head, known: Replica, before: str, building: str) -> Listing:
    """Build a version in an empty folder from the one before it, or else from all of its pieces."""
    listing = read_listing(known.listing.encode()) if known.listing and os.path.isdir(before) else {}
    have = listing_digest(listing)
    way = _way(reader, head, have)
    if not way:
        listing = _whole(reader, head.listing, head.size, building, before, listing)
        return _checked(listing, head)
    folder = before
    if way[0].before != have:
        folder = f"{building}-0"
        listing = _whole(reader, way[0].before, way[0].size, folder, before, listing)
    for number, step in enumerate(way, 1):
        target = building if number == len(way) else f"{building}-{number}"
        listing = _stepped(step, listing, folder, target)
        if folder != before:
            shutil.rmtree(folder)
        folder = target
    return _checked(listing, head)


def _checked(listing: Listing, head: Head) -> Listing:
    if listing_digest(listing) != head.listing:
        raise ReplicaError("the bucket has another version than the publisher signed", fix=DAMAGED)
    return listing


def _way(reader: _Reader, head: Head, have: str) -> list[_Step]:
    """Return the steps from the version that is here, or from a whole one, to the last."""
    way: list[_Step] = []
    name, size = head.step, head.size
    while name and len(way) < MOST_STEPS and not (way and way[-1].before == have):
        way.append(_read_step(reader.object(name, size), name))
        name, size = way[-1].step, way[-1].size
    return way[::-1]


def _read_step(data: bytes, name: str) -> _Step:
    if digest_of(data) != name:
        raise ReplicaError("the bucket has another step than the publisher signed", where=name, fix=DAMAGED)
    try:
        about, _, added = zlib.decompress(data).partition(b"\n")
        value = json.loads(about)
        return _Step(
            before=value["from"], step=value["step"], size=int(value["size"]), plans=value["files"], gone=value["gone"],
            added=added,
        )  # fmt: skip
    except (ValueError, KeyError, TypeError, zlib.error) as error:
        raise ReplicaError("a step between two versions cannot be read", where=name, fix=DAMAGED) from error


def _stepped(step: _Step, listing: Listing, folder: str, target: str) -> dict[str, Listed]:
    """Make the next version in a folder: files that stay are the same ones, the others are made and checked."""
    after = {path: file.but(pieces=()) for path, file in listing.items() if path not in step.gone}
    for path in after.keys() - step.plans.keys():
        link(f"{folder}/{path}", f"{target}/{path}")
    added = memoryview(step.added)
    for path, plan in step.plans.items():
        after[path], used = _patched_file(checked_path(path), plan, listing, folder, target, added)
        added = added[used:]
    return after


def _patched_file(
    path: str, plan: Sequence[object], listing: Listing, folder: str, target: str, added: memoryview
) -> tuple[Listed, int]:
    """Write a file as its plan says; return what it is, and how many of the added bytes it has."""
    try:
        ways = [part if isinstance(part, int) else (int(part[0]), int(part[1])) for part in plan]  # type: ignore[index]
    except (ValueError, TypeError, IndexError) as error:
        raise ReplicaError("a step between two versions makes no sense", where=path, fix=DAMAGED) from error
    old = plain(path, mapped(f"{folder}/{path}")) if path in listing else memoryview(b"")
    pieces: Iterable[memoryview | bytes] = patched(old, ways, added)
    if is_counted(path):
        pieces = [restored(path, b"".join(pieces))]
    return _written(f"{target}/{path}", pieces), sum(part for part in ways if isinstance(part, int))


def _written(path: str, pieces: Iterable[memoryview | bytes], most: int = sys.maxsize) -> Listed:
    """Write a file of its pieces, and return what it is; no more than `most` bytes and a piece."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    digest, size = sha256(), 0
    with open(path, "wb") as target:
        for piece in pieces:
            size += len(piece)
            digest.update(piece)
            target.write(piece)
            if size > most:
                break
    return Listed(size=size, digest=digest.hexdigest()[:DIGITS])


def _whole(reader: _Reader, name: str, size: int, target: str, before: str, known: Listing) -> dict[str, Listed]:
    """Fetch a whole version into a folder, all but the files that are here already."""
    if not HEX.fullmatch(name):
        raise ReplicaError("the bucket lacks a whole version", fix=DAMAGED)
    listing = read_listing(reader.object(name, size))
    if listing_digest(listing) != name:
        raise ReplicaError("the bucket has another version than the publisher signed", where=name, fix=DAMAGED)
    by_digest = {file.digest: path for path, file in known.items()}
    for path, file in listing.items():
        if file.digest in by_digest:
            link(f"{before}/{by_digest[file.digest]}", f"{target}/{path}")
        else:
            made = _written(f"{target}/{path}", (_piece(reader, piece) for piece in file.pieces), file.size)
            if made != file.but(pieces=()):
                raise ReplicaError("a file is not the one that was published", where=path, fix=DAMAGED)
    return listing


def _piece(reader: _Reader, name: str) -> bytes:
    """Return a piece, which is no larger than pieces are, whatever the bucket has in its place."""
    try:
        data = zlib.decompressobj().decompress(reader.object(name, LARGEST), LARGEST)
    except zlib.error as error:
        raise ReplicaError("a piece of a file cannot be read", where=name, fix=DAMAGED) from error
    if digest_of(data) != name:
        raise ReplicaError("a piece of a file is not the one that was published", where=name, fix=DAMAGED)
    return data
