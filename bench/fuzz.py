"""Run a million random turns through the whole watcher with the starter commons: none may raise, none may be slow.

    python bench/fuzz.py [--turns 1000000] [--seed 1] [--only NUMBER]

Turns are made of the triggers' own words, of the syntax that the parsers know, of mutated and spliced cases of the
triggers, and of noise. Every turn has a number: `--only` makes that turn again and shows it. Times are CPU times, so a
busy machine does not matter. The exit code is 1 if a turn raised, hung, or exceeded the hook's deadline.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import sys
import tempfile
import time
import traceback
from array import array
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent))

from timing import percentile

from deia import folders
from deia.commons.index.load_commons import load_commons
from deia.librarian import Librarian
from deia.records import Turn
from deia.text import words
from deia.watch.memory.recall import InMemoryLog
from deia.watch.turn.conversation import turns_of
from deia.watch.turn.tool_call import SHELL_TOOLS, WRITE_TOOLS, watched_text
from deia.watch.watcher import Surroundings, watch

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from deia.watch.gate.artefact import Artefact

CONVERSATION = 25  # turns that share a memory
LONGEST = 20.0  # seconds after which a turn counts as hung
SLOW_SHOWN = 8
ROLES: tuple[Any, ...] = ("user", "assistant", "tool_result", "system")
OTHER_TOOLS = (
    "Read Grep Glob Task Agent ExitPlanMode TodoWrite AskUserQuestion WebFetch update_plan view_image read_file"
    " list_directory search_files ask_followup_question new_task codebase_search mcp__db__query"
    " mcp__postgres__execute_sql mcp__github__delete_repository mcp__netlify__delete-site"
    " supabase.execute_sql run_query"
).split()
FIELDS = (
    "command cmd script code content file_path path new_string old_string prompt plan query sql todos questions edits"
    " question text url description input patch options"
).split()
SHELL = (
    "sudo|sudo -u root|env A=b|timeout 5|nohup|time|xargs -I{}|find . -exec|-delete|bash -c '|sh -lc \"|ssh host '|'|\""
    '|docker exec -it c|kubectl exec p --|psql -c "|python3 -c \'import os; os.system("|"|$(|)|`|;|&&|\\|\\||\\||&|\n'
    "|<<EOF\n|\nEOF\n|<<'E'\n|\nE\n|<<-X\n|>|>>|2>&1|<(|$((|))|${X:-|}|${X:?}|\"$X\"|$X|\\\\|\\\n|{a,b}|*|**/|~|/|.git"
    "|/tmp/x|node_modules|-rf|-r|-f|--|--force|--hard|--no-verify|-C dir|--dry-run|if|then|fi|for f in *; do|done"
    "|while :|case x in|esac|function f {|!|[[|]]|eval|exec|source|alias g=git|export A=1|# comment\n|cmd /c"
    "|powershell -Command|Remove-Item -Recurse -Force|-EncodedCommand|iex|$env:X|@'\n|\n'@|1..5|%{|pwsh -c {|&{|C:\\\\x"
    "|rm|git|dd of=/dev/sda"
).replace("\\|", "\0")
SHELL_ATOMS = tuple(atom.replace("\0", "|") for atom in SHELL.split("|"))
SQL = (
    'DELETE FROM|UPDATE|SET a = 1|WHERE|DROP TABLE|TRUNCATE|ALTER TABLE|DROP COLUMN|users|"Users"|`t`|[t]|a.b.c|;|--\n'
    "|/*|*/|'it''s'|$$|$tag$|E'\\''|BEGIN|COMMIT|(|)|SELECT * FROM|WITH x AS (|UNION|IF EXISTS|CASCADE|1=1|,|EXPLAIN|\n"
).split("|")
MARKDOWN = (
    "```bash\n|```\n|~~~\n|> |>> |- |1. |# |`|``|\"|'|\u201c|\u201d|\u00ab|\u00bb|**|_|[x](y)|<!--|-->|<b>|\n\n|\n|    "
    "|User: |Assistant: |I will |I'll |don't |did you |should we |please |never |already |if you |would "
    "|? |. |! |; |: |, "
).split("|")
NOISE = (
    "\0|\ud800|\udfff|\u202e|\u200b|\u0301|\u0345|\ufeff|\u00a0|\u2028|\x85|\x1c|\x1b[31m|\U0001f600|\u5220\u9664|\u0130"
    "|\u00df|\ufb01|\u1e9e|\uff21|\x7f|\t|\r|\x0b|\\u0000|%00|&lt;|\u0660|\u2460|\u00b2|\u0e01\u0e33|\U000e0041"
).split("|")


class Pool(NamedTuple):
    """What turns are made of: words of the triggers, and the cases' own turns."""

    words: tuple[str, ...]
    turns: tuple[Turn, ...]


class Slow(NamedTuple):
    """A turn worth looking at: its CPU time in ms, its number, its kind and its size."""

    taken: float
    number: int
    kind: str
    size: int


def make_pool() -> Pool:
    """Gather the words and cases of the starter commons."""
    commons = load_commons(folders.STARTER)
    texts = [str(clause.value) for one in commons.triggers for clause in (*one.any, *one.all)]
    known = dict.fromkeys(word for text in texts for word in (*words(text), *text.split()))
    return Pool(tuple(known), tuple(turn for case in commons.cases for turn in case.turns))


# --- kinds of turns ---


def _length(chance: random.Random) -> int:
    """Return a number of pieces: mostly few, now and then very many."""
    return int(2 ** chance.uniform(0, 12 if chance.random() < 0.01 else 7))


def _mixed(chance: random.Random, *pools: Sequence[str], glue: Sequence[str] = (" ",)) -> str:
    pieces = [
        piece for _ in range(_length(chance)) for piece in (chance.choice(chance.choice(pools)), chance.choice(glue))
    ]
    return "".join(pieces)


def _spoken(chance: random.Random, text: str) -> Turn:
    return Turn(role=chance.choice(ROLES), text=text, tool=chance.choice(("", "Bash")), failed=chance.random() < 0.3)


def prose(chance: random.Random, pool: Pool) -> Turn:
    """Words of triggers in sentences and Markdown."""
    return _spoken(chance, _mixed(chance, pool.words, pool.words, MARKDOWN, glue=(" ", " ", "")))


def shell(chance: random.Random, pool: Pool) -> Turn:
    """Shell syntax of every sort around the words of triggers."""
    return _call(chance, _mixed(chance, SHELL_ATOMS, SHELL_ATOMS, pool.words, glue=(" ", " ", " ", "")))


def sql(chance: random.Random, pool: Pool) -> Turn:
    """Return SQL, in places where it runs and where it does not."""
    text = _mixed(chance, SQL, SQL, SQL, pool.words)
    wrapped = chance.choice(('psql -c "{}"', "echo '{}' | mysql", "psql <<EOF\n{}\nEOF", "sqlite3 a.db '{}'", "{}"))
    if chance.random() < 0.3:
        return Turn(
            role="tool_call", tool=chance.choice(OTHER_TOOLS), tool_input={chance.choice(FIELDS): text}, text=""
        )
    return _call(chance, wrapped.replace("{}", text))


def bent_case(chance: random.Random, pool: Pool) -> Turn:
    """A case's turn with pieces lost, doubled, exchanged, quoted and put together with another's."""
    turn = chance.choice(pool.turns)
    given = dict(turn.tool_input) if turn.tool_input else None
    key = next((name for name, value in (given or {}).items() if isinstance(value, str)), None)
    text = str((given or {}).get(key, "")) if key else turn.text
    for _ in range(chance.randrange(1, 5)):
        text = _bent(chance, text, pool)
    if given is not None and key:
        return turn.but(tool_input={**given, key: text}, text=text if turn.text else "")
    return turn.but(text=text)


def _bent(chance: random.Random, text: str, pool: Pool) -> str:
    start, end = sorted((chance.randrange(len(text) + 1), chance.randrange(len(text) + 1)))
    piece = text[start:end]
    ways: tuple[Callable[[], str], ...] = (
        lambda: text[:start] + text[end:],
        lambda: text[:end] + piece * chance.randrange(1, 9) + text[end:],
        lambda: text[:start] + chance.choice(NOISE) + text[start:],
        lambda: text[:start] + chance.choice(SHELL_ATOMS) + text[start:],
        lambda: text[:start] + chance.choice(MARKDOWN) + text[start:],
        lambda: text + chance.choice((" ", "\n", "; ", " && ")) + chance.choice(pool.turns).text,
        lambda: text.upper() if chance.random() < 0.5 else text.replace(" ", chance.choice(NOISE)),
        lambda: _nested(chance, text),
    )
    return chance.choice(ways)()


def _nested(chance: random.Random, text: str) -> str:
    """Put a text into quotes inside quotes, now and then many deep."""
    for _ in range(chance.choice((1, 2, 3, 40))):
        before, after = chance.choice((("bash -c '", "'"), ('"', '"'), ("$(", ")"), ("`", "`"), ("(", ")"), ("> ", "")))
        text = f"{before}{text}{after}"
    return text


def tool_input(chance: random.Random, pool: Pool) -> Turn:
    """A tool of any host with an input of any shape."""
    tools = (*SHELL_TOOLS, *WRITE_TOOLS, *OTHER_TOOLS)
    given = {chance.choice(FIELDS): _json(chance, pool, 0) for _ in range(chance.randrange(5))}
    return Turn(
        role="tool_call", tool=chance.choice(sorted(tools)), tool_input=given, text=chance.choice(("", "{", "x"))
    )


def _json(chance: random.Random, pool: Pool, depth: int) -> Any:
    if depth > 9 or chance.random() < 0.5:
        plain = (None, True, -1, 1e308, float("nan"), "", 10**30)
        return chance.choice(plain) if chance.random() < 0.3 else _mixed(chance, pool.words, SHELL_ATOMS, SQL, NOISE)
    items = [_json(chance, pool, depth + 1) for _ in range(chance.randrange(4))]
    return items if chance.random() < 0.5 else {chance.choice(FIELDS): item for item in items}


def noise(chance: random.Random, pool: Pool) -> Turn:
    """Characters that texts go wrong on, among words of triggers."""
    text = _mixed(chance, NOISE, NOISE, pool.words, MARKDOWN, glue=("", " "))
    return _call(chance, text) if chance.random() < 0.5 else _spoken(chance, text)


def message(chance: random.Random, pool: Pool) -> Turn:
    """A message of any shape, as a bot may pass it."""
    content = _json(chance, pool, 0)
    role = chance.choice(("user", "assistant", "tool", "tool_call", "system", "", None, 3))
    shaped = {
        "role": role, "content": content, "type": chance.choice(("text", "tool_use", "tool_result", None)),
        "name": chance.choice(OTHER_TOOLS), "tool_input": _json(chance, pool, 3), "tool_calls": _json(chance, pool, 5),
    }  # fmt: skip
    turns = turns_of([{name: value for name, value in shaped.items() if chance.random() < 0.7}, content])
    return chance.choice(turns) if turns else Turn(role="user", text="")


def _call(chance: random.Random, command: str) -> Turn:
    tool = chance.choice(("Bash", "Bash", "PowerShell", "exec_command", "run_shell_command"))
    return Turn(role="tool_call", text=command, tool=tool, tool_input={"command": command})


KINDS: dict[str, Callable[[random.Random, Pool], Turn]] = {
    "words of triggers": prose, "shell": shell, "SQL": sql, "bent cases": bent_case, "tool inputs": tool_input,
    "noise": noise, "messages": message,
}  # fmt: skip


# --- running them ---


class Tally:
    """The results of the turns of one kind."""

    def __init__(self) -> None:
        self.times = array("d")  # ms
        self.a_kilobyte = array("d")  # ms; what is shorter counts as a kilobyte
        self.fired = self.judged = self.hung = 0
        self.raised: list[str] = []


class Hung(BaseException):
    """A turn took longer than anything may; a BaseException, so that no other code catches it."""


def _hang(*_: object) -> None:
    raise Hung


def make_turn(number: int, seed: int, pool: Pool) -> tuple[str, Turn]:
    """Return the turn of a number, always the same one."""
    chance = random.Random(seed * 1_000_003 + number)
    kind = chance.choice(sorted(KINDS))
    return kind, KINDS[kind](chance, pool)


def run(artefact: Artefact, pool: Pool, numbers: range, seed: int) -> tuple[dict[str, Tally], list[Slow]]:
    """Watch the turns of these numbers; return the results by kind, and the slowest."""
    tallies = {kind: Tally() for kind in sorted(KINDS)}
    slow: list[Slow] = []
    log = InMemoryLog()
    for number in numbers:
        if number % CONVERSATION == 0:
            log = InMemoryLog()
        kind, turn = make_turn(number, seed, pool)
        taken = watch_one(artefact, turn, log, tallies[kind], number)
        size = len(watched_text(turn))
        tallies[kind].times.append(taken)
        tallies[kind].a_kilobyte.append(taken * 1000 / max(size, 1000))
        slow = sorted([*slow, Slow(taken, number, kind, size)], reverse=True)[:SLOW_SHOWN]
        if number % 50_000 == 49_999:
            print(f"  {number + 1:,} turns", file=sys.stderr, flush=True)
    return tallies, slow


def watch_one(artefact: Artefact, turn: Turn, log: InMemoryLog, tally: Tally, number: int) -> float:
    """Watch one turn and count what happens; return the CPU time in ms."""
    signal.setitimer(signal.ITIMER_REAL, LONGEST)
    began = time.process_time()
    try:
        watched = watch(artefact, turn, log, lambda: Surroundings(now=1_800_000_000.0))
        tally.judged += bool(watched.verdicts)
        tally.fired += bool(watched.firings)
    except Hung:
        tally.hung += 1
    except Exception:  # noqa: BLE001 - to find whatever is raised is what this is for
        tally.raised.append(f"turn {number}: {traceback.format_exc(limit=-3)}")
    signal.setitimer(signal.ITIMER_REAL, 0)
    return (time.process_time() - began) * 1000


def report(tallies: dict[str, Tally], slow: Sequence[Slow], deadline: float) -> int:
    """Print the table and what went wrong; return the exit code."""
    print(f"{'':18} {'turns':>9} {'judged':>7} {'fired':>6} {'p50':>7} {'p99':>7} {'max':>8} ms   a kB: p50, p99, max")
    for kind, tally in tallies.items():
        if not tally.times:
            continue
        share = [100 * count / len(tally.times) for count in (tally.judged, tally.fired)]
        spread = [percentile(tally.times, at) for at in (0.5, 0.99, 1.0)]
        each = [percentile(tally.a_kilobyte, at) for at in (0.5, 0.99, 1.0)]
        print(
            f"{kind:18} {len(tally.times):9,} {share[0]:6.1f}% {share[1]:5.1f}% {spread[0]:7.2f} {spread[1]:7.2f}"
            f" {spread[2]:8.1f}      {each[0]:.2f} / {each[1]:.2f} / {each[2]:.2f}"
        )
    print("slowest: " + "; ".join(f"{one.taken:.0f} ms #{one.number} {one.kind} {one.size:,} B" for one in slow))
    raised = [text for tally in tallies.values() for text in tally.raised]
    hung = sum(tally.hung for tally in tallies.values())
    late = sum(value > deadline for tally in tallies.values() for value in tally.times)
    print(f"raised: {len(raised)}  hung: {hung}  over the hook's deadline of {deadline:.0f} ms: {late}")
    print("\n".join(raised[:10]))
    return int(bool(raised or hung or late))


def main() -> int:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=1_000_000)
    parser.add_argument("--start", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int, help="make this turn again, show it, and watch it")
    options = parser.parse_args()
    signal.signal(signal.SIGALRM, _hang)
    with tempfile.TemporaryDirectory() as folder:
        os.environ.update(DEIA_STATE=f"{folder}/state", DEIA_CACHE=f"{folder}/cache", DEIA_COMMONS="", DEIA_TRUST="*")
        artefact = Librarian(folders.STARTER, ledger=False).open_artefact()
        pool = make_pool()
        numbers = range(options.start, options.start + options.turns)
        if options.only is not None:
            print(ascii(make_turn(options.only, options.seed, pool)[1].values()))
            numbers = range(options.only, options.only + 1)
        tallies, slow = run(artefact, pool, numbers, options.seed)
        return report(tallies, slow, float(artefact.meta.settings["deadline_ms"]))


if __name__ == "__main__":
    sys.exit(main())
