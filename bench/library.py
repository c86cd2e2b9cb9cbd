"""Measure a cold search of a commons with whatever was ingested beside it, compared with a bare Python.

    python bench/library.py [--commons FOLDER] [--rounds 20] [--questions FILE]

The commons and its library are those that `deia search` finds in the working folder or in FOLDER; docs/LIBRARY.md has
the commands that made the library of its figures. The questions, one a line, are those of docs/LIBRARY.md unless a file
has others. Every round starts a bare Python, one that imports numpy, and `deia search` with word vectors and with the
sentence model, in turn, with the same question.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from search import COMMAND, table
from timing import BARE, FLOOR, time_commands

from deia.librarian import Librarian
from deia.serve.startup.bytecode import keep_bytecode

DOCS = Path(__file__).parents[1] / "docs" / "LIBRARY.md"
TYPED = "These ten questions were typed"  # above their table


def typed_questions() -> list[str]:
    """Return the questions of the table in docs/LIBRARY.md."""
    rows = DOCS.read_text(encoding="utf-8").partition(TYPED)[2].partition("\n\n")[2].partition("\n\n")[0].split("\n")
    return [row.split("|")[1].strip() for row in rows[2:]]


def main() -> None:
    """Measure, and print a line for every program."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--commons", default="")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--questions", type=Path)
    given = parser.parse_args()
    asked = given.questions.read_text(encoding="utf-8").splitlines() if given.questions else typed_questions()
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed package has its bytecode
    keep_bytecode()  # as `deia compile` does
    librarian = Librarian(given.commons or None, ledger=False)
    catalog, library = librarian.open_catalog(), librarian.open_catalog_of("library:")
    chunks = (catalog.keyword.chunks, library.keyword.chunks if library is not catalog else 0)
    print(f"{chunks[0]:,} chunks of the commons, {chunks[1]:,} of the library", flush=True)
    taken: dict[str, list[float]] = {}
    for number in range(given.rounds + 2):
        ask = [COMMAND, "--commons", librarian.root, "search", asked[number % len(asked)], "--tier"]
        numpy = [sys.executable, "-c", "import numpy"]
        tiers = {"word vectors": [*ask, "static"], "with a model": [*ask, "compact"]}
        commands = {"bare": BARE, "floor": FLOOR, "import numpy": numpy, **tiers}
        for name, values in time_commands(commands, rounds=1).items():
            taken.setdefault(name, []).extend(value / 1000 for value in values)
    table({name: every[2:] for name, every in taken.items()})  # the first two rounds fill the caches


if __name__ == "__main__":
    main()
