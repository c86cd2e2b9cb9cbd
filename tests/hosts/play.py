"""Play one scenario in one host, and keep what was seen."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from tests.hosts.machine import SHORT_PATIENCE, Done, Machine, substituted
from tests.hosts.scripted_model import Asked, ScriptedModel, turns_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tests.hosts.hosts_table import Host
    from tests.hosts.scenarios import Scenario

NEEDED = ("setup", "install", "uninstall")  # what must have worked before a host is started
PLANTED = "index_version: 1\nentries: []\n"


@dataclass(kw_only=True)
class Seen:
    """What a run showed."""

    model: ScriptedModel
    machine: Machine
    begun: list[float] = field(default_factory=list)  # when each turn began
    done: list[Done] = field(default_factory=list)  # what the host came to in each turn
    told: dict[str, Done] = field(default_factory=dict)  # what deia's commands printed
    changed: list[str] = field(default_factory=list)  # files that are not what they were after an uninstall

    @property
    def printed(self) -> str:
        """All that the host showed."""
        return "\n".join(done.printed for done in self.done)

    @property
    def main(self) -> list[Asked]:
        """The requests of the conversations, without titles, summaries and repeated ones."""
        main = [one for one in self.model.asked if one.tools and not one.is_compaction]
        return list({json.dumps(turns_of(one.request), sort_keys=True): one for one in reversed(main)}.values())[::-1]


def play(scenario: Scenario, host: Host, machine: Machine, program: Path) -> Seen:
    """Play a scenario to its end; the host is the program at a path."""
    with ScriptedModel() as model:
        seen = Seen(model=model, machine=machine)
        values = {"url": model.url, "work": str(machine.work), "home": str(machine.home)}
        begin_with(host, machine, values, trusted=scenario.trusted)
        if host.headless.setup:
            seen.told["setup"] = _start(host, machine, program, host.headless.setup, values)
        arrange(scenario, host, seen)
        if any(done.code for name, done in seen.told.items() if name in NEEDED):
            return seen
        for number, turn in enumerate(scenario.turns):
            prompt = host.compact if turn.compacts and host.compact else turn.prompt
            model.expect(() if turn.compacts and host.compact else [step.of(host.agent) for step in turn.steps])
            seen.begun.append(time.time())
            words = host.words(again=number > 0, trusted=scenario.trusted)
            values |= {"prompt": prompt, "session": newest(host, machine)}
            seen.done.append(_start(host, machine, program, words, values))
        return seen


def begin_with(host: Host, machine: Machine, values: Mapping[str, str], *, trusted: bool) -> None:
    """Write the host's own settings and set its environment."""
    for path, text in host.settings(trusted=trusted).items():
        machine.write(path, substituted(text, values).lstrip())
    environ = host.environ(trusted=trusted)
    machine.environ |= {name: substituted(value, values) for name, value in environ.items()}


def arrange(scenario: Scenario, host: Host, seen: Seen) -> None:
    """Install deia, and whatever else a scenario begins with."""
    machine = seen.machine
    before = machine.files()
    if scenario.planted:
        (machine.work / "commons_index.yaml").write_text(PLANTED, encoding="utf-8")
    if scenario.installed:
        words = ["install", host.name, f"--{scenario.scope}", "--yes", *(["--mcp"] if scenario.server else [])]
        seen.told["install"] = machine.deia(*words)
        if not scenario.trusted:
            seen.told["doctor"] = machine.deia("doctor")
    if scenario.removed:
        seen.told["uninstall"] = machine.deia("uninstall", host.name, "--user", "--yes")
        after = machine.files()
        seen.changed = sorted(path for path in before.keys() | after.keys() if before.get(path) != after.get(path))
    for command in scenario.before:
        seen.told[command[0]] = machine.deia(*command)


def newest(host: Host, machine: Machine) -> str:
    """Return the newest session of a host whose sessions must be named."""
    paths = sorted(machine.home.glob(host.sessions or ".no-such"), key=lambda path: path.stat().st_mtime)
    return paths[-1].stem if paths else ""


def _start(host: Host, machine: Machine, program: Path, words: Sequence[str], values: Mapping[str, str]) -> Done:
    patience = SHORT_PATIENCE if words == host.headless.setup else None
    command = [str(program), *(substituted(word, values) for word in words)]
    return machine.run(command, patience=patience) if patience else machine.run(command)
