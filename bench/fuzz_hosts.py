"""Send random events through every host's module and the hook behind it: none may raise or produce invalid output.

    python bench/fuzz_hosts.py [--events 100000] [--processes 300] [--seed 1] [--only NUMBER]

Events are mutations of those that hosts send: fields dropped, renamed, doubled, of other types, of other hosts, cut in
the middle, with events of a later version. Every event has a number: `--only` makes it again and shows it. Some go
through real processes, which must exit with 0 and JSON or nothing, or, for a host that requires it, hold with exit code
2 and a reason.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

from timing import PYTHON, percentile

import deia.folders
import deia.settings
from deia.compile.compiler import compile_commons
from deia.fast_json import dumps, loads
from deia.serve.hooks.place import Place
from deia.serve.hooks.run import HOSTS, host_module, respond
from deia.serve.hosts.sample_events import Happening, sample

if TYPE_CHECKING:
    from collections.abc import Sequence

HOOK = str(Path(deia.folders.PACKAGE) / "serve" / "hook.py")
BY_CODE = ("windsurf", "kiro")  # hosts that are held by an exit code
MOMENTS = ("prompt", "before_tool", "after_tool", "tool_error", "stop", "session")
TEXTS = (
    "", "yes", "hello", "I will delete the Netlify project and recreate it", "netlify sites:delete --force", "ls",
    "git push --force origin main", "terraform destroy -auto-approve", "DROP TABLE users;", "deia mute --all",
    "rm -rf / --no-preserve-root", "\ud800", "\0", "../..", "{", "[1", "é" * 300, "</deia-reference>", "code freeze",
    "Error: permission denied", "UserPromptSubmit", "preToolUse", "PreToolUse", "pre_run_command", "BeforeTool",
)  # fmt: skip
KEYS = (
    "hook_event_name", "event", "agent_action_name", "hookName", "session_id", "conversation_id", "cwd", "prompt",
    "text", "tool_name", "tool_input", "tool_response", "tool_output", "toolName", "toolArgs", "toolResult",
    "tool_info", "workspace_roots", "workspaceRoots", "preToolUse", "postToolUse", "source", "agent_id", "tool_use_id",
    "error", "command", "plan", "is_error", "exit_code", "transformedPrompt", "tool_result", "fromTheFuture", "",
)  # fmt: skip


def value(chance: random.Random, depth: int = 0) -> Any:
    """Return any JSON value."""
    kind = chance.randrange(9 if depth < 3 else 7)
    if kind < 3:
        return chance.choice(TEXTS)
    if kind < 7:
        return chance.choice((None, True, False, 0, -1, 1e308, float("inf"), float("nan"), 10**30, 3.5))
    if kind == 7:
        return [value(chance, depth + 1) for _ in range(chance.randrange(4))]
    return {chance.choice(KEYS): value(chance, depth + 1) for _ in range(chance.randrange(5))}


def bent(chance: random.Random, given: Any) -> Any:
    """Return an event with something wrong in it, anywhere."""
    if not isinstance(given, dict) or not given or chance.random() < 0.02:
        return value(chance)
    name = chance.choice(list(given))
    how = chance.randrange(6)
    changed = dict(given)
    if how == 0:
        del changed[name]
    elif how == 1:
        changed[name] = value(chance)
    elif how == 2:
        changed[chance.choice(KEYS)] = value(chance)
    elif how == 3:
        changed[chance.choice(KEYS)] = changed.pop(name)
    elif how == 4:
        changed[name] = bent(chance, changed[name])
    else:
        changed[name] = dumps(changed[name])
    return changed


def event(chance: random.Random, host: str) -> Any:
    """Return an event for a host: one of its own or of another's, as it is or bent several times."""
    sender = host if chance.random() < 0.85 else chance.choice(list(HOSTS))
    about = Happening(
        moment=chance.choice(MOMENTS), text=chance.choice(TEXTS), command=chance.choice(TEXTS),
        conversation=f"c{chance.randrange(5000)}", mark=f"m{chance.randrange(9)}",
    )  # fmt: skip
    found: Any = sample(sender, about)
    for _ in range(chance.choice((0, 1, 1, 2, 3, 5))):
        found = bent(chance, found)
    return found


def wrong(host: str, answer: Any) -> str:
    """Return what is wrong with an answer, or the empty text."""
    if isinstance(answer, bytes):
        return "" if host in BY_CODE and answer.decode("utf-8").strip() else "a refusal by exit code"
    if answer is None:
        return ""
    if not isinstance(answer, dict) or not answer:
        return "not an object with something in it"
    again = json.loads(dumps(answer))
    empty = [name for name, each in again.items() if each in ("", None, {}, [])]
    return f"empty {empty}" if empty else ""


def answered(place: Place, host: str, data: bytes) -> Any:
    """Answer an event as the hook does, without its outermost exception handler."""
    adapter = host_module(host)
    try:
        given = loads(data.decode("utf-8", "surrogatepass"))
    except ValueError:
        return None
    occasion = adapter.read_event(given)
    if occasion is None:
        return None
    place.host = host
    said = respond(place, occasion, adapter.CARRIES)
    return adapter.write_answer(occasion, said) if said else None


def made(seed: int, number: int) -> tuple[str, bytes]:
    """Return the host and the bytes of one event."""
    chance = random.Random(f"{seed} {number}")
    host = chance.choice(list(HOSTS))
    data = dumps(event(chance, host)).encode("ascii")
    return host, data[: chance.randrange(len(data) + 1)] if chance.random() < 0.03 else data


def fuzz(place: Place, seed: int, numbers: Sequence[int]) -> list[str]:
    """Send events through the modules and return what went wrong."""
    problems, taken, spoken = [], [], 0
    for number in numbers:
        host, data = made(seed, number)
        began = time.process_time()
        try:
            answer = answered(place, host, data)
            problem = wrong(host, answer)
            spoken += answer is not None
        except Exception:  # noqa: BLE001 - what is looked for
            problem = traceback.format_exc(limit=-3)
        taken.append((time.process_time() - began) * 1000)
        if problem:
            problems.append(f"{number} {host} {data[:300]!r}\n{problem}")
    slow = f"p50 {percentile(taken, 0.5):.2f} ms, p99 {percentile(taken, 0.99):.2f} ms, most {max(taken):.1f} ms"
    print(f"{len(numbers):,} events over {len(HOSTS)} hosts, {spoken:,} answered; {slow}; {len(problems)} wrong")
    return problems


def through_processes(seed: int, count: int) -> list[str]:
    """Send events through the installed hook and return what went wrong."""
    problems = []
    for number in range(count):
        host, data = made(seed + 1, number)
        done = subprocess.run((PYTHON, "-I", "-S", HOOK, host), input=data, capture_output=True, check=False)
        by_code = done.returncode == 2 and host in BY_CODE and done.stderr and not done.stdout
        fine = by_code or (done.returncode == 0 and not done.stderr)
        try:
            fine = fine and (not done.stdout or bool(json.loads(done.stdout)))
        except ValueError:
            fine = False
        if not fine:
            problems.append(f"process {number} {host} {data[:300]!r}: {done}")
    print(f"{count} events through processes; {len(problems)} wrong")
    return problems


def main() -> int:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--events", type=int, default=100_000)
    parser.add_argument("--processes", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ.update(DEIA_STATE=f"{folder}/state", DEIA_CACHE=f"{folder}/cache", DEIA_COMMONS="", DEIA_TRUST="*")
        compile_commons(deia.folders.STARTER, environ=dict(os.environ))
        place = Place(["claude-code"])
        place.settle("/")
        numbers = range(options.events) if options.only is None else [options.only]
        if options.only is not None:
            print(*made(options.seed, options.only))
        problems = fuzz(place, options.seed, numbers)
        problems += through_processes(options.seed, options.processes if options.only is None else 0)
    print("\n".join(problems[:20]))
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
