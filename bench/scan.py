"""Measure what watching a turn costs inside a process: short turns with 1,000 triggers, and many kinds of 1 MB turns.

    python bench/scan.py [--rounds 2000] [--conversations FILE.jsonl]

The short rows call `check_triggers` as a bot would, each with a turn it has not seen. The long rows watch one turn of a
megabyte; no kind may cost more than five times the median per byte, whatever an attacker writes into it.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).resolve().parent))

from synthetic import make_commons, names
from timing import percentile, time_calls

from deia.librarian import Librarian
from deia.records import Turn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

TRIGGERS = 1_000
SHORT = 200  # characters
LONG = 1_000_000  # bytes
BUDGET_SHORT, BUDGET_LONG, BUDGET_RATIO = 50.0, 250.0, 5.0  # µs, ms, times the median
PROSE = (
    "Please look at the failing checks in the parser module, find out why the third one times out on the slow machine, "
    "and write down what you would change first; keep the public names as they are, and don't forget the notes. "
)
LOG = '2026-11-20T10:00:01Z worker[12] INFO GET /api/items?id=42 200 "curl/8.1" 13ms cache=hit request=9f2c\n'
CODE = "    def load(self, path: str) -> dict[str, int]:\n        return {key: len(value) for key, value in path}\n"
SHELL = "cd app && npm run build -- --mode=ci | tee build.log; [ -d dist ] && cp -r dist/* /srv/www || exit 1\n"
COMMANDS = 'for f in *.txt; do sed -i \'s/a/b/\' "$f" && git add "$f"; done\n'
HOSTILE = {
    "brackets": "([{<",
    "closing brackets": ")]}>",
    "double quotes": '"',
    "single quotes": "'",
    "quoted words": '"a b" ',
    "backticks": "`",
    "spaced backticks": "` ",
    "fences": "```\n",
    "block quotes": "> a\n",
    "one long word": "a",
    "no spaces": "a.b-c_d/",
    "blank lines": "\n",
    "spaces": " ",
    "full stops": ". ",
    "dollars": "$(",
    "backslashes": "\\",
    "semicolons": "a;",
    "pipes": "a|",
    "heredocs": "cat <<E\n",
    "emoji": "\U0001f600 ",
    "Chinese": "\u5220\u9664\u751f\u4ea7\u6570\u636e\u5e93\u3002",
    "right to left": "\u202e\u05d0\u05d1 ",
    "lone surrogates": "\ud800 ",
    "NUL": "\0",
    "apostrophes": "don't ",
}


def filled(piece: str) -> str:
    """Repeat a piece up to a megabyte."""
    return (piece * (LONG // len(piece.encode("utf-8", "surrogatepass")) + 1))[:LONG]


def _call(command: str) -> Turn:
    return Turn(role="tool_call", text=command, tool="Bash", tool_input={"command": command})


def long_turns(near: str) -> Iterator[tuple[str, Turn]]:
    """Yield turns of a megabyte by name: ordinary ones, and what an attacker may write after words that open the gate.

    `near` holds all the words of a trigger in an order in which none of its clauses matches, so that all are tried.
    """
    everyday = {"prose": PROSE, "log": LOG, "code": CODE, "phrase words of a trigger": near}
    for name, piece in everyday.items():
        yield f"user: {name}", Turn(role="user", text=filled(piece))
    yield "result: log", Turn(role="tool_result", text=filled(LOG), tool="Bash")
    yield (
        "failed result: log",
        Turn(role="tool_result", text=filled(LOG + "Error: it failed\n"), tool="Bash", failed=True),
    )
    for name, piece in {"script": SHELL, "loops": COMMANDS, "phrase words of a trigger": near}.items():
        yield f"call: {name}", _call(filled(piece))
    yield "call: heredoc", _call("cat > out.txt <<'EOF'\n" + filled(PROSE.replace(". ", ".\n")) + "\nEOF\n")
    for name, piece in HOSTILE.items():
        yield f"user: {name}", Turn(role="user", text=f"{near}\n{filled(piece)}")
        yield f"call: {name}", _call(f"{near}\n{filled(piece)}")


def near_miss(librarian: Librarian) -> str:
    """Return the words of a trigger's phrase, its last place first."""
    places = librarian.open_artefact().trigger(0).any[0].slots
    return " ".join(singles[0] for _, singles, _, _ in reversed(places)) + " "


def short_turns(count: int, seed: int) -> list[str]:
    """Return different turns of ordinary length."""
    chance = random.Random(seed)
    vocabulary = PROSE.replace(",", "").replace(".", "").split() + names(40, seed + 1)
    return [" ".join(chance.choices(vocabulary, k=60))[:SHORT] for _ in range(count)]


def real_turns(path: Path, count: int) -> list[dict[str, str]]:
    """Return a sample of real turns as messages."""
    with path.open(encoding="utf-8") as lines:
        turns = [json.loads(line) for line in lines]
    known = [turn for turn in turns if turn["role"] in {"user", "assistant", "tool_call", "tool_result"}]
    return [
        {"role": turn["role"], "text": turn["text"], "tool": turn["tool"] or ""}
        for turn in random.Random(5).sample(known, min(count, len(known)))
    ]


def time_short(watch: Callable[[object], object], turns: list[object]) -> list[float]:
    """Time each turn once, the first tenth unmeasured; return µs."""
    taken: list[float] = time_calls(lambda number: watch(turns[number]), rounds=len(turns))
    return taken[len(turns) // 10 :]


def time_long(watch: Callable[[Turn, str], object], turns: list[tuple[str, Turn]], rounds: int) -> dict[str, float]:
    """Watch every long turn in turn, round after round; return the best time of each in ms."""
    best: dict[str, float] = {}
    for number in range(rounds):
        for name, turn in turns:
            began = time.perf_counter()
            watch(turn, f"{name} {number}")
            taken = (time.perf_counter() - began) * 1000
            best[name] = min(taken, best.get(name, taken))
    return best


def row(name: str, value: float, unit: str, budget: float | None, extra: str = "") -> None:
    """Print a line of the table, with its budget and whether it is met."""
    verdict = "" if budget is None else f"  budget {budget:g} {unit}  {'ok' if value <= budget else 'MISSED'}"
    print(f"{name:44} {value:10.1f} {unit}{verdict}{extra}")


def report_short(librarian: Librarian, options: argparse.Namespace) -> None:
    """Time and print the short rows."""
    kinds: dict[str, list[object]] = {
        "no word fits": [f"{PROSE[: SHORT - 8]} {number}" for number in range(options.rounds)]
    }
    kinds["words of triggers strewn in"] = [*short_turns(options.rounds, 3)]
    if options.conversations:
        kinds["real turns"] = [*real_turns(options.conversations, options.rounds)]
    for name, turns in kinds.items():

        def watch(turn: object, identity: str = f"short {name}") -> object:
            return librarian.check_triggers([turn], conversation_id=identity)

        taken = time_short(watch, turns)
        budget = BUDGET_SHORT if name != "real turns" else None
        row(f"short: {name}", statistics.median(taken), "µs", budget, f"  p95 {percentile(taken, 0.95):.1f}")


def report_long(librarian: Librarian, near: str, rounds: int) -> None:
    """Time and print the long rows, worst first."""
    turns = list(long_turns(near))
    taken = time_long(lambda turn, identity: librarian.check_triggers([turn], conversation_id=identity), turns, rounds)
    sizes = {name: len(turn.text.encode("utf-8", "surrogatepass")) for name, turn in turns}
    a_byte = {name: taken[name] / sizes[name] for name in taken}
    middle = statistics.median(a_byte.values())
    for name in sorted(taken, key=taken.__getitem__, reverse=True):
        row(f"1 MB {name}", taken[name], "ms", BUDGET_LONG, f"  {a_byte[name] / middle:4.1f} times the median")
    row("worst a byte, against the median", max(a_byte.values()) / middle, "times", BUDGET_RATIO)


def main() -> None:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=2000)
    parser.add_argument("--long-rounds", type=int, default=3)
    parser.add_argument("--conversations", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ.update(
            DEIA_STATE=f"{folder}/state",
            DEIA_CACHE=f"{folder}/cache",
            DEIA_COMMONS="",
            DEIA_TRUST="*",
            DEIA_STARTER="false",
        )
        commons = make_commons(Path(folder) / "commons", triggers=TRIGGERS)
        librarian = Librarian(commons, ledger=False)
        report_short(librarian, options)
        report_long(librarian, near_miss(librarian), options.long_rounds)


if __name__ == "__main__":
    main()
