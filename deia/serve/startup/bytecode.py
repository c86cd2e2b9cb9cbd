"""Writes the bytecode that hook and search import in groups (`deia.serve.startup.importer`), beside Python's own.

Docstrings and assertions are left out. If the files cannot be written, as in a system's Python, or if there are no
sources, hook and search still work, but slower.

A group's head is a module that some function imports when needed. The group holds the head and everything that it
imports at module level, each module after those that it imports itself. A head that needs a library outside the
standard library forms no group, since the library costs far more than a group would save.
"""

from __future__ import annotations

import ast
import importlib.util
import marshal
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from types import CodeType

from deia import files
from deia.errors import DeiaError
from deia.folders import PACKAGE
from deia.serve.startup.importer import EXTENSIONS, bytecode_path
from deia.tables import Tables

STARTED = ("serve.hooks.start", "serve.cli.quick_path")  # what the hook's script and the command import first
HOSTS_FOLDER = "serve/hosts"  # the calling host's module is imported by its name …
CALLS_HOSTS = "serve.hooks.run"  # … by this one
CHEAP_LIBRARIES = ("tantivy",)  # every search needs it
IMPORTER = "importer"  # the group of the importer itself
BOOT = "boot"  # the file that `hook.py` itself runs, with the groups of a quiet event, so that it opens no other
QUIET = (IMPORTER, "serve.hooks.start", "serve.hooks.run")  # and the groups of the hosts
HOSTS = "serve.hosts."
SCRIPT = "serve/hook"  # the script that hosts run
# The same, compiled, for the launcher: a third of a millisecond less.
MADE_SCRIPT = "serve/startup/__pycache__/hook.pyc"
USED_EXTENSIONS = ("_json", "mmap")
GROUPS = "groups"  # the file that lists the groups
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")  # where statements have statements


def import_groups(package: str) -> dict[str, tuple[str, ...]]:
    """Return the modules of each group, by the group's head, in the order in which they can be run.

    Names of modules are without `deia.`. A group leaves out the modules that are always run before it. Raise OSError or
    SyntaxError if a source is missing, or is not Python.
    """
    return _groups_of(_Graph(package))


def _groups_of(graph: _Graph) -> dict[str, tuple[str, ...]]:
    loaded = dict[str, frozenset[str]]()  # by head: what is always loaded before its group
    waiting = [(start, frozenset[str]()) for start in STARTED]
    while waiting:
        head, before = waiting.pop()
        known = loaded.get(head)
        if not graph.is_cheap(head) or (known is not None and known <= before):
            continue
        loaded[head] = before if known is None else known & before
        after = loaded[head].union(graph.closure(head))
        waiting += [(later, after) for name in graph.closure(head) for later in graph.imports(name).later]
        waiting += [(host, after) for host in graph.hosts()] if head == CALLS_HOSTS else []
    return {
        head: tuple(name for name in graph.closure(head) if name not in before)
        for head, before in sorted(loaded.items())
        if head not in before
    }


class _Graph:
    """The imports of deia's modules, read from the sources on demand."""

    def __init__(self, package: str) -> None:
        self._package = package
        self._modules: dict[str, _Imports] = {}
        self._closures: dict[str, tuple[str, ...]] = {}

    def imports(self, name: str) -> _Imports:
        if name not in self._modules:
            self._modules[name] = _Imports(self._package, name)
        return self._modules[name]

    def closure(self, head: str) -> tuple[str, ...]:
        """Return a module, preceded by everything that it imports at module level."""
        if head not in self._closures:
            ordered: dict[str, None] = {}
            for name in self.imports(head).at_once:
                ordered.update(dict.fromkeys(self.closure(name)))
            self._closures[head] = (*ordered, head)
        return self._closures[head]

    def is_cheap(self, head: str) -> bool:
        """Return whether neither a module nor its imports need a library that costs more than a group saves."""
        return not any(self.imports(name).needs_library for name in self.closure(head))

    def hosts(self) -> list[str]:
        names = sorted(os.listdir(f"{self._package}/{HOSTS_FOLDER}"))
        return [f"{HOSTS}{name[:-3]}" for name in names if name[-3:] == ".py" and name[0] != "_"]


class _Imports:
    """The imports of one module: the names of deia's modules, without `deia.`, and whether it needs a library."""

    def __init__(self, package: str, name: str) -> None:
        self._package = package
        self.file = f"{package}/{name.replace('.', '/')}.py"
        with open(self.file, "rb") as file:
            self._tree = ast.parse(file.read(), self.file)

    @cached_property
    def at_once(self) -> list[str]:
        """The modules of deia that it imports at module level."""
        return [name[5:] for name in self._names(_outside_functions(self._tree)) if name.startswith("deia.")]

    @cached_property
    def code(self) -> CodeType:
        """The module's bytecode; the imports are no longer read from its tree after that."""
        tree = _Lean(self.file).visit(self._tree)
        code: CodeType = compile(tree, self.file, "exec", dont_inherit=True, optimize=2)
        return code

    @cached_property
    def later(self) -> list[str]:
        """The modules of deia that its functions import."""
        return [name[5:] for name in self._names(_inside_functions(self._tree)) if name.startswith("deia.")]

    @cached_property
    def needs_library(self) -> bool:
        """Whether it imports at module level a library that is neither Python's own nor cheap."""
        roots = {name.partition(".")[0] for name in self._names(_outside_functions(self._tree))}
        return not roots <= {"deia", *CHEAP_LIBRARIES, *sys.stdlib_module_names}

    def _names(self, nodes: Iterator[ast.AST]) -> Iterator[str]:
        for node in nodes:
            if isinstance(node, ast.Import):
                yield from (alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module:
                inner = [f"{node.module}.{alias.name}" for alias in node.names]
                modules = [name for name in inner if os.path.isfile(f"{self._path(name)}.py")]
                yield from modules
                if len(modules) < len(inner) and not os.path.isdir(self._path(node.module)):
                    yield node.module

    def _path(self, name: str) -> str:
        return f"{self._package}{name[4:].replace('.', '/')}" if name.startswith("deia.") else name


def _outside_functions(node: ast.AST) -> Iterator[ast.AST]:
    """Yield every statement that runs when a module is imported; those for the type checker are left out."""
    for child in _statements(node):
        if isinstance(child, ast.If) and _is_for_checker(child):
            for statement in child.orelse:
                yield statement
                yield from _outside_functions(statement)
        elif not isinstance(child, FUNCTIONS):
            yield child
            yield from _outside_functions(child)


def _inside_functions(node: ast.AST, *, inside: bool = False) -> Iterator[ast.AST]:
    """Yield every statement that runs when a function is called."""
    for child in _statements(node):
        if inside:
            yield child
        yield from _inside_functions(child, inside=inside or isinstance(child, FUNCTIONS))


def _statements(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the statements right below another, with the branches of a `try` or `match`; expressions hold none."""
    for block in BLOCKS:
        yield from getattr(node, block, ())


def _is_for_checker(node: ast.If) -> bool:
    return isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def keep_bytecode(package: str = PACKAGE) -> bool:
    """Write the groups that are missing or older than their sources; return whether all of them exist then."""
    if has_bytecode(package):
        return True
    try:
        graph = _Graph(package)
        groups = {IMPORTER: ("serve.startup.importer",), **_groups_of(graph)}
        contents = {group: _content(names, graph, package) for group, names in groups.items()}
        boot = graph.imports(f"serve.startup.{BOOT}").code
        contents[BOOT] = marshal.dumps((boot, _handed_over(contents, package)))
        contents[GROUPS] = marshal.dumps(groups)
        kept = [files.keep(bytecode_path(package, name), content) for name, content in contents.items()]
        script = _script_head(package) + marshal.dumps(graph.imports(SCRIPT.replace("/", ".")).code)
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


def _content(names: tuple[str, ...], graph: _Graph, package: str) -> bytes:
    return marshal.dumps([(f"deia.{name}", _stamps(name, package), graph.imports(name).code) for name in names])


class _Lean(ast.NodeTransformer):
    """Puts a module's tables (`deia.tables`) in the place of the calls that read them, and leaves the types out.

    Unmarshalling them and building the annotations of each function was a tenth of what a quiet turn costs.
    """

    def __init__(self, module: str) -> None:
        self._tables = Tables(module)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """Return the table that is read by `TABLES.words("section")` or the like, and any other call unchanged."""
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name("TABLES"), attr=read), args=[ast.Constant(section)]):
                return ast.parse(_spelled(getattr(self._tables, read)(section)), mode="eval").body
        return self.generic_visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        """Return a function without the types of its arguments and of its result."""
        for argument in ast.walk(node.args):
            if isinstance(argument, ast.arg):
                argument.annotation = None
        node.returns = None
        return self.generic_visit(node)

    def visit_If(self, node: ast.If) -> ast.AST | list[ast.stmt]:
        """Return what follows `else` if the rest is for the type checker, and any other condition unchanged."""
        if not _is_for_checker(node):
            return self.generic_visit(node)
        return [self.visit(statement) for statement in node.orelse] or ast.copy_location(ast.Pass(), node)


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
