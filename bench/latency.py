"""Measure how long answers and injections take, against the targets of deia's specification in milliseconds.

    python bench/latency.py [--rounds N] [--sizes 18,100,1000]

In process, as in a server or a Python program: keywords, questions in natural language with the best tier, and what
a turn that fires costs from its text to its injection. Cold, as a whole process: `deia search` and the hook, beside
the machine's bare start (`python -c pass`), which no program of Python can undercut.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from hook import event
from synthetic import OBJECTS, VERBS, make_commons, names
from timing import BARE, PYTHON, percentile, time_calls, time_commands

from deia.compile.compiler import compile_commons
from deia.librarian import Librarian

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

KEYWORD, INJECTION = 50.0, 50.0
QUESTION = {18: 100.0, 100: 200.0, 1000: 500.0}  # documents: the most milliseconds of a question
TRIGGERS, SEED = 40, 7
COMMAND = os.path.join(os.path.dirname(sys.executable), "deia")
HOOK = Path(__file__).resolve().parents[1] / "deia/serve/hook.py"


def line(name: str, taken: Sequence[float], target: float) -> None:
    """Print the median and the 95th percentile of some milliseconds beside the target."""
    middle, high = percentile(taken, 0.5), percentile(taken, 0.95)
    told = (
        f"{target:6.0f}  {'met' if high < target else 'missed' if middle >= target else 'p95 missed'}" if target else ""
    )
    print(f"{name:44} {middle:8.2f} {high:8.2f}  {told}", flush=True)


def in_ms(taken: Sequence[float]) -> list[float]:
    """Return microseconds as milliseconds."""
    return [each / 1000 for each in taken]


def in_process(root: Path, size: int, rounds: int) -> None:
    """Measure the calls of one open Librarian; each question and each turn is another one."""
    chance, librarian = random.Random(SEED), Librarian(root, ledger=False)
    known = [*names(25, SEED), *VERBS, *OBJECTS]
    asked = [f"how do I {' '.join(chance.sample(known, 4))}?" for _ in range(rounds + 1)]
    turns = _firing_turns(librarian, rounds + 1)
    librarian.query(asked[-1])  # opens the catalog and the model
    librarian.check_triggers(turns[-1:], conversation_id="first")

    def inject(at: int) -> None:
        found = librarian.get_context(librarian.check_triggers(turns[at : at + 1], conversation_id=f"c{at}"))
        if not found.text:
            raise SystemExit(f"nothing fires on {turns[at]}")

    keywords = time_calls(lambda _: librarian.query(keywords=chance.sample(known, 2)), rounds=rounds)
    line(f"keywords, {size} documents", in_ms(keywords), KEYWORD)
    questions = time_calls(lambda at: librarian.query(asked[at]), rounds=rounds)
    line(
        f"question, {size} documents, {librarian.query(asked[0]).audit.tier}", in_ms(questions), QUESTION.get(size, 0.0)
    )
    line(f"injection, {TRIGGERS} triggers", in_ms(time_calls(inject, rounds=rounds)), INJECTION)


def _firing_turns(librarian: Librarian, count: int) -> list[str]:
    """Return turns that announce what a trigger of the commons is about."""
    artefact = librarian.open_artefact()
    titles = [artefact.trigger(number).title for number in range(artefact.meta.triggers)]
    said = [
        f"Assistant: I will now {title.replace(' the ', ' the old ').replace(' of ', ' for ')}." for title in titles
    ]
    firing = [turn for turn in said if librarian.check_triggers([turn], conversation_id=turn)]
    return [firing[at % len(firing)] for at in range(count)]


def cold(root: Path, size: int, rounds: int, environ: Mapping[str, str], turn: str) -> None:
    """Measure whole processes in turn, the bare start of Python among them."""
    os.environ.update(environ)
    commands = {
        "bare start of Python": BARE,
        f"deia search, {size} documents": (
            COMMAND,
            "--commons",
            str(root),
            "search",
            "drop a table",
        ),
        "hook, a turn that fires": (PYTHON, "-I", "-S", str(HOOK), "claude-code"),
    }

    def given(name: str, number: int) -> bytes:
        text = turn.removeprefix("Assistant: ")
        return event("user", text, folder=str(root), conversation=f"n{number}") if name.startswith("hook") else b""

    for name, taken in time_commands(commands, rounds=rounds, inputs=given).items():
        line(
            name, taken, {"bare": 0.0, "deia": QUESTION.get(size, 0.0), "hook": INJECTION}[name.split()[0].rstrip(",")]
        )


def main() -> None:
    """Measure every size, and print a line for each figure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=50)
    parser.add_argument("--sizes", default="18,100,1000")
    options = parser.parse_args()
    print(f"{'':44} {'p50 ms':>8} {'p95 ms':>8}  {'target':>6}")
    with tempfile.TemporaryDirectory() as place:
        own = {
            "DEIA_STATE": f"{place}/state",
            "DEIA_CACHE": f"{place}/cache",
            "DEIA_TRUST": "*",
            "DEIA_STARTER": "false",
        }
        os.environ.update(own)
        for size in map(int, options.sizes.split(",")):
            root = make_commons(Path(place, str(size)), triggers=TRIGGERS, documents=size)
            compile_commons(str(root), environ=os.environ, requested=True)
            in_process(root, size, options.rounds)
            cold(root, size, options.rounds // 2, own, _firing_turns(Librarian(root, ledger=False), 1)[0])


if __name__ == "__main__":
    main()
