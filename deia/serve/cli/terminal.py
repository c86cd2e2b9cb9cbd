"""What the terminal can show: its width, colours, links, and characters beyond ASCII.

The terminal itself is not asked, because it may not answer; the environment and the stream tell enough.
"""

from __future__ import annotations

import os
import sys

from deia.folders import LIBRARY_PREFIX, STARTER, STARTER_PREFIX
from deia.records import TYPE_CHECKING
from deia.search.rendering.terminal_answer import WIDTH, Look
from deia.serve.cli import output

if TYPE_CHECKING:
    from collections.abc import Mapping

# Terminals that are known to support links (OSC 8); others could show the codes.
LINKING = ("WT_SESSION", "KITTY_WINDOW_ID", "KONSOLE_VERSION", "ITERM_SESSION_ID", "WEZTERM_PANE", "DOMTERM")
LINKING_PROGRAMS = ("iTerm.app", "WezTerm", "vscode", "ghostty", "Hyper", "Tabby")
LINKING_TERMS = ("xterm-kitty", "xterm-ghostty", "alacritty", "foot")
FIRST_LINKING_VTE = 5000
UNESCAPED = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/")


def look_of(root: str, *, colour: str, environ: Mapping[str, str]) -> Look:
    """Return what standard output can show; `colour` is auto, always or never, and links open documents of `root`."""
    styled = colour == "always" or (colour != "never" and output.at_terminal() and in_colour(environ))
    linked = output.at_terminal() and styled and opens_links(environ)
    return Look(
        width=_width(environ),
        colour=styled,
        symbols=output.mark("│→·─…", "") != "",
        link=(lambda path: address(root, path)) if linked else None,
    )


def in_colour(environ: Mapping[str, str]) -> bool:
    """Return whether to use colour: not if NO_COLOR is set (no-color.org) or TERM is dumb."""
    if environ.get("NO_COLOR") or environ.get("TERM") == "dumb":
        return False
    old_windows = sys.platform == "win32" and not any(environ.get(name) for name in ("WT_SESSION", "TERM", "ANSICON"))
    return not old_windows


def opens_links(environ: Mapping[str, str]) -> bool:
    """Return whether the terminal is known to support links."""
    version = environ.get("VTE_VERSION", "")
    return (
        any(environ.get(name) for name in LINKING)
        or environ.get("TERM_PROGRAM") in LINKING_PROGRAMS
        or environ.get("TERM") in LINKING_TERMS
        or (version.isdecimal() and len(version) < 9 and int(version) >= FIRST_LINKING_VTE)
    )


def address(root: str, path: str) -> str:
    """Return the `file:` address of a document, percent-encoded (RFC 3986)."""
    if path.startswith(LIBRARY_PREFIX):
        return ""
    is_starter = path.startswith(STARTER_PREFIX)
    place = f"{STARTER}/{path[len(STARTER_PREFIX) :]}" if is_starter else f"{root}/{path}"
    encoded = "".join(
        chr(byte) if byte in UNESCAPED else f"%{byte:02X}" for byte in place.encode("utf-8", "surrogateescape")
    )
    return f"file://{encoded}" if place.startswith("/") else f"file:///{encoded}"


def _width(environ: Mapping[str, str]) -> int:
    width = environ.get("COLUMNS", "")
    if width.isascii() and width.isdecimal() and 0 < len(width) < 6 and int(width):
        return int(width)
    try:
        return os.get_terminal_size(sys.stdout.fileno()).columns or WIDTH
    except (OSError, ValueError, AttributeError):  # standard output is no terminal, closed or missing
        return WIDTH
