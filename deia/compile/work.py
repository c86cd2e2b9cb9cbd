"""What a compile has to do: which tiers to make, for whom, and whether to make everything again."""

from __future__ import annotations

import sys

from deia.compile.catalog.effort import ASIDE_LIMIT, BACKGROUND_LIMIT, DEFAULT_LIMIT, TIER, Effort
from deia.compile.manifest import Manifest
from deia.match.tiers import TRANSFORMER
from deia.records import Record

SENTENCE_TRANSFORMERS = "sentence_transformers"


class Work(Record):
    """What a compile has to do: which tier to make, whether somebody waits, whether to make everything again."""

    tier: str
    model: str
    requested: bool
    aside: bool
    force: bool
    collections: tuple[str, ...] = ()

    @property
    def tiers(self) -> tuple[str, ...]:
        """The tiers to write; word vectors cost next to nothing, and searches fall back on them.

        A model of the person's own takes seconds to load, so a compile in the background uses it only if it is loaded.
        """
        if self.tier == TRANSFORMER:
            is_available = self.requested or SENTENCE_TRANSFORMERS in sys.modules
            return ("static", f"{TRANSFORMER}:{self.model}") if is_available else ("static",)
        return ("static", TIER) if self.tier in ("auto", TIER) else ("static",)

    @property
    def limit(self) -> int:
        """How many texts may be encoded."""
        if not self.requested:
            return ASIDE_LIMIT if self.aside else BACKGROUND_LIMIT
        return Effort().limit if self.tier in (TIER, TRANSFORMER) else DEFAULT_LIMIT

    def is_satisfied(self, manifest: Manifest) -> bool:
        """Return whether the catalog of a manifest has the wanted tiers, or as many as this compile would make."""
        lacking = set(self.tiers) - set(manifest.tiers)
        is_wanted = self.requested or self.aside
        return not lacking or not is_wanted or (manifest.left_out and self.tier == "auto")
