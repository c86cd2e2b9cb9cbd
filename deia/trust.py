"""Which commons a person trusts. No other may take anything away from what the person installed.

A person trusts a commons by `deia trust`, or by writing into it (`deia init`, `deia add`, `deia install --project`).
The state folder keeps the real path, so that a link cannot pass for a trusted folder. Machines that start anew every
time name folders in DEIA_TRUST, which no file of a repository can set. The models are git's `safe.directory`, direnv
and VS Code's workspace trust.
"""

from __future__ import annotations

from deia import files
from deia.folders import is_packaged
from deia.records import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

FILE = "trusted"  # in the state folder: a real path a line, with BELOW behind it if everything below counts
BELOW = "/**"
VARIABLE = "DEIA_TRUST"  # folders, each with everything below it, or EVERYTHING
EVERYTHING = "*"
SEPARATOR = ";" if files.system.__name__ == "nt" else ":"
MOST_LISTED = 1_000_000  # bytes of the list that are read


def is_trusted(root: str, *, environ: Mapping[str, str], state: str) -> bool:
    """Return whether the person trusts the commons at `root`; the packaged starter commons always counts.

    A folder that belongs to another user is trusted only if it is listed itself, not for lying below a trusted one.
    """
    if is_packaged(root):
        return True
    real = files.real(root)
    listed = trusted_paths(state)
    if real in listed:
        return True
    named = [folder for folder in environ.get(VARIABLE, "").split(SEPARATOR) if folder]
    above = [path.removesuffix(BELOW) for path in listed if path.endswith(BELOW)]
    above += [files.real(folder) for folder in named if folder != EVERYTHING]
    if EVERYTHING not in named and not any(real == folder or real.startswith(f"{folder}/") for folder in above):
        return False
    return files.is_own(real)


def trusted_paths(state: str) -> list[str]:
    """Return what the person listed, in the order in which it was added."""
    content = (files.read(f"{state}/{FILE}") or b"")[:MOST_LISTED].decode("utf-8", "surrogateescape")
    return [line for line in content.split("\n") if line]


def trust(root: str, *, state: str, below: bool = False) -> bool:
    """Add a commons to the list, or all commons below a folder; return whether that could be written.

    A folder whose name contains a line break cannot be listed.
    """
    path = files.real(root) + (BELOW if below else "")
    if "\n" in path:
        return False
    if path in trusted_paths(state):
        return True
    return files.append(f"{state}/{FILE}", f"{path}\n".encode("utf-8", "surrogateescape"))


def distrust(root: str, *, state: str) -> bool:
    """Remove a commons, or a folder of commons, from the list; return whether it was there."""
    real = files.real(root)
    listed = trusted_paths(state)
    kept = [path for path in listed if path.removesuffix(BELOW) != real]
    if len(kept) < len(listed):
        files.replace(f"{state}/{FILE}", "".join(f"{path}\n" for path in kept).encode("utf-8", "surrogateescape"))
    return len(kept) < len(listed)
