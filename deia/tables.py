"""Tables kept in a file beside the module that uses them: `git.txt` beside `git.py`, `live_check.toml` likewise.

TOML is for tables of records. A file of plain text has tables of words and names. It consists of sections, each a line
`[name]` and its data. Lines that begin with `#` are comments, and a line that is indented by two spaces continues the
line above it. How the data are read depends on the method: as words, as phrases separated by commas, as lines, or as
pairs `name: value`; several names before one colon, separated by commas, share the value. The hook's bytecode contains
these tables themselves (`deia.serve.startup.bytecode`), so it reads no such file.
"""

from __future__ import annotations

from deia import files
from deia.errors import DeiaError
from deia.records import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any


def text_beside(module: str, ending: str) -> str:
    """Return the text of the file beside a module, given its `__file__`; raise DeiaError if it cannot be read."""
    path = module.rpartition(".")[0] + ending
    data = files.read(path)
    if data is None:
        raise DeiaError(f"{path}, a file of deia itself, cannot be read", fix="Install deia again")
    return data.decode().replace("\r", "")


def toml_beside(module: str, name: str = "") -> dict[str, Any]:
    """Return a TOML file beside a module, given its `__file__`; the file has the name of the module, or this one."""
    import tomllib  # noqa: PLC0415 - costs some milliseconds, and the hook reads no such file

    place = f"{files.parent(files.forward(module))}/{name}.toml" if name else module
    return tomllib.loads(text_beside(place, ".toml"))


class Tables:
    """The sections of the file beside a module, given the module's `__file__`; the file is read when first needed."""

    __slots__ = ("_module", "_sections")

    def __init__(self, module: str) -> None:
        self._module = module
        self._sections: dict[str, str] = {}

    def lines(self, section: str) -> list[str]:
        """Return the lines of a section without comments; raise DeiaError if the file cannot be read."""
        if not self._sections:
            parts = ("\n" + text_beside(self._module, ".txt").replace("\n  ", " ")).split("\n[")[1:]
            self._sections = {name: body for name, _, body in [part.partition("]\n") for part in parts]}
        return [line for line in self._sections[section].split("\n") if line and line[0] != "#"]

    def listed(self, section: str) -> tuple[str, ...]:
        """Return the words of a section in their order."""
        return tuple(" ".join(self.lines(section)).split())

    def words(self, section: str) -> frozenset[str]:
        """Return the words of a section as a set."""
        return frozenset(" ".join(self.lines(section)).split())

    def phrases(self, section: str) -> tuple[str, ...]:
        """Return the phrases of a section, which are separated by commas, in their order."""
        return tuple(" ".join(self.lines(section)).split(", "))

    def pairs(self, section: str) -> dict[str, str]:
        """Return the value of each name in a section."""
        split = [line.partition(":") for line in self.lines(section)]
        return {name: value[1:] for names, _, value in split for name in names.split(", ")}

    def lists(self, section: str) -> dict[str, tuple[str, ...]]:
        """Return the words of the value of each name in a section."""
        return {name: tuple(value.split()) for name, value in self.pairs(section).items()}
