"""Labels: files in which people say of firings whether they were deserved, arguable or noise.

One JSON object a line: `trigger`, `label`, `conversation_id`, and perhaps `because`. `bench/labels/firings.jsonl` is
such a file. Whoever names a file vouches for it; still, the labels of one conversation count once for each trigger.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from deia import files
from deia.errors import QueryError
from deia.fast_json import loads
from deia.learn.signals import Evidence, FiringSignals, JudgedFiring
from deia.records import Record

DESERVED, ARGUABLE, NOISE = LABELS = ("deserved", "arguable", "noise")
MOST_BYTES = 16_000_000  # of a file
MOST_JUDGED = 20  # labelled firings of a trigger whose reasons are kept


class Label(Record):
    """What somebody said of one firing."""

    trigger: str
    label: str
    conversation: str
    because: str = ""


def with_labels(evidence: Evidence, paths: Sequence[str], settled: Mapping[str, str]) -> Evidence:
    """Return the evidence with what the labels in some files say of triggers.

    A trigger that was changed for what was said of it is left out: labels have no time, so they may be older.
    """
    labels = [label for path in paths for label in read_labels(path) if label.trigger not in settled]
    by_trigger: dict[str, list[Label]] = {}
    for label in labels:
        by_trigger.setdefault(label.trigger, []).append(label)
    known = {signals.trigger: signals for signals in evidence.firings}
    nothing = FiringSignals(trigger="", signals={}, fired=0, first="", last="")
    for trigger, group in by_trigger.items():
        known[trigger] = _labelled(known.get(trigger, nothing.but(trigger=trigger)), group)
    return evidence.but(firings=tuple(known[trigger] for trigger in sorted(known)))


def _labelled(signals: FiringSignals, labels: Sequence[Label]) -> FiringSignals:
    """Return the signals of a trigger with its labels added."""
    voices = {name: len({one.conversation for one in labels if one.label == name}) for name in LABELS}
    counts = {**signals.signals}
    counts["noise"] = counts.get("noise", 0) + voices[NOISE]
    counts["useful"] = counts.get("useful", 0) + voices[DESERVED]
    judged = [
        JudgedFiring(because=one.because, is_good=one.label == DESERVED)
        for one in labels if one.because and one.label != ARGUABLE
    ]  # fmt: skip
    return signals.but(
        signals=counts, called_noise=signals.called_noise + voices[NOISE],
        judged=(*signals.judged, *judged[:MOST_JUDGED]),
    )  # fmt: skip


def read_labels(path: str) -> Sequence[Label]:
    """Return the labels in a file, without the lines that are none.

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
            names = ("source", "conversation_id")
            conversation = " ".join(str(row[name]) for name in names if row.get(name))
            because = row.get("because")
            yield Label(
                trigger=row["trigger"], label=row["label"], conversation=conversation,
                because=because if isinstance(because, str) else "",
            )  # fmt: skip
