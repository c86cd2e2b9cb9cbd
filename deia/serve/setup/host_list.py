"""Which hosts are on this machine and where deia is installed: for `deia install --list`, in words and as JSON.

Only files and folders are read. A file that cannot be used is reported, and the rest is listed nevertheless.
"""

from __future__ import annotations

from collections.abc import Iterator

from deia.errors import HostError
from deia.fast_json import Json
from deia.records import Record
from deia.serve.setup.hook_installation import Spot, installed_in
from deia.serve.setup.host_settings.hosts_table import SETUPS, Setup
from deia.serve.setup.host_settings.places import Machine, signs_of


class Listed(Record):
    """One host that deia knows: the signs that it is here, where it is connected, and any problems."""

    host: str
    title: str
    signs: tuple[str, ...]
    installed: tuple[tuple[str, str], ...]  # scope and file, or folder of executables
    problems: tuple[str, ...]

    def values(self) -> dict[str, Json]:
        """Return the fields as JSON, described by docs/schema/hosts.schema.json."""
        places = [{"scope": scope, "path": path} for scope, path in self.installed]
        return {
            "host": self.host, "title": self.title, "found": bool(self.signs), "signs": list(self.signs),
            "installed": places, "problems": list(self.problems),
        }  # fmt: skip

    def lines(self, width: int) -> Iterator[str]:
        """Yield lines for a person, with the host's name padded to a width."""
        signs = f"found ({', '.join(self.signs)})" if self.signs else "not found"
        yield f"{self.host:<{width}}  {self.title}: {signs}"
        for scope, path in self.installed:
            yield f"{'':<{width}}    installed ({scope}): {path}"
        for problem in self.problems:
            yield f"{'':<{width}}    {problem}"


def listed(machine: Machine) -> list[Listed]:
    """Return every host that deia knows, as it is on this machine."""
    return [_listed(setup, machine) for setup in SETUPS]


def _listed(setup: Setup, machine: Machine) -> Listed:
    installed: list[tuple[str, str]] = []
    problems: list[str] = []
    for scope in setup.places:
        try:
            paths = installed_in(Spot(setup=setup, scope=scope, machine=machine))
        except HostError as error:
            problems.append(str(error))
        else:
            installed += [(scope, path) for path in paths]
    return Listed(
        host=setup.host, title=setup.title, signs=tuple(signs_of(setup, machine)),
        installed=tuple(installed), problems=tuple(dict.fromkeys(problems)),
    )  # fmt: skip
