"""Imports a library from one bytecode file, which `deia.serve.startup.library_bytecode` writes; only for a search.

Looking up each of numpy's modules and reading its docstrings takes a sixth of the time that `import numpy` takes. A
module whose file has changed since, and one that the bytecode lacks, is imported by Python's import system.
"""

from __future__ import annotations

import sys
from marshal import loads

if sys.platform == "win32":
    from nt import stat
else:
    from posix import stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec
    from types import ModuleType
    from typing import Any, TypeAlias

    # The file of a module with its size and time, whether it is a package, and its bytecode, empty for one in C.
    Member: TypeAlias = tuple[str, int, int, bool, bytes]


class LibraryImporter:
    """A finder and loader for the modules of a library and for what they import."""

    def __init__(self, members: dict[str, Member]) -> None:
        self._members = members

    def find_spec(self, name: str, _path: object = None, _target: object = None) -> ModuleSpec | None:
        """Return the specification of a module whose bytecode is kept and not older than its file, else None."""
        if name not in self._members:
            return None
        file, size, changed, is_package, code = self._members[name]
        try:
            status = stat(file)
        except OSError:
            return None
        if (status.st_size, status.st_mtime_ns) != (size, changed):
            return None
        specify: Any = type(sys.__spec__)
        if not code:
            loader = sys.modules["_frozen_importlib_external"].ExtensionFileLoader
            made: ModuleSpec = specify(name, loader(name, file), origin=file)
            return made
        spec: ModuleSpec = specify(name, self, origin=file, is_package=is_package)
        spec.has_location = True
        if is_package:
            spec.submodule_search_locations = [_folder(file)]
        return spec

    def create_module(self, _spec: ModuleSpec) -> None:
        """Let the import system make the module."""

    def exec_module(self, module: ModuleType) -> None:
        """Run a module's bytecode."""
        exec(loads(self._members[module.__name__][4]), vars(module))  # noqa: S102, S302 - what `import` does


def kept_library(path: str) -> dict[str, Member]:
    """Return the modules whose bytecode a file keeps, none if it is missing or torn."""
    try:
        with open(path, "rb") as file:
            members: dict[str, Member] = loads(file.read())  # noqa: S302 - as above
        return {name: member for name, member in members.items() if len(member) == 5}
    except (OSError, ValueError, TypeError, EOFError, AttributeError):
        return {}


def use(path: str, library: str, *, after: Any) -> None:
    """Import a library from its bytecode file from now on, if there is one for the library that the path leads to.

    The finder is asked `after` another, so that an import that is looking for the library now comes to it next.
    """
    members = kept_library(path)
    if library in members and _folder(_folder(members[library][0])) in [*map(_forward, sys.path)]:
        sys.meta_path.insert(sys.meta_path.index(after) + 1, LibraryImporter(members))


def _folder(path: str) -> str:
    return _forward(path).rpartition("/")[0]


def _forward(path: str) -> str:
    return path.replace("\\", "/")
