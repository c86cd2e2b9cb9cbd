"""The nearest passages from an engine outside of the catalog, for as long as it answers and has the catalog's state.

If it does not, the catalog answers and the answer says why. An engine that was away is left alone for a while, so that
not every question waits for it.
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from deia.engines.engine import Engine, EngineError, Near, space_of
from deia.engines.opening import open_engine
from deia.match.keyword import key

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from deia.search.catalog import Catalog

AWAY = 15.0  # seconds for which an engine that did not answer is not asked again
NAMED, STATED = 16, 24  # characters of the name of a library's catalog that say whose it is, and of what state


class EngineVectors:
    """The engine that a person set, as the catalog of a library asks it."""

    def __init__(self, address: str) -> None:
        self.remark = ""
        self._address = address
        self._engines: dict[str, Engine] = {}
        self._away_until = 0.0

    def near(
        self, catalog: Catalog, tier: str, vector: Sequence[float], documents: Collection[int] | None, *, most: int
    ) -> list[int] | None:
        """Return the passages nearest to a vector, of some documents or of all; None if the engine cannot answer."""
        if time.monotonic() < self._away_until:
            return None
        among = None if documents is None else [key(catalog.id(number)) for number in documents]
        state = state_of(catalog, tier)
        try:
            engine = self._engine(catalog, tier)
            nearest = engine.search(vector, limit=most, among=among, state=state)
            has_other_state = not nearest and engine.state() != state
        except EngineError:
            self._leave("the engine does not answer; to see why, type: deia engine status")
            return None
        if has_other_state:
            self._leave("the engine does not have its state yet; type: deia engine copy")
            return None
        self.remark = ""
        passages = (_passage(catalog, tier, near) for near in nearest)
        return [passage for passage in passages if passage is not None]

    def _engine(self, catalog: Catalog, tier: str) -> Engine:
        if tier not in self._engines:
            self._engines[tier] = opened(self._address, catalog, tier)
        return self._engines[tier]

    def _leave(self, reason: str) -> None:
        """Say why the catalog answers, without the address, since whoever asks may be far away."""
        self.remark = f"the catalog answered, since {reason}"
        self._away_until = time.monotonic() + AWAY
        for engine in self._engines.values():
            engine.close()
        self._engines.clear()


def _passage(catalog: Catalog, tier: str, near: Near) -> int | None:
    """Return the number of a passage; None if the catalog has no such passage, whatever the engine says."""
    number, vectors = catalog.keyword.number(near.document), catalog.vectors(tier)
    if number is None:
        return None
    first, end = vectors.passage(number, 0), vectors.passage(number + 1, 0)
    return first + near.ordinal if 0 <= near.ordinal < end - first else None


def opened(address: str, catalog: Catalog, tier: str) -> Engine:
    """Open the space of a tier of a library's catalog; raise EngineError if the engine is away."""
    stored = catalog.tiers[tier]
    library = os.path.basename(catalog.folder)[:NAMED]
    return open_engine(address, space_of(library, stored.digest), stored.dimensions)


def state_of(catalog: Catalog, tier: str) -> str:
    """Return what an engine must have to answer for a catalog: the library's state, and the tier's models."""
    stored = catalog.tiers[tier]
    return f"{os.path.basename(catalog.folder)[:STATED]} {stored.digest[:16]} {stored.code[:16]}".rstrip()
