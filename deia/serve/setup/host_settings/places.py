"""Finds the hosts' settings files on this machine, and which hosts are here at all.

It reads folders, the search path and the given environment.
"""

from __future__ import annotations

import difflib
import os
import shutil
from collections.abc import Iterator, Mapping

from deia import files
from deia.errors import HostError
from deia.folders import is_trusted
from deia.records import Record
from deia.serve.setup.host_settings.command import on_windows
from deia.serve.setup.host_settings.hosts_table import BY_NAME, SCRIPT, SETUPS, USER, Place, Setup

MARKS = (".git", *dict.fromkeys(mark for setup in SETUPS for mark in setup.marks if mark != ".vscode"))


class Machine(Record):
    """Where a person works: the project as hosts see it, and the environment, which names the home folder."""

    project: str
    environ: Mapping[str, str]

    @property
    def home(self) -> str:
        """The person's home folder."""
        return self.environ.get("USERPROFILE" if on_windows() else "HOME") or os.path.expanduser("~")

    @property
    def fence(self) -> str:
        """The project if it may be a stranger's, whose links lead anywhere, else the empty text.

        A person trusts a project, or it is their home folder, where links lead to wherever they keep their settings.
        """
        own = os.path.realpath(self.project) == os.path.realpath(self.home)
        return "" if own or is_trusted(self.project, self.environ) else self.project

    def root_of(self, scope: str) -> str:
        """Return the folder in which the settings of a scope are."""
        return self.home if scope == USER else self.project


def this_machine() -> Machine:
    """Return the machine as it is seen from the working folder."""
    return Machine(project=project_folder(os.getcwd()), environ=dict(os.environ))


def setup_of(host: str) -> Setup:
    """Return how a host is connected; raise HostError if there is no such host, or it has no settings file."""
    if host in BY_NAME:
        return BY_NAME[host]
    if host == "generic":
        problem = "a host of your own has no settings that deia knows; it starts the hook itself"
        raise HostError(problem, fix="Read docs/hosts/generic.md.")
    near = difflib.get_close_matches(host.lower(), BY_NAME, n=1) or [name for name in BY_NAME if host.lower() in name]
    fix = f"Did you mean {near[0]}? All of them: deia install --list" if near else "Type: deia install --list"
    raise HostError(f"there is no host {host!r}; deia knows {', '.join(BY_NAME)}", fix=fix)


def project_folder(start: str) -> str:
    """Return the folder that hosts regard as the project: the nearest with a mark of one, else `start` itself."""
    folder = start
    home = os.path.realpath(os.path.expanduser("~"))
    while True:
        marked = any(os.path.exists(os.path.join(folder, mark)) for mark in MARKS)
        if marked and os.path.realpath(folder) != home:
            return folder
        above = os.path.dirname(folder)
        if above == folder:
            return start
        folder = above


def folder_of(place: Place, scope: str, machine: Machine) -> str:
    """Return the folder of a place."""
    for variable, stands_for in place.variables.items() if scope == USER else ():
        if machine.environ.get(variable):
            below = place.folder[len(stands_for) :].lstrip("/")
            return os.path.join(machine.environ[variable], *filter(None, below.split("/")))
    return os.path.join(machine.root_of(scope), *place.folder.split("/"))


def settings_paths(setup: Setup, scope: str, machine: Machine) -> list[str]:
    """Return the files that hold a host's hooks in a scope, whether or not they exist."""
    place = setup.places.get(scope)
    if place is None:
        flags = " or ".join(f"--{name}" for name in setup.places)
        raise HostError(f"{setup.host} has no settings of the scope {scope}", fix=f"Use {flags}.")
    folder = folder_of(place, scope, machine)
    if setup.shape == SCRIPT:
        ending = ".ps1" if on_windows() else ""
        return [os.path.join(folder, event + ending) for event in setup.events]
    if place.new:
        second = os.path.join(machine.root_of(scope), *place.also.split("/"))
        return [*_json_files(folder), *_json_files(second)] or [os.path.join(folder, place.new)]
    instead = os.path.join(folder, place.before)
    return [instead if place.before and os.path.isfile(instead) else os.path.join(folder, place.file)]


def _json_files(folder: str) -> list[str]:
    return [os.path.join(folder, name) for name in files.names(folder) if name.endswith(".json")]


def signs_of(setup: Setup, machine: Machine) -> Iterator[str]:
    """Yield the signs that a host is used on this machine and, if there is one, in the project."""
    for name in setup.programs:
        if shutil.which(name, path=machine.environ.get("PATH", "")):
            yield f"the program {name}"
    for name in setup.folders:
        if os.path.isdir(os.path.join(machine.home, *name.split("/"))):
            yield f"~/{name}"
    for name in setup.marks if machine.project else ():
        if os.path.isdir(os.path.join(machine.project, name)):
            yield f"{name} in the project"
    for name in setup.variables:
        if machine.environ.get(name):
            yield f"{name} in the environment"


def is_here(setup: Setup, machine: Machine) -> bool:
    """Return whether there is any sign that a host is used here."""
    return next(signs_of(setup, machine), "") != ""
