"""Meaning behind one interface: tiers, each a model that turns texts into vectors which compare by their cosine.

`static` adds up word vectors and needs no numpy; `compact` is a sentence transformer and does. Whoever stores vectors
stores a tier's digest beside them, since vectors of two models do not compare. It refuses to know what a document is.
"""

from __future__ import annotations

from deia.match.static import Static, open_static, similarities
from deia.match.terms import spelled_out
from deia.records import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from deia.match.compact import Compact

    Vector = Sequence[float]

TIERS = ("compact", "static")  # the better one first
KEYWORD_TIER = "keyword"  # what an answer names that no meaning took part in
CHOICES = ("auto", *TIERS, KEYWORD_TIER)  # what a person may set: the best that is there, or at most this one
_opened: dict[str, Tier] = {}


class Tier:
    """One model, opened: what it is, how it reads a question, and how it holds it against stored vectors."""

    __slots__ = ("digest", "dimensions", "model", "name", "similarities", "vector")

    def __init__(
        self,
        name: str,
        model: Static | Compact,
        vector: Callable[[str], Vector],
        similarities: Callable[[Vector, bytes], list[float]],
    ) -> None:
        self.name = name
        self.model = model
        self.digest = model.digest
        self.dimensions = model.dimensions
        self.vector = vector
        self.similarities = similarities  # of a question's vector with each of some codes, one after another

    def encode(self, text: str) -> Vector:
        """Give the vector of a question; names in it are read by their parts."""
        return self.vector(spelled_out(text))


def tiers_of(choice: str) -> tuple[str, ...]:
    """Give the tiers that may take part under a person's choice, the better one first."""
    return TIERS if choice == CHOICES[0] else TIERS[CHOICES.index(choice) - 1 :]


def open_tier(name: str) -> Tier:
    """Give a tier's model, opened once a process.

    Raises:
        ArtefactError: its file is missing or damaged.
        KeyError: there is no such tier.
    """
    if name not in _opened:
        _opened[name] = _OPEN[name]()
    return _opened[name]


def _static() -> Tier:
    model = open_static()
    return Tier("static", model, model.encode, lambda vector, codes: similarities(vector, codes, model.dimensions))


def _compact() -> Tier:
    from deia.match import codes  # noqa: PLC0415 - needs numpy, which costs more than a search by words and vectors
    from deia.match.compact import open_compact  # noqa: PLC0415 - likewise

    def held_against(vector: Vector, held: bytes) -> list[float]:
        found: list[float] = codes.similarities(vector, held).tolist()
        return found

    model = open_compact()
    return Tier("compact", model, model.encode_query, held_against)


_OPEN = {"static": _static, "compact": _compact}
