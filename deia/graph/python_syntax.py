"""What Python calls where no call is written: the methods of operators, conditions and built-in functions."""

from __future__ import annotations

import ast

from deia.graph.python_paths import BUILTIN

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
BUILTIN_CALLS = {
    f"{BUILTIN}{name}": f"__{name}__"
    for name in "abs bool bytes dir divmod float format hash int iter len next repr reversed round str".split()
}
# These call what they are given first: functions by their paths, methods of patterns by their names.
CALLING = frozenset((f"{BUILTIN}map", f"{BUILTIN}filter", "functools.reduce", "sub", "subn"))
KEY = "key"  # by which argument `sorted` and others are given what they call


def functions_given(node: ast.Call, path: str, method: str) -> list[ast.expr]:
    """Return the arguments that are called by what they are given to: a path, and the name of a method or ""."""
    given = [each.value for each in node.keywords if each.arg == KEY]
    if node.args and (path in CALLING or method in CALLING):
        given.append(node.args[0])
    return [each for each in given if isinstance(each, ast.Name | ast.Attribute)]


def within_call(node: ast.Call) -> list[ast.AST]:
    """Return what is inside a call besides the name that is called, the last first."""
    nodes: list[ast.AST] = [*(each.value for each in node.keywords[::-1]), *node.args[::-1]]
    if isinstance(node.func, ast.Attribute):
        nodes.append(node.func.value)
    elif not isinstance(node.func, ast.Name):
        nodes.append(node.func)
    return nodes
