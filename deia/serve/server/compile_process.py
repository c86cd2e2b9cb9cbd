"""Compiles a commons in a process of its own: `python -m deia.serve.server.compile_process ROOT [COLLECTION]…`.

A running server starts it, because a compile would hold the server's interpreter lock and use its memory.
"""

from __future__ import annotations

import os
import sys

from deia.compile.compiler import compile_commons
from deia.errors import DeiaError


def main() -> int:
    """Compile the commons, or the collections of it, that the arguments name; return 0, or 2 after printing why."""
    try:
        compile_commons(sys.argv[1], environ=os.environ, collections=sys.argv[2:])
    except DeiaError as error:
        sys.stderr.write(f"{' '.join(str(error).split())}\n")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
