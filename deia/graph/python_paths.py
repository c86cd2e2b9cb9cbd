"""Where expressions of Python lead, as far as one document tells.

What an expression leads to is written as the expression that leads there, with full names: `pkg.Reader().text.strip`
is what `strip` is in the attribute `text` of an instance of `pkg.Reader`.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable
from typing import Any, NamedTuple

from deia.collecting import uncollected
from deia.graph.resolving import ITEM

LONGEST_NAME = 300
DEEPEST = 12  # parts of an expression that is followed
BUILTIN = "builtins."
BUILTINS = frozenset(dir(builtins))
HOLE = "*"  # an unknown part of a name that is made at run time
TEXT = f"{BUILTIN}str("  # begins the path of such a name: `builtins.str(do_*)`
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
    outer: Scope | None = None  # where names that it lacks are looked up
    owner: str = ""  # the class that a method belongs to

    def inside(self) -> Scope:
        """Return a scope inside this one, for a comprehension or a lambda; or this one if it is nested too deeply."""
        scope, depth = self, 1
        while scope.outer and scope.outer.name == scope.name:
            scope, depth = scope.outer, depth + 1
        return self._replace(names={}, outer=self) if depth < DEEPEST else self


def parsed(text: str, mode: str) -> Any:
    """Return the syntax tree of a text, or None if the text is not Python."""
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
        if kind is ast.Name:
            start = lookup(node.id, scope)
            return _joined(start, ends, scope) if ends else start
        if kind is ast.Attribute:
            ends.append(f".{node.attr}")
            node = node.value
        elif kind is ast.Call:
            node = _called(node, ends, scope)
        elif kind is ast.Subscript:
            if type(node.slice) is not ast.Slice and ends[-1:] != [ITEM]:
                ends.append(ITEM)
            node = node.value
        elif kind is ast.Await:
            node = node.value
        else:
            literal = LITERALS.get(kind) or (type(node.value).__name__ if kind is ast.Constant else "")
            if not literal or literal in ("NoneType", "ellipsis"):
                return ""
            return f"{BUILTIN}{literal}(){''.join(reversed(ends))}"
    return ""


def _called(node: ast.Call, ends: list[str], scope: Scope) -> ast.AST | None:
    """Append the end that a call adds to a path, and return the node that it follows."""
    function, arguments = node.func, node.args
    ends.append("()")
    if type(function) is ast.Name:
        if function.id == "type" and len(arguments) == 1:
            ends[-1] = ".__class__"
            return arguments[0]
        if function.id == "getattr" and len(arguments) > 1:
            ends[-1] = f".{pattern_of(arguments[1], scope)}"
            return arguments[0] if len(ends[-1]) > 1 else None
    elif type(function) is ast.Attribute and function.attr == "__new__" and arguments:
        return arguments[0]  # the class that is passed to it
    return function


def _joined(start: str, ends: list[str], scope: Scope) -> str:
    """Return the path of a start and its ends, the last first; what `self` has is what its class has."""
    if not start or start[0] == ".":
        return ends[0] if not start and len(ends) == 1 and HOLE in ends[0] else ""
    if start == "builtins.super" and scope.owner and ends[-1] == "()":
        start = f"{scope.owner}.super"
    elif start == f"{scope.owner}()" and ends[-1][0] in ".[":
        start = scope.owner
        if ends[-1] == ".__class__":
            ends.pop()
    path = start + "".join(reversed(ends))
    return path if len(path) < LONGEST_NAME else ""


def lookup(name: str, scope: Scope | None) -> str:
    """Return what a name stands for: in an enclosing scope, else as a built-in, else through a star import."""
    names: dict[str, str] = {}
    while scope:
        names = scope.names
        if name in names:
            return names[name]
        scope = scope.outer
    if name in BUILTINS:
        return BUILTIN + name
    return f"{names[STARS]}.{name}" if STARS in names else ""


def value_of(node: Any, scope: Scope) -> str:
    """Return where the value of an expression leads; of several choices, the first that leads anywhere."""
    kind = type(node)
    if kind is ast.BoolOp:
        return _first(node.values, scope)
    if kind is ast.IfExp:
        return _first((node.body, node.orelse), scope)
    if (kind is ast.BinOp or kind is ast.JoinedStr) and (pattern := pattern_of(node, scope)):
        return f"{TEXT}{pattern})"
    return path_of(node.value if kind is ast.NamedExpr else node, scope)


def _first(nodes: Iterable[ast.AST], scope: Scope) -> str:
    return next(filter(None, (path_of(node, scope) for node in nodes)), "")


def pattern_of(node: Any, scope: Scope) -> str:
    """Return the name that an expression makes, with `*` for each unknown part; "" if it could be any name."""
    pattern = _pattern(node, scope, DEEPEST)
    known = pattern.replace(HOLE, "")
    is_telling = known.isidentifier() and (known == pattern or len(known.strip("_")) > 1)
    return pattern if is_telling and len(pattern) < LONGEST_NAME else ""


def _pattern(node: Any, scope: Scope, depth: int) -> str:
    kind = type(node)
    if kind is ast.Constant and isinstance(node.value, str):
        return node.value.replace("%s", HOLE).replace("%d", HOLE)
    if kind is ast.Name:
        path = lookup(node.id, scope)
        is_plain = path.startswith(TEXT) and path.find(")") == len(path) - 1  # nothing is done with the text
        return path[len(TEXT) : -1] or HOLE if is_plain else HOLE
    if kind is ast.BinOp and depth:
        left = _pattern(node.left, scope, depth - 1)
        right = _pattern(node.right, scope, depth - 1) if type(node.op) is ast.Add else ""
        return left + right if right or type(node.op) is ast.Mod else HOLE
    if kind is ast.JoinedStr:
        return "".join(_pattern(part, scope, 0) if type(part) is ast.Constant else HOLE for part in node.values)
    return HOLE


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
