"""Group questions by what they are about: by the words that they share and, with scikit-learn, by their meaning too.

With the extra `learn`, the groups come from scikit-learn's agglomerative clustering over the questions' weighted
words and word vectors. Without it, one pass over the words puts each question into the nearest group.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from importlib.util import find_spec

from deia.ledger.warehouse_schema import SMALL_WORDS
from deia.match.static_vectors import open_static
from deia.match.tokeniser import terms
from deia.records import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

PACKAGE = "sklearn"
NEAR = 0.35  # cosine of a question and a group's centroid from which the question belongs to the group
# Of the shares .2 to .65 and the distances .5 to .85, the best mean over three sets of questions (`bench/gaps.py`).
OF_MEANING = 0.5  # share of the word vectors in the similarity of two questions
FAR = 0.7  # mean cosine distance of the questions of two groups up to which the groups are merged

Weights = Mapping[str, float]


def group_questions(questions: Sequence[str], weights: Sequence[Weights]) -> list[list[int]]:
    """Return groups as the numbers of their questions; `weights` are those of each question's words."""
    if len(questions) > 1 and find_spec(PACKAGE) is not None:
        return group_by_meaning(questions, weights)
    return group_by_words(weights)


def weigh(questions: Sequence[str]) -> list[dict[str, float]]:
    """Return the weights (smoothed tf-idf, of length one) of each question's words, without words that say little."""
    words = [[word for word in terms(text) if word not in SMALL_WORDS and len(word) > 1] for text in questions]
    frequencies: dict[str, int] = {}
    for question_words in words:
        for word in set(question_words):
            frequencies[word] = frequencies.get(word, 0) + 1
    weights = {word: math.log((1 + len(words)) / (1 + number)) + 1 for word, number in frequencies.items()}
    return [
        _normal({word: question_words.count(word) * weights[word] for word in set(question_words)})
        for question_words in words
    ]


def _normal(vector: Weights) -> dict[str, float]:
    length = math.sqrt(sum(value * value for value in vector.values()))
    return {word: value / length for word, value in sorted(vector.items())} if length else {}


def group_by_words(vectors: Sequence[Weights]) -> list[list[int]]:
    """Put every vector into the nearest group, or into a new one; return the numbers of each group's members."""
    groups: list[list[int]] = []
    squares: list[float] = []  # the squared lengths of the groups' sums
    sums: dict[str, dict[int, float]] = {}  # word → group → weight in the group's sum
    for at, vector in enumerate(vectors):
        products: dict[int, float] = {}
        for word, value in vector.items():
            for group, weight in sums.get(word, {}).items():
                products[group] = products.get(group, 0.0) + value * weight
        near = min(products, key=lambda group: (-products[group] / math.sqrt(squares[group]), group), default=-1)
        if near < 0 or products[near] / math.sqrt(squares[near]) < NEAR:
            near = len(groups)
            groups.append([])
            squares.append(0.0)
        groups[near].append(at)
        for word, value in vector.items():
            before = sums.setdefault(word, {}).get(near, 0.0)
            sums[word][near] = before + value
            squares[near] += value * (2 * before + value)
    return groups


def group_by_meaning(questions: Sequence[str], weights: Sequence[Weights]) -> list[list[int]]:
    """Merge groups from the nearest on, as long as their questions are near each other on average (UPGMA)."""
    from sklearn.cluster import AgglomerativeClustering  # noqa: PLC0415 - an extra, which takes a second to import

    clustering = AgglomerativeClustering(n_clusters=None, metric="cosine", linkage="average", distance_threshold=FAR)
    groups: dict[int, list[int]] = {}
    for at, group in enumerate(clustering.fit_predict(_points(questions, weights)).tolist()):
        groups.setdefault(group, []).append(at)
    return list(groups.values())


def _points(questions: Sequence[str], weights: Sequence[Weights]) -> NDArray[np.float32]:
    """Return a row for each question: its words, then its vector less the mean of all, weighed by their shares."""
    import numpy as np  # noqa: PLC0415 - as above

    columns = {word: at for at, word in enumerate(sorted({word for vector in weights for word in vector}))}
    words = np.zeros((len(questions), len(columns)), np.float32)
    for row, vector in enumerate(weights):
        for word, value in vector.items():
            words[row, columns[word]] = value
    static = open_static()
    meanings = np.array([static.encode(text) for text in questions], np.float32)
    meanings -= meanings.mean(axis=0)
    meanings /= np.maximum(np.linalg.norm(meanings, axis=1, keepdims=True), np.float32(1e-6))
    return np.hstack([words * np.float32((1 - OF_MEANING) ** 0.5), meanings * np.float32(OF_MEANING**0.5)])
