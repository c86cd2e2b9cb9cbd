"""The list of the folders whose commons a person trusts: `trusted` in the state folder, one real path a line.

A line that ends with `/**` stands for a folder and everything in it. `deia.folders.is_trusted` reads the list; this
module changes it when a person says so.
"""

from __future__ import annotations

from deia import files
from deia.folders import BELOW, TRUSTED, is_starter, is_trusted, state_folder
from deia.problems import CommonsError
from deia.records import TYPE_CHECKING

FILES = ("deia.toml", "pyproject.toml", ".env")  # that set settings

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def trust(folder: str, environ: Mapping[str, str], *, below: bool = False) -> str:
    """Add a folder to the list and return its line; with `below`, everything in it is meant, too."""
    line = _line(folder, below=below)
    lines = listed(environ)
    if line not in lines:
        _write([*lines, line], environ)
    return line


def distrust(folder: str, environ: Mapping[str, str], *, below: bool = False) -> bool:
    """Take a folder off the list; return whether it was on it."""
    line = _line(folder, below=below)
    lines = listed(environ)
    if line in lines:
        _write([known for known in lines if known != line], environ)
    return line in lines


def why_trusted(root: str, environ: Mapping[str, str]) -> str:
    """Return in words why the commons at `root` is trusted, or what does not count as it is not."""
    if not is_trusted(root, environ):
        ignored = [name for name in FILES if files.exists(f"{root}/{name}")]
        return f"{', '.join(ignored) or 'its settings'} ignored; to change that, type: deia trust"
    if is_starter(root):
        return "deia's own"
    return "deia trust" if is_trusted(root, {**environ, "DEIA_TRUST": ""}) else "DEIA_TRUST"


def listed(environ: Mapping[str, str]) -> list[str]:
    """Return the lines of the list."""
    content = files.read(_place(environ)) or b""
    return [line for line in content.decode("utf-8", "surrogateescape").split("\n") if line]


def _line(folder: str, *, below: bool) -> str:
    """Return the line for a folder."""
    place = files.real(folder)
    if "\n" in place or "\0" in place or place.endswith(BELOW):
        fix = "Give the folder a name without line breaks that is not **."
        raise CommonsError(f"the list of trusted folders cannot hold {place!r}", fix=fix)
    return f"{place.rstrip('/')}{BELOW}" if below else place


def _write(lines: Sequence[str], environ: Mapping[str, str]) -> None:
    place = _place(environ)
    if not files.keep(place, "".join(f"{line}\n" for line in lines).encode("utf-8", "surrogateescape")):
        raise CommonsError("the list of trusted folders cannot be written", where=place, fix="Check its permissions.")


def _place(environ: Mapping[str, str]) -> str:
    return f"{state_folder(environ)}/{TRUSTED}"
