"""Find documents that say nearly the same: a search shows only one of them at the top, and one of two goes stale."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from math import ceil

from deia.commons.index.load_commons import Commons
from deia.commons.source_files.findings import quote
from deia.commons.source_files.outline import without_outline
from deia.problems import Problem
from deia.text import words

COPY = 0.8  # the share of words in common from which a document is a near copy, as in `deia.search.ranking.variety`
TINY = 1e-9
MOST_COMPARED = 50  # earlier texts with which a text is compared, so that many texts alike do not cost their square
FEWEST = 20  # different words of a document that is compared
FIX = "Merge the two, or write `superseded_by:` with the id of the newer one into the older one."


def near_copies(commons: Commons) -> Iterator[Problem]:
    """Yield a warning for each document that has most of its words in common with another one.

    A document that was replaced, or that holds only until some day, may say the same as its successor.
    """
    idents = {entry.path: entry.id for entry in commons.entries if not (entry.superseded_by or entry.valid_until)}
    texts = {document.path: without_outline(document.text) for document in commons.documents if document.path in idents}
    words_by_path = {path: frozenset(words(text)) for path, text in texts.items()}
    paths = sorted(path for path, own in words_by_path.items() if len(own) >= FEWEST)
    for at, earlier, share in _alike([words_by_path[path] for path in paths]):
        ident = quote(idents[paths[earlier]])
        message = f"The document shares {share:.0%} of its words with {ident}, so a search shows only one at the top."
        yield Problem(path=paths[at], line=0, found=message, fix=FIX, code="near-copy", severity="warning")


def _alike(texts: Sequence[frozenset[str]]) -> Iterator[tuple[int, int, float]]:
    """Yield the number of each near copy of an earlier text, that of the most similar one, and the share in common."""
    # Two texts that share so much have one of their rarest words in common, and most of these (prefix filtering:
    # Chaudhuri, Ganti and Kaushik, ICDE 2006), so that only such pairs are compared.
    counts = Counter(word for text in texts for word in text)
    by_word: dict[str, list[int]] = defaultdict(list)
    firsts: dict[frozenset[str], int] = {}
    for at, text in enumerate(texts):
        first = firsts.setdefault(text, at)
        if first != at:
            yield at, first, 1.0
            continue
        rarest = sorted(text, key=lambda word: (counts[word], word))[: _prefix(text)]
        shares = {}
        full_lists = sum(
            len(by_word[word]) >= MOST_COMPARED for word in rarest
        )  # of texts with the word, some are left out
        candidates = Counter(other for word in rarest for other in by_word[word])
        for other, common in candidates.most_common(MOST_COMPARED):
            both, left = len(text) + len(texts[other]), ceil(COPY * max(len(text), len(texts[other]))) - 1
            if common + left + full_lists >= COPY / (1 + COPY) * both - TINY:
                shared = len(text & texts[other])
                shares[other] = shared / (both - shared)
        best = max(shares, key=lambda other: (shares[other], -other), default=-1)
        if best >= 0 and shares[best] >= COPY:
            yield at, best, shares[best]
        for word in rarest:
            if len(by_word[word]) < MOST_COMPARED:
                by_word[word].append(at)


def _prefix(text: frozenset[str]) -> int:
    return len(text) - ceil(COPY * len(text)) + 1
