"""The commons in its own words: what each document calls itself, which words anybody here uses, and how rare they are.

Built once for all drafts. Refuses to judge a word by itself: how ordinary it is elsewhere is told from outside.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from rapidfuzz.distance import OSA

from deia.commons.index.load_commons import Commons
from deia.knowledge import Entry, Trigger
from deia.ledger.gaps import SMALL_WORDS
from deia.match.keyword import analyser
from deia.match.spelling import edits_allowed
from deia.match.tokeniser import question_words, terms

NAMING = ("title", "keywords", "tags", "platforms", "id")  # fields by which a document is called
TOLD = ("summary", "category")
WRITTEN = ("title", "tags", "platforms", "id", *TOLD)
COMMON_HERE = 0.1  # of the documents: a word by which more of them are called tells none apart
COMMON_ANYWHERE = 0.04  # of sentences about other things


class Shelf:
    """The words of a commons; `own` are the documents and triggers that may be changed."""

    def __init__(self, commons: Commons, *, own: frozenset[str], elsewhere: Iterable[str] = ()) -> None:
        """Read every word once; `elsewhere` are sentences about other things, as words."""
        self._stemmer = analyser()
        self.commons = commons
        self.entries: Mapping[str, Entry] = {entry.id: entry for entry in reversed(commons.entries)}
        self.triggers: Mapping[str, Trigger] = {trigger.id: trigger for trigger in commons.triggers}
        self.own = own
        texts = {document.path: document.text for document in commons.documents}
        self.named = {one.id: frozenset(self.stems(_said(one, NAMING))) for one in self.entries.values()}
        held = {
            one.id: self.named[one.id] | frozenset(self.stems(f"{_said(one, TOLD)}\n{texts.get(one.path, '')}"))
            for one in self.entries.values()
        }
        self.known = Counter(stem for stems in held.values() for stem in stems)
        self._called = self._given(commons)
        self._written = {
            stem
            for one in self.entries.values()
            for stem in self.stems(f"{_said(one, WRITTEN)}\n{texts.get(one.path, '')}")
        }
        self._linked = self._concepts(commons)
        self.naming = Counter(stem for stems in self.named.values() for stem in stems)
        self._shown = self._forms(_said(one, NAMING) for one in self.entries.values())
        sentences = list(elsewhere)
        self._sentences = max(1, len(sentences))
        self._elsewhere = Counter(stem for one in sentences for stem in set(self._stemmer.analyze(one)))

    def stems(self, text: str) -> list[str]:
        """Give the stems of a text as the index has them."""
        found: list[str] = self._stemmer.analyze(" ".join(terms(text)))
        return found

    def told(self, text: str) -> dict[str, str]:
        """Give the words of a question that say something, by their stems; of names, the parts."""
        parts = [part for word in question_words(text) for part in (word[1:] or word)]
        kept = [part for part in parts if part not in SMALL_WORDS and len(part) > 1 and not part.isdecimal()]
        return dict(zip(self._stemmer.analyze(" ".join(kept)), kept, strict=True)) if kept else {}

    def is_written(self, stem: str) -> bool:
        """Say whether a word stands in any text or title here, rather than nowhere or in keywords alone."""
        return stem in self._written

    def called(self, stem: str) -> Mapping[str, tuple[str, ...]]:
        """Give the documents that have a word as a keyword of its own, each with how it is spelled there."""
        return self._called.get(stem, {})

    def linked(self, stem: str) -> frozenset[str]:
        """Give the words that the index says mean the same as one."""
        return self._linked.get(stem, frozenset())

    def linked_words(self) -> Iterable[str]:
        """Give the words that the index gives others for."""
        return self._linked.keys()

    def form(self, stem: str) -> str:
        """Give a stem as the commons writes it."""
        return self._shown.get(stem, stem)

    def is_common(self, stem: str) -> bool:
        """Say whether a word tells nothing apart: here, or anywhere."""
        here = self.naming[stem] > max(1.0, COMMON_HERE * len(self.entries))
        return here or self._elsewhere[stem] > COMMON_ANYWHERE * self._sentences

    def is_misspelt(self, stem: str) -> bool:
        """Say whether a word that nobody here uses is a slip for one that somebody does."""
        most = edits_allowed(len(stem))
        near = (one for one in self.known if abs(len(one) - len(stem)) <= most)
        return bool(most) and not self.known[stem] and any(OSA.distance(stem, one, score_cutoff=most) <= most
                                                          for one in near)  # fmt: skip

    def _given(self, commons: Commons) -> dict[str, dict[str, tuple[str, ...]]]:
        found: dict[str, dict[str, tuple[str, ...]]] = {}
        for one in commons.entries:
            for word in one.keywords:
                stems = self.stems(word)
                if len(stems) == 1:
                    by_document = found.setdefault(stems[0], {})
                    by_document[one.id] = (*by_document.get(one.id, ()), word)
        return found

    def _concepts(self, commons: Commons) -> dict[str, frozenset[str]]:
        found: dict[str, frozenset[str]] = {}
        for concept in commons.concepts:
            single = {stems[0] for word in concept.words if len(stems := self.stems(word)) == 1}
            for stem in single:
                found[stem] = found.get(stem, frozenset()) | (single - {stem})
        return found

    def _forms(self, texts: Iterable[str]) -> dict[str, str]:
        counted = Counter(word for text in texts for word in terms(text))
        words = [word for word, _ in counted.most_common()]
        pairs = zip(self._stemmer.analyze(" ".join(words)), words, strict=True)
        return dict(reversed(list(pairs)))


def _said(entry: Entry, names: Iterable[str]) -> str:
    values = (getattr(entry, name) for name in names)
    return " | ".join(value if isinstance(value, str) else " | ".join(value) for value in values)
