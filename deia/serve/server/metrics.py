"""What a server has answered, in the text format that Prometheus reads."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)  # seconds
MOST_SERIES = 20_000  # of one name; what comes later counts as that of `other`
CONTENT_TYPE = b"text/plain; version=0.0.4; charset=utf-8"
HELP = {
    "deia_asked_total": "What was asked, by kind, outcome and user.",
    "deia_sub_questions_total": "Sub-questions of answers, by user.",
    "deia_answer_tokens_total": "Tokens of answers, by user.",
    "deia_audit_lost_total": "Lines of the audit log that could not be written.",
}


class Metrics:
    """The counts of one server since it began."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._counts: dict[str, Counter[tuple[tuple[str, str], ...]]] = {name: Counter() for name in HELP}
        self._seconds: dict[str, list[float]] = {}  # kind → how many lasted up to each bound, how many in all, the sum

    def add(self, name: str, amount: int = 1, **labels: str) -> None:
        """Count something."""
        counts, key = self._counts[name], tuple(sorted(labels.items()))
        if key not in counts and len(counts) >= MOST_SERIES:
            key = tuple((label, "other") for label, _ in key)
        counts[key] += amount

    def observe(self, kind: str, seconds: float) -> None:
        """Count how long an answer took."""
        buckets = self._seconds.setdefault(kind, [0.0] * (len(BOUNDS) + 2))
        for number, bound in enumerate(BOUNDS):
            buckets[number] += seconds <= bound
        buckets[-2] += 1
        buckets[-1] += seconds

    def text(self, gauges: Mapping[str, float] = {}) -> str:
        """Return everything, with some values of now."""
        lines: list[str] = []
        for name, help_text in HELP.items():
            lines += [f"# HELP {name} {help_text}", f"# TYPE {name} counter"]
            lines += [_sample(name, key, count) for key, count in sorted(self._counts[name].items())]
        lines += ["# HELP deia_seconds How long answers took, by kind.", "# TYPE deia_seconds histogram"]
        lines += [line for kind, buckets in sorted(self._seconds.items()) for line in _histogram(kind, buckets)]
        for name, value in {"deia_up_seconds": time.monotonic() - self._began, **gauges}.items():
            lines += [f"# TYPE {name} gauge", _sample(name, (), value)]
        return "\n".join([*lines, ""])


def _histogram(kind: str, buckets: Sequence[float]) -> Iterator[str]:
    label = ("kind", kind)
    for bound, count in zip((*map(str, BOUNDS), "+Inf"), buckets, strict=False):
        yield _sample("deia_seconds_bucket", (label, ("le", bound)), count)
    yield _sample("deia_seconds_sum", (label,), buckets[-1])
    yield _sample("deia_seconds_count", (label,), buckets[-2])


def _sample(name: str, labels: Iterable[tuple[str, str]], value: float) -> str:
    listed = ",".join(f'{label}="{_escaped(text)}"' for label, text in labels)
    return f"{name}{f'{{{listed}}}' if listed else ''} {value:.15g}"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
