"""Classify what somebody asks: the type of question, whether anything has to be looked up, and how to look for it.

Two logistic models over the words of a text, over classes of words and over the mean of the word vectors decide; their
weights are in deia/models/questions.json (tools/train_questions.py). One rule comes before them: a text that announces
an act always needs retrieval, even if the rest of it is small talk.
"""

from __future__ import annotations

from itertools import pairwise
from math import exp
from operator import mul

from deia import fast_json
from deia.errors import ArtefactError
from deia.fast_json import Json
from deia.folders import MODELS
from deia.match.tiers import open_tier
from deia.match.tokeniser import fold
from deia.records import TYPE_CHECKING, Record
from deia.search.question.classify import FILLERS, GREETINGS, QUESTION_WORDS, TALK
from deia.tables import Tables

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

TYPES = FACTUAL, PROCEDURAL, CONCEPTUAL, NAVIGATIONAL, CONVERSATIONAL = (
    "factual", "procedural", "conceptual", "navigational", "conversational",
)  # fmt: skip
MODES = KEYWORD, SEMANTIC, HYBRID = ("keyword", "semantic", "hybrid")
TOP_K = {FACTUAL: 3, PROCEDURAL: 5, CONCEPTUAL: 8, NAVIGATIONAL: 3, CONVERSATIONAL: 5}
TABLES = Tables(__file__)
CLASSES = {name: TABLES.words(name) for name in TABLES.listed("kinds")}
OPENERS = TABLES.words("openers")
QUESTIONS_BACK = {
    frozenset(line.partition(": ")[0].split(", ")): line.partition(": ")[2] for line in TABLES.lines("questions back")
}
YES_OR_NO = TABLES.words("yes or no")
LONGEST = 400  # characters that are looked at: how somebody asks is seen at the beginning and the end
UNCLEAR = 0.5  # below this probability of the type, deia asks back
SOME_LONG, MANY_LONG = 12, 25  # more words than these make a question of medium, and of high complexity
FORMS = {  # two words, one after the other, that say what is asked for
    name: tuple(map(frozenset, (part.split() for part in value.split(" | "))))
    for name, value in TABLES.pairs("forms").items()
}
LENGTHS = (2, 4, 7, 12, 20)
SPREAD = 3.0  # the length of the mean vector, beside features that are 0 or 1; 2 is as good, 5 worse
UNTOLD = ("length", "mark", "no mark", "talk", "begins with another")  # features that tell a person nothing
FILE = "questions.json"
_learned: dict[str, Any] = {}


class Classification(Record):
    """What kind of question a text is, and how to look for an answer."""

    type: str
    needs_retrieval: bool
    confidence: float
    mode: str = HYBRID
    top_k: int = 5
    complexity: str = "low"
    kind: str = ""  # of text, as `deia.search.question.classify` has them
    filters: Mapping[str, Json] = {}
    reasoning: str = ""
    clarify: str = ""  # what to ask back if the type is unclear

    def to_dict(self) -> dict[str, Json]:
        """Return the classification as an answer shows it."""
        back = {"clarify": self.clarify} if self.clarify else {}
        return {
            "type": self.type, "needsRetrieval": self.needs_retrieval, "confidence": round(self.confidence, 3),
            "suggestedMode": self.mode, "suggestedTopK": self.top_k, "filters": dict(self.filters),
            "complexity": self.complexity, "reasoning": self.reasoning, "kind": self.kind, **back,
        }  # fmt: skip


def classify(text: str, *, kind: str = "", filters: Mapping[str, Json] = {}) -> Classification:
    """Return what kind of question a text is; `kind` and `filters` are how a search interprets it."""
    words = _words(text)
    feature_names, vector = sorted(features(text)), meaning(text)
    announced = announced_act(words)
    odds = {name: _odds(feature_names, vector, f"type {name}") for name in TYPES}
    shares = _shares(odds)
    ranked = sorted(TYPES, key=lambda name: -shares[name])
    is_talk = ranked[0] == CONVERSATIONAL and any(map(_is_said, words))
    best = CONVERSATIONAL if announced or is_talk else next(name for name in ranked if name != CONVERSATIONAL)
    needed = bool(announced) or _odds(feature_names, vector, "retrieval") > 0 or best != ranked[0]
    likely = [name for name in ranked if name != CONVERSATIONAL][:2]
    is_unclear = needed and not announced and shares[best] < UNCLEAR
    return Classification(
        type=best, needs_retrieval=needed, confidence=1.0 if announced else shares[best], kind=kind, filters=filters,
        mode=_mode(best, kind, words), top_k=TOP_K[best], complexity=_complexity(text, words),
        reasoning=f"it announces an act: {announced}" if announced else _reasons(feature_names, best),
        clarify=QUESTIONS_BACK[frozenset(likely)] if is_unclear else "",
    )  # fmt: skip


def announced_act(words: Sequence[str]) -> str:
    """Return the verb of an act that a text announces or agrees to after opening words such as "ok", or ""."""
    for number, word in enumerate(words):
        if word not in OPENERS and word not in GREETINGS:
            is_said = number == len(words) - 1 and word in CLASSES["talk"]  # "ok, stop"
            return word if number and word in CLASSES["acts"] and not is_said else ""
    return ""


def meaning(text: str) -> list[float]:
    """Return the mean of a text's word vectors, scaled to the length `SPREAD`; empty if no word has a vector."""
    try:
        return [SPREAD * value for value in open_tier("static").model.encode(_shown(text))]
    except ArtefactError:  # the vectors are missing or damaged; the words decide alone
        return []


def features(text: str) -> set[str]:
    """Return the features of a text beside its meaning: single words and pairs, classes of words, its form."""
    return set(_features(text, _words(text)))


def _features(text: str, words: Sequence[str]) -> Iterator[str]:
    yield f"length {sum(len(words) > most for most in LENGTHS)}"
    yield "mark" if text.rstrip().endswith("?") else "no mark"
    for number, word in enumerate(words):
        yield f"has {word}"
        known = [name for name, members in CLASSES.items() if word in members]
        yield from (f"has a word of {name}" for name in known)
        if number == 0:
            yield f"begins {word}"
            yield from (f"begins with a word of {name}" for name in known)
            yield "begins with a question word" if word in QUESTION_WORDS else "begins with another word"
        if number == len(words) - 1:
            yield from (f"ends with a word of {name}" for name in known)
    for pair in pairwise(words):
        yield f"has {' '.join(pair)}"
        yield from (f"asks {name}" for name, (first, then) in FORMS.items() if pair[0] in first and pair[1] in then)
    if words and words[0] in YES_OR_NO:
        yield "asks for yes or no"
    if (words and all(word in GREETINGS or word in FILLERS for word in words)) or " ".join(words) in TALK:
        yield "nothing but talk"
    yield f"talk {4 * sum(map(_is_said, words)) // max(1, len(words))}"


def _is_said(word: str) -> bool:
    """Return whether a word is one of small talk."""
    return word in CLASSES["talk"] or word in GREETINGS or word in FILLERS


def _words(text: str) -> list[str]:
    shown = fold(_shown(text).replace("\u2019", "'"))
    stripped = (word.strip(".,;:!?()[]{}\"'`…*_-\u2013\u2014~") for word in shown.split())
    return [word.replace("'", "") for word in stripped if word]


def _shown(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST // 2]} {text[-LONGEST // 2 :]}"


def _weights(name: str) -> Mapping[str, float]:
    if not _learned:
        with open(f"{MODELS}/{FILE}", encoding="utf-8") as file:
            _learned.update(fast_json.loads(file.read()))
    weights: Mapping[str, float] = _learned[name]
    return weights


def _odds(feature_names: Sequence[str], vector: Sequence[float], name: str) -> float:
    weights = _weights(name)
    of_meaning: Sequence[float] = _learned["meaning"][name]
    return sum(map(mul, of_meaning, vector), weights[""] + sum(weights.get(feature, 0.0) for feature in feature_names))


def _shares(odds: Mapping[str, float]) -> dict[str, float]:
    most = max(odds.values())
    powers = {name: exp(value - most) for name, value in odds.items()}
    return {name: power / sum(powers.values()) for name, power in powers.items()}


def _reasons(feature_names: Sequence[str], best: str) -> str:
    """Return in words which features spoke most for a type."""
    weights = _weights(f"type {best}")
    telling = [feature for feature in feature_names if weights.get(feature, 0.0) > 0 and not feature.startswith(UNTOLD)]
    first = sorted(telling, key=lambda feature: -weights[feature])[:3]
    return f"it {', '.join(first)}" if first else "nothing speaks for another type"


def _mode(best: str, kind: str, words: Sequence[str]) -> str:
    """Return how to search: exact names are found by words, and explanations by meaning."""
    if kind in ("error", "command") or any(char.isdigit() or char in "_/=" for word in words for char in word):
        return KEYWORD if len(words) <= SOME_LONG else HYBRID
    return SEMANTIC if best == CONCEPTUAL and len(words) > LENGTHS[2] else HYBRID


def _complexity(text: str, words: Sequence[str]) -> str:
    parts = text.count("?") + sum(word in ("and", "or", "then", "versus", "vs") for word in words)
    return "high" if len(words) > MANY_LONG or parts > 2 else "medium" if len(words) > SOME_LONG or parts > 1 else "low"
