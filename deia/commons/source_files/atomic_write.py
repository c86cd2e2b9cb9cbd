"""Replace a file atomically: readers see the old text or the new one, never a part."""

from __future__ import annotations

import os
import stat
import tempfile


def replace_file(path: str, text: str) -> None:
    """Replace the text of a file atomically, keeping its permissions; a new file is made if there is none.

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
