"""The settings that add the server to each host, in the host's own format.

The formats follow the hosts' documentation of the second half of 2026. The interpreter has its full path and the option
`-P`, so that it does not import modules from the working folder, which may be anybody's repository.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence

from deia.fast_json import Json
from deia.records import Record

NAME = "deia"
TOKEN = "DEIA_TOKEN"  # noqa: S105 - the variable's name, not a secret


class Host(Record):
    """How a host's settings describe a server."""

    place: str
    key: str = "mcpServers"
    typed: bool = False  # whether a server that the host starts has a `type`
    address: str = "url"  # the key for the address of a running server
    address_type: str = ""
    token_fields: Mapping[str, Json] = {}  # how the host sends a token from its environment
    more: Mapping[str, Json] = {}
    note: str = ""


class Block(Record):
    """A block of settings, and the file that it belongs in."""

    place: str
    text: str
    note: str = ""


def _bearer(variable: str) -> dict[str, Json]:
    return {"headers": {"Authorization": f"Bearer {variable}"}}


HOSTS: Mapping[str, Host] = {
    "claude-desktop": Host(
        place="claude_desktop_config.json (Settings, Developer, Edit Config)",
        note="Restart the program. It does not run in a project's folder, so name the commons with --commons.",
    ),
    "claude-code": Host(
        place=".mcp.json of the project", typed=True, address_type="http", token_fields=_bearer(f"${{{TOKEN}}}")
    ),
    "cursor": Host(
        place=".cursor/mcp.json of the project, or ~/.cursor/mcp.json", token_fields=_bearer(f"${{env:{TOKEN}}}")
    ),
    "vscode": Host(
        place=".vscode/mcp.json of the project", key="servers", typed=True, address_type="http",
        token_fields=_bearer(f"${{env:{TOKEN}}}"),
    ),
    "kiro": Host(
        place=".kiro/settings/mcp.json of the project, or ~/.kiro/settings/mcp.json", more={"disabled": False},
        token_fields=_bearer(f"${{{TOKEN}}}"),
    ),
    "codex": Host(place="~/.codex/config.toml", token_fields={"bearer_token_env_var": TOKEN}),
    "gemini": Host(
        place=".gemini/settings.json of the project, or ~/.gemini/settings.json", address="httpUrl",
        token_fields=_bearer(f"${TOKEN}"),
    ),
}  # fmt: skip


def server_command() -> list[str]:
    """Return the command that starts the server, with full paths."""
    return [sys.executable, "-P", "-m", "deia.serve.main", "mcp"]


def fields_for(host: str, *, url: str = "", arguments: Sequence[str] = (), token: bool = False) -> dict[str, Json]:
    """Return a host's settings for a server that it starts with these arguments, or for one that runs at `url`.

    With `token` the host sends the token from its environment; the token itself is not written down.
    """
    entry = HOSTS[host]
    if url:
        address = {**({"type": entry.address_type} if entry.address_type else {}), entry.address: url}
        return {**address, **(entry.token_fields if token else {}), **entry.more}
    command, *first = server_command()
    started = {"command": command, "args": [*first, *arguments]}
    return {**({"type": "stdio"} if entry.typed else {}), **started, **entry.more}


def block_for(host: str, *, url: str = "", arguments: Sequence[str] = (), token: bool = False) -> Block:
    """Return a host's block of settings, for a person to paste."""
    entry = HOSTS[host]
    fields = fields_for(host, url=url, arguments=arguments, token=token)
    if host == "codex":
        return Block(place=entry.place, text=_toml(fields), note=entry.note)
    text = json.dumps({entry.key: {NAME: fields}}, indent=2, ensure_ascii=False)
    return Block(place=entry.place, text=text, note=entry.note)


def _toml(fields: Mapping[str, Json]) -> str:
    """Return a TOML table; JSON strings and lists of strings, escaped to ASCII, are valid TOML."""
    return "\n".join([f"[mcp_servers.{NAME}]", *(f"{key} = {json.dumps(value)}" for key, value in fields.items())])
