"""The sentence model's vectors of passages, cached between compiles because they are expensive to make.

Vectors are cached by model and text, in a file of the person's own and in one that comes with deia for the texts of
the starter commons. A compile encodes no more texts than its `Effort` allows. A catalog gets vectors for all of its
passages or for none.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from hashlib import blake2b
from typing import NamedTuple

from deia import files
from deia.compile.catalog.effort import BACKGROUND_LIMIT, KEY_SIZE, TIER, Effort
from deia.compile.catalog.vectors import VectorWriter
from deia.compile.encoding_progress import about
from deia.folders import MODELS, collection_of
from deia.knowledge import Entry
from deia.match import quantised
from deia.match.encoding import encoded_by, read_by
from deia.match.numerics import Floats, np
from deia.match.passage_vectors import specificity, subject
from deia.match.tiers import Tier, open_tier
from deia.match.tokeniser import spelled_out
from deia.match.vector_store import Vectors
from deia.search.ranking.code_sentences import mapped
from deia.text import counted

STARTER = f"{MODELS}/starter.codes"
BATCH = 64  # texts between two progress messages, and between two writes
LONGEST, EVERY = 1_300, 20  # characters of a text that the compact model reads, and what each text costs besides


def text_key(model: str, text: str) -> bytes:
    """Return the key under which a text's vector is cached."""
    return blake2b(text.encode("utf-8", "replace"), digest_size=KEY_SIZE, key=bytes.fromhex(model)[:64]).digest()


class _Texts(NamedTuple):  # there are as many as documents, and a record is slower
    """A document whose vectors are in the cache or have yet to be made."""

    specificity: float  # of its subject
    keys: Sequence[bytes]  # of its subject, then of its passages
    is_code: bool


class VectorCache:
    """Vectors by the keys of their texts, read from files of fixed-size records: a key, then the codes."""

    __slots__ = ("_codes", "_dimensions", "_own")

    def __init__(self, own: str, *, dimensions: int, others: Iterable[str] = (STARTER,)) -> None:
        """Read the files; one that is missing or ends within a record is read as far as it goes."""
        self._own, self._dimensions = own, dimensions
        self._codes: dict[bytes, bytes] = {}
        for place in (*others, own):
            data = (files.read(place, files.ANY_SIZE) or b"") if place else b""
            size = KEY_SIZE + dimensions
            for at in range(0, len(data) - size + 1, size):
                self._codes[data[at : at + KEY_SIZE]] = data[at + KEY_SIZE : at + size]

    def __contains__(self, key: bytes) -> bool:
        return key in self._codes

    def of(self, keys: Sequence[bytes]) -> bytes:
        """Return the concatenated codes of texts; raise KeyError if the vector of a text is not in the cache."""
        return b"".join([self._codes[key] for key in keys])

    def add(self, keys: Sequence[bytes], codes: bytes) -> None:
        """Add codes, and append them to the file."""
        size = self._dimensions
        new = {key: codes[at * size : (at + 1) * size] for at, key in enumerate(keys)}
        self._codes.update(new)
        if self._own:
            with open(self._own, "ab") as file:
                records = file.tell() // (KEY_SIZE + size)
                file.truncate(records * (KEY_SIZE + size))  # drop a record that a crash left incomplete
                file.write(b"".join([key + code for key, code in new.items()]))

    def keep(self, keys: Iterable[bytes]) -> None:
        """Remove vectors that no text uses any more, once they make up the larger part of the file."""
        size = os.stat(self._own).st_size if self._own and os.path.exists(self._own) else 0
        used = set(keys)
        if size > 2 * len(used) * (KEY_SIZE + self._dimensions):
            files.replace(self._own, b"".join([key + self._codes[key] for key in sorted(used)]))


class LaterWriter:
    """As `VectorWriter`, but encodes nothing until all texts are known, and then only within the allowed effort."""

    __slots__ = ("_cache", "_documents", "_effort", "_folder", "_missing", "_tell", "complete", "tier")

    def __init__(self, folder: str, tier: str, effort: Effort, tell: Callable[[str], None]) -> None:
        self.tier = open_tier(tier)
        self.complete = True
        self._folder = folder
        self._tell = tell
        self._effort = effort
        others = (STARTER,) if self.tier.name == TIER else ()
        self._cache = VectorCache(effort.cache, dimensions=self.tier.dimensions, others=others)
        self._missing: dict[bytes, str] = {}
        self._documents: list[_Texts | tuple[Vectors, range] | None] = []

    def add(self, entry: Entry, passages: Sequence[str], *, is_code: bool = False) -> None:
        """Record a document's texts."""
        if not self.complete:
            return
        if collection_of(entry.id) in (self._effort.plain or ()):
            self._documents.append(None)
            return
        texts = texts_of(entry, passages)
        keys = [text_key(self.tier.digest, text) for text in texts]
        self._missing.update({key: text for key, text in zip(keys, texts, strict=True) if key not in self._cache})
        self._documents.append(_Texts(specificity(texts[0]), keys, is_code and self.tier.name == TIER))
        if len(self._missing) > self._effort.limit:
            self.complete = False
            self._missing.clear()
            self._documents.clear()

    def leave_out(self) -> None:
        """Write a number without a document."""
        if self.complete:
            self._documents.append(None)

    def copy(self, before: Vectors, documents: range) -> None:
        """Record that consecutive documents keep the vectors of an earlier catalog."""
        if self.complete:
            self._documents.append((before, documents))

    def close(self) -> None:
        """Encode what is missing and write the files, or write nothing if that would exceed the effort."""
        if not self.complete:
            return
        count = len(self._missing)
        if count > BACKGROUND_LIMIT:
            self._tell(f"encoding {counted(count, 'passage')} for meaning (use --tier static to skip this)")
        encode_missing(
            self.tier, self._missing, self._cache,
            lambda share, left: self._tell(f"encoded {share * count:.0f} of {count} passages, {about(left)} left"),
        )  # fmt: skip
        writer = VectorWriter(self._folder, self.tier.full_name)
        for document in self._documents:
            if isinstance(document, _Texts):
                vectors = self._floats(self._cache.of(document.keys))
                if document.is_code:  # its vectors have where it is already
                    vectors = np.concatenate([np.zeros_like(vectors[:1]), mapped(vectors[1:])])
                writer.put(vectors[:1], document.specificity, vectors[1:])
            elif document:
                writer.copy(*document)
            else:
                writer.leave_out()
        writer.close()
        known = [document for document in self._documents if isinstance(document, _Texts)]
        kept = any(document for document in self._documents if not isinstance(document, _Texts))
        if self._effort.exclusive and not kept:  # otherwise not every text is known
            self._cache.keep(key for document in known for key in document.keys)

    def _floats(self, codes: bytes) -> Floats:
        size = self.tier.dimensions
        floats: Floats = np.frombuffer(codes, "i1").reshape(-1, size) * np.float32(quantised.step(size))
        return floats


def texts_of(entry: Entry, passages: Sequence[str]) -> list[str]:
    """Return the texts of a document that are encoded."""
    return [spelled_out(subject(entry)), *passages]


def encode_missing(
    tier: Tier, missing: Mapping[bytes, str], vectors: VectorCache, show: Callable[[float, float], None]
) -> None:
    """Encode texts in their order, those that the model reads as the same only once; an interruption loses little.

    `show` receives the share that is done and the seconds left at the rate so far; texts differ in length.
    """
    same: dict[str, list[bytes]] = {}
    for key, text in missing.items():
        same.setdefault(read_by(tier, text), []).append(key)
    texts, sizes, wide = list(same), [*map(_size, same)], tier.dimensions
    began, done, of = time.monotonic(), 0, sum(sizes)
    for start in range(0, len(texts), BATCH):
        batch = texts[start : start + BATCH]
        codes = quantised.quantised(encoded_by(tier, batch, most=len(texts)))
        pairs = [(key, codes[at * wide : (at + 1) * wide]) for at, text in enumerate(batch) for key in same[text]]
        vectors.add([key for key, _ in pairs], b"".join([code for _, code in pairs]))
        done += sum(sizes[start : start + BATCH])
        if done < of:
            show(done / of, (time.monotonic() - began) / done * (of - done))


def _size(text: str) -> int:
    """Return about what encoding a text costs, in characters."""
    return EVERY + min(len(text), LONGEST)
