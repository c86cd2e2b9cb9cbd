"""Writes the bytecode from which a search imports numpy (`deia.serve.startup.library_importer`), without docstrings."""

from __future__ import annotations

import importlib.util
import json
import marshal
import os
import subprocess
import sys
from importlib.machinery import EXTENSION_SUFFIXES
from typing import TYPE_CHECKING

from deia import files
from deia.errors import DeiaError
from deia.serve.startup.importer import LIBRARY, bytecode_path
from deia.serve.startup.library_importer import kept_library

if TYPE_CHECKING:
    from deia.serve.startup.library_importer import Member

# They do nothing but write docstrings of what is made in C.
DOCSTRINGS = ("numpy._core._add_newdocs", "numpy._core._add_newdocs_scalars")
MOST_SECONDS = 60
# Prints the name and file of every module that importing the library imports, and whether it is a package.
LIST = """\
import sys
sys.path[:] = sys.argv[2:]
known = {*sys.modules}
__import__(sys.argv[1])
modules = [(name, getattr(module, "__spec__", None)) for name, module in sys.modules.items() if name not in known]
specs = [(name, spec) for name, spec in modules if spec is not None and spec.name == name and spec.has_location]
import json
print(json.dumps([(name, spec.origin, spec.submodule_search_locations is not None) for name, spec in specs]))
"""


def keep_library(package: str, library: str = LIBRARY) -> bool:
    """Write a library's bytecode if it is missing or older than a file of the library; return whether it exists then.

    A library that is not installed, or cannot be imported, has none.
    """
    if is_fresh(package, library):
        return True
    try:
        if importlib.util.find_spec(library) is None or not files.writable(package):
            return False
        members = {name: _member(name, file, is_package) for name, file, is_package in _imported(library)}
        return bool(members) and files.keep(bytecode_path(package, library), marshal.dumps(members))
    except (OSError, ValueError, SyntaxError, DeiaError, subprocess.SubprocessError):
        return False


def is_fresh(package: str, library: str = LIBRARY) -> bool:
    """Return whether a library's bytecode is kept and no file of it has changed since."""
    members = kept_library(bytecode_path(package, library))
    return library in members and all(
        files.stamp(file) == (size, changed) for file, size, changed, _, _ in members.values()
    )


def _imported(library: str) -> list[tuple[str, str, bool]]:
    """Return the modules that an import of the library imports: their names, files, and whether they are packages."""
    places = [place for place in sys.path if place]  # the working folder may be anybody's
    command = [sys.executable, "-I", "-c", LIST, library, *places]
    told = subprocess.run(  # noqa: S603 - this Python, with a text of ours
        command, capture_output=True, check=True, timeout=MOST_SECONDS, text=True, encoding="utf-8"
    )
    return [(name, os.path.abspath(file), is_package) for name, file, is_package in json.loads(told.stdout)]


def _member(name: str, file: str, is_package: bool) -> Member:  # noqa: FBT001 - as it is listed
    """Return what is kept of a module."""
    status, code = os.stat(file), b""
    if not file.endswith((*EXTENSION_SUFFIXES,)):
        with open(file, "rb") as source:
            text = b"" if name in DOCSTRINGS else source.read()
        code = marshal.dumps(compile(text, file, "exec", dont_inherit=True, optimize=2))
    return file, status.st_size, status.st_mtime_ns, is_package, code
