"""What Python calls where no call is written: the methods of operators, conditions and built-in functions."""

from __future__ import annotations

import ast
from typing import Any

from deia.graph.python_paths import BUILTIN, LONGEST_NAME

UNVISITED = frozenset(("ctx", "op", "ops", "returns", "annotation", "type_comment", "simple", "kind", "level"))
CHILDREN = {
    kind: tuple(field for field in reversed(kind._fields) if field not in UNVISITED)
    for kind in vars(ast).values()
    if isinstance(kind, type) and issubclass(kind, ast.AST) and kind is not ast.Constant
}
PROPERTIES = frozenset(("property", "cached_property", "setter", "getter", "deleter", "abstractproperty"))
# Methods that are called where none is named.
OPERATIONS = {
    ast.Add: "__add__", ast.Sub: "__sub__", ast.Mult: "__mul__", ast.Div: "__truediv__", ast.FloorDiv: "__floordiv__",
    ast.Mod: "__mod__", ast.Pow: "__pow__", ast.BitOr: "__or__", ast.BitAnd: "__and__", ast.BitXor: "__xor__",
    ast.LShift: "__lshift__", ast.RShift: "__rshift__", ast.MatMult: "__matmul__",
    ast.Not: "__bool__", ast.USub: "__neg__", ast.UAdd: "__pos__", ast.Invert: "__invert__",
    ast.Eq: "__eq__", ast.NotEq: "__ne__",
    ast.Lt: "__lt__", ast.LtE: "__le__", ast.Gt: "__gt__", ast.GtE: "__ge__", ast.In: "__contains__",
    ast.NotIn: "__contains__", ast.Load: "__getitem__", ast.Store: "__setitem__", ast.Del: "__delitem__",
}  # fmt: skip
# Nodes that call such methods: operators, conditions and subscripts.
IMPLYING = frozenset((ast.BinOp, ast.UnaryOp, ast.If, ast.While, ast.IfExp, ast.BoolOp, ast.Compare, ast.Subscript))
BUILTIN_CALLS = {
    f"{BUILTIN}{name}": f"__{name}__"
    for name in "abs bool bytes dir divmod float format hash int iter len next repr reversed round str".split()
}
# These call their first argument: functions by their paths, methods of patterns by their names.
CALLING = frozenset((f"{BUILTIN}map", f"{BUILTIN}filter", "functools.reduce", "sub", "subn"))
KEY = "key"  # the argument that these call
KEYED = frozenset(f"{BUILTIN}{name}" for name in ("sorted", "min", "max")) | frozenset(
    """itertools.groupby heapq.nlargest heapq.nsmallest heapq.merge bisect.bisect bisect.bisect_left
    bisect.bisect_right bisect.insort bisect.insort_left bisect.insort_right""".split()
)
SORTING = "sort"  # the method that calls it, too


def description_of(node: Any) -> str:
    """Return the first line of a docstring."""
    first = node.body[0]
    if type(first) is ast.Expr and type(first.value) is ast.Constant and isinstance(first.value.value, str):
        return first.value.value.strip().partition("\n")[0][:LONGEST_NAME]
    return ""


def operands(node: Any) -> list[tuple[ast.expr, str]]:
    """Return the operands of which a node of `IMPLYING` calls methods without naming them, each with the method."""
    kind = type(node)
    if kind is ast.BinOp:
        return [(node.left, OPERATIONS[type(node.op)])]
    if kind is ast.UnaryOp:
        return [(node.operand, OPERATIONS[type(node.op)])]
    if kind is ast.Subscript:
        return [(node.value, OPERATIONS[type(node.ctx)])]
    if kind is ast.BoolOp:
        return [(value, OPERATIONS[ast.Not]) for value in node.values]
    if kind is ast.Compare:
        operator = type(node.ops[0])
        is_in = operator is ast.In or operator is ast.NotIn
        side = node.comparators[0] if is_in else node.left
        return [(side, OPERATIONS[operator])] if operator in OPERATIONS else []
    return [(node.test, OPERATIONS[ast.Not])]


def functions_given(node: ast.Call, path: str, method: str) -> list[ast.expr]:
    """Return the arguments that the called function, known by its path or the name of its method, calls in turn."""
    is_keyed = path in KEYED or method == SORTING
    functions = [keyword.value for keyword in node.keywords if is_keyed and keyword.arg == KEY]
    if node.args and (path in CALLING or method in CALLING):
        functions.append(node.args[0])
    return [function for function in functions if isinstance(function, ast.Name | ast.Attribute)]


def within_call(node: ast.Call) -> list[ast.AST]:
    """Return what is inside a call besides the name that is called, the last first."""
    nodes: list[ast.AST] = [*(keyword.value for keyword in node.keywords[::-1]), *node.args[::-1]]
    if isinstance(node.func, ast.Attribute):
        nodes.append(node.func.value)
    elif not isinstance(node.func, ast.Name):
        nodes.append(node.func)
    return nodes
