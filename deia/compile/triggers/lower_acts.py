"""Lower `act` and `meaning` clauses: the conditions on an act, and the words that the gate needs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from deia.compile.triggers.act_words import (
    OF_WORDS,
    Vocabulary,
    members,
    noun_forms,
    verb_forms,
    vocabulary,
)
from deia.compile.triggers.exemplars import exemplar_act
from deia.compile.triggers.lowered import Group, Lowered, Row
from deia.compile.triggers.word_forms import forms
from deia.text import words
from deia.watch.compiled_trigger import CLASSES, FORMS, MEANING, OF_FORM, CompiledAct, CompiledClause
from deia.watch.gate.word_gate import SAID

PLAIN = str.maketrans(dict.fromkeys(FORMS + OF_FORM + CLASSES, " "))  # a verb of its own may have any sign


def lower_act(value: Mapping[str, Any], known: Vocabulary | None = None) -> Lowered:
    """Return a lowered `act` clause. Its row needs a verb, and a noun if it names objects."""
    act = CompiledAct(
        do=[name.translate(PLAIN) for name in value["do"]],
        what=[name.replace(" ", OF_WORDS) for name in value.get("what", ())],
        unlike=_items(value, "not"),
        where=_items(value, "where"), how=_items(value, "how"), whole=bool(value.get("all")),
    )  # fmt: skip
    source = act_source(value)
    known = known or vocabulary()
    own: dict[str, Any] = {"words": known.number} if known.number else {}
    clause = CompiledClause.of("act", source, [(source, act.values())], **own)
    return Lowered(clause=clause, rows=(_row(act, known),))


def lower_meaning(exemplars: Iterable[str]) -> Lowered:
    """Return a lowered `meaning` clause: the conditions of each of its exemplars."""
    texts = tuple(map(str, exemplars))
    acts = [(text, act) for text in texts if (act := exemplar_act(text)) is not None]
    clause = CompiledClause.of(MEANING, " | ".join(texts), [(text, act.values()) for text, act in acts])
    return Lowered(clause=clause, rows=tuple(dict.fromkeys(_row(act, vocabulary()) for _, act in acts)))


def _row(act: CompiledAct, known: Vocabulary) -> Row:
    row = [Group((SAID,)), _gate_group((members(name, known.verbs, act=True) for name in act.do), _spoken_forms)]
    if act.what:
        row.append(_gate_group((members(name, known.objects, act=False) for name in act.what), noun_forms))
    beside = (act.where, act.how, act.near)
    return (*row, *(Group(form for item in items for form in item[-1]) for items in beside if items))


def act_source(value: Mapping[str, Any]) -> str:
    """Return an `act` clause as one line: `destroy database where production`."""
    parts = ["|".join(value["do"]), "|".join(value.get("what", ()))]
    parts += [f"{name} {'|'.join(value[name])}" for name in ("where", "how", "not") if value.get(name)]
    return " ".join(part for part in (*parts, "all" if value.get("all") else "") if part)


def _items(value: Mapping[str, Any], name: str) -> list[list[list[str]]]:
    return [[sorted(forms(word)) for word in words(item)] for item in value.get(name, ()) if words(item)]


def _gate_group(classes: Iterable[Iterable[str]], forms_of: Callable[[str], Iterable[str]]) -> Group:
    """Return words of which one is in every text that names a word of these classes: the longest of each form."""
    every = (form for listed in classes for word in listed for form in forms_of(word))
    return Group(max(form.split(), key=len) for form in every)


def _spoken_forms(verb: str) -> list[str]:
    """Return the forms of a verb that frames read, as text."""
    return [" ".join(form) for _, form in verb_forms(verb)]
