"""What the terminal that is written to can show: its width, colours, links, signs beyond ASCII.

Refuses to ask the terminal itself, which may not answer; the environment and the stream say enough.
"""

from __future__ import annotations

import os
import sys

from deia.folders import STARTER, STARTER_PREFIX
from deia.records import TYPE_CHECKING
from deia.search.rendering.terminal_answer import WIDTH, Look
from deia.serve.cli import output

if TYPE_CHECKING:
    from collections.abc import Mapping

# Who is known to open links (OSC 8); elsewhere they could show as noise.
LINKING = ("WT_SESSION", "KITTY_WINDOW_ID", "KONSOLE_VERSION", "ITERM_SESSION_ID", "WEZTERM_PANE", "DOMTERM")
LINKING_PROGRAMS = ("iTerm.app", "WezTerm", "vscode", "ghostty", "Hyper", "Tabby")
LINKING_TERMS = ("xterm-kitty", "xterm-ghostty", "alacritty", "foot")
FIRST_LINKING_VTE = 5000
UNESCAPED = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/")


def look_of(root: str, *, colour: str, environ: Mapping[str, str]) -> Look:
    """Give what standard output can show; `colour` is auto, always or never, links lead into the commons at `root`."""
    styled = colour == "always" or (colour != "never" and output.at_terminal() and in_colour(environ))
    linked = output.at_terminal() and styled and opens_links(environ)
    return Look(
        width=_width(environ),
        colour=styled,
        symbols=output.mark("│→·─…", "") != "",
        link=(lambda path: address(root, path)) if linked else None,
    )


def in_colour(environ: Mapping[str, str]) -> bool:
    """Say whether a terminal is to be written in colour: not where NO_COLOR is set (no-color.org) or TERM is dumb."""
    if environ.get("NO_COLOR") or environ.get("TERM") == "dumb":
        return False
    old_windows = sys.platform == "win32" and not any(environ.get(name) for name in ("WT_SESSION", "TERM", "ANSICON"))
    return not old_windows


def opens_links(environ: Mapping[str, str]) -> bool:
    """Say whether a terminal is known to open links."""
    version = environ.get("VTE_VERSION", "")
    return (
        any(environ.get(name) for name in LINKING)
        or environ.get("TERM_PROGRAM") in LINKING_PROGRAMS
        or environ.get("TERM") in LINKING_TERMS
        or (version.isdecimal() and len(version) < 9 and int(version) >= FIRST_LINKING_VTE)
    )


def address(root: str, path: str) -> str:
    """Give the `file:` address of a document, percent-encoded (RFC 3986)."""
    own = path.startswith(STARTER_PREFIX)
    place = f"{STARTER}/{path[len(STARTER_PREFIX) :]}" if own else f"{root}/{path}"
    encoded = "".join(
        chr(byte) if byte in UNESCAPED else f"%{byte:02X}" for byte in place.encode("utf-8", "surrogateescape")
    )
    return f"file://{encoded}" if place.startswith("/") else f"file:///{encoded}"


def _width(environ: Mapping[str, str]) -> int:
    given = environ.get("COLUMNS", "")
    if given.isascii() and given.isdecimal() and 0 < len(given) < 6 and int(given):
        return int(given)
    try:
        return os.get_terminal_size(sys.stdout.fileno()).columns or WIDTH
    except (OSError, ValueError, AttributeError):  # no terminal, a closed stream, or none
        return WIDTH
