"""What a passage's vector is made of, by whatever model.

It is that of its text mixed with that of its document's subject, since a passage from the middle of a document often
does not name the subject. The subject comes from the entry, or from the passages if the entry gives only a word, such
as the name of a command.
"""

from __future__ import annotations

from collections.abc import Sequence

from deia.knowledge import Entry
from deia.match import quantised
from deia.match.numerics import Floats, NDArray, np
from deia.match.static_vectors import MIDDLE, SCALE, Static
from deia.records import TYPE_CHECKING

if TYPE_CHECKING:
    from deia.match.minilm import Compact
    from deia.match.transformer import Transformer

    Vector = Sequence[float]

# Share of the subject in a passage's vector. Measured on three sets with ABOUT of `rank`: .2 and .4 are within .003
# nDCG@10.
SUBJECT_SHARE = 0.3
SPECIFIC_WORDS = 3  # a subject of so many words is specific; a single word is not (measured: .016 nDCG@10)


def subject(entry: Entry) -> str:
    """Return what a document is about, in the words of its entry."""
    return ". ".join(part for part in (entry.title, entry.summary, ", ".join(entry.keywords)) if part)


def specificity(spelled: str) -> float:
    """Return how well a subject, its names split, says what the document is about: from 0 to 1, by its words."""
    return min(1.0, max(0, len(spelled.replace("-", " ").split()) - 1) / (SPECIFIC_WORDS - 1))


def with_subjects(
    abouts: Floats, weights: Sequence[float], texts: Floats, counts: Sequence[int]
) -> tuple[Floats, Floats]:
    """Return the vectors of passages and of their documents, given those of their subjects and texts.

    `weights` says how specific each document's subject is, `counts` how many passages it has.
    """
    owners = np.repeat(np.arange(len(counts)), counts)
    passages = scaled_to_one(texts + SUBJECT_SHARE * abouts[owners])
    whole = scaled_to_one(np.add.reduceat(passages, np.cumsum([0, *counts[:-1]])))
    shares = np.array(weights, abouts.dtype)[:, None]
    return passages, scaled_to_one(shares * abouts + (1 - shares) * whole)


def scaled_to_one(vectors: Floats) -> Floats:
    """Return vectors, one per row, at the length 1; a zero vector stays."""
    lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))[:, None]
    scaled: Floats = vectors / np.where(lengths > 0, lengths, 1)
    return scaled


def decoded(model: Static | Compact | Transformer, stored: NDArray[np.uint8]) -> Floats:
    """Return stored vectors, one per row, as floats."""
    if not isinstance(model, Static):
        return stored.view("i1") * np.float32(quantised.step(stored.shape[1]))
    floats: Floats = (stored.astype("f4") - np.float32(MIDDLE)) / np.float32(SCALE)
    floats[~stored.any(axis=1)] = 0  # all zero codes stand for the zero vector
    return floats
