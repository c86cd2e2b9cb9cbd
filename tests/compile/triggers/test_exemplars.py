"""Compiled exemplars: their words, the words that replace them, and their thresholds."""

from __future__ import annotations

from typing import Any

import pytest
from deia.compile.triggers.background_talk import LEAST, floors_of, nominating
from deia.compile.triggers.calibration import calibrated, rate_below, report
from deia.compile.triggers.word_bags import bags, weight_of
from deia.watch.clauses.similarity import STOP_WORDS, exemplars_of

from deia.compile.manifest import Calibration
from deia.compile.triggers.exemplars import MOST_WORDS, exemplar_words, meaning_clause, thin
from deia.compile.triggers.synonyms import alike, head_of, is_act, phrasal, synonym_classes
from deia.knowledge import Case, Clause, Trigger
from deia.records import Turn
from deia.watch.gate.artefact import LONGEST_WORD
from deia.watch.gate.word_gate import SAID

SITE = ("wipe the site and set it up again from scratch", "throw the whole site away and make a new one")


def trigger(*exemplars: str, **fields: Any) -> Trigger:
    given = {
        "id": "t", "title": "T", "urgency": "low", "message": "m", "who": ("user", "assistant"),
        "any": (Clause(kind="meaning", value=exemplars or SITE),), "documents": (),
    }  # fmt: skip
    return Trigger(**{**given, **fields})


def case(text: str, *, fires: bool, role: Any = "user") -> Case:
    return Case(
        trigger="t", fires=fires, turns=(Turn(role=role, text=text, tool="Bash" if role == "tool_call" else ""),)
    )


def test_an_exemplar_begins_with_its_act_and_is_cut_where_it_is_long() -> None:
    assert exemplar_words("I'm going to wipe the site, and set the site up again") == ["wipe", "site", "set", "again"]
    assert len(exemplar_words(" ".join(f"word{number}" for number in range(30)))) == MOST_WORDS
    assert thin(["wipe it all", "wipe the site"]) == ["wipe it all"]


def test_acts_and_things_have_others_in_their_place_in_every_form() -> None:
    assert {"nuke", "nuked", "wiping", "deleted"} <= alike("deleting", act=True)
    assert {"db", "databases"} <= alike("database", act=False)
    assert alike("zebra", act=True) == alike("nuke", act=False) == frozenset()


def test_no_word_stands_beside_its_opposite() -> None:
    opposites = [("delete", "create"), ("enable", "disable"), ("public", "private"), ("first", "last"),
                 ("start", "stop"), ("grant", "revoke"), ("old", "new"), ("encrypt", "decrypt"),
                 ("install", "remove"), ("production", "staging"), ("local", "remote")]  # fmt: skip
    acts, things = synonym_classes()
    for one, other in opposites:
        assert not any({one, other} <= set(line.split()) for line in (*acts, *things)), (one, other)
        assert all(other not in alike(one, act=act) for act in (True, False)), (one, other)


def test_a_row_holds_the_act_and_words_that_weigh_enough_and_none_is_within_another() -> None:
    lowered = meaning_clause(SITE)
    rows = lowered.rows
    acts = [{*exemplar.groups[0], *exemplar.pairs} for exemplar in exemplars_of(lowered.clause.meaning)]
    for row in rows:
        assert row[0] == {SAID}
        assert set(row[1]) in [set(act) for act in acts]
        assert not any(set(other) < set(row) for other in rows)
        assert all(len(word.encode()) <= LONGEST_WORD for group in row for word in group)
        assert not STOP_WORDS & {word for group in row[2:] for word in group}


def test_rare_words_weigh_more() -> None:
    assert weight_of(["file", "files"]) < weight_of(["nameserver", "nameservers"])
    assert weight_of(["wordthatnobodysays"]) == weight_of([]) > 300


def test_the_same_exemplars_give_the_same_clause() -> None:
    first = meaning_clause(SITE).clause.meaning
    first.thresholds = [0.1, 0.1]
    assert min(meaning_clause(SITE).clause.meaning.thresholds) > 1, "a clause that nobody calibrated matches nothing"


def test_thresholds_lie_above_all_pieces_of_ordinary_talk_that_hold_the_words() -> None:
    lowered = meaning_clause(("delete the file", "remove the folder", "wipe the site and set it up again from scratch"))
    pieces = nominating(lowered.clause.meaning)
    floors = floors_of(pieces)
    close = {
        number for one, least in zip(pieces, floors, strict=True) for number, score in one.items() if score >= least
    }
    assert not close
    assert len(bags()) > 3000
    assert floors[2] == LEAST < floors[0], "an exemplar of rare words keeps the lowest threshold"


def test_background_scores_are_those_of_the_watcher() -> None:
    from deia.match.static_vectors import open_static, similarities  # noqa: PLC0415 - only here

    meaning = meaning_clause(("delete the file",)).clause.meaning
    (exemplar,) = exemplars_of(meaning)
    static, (scores,) = open_static(), nominating(meaning)
    assert len(scores) >= 20
    for number in sorted(scores, key=scores.__getitem__)[-20:]:
        text = " ".join(exemplar.own.get(word, word) for word in bags()[number].split())
        assert similarities(static.encode(text), exemplar.code, static.dimensions)[0] == pytest.approx(
            scores[number], abs=0.02
        )


def test_own_cases_that_are_another_act_raise_the_threshold() -> None:
    fires = case("I'll nuke the site and set it up again from scratch", fires=True)
    other = case("I'll wipe the site map and set it up again from a list", fires=False)
    (without,) = calibrated([trigger()], [fires])
    (held,) = calibrated([trigger()], [fires, other])
    assert without.fires == held.fires == 1
    assert all(one >= other for one, other in zip(held.thresholds, without.thresholds, strict=True))


def test_cases_that_stance_unless_or_context_silence_leave_the_threshold_alone() -> None:
    fires = case("I'll nuke the site and set it up again from scratch", fires=True)
    silent = [
        case("don't wipe the site and set it up again from scratch", fires=False),
        case("I'll wipe the preview site and set it up again from scratch", fires=False),
        case("echo wipe the site and set it up again from scratch", fires=False, role="tool_call"),
    ]
    guarded = trigger(unless=("preview",))
    (without,) = calibrated([guarded], [fires])
    (held,) = calibrated([guarded], [fires, *silent])
    assert held.but(print="") == without.but(print="")


def test_what_was_found_before_is_taken_over_until_something_it_depends_on_changes() -> None:
    fires = case("I'll nuke the site and set it up again from scratch", fires=True)
    (first,) = calibrated([trigger()], [fires])
    marked = first.but(thresholds=(0.9, 0.9))
    assert calibrated([trigger()], [fires], [marked]) == (marked,)
    other = case("I'll wipe the site map and set it up again from a list", fires=False)
    assert calibrated([trigger()], [fires, other], [marked]) != (marked,)
    assert calibrated([trigger(unless=("preview",))], [fires], [marked]) != (marked,)


def test_a_verb_with_its_particle_is_one_act() -> None:
    assert exemplar_words("turn the old hook off before the commit")[0] == "turn_off"
    assert exemplar_words("get rid of the branch")[0] == "get_rid"
    assert "away" in phrasal("delete")["blew"]
    assert head_of("tear_down") == "delete"
    assert "turn" not in alike("disable", act=True), "without its particle it is another act"
    assert not is_act("sing_loud")


def test_a_silent_case_like_the_exemplar_itself_does_not_silence_all_others() -> None:
    cases = [case("I'll nuke the site and set it up again from scratch", fires=True),
             case("I'll trash the website and set it up again from zero", fires=True),
             case("I'll wipe the site and set it up again from scratch", fires=False)]  # fmt: skip
    (reached,) = calibrated([trigger()], cases)
    assert reached.fires == 2


def test_what_was_reached_is_told_and_what_reaches_nothing_is_named() -> None:
    (good,) = calibrated([trigger()], [case("I'll nuke the site and set it up again from scratch", fires=True)])
    (idle,) = calibrated([trigger()], [case("I'll go home", fires=True)])
    lines = report([good, idle])
    assert "2 `meaning` clauses" in lines[0]
    assert "1 of 2 spoken cases" in lines[0]
    assert [line for line in lines if "no case" in line] == lines[1:] != []
    assert report([]) == []


def test_deprecated_triggers_and_other_clauses_are_not_calibrated() -> None:
    phrase = trigger(any=(Clause(kind="phrase", value="wipe site"),))
    assert calibrated([phrase, trigger(status="deprecated")], []) == ()


@pytest.mark.parametrize(("alarms", "tries", "rate"), [(0, 3000, 0.000998), (3, 3918, 0.00198), (5, 100, 0.1022)])
def test_the_uncertainty_of_a_rate_is_that_of_clopper_and_pearson(alarms: int, tries: int, rate: float) -> None:
    assert rate_below(alarms, tries) == pytest.approx(rate, rel=0.01)


def test_reached_is_a_plain_value() -> None:
    (one,) = calibrated([trigger()], [])
    assert Calibration(**one.values()) == one
