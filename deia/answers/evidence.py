"""Passages that may bear on a question, found by words, by meaning and by links: a wide net over every catalog.

A catalog ranks documents for a reader. An answer needs single passages with their words, since one passage may say
what another leaves open.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from deia.knowledge import Query
from deia.records import Record
from deia.search.catalog import Catalog
from deia.search.question.interpret import interpret
from deia.search.question.terms import Question, named_share, read_question, stem_weights
from deia.search.ranking.confidence import Verdict, judged, observe
from deia.search.ranking.layer_preference import layer_filters
from deia.search.ranking.rank import Ranked, code_weight, rank_documents, scaled
from deia.search.ranking.retrieve import (
    Meaning,
    affinity,
    as_judged,
    as_typed,
    choose_tier,
    judging_meaning,
    judging_tier,
    retrieve,
    set_filters,
)
from deia.search.ranking.weights import fusion_weight, general_information
from deia.search.stored_document import StoredDocument

if TYPE_CHECKING:
    from deia.match.keyword import Filters  # exists only for type checkers

Place = tuple[int, int]  # a document's number and the ordinal of a passage in it
NET = 50  # passages of a catalog that are looked at
DOCUMENT = 0.5  # how much the rank of its document counts for a passage
CODE = "code"
MOST_NETS = 100  # questions whose nets are kept
_nets: dict[tuple[Catalog, str, str, str], Net] = {}


class Asked(Record):
    """A catalog, a question as that catalog understands it, and the tier and filters of the search in it."""

    catalog: Catalog
    question: Question
    meaning: Meaning
    filters: Filters
    today: str = ""  # as 2026-01-31


class Passage(Record):
    """A passage with what it says, and how it was found."""

    asked: Asked
    place: Place
    document: StoredDocument
    stems: frozenset[str]  # those of the question that it contains
    score: float  # 1 is the best of the first net
    likeness: float = 0.0  # the cosine of its meaning with the question's
    why: str = ""  # which link or name led here, if one did
    seed: Passage | None = None  # the passage that led here, if one did
    at: int = 0  # the line of that passage that led here

    @property
    def lines(self) -> tuple[int, int]:
        """Its first and last line."""
        return self.document.passages[self.place[1]]

    @property
    def text(self) -> tuple[str, ...]:
        """Its lines."""
        return tuple(self.asked.catalog.lines(self.document, *self.lines))

    @property
    def path(self) -> str:
        """The path of its document."""
        return self.document.entry.path

    @property
    def key(self) -> tuple[str, int]:
        """The id of its document and its ordinal there, which no other passage shares."""
        return self.document.entry.id, self.place[1]

    @property
    def heading(self) -> str:
        """The title of its document, its heading, and the name of what it defines, as far as it has them."""
        ordinal = self.place[1]
        symbol = self.document.natures[ordinal][1:2] if self.document.natures else ()
        parts = (self.document.entry.title, self.document.headings[ordinal], *symbol)
        return ": ".join(dict.fromkeys(filter(None, parts)))


def understood(catalog: Catalog, query: Query, tiers: Sequence[str], today: str = "") -> Asked:
    """Return a question asked `today` as a catalog understands it; raise QueryError if that lacks a filter's value."""
    interpretation = interpret(catalog, query)
    question = read_question(interpretation.query.text, catalog, strong=interpretation.strong)
    filters = {**layer_filters(query.layers), **interpretation.filters}
    meaning = choose_tier(catalog, tiers=tiers, collection=query.collection, text=query.text)
    return Asked(catalog=catalog, question=question, meaning=meaning, filters=filters, today=today)


class Net(Record):
    """The passages that a wide net brought, best first, and the verdict that a search would give."""

    passages: Sequence[Passage]
    verdict: Verdict


def net(asked: Asked) -> Net:
    """Return the passages of a catalog that fit a question best; equal questions share one net."""
    key = asked.catalog, asked.question.text, repr(sorted(asked.filters.items())), asked.meaning.name
    if (wide_net := _nets.get(key)) is None:
        wide_net = _cast(asked)
        if len(_nets) >= MOST_NETS:
            _nets.clear()  # another thread may do so, too
        _nets[key] = wide_net
    return wide_net


def _cast(asked: Asked) -> Net:
    ranked, passages = _found(asked)
    return Net(passages=passages, verdict=_verdict(asked, ranked, passages))


def _found(asked: Asked) -> tuple[list[Ranked], list[Passage]]:
    """Return the documents and the passages that fit a question best."""
    tier = asked.meaning.tier.name if asked.meaning.tier else ""
    evidence = retrieve(asked.catalog, asked.question, meaning=asked.meaning, filters=asked.filters, limit=NET)
    ranked = rank_documents(asked.catalog, asked.question, evidence, tier=tier, limit=NET)
    words = {(number, ordinal): score for number, ordinal, score in evidence.hits}
    cosines = dict(evidence.likeness.passages) if evidence.likeness else {}
    scores = _fused(asked, words, cosines, evidence.code)
    by_document = {document.number: document.score for document in reversed(ranked)}
    scores = {
        place: (1 - DOCUMENT) * score + DOCUMENT * by_document.get(place[0], 0.0) / (ranked[0].score or 1.0)
        for place, score in scores.items()
    }
    best = sorted(scores, key=lambda place: (-scores[place], place))[:NET]
    top = max((scores[place] for place in best), default=0.0)  # 0 where all are alike
    return ranked, read(asked, {place: scores[place] / top if top > 0 else 1.0 for place in best}, cosines)


def _verdict(asked: Asked, ranked: Sequence[Ranked], passages: Sequence[Passage]) -> Verdict:
    """Return the verdict of a search on the best document, by the weights that were learned for it.

    What word vectors find tells whether the question belongs where words alone were searched; see
    `deia.search.pipeline.candidates_by_meaning`.
    """
    catalog, judging = asked.catalog, judging_meaning(asked.catalog, asked.meaning)
    by_meaning = asked.but(meaning=judging) if judging.tier and not asked.meaning.tier else None
    is_code = any(catalog.document_at(best.number).type == CODE for best in ranked[:1])
    return judged(
        _observed(asked, ranked, passages),
        _judged_as(asked),
        code=is_code,
        belonging=_observed(by_meaning, *_found(by_meaning)) if by_meaning else (),
    )


def _judged_as(asked: Asked) -> str:
    """Return the name under which the verdict has weights; the net is not compared again by the sentence model."""
    tier = asked.meaning.tier
    return tier.name if tier else judging_tier(asked.catalog, asked.meaning)


def _observed(asked: Asked, ranked: Sequence[Ranked], passages: Sequence[Passage]) -> list[float]:
    """Return the observations that the verdict is based on."""
    stems: dict[int, dict[int, frozenset[str]]] = {}
    for passage in passages:
        stems.setdefault(passage.place[0], {})[passage.place[1]] = passage.stems
    catalog = asked.catalog
    question = as_typed(catalog, asked.question, _judged_as(asked))
    shown = [document for document in ranked if document.number in stems]
    words = {term.stem for term in question.terms if term.part and term.stem}
    seen = as_judged(catalog, asked.question, shown, asked.meaning)
    judging = judging_meaning(catalog, asked.meaning).but(rescorer=None)
    chosen = set_filters(asked.filters)
    return observe(
        question, seen, stems, passages=max(1, catalog.keyword.passages_of(chosen)), filters=len(asked.filters),
        akin=affinity(catalog, asked.question, judging, chosen) if seen else 0.0,
        usual=general_information(words, length=catalog.length),
    )  # fmt: skip


def read(asked: Asked, scores: Mapping[Place, float], cosines: Mapping[Place, float] = {}) -> list[Passage]:
    """Return passages with the stems of the question that they contain."""
    catalog = asked.catalog
    documents = {number: catalog.document_at(number) for number, _ in scores}
    names = {document.entry.id: number for number, document in documents.items()}
    stems = catalog.keyword.stems_by_passage(list(names), list(stem_weights(asked.question)))
    return [
        Passage(
            asked=asked, place=place, document=documents[place[0]], score=score, likeness=cosines.get(place, 0.0),
            stems=frozenset(stems[documents[place[0]].entry.id].get(place[1], ())),
        )
        for place, score in scores.items()
    ]  # fmt: skip


def _fused(
    asked: Asked, words: dict[Place, float], cosines: dict[Place, float], code: Iterable[int]
) -> dict[Place, float]:
    """Return the score of each passage by its words and its meaning."""
    by_words = scaled(words, among=len(words | cosines))
    if not cosines or asked.meaning.tier is None:
        return by_words
    by_meaning = scaled(cosines, among=len(cosines))
    weight = fusion_weight(asked.meaning.tier.name, named=named_share(asked.question))
    for_code, coded = code_weight(asked.meaning.tier.name, weight), frozenset(code)
    return {
        place: (1 - share) * by_words.get(place, 0.0) + share * by_meaning.get(place, 0.0)
        for place in words | cosines
        for share in (for_code if place[0] in coded else weight,)
    }
