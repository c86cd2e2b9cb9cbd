from __future__ import annotations

from math import log, sqrt

import pytest

from deia.search.question.terms import Question, Term
from deia.search.ranking.confidence import MOST_AT_HOME, OBSERVED, coverage, judge, judged, observe
from deia.search.ranking.rank import Ranked
from deia.search.ranking.weights import VerdictWeights, fusion_weight, verdict_weights

HELD = {0: {0: {"a", "b"}}}


def term(name: str, information: float = 1.0, **changes: str) -> Term:
    """Return a known term whose stem is its name."""
    return Term(typed=name, stem=name, information=information).but(**changes)


def question_of(*terms: Term) -> Question:
    """Return a question of these terms."""
    return Question(text="", terms=terms)


def seen(question: Question, *ranked: Ranked) -> dict[str, float]:
    """Return the observations by name."""
    return dict(zip(OBSERVED, observe(question, ranked, HELD, passages=100), strict=True))


def test_all_words_in_one_passage_are_full_coverage_and_scattered_ones_are_less() -> None:
    question = question_of(term("a"), term("b"))
    assert coverage(question, {0: {"a", "b"}}) == 1.0
    assert coverage(question, {0: {"a"}, 1: {"b"}}) == pytest.approx(0.75)
    assert coverage(question, {}) == 0.0
    assert coverage(question_of(), {0: {"a"}}) == 0.0


def test_a_rare_word_weighs_more_and_a_corrected_one_less() -> None:
    question = question_of(term("rare", 4.0), term("common", 1.0))
    assert coverage(question, {0: {"rare"}}) > 0.5 > coverage(question, {0: {"common"}})
    typed, corrected = (
        question_of(term("migration", 4.0), other) for other in (term("pod"), term("pdo", 1.0, corrected="pod"))
    )
    stems = {0: {"migration", "pod", "pdo"}}
    assert coverage(typed, stems) > coverage(corrected, stems)


def test_a_whole_name_is_not_counted_in_addition_to_its_parts() -> None:
    whole = Term(typed="kubepod", stem="kubepod", information=9.0, part=False)
    assert coverage(question_of(whole, term("kube"), term("pod")), {0: {"kube", "pod"}}) == 1.0


def test_observations_of_a_query_that_fits() -> None:
    ranked = Ranked(number=0, score=0.9, ordinal=0, words=4.4, likeness=0.6)
    observed = seen(question_of(term("a"), term("b")), ranked, Ranked(number=1, score=0.5, ordinal=0, likeness=0.2))
    assert (observed["covered"], observed["unknown"], observed["corrected"], observed["words"]) == (1.0, 0.0, 0.0, 1.0)
    assert (observed["likeness"], observed["nearest"]) == (0.6, 0.6)
    assert [observed["contrast"], observed["margin"]] == pytest.approx([0.4, 0.4])


def test_observations_of_unknown_and_corrected_words() -> None:
    observed = seen(
        question_of(term("a"), term("x").but(stem=""), term("b", corrected="bb"), term("c")),
        Ranked(number=0, score=1.0, ordinal=0),
    )
    assert (observed["unknown"], observed["corrected"]) == (0.25, 0.25)


def test_a_filter_counts_as_a_matching_word() -> None:
    question = question_of(term("a"), term("x"))
    assert coverage(question, {0: {"a"}}, filters=1) > coverage(question, {0: {"a"}}) > 0
    assert 0 < coverage(question, {}, filters=1) < coverage(question, {0: {"a", "x"}}, filters=1) == 1.0
    plain, filtered = (
        observe(question, [Ranked(number=0, score=1.0, ordinal=0)], HELD, passages=many, filters=filters)
        for many, filters in ((1000, 0), (10, 1))
    )
    assert filtered[0] > plain[0]
    assert filtered[OBSERVED.index("size")] < plain[OBSERVED.index("size")]


@pytest.mark.parametrize("question", [question_of(), question_of(term("a"))])
def test_without_results_all_observations_are_zero(question: Question) -> None:
    assert observe(question, [], {}, passages=100) == [0.0] * len(OBSERVED)


def test_observations_of_affinity() -> None:
    question = question_of(term("a"), term("b"))
    ranked = [Ranked(number=0, score=1.0, ordinal=0)]
    observed = dict(zip(OBSERVED, observe(question, ranked, HELD, passages=100, akin=0.5), strict=True))
    assert (observed["akin"], observed["akin_squared"]) == (0.5, 0.25)
    assert observed["long_akin"] == pytest.approx(0.5 * observed["length"])
    assert seen(question, *ranked)["akin"] == 0.0


def test_a_word_used_more_than_in_general_software_text_is_at_home() -> None:
    question = question_of(term("a", 2.0), term("b", 1.0), term("x").but(stem=""))
    ranked = [Ranked(number=0, score=1.0, ordinal=0)]

    def home(**usual: float) -> float:
        observed = observe(question, ranked, HELD, passages=100, usual=usual)
        assert observed[OBSERVED.index("at_home_among_many")] == pytest.approx(
            log(101) * observed[OBSERVED.index("at_home")]
        )
        return observed[OBSERVED.index("at_home")]

    assert home(a=5.0, b=1.0) == pytest.approx(3 / sqrt(3))
    assert home(a=2.0, b=0.5) < 0 == home()
    assert home(a=99.0, b=1.0) == pytest.approx(MOST_AT_HOME / sqrt(3))


def test_numbers_belong_to_no_subject() -> None:
    ranked = [Ranked(number=0, score=0.9, ordinal=0, words=4.4, likeness=0.6)]

    def home(*terms: Term) -> float:
        observed = observe(question_of(*terms), ranked, HELD, passages=100, usual={"a": 5.0, "10": 6.0})
        return observed[OBSERVED.index("at_home")]

    assert home(term("a"), term("10")) == home(term("a")) == 4.0


@pytest.mark.parametrize("code", [False, True])
@pytest.mark.parametrize("tier", ["words", "keyword", "static", "compact", "transformer"])
def test_the_learned_weights_fit_the_observations(tier: str, *, code: bool) -> None:
    learned = verdict_weights(tier, code=code)
    assert len(learned.belongs) == len(learned.answers) == len(OBSERVED) + 1
    high, medium = learned.levels
    assert 1 > high > medium > 0
    assert 0 < learned.least < 1
    assert not judge([0.0] * len(OBSERVED), learned).found


def test_code_is_judged_by_what_was_learned_of_code() -> None:
    for tier in ("keyword", "static", "compact"):
        assert verdict_weights(tier, code=True) != verdict_weights(tier)
    assert verdict_weights("transformer", code=True) == verdict_weights("transformer")
    assert verdict_weights("words", code=True) == verdict_weights("keyword", code=True)


def test_code_is_accepted_by_either_verdict_and_other_documents_by_one() -> None:
    seen_of_a_function = [
        0.35,
        0.05,
        0.56,
        0.0,
        0.0,
        0.1,
        4.01,
        0.46,
        0.46,
        0.09,
        0.38,
        0.16,
        9.88,
        1.84,
        1.41,
        0.19,
        0.04,
        0.76,
        0.98,
        9.71,
        0.96,
        0.21,
        0.12,
        0.0,
    ]
    assert not judged(seen_of_a_function, "static", code=False).found
    assert judged(seen_of_a_function, "static", code=True).found
    assert not judged([0.0] * len(OBSERVED), "static", code=True).found


def test_exact_names_give_words_more_weight() -> None:
    all_named, half, none = (fusion_weight("static", named=named) for named in (1.0, 0.5, 0.0))
    assert 0 < all_named < half < none < 1


def test_confidence_follows_the_probability_of_an_answer() -> None:
    learned = VerdictWeights(belongs=[0.0, 1.0], answers=[0.0, 1.0], least=0.6, levels=[0.7, 0.4])
    verdicts = [judge([value], learned) for value in (5.0, 0.0, -5.0, -1e9)]
    assert [verdict.confidence for verdict in verdicts] == ["high", "medium", "low", "low"]
    assert [verdict.found for verdict in verdicts] == [True, False, False, False]
