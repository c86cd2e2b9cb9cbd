"""Exemplars of `meaning` clauses, read as acts: what they ask for, and which name none."""

from __future__ import annotations

import pytest

from deia.compile.triggers.act_words import act_words, replacements, synonym_classes
from deia.compile.triggers.lower_acts import MOST_WORDS, STOP_WORDS, exemplar_act, lower_meaning
from deia.text import spans
from deia.watch.compiled_trigger import MEANING, CompiledAct
from deia.watch.gate.artefact import LONGEST_WORD
from deia.watch.gate.word_gate import SAID
from deia.watch.prose.acts import frames, unmet
from deia.watch.prose.stance_names import DENIALS
from tests.starter.starter_commons import COMMONS

SITE = ("wipe the site and set it up again from scratch", "throw the whole site away and make a new one")


def act_of(exemplar: str) -> CompiledAct:
    act = exemplar_act(exemplar)
    assert act is not None
    return act


@pytest.mark.parametrize(
    ("exemplar", "verb", "head"),
    [
        ("wipe the production database", "wipe", "database"),
        ("I'm going to wipe the site, and set the site up again", "wipe", "site"),
        ("blow the shopping cart away", "blow away", "cart"),
        ("force-delete the branch", "force delete", "branch"),
        ("let redis evict keys", "evict", "keys"),
    ],
)
def test_an_exemplar_is_its_verb_and_the_head_of_its_object(exemplar: str, verb: str, head: str) -> None:
    act = act_of(exemplar)
    assert (act.do, act.what) == (["~" + verb], ["~" + head])


@pytest.mark.parametrize("exemplar", ["wipe", "wipe it", "wipe everything", "the old site", "", "…"])
def test_an_exemplar_without_an_act_on_something_matches_nothing_and_is_named(exemplar: str) -> None:
    assert exemplar_act(exemplar) is None
    assert [text for text in (exemplar, SITE[0]) if exemplar_act(text) is None] == [exemplar]
    assert lower_meaning([exemplar]).rows == ()


def test_a_long_exemplar_asks_for_a_few_words_only() -> None:
    act = act_of("wipe the site " + " ".join(f"word{number}" for number in range(30)))
    assert {len(item) for item in act.how} == {MOST_WORDS - 1}


def test_a_denial_in_an_exemplar_asks_for_one() -> None:
    act = act_of("merge the branch without a review")
    assert [item[0] for item in act.how] == [sorted(DENIALS)]


def test_a_row_holds_the_verb_and_the_object_that_somebody_says() -> None:
    for speech, verbs, *others in lower_meaning(SITE).rows:
        assert speech == {SAID}
        assert {"wipe", "wiping", "nuke"} <= verbs or {"away"} <= verbs
        assert {"site", "website"} <= others[0]
        assert not STOP_WORDS & {word for group in others for word in group}
        assert all(len(word.encode()) <= LONGEST_WORD for group in (verbs, *others) for word in group)


def test_the_same_exemplars_give_the_same_clause() -> None:
    assert lower_meaning(SITE).clause.fields == lower_meaning(SITE).clause.fields


# --- the thesaurus ---


def test_acts_and_things_have_others_in_their_place() -> None:
    assert {"nuke", "wipe", "delete", "blow away"} <= replacements("deleting", act=True)
    assert {"db", "database"} <= replacements("databases", act=False)
    assert replacements("zebra", act=True) == replacements("nuke", act=False) == frozenset()


def test_a_verb_with_its_particle_is_one_act() -> None:
    assert "delete" in replacements("tear down", act=True)
    assert "turn" not in replacements("disable", act=True), "without its particle it is another act"
    assert not replacements("sing loud", act=True)


def test_no_word_stands_beside_its_opposite() -> None:
    opposites = [("delete", "create"), ("enable", "disable"), ("public", "private"), ("first", "last"),
                 ("start", "stop"), ("grant", "revoke"), ("old", "new"), ("encrypt", "decrypt"),
                 ("install", "remove"), ("production", "staging"), ("local", "remote")]  # fmt: skip
    acts, things = synonym_classes()
    for one, other in opposites:
        assert not any({one, other} <= set(line.split()) for line in (*acts, *things)), (one, other)
        assert all(other not in replacements(one, act=act) for act in (True, False)), (one, other)


@pytest.mark.slow
def test_exemplars_of_the_starter_hold_for_themselves() -> None:
    """Whoever says an exemplar word for word is heard."""
    exemplars = [
        text for trigger in COMMONS.triggers for clause in (*trigger.any, *trigger.all)
        if clause.kind == MEANING for text in clause.value
    ]  # fmt: skip
    acts = {text: act for text in exemplars if (act := exemplar_act(text))}
    used = [(*act.do, *act.what) for act in acts.values()]
    vocabulary = act_words([names[0] for names in used], [name for names in used for name in names[1:]])
    assert [
        text for text, act in acts.items()
        if all(unmet(act, frame) for frame in frames(text, spans(text), vocabulary))
    ] == []  # fmt: skip
