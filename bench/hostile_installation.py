"""A person who installed deia for all their projects: a copy of the package, a home, and a compiled starter."""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import pkgutil
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import yaml
from hostile_contents import GUARD

CHECKOUT = Path(__file__).resolve().parent.parent
TRIGGERS = "triggers/infrastructure.yaml"  # the file of the starter that holds the guard
INDEX = "commons_index.yaml"
OTHERS = (
    "anyio._backends._asyncio", "anyio.streams.tls", "click", "duckdb", "mcp", "mcp_types", "numpy", "rapidfuzz",
    "tantivy", "yaml",
)  # fmt: skip
STATE, CACHE = ".local/state/deia", ".cache/deia"
VARIABLE, CANARY = "CANARY_VARIABLE", "canaryofthevariable"  # of the environment; nothing may show its value


class Person(NamedTuple):
    """Where a person's things are: the folder of the package, the home to copy, and what hosts run at each event."""

    package: str
    home: str
    command: list[str]


def install(folder: Path, *, whole: bool) -> Person:
    """Install deia for a person in a folder, unless that was done before, and import from it from now on."""
    site = folder / "site"
    home = folder / "home"
    if not (folder / "complete").exists():
        shutil.rmtree(folder, ignore_errors=True)
        _copy_package(site, whole=whole)
        home.mkdir(parents=True)
        (home / ".bashrc").write_text("alias ll='ls -l'\n", encoding="utf-8")
        environ = environment(home, site)
        for arguments in (("install", "claude-code", "--user"), ("compile", "--commons", str(site / "deia/starter"))):
            typed = (sys.executable, "-m", "deia.serve.main", *arguments)
            subprocess.run(typed, check=True, env=environ, cwd=home, stdout=subprocess.DEVNULL)
        (folder / "complete").touch()
    sys.path.insert(0, str(site))
    hooks = json.loads((home / ".claude/settings.json").read_text(encoding="utf-8"))["hooks"]
    command = ["/bin/sh", "-c", hooks["PreToolUse"][0]["hooks"][0]["command"]]  # the host asks a shell
    return Person(package=str(site), home=str(home), command=command)


def _copy_package(site: Path, *, whole: bool) -> None:
    """Copy the package with its starter commons inside, as a wheel has it."""
    ignored = shutil.ignore_patterns("__pycache__", "models", "starter")
    shutil.copytree(CHECKOUT / "deia", site / "deia", ignore=ignored)
    (site / "deia/models").symlink_to(CHECKOUT / "deia/models")
    starter = site / "deia/starter"
    starter.mkdir()
    for name in ("bok", "triggers"):
        shutil.copytree(CHECKOUT / name, starter / name)
    shutil.copy(CHECKOUT / INDEX, starter)
    if not whole:
        _reduce(starter)


def _reduce(starter: Path) -> None:
    """Leave of the starter the guard, without its meaning, and its documents: every compile and trial is soon done."""
    triggers = yaml.safe_load((starter / TRIGGERS).read_text(encoding="utf-8"))
    shutil.rmtree(starter / "triggers")
    guard = next(trigger for trigger in triggers if trigger["id"] == GUARD)
    guard["when"]["any"] = [clause for clause in guard["when"]["any"] if "meaning" not in clause]
    guard["status"] = "test"  # a stable one needs cases
    (starter / TRIGGERS).parent.mkdir()
    (starter / TRIGGERS).write_text(yaml.safe_dump([guard]), encoding="utf-8")
    wanted = {document["id"] for document in guard["documents"]}
    index = yaml.safe_load((starter / INDEX).read_text(encoding="utf-8"))
    entries = [entry for body in index["clusters"].values() for entry in body["documents"] if isinstance(entry, dict)]
    kept = [{**entry, "related_docs": []} for entry in entries if entry["id"] in wanted]
    for path in (starter / "bok").rglob("*.md"):
        if path.relative_to(starter).as_posix() not in {entry["path"] for entry in kept}:
            path.unlink()
    clusters = {"infrastructure": {"description": "Infrastructure", "documents": kept}}
    (starter / INDEX).write_text(yaml.safe_dump({"version": "1.0", "clusters": clusters}), encoding="utf-8")


def load() -> None:
    """Import what the calls need, so that a fork need not."""
    for module in pkgutil.walk_packages([str(Path(sys.path[0]) / "deia")], "deia."):
        with contextlib.suppress(ImportError):
            if not module.name.startswith(("deia.frameworks", "deia.evaluate")):
                importlib.import_module(module.name)
    for name in OTHERS:
        importlib.import_module(name)
    gc.freeze()  # a fork that collects garbage would otherwise copy every page


def environment(home: Path, site: Path | str) -> dict[str, str]:
    """Return the environment of a person with a home."""
    kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    own = {"HOME": str(home), "PYTHONPATH": str(site), "OPENBLAS_NUM_THREADS": "1", VARIABLE: CANARY}
    return {**kept, **own}
