"""How every host is connected, as `hosts.toml` beside this module says: its settings files, events, command and server.

This describes settings files only; what hosts send and accept is in their own modules.
"""

from __future__ import annotations

import os
import sys
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from deia.fast_json import Json
from deia.records import Record

PROJECT, LOCAL, USER = "project", "local", "user"
SCOPES = (PROJECT, LOCAL, USER)
# How hooks are stored: events of groups of hooks, events of hooks, one executable per event, or a plugin's code.
GROUPED, FLAT, SCRIPT, PLUGIN = "grouped", "flat", "script", "plugin"
Table: TypeAlias = Mapping[str, Any]  # of `hosts.toml`
DATA = os.path.join(os.path.dirname(__file__), "hosts.toml")


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


def _hooked(*, tools: Sequence[str] = (), **entry: Json) -> Hooked:
    return Hooked(matcher="|".join(tools), entry=entry)


def _setup(host: str, table: Table) -> Setup:
    fields: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in table.items()}
    events = table["events"]
    fields["places"] = _places(table["places"])
    fields["events"] = {name: _hooked(**events[name]) if isinstance(events, dict) else Hooked() for name in events}
    fields["conversations"] = tuple(_place(**place) for place in table.get("conversations", ()))
    fields["readers"] = {name: tuple(scopes) for name, scopes in table.get("readers", {}).items()}
    return Setup(host=host, **fields)


def _read() -> tuple[list[Setup], dict[str, Server]]:
    with open(DATA, "rb") as file:
        hosts = tomllib.load(file)
    servers = {host: table.pop("server") for host, table in hosts.items() if "server" in table}
    return [_setup(host, table) for host, table in hosts.items() if table], {
        host: Server(**table | {"places": _places(table["places"])}) for host, table in servers.items()
    }


SETUPS, SERVERS = _read()
BY_NAME: Mapping[str, Setup] = {setup.host: setup for setup in SETUPS}
CLAUDE_CODE, DESKTOP = "claude-code", "claude-desktop"  # the second has servers, but no hooks
