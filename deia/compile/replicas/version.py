"""What a published version of a library's catalog is made of, as it lies in a bucket.

`head.json` is the only file that ever changes: it says which version is the last one, and is signed. Everything else is
an object, named by the digest of what is in it, so whoever trusts the head trusts what it leads to. A version is a
listing of files with their digests. It is either whole (each file in pieces), or a step from the version before it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from hashlib import sha256

from deia.errors import DeiaError
from deia.fast_json import Json
from deia.records import Record
from deia.typed_json import read_record

HEAD = "head.json"
OBJECTS = "objects"
DIGITS = 40  # of a digest
MOST_HEAD, MOST_LISTING = 10_000, 20_000_000  # bytes
PATH = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]*(/\.?[A-Za-z0-9_-][A-Za-z0-9._-]*)?")
NAME = re.compile(r"catalog-[A-Za-z0-9-]{1,100}")
DAMAGED = "Type deia publish --whole where the library is, or look after who else can write to the bucket."
PUBLISH = "Type deia publish where the library is."
HEX = re.compile(r"[0-9a-f]{40}")


class ReplicaError(DeiaError):
    """A replica cannot be published or pulled, or what is in the bucket is not what was published."""


class Head(Record):
    """The last version of a library's catalog."""

    sequence: int  # greater with every version, so that an old head is noticed
    name: str  # of the catalog's folder
    state: str  # of the library
    listing: str  # the digest of the files
    step: str = ""  # the object that leads there from the version before, or "" if this version is whole
    size: int = 0  # of that object, or of the whole listing
    maker: str = ""  # the version of deia

    @property
    def signed(self) -> bytes:
        """The bytes that the signature is of."""
        return b"deia replica 1\n" + canonical(self.values())


class Listed(Record):
    """A file of a version."""

    size: int
    digest: str
    pieces: tuple[str, ...] = ()  # the objects that it consists of, if the version is whole


Listing = Mapping[str, Listed]


def canonical(value: Json) -> bytes:
    """Return JSON in the one form that digests and signatures are of."""
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


def digest_of(data: bytes | memoryview) -> str:
    """Return the name of an object."""
    return sha256(data).hexdigest()[:DIGITS]


def listing_digest(listing: Listing) -> str:
    """Return the digest of the files of a version, whatever way they are brought."""
    return digest_of(canonical({path: [file.size, file.digest] for path, file in listing.items()}))


def written_listing(listing: Listing) -> bytes:
    """Return the listing of a whole version as it is kept."""
    return canonical({path: [file.size, file.digest, list(file.pieces)] for path, file in listing.items()})


def read_listing(data: bytes) -> dict[str, Listed]:
    """Return what `written_listing` wrote; raise ReplicaError if it is none, or names a place elsewhere."""
    try:
        rows = json.loads(data)
        listing = {
            path: Listed(size=_whole_number(size), digest=str(digest), pieces=tuple(map(str, pieces)))
            for path, (size, digest, pieces) in rows.items()
        }
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        raise ReplicaError("the listing of a version cannot be read", fix=DAMAGED) from error
    for path, file in listing.items():
        checked_path(path)
        if not all(map(HEX.fullmatch, (file.digest, *file.pieces))) or file.size < 0:
            raise ReplicaError("the listing of a version makes no sense", where=path, fix=DAMAGED)
    return listing


def _whole_number(value: object) -> int:
    if type(value) is not int:
        raise TypeError(f"{value!r:.80} is no whole number")
    return value


def checked_path(path: str) -> str:
    """Return a path within a catalog's folder; raise ReplicaError for any other."""
    if not PATH.fullmatch(path):
        raise ReplicaError("a version has a file of a strange name", where=repr(path)[:100], fix=DAMAGED)
    return path


def read_head(data: bytes) -> tuple[Head, str]:
    """Return a head and its signature; raise ReplicaError if it is none."""
    try:
        value = json.loads(data)
        head, signature = read_record(Head, value["head"]), str(value["signature"])
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise ReplicaError("the head of the bucket cannot be read", fix=PUBLISH) from error
    if not (NAME.fullmatch(head.name) and HEX.fullmatch(head.listing) and HEX.fullmatch(head.step or head.listing)):
        raise ReplicaError("the head of the bucket makes no sense", fix=PUBLISH)
    return head, signature


def written_head(head: Head, signature: str) -> bytes:
    """Return a head as it is kept."""
    return canonical({"head": head.values(), "signature": signature})


def pieces_of(data: memoryview, size: int) -> Sequence[memoryview]:
    """Return a file in pieces, so that neither side has to hold it as a whole."""
    return [data[start : start + size] for start in range(0, len(data), size)]
