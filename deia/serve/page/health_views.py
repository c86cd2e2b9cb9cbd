"""Health: whether everything works, which hosts are connected, and what the library takes in.

What takes seconds (`deia doctor`, `deia lint`, `deia learn propose`) runs as the command itself, in a process of its
own, so that the server goes on answering.
"""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import Sequence

import deia
from deia import fast_json
from deia.compile.encoding_progress import read_encoding
from deia.errors import DeiaError
from deia.fast_json import Json
from deia.serve.page.asked_values import Asked
from deia.serve.server.desk import Desk
from deia.serve.server.library_tools import list_sources
from deia.serve.setup.hook_installation import listed
from deia.serve.setup.host_settings.hosts_table import SETUPS, this_machine

SECONDS = 600.0  # that a command may take


def state(desk: Desk, _asked: Asked) -> dict[str, Json]:
    """Return the state of the commons, its engine, its sources, and the hosts on this machine."""
    librarian, machine = desk.librarian, this_machine()
    audited, catalog = librarian.audit(), librarian.open_catalog()
    hosts = [listed(setup, machine) for setup in SETUPS]
    return {
        "version": deia.__version__, "root": desk.root, "valid": audited.is_valid,
        "findings": [{"text": issue.text, "fix": issue.fix, "error": issue.is_error} for issue in audited.findings],
        "documents": audited.entries, "passages": audited.chunks, "vectors": audited.vectors,
        "triggers": librarian.open_artefact().meta.triggers, "tiers": [*catalog.header.get("tiers", {})],
        "tier": librarian.settings.tier, "telemetry": librarian.settings.telemetry, "behind": desk.changed_source(),
        "sources": list_sources(desk).fields["sources"],
        "encoding": read_encoding(f"{desk.derived}/library").sentence(time.time()),
        "hosts": [
            {"host": host.host, "title": host.title, "signs": [*host.signs], "problems": [*host.problems],
             "installed": [f"{scope}: {path}" for scope, path in host.installed]}
            for host in hosts
        ],
    }  # fmt: skip


class Commands:
    """Runs commands of deia, one at a time; the one that runs ends with the server."""

    def __init__(self, commons: str) -> None:
        self._options = ("--commons", commons) if commons else ()
        self._one_at_a_time = asyncio.Lock()
        self._process: asyncio.subprocess.Process | None = None

    async def run(self, *words: str) -> Json:
        """Return what a command prints as JSON; raise DeiaError if that is neither an object nor a list."""
        async with self._one_at_a_time:
            command = (sys.executable, "-P", "-m", "deia.serve.main", *self._options, *words, "--json")
            self._process = process = await asyncio.create_subprocess_exec(
                *command, stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE, env=os.environ,
            )  # fmt: skip
            try:
                stdout, stderr = await asyncio.wait_for(process.communicate(), SECONDS)
            finally:
                self.end()
        return _read(words, stdout, stderr)

    def end(self) -> None:
        """End the command that runs."""
        if self._process is not None and self._process.returncode is None:
            self._process.kill()


def _read(words: Sequence[str], stdout: bytes, stderr: bytes) -> Json:
    try:
        value: Json = fast_json.loads(stdout.decode("utf-8", "replace"))
    except ValueError:
        value = None
    if not isinstance(value, dict | list):
        reason = stderr.decode("utf-8", "replace").strip().rpartition("\n")[2][:400]
        command = f"deia {' '.join(words)}"
        raise DeiaError(f"{command} did not end well: {reason or 'it said nothing'}", fix=f"Type: {command}")
    return value
