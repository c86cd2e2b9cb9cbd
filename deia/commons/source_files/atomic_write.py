"""Replace a file atomically: readers see the old text or the new one, never a part."""

from __future__ import annotations

import os
import stat
import tempfile

from deia.files import refuse_special


def replace_file(path: str, text: str) -> None:
    """Replace the text of a file atomically, or of the file that a link leads to; a new file is made if there is none.

    This is for files that the person names. Files that a project names are written with `safe_files`. Raise OSError if
    the folder cannot be written.
    """
    write_atomically(os.path.realpath(path), text.encode("utf-8", "replace"))


def write_atomically(path: str, data: bytes) -> None:
    """Write a file atomically, keeping the permissions of the one that it replaces; no link is followed."""
    refuse_special(path)
    mode = stat.S_IMODE(os.lstat(path).st_mode) if os.path.lexists(path) else 0o644
    handle, temporary = tempfile.mkstemp(dir=os.path.dirname(path), prefix=".deia-", suffix=".new")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, mode)
        os.replace(temporary, path)
    except OSError:
        os.unlink(temporary)
        raise
