"""Putting a file in the place of another: whole or not at all. Refuses nothing; the system does."""

from __future__ import annotations

import os
import stat
import tempfile


def replace_file(path: str, text: str) -> None:
    """Put a text in place of a file, whole or not at all, with the old file's permissions.

    Raises:
        OSError: the folder cannot be written.
    """
    path = os.path.realpath(path)
    mode = stat.S_IMODE(os.stat(path).st_mode) if os.path.exists(path) else 0o644
    handle, temporary = tempfile.mkstemp(dir=os.path.dirname(path), prefix=".deia-", suffix=".new")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(text.encode("utf-8", "replace"))
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, mode)
        os.replace(temporary, path)
    except OSError:
        os.unlink(temporary)
        raise
