"""The door to the files of a folder that somebody else may change meanwhile: no link leads out of it."""

from __future__ import annotations

import os
import sys

from deia import files
from deia.ingest.source import MOST_BYTES


def read_within(folder: str, path: str) -> bytes | None:
    """Return the content of a file in a folder, or None if a link leads to it, or it cannot be read or is too large.

    Each part of the path is opened within the last, so nobody can put a link there meanwhile. Windows cannot do that.
    """
    parts = path.split("/")
    if sys.platform == "win32":
        places = (f"{folder}/{'/'.join(parts[: count + 1])}" for count in range(len(parts)))
        return None if any(map(files.is_link, places)) else files.read(f"{folder}/{path}", MOST_BYTES)
    try:
        handle = os.open(folder, files.READ | os.O_DIRECTORY)
        for part in parts[:-1]:
            handle = _open_within(handle, part, os.O_DIRECTORY)
        return files.read_open(_open_within(handle, parts[-1], 0), MOST_BYTES)
    except (OSError, ValueError):
        return None


def _open_within(folder: int, name: str, flags: int) -> int:
    """Open what has a name in an open folder, unless it is a link, and close the folder."""
    try:
        return os.open(name, files.READ | os.O_NOFOLLOW | flags, dir_fd=folder)
    finally:
        os.close(folder)
