"""Try deia in real agent hosts, each headless in a fresh home and repository, against a fake model on loopback.

python -m tests.hosts [HOST…] [--all] [--only SCENARIO…] [--write] [--keep FOLDER] [--raise-versions]
"""

from __future__ import annotations

import argparse
import contextlib
import datetime as dt
import json
import shutil
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import deia
from tests.hosts.hosts_table import all_hosts
from tests.hosts.machine import make_machine
from tests.hosts.play import play
from tests.hosts.scenarios import SCENARIOS
from tests.hosts.tools import NotHereError, node_folder, program_of, raise_versions
from tests.hosts.verdicts import judge
from tests.paths import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tests.hosts.hosts_table import Host
    from tests.hosts.play import Seen
    from tests.hosts.scenarios import Scenario

TOOLS = ROOT / ".venv" / "hosts"
RUNS = ROOT / "docs" / "hosts" / "runs"
QUICK = ("copilot", "gemini")  # the two that npm installs fastest
QUICK_SCENARIOS = ("prompt", "hold", "quiet")
FACTS = ("seconds", "requests", "executed", "triggers")  # of a verdict, that do not say whether it is good


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
    names = tuple(hosts) if given.all else given.hosts or QUICK
    quick = not given.all and not given.hosts
    scenarios = given.only or (QUICK_SCENARIOS if quick else tuple(SCENARIOS))
    with kept_or_not(given.keep) as folder:
        compiled = compile_once(folder)
        chosen = [SCENARIOS[one] for one in scenarios]
        odd = [one for name in names for one in try_host(hosts[name], chosen, folder, compiled, write=given.write)]
    print(f"{len(names)} hosts in {len(scenarios)} scenarios; other than kept: {', '.join(odd) or 'none'}.")
    return int(bool(odd))


def arguments() -> argparse.Namespace:
    """Return what the command line says."""
    parser = argparse.ArgumentParser(prog="do.py hosts", description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("hosts", nargs="*", metavar="HOST")
    parser.add_argument("--all", action="store_true", help="every host, in every scenario")
    parser.add_argument("--only", nargs="+", choices=tuple(SCENARIOS), metavar="SCENARIO", help="these scenarios")

    parser.add_argument("--write", action="store_true", help="keep the verdicts in docs/hosts/runs")
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


def try_host(host: Host, scenarios: Sequence[Scenario], folder: Path, compiled: Path, *, write: bool) -> Iterator[str]:
    """Try a host in some scenarios, and print and keep the verdicts; yield what comes out other than it was kept."""
    node = node_folder(TOOLS)
    program = program_of(host, TOOLS, node)
    for scenario in scenarios:
        place = folder / host.name / scenario.name
        shutil.rmtree(place, ignore_errors=True)
        machine = make_machine(place, node=node, compiled=compiled)
        seen = play(scenario, host, machine, program)
        verdict = judge(scenario, seen)
        leave(place, seen, verdict)
        print(f"{host.name} {host.version} {scenario.name}: {json.dumps(verdict, ensure_ascii=False)}", flush=True)
        if write:
            keep(host, scenario.name, verdict)
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


def keep(host: Host, scenario: str, verdict: dict[str, Any]) -> None:
    """Keep a verdict in the host's file, from which docs/HOSTS.md is written."""
    known = kept(host)
    day = dt.datetime.now(tz=dt.UTC).date().isoformat()
    scenarios = {**known["scenarios"], scenario: verdict}
    known |= {"host": host.name, "version": host.version, "deia": deia.__version__, "day": day, "scenarios": scenarios}
    RUNS.mkdir(parents=True, exist_ok=True)
    path = RUNS / f"{host.name}.json"
    path.write_text(json.dumps(known, indent=1, sort_keys=True, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    try:
        sys.exit(main())
    except NotHereError as error:
        print(error, file=sys.stderr)
        sys.exit(3)
