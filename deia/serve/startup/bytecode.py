"""Writes the bytecode that hook and search import in groups (`deia.serve.startup.importer`), beside Python's own.

Docstrings and assertions are left out. If the files cannot be written, as in a system's Python, or if there are no
sources, hook and search still work, but slower.
"""

from __future__ import annotations

import ast
import importlib.util
import marshal
import os
from collections.abc import Iterable, Mapping
from types import CodeType

from deia import files
from deia.errors import DeiaError
from deia.folders import PACKAGE
from deia.serve.startup.import_groups import import_groups
from deia.serve.startup.importer import EXTENSIONS, bytecode_path
from deia.tables import Tables

IMPORTER = "importer"  # the group of the importer itself
BOOT = "boot"  # the file that `hook.py` itself runs, with the groups of a quiet event, so that it opens no other
QUIET = (IMPORTER, "serve.hooks.start", "serve.hooks.run")  # and the groups of the hosts
HOSTS = "serve.hosts."
SCRIPT = "serve/hook"  # the script that hosts run
MADE_SCRIPT = (
    "serve/startup/__pycache__/hook.pyc"  # the same, compiled, for the launcher: a third of a millisecond less
)
USED_EXTENSIONS = ("_json", "mmap")
GROUPS = "groups"  # the file that lists the groups


def keep_bytecode(package: str = PACKAGE) -> bool:
    """Write the groups that are missing or older than their sources; return whether all of them exist then."""
    if has_bytecode(package):
        return True
    try:
        groups = {IMPORTER: ("serve.startup.importer",), **import_groups(package)}
        contents = {group: _content(names, package) for group, names in groups.items()}
        contents[BOOT] = marshal.dumps((_code(f"serve.startup.{BOOT}", package), _handed_over(contents, package)))
        contents[GROUPS] = marshal.dumps(groups)
        kept = [files.keep(bytecode_path(package, name), content) for name, content in contents.items()]
        script = _script_head(package) + marshal.dumps(_code(SCRIPT.replace("/", "."), package))
        return files.keep(f"{package}/{MADE_SCRIPT}", script) and all(kept)
    except (OSError, SyntaxError, DeiaError):
        return False


def has_bytecode(package: str = PACKAGE) -> bool:
    """Return whether all groups exist and none is older than its sources."""
    groups = kept_groups(package)
    return (
        bool(groups)
        and all(_is_fresh(group, names, package) for group, names in groups.items())
        and _is_boot_fresh(groups, package)
    )


def kept_groups(package: str = PACKAGE) -> dict[str, tuple[str, ...]]:
    """Return the groups whose bytecode was written: the names of their modules, without `deia.`, by head."""
    groups = _loaded(bytecode_path(package, GROUPS))
    return groups if isinstance(groups, dict) else {}


def _is_fresh(group: str, names: tuple[str, ...], package: str) -> bool:
    members = _loaded(bytecode_path(package, group))
    try:
        dated = [tuple(member[:2]) for member in members] if isinstance(members, list) else []
        return dated == [(f"deia.{name}", _stamps(name, package)) for name in names]
    except (ValueError, TypeError, OSError):  # torn, or its sources are gone
        return False


def _is_boot_fresh(groups: Iterable[str], package: str) -> bool:
    booted = _loaded(bytecode_path(package, BOOT))
    contents = {group: files.read(bytecode_path(package, group)) for group in groups}
    script = files.read(f"{package}/{MADE_SCRIPT}") or b""
    try:
        is_fresh = isinstance(booted, tuple) and booted[1:] == (_handed_over(contents, package),)
        return is_fresh and script.startswith(_script_head(package))
    except OSError:  # its source is gone
        return False


def _script_head(package: str) -> bytes:
    """Return the 16 bytes before the code in a `.pyc` file (PEP 552): Python's number, no flags, time and size."""
    state = os.stat(f"{package}/{SCRIPT}.py")
    numbers = (0, int(state.st_mtime), state.st_size)
    return importlib.util.MAGIC_NUMBER + b"".join((n & 0xFFFFFFFF).to_bytes(4, "little") for n in numbers)


def _handed_over(contents: Mapping[str, bytes | None], package: str) -> dict[str, object]:
    """Return what the importer gets: the groups of a quiet event, the paths of modules in C, the stamps of `boot`."""
    quiet = {group: content for group, content in contents.items() if group in QUIET or group.startswith(HOSTS)}
    origins = {name: spec.origin for name in USED_EXTENSIONS if (spec := importlib.util.find_spec(name))}
    extensions = {name: origin for name, origin in origins.items() if origin and os.path.isabs(origin)}
    return {**quiet, EXTENSIONS: extensions, BOOT: _stamps(f"serve.startup.{BOOT}", package)}


def _loaded(path: str) -> object:
    """Return the content of a bytecode file, or None if it is missing or torn."""
    content = files.read(path)
    if content is None:
        return None
    try:
        loaded: object = marshal.loads(content)  # noqa: S302 - the hook does the same
    except (ValueError, TypeError, EOFError):
        return None
    return loaded


def _content(names: tuple[str, ...], package: str) -> bytes:
    return marshal.dumps([(f"deia.{name}", _stamps(name, package), _code(name, package)) for name in names])


def _code(name: str, package: str) -> CodeType:
    path = f"{package}/{name.replace('.', '/')}.py"
    with open(path, "rb") as file:
        tree = ast.parse(file.read(), path)
    code: CodeType = compile(_Inlined(path).visit(tree), path, "exec", dont_inherit=True, optimize=2)
    return code


class _Inlined(ast.NodeTransformer):
    """Puts a module's tables (`deia.tables`) in the place of the calls that read them."""

    def __init__(self, module: str) -> None:
        self._tables = Tables(module)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """Return the table that is read by `TABLES.words("section")` or the like, and any other call unchanged."""
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name("TABLES"), attr=read), args=[ast.Constant(section)]):
                return ast.parse(_spelled(getattr(self._tables, read)(section)), mode="eval").body
        return self.generic_visit(node)


def _spelled(table: object) -> str:
    """Return a table as an expression; one string that is split loads in three fifths of the time of its words."""
    match table:
        case dict():
            return f"{{{', '.join(f'{name!r}: {_spelled(value)}' for name, value in table.items())}}}"
        case tuple() | frozenset() if " ".join(table).split() == list(table):
            return f"{type(table).__name__}({' '.join(table)!r}.split())"
    return repr(table)


def _stamps(name: str, package: str) -> tuple[tuple[str, int, int], ...]:
    """Return path, size and time of the files that a module's bytecode is made from: its source and its tables."""
    paths = [f"/{name.replace('.', '/')}{ending}" for ending in (".py", ".txt")]
    states = [(path, os.stat(package + path)) for path in paths if path[-3:] == ".py" or os.path.exists(package + path)]
    return tuple((path, state.st_size, state.st_mtime_ns) for path, state in states)
