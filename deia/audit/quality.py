"""The quality gate: whether an answer may be trusted as it is, or is to be looked into or repaired.

Cosines and fused scores differ between models, so no fixed threshold on them holds for all. What counts here is
the calibrated probability that the best document answers the question, and the levels that were learned with it for
each model (`deia.search.ranking.confidence`). The other documents have that probability in proportion to their scores.
A low mean, a high variance or a single source matters only while the best document is uncertain, since each further
document shown lowers the mean of the best answer, too.
"""

from __future__ import annotations

from deia.fast_json import Json
from deia.records import TYPE_CHECKING, Record
from deia.search.answer import NATURAL, SMALL_TALK, TOO_BROAD
from deia.search.ranking.weights import verdict_weights

if TYPE_CHECKING:
    from collections.abc import Sequence

    from deia.audit.state import State
    from deia.search.answer import Answer

TRUST, DEBUG, REPAIR = RECOMMENDATIONS = ("trust", "debug", "repair")
LOW_MEAN = 0.5  # of the level for medium confidence
VARIED = 0.05  # the variance of probabilities from which one document stands alone


class Quality(Record):
    """How good the evidence of an answer is."""

    is_valid: bool
    min_score: float = 0.0  # scores are probabilities
    avg_score: float = 0.0
    variance: float = 0.0
    issues: tuple[str, ...] = ()
    recommendation: str = TRUST

    def to_dict(self) -> dict[str, Json]:
        """Return the quality as an answer shows it."""
        return {
            "isValid": self.is_valid, "minScore": round(self.min_score, 3), "avgScore": round(self.avg_score, 3),
            "variance": round(self.variance, 4), "issues": [*self.issues], "recommendation": self.recommendation,
        }  # fmt: skip


def quality_of(answer: Answer, state: State | None = None) -> Quality:
    """Return the quality of an answer to a question in words; `state` is that of the commons it came from."""
    scores = probabilities(answer)
    high, medium = verdict_weights(answer.audit.tier).levels
    issues = tuple(_issues(answer, scores, high=high, medium=medium))
    is_valid = bool(scores) and scores[0] >= medium
    is_sound = state is None or not state.findings
    recommendation = TRUST if is_valid and not issues and (state is None or state.is_valid) else DEBUG
    if recommendation == DEBUG and not is_sound:
        recommendation = REPAIR
    if not scores:
        return Quality(is_valid=False, issues=issues, recommendation=recommendation)
    mean = sum(scores) / len(scores)
    return Quality(
        is_valid=is_valid, min_score=min(scores), avg_score=mean, issues=issues, recommendation=recommendation,
        variance=sum((score - mean) ** 2 for score in scores) / len(scores),
    )  # fmt: skip


def is_judged(answer: Answer) -> bool:
    """Return whether an answer has a quality: the question is in words, and documents were looked for by them."""
    is_list = any(result.is_listed for result in answer.documents)
    return answer.query_type == NATURAL and answer.reason not in (SMALL_TALK, TOO_BROAD) and not is_list


def probabilities(answer: Answer) -> list[float]:
    """Return, for each document of an answer in order, the probability that it answers the question."""
    scores = [max(0.0, result.score) for result in answer.documents]
    best = max(scores, default=0.0)
    return [answer.probability * score / best if best else 0.0 for score in scores]


def _issues(answer: Answer, scores: Sequence[float], *, high: float, medium: float) -> list[str]:
    if not scores:
        return ["nothing was found"]
    if scores[0] >= high:
        return []
    mean = sum(scores) / len(scores)
    variance = sum((score - mean) ** 2 for score in scores) / len(scores)
    conditions = {
        f"the best document may not answer: its probability is {scores[0]:.2f}, below {medium:.2f}": scores[0] < medium,
        f"the documents hardly answer: their mean probability is {mean:.2f}": mean < LOW_MEAN * medium,
        "a single source says so": len({result.path for result in answer.documents}) == 1,
        f"one document stands alone: the variance is {variance:.3f}": variance > VARIED,
    }
    return [issue for issue, holds in conditions.items() if holds]
