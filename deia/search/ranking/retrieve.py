"""Find documents for a question that was read: by words, and by meaning where the catalog's vectors allow it.

What the words found best is held against the question's meaning; what only the meaning finds is added, so that a
question in other words than the document's is not lost. Filters hold for both before anything is cut off. It refuses
vectors that another model made, and says so.
"""

from __future__ import annotations

from deia.errors import ArtefactError
from deia.match.keyword import ALSO, NUMBERS
from deia.match.tiers import KEYWORD_TIER, TIERS, TRANSFORMER, open_tier
from deia.records import TYPE_CHECKING, Record
from deia.search.question.terms import meant, named_share, weights
from deia.search.ranking.rank import BESIDE, Likeness, Ranked, rank, strengthened
from deia.search.ranking.weights import fusion

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from deia.match.keyword import Filters
    from deia.match.tiers import Tier, Vector
    from deia.match.vector_store import Vectors
    from deia.search.catalog import Catalog
    from deia.search.question.terms import Question
    from deia.search.ranking.rank import Hit

PASSAGES = 200  # asked of the words at first
MOST_PASSAGES = 3_200
COARSELY, EXACTLY = 90, 30  # passages near in meaning: looked at by their signs, and kept (measured: 30 and 100 alike)
FAR = 400  # looked at of a catalog with lists: of 150,000 passages .74 of the ten nearest are among 90, .90 among 400
MOST_COUNTED_OUT = 10_000  # documents
MOST_LIKELY = 10_000  # passages


class Meaning(Record):
    """What takes part in a search besides words: a tier, or none and why not."""

    tier: Tier | None = None
    warning: str = ""

    @property
    def name(self) -> str:
        """The tier's name, as an answer tells it."""
        return self.tier.name if self.tier else KEYWORD_TIER


def meaning_of(catalog: Catalog, *, tiers: Iterable[str] = TIERS) -> Meaning:
    """Choose the best of the tiers whose vectors are in the catalog and were made by the model that is here."""
    warning = ""
    for full_name in tiers:
        name, _, model = full_name.partition(":")
        held = catalog.tiers.get(name)
        if held is None and name != TRANSFORMER:
            continue
        try:
            wrong = _other_model(held, model) if name == TRANSFORMER else ""
            tier = None if wrong else open_tier(full_name)
            if tier and held and tier.digest == held["digest"]:
                catalog.vectors(name)
                return Meaning(tier=tier, warning=warning)
            wrong = wrong or f"the commons was compiled with another {name} model than this deia has"
        except ArtefactError as error:
            wrong = error.message
        warning = warning or f"searched without {name} meaning: {wrong}; run `deia compile`"
    return Meaning(warning=warning)


def _other_model(held: Mapping[str, Any] | None, model: str) -> str:
    """Say what is wrong with a person's own model before it is loaded, which takes seconds."""
    if not model:
        return "no model is set, as `deia model use MODEL` would"
    if held is None:
        return f"the commons was compiled without {model}"
    return "" if held.get("model") == model else f"the commons was compiled with {held.get('model')}, not with {model}"


def retrieve(catalog: Catalog, asked: Question, *, meaning: Meaning, filters: Filters, limit: int) -> list[Ranked]:
    """Give the best documents, best first."""
    if not asked.terms:
        return []
    hits, likeness = evidence(catalog, asked, meaning=meaning, filters=filters, limit=limit)
    strengths = catalog.strengths
    most = limit + BESIDE if strengths else limit
    if meaning.tier is None:
        ranked = rank(hits, most=most)
    else:
        weight = fusion(meaning.tier.name, named=named_share(asked))
        ranked = rank(hits, likeness=likeness, meaning=weight, most=most)
    return _in_order(catalog, _strengthened(catalog, ranked, strengths) if strengths else ranked, limit)


def _strengthened(catalog: Catalog, ranked: Sequence[Ranked], strengths: Mapping[str, float]) -> list[Ranked]:
    """Count in what the index says of documents' standing."""
    names = {each.number: catalog.id(each.number) for each in ranked}
    return strengthened(ranked, {number: strengths[name] for number, name in names.items() if name in strengths})


def evidence(
    catalog: Catalog, asked: Question, *, meaning: Meaning, filters: Filters, limit: int
) -> tuple[list[Hit], Likeness | None]:
    """Give what words found for a question, and how near in meaning that and a little more is."""
    passages = max(PASSAGES, 2 * limit)
    while True:
        hits = catalog.keyword.passages(weights(asked), filters=filters, limit=passages)
        enough = len({document for document, _, _ in hits}) >= limit
        if enough or len(hits) < passages or passages >= MOST_PASSAGES:
            break
        passages *= 4
    return hits, _likeness(catalog, asked, hits, meaning.tier, filters) if meaning.tier else None


def _likeness(
    catalog: Catalog,
    asked: Question,
    hits: Sequence[Hit],
    tier: Tier,
    filters: Filters,
) -> Likeness:
    """Hold the question's meaning against the passages that words found, and against those nearest to it."""
    vectors, vector = catalog.vectors(tier.name), tier.encode(meant(asked))
    near = _near(catalog, vectors, vector, filters)
    by_words = [vectors.passage(document, ordinal) for document, ordinal, _ in hits]
    every = list(dict.fromkeys((*near, *by_words)))
    cosines = dict(zip(every, tier.similarities(vector, vectors.passages(every)), strict=True))
    near = sorted(near, key=lambda passage: (-cosines[passage], passage))[:EXACTLY]
    passages = {
        (document, ordinal): cosines[passage] for (document, ordinal, _), passage in zip(hits, by_words, strict=True)
    }
    passages.update({vectors.place(passage): cosines[passage] for passage in near})
    documents = sorted({document for document, _ in passages})
    about = tier.similarities(vector, vectors.documents(documents))
    return Likeness(passages=passages, documents=dict(zip(documents, about, strict=True)))


def _near(catalog: Catalog, vectors: Vectors, vector: Vector, filters: Filters) -> list[int]:
    """Give the passages that agree best with a question by their signs, among those that pass the filters.

    Of a large catalog those that pass are not counted out where they are many: as many more are taken as will leave
    enough, and the index tells which of them pass.
    """
    coarsely = COARSELY if vectors.lists is None else FAR
    if not filters:
        return vectors.near(vector, most=coarsely)
    passing = catalog.keyword.count(filters=filters) if vectors.lists else 0
    if passing > MOST_COUNTED_OUT:
        likely = vectors.near(vector, most=min(MOST_LIKELY, 2 * coarsely * len(catalog) // passing))
        documents = frozenset(vectors.place(passage)[0] for passage in likely)
        among = catalog.keyword.numbers(filters={**filters, ALSO * (1 + len(filters)) + NUMBERS: documents})
        found = [passage for passage in likely if vectors.place(passage)[0] in among]
        if len(found) >= EXACTLY:
            return found[: 2 * coarsely]
    return vectors.near(vector, most=coarsely, among=catalog.keyword.numbers(filters=filters))


def _in_order(catalog: Catalog, ranked: Sequence[Ranked], limit: int) -> list[Ranked]:
    """Cut off; documents with equal scores stand in the order of their ids, whatever numbers they were given."""
    if not ranked:
        return []
    last = ranked[: max(1, limit)][-1].score
    kept = [each for each in ranked if each.score >= last]
    tied = len({each.score for each in kept}) < len(kept)
    return sorted(kept, key=lambda each: (-each.score, catalog.id(each.number)))[:limit] if tied else kept[:limit]
