"""What enters the server into each host's settings, as the host writes it; printed, never written by this.

The shapes are those of the hosts' own documentation in the second half of 2026. The interpreter is named by its full
path and told not to look for modules in the working folder, which may be anybody's repository.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from deia.records import Record

NAME = "deia"
TOKEN = "DEIA_TOKEN"  # noqa: S105 - the variable's name, not a secret


class Host(Record):
    """How a host writes a server down."""

    place: str
    key: str = "mcpServers"
    typed: bool = False  # whether it says `type` of a server that it starts
    address: str = "url"  # what it calls the address of one that runs
    address_type: str = ""
    shows: Mapping[str, Any] = {}  # how it shows a token that stands in its environment
    more: Mapping[str, Any] = {}
    note: str = ""


class Block(Record):
    """A block of settings, and where it goes."""

    place: str
    text: str
    note: str = ""


def _bearer(variable: str) -> dict[str, Any]:
    return {"headers": {"Authorization": f"Bearer {variable}"}}


HOSTS: Mapping[str, Host] = {
    "claude-desktop": Host(
        place="claude_desktop_config.json (Settings, Developer, Edit Config)",
        note="Start the program anew. It works in no project's folder: name the commons with --commons.",
    ),
    "claude-code": Host(
        place=".mcp.json of the project", typed=True, address_type="http", shows=_bearer(f"${{{TOKEN}}}")
    ),
    "cursor": Host(
        place=".cursor/mcp.json of the project, or ~/.cursor/mcp.json", shows=_bearer(f"${{env:{TOKEN}}}")
    ),
    "vscode": Host(
        place=".vscode/mcp.json of the project", key="servers", typed=True, address_type="http",
        shows=_bearer(f"${{env:{TOKEN}}}"),
    ),
    "kiro": Host(
        place=".kiro/settings/mcp.json of the project, or ~/.kiro/settings/mcp.json", more={"disabled": False},
        shows=_bearer(f"${{{TOKEN}}}"),
    ),
    "codex": Host(place="~/.codex/config.toml", shows={"bearer_token_env_var": TOKEN}),
    "gemini": Host(
        place=".gemini/settings.json of the project, or ~/.gemini/settings.json", address="httpUrl",
        shows=_bearer(f"${TOKEN}"),
    ),
}  # fmt: skip


def server_command() -> list[str]:
    """Give what starts the server, by full paths."""
    return [sys.executable, "-P", "-m", "deia.serve.main", "mcp"]


def fields_for(host: str, *, url: str = "", arguments: Sequence[str] = (), token: bool = False) -> dict[str, Any]:
    """Give what a host's settings say of a server that it starts with these arguments, or of one that runs.

    With `token` it shows the one that stands in the host's environment; the token itself is nowhere written down.
    """
    known = HOSTS[host]
    if url:
        address = {**({"type": known.address_type} if known.address_type else {}), known.address: url}
        return {**address, **(known.shows if token else {}), **known.more}
    command, *first = server_command()
    started = {"command": command, "args": [*first, *arguments]}
    return {**({"type": "stdio"} if known.typed else {}), **started, **known.more}


def block_for(host: str, *, url: str = "", arguments: Sequence[str] = (), token: bool = False) -> Block:
    """Give a host's block, to be entered by hand."""
    known = HOSTS[host]
    fields = fields_for(host, url=url, arguments=arguments, token=token)
    if host == "codex":
        return Block(place=known.place, text=_toml(fields), note=known.note)
    text = json.dumps({known.key: {NAME: fields}}, indent=2, ensure_ascii=False)
    return Block(place=known.place, text=text, note=known.note)


def _toml(fields: Mapping[str, Any]) -> str:
    """Write a table; JSON's texts and lists of texts are TOML's too, but for what stands outside the plain letters."""
    return "\n".join([f"[mcp_servers.{NAME}]", *(f"{key} = {json.dumps(value)}" for key, value in fields.items())])
