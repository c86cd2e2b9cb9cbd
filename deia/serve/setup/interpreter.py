"""Finds the Python that a host should start: by its absolute path, neither a shim nor a virtual environment's.

The hook needs no third-party package, so it still works if the environment that it was installed from is deleted; a
shim costs 100 ms at every event (DESIGN §9).
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator

from deia.errors import HostError

VERSION = f"{sys.version_info[0]}.{sys.version_info[1]}"
PRINT_VERSION = "import sys; sys.stdout.write('%d.%d' % sys.version_info[:2])"
PATIENCE = 20  # seconds for a start on a busy machine


def find_interpreter() -> str:
    """Return the absolute path of an interpreter of this version that starts; raise HostError if none does."""
    tried = []
    for candidate in dict.fromkeys(_candidates()):
        if starts(candidate):
            return candidate
        tried.append(candidate)
    raise HostError(f"no Python interpreter starts; tried {', '.join(tried)}", fix="Reinstall Python, then try again.")


def find_interpreters() -> list[str]:
    """Return the interpreter that `find_interpreter` finds, and others that lead to it if its own path changes."""
    found = find_interpreter()
    return [found, *(path for path in dict.fromkeys(_candidates()) if path != found and os.path.isfile(path))]


def _candidates() -> Iterator[str]:
    base = getattr(sys, "_base_executable", "") or ""  # the interpreter behind a virtual environment
    folder = (
        os.path.join(sys.base_prefix, "bin", f"python{VERSION}")
        if os.name != "nt"
        else os.path.join(sys.base_prefix, "python.exe")
    )
    for path in (base, folder, sys.executable):
        if path:
            yield os.path.realpath(path)
            yield os.path.abspath(path)


def starts(path: str) -> bool:
    """Return whether `path` is a Python of this version that starts with the options of a hook."""
    try:
        done = subprocess.run(  # noqa: S603 - our own interpreter
            [path, "-I", "-S", "-c", PRINT_VERSION], capture_output=True, timeout=PATIENCE, check=False
        )
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0 and done.stdout.decode("ascii", "replace") == VERSION
