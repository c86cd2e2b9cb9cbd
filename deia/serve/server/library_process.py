"""Takes sources of the library in again: `python -m deia.serve.server.library_process ROOT [NAME]…`.

A server starts it, since it may take minutes. It writes a line of JSON for each step, and one for what it came to.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence

from deia import fast_json
from deia.compile.encoding_start import start_encoding
from deia.compile.take_in import bring_up_to_date, update
from deia.errors import DeiaError
from deia.fast_json import Json

INTERRUPTED = 143


def command(root: str, names: Sequence[str]) -> list[str]:
    """Return the command line that takes sources in again."""
    return [sys.executable, "-P", "-m", __name__, root, *names]


def main() -> int:
    """Take in the sources that the arguments name, if any, and compile; return 0, or 2 if that is impossible."""
    root, *names = sys.argv[1:]
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(INTERRUPTED))  # so that the source says that it is pending
    try:
        if not names:
            bring_up_to_date(root, os.environ)
            return 0
        taken = update(root, names, os.environ, progress=lambda progress: _tell(progress.values()))
    except DeiaError as error:
        _tell({"error": str(error)})
        return 2
    start_encoding(root, os.environ)
    _tell({"text": f"{taken.summary}.", "error": "; ".join(taken.errors)})
    return 0


def _tell(line: dict[str, Json]) -> None:
    sys.stdout.write(f"{fast_json.dumps(line)}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
