"""Count the documents about each platform and topic, for what a person is offered to read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from deia.folders import STARTER_PREFIX
from deia.knowledge import Entry
from deia.match.tokeniser import fold

FEWEST, LONGEST = 2, 30  # documents, and characters of a name
MOST = 8  # documents, or in a large commons
WIDEST = 0.1  # of all documents: what so many are about is a subject of the commons as a whole, and no news
MOST_SHOWN = 200  # documents that a search returns at most (deia.search.pipeline)
PLATFORM, TAG = "platform", "tag"  # the filters of a search


def topics_of(entries: Iterable[Entry]) -> dict[str, tuple[str, int]]:
    """Return the rare platforms and tags, folded as filters are: which of both each is, and how many documents have it.

    The number is that of the documents that a search with that filter alone shows. A name that is both counts as what
    has more documents. Tags of the starter ("files", "branch") are everyday words elsewhere, and no topics.
    """
    listed = list(entries)
    own = [entry for entry in listed if not entry.path.startswith(STARTER_PREFIX)]
    platforms, tags, own_tags = (
        Counter(name for names in lists for name in {fold(name) for name in names})
        for lists in (
            [entry.platforms for entry in listed], [entry.tags for entry in listed], [entry.tags for entry in own]
        )
    )  # fmt: skip
    counted = {name: (TAG, count) for name, count in tags.items() if own_tags[name] >= FEWEST}
    counted |= {
        name: (PLATFORM, count) for name, count in platforms.items() if count >= counted.get(name, ("", FEWEST))[1]
    }
    most = min(MOST_SHOWN, max(MOST, WIDEST * len(listed)))
    return {
        name: (kind, count) for name, (kind, count) in sorted(counted.items())
        if count <= most and len(name) <= LONGEST and name.isascii() and name.isalnum()
    }  # fmt: skip
