"""Writes the bytecode that hook and search import in groups (`deia.serve.importer`), beside Python's own.

Without docstrings and assertions, which nobody asks them for. Refuses nothing: where the folder belongs to somebody
else, as it does in a system's Python, or there are no sources, they are slower and work.
"""

from __future__ import annotations

import marshal
import os
from typing import TYPE_CHECKING, Any

from deia import files
from deia.folders import PACKAGE
from deia.serve.importer import GROUPS, bytecode_path

if TYPE_CHECKING:
    from types import CodeType

IMPORTER = "importer"  # the file that `hook.py` itself runs


def keep_bytecode(package: str = PACKAGE) -> bool:
    """Write what is missing or older than its source; say whether all of it is there."""
    stale = [group for group in (IMPORTER, *GROUPS) if not _is_fresh(group, package)]
    kept = []
    try:
        for group in stale:
            dated = [_dated(name, package) for name in _names(group)]
            kept.append(files.keep(bytecode_path(package, group), marshal.dumps(dated)))
    except OSError:
        return False
    return all(kept)


def has_bytecode(package: str = PACKAGE) -> bool:
    """Say whether the hook finds all of it, none older than its source."""
    return all(_is_fresh(group, package) for group in (IMPORTER, *GROUPS))


def _source(name: str, package: str) -> str:
    return f"{package}/{name.replace('.', '/')}.py"


def _names(group: str) -> list[str]:
    return ["serve.importer"] if group == IMPORTER else GROUPS[group].split()


def _is_fresh(group: str, package: str) -> bool:
    content = files.read(bytecode_path(package, group))
    if content is None:
        return False
    try:
        held: Any = marshal.loads(content)  # noqa: S302 - what the hook does with it
        found = [(name, size, changed) for name, size, changed, _ in held]
        return found == [(f"deia.{name}", *_stamp(_source(name, package))) for name in _names(group)]
    except (ValueError, TypeError, EOFError, OSError):  # torn, or without its sources
        return False


def _stamp(path: str) -> tuple[int, int]:
    found = os.stat(path)
    return found.st_size, found.st_mtime_ns


def _dated(name: str, package: str) -> tuple[str, int, int, CodeType]:
    """Give a module's code with the size and time of the source it was made from."""
    path = _source(name, package)
    size, changed = _stamp(path)
    with open(path, "rb") as file:
        code = compile(file.read(), path, "exec", dont_inherit=True, optimize=2)
    return f"deia.{name}", size, changed, code
