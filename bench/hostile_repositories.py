"""Enter hostile repositories as a person who installed deia: nothing outside may be read or changed, and it must guard.

    python bench/hostile_repositories.py [--seed 1] [--first 0] [--count 1000] [--workers 1] [--folder FOLDER]
                                         [--real 20] [--whole-starter] [--keep]

Every repository is made of random pieces by a seed and its number (`hostile_pieces`, `hostile_contents`), beside a
fenced folder of the person's own files. It goes through the hook, a compile, a search, learning, adding a lesson and an
MCP server. After that, everything outside root, state and cache must be as before (kinds, sizes, times, digests), no
canary of a file outside may be in any output or file, no call may fail, hang or need too much, and `terraform destroy`
must have been held each time, except in the repositories that the person trusts nevertheless. Calls are made in forks
of one process, each with its own limits; every so many repositories (`--real`) the installed hook and command line are
started instead. The starter is reduced to the trigger that guards, unless it is to be whole.

Numbers that FOLDER/results.jsonl has are skipped, so a run can be continued. A repository that fails is kept, and
`--first N --count 1` makes it again. The exit code is 1 if one failed.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

from hostile_installation import Person, install, load
from hostile_visit import visit

RESULTS = "results.jsonl"
SHOWN = 12  # failures that are printed in full


def main() -> int:
    """Run what the command line asks for; return 1 if a repository failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--real", type=int, default=20)
    parser.add_argument("--whole-starter", action="store_true")
    parser.add_argument("--keep", action="store_true")
    options = parser.parse_args()
    folder = options.folder or Path(tempfile.mkdtemp(prefix="hostile-"))
    folder.mkdir(parents=True, exist_ok=True)
    person = install(folder / "person", whole=options.whole_starter)
    done = {row["number"] for row in rows(folder) if row["seed"] == options.seed}
    numbers = [number for number in range(options.first, options.first + options.count) if number not in done]
    workers = [work(folder, person, numbers[at :: options.workers], options) for at in range(options.workers)]
    for worker in workers:
        os.waitpid(worker, 0)
    return report([row for row in rows(folder) if row["seed"] == options.seed], folder)


def rows(folder: Path) -> list[dict[str, Any]]:
    """Return what is known of the repositories visited so far."""
    path = folder / RESULTS
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def work(folder: Path, person: Person, numbers: list[int], options: argparse.Namespace) -> int:
    """Visit repositories in a process of its own; return its id."""
    sys.stdout.flush()
    worker = os.fork()
    if worker:
        return worker
    load()
    for number in numbers:
        place = folder / f"{options.seed}-{number}"
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        real = bool(options.real) and number % options.real == options.real - 1
        row = visit(place, person, random.Random(f"{options.seed}-{number}"), real=real)
        with (folder / RESULTS).open("a") as file:
            file.write(json.dumps({"seed": options.seed, "number": number, **row}) + "\n")
        if row["failures"]:
            print(f"{options.seed}-{number}: {row['failures'][0][:150]}", flush=True)
        elif not options.keep:
            shutil.rmtree(place, ignore_errors=True)
    os._exit(0)


def report(visited: list[dict[str, Any]], folder: Path) -> int:
    """Print the figures of all visits; return 1 if one failed."""
    failed = [row for row in visited if row["failures"]]
    hooks = [call for row in visited for call in row["hooks"]]
    real, trusted = (sum(row[name] for row in visited) for name in ("real", "trusted"))
    print(f"{len(visited)} repositories, {real} of them with started processes, {trusted} of them trusted")
    for name, values in (("hook", hooks), ("other calls", [call for row in visited for call in row["calls"]])):
        cpu, wall, peak = (sorted(value[at] for value in values) or [0] for at in range(3))
        spread = f"CPU p50 {cpu[len(cpu) // 2]:.3f} s, most {cpu[-1]:.3f} s; wall most {wall[-1]:.2f} s"
        slow = sum(value > 1 for value in wall)
        print(f"{len(values)} {name}: {spread}, over a second {slow}; most memory {peak[-1]:.0f} MB")
    print(
        f"held {sum(row['held'] for row in visited)} times, {sum(row['late'] for row in visited)} after a late answer"
    )
    kinds = Counter(kind for row in failed for kind in {failure.partition(":")[0] for failure in row["failures"]})
    print(f"{len(failed)} failed: {dict(kinds.most_common())}")
    for row in failed[:SHOWN]:
        print(f"  {folder}/{row['seed']}-{row['number']} ({', '.join(row['pieces'])})")
        print(*[f"    {failure[:600]}" for failure in row["failures"][:4]], sep="\n")
    return int(bool(failed))


if __name__ == "__main__":
    began = time.time()
    code = main()
    print(f"{time.time() - began:.0f} s")
    sys.exit(code)
