"""What Python code says, as its own parser reads it: definitions, imports, base classes, calls, and values.

A name is followed as far as one document tells: through imports, assignments, annotations and `self`. A target is
written as the expression that leads there: `pkg.Reader().text.strip` is what `strip` is in the attribute `text` of an
instance of `pkg.Reader`; `pkg.Reader.super().read` is looked up behind that class; `.read` is a method of something
unknown; and what `from pkg import name` imports is `pkg:name`, because only the graph tells a module from a value.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from deia.graph.collecting import uncollected
from deia.graph.facts import BY_NAME, MODULE, Alias, Entity, Facts, Reference
from deia.graph.python_paths import (
    BUILTIN,
    LONGEST_NAME,
    STARS,
    Scope,
    instance_of,
    last_name,
    parsed,
    path_of,
    value_of,
)  # fmt: skip
from deia.graph.resolving import CLASS, COMMON, FUNCTION, METHOD

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

IMPORTS, INHERITS, CALLS, REFERENCES = "IMPORTS", "INHERITS", "CALLS", "REFERENCES"
LONGEST = 8_000_000  # characters of a document
PROPERTIES = frozenset(("property", "cached_property", "setter", "getter", "deleter", "abstractproperty"))
# Methods that are called where none is named.
OPERATIONS = {
    ast.Add: "__add__", ast.Sub: "__sub__", ast.Mult: "__mul__", ast.Div: "__truediv__", ast.FloorDiv: "__floordiv__",
    ast.Mod: "__mod__", ast.Pow: "__pow__", ast.BitOr: "__or__", ast.BitAnd: "__and__", ast.BitXor: "__xor__",
    ast.LShift: "__lshift__", ast.RShift: "__rshift__", ast.MatMult: "__matmul__",
    ast.Eq: "__eq__", ast.NotEq: "__ne__",
    ast.Lt: "__lt__", ast.LtE: "__le__", ast.Gt: "__gt__", ast.GtE: "__ge__", ast.In: "__contains__",
    ast.NotIn: "__contains__", ast.Load: "__getitem__", ast.Store: "__setitem__", ast.Del: "__delitem__",
}  # fmt: skip
BUILTIN_CALLS = {
    f"{BUILTIN}{name}": f"__{name}__"
    for name in "abs bool bytes dir divmod float format hash int iter len next repr reversed round str".split()
}
UNVISITED = frozenset(("ctx", "op", "ops", "returns", "annotation", "type_comment", "simple", "kind", "level"))
CHILDREN = {
    kind: tuple(field for field in reversed(kind._fields) if field not in UNVISITED)
    for kind in vars(ast).values()
    if isinstance(kind, type) and issubclass(kind, ast.AST) and kind is not ast.Constant
}


@uncollected()
def python_facts(document: str, text: str, module: str) -> Facts:
    """Return what a Python document says; no facts if it cannot be parsed."""
    if len(text) > LONGEST:
        return Facts()
    tree = parsed(text, "exec")
    if not isinstance(tree, ast.Module):
        return Facts()
    stem = document.rpartition("/")[2].partition(".")[0]
    return _Reader(module or stem, is_package=stem == "__init__").read(tree)._replace(module=module)


class _Reader:
    """Reads one module: every scope in turn, each node once, outer scopes before those inside."""

    def __init__(self, module: str, *, is_package: bool) -> None:
        self.module = module
        self.package = module if is_package else module.rpartition(".")[0]
        self.entities: list[Entity] = []
        self.references: list[Reference] = []
        self.aliases: dict[Alias, None] = {}
        self.values: dict[tuple[str, str], int] = {}  # what is used as a value, where, and the line
        self.implicit: list[Reference] = []  # to be kept if the class of the object is known
        self.properties: set[str] = set()
        self.waiting: list[tuple[Scope, list[ast.AST], ast.AST | None]] = []  # with what is said to be returned

    def read(self, tree: ast.Module) -> Facts:
        """Return the facts of the module."""
        self.waiting.append((Scope("", MODULE, {}), [*tree.body], None))
        for scope, nodes, returned in self.waiting:  # grows while it is read
            if path := instance_of(returned, scope):
                self._alias(f"{scope.name}()", path)
            self._walk(scope, nodes)
        own = {entity.name for entity in self.entities}
        for (source, target), line in self.values.items():
            if target.rpartition(".")[2] in self.properties:
                self.references.append(Reference(CALLS, target, line, source))
            elif target in own or not target.startswith(f"{self.module}."):
                self.references.append(Reference(REFERENCES, target, line, source))
        known = {alias.name for alias in self.aliases}
        self.references += (
            each for each in self.implicit if (head := each.target.rpartition(".")[0])[-1] == ")" or head in known
        )
        return Facts(self.module, tuple(self.entities), tuple(self.references), tuple(self.aliases))

    def _walk(self, scope: Scope, nodes: list[ast.AST]) -> None:
        """Take one step for each node, in the order of the text."""
        nodes.reverse()
        steps, children = STEPS, CHILDREN
        while nodes:
            node = nodes.pop()
            kind = type(node)
            if kind in steps:
                nodes += steps[kind](self, node, scope) or ()
            elif kind in children:
                for field in children[kind]:
                    value = getattr(node, field)
                    if type(value) is list:
                        nodes += value[::-1]
                    else:
                        nodes.append(value)

    # --- definitions ---

    def _qualified(self, scope: Scope, name: str) -> str:
        return f"{scope.name or self.module}.{name}"

    def _defined(self, node: Any, scope: Scope, kind: str) -> str:
        name = self._qualified(scope, node.name)
        first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
        self.entities.append(Entity(name, kind, first, node.end_lineno, _description(node)))
        scope.names[node.name] = name
        return name

    def defined_class(self, node: ast.ClassDef, scope: Scope) -> None:
        self._walk(scope, [*node.decorator_list, *node.keywords])
        name = self._defined(node, scope, CLASS)
        for base in node.bases:
            target = path_of(base.value if isinstance(base, ast.Subscript) else base, scope)
            if target:
                self.references.append(Reference(INHERITS, target, base.lineno, name))
        self._walk(Scope(name, CLASS, {}, scope, name), [*node.body])

    def defined_function(self, node: ast.FunctionDef | ast.AsyncFunctionDef, scope: Scope) -> None:
        arguments = node.args
        self._walk(scope, [*node.decorator_list, *arguments.defaults, *filter(None, arguments.kw_defaults)])
        name = self._defined(node, scope, METHOD if scope.kind == CLASS else FUNCTION)
        decorators = {last_name(each) for each in node.decorator_list}
        if decorators & PROPERTIES:
            self.properties.add(node.name)
        outer = scope.outer if scope.kind == CLASS else scope
        inner = Scope(name, FUNCTION, {}, outer, scope.owner)
        plain = [*arguments.posonlyargs, *arguments.args]
        if scope.kind == CLASS and plain and "staticmethod" not in decorators:
            of_class = "classmethod" in decorators or node.name in ("__new__", "__init_subclass__")
            inner.names[plain[0].arg] = scope.name if of_class else f"{scope.name}()"
        self.waiting.append((inner, [arguments, *node.body], node.returns))

    def parameters(self, node: ast.arguments, scope: Scope) -> None:
        """Let parameters stand for instances of the classes that they are said to be."""
        plain = (*node.posonlyargs, *node.args, *node.kwonlyargs, node.vararg, node.kwarg)
        for each in filter(None, plain):
            scope.names.setdefault(each.arg, instance_of(each.annotation, scope))

    # --- imports ---

    def imported(self, node: ast.Import, scope: Scope) -> None:
        for name, bound in ((each.name, each.asname) for each in node.names):
            self.references.append(Reference(IMPORTS, name, node.lineno))
            scope.names[bound or name.partition(".")[0]] = name if bound else name.partition(".")[0]
            if bound and scope.kind == MODULE:
                self._alias(f"{self.module}.{bound}", name)

    def imported_from(self, node: ast.ImportFrom, scope: Scope) -> None:
        origin = absolute(self.package, node.level, node.module or "")
        if not origin:
            return
        self.references.append(Reference(IMPORTS, origin, node.lineno))
        for name, bound in ((each.name, each.asname or each.name) for each in node.names):
            if name == "*":
                scope.names[STARS] = self.module
                self._alias(f"{self.module}.*", f"{origin}.*")
                continue
            self.references.append(Reference(IMPORTS, f"{origin}:{name}", node.lineno))
            scope.names[bound] = f"{origin}.{name}"
            if scope.kind == MODULE:
                self._alias(f"{self.module}.{bound}", f"{origin}.{name}")

    # --- what names stand for ---

    def _alias(self, name: str, target: str) -> None:
        if name != target and not target.startswith(BUILTIN) and len(name) + len(target) < LONGEST_NAME:
            self.aliases[Alias(name, target)] = None

    def _bind(self, target: ast.AST, path: str, scope: Scope) -> None:
        """Let a name or an attribute of `self` stand for what an expression leads to."""
        if isinstance(target, ast.Name):
            if not path:
                scope.names.setdefault(target.id, "")
                return
            scope.names[target.id] = path
            if scope.kind != FUNCTION and not path.startswith(BUILTIN):
                scope.names[target.id] = self._qualified(scope, target.id)
                self._alias(self._qualified(scope, target.id), path)
        elif isinstance(target, ast.Attribute) and path and scope.owner and isinstance(target.value, ast.Name):
            if path_of(target.value, scope) in (scope.owner, f"{scope.owner}()"):
                self._alias(f"{scope.owner}.{target.attr}", path)
        elif isinstance(target, ast.Tuple | ast.List):
            for each in target.elts:
                self._bind(each, "", scope)

    def assigned(self, node: ast.Assign, scope: Scope) -> list[ast.AST]:
        pairs = [(target, node.value) for target in node.targets]
        if isinstance(node.value, ast.Tuple):
            several = [each.elts for each in node.targets if isinstance(each, ast.Tuple)]
            pairs += [pair for names in several for pair in zip(names, node.value.elts, strict=False)]
        self._walk(scope, [node.value])
        for target, value in pairs:
            self._bind(target, value_of(value, scope), scope)
        return [each for each in node.targets if not isinstance(each, ast.Name)]

    def annotated(self, node: ast.AnnAssign, scope: Scope) -> list[ast.AST]:
        path = instance_of(node.annotation, scope) or (value_of(node.value, scope) if node.value else "")
        self._bind(node.target, path, scope)
        return [node.value] if node.value else []

    def named(self, node: ast.NamedExpr, scope: Scope) -> list[ast.AST]:
        self._bind(node.target, value_of(node.value, scope), scope)
        return [node.value]

    def managed(self, node: ast.withitem, scope: Scope) -> list[ast.AST]:
        path = value_of(node.context_expr, scope)
        if path and not path.startswith(BUILTIN):
            source, line = scope.name, node.context_expr.lineno
            self.references += (Reference(CALLS, f"{path}.{name}", line, source) for name in ("__enter__", "__exit__"))
        if node.optional_vars:
            self._bind(node.optional_vars, path, scope)
        return [node.context_expr]

    def handled(self, node: ast.ExceptHandler, scope: Scope) -> list[ast.AST]:
        if node.name:
            path = path_of(node.type, scope) if node.type else ""
            scope.names[node.name] = f"{path}()" if path else ""
        return [*node.body[::-1], *([node.type] if node.type else [])]

    def returned(self, node: ast.Return, scope: Scope) -> list[ast.AST]:
        if not node.value:
            return []
        if path := value_of(node.value, scope):
            self._alias(f"{scope.name}()", path)
        return [node.value]

    # --- uses ---

    def called(self, node: ast.Call, scope: Scope) -> list[ast.AST]:
        function = node.func
        path = path_of(function, scope)
        if path:
            if not path.startswith(BUILTIN):
                self.references.append(Reference(CALLS, path, _line(node), scope.name))
            elif path == "builtins.isinstance":
                self._narrow(node.args, scope)
            elif path in BUILTIN_CALLS and len(node.args) == 1:
                self._implied(node.args[0], BUILTIN_CALLS[path], scope)
        elif isinstance(function, ast.Attribute) and function.attr not in COMMON and function.attr[:2] != "__":
            self.references.append(Reference(CALLS, f".{function.attr}", _line(node), scope.name, certainty=BY_NAME))
        nodes: list[ast.AST] = [*(each.value for each in node.keywords[::-1]), *node.args[::-1]]
        if isinstance(function, ast.Attribute):
            nodes.append(function.value)
        elif not isinstance(function, ast.Name):
            nodes.append(function)
        return nodes

    def _implied(self, node: ast.expr, method: str, scope: Scope) -> None:
        """Keep that a method of an object is called, although it is not named."""
        if type(node) in (ast.Name, ast.Attribute, ast.Call):
            path = path_of(node, scope)
            if path and not path.startswith(BUILTIN):
                self.implicit.append(Reference(CALLS, f"{path}.{method}", node.end_lineno or 0, scope.name))

    def operation(self, node: ast.BinOp, scope: Scope) -> tuple[ast.AST, ...]:
        self._implied(node.left, OPERATIONS[type(node.op)], scope)
        return (node.right, node.left)

    def comparison(self, node: ast.Compare, scope: Scope) -> tuple[ast.AST, ...]:
        kind = type(node.ops[0])
        if kind in OPERATIONS:
            is_in = kind is ast.In or kind is ast.NotIn
            self._implied(node.comparators[0] if is_in else node.left, OPERATIONS[kind], scope)
        return (*node.comparators[::-1], node.left)

    def subscript(self, node: ast.Subscript, scope: Scope) -> tuple[ast.AST, ...]:
        self._implied(node.value, OPERATIONS[type(node.ctx)], scope)
        return (node.slice, node.value)

    def loop(self, node: ast.For | ast.comprehension, scope: Scope) -> list[ast.AST]:
        self._implied(node.iter, "__iter__", scope)
        rest = node.ifs if isinstance(node, ast.comprehension) else [*node.body, *node.orelse]
        return [*rest[::-1], node.target, node.iter]

    def _narrow(self, arguments: Sequence[ast.expr], scope: Scope) -> None:
        """Take a name for an instance of the class that it is compared with."""
        if len(arguments) == 2 and isinstance(arguments[0], ast.Name) and not path_of(arguments[0], scope):
            path = path_of(arguments[1], scope)
            if path and scope.kind == FUNCTION:
                scope.names[arguments[0].id] = f"{path}()"

    def name(self, node: ast.Name, scope: Scope) -> None:
        if type(node.ctx) is ast.Store:
            scope.names.setdefault(node.id, "")
            return
        path = path_of(node, scope)
        if path and path[-1] != ")" and not path.startswith(BUILTIN):
            self.values.setdefault((scope.name, path), node.lineno)

    def attribute(self, node: ast.Attribute, scope: Scope) -> tuple[ast.AST, ...]:
        path = path_of(node, scope)
        if path and not path.startswith(BUILTIN):
            self.values.setdefault((scope.name, path), node.end_lineno or 0)
        return () if isinstance(node.value, ast.Name) else (node.value,)


def absolute(package: str, level: int, name: str) -> str:
    """Return the full name of a module that is imported from within a package; "" if it would lie above all."""
    if not level:
        return name
    parts = package.split(".") if package else []
    if level > len(parts):
        return ""
    base = ".".join(parts[: len(parts) - level + 1])
    return f"{base}.{name}" if name else base


def _line(node: ast.Call) -> int:
    """Return the line of the name that is called."""
    return node.func.end_lineno or node.lineno


def _description(node: Any) -> str:
    """Return the first line of a docstring."""
    first = node.body[0]
    if type(first) is ast.Expr and type(first.value) is ast.Constant and isinstance(first.value.value, str):
        return first.value.value.strip().partition("\n")[0][:LONGEST_NAME]
    return ""


STEPS: dict[type, Any] = {
    ast.FunctionDef: _Reader.defined_function, ast.AsyncFunctionDef: _Reader.defined_function,
    ast.ClassDef: _Reader.defined_class, ast.Import: _Reader.imported, ast.ImportFrom: _Reader.imported_from,
    ast.Assign: _Reader.assigned, ast.AnnAssign: _Reader.annotated, ast.Return: _Reader.returned,
    ast.Call: _Reader.called, ast.Name: _Reader.name,
    ast.Attribute: _Reader.attribute, ast.withitem: _Reader.managed, ast.NamedExpr: _Reader.named,
    ast.ExceptHandler: _Reader.handled, ast.arguments: _Reader.parameters, ast.BinOp: _Reader.operation,
    ast.Compare: _Reader.comparison, ast.Subscript: _Reader.subscript, ast.For: _Reader.loop,
    ast.comprehension: _Reader.loop,
}  # fmt: skip
