"""What is in containers, as far as one document of Python tells: what is put into them, and what comes out.

A container need not have one kind of things in it, and which of them comes out at a place is not told. What one of
them leads to is written as the path of the container with `[]` behind it, however deep they lie in there.
"""

from __future__ import annotations

import ast
from itertools import islice
from typing import TYPE_CHECKING

from deia.graph.python_paths import BUILTIN, path_of, value_of
from deia.graph.resolving import ITEM, MOST_ITEMS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from deia.graph.python_paths import Scope

CONTAINERS = frozenset(f"{BUILTIN}{name}()" for name in ("dict", "list", "set", "tuple"))
PASSING = frozenset(f"{BUILTIN}{name}" for name in "enumerate iter list reversed set sorted tuple".split())
PUTTING = frozenset(("add", "append", "appendleft", "insert", "setdefault"))  # the last argument of these methods
ADDING = frozenset(("extend", "update"))  # what is in the argument of these is put in
ITERATED = frozenset(("items", "values"))
PARTS = {
    ast.Dict: "values", ast.List: "elts", ast.Set: "elts", ast.Tuple: "elts", ast.ListComp: "elt", ast.SetComp: "elt",
    ast.DictComp: "value",
}  # fmt: skip


def items_of(node: ast.expr, scope: Scope) -> str:
    """Return where what comes out of something leads, one by one; "" if that is unknown or built in."""
    while isinstance(node, ast.Call):
        if isinstance(node.func, ast.Attribute) and node.func.attr in ITERATED:
            node = node.func.value
        elif node.args and path_of(node.func, scope) in PASSING:
            node = node.args[0]
        else:
            break
    path = path_of(node, scope)
    return f"{path.removesuffix(ITEM)}{ITEM}" if path and not path.startswith(BUILTIN) else ""


def is_container(node: ast.expr, path: str) -> bool:
    """Return whether an expression, which leads to a path, makes a container that is built in."""
    return type(node) in PARTS or path in CONTAINERS


def contents_of(node: ast.expr, scope: Scope) -> list[str]:
    """Return where the things lead that an expression puts into a container, up to a number of them."""
    return [*islice(dict.fromkeys(filter(None, _contents(node, scope))), MOST_ITEMS)]


def _contents(node: ast.expr, scope: Scope) -> Iterator[str]:
    """Yield where each thing leads that an expression puts into a container."""
    waiting = [node]
    while waiting:
        each = waiting.pop()
        kind = type(each)
        if kind in PARTS:
            parts = getattr(each, PARTS[kind])
            waiting += parts[::-1] if isinstance(parts, list) else [parts]
        elif isinstance(each, ast.Call) and path_of(each, scope) in CONTAINERS:
            yield from (items_of(argument, scope) for argument in each.args)
            waiting += [argument.value for argument in each.keywords[::-1]]
        else:
            yield value_of(each, scope)
