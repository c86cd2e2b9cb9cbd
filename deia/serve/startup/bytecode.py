"""Writes the bytecode that hook and search import in groups (`deia.serve.startup.importer`), beside Python's own.

Docstrings and assertions are left out, since nobody asks these processes for them. Where nothing can be written, as in
a system's Python, or where there are no sources, hook and search are slower and work.
"""

from __future__ import annotations

import marshal
import os
from typing import TYPE_CHECKING, Any

from deia import files
from deia.folders import PACKAGE
from deia.serve.startup.import_groups import import_groups
from deia.serve.startup.importer import bytecode_path

if TYPE_CHECKING:
    from types import CodeType

IMPORTER = "importer"  # the file that `hook.py` itself runs
GROUPS = "groups"  # the file that says which groups there are


def keep_bytecode(package: str = PACKAGE) -> bool:
    """Write what is missing or older than its source; return whether all of it is there."""
    if has_bytecode(package):
        return True
    try:
        groups = {IMPORTER: ("serve.startup.importer",), **import_groups(package)}
        contents = {group: _content(names, package) for group, names in groups.items()}
        contents[GROUPS] = marshal.dumps(groups)
        return all(files.keep(bytecode_path(package, name), content) for name, content in contents.items())
    except (OSError, SyntaxError):
        return False


def has_bytecode(package: str = PACKAGE) -> bool:
    """Return whether the hook finds all of it, none older than its source."""
    groups = kept_groups(package)
    return bool(groups) and all(_is_fresh(group, names, package) for group, names in groups.items())


def kept_groups(package: str = PACKAGE) -> dict[str, tuple[str, ...]]:
    """Return the groups whose bytecode was written, each with the names of its modules without `deia.`."""
    groups = _loaded(bytecode_path(package, GROUPS))
    return groups if isinstance(groups, dict) else {}


def _is_fresh(group: str, names: tuple[str, ...], package: str) -> bool:
    members = _loaded(bytecode_path(package, group))
    try:
        dated = [(name, size, changed) for name, size, changed, _ in members or ()]
        return dated == [(f"deia.{name}", *_stamp(name, package)) for name in names]
    except (ValueError, TypeError, OSError):  # torn, or without its sources
        return False


def _loaded(path: str) -> Any:
    """Return what a file of bytecode holds, or None where it is missing or torn."""
    content = files.read(path)
    if content is None:
        return None
    try:
        return marshal.loads(content)  # noqa: S302 - what the hook does with it
    except (ValueError, TypeError, EOFError):
        return None


def _content(names: tuple[str, ...], package: str) -> bytes:
    return marshal.dumps([(f"deia.{name}", *_stamp(name, package), _code(name, package)) for name in names])


def _code(name: str, package: str) -> bytes:
    path = _source(name, package)
    with open(path, "rb") as file:
        code: CodeType = compile(file.read(), path, "exec", dont_inherit=True, optimize=2)
    return marshal.dumps(code)


def _stamp(name: str, package: str) -> tuple[int, int]:
    status = os.stat(_source(name, package))
    return status.st_size, status.st_mtime_ns


def _source(name: str, package: str) -> str:
    return f"{package}/{name.replace('.', '/')}.py"
