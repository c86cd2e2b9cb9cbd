"""How similar a query is to the commons as a whole, which words and the nearest passage do not show.

A homonym finds a passage in a commons about something else: *a minimum branching* finds one about Git. The other
passages are then unlike the query. Only a sample of the passages' vectors is read. A person's own model is not used,
because the weights were learned with the models that come with deia.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import mul

from deia.match.tiers import TRANSFORMER
from deia.search.catalog import Catalog
from deia.search.question.terms import Question, corrected_text
from deia.search.ranking.retrieve import Meaning

SAMPLE = 64  # passages, evenly spread; 32, 64, 128 and all of them measured alike
MOST = 2.0  # limits the result: if hardly two of a few passages are alike, a ratio to that means nothing


def affinity(catalog: Catalog, question: Question, meaning: Meaning) -> float:
    """Return the similarity of a query with the commons' passages, relative to that of the passages with each other.

    About 0 for an unrelated query; also 0 without a tier or with a person's own model.
    """
    if meaning.tier is None or meaning.name == TRANSFORMER:
        return 0.0
    vectors = catalog.vectors(meaning.tier.name)
    sample = range(0, len(vectors), max(1, -(-len(vectors) // SAMPLE)))
    return relative_similarity(
        meaning.tier.encode(corrected_text(question)), meaning.tier.middle(vectors.passages(sample))
    )


def relative_similarity(question: Sequence[float], middle: Sequence[float]) -> float:
    """Return the mean cosine of a query with passages, relative to that among the passages, from their mean vector.

    The mean cosine of unit vectors with a vector is its dot product with their mean; the mean among themselves is
    therefore the square of the mean's length.
    """
    among = sum(map(mul, middle, middle))
    return max(-MOST, min(MOST, sum(map(mul, question, middle)) / among)) if among else 0.0
