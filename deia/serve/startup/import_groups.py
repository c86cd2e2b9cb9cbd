"""Finds the modules that are imported together, so that hook and search can import each group from one file.

The head of a group is a module that some function imports when needed. The group holds the head and everything that it
imports at module level, each module after those that it imports itself. A head that needs a library outside the
standard library forms no group, since the library costs far more than a group would save.
"""

from __future__ import annotations

import ast
import os
import sys
from collections.abc import Iterator
from functools import cached_property

STARTED = ("serve.hooks.start", "serve.cli.quick_path")  # what the hook's script and the command import first
HOSTS = "serve/hosts"  # the calling host's module is imported by its name …
CALLS_HOSTS = "serve.hooks.run"  # … by this one
CHEAP_LIBRARIES = ("tantivy",)  # every search needs it


def import_groups(package: str) -> dict[str, tuple[str, ...]]:
    """Return the modules of each group, by the group's head, in the order in which they can be run.

    Names of modules are without `deia.`. A group leaves out the modules that are always run before it. Raise OSError or
    SyntaxError if a source is missing, or is not Python.
    """
    graph = _Graph(package)
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
        """Return what a module imports."""
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
        """Return the modules of the hosts."""
        files = sorted(os.listdir(f"{self._package}/{HOSTS}"))
        return [f"{HOSTS}/{file[:-3]}".replace("/", ".") for file in files if file[-3:] == ".py" and file[0] != "_"]


class _Imports:
    """The imports of one module: the names of deia's modules, without `deia.`, and whether it needs a library."""

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
    """Yield every node that runs when a module is imported; those for the type checker are left out."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            continue
        if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            for statement in child.orelse:
                yield statement
                yield from _outside_functions(statement)
            continue
        yield child
        yield from _outside_functions(child)
