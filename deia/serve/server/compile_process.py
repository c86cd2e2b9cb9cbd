"""A compile beside a running server, as a process of its own: `… deia.serve.server.compile_process ROOT [COLLECTION]…`.

It takes neither the server's interpreter lock nor its memory. Refuses to do more than the librarian would by himself.
"""

from __future__ import annotations

import os
import sys

from deia.compile.compiler import compile_commons
from deia.errors import DeiaError


def main() -> int:
    """Compile the commons, or collections of it, that the arguments name; give 0, or 2 and the reason beside it."""
    try:
        compile_commons(sys.argv[1], environ=os.environ, collections=sys.argv[2:])
    except DeiaError as error:
        sys.stderr.write(f"{' '.join(str(error).split())}\n")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
