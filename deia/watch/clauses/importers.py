"""How many files import a file, from a small list that the graph leaves beside the compiled files for the hook.

Its lines are `COUNT TAB PATH`, with the real path of each file that several import. A file that is not in it, and any
file where there is no list, is imported by nobody as far as a trigger can know.
"""

from __future__ import annotations

from deia import files
from deia.folders import GRAPH
from deia.records import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

NAME = "importers"
MOST_BYTES = 4_000_000


def importers_in(derived: str, folder: str) -> Callable[[str], int]:
    """Return a function that counts what imports a file, by the list among some compiled files.

    A relative path is one in `folder`.
    """

    def count(path: str) -> int:
        """Return how many files import one."""
        data = b"\n" + (files.read(f"{derived}/{GRAPH}/{NAME}", MOST_BYTES) or b"")
        plain = path.replace("\\", "/").encode("utf-8", "replace").decode()  # halves of characters name no file
        absolute = plain.startswith("/") or plain[1:3] == ":/"
        if len(data) == 1 or "\0" in plain:
            return 0
        real = files.real(plain if absolute else f"{folder}/{plain}").encode("utf-8", "surrogateescape")
        end = data.find(b"\t" + real + b"\n")
        number = data[data.rfind(b"\n", 0, end) + 1 : end] if end > 0 else b""
        return int(number) if number.isdigit() and len(number) < 10 else 0

    return count
