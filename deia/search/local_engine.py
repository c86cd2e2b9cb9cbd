"""The catalog as an engine: every answer can fall back on it, and other engines are copied from it.

Only compiling writes a catalog, so changes are refused.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING

from deia.engines.engine import EngineError, Near, Passage, Shelf, Stats
from deia.match.keyword import key
from deia.match.numerics import np
from deia.match.passage_vectors import decoded
from deia.match.tiers import open_tier

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from deia.search.catalog import Catalog

TIMES = 6  # passages chosen by their signs, per passage asked for, before they are compared exactly
FEWEST = 90  # passages that are compared exactly


class LocalEngine:
    """The vectors of one tier in an open catalog."""

    def __init__(self, catalog: Catalog, tier: str, *, state: str = "") -> None:
        """Open the vectors; raise ArtefactError if they are damaged."""
        self._catalog, self._state = catalog, state
        self._vectors = catalog.vectors(tier)
        self._tier = open_tier(":".join(filter(None, (tier, catalog.tiers[tier].model))))

    def upsert(self, shelves: Sequence[Shelf]) -> None:
        """Refuse: a catalog is compiled from its sources."""
        raise EngineError(f"a catalog cannot be given {len(shelves)} documents", fix="Type: deia ingest FOLDER")

    def delete(self, documents: Collection[str]) -> None:
        """Refuse, likewise."""
        raise EngineError(f"{len(documents)} documents stay, as their sources do", fix="Type: deia source remove NAME")

    def search(
        self, vector: Sequence[float], *, limit: int, among: Collection[str] | None = None, state: str = ""
    ) -> list[Near]:
        """Return the nearest passages of some or all documents, nearest first, or none if the state is another."""
        if state != self._state:
            return []
        numbers = {self._catalog.keyword.number(document) for document in among} if among is not None else None
        known = None if numbers is None else numbers - {None}
        most = max(FEWEST, TIMES * limit)
        passages = self._vectors.near(vector, most=most, among=known)  # type: ignore[arg-type] # no None is left
        cosines = self._tier.similarities(vector, self._vectors.passages(passages))
        best = sorted(zip(passages, cosines, strict=True), key=lambda pair: (-pair[1], pair[0]))[:limit]
        return [self._near(passage, cosine) for passage, cosine in best]

    def state(self) -> str:
        """Return the catalog's state."""
        return self._state

    def stats(self) -> Stats:
        """Return the number of documents, and of passages that have a vector."""
        counts = [len(shelf.passages) for shelf in self.shelves(self.marks())]
        return Stats(documents=len(counts), passages=sum(counts), state=self._state)

    def marks(self) -> Mapping[str, str]:
        """Return the mark of every document: a digest of its vectors and the model."""
        return {
            key(self._catalog.id(number)): self._mark(number)
            for number in range(self._catalog.numbers)
            if self._catalog.id(number)
        }

    def shelves(self, documents: Iterable[str]) -> Iterator[Shelf]:
        """Yield documents with their vectors; a passage of unknown words has none."""
        for document in documents:
            number = self._catalog.keyword.number(document)
            if number is None:
                continue
            codes = self._vectors.raw(range(number, number + 1)).codes
            rows = decoded(self._tier.model, np.frombuffer(codes, "u1").reshape(-1, self._vectors.dimensions))
            passages = [Passage(ordinal=at, vector=row.tolist()) for at, row in enumerate(rows) if row.any()]
            yield Shelf(document=document, mark=self._mark(number), passages=passages)

    def settle(self, state: str) -> None:
        """Do nothing: a catalog has only one state."""

    def close(self) -> None:
        """Do nothing: whoever opened the catalog keeps it."""

    def _mark(self, number: int) -> str:
        codes = self._vectors.raw(range(number, number + 1)).codes
        return blake2b(codes, digest_size=12, key=self._tier.digest.encode()[:64]).hexdigest()

    def _near(self, passage: int, cosine: float) -> Near:
        number, ordinal = self._vectors.place(passage)
        return Near(document=key(self._catalog.id(number)), ordinal=ordinal, cosine=cosine)
