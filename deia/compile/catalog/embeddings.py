"""The sentence model's vectors of passages, kept between compiles: what is dear is made once.

They are kept by the model and the text that they were made of, in a file of the person's own and in one that comes with
deia for the starter's texts. Refuses to begin what would take long without having been told to, and never gives half
of a catalog vectors.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from hashlib import blake2b
from typing import NamedTuple

from deia import files
from deia.compile.catalog.vectors import THREADS, VectorWriter, subject, telling
from deia.folders import MODELS
from deia.knowledge import Chunk, Entry
from deia.match import quantised
from deia.match.numerics import np
from deia.match.static_vectors import Static
from deia.match.tiers import Tier, open_tier
from deia.match.tokeniser import spelled_out
from deia.match.vector_store import Vectors
from deia.records import TYPE_CHECKING, Record

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

TIER = "compact"
STARTER = f"{MODELS}/starter.codes"
KEY = 16  # bytes
SPEED = 25  # texts a second, a passage of 180 words each, on two cores (bench/compact.py)
UNASKED = 8  # texts that a compile encodes though nobody waits for it: a changed document, under a second
MOST_UNSAID = 3_000  # texts that are encoded without being told to: two minutes
TOGETHER = 64  # texts between two messages, and between two writes


class Effort(Record):
    """How much a compile may encode, and where what it encoded is kept."""

    most: int = sys.maxsize  # texts
    kept: str = ""  # a file; without one nothing is kept
    alone: bool = False  # whether the file is of this commons alone, so that what it does not use can be forgotten


ALWAYS = Effort()


def kept_at(folder: str, maker: str, *, tier: str = TIER) -> str:
    """Give the file of an installation's vectors; nobody who does not know its random name can place one there."""
    model = open_tier(tier).digest
    return f"{folder}/codes-{blake2b(f'{maker} {model}'.encode(), digest_size=KEY).hexdigest()}"


def text_key(model: str, text: str) -> bytes:
    """Give what a text's vector is found by."""
    return blake2b(text.encode("utf-8", "replace"), digest_size=KEY, key=bytes.fromhex(model)[:64]).digest()


class _Texts(NamedTuple):  # as many as there are documents
    """A document whose vectors are to be found or made."""

    told: float  # how much its subject says
    keys: Sequence[bytes]  # of its subject, and of its passages


class Kept:
    """Vectors by the keys of their texts, from files of records: a key, then the codes."""

    __slots__ = ("_held", "_own", "_wide")

    def __init__(self, own: str, *, dimensions: int, others: Iterable[str] = (STARTER,)) -> None:
        """Read what is there; a file that is missing or ends in the middle of a record holds that much less."""
        self._own, self._wide = own, dimensions
        self._held: dict[bytes, bytes] = {}
        for place in (*others, own):
            data = (files.read(place) or b"") if place else b""
            size = KEY + dimensions
            for at in range(0, len(data) - size + 1, size):
                self._held[data[at : at + KEY]] = data[at + KEY : at + size]

    def __contains__(self, key: bytes) -> bool:
        return key in self._held

    def of(self, keys: Sequence[bytes]) -> bytes:
        """Give the codes of texts, one after another.

        Raises:
            KeyError: one is not here.
        """
        return b"".join([self._held[key] for key in keys])

    def add(self, keys: Sequence[bytes], made: bytes) -> None:
        """Take in codes, and append them to the file."""
        new = {key: made[at * self._wide : (at + 1) * self._wide] for at, key in enumerate(keys)}
        self._held.update(new)
        if self._own:
            with open(self._own, "ab") as file:
                file.truncate(file.tell() // (KEY + self._wide) * (KEY + self._wide))  # what a crash left of a record
                file.write(b"".join([key + code for key, code in new.items()]))

    def keep(self, keys: Iterable[bytes]) -> None:
        """Forget vectors that no text uses any more, once they are the larger part of the file."""
        size = os.stat(self._own).st_size if self._own and os.path.exists(self._own) else 0
        used = set(keys)
        if size > 2 * len(used) * (KEY + self._wide):
            files.replace(self._own, b"".join([key + self._held[key] for key in sorted(used)]))


class LaterWriter:
    """As `VectorWriter`, but encodes nothing before all is known, and then only within what it may."""

    __slots__ = ("_documents", "_effort", "_folder", "_heard", "_kept", "_missing", "complete", "tier")

    def __init__(self, folder: str, tier: str, effort: Effort, heard: Callable[[str], None]) -> None:
        self.tier = open_tier(tier)
        self.complete = True
        self._folder = folder
        self._heard = heard
        self._effort = effort
        others = (STARTER,) if self.tier.name == TIER else ()
        self._kept = Kept(effort.kept, dimensions=self.tier.dimensions, others=others)
        self._missing: dict[bytes, str] = {}
        self._documents: list[_Texts | tuple[Vectors, range] | None] = []

    def add(self, entry: Entry, passages: Sequence[str]) -> None:
        """Note a document's texts."""
        if not self.complete:
            return
        texts = [spelled_out(subject(entry)), *passages]
        keys = [text_key(self.tier.digest, text) for text in texts]
        self._missing.update({key: text for key, text in zip(keys, texts, strict=True) if key not in self._kept})
        self._documents.append(_Texts(telling(subject(entry)), keys))
        if len(self._missing) > self._effort.most:
            self.complete = False
            self._missing.clear()
            self._documents.clear()

    def leave_out(self) -> None:
        """Leave a number without a document."""
        if self.complete:
            self._documents.append(None)

    def copy(self, before: Vectors, documents: range) -> None:
        """Note the vectors of some documents, one after another, as an earlier catalog held them."""
        if self.complete:
            self._documents.append((before, documents))

    def close(self) -> None:
        """Encode what is missing and write the files, or nothing where that would be too much."""
        if not self.complete:
            return
        _encode(self.tier, self._missing, self._kept, self._heard)
        to = VectorWriter(self._folder, self.tier.full_name)
        for each in self._documents:
            if isinstance(each, _Texts):
                vectors = self._floats(self._kept.of(each.keys))
                to.put(vectors[:1], each.told, vectors[1:])
            elif each:
                to.copy(*each)
            else:
                to.leave_out()
        to.close()
        listed = [each for each in self._documents if isinstance(each, _Texts)]
        if self._effort.alone and len(listed) == len(self._documents):  # else not every text is known
            self._kept.keep(key for each in listed for key in each.keys)

    def _floats(self, held: bytes) -> Floats:
        wide = self.tier.dimensions
        floats: Floats = np.frombuffer(held, "i1").reshape(-1, wide) * np.float32(quantised.step(wide))
        return floats


def texts_of(entry: Entry, chunks: Sequence[Chunk]) -> list[str]:
    """Give what is encoded of a document: what it is about, and its passages."""
    return [spelled_out(subject(entry)), *(chunk.text for chunk in chunks)]


def _encode(tier: Tier, missing: Mapping[bytes, str], kept: Kept, heard: Callable[[str], None]) -> None:
    """Encode texts some at a time, so that what was done outlives an interruption."""
    keys = list(missing)
    began, asked = time.monotonic(), len(keys) > UNASKED
    if asked:
        heard(f"encoding {len(keys)} passages for meaning, {_lasting(len(keys) / SPEED)} (--tier static leaves it out)")
    for start in range(0, len(keys), TOGETHER):
        some = keys[start : start + TOGETHER]
        kept.add(some, quantised.quantised(encoded_by(tier, [missing[key] for key in some])))
        done = start + len(some)
        if asked and done < len(keys):
            left = (time.monotonic() - began) / done * (len(keys) - done)
            heard(f"encoded {done} of {len(keys)} passages, {_lasting(left)} left")


def encoded_by(tier: Tier, texts: Sequence[str]) -> Floats:
    """Give the vectors of texts by a sentence model.

    Raises:
        TypeError: the tier's model is none.
    """
    if isinstance(tier.model, Static):
        raise TypeError(f"{tier.name} is no sentence model")
    return tier.model.encode(texts, threads=THREADS)


def _lasting(seconds: float) -> str:
    return f"about {seconds:.0f} s" if seconds < 100 else f"about {seconds / 60:.0f} minutes"
