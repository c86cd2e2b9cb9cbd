"""Measure how often the starter's triggers recognise sentences written by somebody who never read them, in two halves.

    python bench/paraphrases.py [--half development] [--missed]

`labels/paraphrases.jsonl` holds sentences (trigger, fires, text, half), written from the titles of triggers alone. A
sentence that should fire is caught if its trigger fires on it, or one that names the same document; a silent one is a
false alarm if one does. Each sentence is the only turn of a conversation, said by a person, in a folder that shows
every context that a trigger requires (so that `context: [netlify]` stops nothing). `--missed` lists the errors of the
development half; the held-out half is only ever counted, so that nobody tunes to it.
"""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from firings import rows

from deia import folders, settings
from deia.commons.index.load_commons import load_commons
from deia.compile.triggers.build_artefact import compile_triggers
from deia.records import Turn
from deia.watch.authoring.replay import GATE
from deia.watch.gate.artefact import Artefact
from deia.watch.memory.recall import InMemoryLog
from deia.watch.watcher import Surroundings, watch

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from firings import Row

    from deia.commons.index.load_commons import Commons
    from deia.knowledge import Trigger
    from deia.watch.verdict.judge import Verdict

LABELS = Path(__file__).resolve().parent / "labels" / "paraphrases.jsonl"
DEVELOPMENT, HELD_OUT = "development", "held-out"
STAGES = ("fires", "memory", "context", "earlier", "unless", "stance", "clause", GATE)  # the furthest first


class Heard(NamedTuple):
    """The result of a sentence: how far the triggers of its document came, and what else fired."""

    row: Row
    stage: str
    detail: str
    others: tuple[str, ...]

    @property
    def right(self) -> bool:
        """Whether the result agrees with the label."""
        return (self.stage == "fires") == bool(self.row["fires"])


def families(triggers: Sequence[Trigger]) -> Mapping[str, frozenset[str]]:
    """Give, for every trigger, those that name one of its documents, itself included."""
    named = {trigger.id: {document.id for document in trigger.documents} for trigger in triggers}
    return {
        one: frozenset(other for other, theirs in named.items() if other == one or theirs & own)
        for one, own in named.items()
    }


def hear(artefact: Artefact, row: Row, family: frozenset[str]) -> Heard:
    """Return the result of a sentence in a conversation of its own."""
    around = Surroundings(now=0.0, folder=lambda wanted: "".join(wanted[:1]), bounded=False)
    watched = watch(artefact, Turn(role="user", text=row["text"], index=0), InMemoryLog(), lambda: around)
    own = [verdict for verdict in watched.verdicts if verdict.trigger in family]
    best = min(own, key=_furthest, default=None)
    others = tuple(one.trigger for one in watched.verdicts if one.stage == "fires" and one.trigger not in family)
    return Heard(row, best.stage if best else GATE, best.detail if best else "", others)


def _furthest(verdict: Verdict) -> int:
    return STAGES.index(verdict.stage) if verdict.stage in STAGES else len(STAGES)


def heard(half: str = "") -> list[Heard]:
    """Return the results of every sentence of a half, or of both, by the starter's triggers."""
    commons = load_commons(folders.STARTER)
    family, artefact = families(commons.triggers), compiled(commons)
    return [hear(artefact, row, family[row["trigger"]]) for row in rows(LABELS) if half in {"", row["half"]}]


def compiled(commons: Commons) -> Artefact:
    """Compile the triggers of a commons as `deia compile` does, without its documents."""
    given = settings.DEFAULTS.by_name()
    data, _ = compile_triggers(commons.triggers, {}, settings=given, identity={})
    return Artefact(data)


def summary(found: Sequence[Heard]) -> str:
    """Return the shares of a half in one line, and the stages that stopped the sentences that should fire."""
    firing, silent = [one for one in found if one.row["fires"]], [one for one in found if not one.row["fires"]]
    caught, alarms = sum(one.right for one in firing), sum(not one.right for one in silent)
    others = sum(bool(one.others) for one in silent if one.right)
    stopped = Counter(one.stage for one in firing if not one.right)
    why = ", ".join(f"{stage} {count}" for stage, count in stopped.most_common()) or "none"
    return (
        f"{caught} of {len(firing)} ({caught / max(len(firing), 1):.3f}) fire; {alarms} of {len(silent)}"
        f" ({alarms / max(len(silent), 1):.3f}) false alarms, {others} more by triggers of other documents;"
        f" stopped by: {why}"
    )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--half", choices=(DEVELOPMENT, HELD_OUT), default="")
    parser.add_argument("--missed", action="store_true")
    options = parser.parse_args()
    found = heard(options.half)
    for half in dict.fromkeys(one.row["half"] for one in found):
        print(f"{half}: {summary([one for one in found if one.row['half'] == half])}")
    for one in found if options.missed else ():
        if one.row["half"] == DEVELOPMENT and not one.right:
            print(f"  {one.stage:7} {one.row['trigger']}: {one.row['text']}  [{one.detail}]")


if __name__ == "__main__":
    main()
