"""Compare the best passages with a query by the sentence model where the catalog has no vectors of it yet.

The passages are those that words and word vectors find. Encoding them takes a second or two, so this is done only for
whoever names the model; everybody else is answered by word vectors meanwhile.
"""

from __future__ import annotations

from typing import TypeVar

from deia.match.encoding import encoded_by
from deia.match.numerics import Floats, np
from deia.match.passage_vectors import specificity, subject, with_subjects
from deia.match.tiers import TIERS
from deia.match.tokeniser import spelled_out
from deia.records import TYPE_CHECKING
from deia.search.question.terms import corrected_text, named_share
from deia.search.ranking.code_sentences import mapped, path_of, sentence_of_code
from deia.search.ranking.rank import APART, Likeness, apart, code_weight, rank
from deia.search.ranking.weights import fusion_weight

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from deia.match.tiers import Tier
    from deia.search.catalog import Catalog
    from deia.search.question.terms import Question
    from deia.search.ranking.rank import Evidence, Passage
    from deia.search.ranking.retrieve import Meaning
    from deia.search.stored_document import StoredDocument

K = TypeVar("K", "Passage", int)
# nDCG@10 of a quarter of the questions of two sets (k8s-runbooks, owasp-checklist): static .866 and .539, compact .877
# and .559; here 50 passages of two a document .879 and .555, of three .870 and .557; 32 of two .555 on the latter.
MOST = 50
OF_DOCUMENT = 2
FEWEST, LEAST_SPREAD = 8, 0.01  # similarities from which a line is drawn through them


def rescored(catalog: Catalog, question: Question, evidence: Evidence, meaning: Meaning) -> Likeness | None:
    """Return the similarities of the best passages by the model that rescores, or those that there are without one."""
    tier = meaning.rescorer
    weight = fusion_weight(meaning.tier.name, named=named_share(question)) if meaning.tier else 0.0
    places = _best_places(apart(evidence), weight, code_weight(meaning.tier.name, weight) if meaning.tier else 0.0)
    if tier is None or evidence.likeness is None or not places:
        return evidence.likeness
    documents = [catalog.document_at(number) for number in places]
    passages, wholes = _encoded(catalog, tier, documents, places, evidence.code)
    query = np.asarray(tier.encode(corrected_text(question)), "f4")
    named = [(number, ordinal) for number, ordinals in places.items() for ordinal in ordinals]
    return Likeness(
        passages=_completed(dict(zip(named, (passages @ query).tolist(), strict=True)), evidence.likeness.passages),
        documents=_completed(dict(zip(places, (wholes @ query).tolist(), strict=True)), evidence.likeness.documents),
    )


def _encoded(
    catalog: Catalog, tier: Tier, documents: Sequence[StoredDocument], places: Mapping[int, list[int]],
    code: Collection[int],
) -> tuple[Floats, Floats]:  # fmt: skip
    """Return the vectors of the passages at their places, and of the documents; code has no subject, as in catalogs."""
    subjects = [spelled_out(subject(document.entry)) for document in documents]
    is_code = np.array([document.number in code and tier.name == TIERS[0] for document in documents])
    texts = [text for document in documents for text in _texts(catalog, document, places[document.number], code)]
    vectors = encoded_by(tier, [*subjects, *texts])
    split, counts = len(subjects), [*map(len, places.values())]
    abouts, passages = vectors[:split], vectors[split:]
    rows = np.repeat(is_code, counts)
    abouts[is_code], passages[rows] = 0, mapped(passages[rows])
    return with_subjects(abouts, [*map(specificity, subjects)], passages, counts)


def _completed(exact: dict[K, float], plain: Mapping[K, float]) -> dict[K, float]:
    """Return the exact similarities, and for the rest what word vectors let expect: the scale depends on all."""
    known = [plain[place] for place in exact]
    slope, base = 1.0, 0.0
    if len(known) > FEWEST and max(known) - min(known) > LEAST_SPREAD:
        slope, base = np.polyfit(known, list(exact.values()), 1).tolist()
    return {**{place: max(0.0, slope) * cosine + base for place, cosine in plain.items()}, **exact}


def _best_places(evidence: Evidence, weight: float, code_meaning: float) -> dict[int, list[int]]:
    """Return the ordinals of the passages to compare, by document, the best documents first."""
    likeness = evidence.likeness
    if likeness is None:
        return {}
    top = max((score for _, _, score in evidence.hits), default=0.0) or 1.0
    scores: dict[Passage, float] = {place: weight * cosine for place, cosine in likeness.passages.items()}
    for document, ordinal, score in evidence.hits:
        place = document, ordinal
        scores[place] = scores.get(place, 0.0) + (1 - weight) * score / top
    ordinals: dict[int, list[int]] = {}
    for document, ordinal in sorted(scores, key=lambda place: (-scores[place], place)):
        ordinals.setdefault(document, []).append(ordinal)
    places: dict[int, list[int]] = {}
    left = MOST
    for ranked in rank(evidence.hits, likeness=likeness, meaning=weight, code_meaning=code_meaning, most=MOST):
        best = ordinals[ranked.number][: min(left, OF_DOCUMENT)]
        places.setdefault(ranked.number % APART, []).extend(best)
        left -= len(best)
    return {number: ordinals for number, ordinals in places.items() if ordinals}


def _texts(catalog: Catalog, document: StoredDocument, ordinals: list[int], code: Collection[int]) -> list[str]:
    """Return what the model reads of some passages of a document."""
    texts = ["\n".join(catalog.lines(document, *document.passages[ordinal])) for ordinal in ordinals]
    if document.number not in code:
        return texts
    path = path_of(document.entry.id)
    natures = [document.natures[ordinal] if document.natures else () for ordinal in ordinals]
    symbols = ["".join(nature[1:2]) for nature in natures]
    headings = [document.headings[ordinal] for ordinal in ordinals]
    return [sentence_of_code(path, *parts) for parts in zip(symbols, headings, texts, strict=True)]
