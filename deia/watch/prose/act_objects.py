"""The object of a verb in a sentence: its head, the class of that, and the words around it."""

from __future__ import annotations

from deia.records import TYPE_CHECKING, Record
from deia.tables import Tables
from deia.watch.prose.regions import BREAK

if TYPE_CHECKING:
    from collections.abc import Sequence

    from deia.watch.compiled_trigger import ActWords
    from deia.watch.prose.phrases import Token

TABLES = Tables(__file__)
ADVERBS = TABLES.words("adverbs")
NO_ADVERBS = TABLES.words("no adverbs")
SOURCE_ENDINGS = TABLES.words("source endings")
SOURCE_THINGS = TABLES.words("source things")
DETERMINERS = TABLES.words("determiners")
QUANTIFIERS = TABLES.words("quantifiers")
PRONOUNS = TABLES.words("pronouns")
ALWAYS_PRONOUNS = frozenset(("it", "them"))
PARTICLES = frozenset(("up", "out", "off", "away", "down", "back"))
SEEN_THROUGH = TABLES.words("seen through")
SEEING = frozenset(("of", "in", "from", "about"))
PREPOSITIONS = TABLES.words("prepositions")
CLAUSE_WORDS = TABLES.words("clause words")
FINITE_VERBS = TABLES.words("finite verbs")
ENDS = PREPOSITIONS | PARTICLES | FINITE_VERBS | ADVERBS | {BREAK, "of", "i", "we", "you", "he", "she", "they", "not"}
COORDINATORS = frozenset(("and", "or", "then"))
APOSTROPHES = "'\u2019"
CLAUSE_MARKS = ",:;()\u2014\u2013"
JOINERS = frozenset("-_/.@#~+=\\:`")
PATH_SIGNS = "/._\\"
MOST_WORDS = 8  # of an object
BACK = 200  # characters before a pronoun in which its antecedent is looked for
MODIFIERS_BACK = 3  # words before an antecedent that may modify it


def is_adverb(word: str) -> bool:
    """Return whether a word may stand between a verb and its lead or object: `just`, `recursively`."""
    return word in ADVERBS or (word.endswith("ly") and word not in NO_ADVERBS)


class Thing(Record):
    """The object of a verb, as lower-case words, and the indexes of the tokens after it and after its clause."""

    head: str
    classes: frozenset[str]
    words: tuple[str, ...]  # the object in order, the head last
    modifiers: frozenset[str]
    places: frozenset[str]
    whole: bool
    after: int
    clause_end: int
    end: int  # position in the text


def is_joined(text: str, tokens: Sequence[Token], at: int) -> bool:
    """Return whether a token and the next belong to one name: `x_y.py`, `origin/main`, `force-push`."""
    if at + 1 >= len(tokens) or BREAK in {tokens[at][0], tokens[at + 1][0]}:
        return False
    gap = text[tokens[at][2] : tokens[at + 1][1]]
    return bool(gap) and JOINERS.issuperset(gap)


class ObjectReader:
    """Reads objects of verbs in one text, with the vocabulary of a commons."""

    __slots__ = ("text", "tokens", "vocabulary")

    def __init__(self, text: str, tokens: Sequence[Token], vocabulary: ActWords) -> None:
        self.text, self.tokens, self.vocabulary = text, tokens, vocabulary

    def read(self, at: int, end: int, *, particle: int = -1) -> Thing:
        """Return the object that begins at token `at`, of the verb before it, in the sentence up to token `end`.

        It ends before the token `particle`, if the verb has one there: "make the bucket public".
        """
        verb = at - 1
        at = self._skip_coordinated(self._skip_small(at, end), end)
        clause_end = self._clause_end(at, end)
        start, whole = self._skip_determiners(at, clause_end)
        after = self._noun_phrase_end(start, clause_end)
        if start < particle < after:
            after = particle
        if self._is_pronoun(at, after, clause_end):
            return self._antecedent(verb, at, clause_end)
        words = self._words(start, after)
        while after < clause_end and self.tokens[after][0] in SEEING and words and words[-1] in SEEN_THROUGH:
            whole = whole or words[-1] in QUANTIFIERS or words[-1] in {"everything", "contents", "content"}
            start, more = self._skip_determiners(after + 1, clause_end)
            after, whole = self._noun_phrase_end(start, clause_end), whole or more
            words = self._words(start, after)
        places = frozenset(self._words(after, clause_end))
        head, classes = self._head(start, after)
        last = self.tokens[after - 1][2] if after > start else self.tokens[verb][2]
        return Thing(
            head=head, classes=classes, words=words, modifiers=frozenset(words) - {head}, places=places, whole=whole,
            after=after, clause_end=clause_end, end=last,
        )  # fmt: skip

    def _skip_small(self, at: int, end: int) -> int:
        """Return the index after adverbs, particles and the "of" of "get rid of"."""
        while at < end and (is_adverb(self.tokens[at][0]) or self.tokens[at][0] in PARTICLES):
            at += 1
        return at + 1 if at < end and self.tokens[at][0] == "of" else at

    def _skip_coordinated(self, at: int, end: int) -> int:
        """Return the index after a second verb with the same object: "delete and recreate the site"."""
        verbs = self.vocabulary.verbs
        if at + 1 < end and self.tokens[at][0] in COORDINATORS:
            second = at + 2 if self.tokens[at + 1][0] == "then" else at + 1
            if second < end and (self.tokens[second][0] in verbs or self.tokens[second][0][:2] == "re"):
                return self._skip_small(second + 1, end)
        return at

    def mark_end(self, at: int, end: int) -> int:
        """Return the index after the last token before a mark such as a comma, or `end`."""
        for place in range(at, end):
            word, start, _ = self.tokens[place]
            if word == BREAK:
                return place
            gap = self.text[self.tokens[place - 1][2] : start] if place else ""
            if any(mark in gap for mark in CLAUSE_MARKS) and not is_joined(self.text, self.tokens, place - 1):
                return place
        return end

    def _clause_end(self, at: int, end: int) -> int:
        """Return the index after the last token of the clause: before a mark or a word that begins another clause."""
        end = self.mark_end(at, end)
        for place in range(at + 1, end):
            word = self.tokens[place][0]
            if word in CLAUSE_WORDS and (word not in {"and", "or"} or self._begins_clause(place + 1, end)):
                return place
        return end

    def _begins_clause(self, at: int, end: int) -> bool:
        """Return whether a verb or a subject follows "and", rather than a second object."""
        if at >= end:
            return True
        word = self.tokens[at][0]
        return word in self.vocabulary.verbs or word in ENDS or word in ALWAYS_PRONOUNS

    def _skip_determiners(self, at: int, end: int) -> tuple[int, bool]:
        """Return the index after determiners, and whether one of them is a quantifier."""
        whole = False
        while at < end and (self.tokens[at][0] in DETERMINERS or self.tokens[at][0] in QUANTIFIERS - SEEN_THROUGH):
            whole = whole or self.tokens[at][0] in QUANTIFIERS
            at += 1
            if at < end and self.tokens[at][0] == "of":
                at += 1
        return at, whole

    def _noun_phrase_end(self, start: int, end: int) -> int:
        """Return the index after the noun phrase that begins at `start`.

        An adverb or a comparison after it does not belong to it: "the orders older than a year".
        """
        after = min(end, start + MOST_WORDS)
        for place in range(start, after):
            if self.tokens[place][0] in ENDS and not self._in_name(place, start):
                after = place
                break
        if after > start + 1 and after < end and self.tokens[after][0] == "than":
            after -= 1
        while after > start + 1 and is_adverb(self.tokens[after - 1][0]):
            after -= 1
        return after

    def _in_name(self, place: int, start: int) -> bool:
        """Return whether a word is part of a name: the `in` of `built-in`, the `is` of `is_admin`."""
        return is_joined(self.text, self.tokens, place) or (
            place > start and is_joined(self.text, self.tokens, place - 1)
        )

    def _is_pronoun(self, at: int, after: int, end: int) -> bool:
        if at >= end or self.tokens[at][0] not in PRONOUNS:
            return False
        if self.tokens[at][0] in ALWAYS_PRONOUNS:
            return True
        return after <= at + 1 and not (after < end and self.tokens[after][0] in SEEING)

    def _words(self, start: int, after: int) -> tuple[str, ...]:
        """Return the words of a part of the text, without the "s" of possessives."""
        return tuple(
            word
            for word, begin, _ in self.tokens[start:after]
            if not (word == "s" and self.text[begin - 1 : begin] in APOSTROPHES)
        )

    def _head(self, start: int, after: int) -> tuple[str, frozenset[str]]:
        """Return the head of the noun phrase between two indexes, and its classes."""
        while after - start > 1 and self.tokens[after - 1][0].isdigit() and not self._in_name(after - 1, start):
            after -= 1  # "migration 0003"
        words = self._words(start, after)
        if not words:  # nothing, or only the "s" of a possessive
            return "", frozenset()
        name = after - 1
        while name > start and is_joined(self.text, self.tokens, name - 1):
            name -= 1
        if name < after - 1 and any(
            sign in self.text[self.tokens[name][1] : self.tokens[after - 1][2]] for sign in PATH_SIGNS
        ):
            return words[-1], self._classes_of_name(words[-(after - name) :], words[: -(after - name)])
        return words[-1], self._classes(words)

    def _classes(self, words: Sequence[str]) -> frozenset[str]:
        """Return the classes of the last of these words, or of the two last; a vessel takes its modifier's."""
        classes = self._own_classes(words)
        if words[-1] in self.vocabulary.vessels and len(words) > 1:
            classes |= self._classes(words[:-1])
        return classes

    def _own_classes(self, words: Sequence[str]) -> frozenset[str]:
        nouns = self.vocabulary.nouns
        pair = nouns.get(" ".join(words[-2:])) if len(words) > 1 else None
        return frozenset((pair if pair is not None else nouns.get(words[-1], "")).split())

    def _classes_of_name(self, parts: Sequence[str], modifiers: Sequence[str]) -> frozenset[str]:
        """Return the classes of a name or path: those of its last part that has any, or of the words before it."""
        is_source = len(parts) > 1 and parts[-1] in SOURCE_ENDINGS
        for at in range(len(parts), 0, -1):
            classes = self._own_classes(parts[:at])
            if is_source:  # "db.py" is no database, but "test_db.py" is a test
                classes = frozenset(name for name in classes if name.removeprefix("~") in SOURCE_THINGS)
            if classes:
                return classes
        return self._own_classes(modifiers) if modifiers else frozenset()

    def _antecedent(self, verb: int, at: int, clause_end: int) -> Thing:
        """Return the object that a pronoun at token `at` stands for: the nearest noun with a class before the verb."""
        pronoun, start, last = self.tokens[at]
        head, classes, modifiers = pronoun, frozenset[str](), frozenset[str]()
        for place in range(verb - 1, -1, -1):
            if self.tokens[place][2] < start - BACK:
                break
            word = self.tokens[place][0]
            if word in self.vocabulary.nouns and word not in self.vocabulary.vessels:
                classes, head = self._classes(self._words(max(place - 1, 0), place + 1)), word
                modifiers = frozenset(self._words(max(place - MODIFIERS_BACK, 0), place))
                break
        return Thing(
            head=head, classes=classes, words=(pronoun,), modifiers=modifiers,
            places=frozenset(self._words(at + 1, clause_end)), whole=pronoun in QUANTIFIERS, after=at + 1,
            clause_end=clause_end, end=last,
        )  # fmt: skip
