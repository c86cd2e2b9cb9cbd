"""Score the starter's triggers on turns and commands written by somebody who never saw them.

    python bench/blind.py [--half development] [--wrong]

`labels/blind.jsonl` holds turns in which a warning would have helped, near misses, and shell commands, in two halves;
some of the turns were written by somebody who knew which mistakes the starter has a trigger for, but no trigger.
Each is a conversation of its own, in a folder that shows every context that a trigger requires. `--wrong` lists the
errors of the development half; the held-out half is only ever counted, so that nobody tunes to it.
"""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from firings import rows
from paraphrases import DEVELOPMENT, HELD_OUT, compiled

from deia import folders
from deia.commons.index.load_commons import load_commons
from deia.records import Turn
from deia.watch.memory.recall import InMemoryLog
from deia.watch.watcher import Surroundings, watch

if TYPE_CHECKING:
    from collections.abc import Iterator

    from firings import Row

    from deia.watch.gate.artefact import Artefact

LABELS = Path(__file__).resolve().parent / "labels" / "blind.jsonl"
ORDER = ("turn", "spoken", "command")
TOLD = {
    ("turn", True): "turns where a warning would have helped: {} of {} ({:.3f}) fire",
    ("turn", False): "near misses: {} of {} ({:.3f}) fire",
    ("spoken", True): "turns just before a mistake, written with a list of the mistakes: {} of {} ({:.3f}) fire",
    ("spoken", False): "ordinary turns with the same words: {} of {} ({:.3f}) fire",
    ("command", True): "commands worth catching: {} of {} ({:.3f}) fire",
    ("command", False): "commands to leave alone: {} of {} ({:.3f}) fire",
}


def turns_of(row: Row) -> Iterator[Turn]:
    """Yield the turns of a row: what is said, then the tool call that goes with it."""
    if row.get("text"):
        yield Turn(role=row["role"], text=row["text"], index=0)
    if row.get("tool"):
        yield Turn(role="tool_call", text="", tool=row["tool"]["name"], tool_input=row["tool"]["input"], index=1)


def fired(artefact: Artefact, row: Row) -> list[str]:
    """Return the triggers that fire on a row."""
    around = Surroundings(now=0.0, folder=lambda wanted: "".join(wanted[:1]), bounded=False)
    log = InMemoryLog()
    return [firing.trigger for turn in turns_of(row) for firing in watch(artefact, turn, log, lambda: around).firings]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--half", choices=(DEVELOPMENT, HELD_OUT), default="")
    parser.add_argument("--wrong", action="store_true")
    options = parser.parse_args()
    artefact = compiled(load_commons(folders.STARTER))
    fire, every = Counter[tuple[str, str, bool]](), Counter[tuple[str, str, bool]]()
    for row in rows(LABELS):
        if options.half in {"", row["half"]}:
            triggers = fired(artefact, row)
            key = row["half"], row["kind"], row["fires"]
            every[key] += 1
            fire[key] += bool(triggers)
            if options.wrong and row["half"] == DEVELOPMENT and bool(triggers) != row["fires"]:
                print(f"  {row['id']} {row['topic']}: {row.get('text') or row['tool']} {triggers}")
    for half, kind, wanted in sorted(every, key=lambda key: (key[0], ORDER.index(key[1]), not key[2])):
        key = half, kind, wanted
        print(f"{half}: " + TOLD[kind, wanted].format(fire[key], every[key], fire[key] / every[key]))


if __name__ == "__main__":
    main()
