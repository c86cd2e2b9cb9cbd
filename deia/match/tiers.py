"""Meaning behind one interface: tiers, each a model that turns texts into vectors which compare by their cosine.

`static` adds up word vectors and needs no numpy; `compact` is a sentence transformer and does; `transformer:MODEL` is
any that a person has. Whoever stores vectors stores a tier's digest beside them, since vectors of two models do not
compare. It refuses to know what a document is.
"""

from __future__ import annotations

from deia.match.static_vectors import Static, middle, open_static, similarities
from deia.match.tokeniser import spelled_out
from deia.records import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from deia.match.minilm import Compact
    from deia.match.transformer import Transformer

    Vector = Sequence[float]

TIERS = ("compact", "static")  # the better one first
KEYWORD_TIER = "keyword"  # what an answer names that no meaning took part in
TRANSFORMER = "transformer"  # a model of a person's own, never taken unless it is named
CHOICES = ("auto", *TIERS, KEYWORD_TIER, TRANSFORMER)  # what a person may set: the best that is there, or at most this
UNRELATED = 0.05  # the mean cosine of unrelated sentences in `compact`, whose scale verdicts were learned on
_opened: dict[str, Tier] = {}


class Tier:
    """One model, opened: what it is, how it reads a question, and how it holds it against stored vectors."""

    __slots__ = ("_last", "digest", "dimensions", "full_name", "middle", "model", "name", "similarities", "vector")

    def __init__(
        self,
        name: str,
        model: Static | Compact | Transformer,
        vector: Callable[[str], Vector],
        similarities: Callable[[Vector, bytes], list[float]],
        middle: Callable[[bytes], Vector],
    ) -> None:
        self.full_name = name  # with the model, where there is a choice
        self.name = kind_of(name)
        self.model = model
        self.digest = model.digest
        self.dimensions = model.dimensions
        self.vector = vector
        self.similarities = similarities  # of a question's vector with each of some codes, one after another
        self.middle = middle  # the mean of some codes
        self._last: tuple[str, Vector] | None = None

    def encode(self, text: str) -> Vector:
        """Give the vector of a question, made once where it is asked for again; names are read by their parts."""
        last = self._last
        if last is None or last[0] != text:
            self._last = last = (text, self.vector(spelled_out(text)))
        return last[1]


def kind_of(name: str) -> str:
    """Give a tier's name without its model."""
    return name.partition(":")[0]


def tiers_of(choice: str, *, model: str = "") -> tuple[str, ...]:
    """Give the tiers that may take part under a person's choice, the better one first; `model` is of the person's own.

    Raises:
        KeyError: there is no such choice.
    """
    if choice == TRANSFORMER:
        return (f"{TRANSFORMER}:{model}", *TIERS)
    return {CHOICES[0]: TIERS, KEYWORD_TIER: (), **{name: TIERS[at:] for at, name in enumerate(TIERS)}}[choice]


def open_tier(name: str) -> Tier:
    """Give a tier's model, opened once a process.

    Raises:
        ArtefactError: its file is missing or damaged.
        KeyError: there is no such tier.
    """
    if name not in _opened:
        kind, _, model = name.partition(":")
        _opened[name] = _transformer(model) if kind == TRANSFORMER else _OPEN[name]()
    return _opened[name]


def _static() -> Tier:
    model = open_static()
    wide = model.dimensions
    return Tier(
        "static",
        model,
        model.encode,
        lambda vector, codes: similarities(vector, codes, wide),
        lambda codes: middle(codes, wide),
    )


def _compact() -> Tier:
    from deia.match import quantised  # noqa: PLC0415 - needs numpy, which costs more than a search by words and vectors
    from deia.match.minilm import open_compact  # noqa: PLC0415 - likewise

    def held_against(vector: Vector, held: bytes) -> list[float]:
        """Give the cosines of stored vectors with one."""
        found: list[float] = quantised.similarities(vector, held).tolist()
        return found

    model = open_compact()
    return Tier(
        "compact",
        model,
        model.encode_query,
        held_against,
        lambda held: quantised.middle(held, model.dimensions).tolist(),
    )


def _transformer(name: str) -> Tier:
    from deia.match import quantised  # noqa: PLC0415 - needs numpy
    from deia.match.transformer import open_transformer  # noqa: PLC0415 - a heavy extra

    model = open_transformer(name)
    stretch = (1 - UNRELATED) / (1 - model.unrelated)

    def held_against(vector: Vector, held: bytes) -> list[float]:
        """Give the cosines of stored vectors with one, stretched so that what has nothing in common is near 0."""
        found: list[float] = (1 - (1 - quantised.similarities(vector, held)) * stretch).tolist()
        return found

    return Tier(
        f"{TRANSFORMER}:{name}",
        model,
        model.encode_query,
        held_against,
        lambda held: quantised.middle(held, model.dimensions).tolist(),
    )


_OPEN = {"static": _static, "compact": _compact}
