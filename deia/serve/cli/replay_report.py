"""What a replay of past conversations came to, as lines for a person and as fields for a program."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from deia.fast_json import Json
from deia.records import Record
from deia.serve.setup.host_settings.places import Machine
from deia.serve.setup.past_conversations import PastConversations, below_home
from deia.text import counted, one_line
from deia.watch.authoring.replay import Count, Example, Tally

LEAST_MEASURED = 0.5  # seconds below which a speed says nothing


class TriggerInfo(Record):
    """What is shown about a trigger besides its firings."""

    urgency: str
    action: str
    title: str


class ReplayRun(Record):
    """A replay: what came of it, by which triggers, in how many seconds, and what the person has muted."""

    tally: Tally
    triggers: Mapping[str, TriggerInfo]
    found: Sequence[PastConversations]  # empty if the files were named
    seconds: float
    muted: Collection[str]
    machine: Machine
    against: str | None

    @property
    def heard(self) -> dict[str, int]:
        """How often each trigger would have been heard: those that are muted are not."""
        return {trigger: number for trigger, number in self.tally.after.fired.items() if trigger not in self.muted}

    def acted(self, action: str) -> int:
        """Return how many firings would have had an action."""
        return sum(self.tally.after.acted[trigger].get(action, 0) for trigger in self.heard)


def by_frequency(fired: Mapping[str, int]) -> list[str]:
    """Return the triggers that fired, the most frequent first."""
    return sorted(fired, key=lambda trigger: (-fired[trigger], trigger))


def found_lines(found: Sequence[PastConversations]) -> Iterator[str]:
    """Yield where past conversations were found."""
    for past in found:
        yield f"{past.title}: {counted(len(past.paths), 'file')} in {one_line(past.shown)}"


def run_lines(run: ReplayRun) -> Iterator[str]:
    """Yield the result for a person: how often deia would have spoken, and where."""
    tally = run.tally
    total = sum(run.heard.values())
    speed = f", {tally.turns / run.seconds:,.0f} a second" if run.seconds >= LEAST_MEASURED else ""
    conversations = counted(tally.conversations, "conversation")
    yield f"{tally.turns:,} turns in {conversations}, judged in {run.seconds:.1f} s{speed}."
    yield (
        f"deia would have spoken {times(total)}, {_shown_rate(total, tally.turns)} per 1,000 turns."
        f" {run.acted('hold'):,} of these would have stopped a call once, {run.acted('ask'):,} would have asked you."
    )
    yield from _count_lines(tally.after, run)
    silent = sum(trigger not in tally.after.fired for trigger in run.triggers)
    yield f"{silent} of {len(run.triggers)} triggers never fired."
    if run.against is not None:
        older, gained, lost = (sum(count.fired.values()) for count in (tally.before, tally.gained, tally.lost))
        yield f"\nAgainst {run.against}: {older:,} firings there; {gained:,} are new, {lost:,} are gone."
        for title, count in (("New:", tally.gained), ("Gone:", tally.lost)):
            if count.fired:
                yield title
                yield from _count_lines(count, run)


def times(number: int) -> str:
    """Return how often something happened, in words for a person."""
    return "once" if number == 1 else f"{number:,} times"


def _rate(number: int, turns: int) -> float:
    return round(number * 1000 / turns, 3) if turns else 0.0


def _shown_rate(number: int, turns: int) -> str:
    rate = _rate(number, turns)
    return f"{rate:.2f}" if rate < 10 else f"{rate:.0f}"


def _count_lines(count: Count, run: ReplayRun) -> Iterator[str]:
    width = max(map(len, count.fired), default=0)
    for trigger in by_frequency(count.fired):
        number, info = count.fired[trigger], run.triggers[trigger]
        muted = ", muted by you" if trigger in run.muted else ""
        yield (
            f"  {trigger:<{width}}  {number:>6,}  {_shown_rate(number, run.tally.turns):>8} per 1,000"
            f"  {info.urgency}, {info.action}{muted}"
        )
        for example in count.examples[trigger]:
            file, _, turn = one_line(below_home(example.place, run.machine)).rpartition(":")
            yield f"      {file}, turn {turn}, {example.role}: {example.text}"
            yield f"          because {example.because}"


def run_fields(run: ReplayRun) -> dict[str, Json]:
    """Return the result for a program."""
    tally = run.tally
    total = sum(tally.after.fired.values())
    fields: dict[str, Json] = {
        "turns": tally.turns,
        "conversations": tally.conversations,
        "seconds": round(run.seconds, 3),
        "folders": [
            {"host": past.title, "folder": past.folder, "files": len(past.paths)} for past in run.found
        ],
        "firings": total,
        "per_1000": _rate(total, tally.turns),
        "muted": sorted(trigger for trigger in tally.after.fired if trigger in run.muted),
        "triggers": _count_fields(tally.after, run),
        "never_fired": sorted(trigger for trigger in run.triggers if trigger not in tally.after.fired),
    }  # fmt: skip
    if run.against is not None:
        fields["against"] = {
            "firings": sum(tally.before.fired.values()),
            "triggers": dict(sorted(tally.before.fired.items())),
            "new": _count_fields(tally.gained, run),
            "gone": _count_fields(tally.lost, run),
        }
    return fields


def _count_fields(count: Count, run: ReplayRun) -> list[dict[str, Json]]:
    return [
        {
            "trigger": trigger, **run.triggers[trigger].values(), "fired": count.fired[trigger],
            "per_1000": _rate(count.fired[trigger], run.tally.turns), "actions": count.acted[trigger],
            "examples": [_example_fields(example) for example in count.examples[trigger]],
        }
        for trigger in by_frequency(count.fired)
    ]  # fmt: skip


def _example_fields(example: Example) -> dict[str, Json]:
    return {name: getattr(example, name) for name in ("place", "role", "text", "because")}
