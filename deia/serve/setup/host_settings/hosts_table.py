"""How every host is connected, as `hosts.toml` beside this module says: its settings files, events, command and server.

It also finds those files on this machine, and which hosts are here at all; for that it reads folders, the search path
and the given environment. What hosts send and accept is in their own modules.
"""

from __future__ import annotations

import difflib
import os
import shutil
import sys
from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

from deia import files
from deia.errors import HostError
from deia.fast_json import Json
from deia.folders import is_trusted
from deia.records import Record
from deia.serve.setup.host_settings.command import on_windows
from deia.tables import toml_beside

PROJECT, LOCAL, USER = "project", "local", "user"
SCOPES = (PROJECT, LOCAL, USER)
# How hooks are stored: events of groups of hooks, events of hooks, one executable per event, or a plugin's code.
GROUPED, FLAT, SCRIPT, PLUGIN = "grouped", "flat", "script", "plugin"
Table: TypeAlias = Mapping[str, Any]  # of `hosts.toml`


class Place(Record):
    """Where a host looks for hooks or servers, in one scope."""

    folder: str = ""  # in the project, or in the person's home
    file: str = ""  # `*.json` for every file in the folder; empty for one file per event
    new: str = ""  # the file to create if there is none
    before: str = ""  # a file beside it that is used instead if it exists
    also: str = ""  # a second folder that counts if it exists
    variables: Mapping[str, str] = {}  # environment variables, and the part of `folder` that each replaces


class Hooked(Record):
    """What the settings say of an event that calls the hook."""

    matcher: str = ""  # which tools, if not all
    entry: Mapping[str, Json] = {}  # what the hook's entry says besides its command

    @property
    def group(self) -> dict[str, Json]:
        """The fields of a group besides its hooks."""
        return {"matcher": self.matcher} if self.matcher else {}


class Setup(Record):
    """How one host is connected."""

    host: str
    title: str
    shape: str
    places: Mapping[str, Place]
    events: Mapping[str, Hooked]
    tried: Mapping[str, str] = {}  # moment → the event that stands for it when an installation is tried
    tells: str = ""  # the field of an answer to any event in which the launcher says that deia does not work
    form: str = "line"  # how an entry names its command: words | exec | line | systems | split
    extras: str = ""  # what the host allows in the file besides JSON
    typed: bool = True  # whether an entry has the field `type`
    wait: Mapping[str, Json] = {}  # the field of an entry that says how long the host waits
    head: Mapping[str, Json] = {}  # other fields that the file must have
    posix: str = "sh"  # the shell that reads a line
    windows: str = "powershell"
    folders: tuple[str, ...] = ()  # in the home folder, signs that the host is used
    marks: tuple[str, ...] = ()  # in a project, the same
    programs: tuple[str, ...] = ()
    variables: tuple[str, ...] = ()  # set by the host in the processes that it starts
    readers: Mapping[str, tuple[str, ...]] = {}  # another host that runs this one's hooks → in which scopes
    conversations: tuple[Place, ...] = ()  # where it keeps past ones, in the home folder, as files that deia reads
    after: str = ""  # what the person has to do next
    limits: tuple[str, ...] = ()
    source: str = ""


class Server(Record):
    """How a host's settings describe an MCP server."""

    place: str  # the file, in words
    places: Mapping[str, Place]
    key: str = "mcpServers"
    extras: str = ""  # what the host allows in the file besides JSON
    typed: bool = False  # whether a server that the host starts has a `type`
    started_type: str = "stdio"  # that type
    one_list: bool = False  # whether the program and its arguments are one list
    address: str = "url"  # the key for the address of a running server
    address_type: str = ""
    token_fields: Mapping[str, Json] = {}  # how the host sends a token from its environment
    more: Mapping[str, Json] = {}
    note: str = ""


def _places(table: Table) -> dict[str, Place]:
    return {scope: _place(**fields) for scope, fields in table.items()}


def _place(*, program: str = "", below: str = "", **fields: Any) -> Place:
    """Return a place; a desktop program's files are in a folder that depends on the system, or `below` that."""
    if not program:
        return Place(**fields)
    folders = {"darwin": f"Library/Application Support/{program}", "win32": f"AppData/Roaming/{program}"}
    if sys.platform in folders:
        return Place(folder=folders[sys.platform] + below, **fields)
    return Place(folder=f".config/{program}{below}", variables={"XDG_CONFIG_HOME": ".config"}, **fields)


def _setup(host: str, table: Table) -> Setup:
    fields = {**table, **{name: tuple(value) for name, value in table.items() if isinstance(value, list)}}
    events = table["events"]
    events = events if isinstance(events, dict) else {name: {} for name in events}
    fields["places"] = _places(table["places"])
    fields["events"] = {
        name: Hooked(
            matcher="|".join(event.get("tools", ())),
            entry={key: value for key, value in event.items() if key != "tools"},
        )
        for name, event in events.items()
    }
    fields["conversations"] = tuple(_place(**place) for place in table.get("conversations", ()))
    fields["readers"] = {name: tuple(scopes) for name, scopes in table.get("readers", {}).items()}
    return Setup(host=host, **fields)


def _read() -> tuple[list[Setup], dict[str, Server]]:
    hosts = toml_beside(__file__, "hosts")
    servers = {host: table.pop("server") for host, table in hosts.items() if "server" in table}
    return [_setup(host, table) for host, table in hosts.items() if table], {
        host: Server(**table | {"places": _places(table["places"])}) for host, table in servers.items()
    }


SETUPS, SERVERS = _read()
MARKS = (".git", *dict.fromkeys(mark for setup in SETUPS for mark in setup.marks if mark != ".vscode"))
BY_NAME: Mapping[str, Setup] = {setup.host: setup for setup in SETUPS}
CLAUDE_CODE, DESKTOP = "claude-code", "claude-desktop"  # the second has servers, but no hooks


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
    yield from (f"{name} in the environment" for name in setup.variables if machine.environ.get(name))


def is_here(setup: Setup, machine: Machine) -> bool:
    """Return whether there is any sign that a host is used here."""
    return next(signs_of(setup, machine), "") != ""
