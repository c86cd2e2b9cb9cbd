"""Measure `deia compile` as a whole command: everything, nothing, and one changed document, at several sizes.

    python bench/compile.py [--sizes 1000,10000,100000] [--rounds 5] [--words 170]

The commons are those of bench/search.py: a YAML index that lists one document per passage, which is the most expensive
form a passage can have; with --words 1700 a document has about ten. Sizes are numbers of documents. Elapsed time is
shown beside processor time, which a busy machine changes less, and passages per second by both. The change is one line
of one document, another in each round; the median is shown. The budgets are 5,000 passages per second, and less than a
second for the changed document among 100,000. At last one trigger of a new commons is edited, with the starter below:
`deia compile` and `deia trigger test` after that take less than half a second each.
"""

from __future__ import annotations

import argparse
import glob
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from typing import TYPE_CHECKING, NamedTuple

from search import COMMAND, WORDS, corpus, environment

from deia.folders import derived_folder

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from deia.knowledge import Document


class Cost(NamedTuple):
    """What one run of a program took."""

    passed: float
    worked: float  # by all processors together


def write(root: str, documents: Sequence[Document]) -> None:
    """Write a commons as people do: an index in YAML, and one file per document."""
    os.makedirs(os.path.join(root, "bok"))
    with open(os.path.join(root, "commons_index.yaml"), "w", encoding="utf-8") as file:
        file.write('version: "1.0"\nclusters:\n  all:\n    description: Everything\n    documents:\n')
        for number, each in enumerate(documents):
            file.write(f"      - id: d{number}\n        path: {each.path}\n        title: {each.title}\n")
            file.write(f"        summary: {each.title}\n        keywords: [{', '.join(each.title.split())}]\n")
    for each in documents:
        with open(os.path.join(root, each.path), "w", encoding="utf-8") as file:
            file.write(f"# {each.title}\n\n{each.text}\n")


def cost(command: Sequence[str], environ: Mapping[str, str]) -> Cost:
    """Run a program to its end.

    Raises:
        CalledProcessError: it failed.
    """
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environ)
    passed, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    return Cost(passed, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def change(root: str, number: int, line: str) -> None:
    """Add a line to a document."""
    with open(os.path.join(root, "bok", f"d{number}.md"), "a", encoding="utf-8") as file:
        file.write(f"\n{line}\n")


def passages(root: str, environ: Mapping[str, str]) -> int:
    """Count the passages of a compiled commons."""
    with open(
        glob.glob(f"{glob.escape(derived_folder(root, environ))}/catalog-*/catalog.json")[0], encoding="ascii"
    ) as file:
        return int(json.load(file)["chunks"])


def measure(size: int, place: str, rounds: int, words: int) -> None:
    """Compile a commons of this size whole, unchanged and with a change, and print what each took."""
    root, environ = os.path.join(place, str(size)), {**environment(place), "DEIA_STARTER": "false"}
    write(root, list(corpus(size, words)))
    command = [COMMAND, "--commons", root, "compile", "--tier", "static"]
    whole = cost(command, environ)
    count = passages(root, environ)
    rates = f"{count / whole.passed:,.0f} passages/s, {count / whole.worked:,.0f} a processor's second"
    print(
        f"{size:>9,}  {count:,} passages, whole {whole.passed:.2f} s ({whole.worked:.2f} s of work; {rates})",
        flush=True,
    )
    time.sleep(2)  # a file changed within two seconds is read again to be sure
    taken: dict[str, list[Cost]] = {"nothing changed": [], "one changed": []}
    for number in range(rounds):
        taken["nothing changed"].append(cost(command, environ))
        change(root, number * size // rounds, f"one more line, the {number}th")
        taken["one changed"].append(cost(command, environ))
    for name, every in taken.items():
        passed, worked = (statistics.median(column) for column in zip(*every, strict=True))
        print(f"{'':>9}  {name} {passed:.2f} s ({worked:.2f} s of work)", flush=True)


def edit_trigger(root: str, number: int) -> None:
    """Change the message of the trigger of a new commons."""
    path = os.path.join(root, "triggers", "examples.yaml")
    with open(path, encoding="utf-8") as file:
        lines = file.readlines()
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(f"  message: Edited {number} times.\n" if "message:" in line else line for line in lines)


def measure_trigger(place: str, rounds: int) -> None:
    """Compile and test after an edit of one trigger, with the starter, and print what each took."""
    root, environ = os.path.join(place, "trigger"), environment(place)
    for arguments in (["init", root], ["--commons", root, "compile"]):
        cost([COMMAND, *arguments], environ)
    taken: dict[str, list[Cost]] = {"compile": [], "trigger test": []}
    for number in range(rounds):
        for turn, (name, every) in enumerate(taken.items()):
            edit_trigger(root, 2 * number + turn)
            every.append(cost([COMMAND, "--commons", root, *name.split()], environ))
    for name, every in taken.items():
        passed, worked = (statistics.median(column) for column in zip(*every, strict=True))
        print(f"  one trigger edited, starter on: {name} {passed:.2f} s ({worked:.2f} s of work)", flush=True)


def main() -> None:
    """Measure every size, and an edit of a trigger."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="1000,10000,100000")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--words", type=int, default=WORDS, help="of a document")
    given = parser.parse_args()
    print(f"on {os.cpu_count()} processors, Python {sys.version.split()[0]}", flush=True)
    with tempfile.TemporaryDirectory() as place:
        for size in map(int, given.sizes.split(",")):
            measure(size, place, given.rounds, given.words)
        measure_trigger(place, given.rounds)


if __name__ == "__main__":
    main()
