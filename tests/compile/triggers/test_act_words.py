"""The verbs and nouns of `act` clauses: their classes and forms, and the words that gate a clause."""

from __future__ import annotations

from deia.compile.triggers.act_words import act_words, object_classes, verb_classes
from deia.compile.triggers.lower_acts import act_source, lower_act
from deia.watch.gate.word_gate import SAID

DESTROY = {"do": ("destroy",), "what": ("database",), "not": ("test",)}


def test_verbs_have_their_base_form_and_the_one_in_ing_and_no_others() -> None:
    verbs = act_words((), ()).verbs
    assert {"delete", "deleting"} <= verbs.keys()
    assert not {"deleted", "deletes"} & verbs.keys()


def test_a_verb_of_two_words_comes_before_the_same_verb_alone() -> None:
    rests = [rest for _, _, rest in act_words((), ()).verbs["throw"]]
    assert rests == sorted(rests, key=len, reverse=True)


def test_a_word_that_is_no_class_is_a_class_of_its_own() -> None:
    words = act_words(("yeet",), ("ledger",))
    assert [classes for _, classes, _ in words.verbs["yeeting"]] == [["yeet"]]
    assert words.nouns["ledgers"] == "ledger"


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
