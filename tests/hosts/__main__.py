"""Try deia in real agent hosts, each headless in a fresh home and repository, against a fake model on loopback.

    python -m tests.hosts [HOST…] [--all] [--only SCENARIO…] [--jobs NUMBER] [--cost] [--write] [--keep FOLDER]
    python -m tests.hosts --raise-versions

Without a host, it tries the two that npm installs fastest in the scenarios that matter most. The exit code is 1 if a
verdict differs from what is kept in docs/hosts/runs, and 3 if npm or its registry is not here.
"""

from __future__ import annotations

import argparse
import contextlib
import datetime as dt
import json
import shutil
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import deia
from tests.hosts.costs import measure
from tests.hosts.hosts_table import all_hosts
from tests.hosts.loopback import cut_off, is_alone, start_loopback
from tests.hosts.machine import make_machine
from tests.hosts.play import play
from tests.hosts.scenarios import SCENARIOS
from tests.hosts.tools import NotHereError, node_folder, program_of, raise_versions
from tests.hosts.verdicts import judge
from tests.paths import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tests.hosts.hosts_table import Host
    from tests.hosts.play import Seen
    from tests.hosts.scenarios import Scenario

TOOLS = ROOT / ".venv" / "hosts"
RUNS = ROOT / "docs" / "hosts" / "runs"
QUICK = ("copilot", "gemini")  # the two that npm installs fastest
QUICK_SCENARIOS = ("prompt", "hold", "quiet")
FACTS = ("seconds", "requests", "executed", "triggers")  # of a verdict, that do not say whether it is good


@dataclass(frozen=True, kw_only=True)
class Tools:
    """What every run begins with."""

    node: Path  # the folder of the program
    compiled: Path  # a cache of deia's
    folder: Path  # of the runs
    programs: Mapping[str, Path]  # by host


def main() -> int:
    """Run what the command line asks for; return the exit code."""
    given = arguments()
    if given.raise_versions:
        print("\n".join(f"{name}: {version}" for name, version in raise_versions().items()) or "All are the newest.")
        return 0
    hosts = all_hosts()
    if unknown := [name for name in given.hosts if name not in hosts]:
        print(f"Unknown: {', '.join(unknown)}. Known are: {', '.join(hosts)}.", file=sys.stderr)
        return 2
    chosen = [hosts[name] for name in (hosts if given.all else given.hosts or QUICK)]
    node = node_folder(TOOLS)
    programs = {host.name: program_of(host, TOOLS, node) for host in chosen}
    if is_alone():
        start_loopback()
    elif (code := cut_off(sys.argv[1:])) is not None:
        return code
    with kept_or_not(given.keep) as folder:
        tools = Tools(node=node, compiled=compile_once(folder), folder=folder, programs=programs)
        return measure_all(chosen, tools, write=given.write) if given.cost else try_all(chosen, tools, given)


def try_all(hosts: Sequence[Host], tools: Tools, given: argparse.Namespace) -> int:
    """Try hosts, several at a time; return the exit code."""
    quick = not given.all and not given.hosts
    names = given.only or (QUICK_SCENARIOS if quick else tuple(SCENARIOS))
    scenarios = [SCENARIOS[name] for name in names]
    with ThreadPoolExecutor(given.jobs) as pool:
        tries = pool.map(lambda host: list(try_host(host, scenarios, tools, write=given.write)), hosts)
        odd = [name for each in tries for name in each]
    print(f"{len(hosts)} hosts in {len(names)} scenarios; other than kept: {', '.join(odd) or 'none'}.")
    return int(bool(odd))


def measure_all(hosts: Sequence[Host], tools: Tools, *, write: bool) -> int:
    """Measure what deia adds to a call in each host; return the exit code."""
    for host in hosts:
        cost = measure(host, tools.programs[host.name], tools.folder, node=tools.node, compiled=tools.compiled)
        print(f"{host.name} {host.version} cost: {json.dumps(cost)}", flush=True)
        if write and cost:
            keep(host, cost=cost)
    return 0


def arguments() -> argparse.Namespace:
    """Return what the command line says."""
    parser = argparse.ArgumentParser(prog="do.py hosts", description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("hosts", nargs="*", metavar="HOST")
    parser.add_argument("--all", action="store_true", help="every host, in every scenario")
    parser.add_argument("--only", nargs="+", choices=tuple(SCENARIOS), metavar="SCENARIO", help="these scenarios")
    parser.add_argument("--jobs", type=int, default=2, metavar="NUMBER", help="how many hosts at a time (2)")
    parser.add_argument("--write", action="store_true", help="keep the verdicts in docs/hosts/runs")
    parser.add_argument("--cost", action="store_true", help="only measure what deia adds to a call of a tool")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="keep all that a run leaves here")
    parser.add_argument("--raise-versions", action="store_true", help="pin the newest versions, and do nothing else")
    return parser.parse_args()


@contextlib.contextmanager
def kept_or_not(wanted: Path | None) -> Iterator[Path]:
    """Yield the folder of the runs, and remove it afterwards unless somebody wants it."""
    if wanted is not None:
        wanted.mkdir(parents=True, exist_ok=True)
        yield wanted.resolve()
        return
    with tempfile.TemporaryDirectory(prefix="deia-hosts-", ignore_cleanup_errors=True) as folder:
        yield Path(folder).resolve()


def compile_once(folder: Path) -> Path:
    """Return a cache of deia's with the starter compiled, which every run begins with."""
    place = folder / "compiled"
    shutil.rmtree(place, ignore_errors=True)
    machine = make_machine(place, node=Path("/usr/bin"), compiled=None)
    done = machine.deia("compile")
    if done.code:
        raise SystemExit(f"deia compile fails:\n{done.printed}")
    return machine.home / ".cache" / "deia"


def try_host(host: Host, scenarios: Sequence[Scenario], tools: Tools, *, write: bool) -> Iterator[str]:
    """Try a host in some scenarios, and print and keep the verdicts; yield what comes out other than it was kept."""
    for scenario in scenarios:
        place = tools.folder / host.name / scenario.name
        shutil.rmtree(place, ignore_errors=True)
        machine = make_machine(place, node=tools.node, compiled=tools.compiled)
        seen = play(scenario, host, machine, tools.programs[host.name])
        verdict = judge(scenario, seen)
        leave(place, seen, verdict)
        print(f"{host.name} {host.version} {scenario.name}: {json.dumps(verdict, ensure_ascii=False)}", flush=True)
        if write:
            keep(host, scenario=scenario.name, verdict=verdict)
        elif results(verdict) != results(kept(host)["scenarios"].get(scenario.name, {})):
            yield f"{host.name} {scenario.name}"


def results(verdict: dict[str, Any]) -> dict[str, Any]:
    """Return what a verdict says, without the facts beside it."""
    return {name: value for name, value in verdict.items() if name not in FACTS}


def kept(host: Host) -> dict[str, Any]:
    """Return the verdicts that are kept of a host, or none if they are of another version."""
    path = RUNS / f"{host.name}.json"
    known: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return known if known.get("version") == host.version else {"scenarios": {}}


def leave(place: Path, seen: Seen, verdict: dict[str, Any]) -> None:
    """Write down what a run showed, for whoever wants to know why."""
    record = {
        "verdict": verdict,
        "requests": [
            {
                "at": one.at, "triggers": sorted(one.triggers), "tools": one.tools, "compaction": one.is_compaction,
                "act": one.act.text or {"tool": one.act.tool and one.act.tool.name, "input": one.act.input},
                "body": one.request.body,
            }
            for one in seen.model.asked
        ],
        "told": {name: done.printed for name, done in seen.told.items()},
        "done": [{"code": done.code, "seconds": done.seconds, "printed": done.printed} for done in seen.done],
        "other paths": seen.model.other,
    }  # fmt: skip
    (place / "seen.json").write_text(json.dumps(record, indent=1, ensure_ascii=False), encoding="utf-8")


def keep(host: Host, *, scenario: str = "", verdict: dict[str, Any] | None = None, **more: object) -> None:
    """Keep a verdict, or more about a host, in the host's file, from which docs/HOSTS.md is written."""
    known = kept(host)
    day = dt.datetime.now(tz=dt.UTC).date().isoformat()
    scenarios = {**known["scenarios"], **({scenario: verdict} if verdict else {})}
    known |= {
        "host": host.name,
        "version": host.version,
        "deia": deia.__version__,
        "day": day,
        "scenarios": scenarios,
        **more,
    }
    RUNS.mkdir(parents=True, exist_ok=True)
    path = RUNS / f"{host.name}.json"
    path.write_text(json.dumps(known, indent=1, sort_keys=True, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    try:
        sys.exit(main())
    except NotHereError as error:
        print(error, file=sys.stderr)
        sys.exit(3)
