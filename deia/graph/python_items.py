"""What is in containers, as far as one document of Python tells: what is put into them, and what comes out.

A container may hold several kinds of things, and which of them comes out at a place is unknown. What one of them
leads to is written as the path of the container followed by `[]`, however deeply it is nested in there.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import islice

from deia.graph.python_paths import BUILTIN, Scope, path_of, value_of
from deia.graph.resolving import ITEM, MOST_ITEMS

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
    """Return where the items that come out of an expression lead; "" if that is unknown or built in."""
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
    """Return where the things that an expression puts into a container lead, up to `MOST_ITEMS` of them."""
    return [*islice(dict.fromkeys(filter(None, _contents(node, scope))), MOST_ITEMS)]


def _contents(node: ast.expr, scope: Scope) -> Iterator[str]:
    """Yield where each thing that an expression puts into a container leads."""
    waiting = [node]
    while waiting:
        expression = waiting.pop()
        kind = type(expression)
        if kind in PARTS:
            parts = getattr(expression, PARTS[kind])
            waiting += parts[::-1] if isinstance(parts, list) else [parts]
        elif isinstance(expression, ast.Call) and path_of(expression, scope) in CONTAINERS:
            yield from (items_of(argument, scope) for argument in expression.args)
            waiting += [argument.value for argument in expression.keywords[::-1]]
        else:
            yield value_of(expression, scope)
