"""How often a harmful command is spoken to, and how often a harmless one is.

    python bench/deletions.py [--missed]

`labels/service_commands.jsonl` holds deletions and harmless commands of hosted services. Those of the first three
parts were written by people who knew no trigger: sub-commands of a client, requests, inline code, SQL. Half of the
first 600, by service, is held out; it and the third part (.845 of the deletions and .050 of the harmless ones, unseen)
have been read since. Parts four to seven were written by whoever then mended the mechanism, four and five before any
trigger was read, six and seven before the errors of the part before; each was scored once, unseen, before its errors
were read: .873 of 150 and none of 162 harmless ones, .893 of 150 and 1 of 199, .716 of 74 and none of 62, .826 of 69
and none of 61. The eighth was written by somebody who knew nothing of deia, and scored once: .967 of 120, and .067 of
120 harmless ones, half of which other lessons speak to (mail to real people, a DNS record, a moving tag). Parts nine
and ten were again written by whoever mended the mechanism: nine after some triggers, but no code of the mechanism, had
been read, ten after the errors of nine were mended and by other services, and each was scored once before its errors
were read: .935 of 170 and .016 of 251 harmless ones, .883 of 163 and .012 of 167. Harmless ones there are also
restores, scratch, places for tests, and words of a deletion in names, messages and questions. The eleventh was written
by somebody who knew nothing of deia, and scored once: .958 of 120 and .025 of 120 harmless ones, which were mended.
The twelfth and thirteenth were written by two others who knew nothing of deia, and scored once after that: .990 of 200
and none of 240 harmless ones. Rows of the service `look-alikes` are harmless ones as an adversary would write them: 40
of part four, added after it was scored, and 39 of part five.
`labels/deeds.jsonl` holds 160 commands of eight other kinds, scored unseen in the same way (53 of 80, and 4 of 80
harmless ones). `--missed` lists what of the development part comes out otherwise.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deia.folders import STARTER
from deia.librarian import Librarian
from deia.records import Turn
from deia.watch.authoring.replay import Replay

if TYPE_CHECKING:
    from deia.watch.gate.artefact import Artefact

LABELS = Path(__file__).resolve().parent / "labels"
SETS = (("service_commands.jsonl", "half", "deletes"), ("deeds.jsonl", "kind", "warn"))  # file, part, and the label
DEVELOPMENT = "development"
POWERSHELL = ("Invoke-", "irm ", "Stop-Process")


def main() -> None:
    """Judge every command by itself and print the shares."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--missed", action="store_true")
    options = parser.parse_args()
    artefact = Librarian(STARTER, ledger=False).open_artefact()
    for file, part, label in SETS:
        count: Counter[tuple[str, bool]] = Counter()
        heard: Counter[tuple[str, bool]] = Counter()
        for row in map(json.loads, (LABELS / file).read_text(encoding="utf-8").splitlines()):
            fired = spoken(artefact, row)
            count[row[part], row[label]] += 1
            heard[row[part], row[label]] += bool(fired)
            if options.missed and row[part] == DEVELOPMENT and bool(fired) != row[label]:
                print("missed" if row[label] else f"spoken to by {', '.join(fired)}", row["command"], sep="\t")
        for name in sorted({name for name, _ in count}):
            caught, harmless = (heard[name, label] / count[name, label] for label in (True, False))
            print(f"{name}: {caught:.3f} of {count[name, True]} harmful commands spoken to,", end=" ")
            print(f"{harmless:.3f} of {count[name, False]} harmless ones")


def spoken(artefact: Artefact, row: dict[str, Any]) -> list[str]:
    """Return the triggers that speak to the command of a row."""
    tool = "PowerShell" if any(name in row["command"] for name in POWERSHELL) else "Bash"
    turn = Turn(role="tool_call", text="", tool=tool, tool_input={"command": row["command"]})
    return [firing.trigger for firing in Replay(artefact).judge(turn)]


if __name__ == "__main__":
    main()
