"""Find documents for a question that was read: by words, and by meaning where the catalog's vectors allow it.

What the words found best is held against the question's meaning; what only the meaning finds is added, so that a
question in other words than the document's is not lost. Filters hold for both before anything is cut off. It refuses
vectors that another model made, and says so.
"""

from __future__ import annotations

from deia.errors import ArtefactError
from deia.match.semantic import KEYWORD_TIER, TIERS, open_tier
from deia.records import TYPE_CHECKING, Record
from deia.search.question import meant, named_share, weights
from deia.search.rank import Likeness, Ranked, rank
from deia.search.trained import fusion

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from deia.match.keyword import Filters
    from deia.match.semantic import Tier
    from deia.search.catalog import Catalog
    from deia.search.question import Question
    from deia.search.rank import Hit

PASSAGES = 200  # asked of the words at first
MOST_PASSAGES = 3_200
COARSELY, EXACTLY = 90, 30  # passages near in meaning: looked at by their signs, and kept (measured: 30 and 100 alike)


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
    for name in tiers:
        if name not in catalog.tiers:
            continue
        try:
            tier = open_tier(name)
            if tier.digest == catalog.tiers[name]["digest"]:
                catalog.vectors(name)
                return Meaning(tier=tier, warning=warning)
            wrong = f"the commons was compiled with another {name} model than this deia has"
        except ArtefactError as error:
            wrong = error.message
        warning = warning or f"searched without {name} meaning: {wrong}; run `deia compile`"
    return Meaning(warning=warning)


def retrieve(catalog: Catalog, asked: Question, *, meaning: Meaning, filters: Filters, limit: int) -> list[Ranked]:
    """Give the best documents, best first."""
    if not asked.terms:
        return []
    hits, likeness = evidence(catalog, asked, meaning=meaning, filters=filters, limit=limit)
    if meaning.tier is None:
        return _in_order(catalog, rank(hits, most=limit), limit)
    weight = fusion(meaning.tier.name, named=named_share(asked))
    return _in_order(catalog, rank(hits, likeness=likeness, meaning=weight, most=limit), limit)


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
    among = catalog.keyword.numbers(filters=filters) if filters else None
    near = vectors.near(vector, most=COARSELY, among=among)
    cosines = dict(zip(near, tier.similarities(vector, vectors.passages(near)), strict=True))
    near = sorted(near, key=lambda passage: (-cosines[passage], passage))[:EXACTLY]
    by_words = [vectors.passage(document, ordinal) for document, ordinal, _ in hits]
    unseen = [passage for passage in by_words if passage not in cosines]
    cosines.update(zip(unseen, tier.similarities(vector, vectors.passages(unseen)), strict=True))
    passages = {
        (document, ordinal): cosines[passage] for (document, ordinal, _), passage in zip(hits, by_words, strict=True)
    }
    passages.update({vectors.place(passage): cosines[passage] for passage in near})
    documents = sorted({document for document, _ in passages})
    about = tier.similarities(vector, vectors.documents(documents))
    return Likeness(passages=passages, documents=dict(zip(documents, about, strict=True)))


def _in_order(catalog: Catalog, ranked: Sequence[Ranked], limit: int) -> list[Ranked]:
    """Cut off; documents with equal scores stand in the order of their ids, whatever numbers they were given."""
    if not ranked:
        return []
    last = ranked[: max(1, limit)][-1].score
    kept = [each for each in ranked if each.score >= last]
    tied = len({each.score for each in kept}) < len(kept)
    return sorted(kept, key=lambda each: (-each.score, catalog.id(each.number)))[:limit] if tied else kept[:limit]
