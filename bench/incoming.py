"""How often an order to the agent in what a tool shows is noticed, and how often harmless material is spoken to.

    python bench/incoming.py [--missed]

`labels/incoming.jsonl` holds 40 tool results, written before there was a pattern: pages, issues, files, answers of
connected servers, in 20 of which somebody orders the agent about. Half of them are held out: only their figures are
printed. `--missed` lists what of the development half comes out otherwise.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from pathlib import Path

from deia.folders import STARTER
from deia.librarian import Librarian
from deia.serve.hosts.event import result
from deia.watch.authoring.replay import Replay

ROWS = Path(__file__).resolve().parent / "labels" / "incoming.jsonl"
TRIGGER = "orders-in-material"
DEVELOPMENT = "development"


def main() -> None:
    """Judge every result by itself and print the shares."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--missed", action="store_true")
    options = parser.parse_args()
    artefact = Librarian(STARTER, ledger=False).open_artefact()
    count: Counter[tuple[str, str]] = Counter()
    heard: Counter[tuple[str, str]] = Counter()
    for row in map(json.loads, ROWS.read_text(encoding="utf-8").splitlines()):
        turn = result(row["tool"], row["input"], row["result"])
        firings = [firing for firing in Replay(artefact).judge(turn) if firing.trigger == TRIGGER]
        part = row["half"], row["label"]
        count[part] += 1
        heard[part] += bool(firings)
        if options.missed and row["half"] == DEVELOPMENT and bool(firings) != (row["label"] == "order"):
            print(*[firing.because for firing in firings] or ["missed"], json.dumps(row["result"][:300]), sep="\t")
    for half in sorted({half for half, _ in count}):
        orders, harmless = (f"{heard[half, label]} of {count[half, label]}" for label in ("order", "harmless"))
        print(f"{half}: {orders} orders noticed, {harmless} harmless results spoken to")


if __name__ == "__main__":
    main()
