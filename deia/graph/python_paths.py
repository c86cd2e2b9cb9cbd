"""Where expressions of Python lead, as far as one document tells.

What an expression leads to is written as the expression that leads there, with full names: `pkg.Reader().text.strip`
is what `strip` is in the attribute `text` of an instance of `pkg.Reader`.
"""

from __future__ import annotations

import ast
import builtins
from typing import TYPE_CHECKING, NamedTuple

from deia.graph.collecting import uncollected

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

LONGEST_NAME = 300
DEEPEST = 12  # parts of an expression that is followed
BUILTIN = "builtins."
BUILTINS = frozenset(dir(builtins))
STARS = "*"  # among the names of a module, stands for the module if it imports all of another
LITERALS = {
    ast.JoinedStr: "str", ast.List: "list", ast.ListComp: "list", ast.Dict: "dict", ast.DictComp: "dict",
    ast.Set: "set", ast.SetComp: "set", ast.Tuple: "tuple", ast.GeneratorExp: "zip",
}  # fmt: skip


class Scope(NamedTuple):
    """A module, class or function while it is read, and what its names stand for."""

    name: str  # "" for the module
    kind: str
    names: dict[str, str]
    outer: Scope | None = None  # where names are looked up that it has not
    owner: str = ""  # the class that a method belongs to


def parsed(text: str, mode: str) -> Any:
    """Return the tree of a text, or None if it is none of Python."""
    with uncollected():
        try:
            return compile(text, "", mode, ast.PyCF_ONLY_AST, dont_inherit=True)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None


def path_of(node: Any, scope: Scope) -> str:
    """Return where names, attributes and calls lead; "" if that is unknown."""
    ends: list[str] = []
    while len(ends) < DEEPEST:
        kind = type(node)
        if kind is ast.Attribute:
            ends.append(f".{node.attr}")
            node = node.value
        elif kind is ast.Call:
            ends.append("()")
            if type(node.func) is ast.Name and node.func.id == "type" and len(node.args) == 1:
                ends[-1] = ".__class__"
                node = node.args[0]
            elif type(node.func) is ast.Attribute and node.func.attr == "__new__" and node.args:
                node = node.args[0]  # of the class that is given to it
            else:
                node = node.func
        elif kind is ast.Name:
            return _joined(_lookup(node.id, scope), ends, scope)
        elif kind is ast.Await:
            node = node.value
        else:
            literal = LITERALS.get(kind) or (type(node.value).__name__ if kind is ast.Constant else "")
            if not literal or literal in ("NoneType", "ellipsis"):
                return ""
            return f"{BUILTIN}{literal}(){''.join(reversed(ends))}"
    return ""


def _joined(start: str, ends: list[str], scope: Scope) -> str:
    """Return a path of its start and, in turned order, its ends; what `self` has is what its class has."""
    if not start or not ends:
        return start
    if start == "builtins.super" and scope.owner and ends[-1] == "()":
        start = f"{scope.owner}.super"
    elif start == f"{scope.owner}()" and ends[-1][0] == ".":
        start = scope.owner
        if ends[-1] == ".__class__":
            ends.pop()
    path = start + "".join(reversed(ends))
    return path if len(path) < LONGEST_NAME else ""


def _lookup(name: str, scope: Scope | None) -> str:
    """Return what a name stands for: what encloses it says, else it is built in, else a star may have brought it."""
    names: dict[str, str] = {}
    while scope:
        names = scope.names
        if name in names:
            return names[name]
        scope = scope.outer
    if name in BUILTINS:
        return BUILTIN + name
    return f"{names[STARS]}.{name}" if STARS in names else ""


def value_of(node: ast.AST, scope: Scope) -> str:
    """Return where the value of an expression leads, the first of its choices that leads anywhere."""
    if isinstance(node, ast.BoolOp):
        return _first(node.values, scope)
    if isinstance(node, ast.IfExp):
        return _first((node.body, node.orelse), scope)
    return path_of(node.value if isinstance(node, ast.NamedExpr) else node, scope)


def _first(nodes: Iterable[ast.AST], scope: Scope) -> str:
    return next(filter(None, (path_of(node, scope) for node in nodes)), "")


def instance_of(node: ast.AST | None, scope: Scope) -> str:
    """Return where an instance of what an annotation names leads: of `X`, "X", `X | None` or `Optional[X]`."""
    while isinstance(node, ast.BinOp):
        node = node.left
    if isinstance(node, ast.Subscript):
        return instance_of(node.slice if last_name(node.value) == "Optional" else node.value, scope)
    if isinstance(node, ast.Constant):
        text = node.value if isinstance(node.value, str) else ""
        is_plain = 0 < len(text) < LONGEST_NAME and not {"'", '"'} & {*text}  # nothing in it is quoted again
        expression = parsed(text, "eval") if is_plain else None
        return instance_of(expression.body, scope) if expression else ""
    path = path_of(node, scope) if node else ""
    return f"{path}()" if path else ""


def last_name(node: ast.AST) -> str:
    """Return the last name of a decorator or an annotation."""
    if isinstance(node, ast.Call):
        node = node.func
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
