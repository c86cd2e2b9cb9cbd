"""Check with hostile texts for every kind of clause that a turn's time grows no faster than its length.

    python bench/hostile.py [--size 60000] [--huge 10000000] [--rounds 3]

Every text is written so that the gate lets all the starter's triggers through, and so that the part that reads it has
as much work as possible. The first table watches each at one size and at twice that size; the second watches turns of
10 MB, in process and as whole hook processes. Times are CPU times; the exit code is 1 if one exceeds its budget.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

from timing import PYTHON

from deia import folders
from deia.commons.index.load_commons import load_commons
from deia.librarian import Librarian
from deia.records import Turn
from deia.text import words
from deia.watch.memory.recall import InMemoryLog
from deia.watch.watcher import Surroundings, watch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from deia.watch.gate.artefact import Artefact

    Make = Callable[[int], Turn]

GROWTH = 3.0  # times, at twice the length
NOTABLE = 500.0  # ms; a text that takes as long is named
SHORTEST = 20.0  # ms; what takes less is not a growth that anybody notices
HOOK = str(Path(folders.PACKAGE) / "serve" / "hook.py")
# Text that repeats, by the kind of clause that has to read it; `(…)` pairs are what opens and what closes.
SPOKEN = {
    "phrase": (
        "delete ", "delete the all of ", "delete x x x x x x x x ", "the ", "force push. ", "I will ", "don't ",
        "\n> a", "```\n", "`a ", "` ", '("', "\u201c", "| a ", "- [ ] ", "e\u0301", "\u0301", "\u202e\u05d0",
        "\ud800 ", "\x00", "a", "A-b_", "https://a/", "? ", "if ", "\u5220\u9664", ". ", "\n\n", "\u200b", "not ",
    ),
    "words": (
        "delete shop ", "shop ", "delete\n",
    ),
    "error": (
        "error: ", "Error: npm ERR! ", "fatal: ", "Traceback (most recent call last):\n", "error \u2026 ", "failed ",
        "E404 Not ", "\x1b[31m", "error:\n", "permission denied ",
    ),
    "meaning": (
        "I am about to delete the site ", "throw away ", "site ",
    ),
}  # fmt: skip
RUN = {
    "command": (
        "git push -x origin a; ", "git push -x origin a#; ", "git ", "rm -r a; ", "rm -r a#; ", "git reset a# -q; ",
        "sudo ", "xargs ", "env A=b ", "$(", "`", "(", "{ ", '"', "'", "a;", "a|", "a&", "cat <<E\n", "<<E ",
        "{a,b}", "${a:-", "$((", "A=$A$A; ", "f() { f; }; f; ", "eval ", 'eval "', "bash -c '", 'bash -c "', "\\",
        "\\\n", "# x ", "if a; then ", "for i in a; do ", "case a in a) ", "[[ a && ", "find . -exec ",
        "alias a=b; ", "export A=b; ", "python3 -c 'import os; os.system(\"", "ssh a ", "a=(", "> a ", "-f ",
        "--force ", "git -c a=b ", "git commit -m a; ", "cd a; ", "a#; ", "git checkout a -- b; ", "docker exec a ",
        "timeout 5 ", "rm -rf ", "rm -rf $A; ", "terraform apply -target=a; ",
    ),
    "pattern": (
        "DROP ", "drop  table", "truncate  ", "\\b", "dropDatabase(", "commit without ", "find -delet ", "a.b.c/",
    ),
    "sql": (
        'psql -c "DELETE FROM a; ', "DELETE FROM a ", "DELETE FROM a; ", "(", "/*", "/* */ ", "--\n", "''",
        "WITH a AS (", "$$", "$a$", "UPDATE a SET b = (", "DROP ", "`", "[", "BEGIN; ", "WHERE ", "a.", "E'\\'", '"',
    ),
}  # fmt: skip
NESTED = {"bash -c '": "'", "$(": ")", "(": ")", "`": "`", '"': '"', "{ ": "; }", "${a:-": "}", 'sh -c "': '"'}


def call(command: str) -> Turn:
    """Return a shell call."""
    return Turn(role="tool_call", text=command, tool="Bash", tool_input={"command": command})


def _repeated(piece: str, size: int) -> str:
    """Repeat a piece; `#;` in it becomes a number, so that no two commands are the same."""
    if "#" not in piece.partition(";")[0].strip():
        return piece * (size // len(piece) + 1)
    return "".join(piece.replace("#", str(number)) for number in range(size // (len(piece) + 3)))


def cases(opening: str) -> Iterator[tuple[str, str, Make]]:
    """Yield kind, name and maker of every hostile turn; `opening` are words that open the gate."""
    for kind, pieces in SPOKEN.items():
        role: Any = "tool_result" if kind == "error" else "user"
        for piece in pieces:
            yield kind, ascii(piece), _speaker(role, opening, piece)
    for kind, pieces in RUN.items():
        for piece in pieces:
            yield kind, ascii(piece), _runner(opening, piece)
    for before, after in NESTED.items():
        yield "command", f"{before!r} nested", _nester(opening, before, after)
    yield from _fields(opening)


def _speaker(role: Any, opening: str, piece: str) -> Make:
    return lambda size: Turn(role=role, text=f"{opening}\n{_repeated(piece, size)}", tool="Bash", failed=role != "user")


def _runner(opening: str, piece: str) -> Make:
    return lambda size: call(f"{opening}\n{_repeated(piece, size)}")


def _nester(opening: str, before: str, after: str) -> Make:
    def make(size: int) -> Turn:
        depth = size // (len(before) + len(after)) + 1
        return call(f"echo {opening.splitlines()[0]}\n{before * depth}git push{after * depth}")

    return make


def _deep(size: int, least: Any) -> Any:
    """Nest lists and mappings, as deep as JSON can be written."""
    value = least
    for _ in range(min(size, 300)):
        value = [{"a": value}]
    return value


def _fields(opening: str) -> Iterator[tuple[str, str, Make]]:
    """Yield inputs of tools that write or do anything else."""
    given: dict[str, dict[str, Callable[[int], dict[str, Any]]]] = {
        "write": {
            "long path": lambda size: {"file_path": "a/../" * (size // 5) + ".env"},
            "path of one name": lambda size: {"file_path": "/" + "a" * size},
            "many edits": lambda size: {"file_path": "/a/.en", "edits": [{"new_string": "delete"}] * (size // 20)},
            "long content": lambda size: {
                "file_path": "/a/.en",
                "content": f"{opening}\n" * (size // len(opening) + 1),
            },
            "patch": lambda size: {"input": "*** Update File: a\n" * (size // 19)},
        },
        "tool": {
            "one long string": lambda size: {"question": f"{opening} " + "delete the " * (size // 11)},
            "many fields": lambda size: {f"a{number}": "delete" for number in range(size // 10)},
            "many strings": lambda size: {"todos": ["delete shop"] * (size // 11)},
            "deep": lambda size: {"plan": _deep(size, opening), "text": opening},
            "JSON in a string": lambda size: {"arguments": "{" * size},
        },
    }
    tools = {"write": ("Write", "MultiEdit", "apply_patch"), "tool": ("AskUserQuestion", "mcp__netlify__delete-site")}
    for kind, inputs in given.items():
        for tool in tools[kind]:
            for name, make in inputs.items():
                yield (
                    kind,
                    f"{tool}, {name}",
                    lambda size, make=make, tool=tool: Turn(  # type: ignore[misc]
                        role="tool_call", text="", tool=tool, tool_input=make(size)
                    ),
                )


# --- measuring ---


def opening_of(artefact_commons: str) -> str:
    """Return the words of all triggers, one trigger per line, reversed so that no clause matches but all are tried."""
    triggers = load_commons(artefact_commons).triggers
    lines = [" ".join(reversed(words(str(clause.value)))) for one in triggers for clause in (*one.any, *one.all)]
    return ". ".join(lines)


def cost(artefact: Artefact, turn: Turn) -> float:
    """Watch a turn in a conversation of its own; return the CPU time in ms."""
    began = time.process_time()
    watch(artefact, turn, InMemoryLog(), lambda: Surroundings(now=0.0))
    return (time.process_time() - began) * 1000


def growth(artefact: Artefact, make: Make, size: int, rounds: int) -> tuple[float, float]:
    """Return the median time at a size and at twice that size."""
    pairs = [(cost(artefact, make(size)), cost(artefact, make(2 * size))) for _ in range(rounds)]
    return statistics.median(one for one, _ in pairs), statistics.median(two for _, two in pairs)


def report_growth(artefact: Artefact, opening: str, size: int, rounds: int) -> int:
    """Print how each kind grows, its worst texts by name; return how many grow too fast."""
    found: dict[str, list[tuple[float, float, float, str]]] = {}
    for kind, name, make in cases(opening):
        once, twice = growth(artefact, make, size, rounds)
        if twice > NOTABLE:
            print(f"  {kind} {name}: {twice:.0f} ms", file=sys.stderr, flush=True)
        ratio = twice / once if twice > SHORTEST else 0.0
        found.setdefault(kind, []).append((ratio, once, twice, name))
    print(f"{'':9} {'texts':>5}   {'slowest at ' + format(2 * size, ','):34} fastest growing")
    for kind, rows in found.items():
        slow, fast = max(rows, key=lambda row: row[2]), max(rows)
        print(f"{kind:9} {len(rows):5}   {slow[2]:6.0f} ms {slow[3][:22]:24} {fast[0]:5.1f} times  {fast[3]}")
    bad = [(kind, *row) for kind, rows in found.items() for row in rows if row[0] > GROWTH]
    for kind, ratio, once, twice, name in bad:
        print(f"TOO FAST: {kind} {name}: {once:.1f} → {twice:.1f} ms, {ratio:.1f} times at twice the length")
    return len(bad)


def huge_turns(opening: str, size: int) -> dict[str, Turn]:
    """Return turns of 10 MB (or what `size` says)."""
    prose = "Please look at the failing checks in the parser module and keep the public names as they are. "
    return {
        "prose": Turn(role="user", text=_repeated(prose, size)),
        "prose, all triggers' words": Turn(role="user", text=_repeated(opening + " ", size)),
        "one word": Turn(role="user", text="a" * size),
        "result": Turn(role="tool_result", text=_repeated("error: it failed\n", size), tool="Bash", failed=True),
        "command": call(_repeated("git push -x origin a; ", size)),
        "command, all triggers' words": call(_repeated(opening + "\n", size)),
        "one huge field": _tool_call("Write", {"content": _repeated(opening, size)}),
        "100,000 fields": _tool_call("Task", {f"a{at}": "delete " * (size // 700_000) for at in range(100_000)}),
        "deep JSON": _tool_call("Task", {"prompt": _deep(size, _repeated(prose, size))}),
    }  # fmt: skip


def _tool_call(tool: str, given: dict[str, Any]) -> Turn:
    return Turn(role="tool_call", text="", tool=tool, tool_input=given)


def event_of(turn: Turn, folder: str) -> dict[str, Any]:
    """Return the event that a host would send for a turn."""
    names = {"user": "UserPromptSubmit", "tool_call": "PreToolUse", "tool_result": "PostToolUseFailure"}
    fields = {"session_id": "huge", "hook_event_name": names[turn.role], "cwd": folder, "tool_name": turn.tool}
    if turn.role == "user":
        return {**fields, "prompt": turn.text}
    return {**fields, "tool_input": turn.tool_input or {}, "error": turn.text}


def hook_cost(turn: Turn, environ: Mapping[str, str]) -> tuple[float, bool]:
    """Run the hook on a turn; return wall ms, and whether it gave up according to the ledger."""
    ledger = Path(environ["DEIA_STATE"])
    given = json.dumps(event_of(turn, environ["DEIA_STATE"])).encode()
    began = time.perf_counter()
    command = (PYTHON, "-I", "-S", HOOK, "claude-code")
    done = subprocess.run(command, input=given, capture_output=True, check=False, env=environ)
    taken = (time.perf_counter() - began) * 1000
    if done.returncode or done.stderr:
        raise SystemExit(f"the hook failed: {done.returncode} {done.stderr[:500]!r}")
    json.loads(done.stdout or b"null")
    logs = list(ledger.rglob("*.jsonl"))
    gave_up = any(b"TimeoutError" in path.read_bytes() for path in logs)
    for path in logs:
        path.unlink()
    return taken, gave_up


def report_huge(artefact: Artefact, opening: str, size: int, rounds: int) -> None:
    """Print what turns of 10 MB cost in process and in the hook."""
    print(f"\n{size / 1e6:.0f} MB {'':26} {'in process':>12} {'hook process':>14}   gave up at its deadline")
    for name, turn in huge_turns(opening, size).items():
        within = min(cost(artefact, turn) for _ in range(rounds))
        hook = [hook_cost(turn, dict(os.environ)) for _ in range(rounds)]
        whole, gave_up = min(taken for taken, _ in hook), sum(gave for _, gave in hook)
        print(f"{name:32} {within:9.0f} ms {whole:11.0f} ms   {gave_up} of {rounds}")
    print(f"largest memory: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")


def main() -> int:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=60_000)
    parser.add_argument("--huge", type=int, default=10_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ.update(DEIA_STATE=f"{folder}/state", DEIA_CACHE=f"{folder}/cache", DEIA_COMMONS="", DEIA_TRUST="*")
        artefact = Librarian(folders.STARTER, ledger=False).open_artefact()
        opening = opening_of(folders.STARTER)
        bad = report_growth(artefact, opening, options.size, options.rounds)
        if options.huge:
            report_huge(artefact, opening, options.huge, options.rounds)
    return int(bool(bad))


if __name__ == "__main__":
    sys.exit(main())
