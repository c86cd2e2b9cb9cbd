"""Vectors of many texts by a sentence model: by onnxruntime where that is installed, by numpy elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec

from deia.match.minilm import Compact
from deia.match.numerics import Floats
from deia.match.static_vectors import Static
from deia.match.tiers import Tier
from deia.records import TYPE_CHECKING

if TYPE_CHECKING:
    from deia.match.minilm import Network

THREADS = 2
WORTH_OPENING = 16  # texts: onnxruntime takes half a second to import and to open


def encoded_by(tier: Tier, texts: Sequence[str], *, most: int = 0) -> Floats:
    """Return the vectors of texts, one per row; raise TypeError if the tier has no sentence model.

    `most` is how many texts there are in all, of which these are a part.
    """
    if isinstance(tier.model, Static):
        raise TypeError(f"{tier.name} is not a sentence model")
    if isinstance(tier.model, Compact):
        network = _network(tier.model) if max(most, len(texts)) >= WORTH_OPENING else None
        return tier.model.encode(texts, threads=THREADS, network=network)
    return tier.model.encode(texts, threads=THREADS)


def read_by(tier: Tier, text: str) -> str:
    """Return what a model reads of a text: the compact one knows neither capitals nor blanks, nor what is far back."""
    return tier.model.normalised(text) if isinstance(tier.model, Compact) else text


@cache
def _network(model: Compact) -> Network | None:
    if not (find_spec("onnx") and find_spec("onnxruntime")):
        return None
    from deia.match.onnx_network import open_network  # noqa: PLC0415 - an extra, whose import takes .3 s

    return open_network(model)
