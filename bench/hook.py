"""Measure how much the hook costs an agent: whole cold processes, as installed, compared with an idle interpreter.

    python bench/hook.py [--rounds 200] [--host HOST | --every-host] [--conversations FILE.jsonl]

The quiet rows time a turn that matches no trigger's words, at 100, 1,000 and 10,000 triggers; most hosts run a hook in
a shell, which the last of them includes. With a file of real turns
(`source, conversation_id, turn, role, tool, text`), the starter commons is timed on a sample, with everything that
fires, and separately on a sample of only those turns whose words open the gate, so that a parser runs. With
`--every-host` the quiet turn is timed for each host's command, at 1,000 triggers.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from synthetic import make_commons
from timing import FLOOR, PYTHON, report, time_commands

import deia.folders
import deia.settings
from deia.compile.compiler import compile_commons
from deia.serve.hooks.run import HOSTS
from deia.serve.hosts.claude_code import read_event
from deia.serve.hosts.sample_events import Happening, sample
from deia.serve.setup.host_settings.launcher import launched_command, made_script, write_launcher
from deia.serve.startup.bytecode import keep_bytecode
from deia.trust import trust
from deia.watch.gate.artefact import open_artefact
from deia.watch.gate.pattern_gate import holding
from deia.watch.gate.word_gate import candidates, wait_in_vain

HOOK = f"{deia.folders.PACKAGE}/serve/hook.py"
PROCESS = (PYTHON, "-I", "-S", "-X", "launched", made_script(HOOK))  # what the launcher starts
AS_INSTALLED = "the second, installed: with a shell"
EVENTS = {"user": "UserPromptSubmit", "assistant": "Stop", "tool_call": "PreToolUse", "tool_result": "PostToolUse"}
SIZES = (100, 1_000, 10_000)
SEARCHED = 3_000  # real turns among which those are looked for that open the gate
TURN = (
    "Please look at the failing checks in the parser module, find out why the third one times out on the slow machine,"
    " and write down what you would change first; keep the public names as they are."
)


def event(role: str, text: str, *, folder: str, conversation: str, tool: str = "Bash") -> bytes:
    """Return the event that Claude Code would send for a turn."""
    fields: dict[str, object] = {"session_id": conversation, "hook_event_name": EVENTS[role], "cwd": folder}
    if role == "user":
        fields["prompt"] = text
    elif role == "assistant":
        fields["last_assistant_message"] = text
    else:
        fields |= {"tool_name": tool or "Bash", "tool_input": {"command": text}}
        fields |= {"tool_response": text, "tool_input": {}} if role == "tool_result" else {}
    return json.dumps(fields).encode()


def quiet_event(host: str, *, folder: Path, conversation: str) -> bytes:
    """Return the event of a turn that fits nothing, at the first moment that the host has."""
    for moment in ("prompt", "before_tool"):
        about = Happening(moment=moment, text=TURN, folder=folder.as_posix(), conversation=conversation)
        if (found := sample(host, about)) is not None:
            return json.dumps(found).encode()
    raise ValueError(host)


def every_host(folder: Path, rounds: int) -> None:
    """Time a turn that fits nothing for every host."""
    commons = make_commons(folder / "hosts", triggers=1_000)
    compile_commons(str(commons), environ=dict(os.environ))
    commands: dict[str, tuple[str, ...]] = {"floor: python -I -S -c pass": FLOOR}
    commands |= {f"hook, quiet, {host}": (*PROCESS, host) for host in HOSTS}
    events = {f"hook, quiet, {host}": quiet_event(host, folder=commons, conversation="quiet") for host in HOSTS}
    taken = time_commands(commands, rounds=rounds, inputs=lambda name, _: events.get(name, b""))
    report(taken, against="floor: python -I -S -c pass", budgets=dict.fromkeys(events, "p50 ≤ 1.3 ×"))


def quiet(folder: Path, rounds: int, host: str) -> None:
    """Time a turn that fits nothing, at each number of triggers."""
    commands: dict[str, tuple[str, ...]] = {"floor: python -I -S -c pass": FLOOR}
    events = {}
    for size in SIZES:
        commons = make_commons(folder / str(size), triggers=size)
        compile_commons(str(commons), environ=dict(os.environ))
        name = f"hook, quiet, {size:,} triggers"
        commands[name] = (*PROCESS, host)
        events[name] = quiet_event(host, folder=commons, conversation=f"quiet-{size}")
    budgets = dict.fromkeys(events, "p50 ≤ 1.25 ×")
    write_launcher([PYTHON], HOOK, "", environ=os.environ)
    commands[AS_INSTALLED] = tuple(launched_command(PYTHON, host, environ=os.environ))
    events[AS_INSTALLED] = events["hook, quiet, 1,000 triggers"]
    taken = time_commands(commands, rounds=rounds, inputs=lambda name, _: events.get(name, b""))
    report(taken, against="floor: python -I -S -c pass", budgets=budgets)


def real(path: Path, rounds: int) -> None:
    """Time the starter commons over real turns, with everything that fires."""
    compile_commons(deia.folders.STARTER, environ=dict(os.environ))
    with path.open(encoding="utf-8") as lines:
        turns = [json.loads(line) for line in lines]
    known = [turn for turn in turns if turn["role"] in EVENTS]
    chance = random.Random(11)
    parsed = [turn for turn in chance.sample(known, min(len(known), SEARCHED)) if opens_gate(turn)]
    samples = {
        "hook, real turns, starter commons": chance.sample(known, rounds),
        f"hook, parsed turns ({100 * len(parsed) / min(len(known), SEARCHED):.0f} %)": chance.choices(parsed, k=rounds),
    }
    commands = {"floor: python -I -S -c pass": FLOOR} | dict.fromkeys(samples, (*PROCESS, "claude-code"))

    def given(which: str, number: int) -> bytes:
        if which not in samples:
            return b""
        turn = samples[which][number]
        return event(turn["role"], turn["text"], folder="/", conversation=f"{which} {number}", tool=turn["tool"])

    taken = time_commands(commands, rounds=rounds, inputs=given)
    report(taken, against="floor: python -I -S -c pass", budgets={next(iter(samples)): "p95 ≤ 3 ×"})


def opens_gate(row: dict[str, str]) -> bool:
    """Return whether a turn's words let a trigger of the starter commons through, so that the turn is read."""
    artefact = open_artefact(f"{deia.folders.derived_folder(deia.folders.STARTER, os.environ)}/triggers")
    occasion = read_event(json.loads(event(row["role"], row["text"], folder="/", conversation="x", tool=row["tool"])))
    if occasion is None or occasion.turn is None:
        return False
    numbers, _ = candidates(artefact, occasion.turn, second_gate=holding)
    return bool(numbers) and not wait_in_vain(artefact, numbers, b"")


def main() -> None:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--conversations", type=Path)
    parser.add_argument("--host", choices=HOSTS, default="claude-code")
    parser.add_argument("--every-host", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ.update(DEIA_STATE=f"{folder}/state", DEIA_CACHE=f"{folder}/cache", DEIA_COMMONS="")
        trust(folder, os.environ, below=True)
        os.environ["DEIA_STARTER"] = "false"  # the rows say how many triggers there are, so there are no others
        keep_bytecode()  # as `deia install` and `deia compile` do
        if options.every_host:
            every_host(Path(folder), options.rounds)
        else:
            quiet(Path(folder), options.rounds, options.host)
        if options.conversations:
            real(options.conversations, options.rounds)


if __name__ == "__main__":
    main()
