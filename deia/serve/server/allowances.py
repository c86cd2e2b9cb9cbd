"""How much somebody may ask in a minute: requests, sub-questions and tokens of answers, in all and of each collection.

What an answer costs is known when it is there, so it is counted afterwards, and whoever went beyond waits until it is
made up for. Each person has a measure of their own, also of a collection that many read: nobody is refused for what
others asked, and so learns nothing of them.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Collection, Iterable, Mapping

from deia.errors import DeiaError
from deia.serve.server.users import Allowance, Limited

MINUTE = 60.0


class LimitError(DeiaError):
    """Somebody asked more than they may; `seconds` is when to come back."""

    def __init__(self, what: str, most: int, seconds: int) -> None:
        named = what.replace("_", "-")
        super().__init__(f"at most {most} {named} a minute are answered", fix=f"Come back in {seconds} s.")
        self.seconds = seconds


class Bucket:
    """What is left of one kind within a minute's measure; it fills up evenly, and may be overdrawn."""

    def __init__(self, most: int, now: float) -> None:
        self.most, self._left, self._at = most, float(most), now

    def left(self, now: float) -> float:
        """Return what is left now."""
        self._left = min(float(self.most), self._left + max(0.0, now - self._at) * self.most / MINUTE)
        self._at = now
        return self._left

    def take(self, amount: float, now: float) -> None:
        """Take something out, also if less is left; what one answer can overdraw is a minute's measure at most."""
        self._left = max(self.left(now) - amount, -float(self.most))

    def wait(self, now: float) -> int:
        """Return the seconds until one is left, or 0."""
        missing = 1.0 - self.left(now)
        return math.ceil(missing * MINUTE / self.most) if missing > 0 else 0


class Meter:
    """What one person has left: in all, and of each collection that has a limit."""

    def __init__(
        self, allowance: Allowance, limits: Iterable[Limited] = (), *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._clock, now = clock, clock()
        self._own = _buckets(allowance, now)
        self._of_collections = {limit.collection: _buckets(limit.allowance, now) for limit in limits}

    def admit(self, collections: Collection[str] = ()) -> None:
        """Count a request of some collections, or of all; raise LimitError if the person has to wait."""
        now, concerned = self._clock(), [*self._concerned(collections)]
        for buckets in concerned:
            for name, bucket in buckets.items():
                if seconds := bucket.wait(now):
                    raise LimitError(name, bucket.most, seconds)
        for buckets in concerned:
            if "requests" in buckets:
                buckets["requests"].take(1, now)

    def charge(self, collections: Collection[str] = (), *, sub_questions: int = 0, tokens: int = 0) -> None:
        """Count what an answer cost."""
        now = self._clock()
        for buckets in self._concerned(collections):
            for name, amount in (("sub_questions", sub_questions), ("tokens", tokens)):
                if name in buckets:
                    buckets[name].take(amount, now)

    def _concerned(self, collections: Collection[str]) -> Iterable[Mapping[str, Bucket]]:
        yield self._own
        for name in collections or self._of_collections:
            if name in self._of_collections:
                yield self._of_collections[name]


def _buckets(allowance: Allowance, now: float) -> dict[str, Bucket]:
    return {name: Bucket(most, now) for name, most in allowance.values().items() if most}
