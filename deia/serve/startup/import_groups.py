"""Finds in the sources which modules are imported together: the groups that hook and search import from one file each.

A group is named by its head: a module that a function imports, when it needs it. It holds the head and everything that
the head imports at module level, each after what it imports itself. A head that needs a library besides Python's own
forms no group, as it costs far more than a group would save.
"""

from __future__ import annotations

import ast
import os
import sys
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

STARTED = ("serve.hooks.start", "serve.cli.quick_path")  # what the hook's file and the command import first
HOSTS = "serve/hosts"  # the module of the host that calls is imported by its name, from
CALLS_HOSTS = "serve.hooks.run"
CHEAP_LIBRARIES = ("tantivy",)  # without which no search works


def import_groups(package: str) -> dict[str, tuple[str, ...]]:
    """Return the modules of each group, by the group's head, in the order in which they can be run.

    Modules go by their name without `deia.`. A group leaves out what every process that asks for it has run before.

    Raises:
        OSError, SyntaxError: a source is not there, or is no Python.
    """
    graph = _Graph(package)
    loaded = dict[str, frozenset[str]]()  # by head: what is loaded whenever somebody asks for its group
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
    """The imports of deia's modules, read from the sources as far as somebody asks."""

    def __init__(self, package: str) -> None:
        self._package = package
        self._modules: dict[str, _Imports] = {}
        self._closures: dict[str, tuple[str, ...]] = {}

    def imports(self, name: str) -> _Imports:
        """Return what a module imports."""
        if name not in self._modules:
            self._modules[name] = _Imports(self._package, name)
        return self._modules[name]

    def closure(self, head: str) -> tuple[str, ...]:
        """Return a module behind everything that it imports at module level."""
        if head not in self._closures:
            ordered: dict[str, None] = {}
            for name in self.imports(head).at_once:
                ordered.update(dict.fromkeys(self.closure(name)))
            self._closures[head] = (*ordered, head)
        return self._closures[head]

    def is_cheap(self, head: str) -> bool:
        """Return whether a module and all that it imports need no library that costs more than a group saves."""
        return not any(self.imports(name).needs_library for name in self.closure(head))

    def hosts(self) -> list[str]:
        """Return the modules that hosts are answered by."""
        files = sorted(os.listdir(f"{self._package}/{HOSTS}"))
        return [f"{HOSTS}/{file[:-3]}".replace("/", ".") for file in files if file[-3:] == ".py" and file[0] != "_"]


class _Imports:
    """What one module imports: modules of deia by their names without `deia.`, and whether it needs a library."""

    def __init__(self, package: str, name: str) -> None:
        self._package = package
        with open(f"{package}/{name.replace('.', '/')}.py", "rb") as file:
            self._tree = ast.parse(file.read())

    @cached_property
    def at_once(self) -> list[str]:
        """The modules of deia that it imports at module level."""
        return [name[5:] for name in self._names(_outside_functions(self._tree)) if name.startswith("deia.")]

    @cached_property
    def later(self) -> list[str]:
        """The modules of deia that its functions import."""
        functions = [node for node in ast.walk(self._tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
        nodes = (node for function in functions for node in ast.walk(function))
        return [name[5:] for name in self._names(nodes) if name.startswith("deia.")]

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
    """Yield every node that runs when a module is imported, those for the type checker left out."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            continue
        if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            for other in child.orelse:
                yield other
                yield from _outside_functions(other)
            continue
        yield child
        yield from _outside_functions(child)
