"""Sources of the library: a folder, a git repository, addresses, a bucket, or files that were handed over.

Python programs write `FolderSource`, `GitSource`, `UrlSource`, `S3Source` and `UploadSource`. These, and what people
type, become a `Source`, which the registry keeps.
"""

from __future__ import annotations

import os
import time
from typing import NamedTuple, Protocol

from deia import files
from deia.errors import DeiaError
from deia.ingest.reading import ChunkerConfig
from deia.records import TYPE_CHECKING, Record

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from deia.fast_json import Json

FOLDER, GIT, UPLOAD, URL, S3, CHUNKS = KINDS = ("folder", "git", "upload", "url", "s3", "chunks")
TAKEN_SCHEMES = "https://, http://, ssh:// or s3://"
GIT_SCHEMES = ("ssh://", "git@", "git://")
UNCHANGED = "="  # the stamp of a file that has not changed
UNLISTED = "unlisted"  # the stamp of a folder whose files cannot be told
LONGEST_NAME = 80
MOST_BYTES = 32_000_000  # of one file


class SourceError(DeiaError):
    """A source cannot be used: it is not there, it is refused, or what was asked of it makes no sense."""


class UnknownHostError(SourceError):
    """An address names a host that nothing resolves, now."""


class Source(Record):
    """Where something is, and what of it is taken in."""

    kind: str  # one of KINDS
    place: str  # a folder or file, an address, s3://bucket/prefix
    name: str = ""
    collection: str = ""
    branch: str = ""
    filter: tuple[str, ...] = ()  # globs of what is taken in, as in .gitignore; () for everything
    exclude: tuple[str, ...] = ()
    include: tuple[str, ...] = ()  # what is taken in although a .gitignore names it
    depth: int = -1  # folders below the top; -1 for all
    tags: tuple[str, ...] = ()
    chunker: Mapping[str, Json] = {}  # the fields of a ChunkerConfig that are set
    private: bool = False  # whether it may be at an address of this machine or its network
    track: str = ""  # how often a server takes it in again, such as 15m; folders are watched in any case

    @property
    def config(self) -> ChunkerConfig:
        """How its files are cut."""
        return ChunkerConfig(**self.chunker)  # type: ignore[arg-type]  # `checked` has validated them


class Found(NamedTuple):  # there are as many as files, and a record is slower
    """A file of a source: its path there, a stamp that differs if its content may differ, and when it was modified."""

    path: str
    stamp: str  # "" if it has to be read to know
    modified: float = 0.0  # seconds since 1970

    @property
    def day(self) -> str:
        """The day on which it was modified, or "" if that is unknown or no day of a calendar."""
        try:
            return time.strftime("%Y-%m-%d", time.gmtime(self.modified)) if self.modified else ""
        except (OverflowError, OSError, ValueError):
            return ""


class Opened(Protocol):
    """An open source."""

    def files(self) -> Iterator[Found]:
        """Yield every file; raise SourceError if the source is not there."""

    def read(self, file: Found) -> bytes | None:
        """Return the content of a file, or None if it cannot be read or is too large."""

    def close(self) -> None:
        """Release what the source holds open."""


# --- as Python programs write them ---


class _Described(Record):
    """The fields that every kind of source has."""

    name: str = ""
    filter: str | tuple[str, ...] = ()
    exclude: str | tuple[str, ...] = ()
    include: str | tuple[str, ...] = ()
    depth: int = -1
    tags: tuple[str, ...] = ()
    track: str = ""


class FolderSource(_Described):
    """A folder, or a single file."""

    path: str


class GitSource(_Described):
    """A git repository; without a branch, its default branch."""

    url: str
    branch: str = ""
    private: bool = False


class UrlSource(_Described):
    """One document at an address, fetched again if it has changed."""

    url: str
    private: bool = False


class S3Source(_Described):
    """The objects of a bucket whose names begin with a prefix."""

    bucket: str
    prefix: str = ""


class UploadSource(_Described):
    """A file that is handed over and kept."""

    file: str
    content: bytes


Described = FolderSource | GitSource | UrlSource | S3Source | UploadSource
Sources = Described | str | os.PathLike[str]  # a text is what `deia ingest` takes


def described(source: object) -> Source:
    """Return one of `Sources` as the registry keeps it; raise SourceError if it is none."""
    if isinstance(source, (str, os.PathLike)):
        return typed(os.fspath(source))
    if not isinstance(source, Described):
        fix = "Name a folder or an address, or write FolderSource(path=…) or another one of deia.ingest.source."
        raise SourceError(f"{type(source).__name__} {source!r:.100} is no source", fix=fix)
    shared = {name: source.values()[name] for name in _Described().values()}
    shared |= {name: _texts(shared[name]) for name in ("filter", "exclude", "include", "tags")}
    match source:
        case FolderSource():
            return Source(kind=FOLDER, place=_folder(source.path), **shared)
        case GitSource():
            return Source(kind=GIT, place=source.url, branch=source.branch, private=source.private, **shared)
        case UrlSource():
            return Source(kind=URL, place=source.url, private=source.private, **shared)
        case S3Source():
            return Source(kind=S3, place=f"s3://{source.bucket}/{source.prefix}".rstrip("/"), **shared)
        case UploadSource():
            return Source(kind=UPLOAD, place="", **{**shared, "name": UPLOAD})


def _texts(value: object) -> object:
    """Return a text or a list as a tuple; `checked` refuses whatever else somebody wrote."""
    return (value,) if isinstance(value, str) else tuple(value) if isinstance(value, list) else value


def _folder(path: object) -> str:
    if not isinstance(path, (str, os.PathLike)) or not os.fspath(path):
        raise SourceError(f"path = {path!r} names no folder", fix="Name a folder or a file.")
    return files.real(os.path.expanduser(os.fspath(path)))


# --- as people type them ---


def typed(text: str, *, kind: str = "") -> Source:
    """Return the source that a person typed; raise SourceError if it names nothing that can be taken in."""
    kind = kind or _kind_of(text)
    refuse_empty(text)
    if kind in (FOLDER, CHUNKS):
        place = files.real(os.path.abspath(os.path.expanduser(text)))
        refuse_missing(place, text)
        return Source(kind=kind, place=place)
    if kind not in (GIT, URL, S3):
        raise SourceError(
            f"a source of the type {kind!r} cannot be named", fix="Types are: folder, git, url, s3, chunks."
        )
    return Source(kind=kind, place=text)


def _refuse_scheme(text: str) -> None:
    """Raise SourceError if a text is an address that begins as none does that can be taken in."""
    scheme, mark, _ = text.partition("://")
    if mark and "/" not in scheme:
        fix = f"Use an address that begins with {TAKEN_SCHEMES}; of a folder or a file, type its path."
        raise SourceError(f"what {scheme[:40]}:// names is not taken in", where=text[:200], fix=fix)


def refuse_empty(place: str) -> None:
    """Raise SourceError if a place is empty, or nothing but the beginning of an address."""
    if not place.rpartition("://")[2].replace("/", "").strip() and place != "/":
        raise SourceError(f"{place!r} names nothing to take in", fix="Name a folder, a file or a whole address.")


def refuse_missing(place: str, text: str) -> None:
    """Raise SourceError, which shows the `text` that named it, if there is no folder or file at a place."""
    if not files.exists(place):
        _refuse_scheme(text)
        fix = "Name a folder, a file, or an address such as https://example.org/guide.html."
        raise SourceError(f"there is nothing at {text}", fix=fix)
    if not os.path.isdir(place) and not files.is_regular(place):
        raise SourceError(f"{text} is neither a folder nor a file with a content", fix="Name a folder or a file.")


def _kind_of(text: str) -> str:
    if text.startswith("s3://"):
        return S3
    is_address = text.startswith(("http://", "https://"))
    if text.startswith(GIT_SCHEMES) or (is_address and text.rstrip("/").endswith(".git")):
        return GIT
    return URL if is_address else FOLDER


def name_for(source: Source) -> str:
    """Return a name for a source: the last part of its place, as `slug` writes it."""
    last = (
        source.place.rstrip("/")
        .removesuffix(".git")
        .removesuffix(".jsonl")
        .rpartition("/")[2]
        .rpartition(":")[2]
        .partition("?")[0]
    )
    return slug(last) or source.kind


def slug(text: str) -> str:
    """Return a text as a name in lower case: letters, digits, dots, underscores and dashes."""
    kept = "".join(char if char.isalnum() or char in "._" else "-" for char in text.lower())
    return "-".join(filter(None, (part.strip(".") for part in kept.split("-"))))[:LONGEST_NAME]


# --- passwords in addresses, which an older deia kept ---


def password_in(address: str) -> str:
    """Return the part of an address that holds a password or a token, or ""."""
    from deia.redaction import looks_secret  # noqa: PLC0415 - tables that folders do not need

    person = address.partition("://")[2].partition("/")[0].rpartition("@")[0]
    return person if ":" in person or (person and looks_secret(person)) else ""


def without_password(text: str, address: str) -> str:
    """Return a text about an address without the password in that address."""
    secret = password_in(address)
    return text.replace(f"{secret}@", "[secret]@") if secret else text
