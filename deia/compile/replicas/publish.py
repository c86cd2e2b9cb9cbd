"""Publish the catalog of a library: what changed since the last time, or all of it.

The last published version stays beside the catalogs (as links to the same files, which cost nothing), to compare the
next one with. The head is written last: if publishing is killed, nothing was published, and nobody sees half a version.
"""

from __future__ import annotations

import mmap
import os
import shutil
import zlib
from collections.abc import Mapping

from filelock import FileLock

from deia import __version__, files
from deia.compile.catalog.document_store import link_or_copy
from deia.compile.catalog_folder import CATALOG, LOCK
from deia.compile.replicas.bucket import Bucket, open_bucket
from deia.compile.replicas.patches import plain, steps
from deia.compile.replicas.seal import is_signed, signed
from deia.compile.replicas.version import (
    HEAD,
    MOST_HEAD,
    MOST_LISTING,
    OBJECTS,
    Head,
    Listed,
    Listing,
    ReplicaError,
    canonical,
    digest_of,
    listing_digest,
    pieces_of,
    read_head,
    read_listing,
    written_head,
    written_listing,
)
from deia.compile.take_in import bring_up_to_date
from deia.fast_json import Json
from deia.folders import LIBRARY_STATE, derived_folder, is_trusted, library_folder
from deia.records import Record
from deia.search.catalog import is_readable

PUBLISHED = "published"  # a folder beside the catalogs, with a folder for each place
LISTING, STEPS = "listing.json", "steps"  # files of such a folder, beside the head and the files of the version
PIECE = 4 << 20  # bytes
MOST_STEPS = 50  # after which a version is published whole, since a new replica has to take all steps
LARGEST_SHARE = 4  # instead of a step larger than a quarter of everything, the version is published whole


class Publication(Record):
    """What was published."""

    sequence: int
    key: str  # with which replicas check signatures
    files: int
    moved: int  # bytes
    is_whole: bool = False
    is_new: bool = True  # whether there was anything to publish


class _Before(Record):
    """The version that was published last, as it lies beside the catalogs."""

    folder: str
    listing: Listing
    head: Head
    steps: int = 0  # since the last whole version


def publish(
    root: str, environ: Mapping[str, str], place: str, *, private: bool = False, whole: bool = False
) -> Publication:
    """Publish the library's catalog; raise ReplicaError if there is none or the place cannot be written to.

    With `whole`, everything is written anew, whatever the bucket seems to have.
    """
    bucket = open_bucket(place, private=private)
    bring_up_to_date(root, environ)
    folder = f"{derived_folder(root, environ)}/library"
    state = (files.read(f"{library_folder(root, environ)}/{LIBRARY_STATE}") or b"").decode("ascii", "replace")
    if not is_trusted(root, environ) or not state or not os.path.isdir(folder):
        raise ReplicaError("nothing was taken in that could be published", fix="Type: deia ingest FOLDER")
    kept = f"{folder}/{PUBLISHED}/{digest_of(place.encode())[:16]}"
    with FileLock(f"{folder}/{LOCK}"):
        name = (files.read(f"{folder}/{CATALOG}") or b"").decode("ascii", "replace")
        before = _before(kept)
        listing = _listing(f"{folder}/{name}", before)
        last = _last_head(bucket, environ)
        if before and last == before.head and last.listing == listing_digest(listing) and not whole:
            return _publication(last, environ, listing, is_new=False)
        head = Head(
            sequence=_next_number(root, environ, place, last), name=name, state=state, listing=listing_digest(listing),
            maker=__version__,
        )  # fmt: skip
        step = _step(before, f"{folder}/{name}", listing) if before and last == before.head and not whole else b""
        if step and len(step) * LARGEST_SHARE < sum(file.size for file in listing.values()):
            moved, head = len(step), head.but(step=digest_of(step), size=len(step))
            bucket.put(f"{OBJECTS}/{head.step}", step)
        else:
            moved, head = _put_whole(bucket, f"{folder}/{name}", listing, head)
        steps = before.steps + 1 if before and head.step else 0
        signature, _ = signed(head.signed, environ)
        bucket.put(HEAD, written_head(head, signature))
        _keep(_Before(folder=kept, listing=listing, head=head, steps=steps), f"{folder}/{name}")
    return _publication(head, environ, listing, moved=moved + len(written_head(head, signature)))


def _publication(
    head: Head, environ: Mapping[str, str], listing: Listing, *, moved: int = 0, is_new: bool = True
) -> Publication:
    _, key = signed(b"", environ)
    return Publication(
        sequence=head.sequence, key=key, files=len(listing), moved=moved, is_whole=not head.step, is_new=is_new
    )


def _last_head(bucket: Bucket, environ: Mapping[str, str]) -> Head | None:
    """Return the head that is in the bucket, if we wrote it; one that somebody else wrote is overwritten."""
    data = bucket.get(HEAD, MOST_HEAD)
    if data is None:
        return None
    try:
        head, signature = read_head(data)
    except ReplicaError:
        return None
    return head if is_signed(head.signed, signature, signed(b"", environ)[1]) else None


def _next_number(root: str, environ: Mapping[str, str], place: str, last: Head | None) -> int:
    """Return a number that no version had, whatever somebody wrote into the bucket, and remember it."""
    path = f"{library_folder(root, environ)}/published-{digest_of(place.encode())[:16]}"
    own = files.read(path) or b"0"
    number = max(int(own) if own.isdigit() else 0, last.sequence if last else 0) + 1
    files.replace(path, str(number).encode())
    return number


def _listing(folder: str, before: _Before | None) -> dict[str, Listed]:
    """Return the files of a catalog; one that is a link to a file of the last version is not read again."""
    listing = {}
    for path in sorted(_paths(folder)):
        known = before and before.listing.get(path)
        if before and known and _is_same(f"{folder}/{path}", f"{before.folder}/files/{path}"):
            listing[path] = known.but(pieces=())
        else:
            data = mapped(f"{folder}/{path}")
            listing[path] = Listed(size=len(data), digest=digest_of(data))
    return listing


def _is_same(path: str, other: str) -> bool:
    return os.path.exists(other) and os.path.samefile(path, other)


def _paths(folder: str) -> list[str]:
    return [
        os.path.relpath(os.path.join(at, name), folder).replace(os.sep, "/")
        for at, _, names in os.walk(folder)
        for name in names
        if not name.endswith(".lock")
    ]


def _put_whole(bucket: Bucket, folder: str, listing: Listing, head: Head) -> tuple[int, Head]:
    """Put all files there; return how many bytes they had, and the head with the size of the listing."""
    moved, whole = 0, {}
    for path, file in listing.items():
        names = []
        for piece in pieces_of(mapped(f"{folder}/{path}"), PIECE):
            names.append(digest_of(piece))
            packed = zlib.compress(piece, 1)
            bucket.put(f"{OBJECTS}/{names[-1]}", packed)
            moved += len(packed)
        whole[path] = file.but(pieces=tuple(names))
    data = written_listing(whole)
    bucket.put(f"{OBJECTS}/{head.listing}", data)
    return moved + len(data), head.but(size=len(data))


def _step(before: _Before, folder: str, listing: Listing) -> bytes:
    """Return the step from the last version to this one.

    Return nothing if too many steps would follow each other, or if another deia wrote the last version.
    """
    if before.steps >= MOST_STEPS or not is_readable(f"{before.folder}/files"):
        return b""
    plans: dict[str, Json] = {}
    added = []
    for path, file in listing.items():
        known = before.listing.get(path)
        if known and known.digest == file.digest:
            continue
        old = plain(path, mapped(f"{before.folder}/files/{path}")) if known else memoryview(b"")
        plan: list[Json] = []
        for part in steps(old, plain(path, mapped(f"{folder}/{path}"))):
            if isinstance(part, tuple):
                plan.append(list(part))
            else:
                plan.append(len(part))
                added.append(bytes(part))
        plans[path] = plan
    header: Json = {
        "from": before.head.listing, "step": before.head.step, "size": before.head.size, "files": plans,
        "gone": [path for path in before.listing if path not in listing],
    }  # fmt: skip
    return zlib.compress(b"\n".join((canonical(header), b"".join(added))), 9)


def _before(folder: str) -> _Before | None:
    """Return the version that was published last, if it is still there."""
    listing, head, count = (files.read(f"{folder}/{name}", MOST_LISTING) for name in (LISTING, HEAD, STEPS))
    if not listing or not head or not count or not count.isdigit():
        return None
    try:
        return _Before(folder=folder, listing=read_listing(listing), head=read_head(head)[0], steps=int(count))
    except ReplicaError:
        return None


def _keep(version: _Before, folder: str) -> None:
    """Keep a version to compare the next one with; if this is killed, the next one is published whole."""
    shutil.rmtree(version.folder, ignore_errors=True)
    for path in version.listing:
        link(f"{folder}/{path}", f"{version.folder}/files/{path}")
    files.replace(f"{version.folder}/{STEPS}", str(version.steps).encode())
    files.replace(f"{version.folder}/{LISTING}", written_listing(version.listing))
    files.replace(f"{version.folder}/{HEAD}", written_head(version.head, ""))


def link(source: str, target: str) -> None:
    """Link a file to another place, or copy it there where links are impossible."""
    os.makedirs(os.path.dirname(target), exist_ok=True)
    link_or_copy(source, target)


def mapped(path: str) -> memoryview:
    """Return a file's content, of which only what is used is read."""
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if size else b"")
