"""Documents that no longer hold: superseded by another, or past the last day on which they do."""

from __future__ import annotations

from deia.knowledge import Entry
from deia.records import TYPE_CHECKING
from deia.text import no_longer_holding

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from deia.search.catalog import Catalog
    from deia.search.ranking.rank import Ranked

OUTDATED = 0.5  # of its score, for a document that no longer holds


def outdated(entry: Entry, today: str) -> str:
    """Return why a document no longer holds, or ""; `today` is as 2026-01-31, or "" if nobody knows."""
    return no_longer_holding(entry.superseded_by, entry.valid_until, today)


def outdated_notes(entries: Iterable[Entry], today: str) -> list[str]:
    """Return a sentence about each document that no longer holds, without a full stop."""
    reasons = {entry.title: outdated(entry, today) for entry in entries}
    return [f"{title} is {reason}" for title, reason in reasons.items() if reason]


def outdated_last(catalog: Catalog, ranked: Sequence[Ranked], today: str) -> list[Ranked]:
    """Return documents with those that no longer hold at a lower score, after those that do."""
    judged = [
        document.but(score=OUTDATED * document.score)
        if outdated(catalog.document_at(document.number).entry, today)
        else document
        for document in ranked
    ]
    return sorted(judged, key=lambda document: -document.score)
