"""Weights learned from labelled questions: those of the fusion of words and meaning, and those of the verdict.

They are part of the package, in the file that `tools/tune_search.py` and `tools/train_confidence.py` write.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from deia import fast_json
from deia.folders import MODELS
from deia.records import TYPE_CHECKING, Record

if TYPE_CHECKING:
    from typing import Any

FILE = "search.json"
SUBSTITUTES = {"transformer": "compact"}  # other sentence transformers get the weights of the one that was measured
_loaded: dict[str, Any] = {}


class VerdictWeights(Record):
    """Coefficients of the two logistic regressions, the intercept first, and the thresholds on their probabilities."""

    belongs: Sequence[float]
    answers: Sequence[float]
    levels: Sequence[float]  # the least `answers` for high and for medium confidence
    least: float  # the least `belongs` for any answer


def fusion_weight(tier: str, *, named: float) -> float:
    """Return the weight of a tier's meaning against words; it is lower the more of a query consists of exact names."""
    weights: Mapping[str, float] = _learned()["fusion"][SUBSTITUTES.get(tier, tier)]
    return weights["weight"] + named * (weights["named"] - weights["weight"])


def verdict_weights(tier: str) -> VerdictWeights:
    """Return what the verdict learned for a tier."""
    return VerdictWeights(**_learned()["verdict"][tier])


def _learned() -> Mapping[str, Any]:
    if not _loaded:
        with open(f"{MODELS}/{FILE}", encoding="ascii") as file:
            _loaded.update(fast_json.loads(file.read()))
    return _loaded
