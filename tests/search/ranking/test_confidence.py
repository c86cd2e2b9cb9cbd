from __future__ import annotations

from math import log, sqrt

import pytest

from deia.search.question.terms import Question, Term
from deia.search.ranking.confidence import MOST_AT_HOME, OBSERVED, coverage, judge, observe
from deia.search.ranking.rank import Ranked
from deia.search.ranking.weights import VerdictWeights, fusion_weight, verdict_weights

HELD = {0: {0: {"a", "b"}}}


def term(name: str, information: float = 1.0, **changes: str) -> Term:
    """Give a known term whose stem is its name."""
    return Term(typed=name, stem=name, information=information).but(**changes)


def asked(*terms: Term) -> Question:
    """Give a question of these terms."""
    return Question(text="", terms=terms)


def seen(question: Question, *ranked: Ranked) -> dict[str, float]:
    """Give what is observed by name."""
    return dict(zip(OBSERVED, observe(question, ranked, HELD, passages=100), strict=True))


def test_all_words_in_one_passage_are_full_coverage_and_scattered_ones_are_less() -> None:
    question = asked(term("a"), term("b"))
    assert coverage(question, {0: {"a", "b"}}) == 1.0
    assert coverage(question, {0: {"a"}, 1: {"b"}}) == pytest.approx(0.75)
    assert coverage(question, {}) == 0.0
    assert coverage(asked(), {0: {"a"}}) == 0.0


def test_a_rare_word_weighs_more_and_a_corrected_one_less() -> None:
    question = asked(term("rare", 4.0), term("common", 1.0))
    assert coverage(question, {0: {"rare"}}) > 0.5 > coverage(question, {0: {"common"}})
    typed, corrected = (
        asked(term("migration", 4.0), other) for other in (term("pod"), term("pdo", 1.0, corrected="pod"))
    )
    held = {0: {"migration", "pod", "pdo"}}
    assert coverage(typed, held) > coverage(corrected, held)


def test_the_whole_of_a_name_is_not_counted_beside_its_parts() -> None:
    whole = Term(typed="kubepod", stem="kubepod", information=9.0, part=False)
    assert coverage(asked(whole, term("kube"), term("pod")), {0: {"kube", "pod"}}) == 1.0


def test_what_is_seen_of_a_question_that_fits() -> None:
    ranked = Ranked(number=0, score=0.9, ordinal=0, words=4.4, likeness=0.6)
    found = seen(asked(term("a"), term("b")), ranked, Ranked(number=1, score=0.5, ordinal=0, likeness=0.2))
    assert (found["covered"], found["unknown"], found["corrected"], found["words"]) == (1.0, 0.0, 0.0, 1.0)
    assert (found["likeness"], found["nearest"]) == (0.6, 0.6)
    assert [found["contrast"], found["margin"]] == pytest.approx([0.4, 0.4])


def test_unknown_and_corrected_words_are_seen_by_their_share() -> None:
    found = seen(
        asked(term("a"), term("x").but(stem=""), term("b", corrected="bb"), term("c")),
        Ranked(number=0, score=1.0, ordinal=0),
    )
    assert (found["unknown"], found["corrected"]) == (0.25, 0.25)


def test_a_filter_counts_as_a_word_that_is_there() -> None:
    question = asked(term("a"), term("x"))
    assert coverage(question, {0: {"a"}}, given=1) > coverage(question, {0: {"a"}}) > 0
    assert 0 < coverage(question, {}, given=1) < coverage(question, {0: {"a", "x"}}, given=1) == 1.0
    plain, filtered = (
        observe(question, [Ranked(number=0, score=1.0, ordinal=0)], HELD, passages=many, given=filters)
        for many, filters in ((1000, 0), (10, 1))
    )
    assert filtered[0] > plain[0]
    assert filtered[OBSERVED.index("size")] < plain[OBSERVED.index("size")]


@pytest.mark.parametrize("question", [asked(), asked(term("a"))])
def test_nothing_found_is_nothing_seen(question: Question) -> None:
    assert observe(question, [], {}, passages=100) == [0.0] * len(OBSERVED)


def test_how_akin_a_question_is_is_seen_by_itself_and_with_its_length() -> None:
    question = asked(term("a"), term("b"))
    ranked = [Ranked(number=0, score=1.0, ordinal=0)]
    found = dict(zip(OBSERVED, observe(question, ranked, HELD, passages=100, akin=0.5), strict=True))
    assert (found["akin"], found["akin_squared"]) == (0.5, 0.25)
    assert found["long_akin"] == pytest.approx(0.5 * found["length"])
    assert seen(question, *ranked)["akin"] == 0.0


def test_a_word_that_is_said_here_more_than_elsewhere_is_at_home() -> None:
    question = asked(term("a", 2.0), term("b", 1.0), term("x").but(stem=""))
    ranked = [Ranked(number=0, score=1.0, ordinal=0)]

    def home(**usual: float) -> float:
        found = observe(question, ranked, HELD, passages=100, usual=usual)
        assert found[OBSERVED.index("at_home_among_many")] == pytest.approx(log(101) * found[OBSERVED.index("at_home")])
        return found[OBSERVED.index("at_home")]

    assert home(a=5.0, b=1.0) == pytest.approx(3 / sqrt(3))
    assert home(a=2.0, b=0.5) < 0 == home()
    assert home(a=99.0, b=1.0) == pytest.approx(MOST_AT_HOME / sqrt(3))


@pytest.mark.parametrize("tier", ["keyword", "static", "compact", "transformer"])
def test_what_was_learned_fits_what_is_observed(tier: str) -> None:
    learned = verdict_weights(tier)
    assert len(learned.belongs) == len(learned.answers) == len(OBSERVED) + 1
    high, medium = learned.levels
    assert 1 > high > medium > 0
    assert 0 < learned.least < 1
    assert not judge([0.0] * len(OBSERVED), learned).found


def test_a_question_that_names_things_gives_words_more_weight() -> None:
    all_named, half, none = (fusion_weight("static", named=named) for named in (1.0, 0.5, 0.0))
    assert 0 < all_named < half < none < 1


def test_a_confidence_follows_the_probability_of_an_answer() -> None:
    learned = VerdictWeights(belongs=[0.0, 1.0], answers=[0.0, 1.0], least=0.6, levels=[0.7, 0.4])
    verdicts = [judge([value], learned) for value in (5.0, 0.0, -5.0, -1e9)]
    assert [each.confidence for each in verdicts] == ["high", "medium", "low", "low"]
    assert [each.found for each in verdicts] == [True, False, False, False]
