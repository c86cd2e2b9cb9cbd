"""Labels: files in which people judge whether firings were deserved, arguable or noise.

One JSON object a line: `trigger`, `label`, `conversation_id`, and perhaps `because`. `bench/labels/firings.jsonl` is
such a file. Whoever names a file vouches for it; still, the labels of one conversation count once for each trigger. As
labels may be older than the triggers, transcripts of the conversations show which of these firings still happen.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from deia import files
from deia.errors import QueryError
from deia.fast_json import loads
from deia.learn.signals import Evidence, FiringSignals, JudgedFiring
from deia.learn.trigger_drafts import FiredTurn
from deia.records import Record

DESERVED, ARGUABLE, NOISE = LABELS = ("deserved", "arguable", "noise")
WEIGHTS = {DESERVED: 2.0, NOISE: -2.0}  # of a label, as of a judgement in the ledger
MOST_BYTES = 16_000_000  # of a file
MOST_JUDGED = 20  # labelled firings of a trigger whose reasons are kept


class Label(Record):
    """What somebody said of one firing."""

    trigger: str
    label: str
    source: str  # the repository or person whose conversation it is, if the label says so
    conversation: str
    because: str = ""
    action: str = ""

    @property
    def voice(self) -> str:
        """Whose word it is: the labels of one conversation are one voice."""
        return f"{self.source} {self.conversation}"


def weights_of(labels: Sequence[Label]) -> dict[tuple[str, str], float]:
    """Return the weight of the labels by conversation and trigger, on the scale of the ledger's judgements."""
    weights: dict[tuple[str, str], float] = {}
    for label in labels:
        place = (label.conversation, label.trigger)
        weights[place] = weights.get(place, 0.0) + WEIGHTS.get(label.label, 0.0)
    return {place: weight for place, weight in weights.items() if weight}


def still_firing(labels: Sequence[Label], turns: Sequence[FiredTurn]) -> list[Label]:
    """Return the labels whose trigger still fires in the same conversation, with the firing's action and reason."""
    fired = {(turn.conversation, turn.trigger): turn for turn in turns}
    pairs = ((label, fired.get((label.conversation, label.trigger))) for label in labels)
    return [label.but(action=turn.action, because=turn.because) for label, turn in pairs if turn is not None]


def with_labels(evidence: Evidence, labels: Sequence[Label]) -> Evidence:
    """Return the evidence with some labels added to the signals of their triggers."""
    by_trigger: dict[str, list[Label]] = {}
    for label in labels:
        by_trigger.setdefault(label.trigger, []).append(label)
    known = {signals.trigger: signals for signals in evidence.firings}
    nothing = FiringSignals(trigger="", signals={}, fired=0, first="", last="")
    for trigger, group in by_trigger.items():
        known[trigger] = _labelled(known.get(trigger, nothing.but(trigger=trigger)), group)
    return evidence.but(firings=tuple(known[trigger] for trigger in sorted(known)))


def _labelled(signals: FiringSignals, labels: Sequence[Label]) -> FiringSignals:
    voices = {name: len({label.voice for label in labels if label.label == name}) for name in LABELS}
    counts = {**signals.signals}
    counts["noise"] = counts.get("noise", 0) + voices[NOISE]
    counts["useful"] = counts.get("useful", 0) + voices[DESERVED]
    judged = [
        JudgedFiring(action=label.action, because=label.because, is_good=label.label == DESERVED, voice=label.voice)
        for label in labels if label.label != ARGUABLE
    ]  # fmt: skip
    return signals.but(
        signals=counts, called_noise=signals.called_noise + voices[NOISE],
        judged=(*signals.judged, *judged[:MOST_JUDGED]),
    )  # fmt: skip


def read_labels(path: str) -> Sequence[Label]:
    """Return the labels in a file, leaving out lines that are not labels.

    Raise QueryError if the file cannot be read, or if none of its lines is a label.
    """
    content = files.read(path, MOST_BYTES)
    labels = list(_labels((content or b"").decode("utf-8", "replace")))
    if not labels:
        problem = "there is no file of labels" if content is None else "no line is a label in"
        fix = 'A label is a line such as {"trigger": "ID", "label": "noise", "conversation_id": "…"}.'
        raise QueryError(f"{problem} {path}", fix=fix)
    return labels


def _labels(text: str) -> Iterator[Label]:
    for line in text.split("\n"):
        try:
            row = loads(line)
        except ValueError:
            continue
        if isinstance(row, dict) and row.get("label") in LABELS and isinstance(row.get("trigger"), str):
            texts = {name: row.get(name) for name in ("source", "conversation_id", "because", "action")}
            source, conversation, because, action = (text if isinstance(text, str) else "" for text in texts.values())
            yield Label(
                trigger=row["trigger"], label=row["label"], source=source, conversation=conversation, because=because,
                action=action,
            )  # fmt: skip
