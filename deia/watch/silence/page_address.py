"""Whether a tool call names the page of a server of deia that runs on this machine: its powers are the person's."""

from __future__ import annotations

from deia import files
from deia.records import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

PATH = "/page"  # as `deia.serve.server.http` has it
SERVERS = "servers"  # the folder in which servers note their addresses, as `deia.audit.state` has it
LOOPBACK = ("localhost", "127.", "[::1]")
ENDS = frozenset("/#?\"'`\\)>,; \t\r\n")  # what may follow the path
MOST_NOTE = 10_000  # bytes
MOST_DEPTH = 6  # of values within values


def names_page(tool_input: object, state: str) -> bool:
    """Return whether a text in a tool's input is, or contains, an address of the page; `state` is the state folder."""
    ports = {port for text in _texts(tool_input, 0) if PATH in text for port in _ports(text)}
    return bool(ports) and not ports.isdisjoint(_served(state))


def _texts(value: object, depth: int) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, (dict, list, tuple)) and depth < MOST_DEPTH:
        for item in value.values() if isinstance(value, dict) else value:
            yield from _texts(item, depth + 1)


def _ports(text: str) -> Iterator[str]:
    """Yield the ports of the addresses of this machine that are followed by the page's path."""
    before, *rest = text.split(PATH)
    for after in rest:
        host, colon, port = before.rpartition(":")
        name = host.rpartition("/")[2].split()[-1:] if colon and port.isdecimal() else []
        if name and name[0].strip("\"'`(").lower().startswith(LOOPBACK) and (not after or after[0] in ENDS):
            yield port
        before = after


def _served(state: str) -> Iterator[str]:
    """Yield the ports that servers have noted."""
    for name in files.names(f"{state}/{SERVERS}"):
        note = (files.read(f"{state}/{SERVERS}/{name}", MOST_NOTE) or b"").decode("utf-8", "replace")
        yield note.rpartition("/mcp")[0].rpartition(":")[2]
