"""The words of a commons: those that each document names itself by, those in its texts, and how common they are.

Built once for all drafts. How common a word is elsewhere is learned from sentences about other things, such as the
ordinary talk in `deia/models/background.txt` (made by tools/background.py), in which nobody asks for a lesson.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cache

from rapidfuzz.distance import OSA

from deia.commons.index.load_commons import Commons
from deia.files import read
from deia.folders import MODELS
from deia.knowledge import Entry, Trigger
from deia.ledger.warehouse_schema import SMALL_WORDS
from deia.match.keyword import analyser
from deia.match.spelling import edits_allowed
from deia.match.tokeniser import question_words, terms
from deia.problems import CommonsError

NAMING = ("title", "keywords", "tags", "platforms", "id")  # fields that name a document
DESCRIBING = ("summary", "category")
WRITTEN = ("title", "tags", "platforms", "id", *DESCRIBING)
COMMON_HERE = 0.1  # of the documents; a word in the names of more of them distinguishes none
COMMON_ANYWHERE = 0.04  # of the sentences about other things
FILE = "background.txt"


@cache
def bags() -> tuple[str, ...]:
    """Return the pieces of ordinary talk that came with deia, each as its sorted words."""
    place = f"{MODELS}/{FILE}"
    content = read(place)
    if content is None:
        fix = "Install deia again: its background of ordinary talk is missing."
        raise CommonsError("nothing can be learned", where=place, fix=fix)
    return tuple(content.decode("utf-8", "replace").splitlines())


class Vocabulary:
    """The words of a commons, as stems; `own` are the ids of the documents and triggers that may be changed."""

    def __init__(self, commons: Commons, *, own: frozenset[str], elsewhere: Iterable[str] = ()) -> None:
        """Index every word once; `elsewhere` are sentences about other things."""
        self._stemmer = analyser()
        self.commons = commons
        self.entries: Mapping[str, Entry] = {entry.id: entry for entry in reversed(commons.entries)}
        self.triggers: Mapping[str, Trigger] = {trigger.id: trigger for trigger in commons.triggers}
        self.own = own
        texts = {document.path: document.text for document in commons.documents}
        entries = self.entries.values()
        self.names = {entry.id: frozenset(self.stems(_field_texts(entry, NAMING))) for entry in entries}
        contents = {
            entry.id: self.names[entry.id]
            | frozenset(self.stems(f"{_field_texts(entry, DESCRIBING)}\n{texts.get(entry.path, '')}"))
            for entry in entries
        }
        self.document_counts = Counter(stem for stems in contents.values() for stem in stems)
        self._keyword_documents = self._documents_by_keyword(commons)
        self._written = {
            stem
            for entry in entries
            for stem in self.stems(f"{_field_texts(entry, WRITTEN)}\n{texts.get(entry.path, '')}")
        }
        self.synonyms_by_stem = self._other_words(commons)
        self.name_counts = Counter(stem for stems in self.names.values() for stem in stems)
        self._spellings = self._spelling_by_stem(_field_texts(entry, NAMING) for entry in entries)
        sentences = list(elsewhere)
        self._sentences = max(1, len(sentences))
        self._elsewhere = Counter(stem for text in sentences for stem in set(self._stemmer.analyze(text)))

    def stems(self, text: str) -> list[str]:
        """Return the stems of a text, as in the search index."""
        stems: list[str] = self._stemmer.analyze(" ".join(terms(text)))
        return stems

    def words_by_stem(self, text: str) -> dict[str, str]:
        """Return the meaningful words of a question by their stems; of names, the parts."""
        parts = [part for word in question_words(text) for part in (word[1:] or word)]
        kept = [part for part in parts if part not in SMALL_WORDS and len(part) > 1 and not part.isdecimal()]
        return dict(zip(self._stemmer.analyze(" ".join(kept)), kept, strict=True)) if kept else {}

    def is_written(self, stem: str) -> bool:
        """Return whether a word occurs in a text or title here, rather than only as a keyword."""
        return stem in self._written

    def documents_with_keyword(self, stem: str) -> Mapping[str, tuple[str, ...]]:
        """Return the documents that have a word as a keyword on its own, with its spellings there."""
        return self._keyword_documents.get(stem, {})

    def synonyms(self, stem: str) -> frozenset[str]:
        """Return the words that share a concept of the index with a word."""
        return self.synonyms_by_stem.get(stem, frozenset())

    def spelling(self, stem: str) -> str:
        """Return a stem as the commons spells it."""
        return self._spellings.get(stem, stem)

    def is_common(self, stem: str) -> bool:
        """Return whether a word is too common to distinguish documents, here or anywhere."""
        here = self.name_counts[stem] > max(1.0, COMMON_HERE * len(self.entries))
        return here or self._elsewhere[stem] > COMMON_ANYWHERE * self._sentences

    def is_misspelt(self, stem: str) -> bool:
        """Return whether a word that does not occur here is a slip for one that does."""
        most = edits_allowed(len(stem))
        if not most or self.document_counts[stem]:
            return False
        near = (known for known in self.document_counts if abs(len(known) - len(stem)) <= most)
        return any(OSA.distance(stem, known, score_cutoff=most) <= most for known in near)

    def _documents_by_keyword(self, commons: Commons) -> dict[str, dict[str, tuple[str, ...]]]:
        """Return, by stem, the documents with that keyword and its spellings."""
        documents: dict[str, dict[str, tuple[str, ...]]] = {}
        for entry in commons.entries:
            for word in entry.keywords:
                stems = self.stems(word)
                if len(stems) == 1:
                    by_document = documents.setdefault(stems[0], {})
                    by_document[entry.id] = (*by_document.get(entry.id, ()), word)
        return documents

    def _other_words(self, commons: Commons) -> dict[str, frozenset[str]]:
        """Return, by stem, the other single words of its concepts."""
        synonyms: dict[str, frozenset[str]] = {}
        for concept in commons.concepts:
            single = {stems[0] for word in concept.words if len(stems := self.stems(word)) == 1}
            for stem in single:
                synonyms[stem] = synonyms.get(stem, frozenset()) | (single - {stem})
        return synonyms

    def _spelling_by_stem(self, texts: Iterable[str]) -> dict[str, str]:
        """Return, by stem, its most frequent spelling."""
        counted = Counter(word for text in texts for word in terms(text))
        words = [word for word, _ in counted.most_common()]
        pairs = zip(self._stemmer.analyze(" ".join(words)), words, strict=True)
        return dict(reversed(list(pairs)))


def _field_texts(entry: Entry, names: Iterable[str]) -> str:
    values = (getattr(entry, name) for name in names)
    return " | ".join(value if isinstance(value, str) else " | ".join(value) for value in values)
