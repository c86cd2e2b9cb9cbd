"""How like a question is to a commons on the whole: what words and the nearest passage do not say.

A homonym finds a passage in a commons about something else, such as *a minimum branching* in one about Git; the rest of
what is there then is unlike the question. It reads a sample of the passages' vectors. It refuses to judge, and to
compare by a model whose unrelated texts are alike: what it says was learned of those that are shipped.
"""

from __future__ import annotations

from operator import mul

from deia.match.tiers import TRANSFORMER
from deia.records import TYPE_CHECKING
from deia.search.question.terms import meant

if TYPE_CHECKING:
    from collections.abc import Sequence

    from deia.search.catalog import Catalog
    from deia.search.question.terms import Question
    from deia.search.ranking.retrieve import Meaning

SAMPLE = 64  # passages, evenly spread; 32, 64, 128 and all of them measured alike
MOST = 2.0  # of a few passages about everything hardly two are alike, and a share of that says nothing


def akin(catalog: Catalog, asked: Question, meaning: Meaning) -> float:
    """Give how like a question is to the commons' passages, as a share of how like those are to each other.

    About 0 for what has nothing to do with them; 0 too without meaning, and by a model of a person's own.
    """
    if meaning.tier is None or meaning.name == TRANSFORMER:
        return 0.0
    vectors = catalog.vectors(meaning.tier.name)
    every = range(0, len(vectors), max(1, -(-len(vectors) // SAMPLE)))
    return share(meaning.tier.encode(meant(asked)), meaning.tier.middle(vectors.passages(every)))


def share(question: Sequence[float], middle: Sequence[float]) -> float:
    """Give the cosines of a question with passages as a share of those of the passages, by their mean vector.

    The mean of the cosines of unit vectors with a vector is its product with their mean, so that the mean of all of
    theirs is the mean's square.
    """
    among = sum(map(mul, middle, middle))
    return max(-MOST, min(MOST, sum(map(mul, question, middle)) / among)) if among else 0.0
