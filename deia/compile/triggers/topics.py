"""Count the documents about each platform and topic, for what a person is offered to read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from deia.folders import STARTER_PREFIX
from deia.knowledge import Entry

FEWEST, LONGEST = 2, 30  # documents, and characters of a name
MOST = 8  # documents, or in a large commons
WIDEST = 0.1  # of all documents: what so many are about is a subject of the commons as a whole, and no news


def topics_of(entries: Iterable[Entry]) -> dict[str, int]:
    """Return how many documents there are about each platform and tag, in lower case, the rare ones.

    Tags of the starter ("files", "branch") are everyday words elsewhere, and no topics.
    """
    listed = list(entries)
    tags = ({*entry.tags} - {*entry.platforms} for entry in listed if not entry.path.startswith(STARTER_PREFIX))
    platforms = ({*entry.platforms} for entry in listed)
    counts = Counter(name.lower() for names in (*tags, *platforms) for name in names)
    most = max(MOST, WIDEST * len(listed))
    return {
        name: count for name, count in sorted(counts.items())
        if FEWEST <= count <= most and len(name) <= LONGEST and name.isascii() and name.isalnum()
    }  # fmt: skip
