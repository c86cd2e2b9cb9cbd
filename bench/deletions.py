"""How often a deletion through any client is noticed, and how often a harmless command is spoken to.

    python bench/deletions.py [--missed]

`labels/service_commands.jsonl` holds 1,400 commands of 131 hosted services, written by people who knew no trigger:
sub-commands of a client, requests, inline code, SQL. Half of the first 600, by service, is held out, and so are the 400
of the third part: only their figures are printed. `--missed` lists what of the development part comes out otherwise.
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

ROWS = Path(__file__).resolve().parent / "labels" / "service_commands.jsonl"
DEVELOPMENT = "development"
POWERSHELL = ("Invoke-", "irm ")


def main() -> None:
    """Judge every command by itself and print the shares."""
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
        part = row["half"], row["deletes"]
        count[part] += 1
        heard[part] += bool(fired)
        if options.missed and row["half"] == DEVELOPMENT and bool(fired) != row["deletes"]:
            print("missed" if row["deletes"] else f"spoken to by {', '.join(fired)}", row["command"], sep="\t")
    for half in sorted({half for half, _ in count}):
        caught, spoken = (heard[half, deletes] / count[half, deletes] for deletes in (True, False))
        print(f"{half}: {caught:.3f} of {count[half, True]} deletions noticed,", end=" ")
        print(f"{spoken:.3f} of {count[half, False]} harmless commands spoken to")


if __name__ == "__main__":
    main()
