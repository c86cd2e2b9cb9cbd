"""A compile beside a running server, as a process of its own: `python -P -m deia.serve.server.compiling ROOT`.

It takes neither the server's interpreter lock nor its memory. Refuses to do more than the librarian would by himself.
"""

from __future__ import annotations

import os
import sys

from deia.compile.compiler import compile_commons
from deia.errors import DeiaError


def main() -> int:
    """Compile the commons that the one argument names; give 0, or 2 with the reason on standard error."""
    try:
        compile_commons(sys.argv[1], environ=os.environ)
    except DeiaError as error:
        sys.stderr.write(f"{' '.join(str(error).split())}\n")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
