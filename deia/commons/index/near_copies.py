"""Find documents that say nearly the same: a search shows only one of them at the top, and one of two goes stale."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from math import ceil

from deia.commons.index.load_commons import Commons
from deia.commons.source_files.findings import quote
from deia.problems import Problem

COPY = 0.8  # the share of words in common from which a document is a near copy, as in `deia.search.ranking.variety`
FEWEST = 20  # different words of a document that is compared
FIX = "Merge the two, or write `superseded_by:` with the id of the newer one into the older one."


def near_copies(commons: Commons) -> Iterator[Problem]:
    """Yield a warning for each document that has most of its words in common with an earlier one that still holds."""
    replaced = {entry.path for entry in commons.entries if entry.superseded_by}
    idents = {entry.path: entry.id for entry in commons.entries}
    words = {
        document.path: frozenset(document.text.casefold().split())
        for document in commons.documents
        if document.path in idents and document.path not in replaced
    }
    paths = sorted(path for path, own in words.items() if len(own) >= FEWEST)
    for at, earlier, share in _alike([words[path] for path in paths]):
        ident = quote(idents[paths[earlier]])
        found = f"The document shares {share:.0%} of its words with {ident}, so a search shows only one at the top."
        yield Problem(path=paths[at], line=0, found=found, fix=FIX, code="near-copy", severity="warning")


def _alike(texts: Sequence[frozenset[str]]) -> Iterator[tuple[int, int, float]]:
    """Yield each text that is a near copy of an earlier one, with the likest of these and the share in common."""
    # Two texts that share so much have one of their rarest words in common (prefix filtering: Chaudhuri, Ganti and
    # Kaushik, ICDE 2006), so that only such pairs are compared.
    counts = Counter(word for text in texts for word in text)
    by_word: dict[str, list[int]] = defaultdict(list)
    for at, text in enumerate(texts):
        rarest = sorted(text, key=lambda word: (counts[word], word))[: len(text) - ceil(COPY * len(text)) + 1]
        candidates = {other for word in rarest for other in by_word[word]}
        shares = {other: len(text & texts[other]) / len(text | texts[other]) for other in candidates}
        best = max(shares, key=lambda other: (shares[other], -other), default=-1)
        if best >= 0 and shares[best] >= COPY:
            yield at, best, shares[best]
        for word in rarest:
            by_word[word].append(at)
