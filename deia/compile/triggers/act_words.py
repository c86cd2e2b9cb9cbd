"""Compile the verbs and nouns of `act` clauses: their forms, each with its classes.

`act_words.txt` lists the classes, and a commons may add to them for its own triggers. A clause may name a class, or a
verb or noun, which then is a class of its own. A small thesaurus, too, says what people who build software use for one
another: spelling does not show that `nuke` means `delete`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache, lru_cache

from deia.compile.triggers.word_forms import forms
from deia.knowledge import OwnActWords
from deia.records import Record
from deia.tables import Tables
from deia.text import words
from deia.watch.compiled_trigger import ActWords, VerbForm, verb_text
from deia.watch.prose.acts import BASE, DOING

TABLES = Tables(__file__)
Classes = Mapping[str, tuple[str, ...]]  # words or phrases, by class
NO_WORDS = OwnActWords()
OF_WORDS = "_"  # between the words of a noun that is a class of its own: names of classes are kept in one text
ALIKE = "~"  # begins the name of a class of words that replace one another


@cache
def synonym_classes() -> tuple[list[str], list[str]]:
    """Return the classes of acts and those of things, each as a line of words."""
    return TABLES.lines("acts"), TABLES.lines("things")


@cache
def _synonyms() -> tuple[dict[str, frozenset[str]], dict[str, frozenset[str]]]:
    acts, things = synonym_classes()
    return _by_member(acts), _by_member(things)


def _by_member(lines: list[str]) -> dict[str, frozenset[str]]:
    """Return, for each form of each member, the members of all its classes in their base forms."""
    members_of: dict[str, frozenset[str]] = {}
    for line in lines:
        members = frozenset(line.split())
        for form in {form for member in members for form in _forms_of(member)}:
            members_of[form] = members_of.get(form, frozenset()) | members
    return members_of


@lru_cache(maxsize=5000)
def _forms_of(member: str) -> frozenset[str]:
    """Return the forms of a word; of `blow_away` those of the verb, each with the particle."""
    verb, mark, particle = member.partition("_")
    return frozenset(f"{form}{mark}{particle}" for form in forms(verb))


@lru_cache(maxsize=5000)
def replacements(word: str, *, act: bool) -> frozenset[str]:
    """Return the words that may replace a word as an act or as a thing, in their base forms, itself among them.

    The word may be inflected. Acts and things have separate classes: a verb has no replacements as a thing. A verb with
    a particle is two words, as argument and in the result: `blow away`.
    """
    members = _synonyms()[0 if act else 1].get(word.replace(" ", "_"), frozenset())
    return frozenset(member.replace("_", " ") for member in members)


class Vocabulary(Record):
    """The words that `act` clauses of a commons know, by their classes: what deia ships, and what the commons adds."""

    verbs: Classes
    objects: Classes
    vessels: tuple[str, ...]
    number: int = 0  # in the artefact; 0 for what deia ships


@lru_cache(maxsize=100)
def vocabulary(own: OwnActWords = NO_WORDS, *, number: int = 0) -> Vocabulary:
    """Return what deia ships and a commons adds."""
    return Vocabulary(
        verbs=_joined(verb_classes(), own.verbs),
        objects=_joined(object_classes(), own.objects),
        vessels=(*_split(" ".join(TABLES.lines("vessels"))), *own.vessels),
        number=number,
    )


def _joined(shipped: Classes, own: Iterable[tuple[str, tuple[str, ...]]]) -> Classes:
    return {**shipped, **{name: (*shipped.get(name, ()), *listed) for name, listed in own}}


@cache
def verb_classes() -> Classes:
    """Return the verbs and verbal phrases of each class."""
    return _classes(TABLES.pairs("verbs"))


@cache
def object_classes() -> Classes:
    """Return the nouns and pairs of nouns of each class."""
    return _classes(TABLES.pairs("nouns"))


def _classes(table: Mapping[str, str]) -> Classes:
    return {name: _split(value) for name, value in table.items()}


def _split(value: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(" ".join(words(item)) for item in value.split(",") if item.strip()))


def members(name: str, classes: Classes, *, act: bool) -> tuple[str, ...]:
    """Return the words of a class; a name that is no class is a word of its own."""
    if name.startswith(ALIKE):
        word = name.removeprefix(ALIKE)
        return (word, *sorted(replacements(word, act=act) - {word}))
    return classes.get(name) or (" ".join(words(name.replace(OF_WORDS, " "))),)


def act_words(do: Iterable[str], what: Iterable[str], known: Vocabulary | None = None) -> ActWords:
    """Return all verbs and nouns with their classes; `do` and `what` are the names of those that clauses use."""
    known = known or vocabulary()
    verbs = {**known.verbs, **{name: members(name, known.verbs, act=True) for name in do}}
    nouns = {**known.objects, **{name: members(name, known.objects, act=False) for name in what}}
    return ActWords(
        verbs=_verb_forms(verbs),
        nouns=_by_form(nouns),
        deeds=_by_form(_classes(TABLES.pairs("deeds"))),
        vessels=sorted({form for noun in known.vessels for form in noun_forms(noun)}),
    )


def _verb_forms(classes: Classes) -> dict[str, str]:
    """Return the forms of all verbs by their first word, those of more words first."""
    classes_of: dict[tuple[str, tuple[str, ...]], set[str]] = {}
    for name, verbs in classes.items():
        for form in (form for verb in verbs for form in verb_forms(verb)):
            classes_of.setdefault(form, set()).add(name)
    for (shape, long), names in classes_of.items():  # "throw away" is throwing to an exemplar
        shorter = [classes_of.get((shape, long[:size]), set()) for size in range(1, len(long))]
        names.update(name for name in set().union(*shorter) if name.startswith(ALIKE))
    by_word: dict[str, list[VerbForm]] = {}
    for (shape, (first, *rest)), names in sorted(classes_of.items(), key=lambda item: (-len(item[0][1]), item[0])):
        by_word.setdefault(first, []).append((shape, sorted(names), rest))
    return {word: verb_text(by_word[word]) for word in sorted(by_word)}


def verb_forms(verb: str) -> list[tuple[str, tuple[str, ...]]]:
    """Return a verb's base form and its -ing forms, each with its shape; of a phrase either end may be inflected."""
    first, *rest = verb.split()
    doing = [(DOING, (form, *rest)) for form in doing_forms(first)]
    if rest:
        doing += [(DOING, (first, *rest[:-1], form)) for form in doing_forms(rest[-1])]
    return [(BASE, (first, *rest)), *doing]


def doing_forms(verb: str) -> list[str]:
    """Return the -ing forms of a verb."""
    return sorted(form for form in forms(verb) if form.endswith("ing") and form != verb)


def noun_forms(noun: str) -> list[str]:
    """Return a noun and its plural; of a pair, the last word is inflected."""
    *before, last = noun.split()
    return [" ".join((*before, form)) for form in sorted(forms(last)) if form == last or form.endswith("s")]


def _by_form(classes: Classes) -> dict[str, str]:
    by_form: dict[str, set[str]] = {}
    for name, nouns in classes.items():
        for noun in nouns:
            for form in noun_forms(noun):
                by_form.setdefault(form, set()).add(name)
    for pair in [form for form in by_form if " " in form]:  # "kafka topic" is a topic to an exemplar
        of_last = by_form.get(pair.rpartition(" ")[2], set())
        by_form[pair] |= {name for name in of_last if name.startswith(ALIKE)}
    return {form: " ".join(sorted(names)) for form, names in sorted(by_form.items())}
