"""Drafts for the index: a new word becomes a concept or a keyword, and nothing known is drafted again."""

from __future__ import annotations

import pytest

from deia.commons.index.index_records import Concept, Index
from deia.commons.index.load_commons import Commons
from deia.knowledge import Document, Entry
from deia.learn.changes import ADD, CONCEPT, DROP
from deia.learn.corpus_words import Vocabulary
from deia.learn.index_drafts import CAREFUL, REACHES, consistent, draft
from deia.learn.signals import Evidence, Pair, Rephrased

TITLES = {
    "billing-export": "Export the billing", "billing-restore": "Restore the billing",
    "billing-archive": "Archive billing",
    "mail-export": "Export the mail", "mail-restore": "Restore the mail", "wiki-archive": "Archive the wiki",
    "anchor": "Anchors", "basket": "Baskets", "candle": "Candles", "drawer": "Drawers", "engine": "Engines",
}  # fmt: skip


def vocabulary_of(
    *, keywords: dict[str, tuple[str, ...]] | None = None, concepts: tuple[Concept, ...] = ()
) -> Vocabulary:
    given = keywords or {}
    entries = tuple(
        Entry(id=ident, path=f"bok/{ident}.md", title=title, keywords=("page", *given.get(ident, ())))
        for ident, title in TITLES.items()
    )
    documents = tuple(Document(path=one.path, title=one.title, text=one.title) for one in entries)
    commons = Commons(
        root="", index=Index(path=""), entries=entries, documents=documents, clusters=(), query_patterns=(),
        triggers=(), cases=(), concepts=concepts,
    )  # fmt: skip
    return Vocabulary(commons, own=frozenset(TITLES))


def opened(*told: tuple[str, str]) -> Evidence:
    return Evidence(pairs=tuple(Pair(question=text, document=ident, signals={"opened": 1}) for text, ident in told))


TWO = opened(("fakturoj export", "billing-export"), ("restore fakturoj", "billing-restore"))


def drafted(
    evidence: Evidence, vocabulary: Vocabulary, kind: str, reach: int = 0
) -> list[tuple[str, str, tuple[str, ...]]]:
    found = [one for one in draft(evidence, vocabulary, reach=REACHES[reach]) if one.kind == kind]
    return [(change.kind, change.target, change.words) for one in found for change in one.changes]


def test_a_new_word_in_questions_for_two_documents_is_another_word_for_what_both_are_called() -> None:
    assert drafted(TWO, vocabulary_of(), "concept") == [(CONCEPT, "billing", ("fakturoj",))]


def test_a_word_that_one_document_had_as_a_keyword_moves_to_the_thing() -> None:
    vocabulary = vocabulary_of(keywords={"billing-export": ("fakturoj",)})
    assert drafted(TWO, vocabulary, "concept") == [
        (CONCEPT, "billing", ("fakturoj",)), (DROP, "billing-export", ("fakturoj",)),
    ]  # fmt: skip


def test_a_keyword_of_something_else_is_no_other_word() -> None:
    vocabulary = vocabulary_of(keywords={"wiki-archive": ("fakturoj",)})
    assert drafted(TWO, vocabulary, "concept") == []


def test_what_the_index_says_already_is_not_drafted_again_but_tells_the_other_words_apart() -> None:
    known = (Concept(words=("billing", "fakturoj")),)
    assert drafted(TWO, vocabulary_of(concepts=known), "concept") == []
    asked = opened(("fakturoj elporti", "billing-export"), ("elporti mail", "mail-export"))
    assert drafted(asked, vocabulary_of(concepts=known), "concept") == [(CONCEPT, "export", ("elporti",))]


def test_a_keyword_that_is_a_thing_s_word_by_now_is_taken_out() -> None:
    vocabulary = vocabulary_of(
        keywords={"billing-export": ("fakturoj",)}, concepts=(Concept(words=("billing", "fakturoj")),)
    )
    assert drafted(Evidence(), vocabulary, "concept") == [(DROP, "billing-export", ("fakturoj",))]


def test_whoever_asks_again_in_other_words_says_which_words_are_meant() -> None:
    again = Rephrased(first="fakturoj export", then="billing export", document="billing-export", people=2)
    assert drafted(Evidence(rephrased=(again,)), vocabulary_of(), "concept") == [(CONCEPT, "billing", ("fakturoj",))]


def test_a_word_that_goes_with_everything_means_nothing() -> None:
    said = {"anchor": "halt", "basket": "bag", "candle": "light", "engine": "motor"}
    again = tuple(
        Rephrased(first=f"{word} fiaskis", then=ident, document=ident, people=4) for ident, word in said.items()
    )
    found = drafted(Evidence(rephrased=again), vocabulary_of(), "concept")
    assert sorted(found) == [(CONCEPT, f"{ident}s", (word,)) for ident, word in said.items()]


@pytest.mark.parametrize(("reach", "wanted"), [(0, False), (1, True), (4, True)])
def test_how_many_must_have_said_a_new_word_is_the_reach(reach: int, *, wanted: bool) -> None:
    found = drafted(opened(("fakturoj", "billing-export")), vocabulary_of(), "keywords", reach)
    assert (found == [(ADD, "billing-export", ("fakturoj",))]) == wanted


def test_words_that_texts_have_are_taken_only_by_a_wide_reach() -> None:
    asked = opened(("wiki billing", "billing-export"))
    assert [bool(drafted(asked, vocabulary_of(), "keywords", reach)) for reach in range(len(REACHES))] == [
        False, False, False, False, True,
    ]  # fmt: skip


def test_two_people_with_the_same_question_are_two() -> None:
    pair = Pair(question="fakturoj", document="billing-export", signals={"opened": 2}, people=2)
    assert drafted(Evidence(pairs=(pair,)), vocabulary_of(), "keywords") == [(ADD, "billing-export", ("fakturoj",))]


def test_a_word_that_becomes_a_concept_is_no_keyword_beside_it() -> None:
    found = consistent(draft(TWO, vocabulary_of(), reach=REACHES[1]))
    assert [one.kind for one in found if one.kind in ("concept", "keywords")] == ["concept"]


def test_nothing_is_raised_or_lowered_before_it_was_found_to_help() -> None:
    asked = opened(*((f"export {number}", "billing-export") for number in range(8)))
    assert drafted(asked, vocabulary_of(), "promote") == []
    assert [one.kind for one in draft(asked, vocabulary_of(), reach=CAREFUL.but(is_standing=True))] == ["promote"]
