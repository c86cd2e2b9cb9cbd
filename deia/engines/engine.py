"""What keeps the vectors of the library's passages outside of the catalog: one small protocol, and how one is opened.

Words are searched in the catalog, wherever vectors are. A space is one library by one model; of each document an engine
keeps a mark, so that whoever copies knows what is there already. The state says which catalog a space was copied from:
it is empty while somebody copies, and nobody asks a space of another state than their own catalog's.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from hashlib import blake2b
from typing import Protocol
from urllib.parse import urlsplit

from deia.errors import DeiaError
from deia.records import Record
from deia.settings import secret

SETTING = "engine"
VARIABLE = f"DEIA_{SETTING.upper()}"
SCHEMES = ("postgresql", "postgres", "milvus", "milvus+https")
FIX = f"Set {VARIABLE} to postgresql://USER@HOST/DATABASE, milvus://HOST:19530 or milvus:///FOLDER/FILE.db."
UNREADABLE = "an address that cannot be read"
PATIENCE = 3  # seconds to wait for a connection
SLOW = 5  # seconds for a search, after which the catalog answers


class EngineError(DeiaError):
    """The engine is not there, refuses, or does not have what it should; the message names no credentials."""


class Passage(Record):
    """A passage's vector, of unit length."""

    ordinal: int  # in its document
    vector: Sequence[float]


class Shelf(Record):
    """A document as an engine keeps it."""

    document: str
    mark: str  # of its vectors
    passages: Sequence[Passage]


class Near(Record):
    """A passage near to a query."""

    document: str
    ordinal: int
    cosine: float


class Stats(Record):
    """What a space has."""

    documents: int = 0
    passages: int = 0
    state: str = ""  # of the catalog that it was copied from, as a whole


class Engine(Protocol):
    """One space of an engine. Every method raises EngineError if the engine is away."""

    def upsert(self, shelves: Sequence[Shelf]) -> None:
        """Put documents there, each instead of what was there of it; all of them or none."""

    def delete(self, documents: Collection[str]) -> None:
        """Remove documents."""

    def search(
        self, vector: Sequence[float], *, limit: int, among: Collection[str] | None = None, state: str = ""
    ) -> list[Near]:
        """Return the nearest passages of some documents or of all, nearest first, or none if the state is another."""

    def state(self) -> str:
        """Return which state is there as a whole, at once."""

    def stats(self) -> Stats:
        """Return how much is there, which may take long."""

    def marks(self) -> Mapping[str, str]:
        """Return the mark of every document."""

    def settle(self, state: str) -> None:
        """Write down which state is there as a whole; "" before anything is changed."""

    def close(self) -> None:
        """Let the connection go."""


def address_of(environ: Mapping[str, str]) -> str:
    """Return the person's engine, or "" for the catalog alone; it may hold a password, so it is shown by `shown`."""
    return secret(SETTING, environ=environ)[0]


def shown(address: str) -> str:
    """Return an engine's address without user, password and options."""
    try:
        parts = urlsplit(address)
        place = parts.hostname or ""
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        return UNREADABLE
    if _is_torn(address):
        return UNREADABLE
    return f"{parts.scheme}://{place}{port}{parts.path}" if parts.scheme in SCHEMES else "an unknown engine"


def _is_torn(address: str) -> bool:
    """Return whether a password seems to go on after the host, since it has a / ? or # that is not quoted."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return True
    return any("@" in part for part in (parts.path, parts.query, parts.fragment))


def password_of(address: str) -> str:
    """Return the password in an address, or ""."""
    try:
        return urlsplit(address).password or ""
    except ValueError:
        return ""


def problem(address: str, error: Exception, *, wrong_address: bool = False) -> EngineError:
    """Return what to raise for an error of a client, without anything that the address keeps secret."""
    if wrong_address or _is_torn(address):
        return EngineError("the address of the engine cannot be read", where=VARIABLE, fix=FIX)
    text = " ".join(str(error).split())[:300] or type(error).__name__
    for hidden in (address, password_of(address)):
        text = text.replace(hidden, "…") if hidden else text
    return EngineError(f"the engine does not answer: {text}", where=shown(address), fix="See: deia engine status")


def space_of(library: str, model: str) -> str:
    """Return the name of a space, of a library's token and of the model's digest: a word in any engine."""
    return f"deia_{blake2b(f'{library} {model}'.encode(), digest_size=12).hexdigest()}"


def missing(what: str, extra: str) -> EngineError:
    """Return what to raise where the client of an engine is not installed."""
    return EngineError(f"{what} is not installed", where=VARIABLE, fix=f"pip install 'deia[{extra}]'")
