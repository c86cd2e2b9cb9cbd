"""Commands of a person who may not read everything, also where the tests run as root."""

from __future__ import annotations

import os
import shutil

import pytest

DROPPED = "-dac_override,-dac_read_search"  # the rights of root to read and write whatever it likes


def without_rights(*command: str) -> list[str]:
    """Return a command that runs without the rights of root; skip the test where that is impossible."""
    if os.name == "nt":
        pytest.skip("permissions of POSIX")
    if os.geteuid():
        return [*command]
    if shutil.which("setpriv") is None:
        pytest.skip("root may read everything, and there is no setpriv")
    return ["setpriv", f"--bounding-set={DROPPED}", "--inh-caps=-all", *command]
