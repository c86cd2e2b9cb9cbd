"""Verbs in other forms and names in other case, by spaCy's matchers and the tables of its lemmatizer (extra `nlp`).

Patterns only know the forms of a table: "uses", "is used by". The matchers also find "is publishing to", "has
replaced", "has been replaced by", and `kafka` as a name if the text has `Kafka` elsewhere. No trained model is used.
"""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterable, Iterator
from typing import Any

from deia.graph.extractor import has_word_forms

SHORTEST_NAME = 4
MARKS = ("ing", " has ", " have ", " been ")  # one of these is in every text that the matchers find
DONE = "(ed|en|t|wn|ght)$"
BE, HAVE = ("is", "are"), ("has", "have")


class WordForms:
    """The matchers for the verbs of some phrases, such as `publishes to` and `is used by`."""

    def __init__(self, phrases: Iterable[str], adverbs: Collection[str]) -> None:
        import spacy  # noqa: PLC0415 - takes a second; only prose needs it, where it is installed
        from spacy.matcher import Matcher  # noqa: PLC0415 - likewise

        self._nlp = spacy.blank("en")
        self._nlp.add_pipe("lemmatizer", config={"mode": "lookup"})
        self._nlp.initialize()
        self._matcher = Matcher(self._nlp.vocab)
        for phrase in phrases:
            for pattern in self._patterns(phrase, sorted(adverbs)):
                self._matcher.add(phrase, [pattern])

    def _patterns(self, phrase: str, adverbs: list[str]) -> Iterator[list[dict[str, Any]]]:
        """Yield the token patterns of a phrase: its progressive and its perfect, or for a passive only the perfect."""
        words = self._nlp(phrase)
        is_passive = words[0].lower_ in BE
        verb, *rest = words[1:] if is_passive else words
        between: dict[str, Any] = {"LOWER": {"IN": adverbs}, "OP": "*"}
        after = [{"LOWER": word.lower_} for word in rest]
        lemma = verb.lemma_
        for participle in ({"LEMMA": lemma, "LOWER": {"REGEX": DONE}}, {"LOWER": {"IN": [f"{lemma}ed", f"{lemma}d"]}}):
            if is_passive:
                yield [{"LOWER": {"IN": HAVE}}, between, {"LOWER": "been"}, between, participle, *after]
            else:
                yield [{"LOWER": {"IN": HAVE}}, between, participle, *after]
        progressive = [f"{lemma}ing", f"{lemma.removesuffix('e')}ing", f"{lemma}{lemma[-1]}ing"]
        if not is_passive:
            yield [{"LOWER": {"IN": BE}}, between, {"LOWER": {"IN": progressive}}, *after]

    def verbs_in(self, clause: str) -> Iterator[tuple[int, int, str]]:
        """Yield the start and end of each phrase in another form, with that phrase; the longest first."""
        if not any(mark in clause for mark in MARKS):
            return
        words = self._nlp(clause)
        for phrase_id, first, end in sorted(self._matcher(words), key=lambda match: match[1] - match[2]):
            span = words[first:end]
            yield span.start_char, span.end_char, self._nlp.vocab.strings[phrase_id]

    def in_one_spelling(self, text: str, names: Iterable[str]) -> str:
        """Return a text with `names` spelled alike throughout; names that are also English words stay as they are."""
        from spacy.matcher import PhraseMatcher  # noqa: PLC0415 - as above

        known = {name.lower(): name for name in names if len(name) >= SHORTEST_NAME and not name.islower()}
        lemmatizer: Any = self._nlp.get_pipe("lemmatizer")
        words = lemmatizer.lookups.get_table("lemma_lookup")
        english = {*words, *words.values()}
        rare = [name for name in known if name not in english and name.isascii()]
        matcher = PhraseMatcher(self._nlp.vocab, attr="LOWER")
        matcher.add("name", [self._nlp.make_doc(name) for name in rare])
        doc = self._nlp.make_doc(text)
        pieces, at = [], 0
        for _, first, end in matcher(doc):
            span = doc[first:end]
            if span.start_char >= at and span.text.islower():
                pieces += [text[at : span.start_char], known[span.text.lower()]]
                at = span.end_char
        return "".join([*pieces, text[at:]])


@functools.cache
def word_forms(phrases: tuple[str, ...], adverbs: frozenset[str]) -> WordForms | None:
    """Return the matchers for some phrases, or None if spaCy or its tables are not installed."""
    return WordForms(phrases, adverbs) if has_word_forms() else None
