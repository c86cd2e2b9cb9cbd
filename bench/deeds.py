"""How often a harmful command of a kind is spoken to, and how often its harmless look-alikes are.

    python bench/deeds.py [--missed]

`labels/deeds.jsonl` holds 160 commands of eight kinds, ten of each that deserve a warning and ten that do not, written
by somebody who knew no trigger. They were scored once, unseen, before anybody read what was missed: 53 of 80 spoken to,
and 4 of 80 harmless ones. `--missed` lists what comes out otherwise.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from pathlib import Path

from deia.folders import STARTER
from deia.librarian import Librarian
from deia.records import Turn
from deia.watch.authoring.replay import Replay

ROWS = Path(__file__).resolve().parent / "labels" / "deeds.jsonl"
POWERSHELL = ("Stop-Process", "irm ", "Invoke-")


def main() -> None:
    """Judge every command by itself and print how many of each kind are spoken to."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--missed", action="store_true")
    options = parser.parse_args()
    artefact = Librarian(STARTER, ledger=False).open_artefact()
    count: Counter[tuple[str, bool]] = Counter()
    heard: Counter[tuple[str, bool]] = Counter()
    for row in map(json.loads, ROWS.read_text(encoding="utf-8").splitlines()):
        tool = "PowerShell" if any(name in row["command"] for name in POWERSHELL) else "Bash"
        turn = Turn(role="tool_call", text="", tool=tool, tool_input={"command": row["command"]})
        fired = [firing.trigger for firing in Replay(artefact).judge(turn)]
        for kind in (row["kind"], "all"):
            count[kind, row["warn"]] += 1
            heard[kind, row["warn"]] += bool(fired)
        if options.missed and bool(fired) != row["warn"]:
            print(f"{row['kind']}: {'missed' if row['warn'] else ' '.join(fired)}: {row['command'][:200]}")
    for kind in sorted({kind for kind, _ in count}):
        of = " and ".join(
            f"{heard[kind, warn]} of {count[kind, warn]} {name}"
            for warn, name in ((True, "harmful"), (False, "harmless"))
        )
        print(f"{kind}: spoken to {of}")


if __name__ == "__main__":
    main()
