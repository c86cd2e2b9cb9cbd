"""Speaking once: of the triggers that one sentence brings up only the best speaks, and a text brings them up only once.

The best is the most urgent, then the strictest, then the one that matched most of the sentence. A long text that comes
again in the conversation (a plan, an order to a sub-agent, a summary) brings up nothing new, even after a compaction.
"""

from __future__ import annotations

from deia.firing import Firing
from deia.records import ACTIONS, TYPE_CHECKING, Turn
from deia.watch.memory.log import fingerprint
from deia.watch.memory.recall import Memory
from deia.watch.verdict.judge import RANK, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from deia.watch.turn.parsed_turn import Reading

LEAST_TEXT = 200  # characters; a shorter text may well be said again and meant again


def told_once(
    verdicts: Sequence[Verdict], turn: Turn, reading: Reading, memory: Memory
) -> tuple[tuple[Verdict, ...], tuple[str, ...]]:
    """Return the verdicts without what would be said twice, and the text's print if the text is long and new."""
    spoken = reading.said if turn.role == "tool_call" else turn.text
    text_print = f"{fingerprint(spoken):x}" if len(spoken) >= LEAST_TEXT else ""
    best = tuple(_best_of_each_sentence(verdicts))
    if text_print not in memory.texts:
        return best, (text_print,) if text_print else ()
    reason = "the same text fired before"
    return tuple(_stopped(verdict, "memory", reason) if _is_spoken(verdict) else verdict for verdict in best), ()


def _best_of_each_sentence(verdicts: Sequence[Verdict]) -> Iterator[Verdict]:
    """Yield the verdicts; of those that fire on the same sentence, all but the best are stopped."""
    best: dict[str, Verdict] = {}
    for verdict in sorted(filter(_is_spoken, verdicts), key=_order):
        best.setdefault(verdict.sentence, verdict)
    for verdict in verdicts:
        winner = best.get(verdict.sentence, verdict) if _is_spoken(verdict) else verdict
        yield verdict if winner is verdict else _stopped(verdict, "sentence", f"{winner.trigger} speaks for it")


def _is_spoken(verdict: Verdict) -> bool:
    return verdict.firing is not None and bool(verdict.sentence)


def _order(verdict: Verdict) -> tuple[int, int, int, str]:
    firing: Firing | None = verdict.firing
    if firing is None:
        return 0, 0, 0, verdict.trigger
    return RANK[firing.urgency], -ACTIONS.index(firing.action), -len(firing.act), verdict.trigger


def _stopped(verdict: Verdict, stage: str, detail: str) -> Verdict:
    return verdict.but(stage=stage, detail=detail, firing=None)
