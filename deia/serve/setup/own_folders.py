"""The folders in which deia keeps what is a person's own, for `deia uninstall --purge`: its state and its cache.

Their paths come from the environment, so a folder is removed only if nothing says that it is more than deia's.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping

from deia import files
from deia.errors import HostError
from deia.folders import cache_folder, is_commons, state_folder
from deia.serve.setup.host_settings.hosts_table import Machine

CACHES = ("/uv/archive-v", "/uv/environments-v", "/uv/cache/", "/pipx/.cache/", "/.cache/pipx/", "/pipx/Cache/")
OTHERS = (".git", ".hg", ".ssh", ".config", "pyproject.toml", "package.json")  # what deia never puts into its folders


def own_folders(machine: Machine) -> list[str]:
    """Return the folders of deia that exist; raise HostError if one of them is not deia's alone."""
    environ = machine.environ
    folders = dict.fromkeys((state_folder(environ), cache_folder(environ)))
    there = [folder for folder in folders if os.path.isdir(folder)]
    for folder in there:
        reason = _why_not_own(folder, machine)
        if reason:
            fix = "Take out by hand what is deia's there; nothing was removed."
            raise HostError(f"is not removed, since {reason}", where=folder, fix=fix)
    return there


def _why_not_own(folder: str, machine: Machine) -> str:
    """Return what says that a folder is more than deia's, or the empty text."""
    real = os.path.realpath(folder)
    if os.path.islink(folder):
        return "it is a link"
    for kept in (machine.home, machine.project, os.getcwd()):
        if os.path.join(os.path.realpath(kept), "").startswith(os.path.join(real, "")):
            return f"{kept} is in it"
    if is_commons(folder):
        return "there is a commons in it"
    other = next((name for name in OTHERS if os.path.lexists(os.path.join(folder, name))), "")
    return f"it contains {other}" if other else ""


def size_of(folder: str) -> int:
    """Return how many bytes the files in a folder have; links are not followed."""
    stamps = (files.stamp(os.path.join(above, name)) for above, _, names in os.walk(folder) for name in names)
    return sum(stamp[0] for stamp in stamps if stamp)


def remove_folder(folder: str) -> None:
    """Remove a folder with everything in it; raise HostError if something stays."""
    shutil.rmtree(folder, ignore_errors=True)
    if os.path.lexists(folder):
        raise HostError("cannot be removed", where=folder, fix=f"Remove it by hand: rm -rf {folder}")


def is_temporary(package: str) -> bool:
    """Return whether the program runs from a cache of `uvx` or `pipx run`, and not from where it was installed."""
    place = package.replace("\\", "/")
    return any(part in place for part in CACHES)


def leaving(environ: Mapping[str, str], package: str) -> str:
    """Return what to type to remove the program itself, judged by where it is installed."""
    place = package.replace("\\", "/")
    for part, command in (("/uv/tools/", "uv tool uninstall deia"), ("/pipx/venvs/", "pipx uninstall deia")):
        if part in place:
            return command
    python = environ.get("VIRTUAL_ENV")
    return f"{python}/bin/python -m pip uninstall deia" if python and os.name != "nt" else "pip uninstall deia"
