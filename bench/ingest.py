"""Keeping a library up to date: whole commands over unchanged files and over one that changed, and what is left then.

    python bench/ingest.py [--files 20000] [--rounds 7] [--kills 20] [--questions 100]

A folder of Markdown and Python files is taken in whole. In each round `deia source update` then runs over unchanged
files, and again after a line of one file changed; elapsed time and the work of all processors are shown, and the
difference of both medians, which is what the changed file costs. A program that runs already updates after changes,
too: that is what a command takes without starting Python and importing deia. Some updates are killed at a random
moment. At the end the same folder is taken in by another person who has nothing yet: what the two libraries export
must be the same bytes, and what both answer to the same questions as well.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import subprocess
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from compile import Cost, cost
from search import COMMAND, environment, questions, vocabulary

from deia.compile import take_in

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

FOLDER_SIZE = 100
SEED = 11
SETTLED = 2.1  # seconds after which the size and time of a file tell that it is unchanged
CODE = '''"""About {about}."""


def {name}(first, second):
    """{words}."""
    return first + second
'''


def write(root: Path, count: int) -> None:
    """Write the files, in folders of a hundred: notes, and every fifth a module."""
    chance = random.Random(SEED)
    known = vocabulary(chance)
    for number in range(count):
        folder = root / f"part{number // FOLDER_SIZE}"
        folder.mkdir(parents=True, exist_ok=True)
        words = [" ".join(chance.choices(known, k=40)) for _ in range(3)]
        if number % 5:
            text = f"# {words[0][:30]}\n\n{words[0]}\n\n## {words[1][:20]}\n\n{words[1]}\n\n{words[2]}\n"
        else:
            text = CODE.format(about=words[0], name=f"f{number}", words=words[1])
        (folder / f"{number}.{'md' if number % 5 else 'py'}").write_text(text, "utf-8")


def change(root: Path, number: int, round_number: int) -> None:
    """Add a line to a file, and let time pass until its time tells that it is unchanged."""
    path = next(root.glob(f"part{number // FOLDER_SIZE}/{number}.*"))
    path.write_text(f"{path.read_text('utf-8')}\n# changed in round {round_number}: kalo miter\n", "utf-8")
    time.sleep(SETTLED)


def person(place: str, name: str) -> dict[str, str]:
    """Return the environment of a person with a state and a cache of their own, and without the starter."""
    own = {"DEIA_STATE": f"{place}/{name}/state", "DEIA_CACHE": f"{place}/{name}/cache"}
    return {**environment(place), **own, "DEIA_STARTER": "false"}


def shown(name: str, costs: Sequence[Cost]) -> float:
    """Print the medians of some runs; return that of the elapsed time."""
    passed, worked = (statistics.median(column) for column in zip(*costs, strict=True))
    print(f"{name:28} {passed:.2f} s ({worked:.2f} s of work), fastest {min(costs).passed:.2f} s", flush=True)
    return float(passed)


def updated_here(root: Path, commons: Path, environ: Mapping[str, str], number: int, files: int) -> float:
    """Change a file and update in this process; return the seconds of the update."""
    change(root, number * files // 100 + number % 5, number)
    began = time.perf_counter()
    take_in.update(str(commons), [], environ)
    return time.perf_counter() - began


def kill_updates(command: Sequence[str], environ: Mapping[str, str], root: Path, count: int, files: int) -> None:
    """Change files and kill updates at a random moment of the time that one takes."""
    chance = random.Random(SEED)
    for number in range(count):
        path = root / f"part{number}" / f"killed{number}.md"
        path.write_text(f"# Killed {number}\n\nkalo miter {number}\n", "utf-8")
        running = subprocess.Popen(
            [*command, "source", "update"], env=dict(environ), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        time.sleep(chance.uniform(0.05, 0.1 + files / 20_000))
        running.kill()
        running.wait()


def exported(command: Sequence[str], environ: Mapping[str, str]) -> bytes:
    """Return everything that a library has of the folder."""
    return subprocess.run(
        [*command, "source", "export", "files"], env=dict(environ), capture_output=True, check=True
    ).stdout


def order(answer: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the passages of an answer in order; for a while, scores count the texts that were replaced, too."""
    found = answer.get("documents", {})
    return [(one["path"], str(one.get("lines"))) for part in ("primary", "secondary") for one in found.get(part, ())]


def answers(command: Sequence[str], environ: Mapping[str, str], asked: Sequence[str]) -> list[dict[str, Any]]:
    """Return the answers to some questions, without the times at which they were given."""
    found = []
    for question in asked:
        run = [*command, "search", question, "--layer", "library", "--json", "--limit", "10"]
        answer = json.loads(subprocess.run(run, env=dict(environ), capture_output=True, check=False).stdout)
        answer.pop("audit", None)
        found.append(answer)
    return found


def main() -> None:
    """Measure, and print a line for each figure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--questions", type=int, default=100)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        root, commons = Path(place, "files"), Path(place, "commons")
        write(root, options.files)
        commons.mkdir()
        (commons / "deia.toml").touch()
        time.sleep(SETTLED)
        environ, command = person(place, "one"), [COMMAND, "--commons", str(commons)]
        shown(f"{options.files:,} files, whole", [cost([*command, "ingest", str(root)], environ)])
        update = [*command, "source", "update"]
        taken: dict[str, list[Cost]] = {"nothing changed": [], "one changed": []}
        for number in range(options.rounds):
            time.sleep(SETTLED)  # as long as after a change: just after another command, all is faster
            taken["nothing changed"].append(cost(update, environ))
            change(root, number * options.files // options.rounds, number)
            taken["one changed"].append(cost(update, environ))
        medians = [shown(name, costs) for name, costs in taken.items()]
        print(f"{'what the changed file costs':28} {medians[1] - medians[0]:.2f} s")
        warm = [updated_here(root, commons, environ, number, options.files) for number in range(options.rounds + 1)]
        print(f"{'one changed, running program':28} {statistics.median(warm[1:]):.2f} s, fastest {min(warm):.2f} s")
        kill_updates(command, environ, root, options.kills, options.files)
        time.sleep(SETTLED)
        shown("after the killed ones", [cost(update, environ)])
        compare(command, environ, person(place, "other"), str(root), options.questions)


def compare(
    command: Sequence[str], environ: Mapping[str, str], other: Mapping[str, str], root: str, count: int
) -> None:
    """Take the folder in anew, and print whether both libraries are the same."""
    cost([*command, "ingest", root], other)
    one, another = exported(command, environ), exported(command, other)
    print(f"exported: {len(one):,} bytes, {'the same' if one == another else 'NOT the same'} as of a whole rebuild")
    asked = [*questions(), *(f"kalo miter killed {number}" for number in range(count))][:count]
    pairs = list(zip(answers(command, environ, asked), answers(command, other, asked), strict=True))
    same, alike = sum(first == second for first, second in pairs), sum(order(one) == order(two) for one, two in pairs)
    print(
        f"answers: {alike} of {len(asked)} with the same passages in the same order, {same} with the same scores, too"
    )


if __name__ == "__main__":
    main()
