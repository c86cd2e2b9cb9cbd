"""The verbs and nouns of `act` clauses: their classes and forms, and the words that gate a clause."""

from __future__ import annotations

import pytest

from deia.compile.triggers.act_words import NO_WORDS, act_words, object_classes, verb_classes
from deia.compile.triggers.build_artefact import compile_triggers
from deia.compile.triggers.lower_acts import act_source, lower_act
from deia.knowledge import Clause, OwnActWords, Trigger
from deia.records import Turn
from deia.settings import DEFAULTS
from deia.watch.gate.artefact import Artefact
from deia.watch.gate.word_gate import SAID
from deia.watch.memory.recall import InMemoryLog
from deia.watch.watcher import Surroundings, watch

DESTROY = {"do": ("destroy",), "what": ("database",), "not": ("test",)}


def test_verbs_have_their_base_form_and_the_one_in_ing_and_no_others() -> None:
    verbs = act_words((), ()).verbs
    assert {"delete", "deleting"} <= verbs.keys()
    assert not {"deleted", "deletes"} & verbs.keys()


def test_a_verb_of_two_words_comes_before_the_same_verb_alone() -> None:
    rests = [rest for _, _, rest in act_words((), ()).forms_of("throw")]
    assert rests == sorted(rests, key=len, reverse=True)


def test_a_word_that_is_no_class_is_a_class_of_its_own() -> None:
    words = act_words(("yeet",), ("ledger",))
    assert [classes for _, classes, _ in words.forms_of("yeeting")] == [["yeet"]]
    assert words.nouns["ledgers"] == "ledger"


def test_a_verb_of_its_own_may_have_any_sign() -> None:
    odd = trigger("odd", what="table").but(any=(Clause(kind="act", value={"do": ("yeet, a|b:c",)}),))
    assert fired("please yeet a b c", odd) == {"odd"}


def test_no_class_is_empty_and_every_word_is_plain() -> None:
    for classes in (verb_classes(), object_classes()):
        assert all(classes.values())
        assert all(word == " ".join(word.lower().split()) for words in classes.values() for word in words)


def test_a_clause_is_gated_by_a_verb_and_a_noun_that_somebody_says() -> None:
    (row,) = lower_act(DESTROY).rows
    assert {SAID} in row
    assert any({"delete", "wiping"} <= group for group in row)
    assert any({"database", "databases"} <= group for group in row)


def test_a_clause_is_shown_as_one_line() -> None:
    assert act_source(DESTROY) == "destroy database not test"


def test_a_noun_of_two_words_may_be_a_class_of_its_own() -> None:
    (_, act), *_ = lower_act({"do": ("print",), "what": ("aws key",)}).clause.acts
    nouns = act_words(act.do, act.what).nouns
    assert set(act.what) <= set(nouns["aws keys"].split())
    assert not set(act.what) & set(nouns["key"].split())


OWN = OwnActWords(
    verbs=(("destroy", ("yeet", "drop off")),), objects=(("ledger", ("ledger",)),),
    vessels=("shard",),
)  # fmt: skip


def trigger(ident: str, *, own: OwnActWords = NO_WORDS, what: str = "ledger") -> Trigger:
    return Trigger(
        id=ident, title="T", urgency="low", message="M", documents=(), who=("user", "assistant"), act_words=own,
        any=(Clause(kind="act", value={"do": ("destroy",), "what": (what,)}),),
    )  # fmt: skip


@pytest.mark.parametrize("said", ["I'll yeet the ledger", "please yeet the ledger shard"])
def test_words_that_a_commons_adds_are_known_to_its_triggers_and_to_no_others(said: str) -> None:
    assert fired(said, trigger("own", own=OWN), trigger("other")) == {"own"}


def test_words_that_a_commons_adds_take_nothing_from_others() -> None:
    """`drop off` as a verb of one commons leaves `drop` to the triggers of the others."""
    said = "I'll drop off the table"
    alone = fired(said, trigger("other", what="table"))
    both = fired(said, trigger("own", own=OWN, what="shelf"), trigger("other", what="table"))
    assert alone == both == {"other"}


def test_the_triggers_of_one_commons_share_its_words() -> None:
    shared = artefact_of(trigger("own", own=OWN), trigger("same", own=OWN), trigger("other"))
    assert shared.meta.words == 2
    assert artefact_of(trigger("other")).meta.words == 1


def artefact_of(*triggers: Trigger) -> Artefact:
    data, _ = compile_triggers(triggers, {}, settings=DEFAULTS.by_name(), identity={})
    return Artefact(data)


def fired(said: str, *triggers: Trigger) -> set[str]:
    around = Surroundings(now=0.0, bounded=False)
    watched = watch(artefact_of(*triggers), Turn(role="user", text=said), InMemoryLog(), lambda: around)
    return {firing.trigger for firing in watched.firings}
