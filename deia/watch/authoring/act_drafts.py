"""Drafting an `act` clause, and its cases, from a verb and an object that belong to known classes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from deia.fast_json import Json
from deia.records import Record

TYPICAL = 4  # words at the beginning of a class, for which it is named
ANY = 10**6  # all words of a class
MOST_PAIR = 2  # words of a noun that a class lists


class WordClasses(Record):
    """The classes of verbs and objects that `act` clauses name: the words of each, the most typical first."""

    verbs: Mapping[str, Sequence[str]] = {}
    nouns: Mapping[str, Sequence[str]] = {}
    own_verbs: Mapping[str, Sequence[str]] = {}  # what the commons adds, each of them typical


class KnownAct(Record):
    """An act whose verb and object belong to classes."""

    verb: str  # in its base form, with its particle
    object: str  # as somebody would say it
    do: tuple[str, ...]
    what: str
    where: str = ""  # the words before the object's head, which narrow it down: "events" of "events table"
    others: tuple[str, str] = ("", "")  # another verb and another noun of the same classes

    @property
    def clause(self) -> dict[str, Json]:
        """The conditions of the clause."""
        do: Json = self.do[0] if len(self.do) == 1 else list(self.do)
        return {"do": do, "what": self.what, **({"where": [self.where]} if self.where else {})}

    @property
    def fires(self) -> list[str]:
        """Sentences that must fire, with other words for the same act."""
        verb, noun = self.others
        narrowed = f"{self.where} {noun}".strip()
        texts = [f"I'm going to {self.verb} the {self.object}", f"please {self.verb} the {self.object}"]
        texts += [f"let me {verb} the {self.object}"] if verb else []
        return [*texts, f"can you {self.verb} our {narrowed}?"] if noun else texts

    @property
    def silent(self) -> list[str]:
        """Near misses: the same words, and another act or another object."""
        texts = [f"I'll look at the {self.object} before I go on", f"I'll {self.verb} the {self.object} icon"]
        return [*texts, f"I'll {self.verb} another {self.object.split()[-1]}"] if self.where else texts


def known_act(verbs: Sequence[str], object_words: Sequence[str], classes: WordClasses) -> KnownAct | None:
    """Return the act of these verbs on this object, or None if one of them belongs to no class."""
    verbs, object_words = _with_particle(verbs, object_words, classes)
    do = [
        _class_of(verb, classes.own_verbs, most=ANY) or _class_of(verb, classes.verbs, most=TYPICAL) for verb in verbs
    ]
    size, what = _class_of_object(object_words, classes)
    if not (what and do and all(do)):
        return None
    head, before = " ".join(object_words[-size:]), object_words[:-size]
    if size == MOST_PAIR and object_words[-1] in classes.nouns[what]:
        before = object_words[:-1]  # "netlify site": the site alone is of the class, too
    return KnownAct(
        verb=verbs[0], object=" ".join(object_words), do=tuple(dict.fromkeys(do)), what=what, where=" ".join(before),
        others=(_other(verbs, classes.verbs[do[0]]), _other([head, object_words[-1]], classes.nouns[what])),
    )  # fmt: skip


def _with_particle(
    verbs: Sequence[str], object_words: Sequence[str], classes: WordClasses
) -> tuple[Sequence[str], Sequence[str]]:
    """Return the verbs and the object, with a particle that stands at an end of the object joined to its verb."""
    for particle, rest in ((object_words[:1], object_words[1:]), (object_words[-1:], object_words[:-1])):
        phrasal = " ".join((*verbs, *particle))
        if len(verbs) == 1 and rest and _class_of(phrasal, classes.verbs, most=ANY):
            return [phrasal], rest
    return verbs, object_words


def _class_of_object(object_words: Sequence[str], classes: WordClasses) -> tuple[int, str]:
    """Return how many words at the end of an object are a noun of a class, and that class."""
    for size in range(min(MOST_PAIR, len(object_words)), 0, -1):
        what = _class_of(" ".join(object_words[-size:]), classes.nouns, most=ANY)
        if what:
            return size, what
    return 0, ""


def _class_of(word: str, classes: Mapping[str, Sequence[str]], *, most: int) -> str:
    """Return the class that lists a word nearest to its beginning, among its first `most` words, or ""."""
    places = [(members.index(word), name) for name, members in classes.items() if word in members[:most]]
    return min(places)[1] if places else ""


def _other(excluded: Sequence[str], members: Sequence[str]) -> str:
    return next((word for word in members if word not in excluded), "")
