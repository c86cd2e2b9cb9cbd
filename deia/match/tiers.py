"""Semantic tiers behind one interface: each tier is a model that turns texts into vectors, compared by cosine.

`static` adds up word vectors and needs no numpy; `compact` is a sentence transformer and needs it; `transformer:MODEL`
is any sentence transformer that a person has installed. Vectors of different models cannot be compared, so whoever
stores vectors also stores the tier's digest.
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

TIERS = ("compact", "static")  # best first
RESCORED = "rescored"  # the best passages by `static`, compared by `compact` when they are asked for
KEYWORD_TIER = "keyword"  # the name in an answer whose ranking used no vectors
TRANSFORMER = "transformer"  # a person's own model, used only if it is named
CHOICES = ("auto", *TIERS, KEYWORD_TIER, TRANSFORMER)  # what a person may set; a tier means "at most this one"
UNRELATED = 0.05  # the mean cosine of unrelated sentences in `compact`, on whose scale the verdict was trained
_opened: dict[str, Tier] = {}


class Tier:
    """One open model: how it encodes a query, and how it compares it with stored vectors."""

    __slots__ = ("_last", "digest", "dimensions", "full_name", "middle", "model", "name", "similarities", "vector")

    def __init__(
        self,
        name: str,
        model: Static | Compact | Transformer,
        vector: Callable[[str], Vector],
        similarities: Callable[[Vector, bytes], list[float]],
        middle: Callable[[bytes], Vector],
    ) -> None:
        self.full_name = name  # with the model, if there is a choice
        self.name = kind_of(name)
        self.model = model
        self.digest = model.digest
        self.dimensions = model.dimensions
        self.vector = vector
        self.similarities = similarities  # the cosines of a query's vector with concatenated codes
        self.middle = middle  # the mean of concatenated codes
        self._last: tuple[str, Vector] | None = None

    def encode(self, text: str) -> Vector:
        """Return the vector of a query, with names split into their parts; the last query's vector is remembered."""
        last = self._last
        if last is None or last[0] != text:
            self._last = last = (text, self.vector(spelled_out(text)))
        return last[1]


def kind_of(name: str) -> str:
    """Return a tier's name without its model."""
    return name.partition(":")[0]


def tiers_of(choice: str, *, model: str = "") -> tuple[str, ...]:
    """Return the tiers that a person's choice allows, best first; `model` names the person's own transformer.

    Whoever names the sentence model waits for it where the passages are not encoded yet.
    """
    if choice == TRANSFORMER:
        return (f"{TRANSFORMER}:{model}", *TIERS)
    if choice == TIERS[0]:
        return (TIERS[0], RESCORED, *TIERS[1:])
    return {CHOICES[0]: TIERS, TIERS[1]: TIERS[1:], KEYWORD_TIER: ()}[choice]


def open_tier(name: str) -> Tier:
    """Return a tier with its model, opened once per process."""
    if name not in _opened:
        kind, _, model = name.partition(":")
        _opened[name] = _transformer(model) if kind == TRANSFORMER else _OPEN[name]()
    return _opened[name]


def digest_of(name: str) -> str:
    """Return the digest of a tier's model; that of the one that is installed is read without opening it."""
    if name in _opened or name != TIERS[0]:
        return open_tier(name).digest
    from deia.match.minilm import installed_digest  # noqa: PLC0415 - a search by words and vectors needs no such model

    return installed_digest()


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

    def compare(vector: Vector, codes: bytes) -> list[float]:
        """Return the cosines of stored vectors with one vector."""
        cosines: list[float] = quantised.similarities(vector, codes).tolist()
        return cosines

    model = open_compact()
    return Tier(
        "compact", model, model.encode_query, compare, lambda codes: quantised.middle(codes, model.dimensions).tolist()
    )


def _transformer(name: str) -> Tier:
    from deia.match import quantised  # noqa: PLC0415 - needs numpy
    from deia.match.transformer import open_transformer  # noqa: PLC0415 - a heavy extra

    model = open_transformer(name)
    stretch = (1 - UNRELATED) / (1 - model.unrelated)

    def compare(vector: Vector, codes: bytes) -> list[float]:
        """Return the cosines of stored vectors with one, stretched so that unrelated texts are near 0."""
        cosines: list[float] = (1 - (1 - quantised.similarities(vector, codes)) * stretch).tolist()
        return cosines

    return Tier(
        f"{TRANSFORMER}:{name}",
        model,
        model.encode_query,
        compare,
        lambda codes: quantised.middle(codes, model.dimensions).tolist(),
    )


_OPEN = {"static": _static, "compact": _compact}
