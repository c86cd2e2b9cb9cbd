"""Which hosts are here and where deia is installed, as values: for `deia install --list`, in words and as JSON.

Looks at files and folders only; a file that cannot be used is told of, and keeps nothing else from being told.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any

from deia.errors import HostError
from deia.records import Record
from deia.serve.setup.hook_installation import Spot, installed_in
from deia.serve.setup.host_settings.hosts_table import SCRIPT, SETUPS, Setup
from deia.serve.setup.host_settings.places import signs_of


class Listed(Record):
    """One host that deia knows: what says that it is here, where it is connected, what is in the way."""

    host: str
    title: str
    signs: tuple[str, ...]
    installed: tuple[tuple[str, str], ...]  # scope and file, or folder of executables
    problems: tuple[str, ...]

    def values(self) -> dict[str, Any]:
        """Give it as JSON holds it; docs/schema/hosts.schema.json describes it."""
        places = [{"scope": scope, "path": path} for scope, path in self.installed]
        return {
            "host": self.host, "title": self.title, "found": bool(self.signs), "signs": list(self.signs),
            "installed": places, "problems": list(self.problems),
        }  # fmt: skip

    def lines(self, width: int) -> Iterator[str]:
        """Give it for a person, the host's name within so many characters."""
        signs = f"found ({', '.join(self.signs)})" if self.signs else "not found"
        yield f"{self.host:<{width}}  {self.title}: {signs}"
        for scope, path in self.installed:
            yield f"{'':<{width}}    installed ({scope}): {path}"
        for problem in self.problems:
            yield f"{'':<{width}}    {problem}"


def listed(*, project: str, environ: Mapping[str, str]) -> list[Listed]:
    """Give every host that deia knows, as it is here."""
    return [_listed(setup, project=project, environ=environ) for setup in SETUPS]


def _listed(setup: Setup, *, project: str, environ: Mapping[str, str]) -> Listed:
    installed: list[tuple[str, str]] = []
    problems: list[str] = []
    for scope in setup.places:
        try:
            found = [hook.path for hook in installed_in(_spot(setup, scope, project, environ))]
        except HostError as error:
            problems.append(str(error))
            continue
        paths = dict.fromkeys(os.path.dirname(path) if setup.shape == SCRIPT else path for path in found)
        installed += [(scope, path) for path in paths]
    return Listed(
        host=setup.host, title=setup.title, signs=tuple(signs_of(setup, project=project, environ=environ)),
        installed=tuple(installed), problems=tuple(dict.fromkeys(problems)),
    )  # fmt: skip


def _spot(setup: Setup, scope: str, project: str, environ: Mapping[str, str]) -> Spot:
    return Spot(setup=setup, scope=scope, project=project, environ=environ)
