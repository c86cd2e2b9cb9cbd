"""Lower `act` and `meaning` clauses: the conditions on an act, and the words that the gate needs.

Each exemplar of a `meaning` clause is read as an act: `wipe the production database` asks for the verb `wipe`, or one
that replaces it, with an object `database`, or a noun that replaces it, in a sentence that names production. An
exemplar that names an act but nothing else matches nothing: it is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache, lru_cache
from itertools import combinations
from typing import Any, TypeAlias

from deia.compile.triggers.act_words import (
    ALIKE,
    OF_WORDS,
    Vocabulary,
    members,
    noun_forms,
    replacements,
    synonym_classes,
    verb_classes,
    verb_forms,
    vocabulary,
)
from deia.compile.triggers.gate_tables import Group, Lowered, Row
from deia.compile.triggers.word_forms import forms
from deia.tables import Tables
from deia.text import spans, words
from deia.watch.compiled_trigger import (
    CLASSES,
    FORMS,
    MEANING,
    OF_FORM,
    ActWords,
    CompiledAct,
    CompiledClause,
    verb_text,
)
from deia.watch.gate.word_gate import SAID
from deia.watch.prose.act_objects import CLAUSE_WORDS, DETERMINERS, PRONOUNS, QUANTIFIERS
from deia.watch.prose.acts import BASE, MOST_APART, frames
from deia.watch.prose.stance_names import DENIALS

PLAIN = str.maketrans(dict.fromkeys(FORMS + OF_FORM + CLASSES, " "))  # a verb of its own may have any sign
TABLES = Tables(__file__)
STOP_WORDS = TABLES.words("stop words")
PLACES = TABLES.words("places")  # which may never be missing
MOST_WORDS = 8  # of an exemplar that are looked for; further words are ignored
Act: TypeAlias = Mapping[str, Any]  # an `act` clause: the names of its parts, as checked when it was read
FEW = 2  # words beside verb and object that must all be there; of more, one may be missing


@lru_cache(maxsize=5000)
def exemplar_act(text: str) -> CompiledAct | None:
    """Return the conditions of an exemplar, or None if it names no act, or nothing beside its act."""
    verb = _verb(text)
    if not verb:
        return None
    first, *rest = verb.split()
    alone = ActWords(verbs={first: verb_text([(BASE, [verb], rest)])})
    frame = next(iter(frames(text, spans(text), alone)), None)  # as the watcher reads what somebody says
    if frame is None:
        return None
    head = frame.head if frame.head not in PRONOUNS | QUANTIFIERS else ""
    known = {head, *verb.split()}
    small = known | STOP_WORDS | (QUANTIFIERS - {"everyone"})  # "open it to everyone" is more than to open it
    others = [word for word in dict.fromkeys(words(text)) if word not in small]
    groups = [sorted(_alike(word)) for word in others[:MOST_WORDS] if len(word) > 1 and word not in PLACES]
    places = [sorted(_alike(word)) for word in others if word in PLACES]
    if head in STOP_WORDS - {""} or not (head or groups or places):
        return None
    required = combinations(groups, len(groups) - (len(groups) + len(places) > FEW))
    always = _marks(text, DENIALS) + ([] if frame.whole else _marks(text, QUANTIFIERS))
    conditions = [[*always, *places, *chosen] for chosen in required] if groups or always or places else []
    where = "how" if CLAUSE_WORDS.isdisjoint(words(text)[1:]) else "near"  # "… so that the build passes"
    return CompiledAct(do=[ALIKE + verb], what=[ALIKE + head] if head else [], whole=frame.whole, **{where: conditions})


def _marks(text: str, marks: frozenset[str]) -> list[list[str]]:
    """Return a group of these words if an exemplar has one: `commit without the hooks` matches only denials."""
    return [sorted(marks)] if marks.intersection(words(text)) else []


def _verb(text: str) -> str:
    """Return the verb that an exemplar begins with, with its particle, in the base form; "" if there is none.

    For `let redis evict keys` that is `evict`; for `force-delete the branch` it is both words.
    """
    tokens = words(text)
    if tokens[:1] == ["let"]:
        others = [word for word in tokens[1:] if word not in DETERMINERS | QUANTIFIERS]
        return next((word for word in others if word in known_verbs()), "".join(others[1:2]))
    for at, word in enumerate(tokens):
        following = tokens[at + 1 : at + 1 + MOST_APART]
        particle = next((end for end in (" ".join(following[:2]), *following) if f"{word} {end}" in known_verbs()), "")
        if not particle and f"{word}-{''.join(following[:1])}" in text.lower():
            particle = "".join(following[:1])
        if particle or word not in STOP_WORDS:
            return f"{word} {particle}".rstrip()
    return ""


@cache
def known_verbs() -> frozenset[str]:
    """Return the verbs of the thesaurus and of the classes that `act` clauses name, those with particles as pairs."""
    of_acts = (member.replace("_", " ") for line in synonym_classes()[0] for member in line.split())
    return frozenset(of_acts).union(*verb_classes().values())


def _alike(word: str) -> Group:
    """Return the forms of a word and of those that replace it as a noun."""
    like = {word, *replacements(word, act=False)}
    return Group(form for member in like if " " not in member for form in forms(member))


def lower_act(value: Act, known: Vocabulary | None = None) -> Lowered:
    """Return a lowered `act` clause. Its row needs a verb, and a noun if it names objects."""
    act = CompiledAct(
        do=[name.translate(PLAIN) for name in value["do"]],
        what=[name.replace(" ", OF_WORDS) for name in value.get("what", ())],
        unlike=_items(value, "not"),
        where=_items(value, "where"), how=_items(value, "how"), whole=bool(value.get("all")),
    )  # fmt: skip
    source = act_source(value)
    known = known or vocabulary()
    own = {"words": known.number} if known.number else {}
    clause = CompiledClause.of("act", source, [(source, act.values())], asked=None, **own)
    return Lowered(clause=clause, rows=(_row(act, known),))


def lower_meaning(exemplars: Iterable[str]) -> Lowered:
    """Return a lowered `meaning` clause: the conditions of each of its exemplars."""
    texts = tuple(map(str, exemplars))
    acts = [(text, act) for text in texts if (act := exemplar_act(text)) is not None]
    clause = CompiledClause.of(MEANING, " | ".join(texts), [(text, act.values()) for text, act in acts])
    return Lowered(clause=clause, rows=tuple(dict.fromkeys(_row(act, vocabulary()) for _, act in acts)))


def _row(act: CompiledAct, known: Vocabulary) -> Row:
    verbs = (members(name, known.verbs, act=True) for name in act.do)
    row = [Group((SAID,)), _gate_group(verbs, lambda verb: [" ".join(form) for _, form in verb_forms(verb)])]
    if act.what:
        row.append(_gate_group((members(name, known.objects, act=False) for name in act.what), noun_forms))
    beside = (act.where, act.how, act.near)
    return (*row, *(Group(form for item in items for form in item[-1]) for items in beside if items))


def act_source(value: Act) -> str:
    """Return an `act` clause as one line: `destroy database where production`."""
    parts = ["|".join(value["do"]), "|".join(value.get("what", ()))]
    parts += [f"{name} {'|'.join(value[name])}" for name in ("where", "how", "not") if value.get(name)]
    return " ".join(part for part in (*parts, "all" if value.get("all") else "") if part)


def _items(value: Act, name: str) -> list[list[list[str]]]:
    return [[sorted(forms(word)) for word in words(item)] for item in value.get(name, ()) if words(item)]


def _gate_group(classes: Iterable[Iterable[str]], forms_of: Callable[[str], Iterable[str]]) -> Group:
    """Return words of which one is in every text that names a word of these classes: the longest of each form."""
    every = (form for listed in classes for word in listed for form in forms_of(word))
    return Group(max(form.split(), key=len) for form in every)
