"""What was learned from labelled questions, read from the package: weights of the fusion and of the verdict.

`tools/tune_search.py` and `tools/train_confidence.py` write the file. It refuses nothing: the file is part of the
program.
"""

from __future__ import annotations

from deia import fast_json
from deia.folders import MODELS
from deia.records import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

FILE = "search.json"
ALIKE = {"transformer": "compact"}  # any other sentence transformer is weighed as the one that was measured
_read: dict[str, Any] = {}


def fusion(tier: str, *, named: float) -> float:
    """Give how much a tier's meaning weighs against words: less, the more of a question names things exactly."""
    weights: Mapping[str, float] = _learned()["fusion"][ALIKE.get(tier, tier)]
    return weights["weight"] + named * (weights["named"] - weights["weight"])


def verdict_weights(tier: str) -> Mapping[str, Any]:
    """Give what the verdict learned for a tier."""
    learned: Mapping[str, Any] = _learned()["verdict"][tier]
    return learned


def _learned() -> Mapping[str, Any]:
    if not _read:
        with open(f"{MODELS}/{FILE}", encoding="ascii") as file:
            _read.update(fast_json.loads(file.read()))
    return _read
