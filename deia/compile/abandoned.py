"""Removing the compiled files of commons that are gone: a clone that was deleted, a temporary folder.

A folder is removed only if its name is that of a commons of this installation whose root does not exist, and nothing in
it was written for two months. So few are looked at and removed at a time that no compile takes noticeably longer.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping

from deia import files
from deia.folders import commons_caches, root_of

SECONDS = 60 * 86_400.0  # a removed drive may come back
MOST_EXAMINED, MOST_REMOVED = 500, 10  # in one compile


def remove_abandoned(environ: Mapping[str, str], *, now: float) -> list[str]:
    """Remove the compiled files of some commons that are gone, and return the folders."""
    removed: list[str] = []
    for folder in [folder for cache in commons_caches(environ) for folder in _folders(cache)]:
        root = root_of(folder.rpartition("/")[2])
        if not root or os.path.lexists(root) or os.path.islink(folder) or now - _last_written(folder) < SECONDS:
            continue
        shutil.rmtree(folder, ignore_errors=True)
        removed.append(folder)
        if len(removed) == MOST_REMOVED:
            break
    return removed


def _folders(cache: str) -> list[str]:
    """Return what is in a folder of the cache, from another place on in each process, so that each has its turn."""
    names = files.names(cache)
    begin = files.process() % max(len(names), 1)
    return [f"{cache}/{name}" for name in [*names[begin:], *names[:begin]][:MOST_EXAMINED]]


def _last_written(folder: str) -> float:
    """Return when something directly in a folder, or the folder itself, was last written; never for a missing one."""
    state = files.stamp(folder)
    try:
        with os.scandir(folder) as entries:
            times = [entry.stat(follow_symlinks=False).st_mtime for entry in entries]
    except OSError:
        times = []
    return max(times, default=state[1] / 1e9 if state else 0.0)
