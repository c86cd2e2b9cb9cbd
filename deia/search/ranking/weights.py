"""What the package knows before any commons: weights learned from labelled questions, and how usual words are.

`tools/tune_search.py` and `tools/tune_order.py` write the weights of the fusion of words and meaning, and
`tools/train_confidence.py` and `tools/train_code_verdict.py` those of the verdict. A word that a commons contains says
little about a query if all software text uses it as much; `tools/usual_words.py` counted the levels in descriptions of
free software on every subject.
"""

from __future__ import annotations

import mmap
from math import log

from deia import fast_json
from deia.folders import MODELS
from deia.records import TYPE_CHECKING, Record

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any


FILE = "search.json"
CODE_MAP = "code_map.bin"  # which `code_sentences` reads
WORDS_ALONE = "words"  # the verdict where there are not even word vectors to look at
SUBSTITUTES = {"transformer": "compact"}  # other sentence transformers get the weights of the one that was measured
JUDGING_CODE = {WORDS_ALONE: "keyword"}  # what was learned of code in searches by words looks at no vectors
OF_CODE = " code"  # behind a tier's name: what tools/train_code_verdict.py learned
_loaded: dict[str, Any] = {}


class VerdictWeights(Record):
    """Coefficients of the two logistic regressions, the intercept first, and the thresholds on their probabilities."""

    belongs: Sequence[float]
    answers: Sequence[float]
    levels: Sequence[float]  # the least `answers` for high and for medium confidence
    least: float  # the least `belongs` for any answer


class ShownWeights(Record):
    """Weights of the order in which documents are shown, in parts of the best score."""

    meaning: float  # against words
    owed: float  # to the length of e passages, and as much again to that of e²
    first: float  # for a best passage that is the document's first one


def fusion_weight(tier: str, *, named: float) -> float:
    """Return the weight of a tier's meaning against words; it is lower the more of a query consists of exact names."""
    weights: Mapping[str, float] = _learned()["fusion"][SUBSTITUTES.get(tier, tier)]
    return weights["weight"] + named * (weights["named"] - weights["weight"])


def shown_weights(tier: str, *, named: float) -> ShownWeights:
    """Return the weights of the order in which documents are shown, for a query of which so much is exact names."""
    weights: Mapping[str, float] = _learned()["fusion"][SUBSTITUTES.get(tier, tier)]
    meaning = weights["shown"] + named * (weights["named"] - weights["shown"])
    return ShownWeights(meaning=meaning, owed=weights["owed"], first=weights["first"])


def verdict_weights(tier: str, *, code: bool = False) -> VerdictWeights:
    """Return what the verdict learned for a tier, for code in the best place if it learned anything about that."""
    learned: Mapping[str, Any] = _learned()["verdict"]
    of_code = f"{JUDGING_CODE.get(tier, tier)}{OF_CODE}"
    return VerdictWeights(**(learned.get(of_code, learned[tier]) if code else learned[tier]))


def _learned() -> Mapping[str, Any]:
    if not _loaded:
        with open(f"{MODELS}/{FILE}", encoding="utf-8") as file:
            _loaded.update(fast_json.loads(file.read()))
    return _loaded


# --- how usual words are ---

# One line per stem, sorted: the stem, a space, its level. The first line, without a stem, has the level of all others,
# which count as being as rare as the rarest.
USUAL_WORDS = "usual_words.txt"
SEPARATOR = " "
LEVELS = 4  # per nat; levels in whole nats, and without rounding, measured alike
# Bytes of the text that a level is for: between a line (46 on average) and a whole description (289).
DESCRIPTION = 115.0
_opened: list[mmap.mmap] = []


def general_information(stems: Iterable[str], *, length: float = DESCRIPTION) -> dict[str, float]:
    """Return, for each stem, its information in general software text, in nats: the rarer, the higher.

    The values are for passages of `length` bytes: the longer passages are, the more of them contain a word.
    """
    longer = log(length / DESCRIPTION)
    return {stem: (_level(stem) or _level("")) / LEVELS - longer for stem in stems}


def is_usual(stem: str) -> bool:
    """Return whether general software text uses a word, so that it is hardly a misspelling of another one."""
    return bool(stem and _level(stem))


def _level(stem: str) -> int:
    """Return a row's level by binary search, 0 if there is none; `low` and `high` are positions at which rows begin."""
    if not _opened:
        with open(f"{MODELS}/{USUAL_WORDS}", "rb", buffering=0) as file:
            _opened.append(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    data, key = _opened[0], f"{stem}{SEPARATOR}".encode("utf-8", "replace")
    low, high = 0, len(data)
    while low < high:
        start = data.rfind(b"\n", low, (low + high) // 2) + 1 or low
        end = data.find(b"\n", start) + 1
        row = data[start:end]
        if row.startswith(key):
            return int(row[len(key) :])
        low, high = (end, high) if row < key else (low, start)
    return 0
