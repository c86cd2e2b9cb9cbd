"""What Python code says, as its own parser reads it: definitions, imports, base classes, calls, and values.

A name is followed as far as one document tells: through imports, assignments, annotations and `self`. A target is
written as the expression that leads there: `pkg.Reader().text.strip` is what `strip` is in the attribute `text` of an
instance of `pkg.Reader`; `pkg.Reader.super().read` is looked up behind that class; `.read` is a method of something
unknown; and what `from pkg import name` imports is `pkg:name`, because only the graph tells a module from a value.
"""

from __future__ import annotations

import ast
import builtins
import gc
from typing import TYPE_CHECKING, NamedTuple

from deia.graph.facts import BY_NAME, MODULE, Alias, Entity, Facts, Reference
from deia.graph.resolving import CLASS, COMMON, FUNCTION, METHOD

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

IMPORTS, INHERITS, CALLS, REFERENCES = "IMPORTS", "INHERITS", "CALLS", "REFERENCES"
LONGEST = 8_000_000  # characters of a document
LONGEST_NAME = 300
DEEPEST = 12  # parts of an expression that is followed
BUILTIN = "builtins."
BUILTINS = frozenset(dir(builtins))
LITERALS = {
    ast.JoinedStr: "str", ast.List: "list", ast.ListComp: "list", ast.Dict: "dict", ast.DictComp: "dict",
    ast.Set: "set", ast.SetComp: "set", ast.Tuple: "tuple", ast.GeneratorExp: "zip",
}  # fmt: skip
PROPERTIES = frozenset(("property", "cached_property", "setter", "getter", "deleter", "abstractproperty"))
# Methods that are called where none is named.
OPERATIONS = {
    ast.Add: "__add__", ast.Sub: "__sub__", ast.Mult: "__mul__", ast.Div: "__truediv__", ast.FloorDiv: "__floordiv__",
    ast.Mod: "__mod__", ast.Pow: "__pow__", ast.BitOr: "__or__", ast.BitAnd: "__and__", ast.BitXor: "__xor__",
    ast.LShift: "__lshift__", ast.RShift: "__rshift__", ast.MatMult: "__matmul__", ast.Eq: "__eq__", ast.NotEq: "__ne__",
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
    if isinstance(kind, type) and issubclass(kind, ast.AST)
}
LEAVES = frozenset((ast.Constant, ast.Pass, ast.Global, ast.Nonlocal, ast.Break, ast.Continue, ast.Load, ast.Store))


class Scope(NamedTuple):
    """A module, class or function while it is read, and what its names stand for."""

    name: str  # "" for the module
    kind: str
    names: dict[str, str]
    outer: Scope | None = None  # where names are looked up that it has not
    owner: str = ""  # the class that a method belongs to


def python_facts(document: str, text: str, module: str) -> Facts:
    """Return what a Python document says; no facts if it cannot be parsed."""
    if len(text) > LONGEST:
        return Facts()
    tree = _parsed(text, "exec")
    if not isinstance(tree, ast.Module):
        return Facts()
    stem = document.rpartition("/")[2].partition(".")[0]
    return _Reader(module or stem, is_package=stem == "__init__").read(tree)._replace(module=module)


class _Reader:
    """Reads one module: every scope in turn, each node once, outer scopes before those inside."""

    def __init__(self, module: str, *, is_package: bool) -> None:
        self.module = module
        self.package = module if is_package else module.rpartition(".")[0]
        self.stars = False
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
            if path := self._annotation(returned, scope):
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
        steps, children, leaves = STEPS, CHILDREN, LEAVES
        while nodes:
            node = nodes.pop()
            kind = type(node)
            step = steps.get(kind)
            if step:
                nodes.extend(step(self, node, scope) or ())
                continue
            for field in children.get(kind, ()):
                value = getattr(node, field)
                if type(value) is list:
                    nodes.extend(value[::-1])
                elif value.__class__ not in leaves and isinstance(value, ast.AST):
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

    def _class(self, node: ast.ClassDef, scope: Scope) -> None:
        self._walk(scope, [*node.decorator_list, *node.keywords])
        name = self._defined(node, scope, CLASS)
        for base in node.bases:
            target = self._path(base.value if isinstance(base, ast.Subscript) else base, scope)
            if target:
                self.references.append(Reference(INHERITS, target, base.lineno, name))
        self._walk(Scope(name, CLASS, {}, scope, name), [*node.body])

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef, scope: Scope) -> None:
        arguments = node.args
        self._walk(scope, [*node.decorator_list, *arguments.defaults, *filter(None, arguments.kw_defaults)])
        name = self._defined(node, scope, METHOD if scope.kind == CLASS else FUNCTION)
        decorators = {_last(each) for each in node.decorator_list}
        if decorators & PROPERTIES:
            self.properties.add(node.name)
        outer = scope.outer if scope.kind == CLASS else scope
        inner = Scope(name, FUNCTION, {}, outer, scope.owner)
        plain = [*arguments.posonlyargs, *arguments.args]
        if scope.kind == CLASS and plain and "staticmethod" not in decorators:
            of_class = "classmethod" in decorators or node.name in ("__new__", "__init_subclass__")
            inner.names[plain[0].arg] = scope.name if of_class else f"{scope.name}()"
        self.waiting.append((inner, [arguments, *node.body], node.returns))

    def _parameters(self, node: ast.arguments, scope: Scope) -> None:
        """Let parameters stand for instances of the classes that they are said to be."""
        plain = (*node.posonlyargs, *node.args, *node.kwonlyargs, node.vararg, node.kwarg)
        for each in filter(None, plain):
            scope.names.setdefault(each.arg, self._annotation(each.annotation, scope))

    # --- imports ---

    def _import(self, node: ast.Import, scope: Scope) -> None:
        for name, bound in ((each.name, each.asname) for each in node.names):
            self.references.append(Reference(IMPORTS, name, node.lineno))
            scope.names[bound or name.partition(".")[0]] = name if bound else name.partition(".")[0]
            if bound and scope.kind == MODULE:
                self._alias(f"{self.module}.{bound}", name)

    def _import_from(self, node: ast.ImportFrom, scope: Scope) -> None:
        origin = absolute(self.package, node.level, node.module or "")
        if not origin:
            return
        self.references.append(Reference(IMPORTS, origin, node.lineno))
        for name, bound in ((each.name, each.asname or each.name) for each in node.names):
            if name == "*":
                self.stars = True
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
            if self._path(target.value, scope) in (scope.owner, f"{scope.owner}()"):
                self._alias(f"{scope.owner}.{target.attr}", path)
        elif isinstance(target, ast.Tuple | ast.List):
            for each in target.elts:
                self._bind(each, "", scope)

    def _assign(self, node: ast.Assign, scope: Scope) -> list[ast.AST]:
        pairs = [(target, node.value) for target in node.targets]
        if isinstance(node.value, ast.Tuple):
            several = [each.elts for each in node.targets if isinstance(each, ast.Tuple)]
            pairs += [pair for names in several for pair in zip(names, node.value.elts, strict=False)]
        self._walk(scope, [node.value])
        for target, value in pairs:
            self._bind(target, self._value(value, scope), scope)
        return [each for each in node.targets if not isinstance(each, ast.Name)]

    def _annotated(self, node: ast.AnnAssign, scope: Scope) -> list[ast.AST]:
        path = self._annotation(node.annotation, scope) or (self._value(node.value, scope) if node.value else "")
        self._bind(node.target, path, scope)
        return [node.value] if node.value else []

    def _named(self, node: ast.NamedExpr, scope: Scope) -> list[ast.AST]:
        self._bind(node.target, self._value(node.value, scope), scope)
        return [node.value]

    def _with(self, node: ast.withitem, scope: Scope) -> list[ast.AST]:
        path = self._value(node.context_expr, scope)
        if path and not path.startswith(BUILTIN):
            source, line = scope.name, node.context_expr.lineno
            self.references += (Reference(CALLS, f"{path}.{name}", line, source) for name in ("__enter__", "__exit__"))
        if node.optional_vars:
            self._bind(node.optional_vars, path, scope)
        return [node.context_expr]

    def _handler(self, node: ast.ExceptHandler, scope: Scope) -> list[ast.AST]:
        if node.name:
            path = self._path(node.type, scope) if node.type else ""
            scope.names[node.name] = f"{path}()" if path else ""
        return [*node.body[::-1], *([node.type] if node.type else [])]

    def _return(self, node: ast.Return, scope: Scope) -> list[ast.AST]:
        if not node.value:
            return []
        if path := self._value(node.value, scope):
            self._alias(f"{scope.name}()", path)
        return [node.value]

    # --- uses ---

    def _call(self, node: ast.Call, scope: Scope) -> list[ast.AST]:
        function = node.func
        path = self._path(function, scope)
        if path:
            if not path.startswith(BUILTIN):
                self.references.append(Reference(CALLS, path, _line(node), scope.name))
            elif path == "builtins.isinstance":
                self._narrow(node.args, scope)
            elif path in BUILTIN_CALLS and len(node.args) == 1:
                self._implied(node.args[0], BUILTIN_CALLS[path], scope)
        elif isinstance(function, ast.Attribute) and function.attr not in COMMON and function.attr[:2] != "__":
            self.references.append(
                Reference(CALLS, f".{function.attr}", _line(node), scope.name, certainty=BY_NAME)
            )
        nodes: list[ast.AST] = [*(each.value for each in node.keywords[::-1]), *node.args[::-1]]
        if isinstance(function, ast.Attribute):
            nodes.append(function.value)
        elif not isinstance(function, ast.Name):
            nodes.append(function)
        return nodes

    def _implied(self, node: ast.expr, method: str, scope: Scope) -> None:
        """Keep that a method of an object is called, although it is not named."""
        if type(node) in (ast.Name, ast.Attribute, ast.Call):
            path = self._path(node, scope)
            if path and not path.startswith(BUILTIN):
                self.implicit.append(Reference(CALLS, f"{path}.{method}", node.end_lineno or 0, scope.name))

    def _operation(self, node: ast.BinOp, scope: Scope) -> tuple[ast.AST, ...]:
        self._implied(node.left, OPERATIONS[type(node.op)], scope)
        return (node.right, node.left)

    def _comparison(self, node: ast.Compare, scope: Scope) -> tuple[ast.AST, ...]:
        kind = type(node.ops[0])
        if kind in OPERATIONS:
            is_in = kind is ast.In or kind is ast.NotIn
            self._implied(node.comparators[0] if is_in else node.left, OPERATIONS[kind], scope)
        return (*node.comparators[::-1], node.left)

    def _subscript(self, node: ast.Subscript, scope: Scope) -> tuple[ast.AST, ...]:
        self._implied(node.value, OPERATIONS[type(node.ctx)], scope)
        return (node.slice, node.value)

    def _loop(self, node: ast.For | ast.comprehension, scope: Scope) -> list[ast.AST]:
        self._implied(node.iter, "__iter__", scope)
        rest = node.ifs if isinstance(node, ast.comprehension) else [*node.body, *node.orelse]
        return [*rest[::-1], node.target, node.iter]

    def _narrow(self, arguments: Sequence[ast.expr], scope: Scope) -> None:
        """Take a name for an instance of the class that it is compared with."""
        if len(arguments) == 2 and isinstance(arguments[0], ast.Name) and not self._path(arguments[0], scope):
            path = self._path(arguments[1], scope)
            if path and scope.kind == FUNCTION:
                scope.names[arguments[0].id] = f"{path}()"

    def _name(self, node: ast.Name, scope: Scope) -> None:
        if type(node.ctx) is ast.Store:
            scope.names.setdefault(node.id, "")
            return
        path = self._path(node, scope)
        if path and path[-1] != ")" and not path.startswith(BUILTIN):
            self.values.setdefault((scope.name, path), node.lineno)

    def _attribute(self, node: ast.Attribute, scope: Scope) -> tuple[ast.AST, ...]:
        path = self._path(node, scope)
        if path and not path.startswith(BUILTIN):
            self.values.setdefault((scope.name, path), node.end_lineno or 0)
        return () if isinstance(node.value, ast.Name) else (node.value,)

    # --- where expressions lead ---

    def _path(self, node: ast.AST, scope: Scope) -> str:
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
                return self._joined(self._lookup(node.id, scope), ends, scope)
            elif kind is ast.Await:
                node = node.value
            else:
                literal = LITERALS.get(kind) or (type(node.value).__name__ if kind is ast.Constant else "")
                if not literal or literal in ("NoneType", "ellipsis"):
                    return ""
                return f"{BUILTIN}{literal}(){''.join(reversed(ends))}"
        return ""

    def _joined(self, start: str, ends: list[str], scope: Scope) -> str:
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

    def _lookup(self, name: str, scope: Scope | None) -> str:
        while scope:
            if name in scope.names:
                return scope.names[name]
            scope = scope.outer
        if name in BUILTINS:
            return BUILTIN + name
        return f"{self.module}.{name}" if self.stars else ""

    def _value(self, node: ast.AST, scope: Scope) -> str:
        """Return where the value of an expression leads, the first of its choices that leads anywhere."""
        if isinstance(node, ast.BoolOp):
            return self._first(node.values, scope)
        if isinstance(node, ast.IfExp):
            return self._first((node.body, node.orelse), scope)
        return self._path(node.value if isinstance(node, ast.NamedExpr) else node, scope)

    def _first(self, nodes: Iterable[ast.AST], scope: Scope) -> str:
        return next(filter(None, (self._path(node, scope) for node in nodes)), "")

    def _annotation(self, node: ast.AST | None, scope: Scope) -> str:
        """Return where an instance of what an annotation names leads: of `X`, "X", `X | None` or `Optional[X]`."""
        while isinstance(node, ast.BinOp):
            node = node.left
        if isinstance(node, ast.Subscript):
            return self._annotation(node.slice if _last(node.value) == "Optional" else node.value, scope)
        if isinstance(node, ast.Constant):
            quoted = isinstance(node.value, str) and len(node.value) < LONGEST_NAME and not {"'", '"'} & {*node.value}
            expression = _parsed(node.value, "eval") if quoted else None
            return self._annotation(expression.body if isinstance(expression, ast.Expression) else None, scope)
        path = self._path(node, scope) if node else ""
        return f"{path}()" if path else ""


def absolute(package: str, level: int, name: str) -> str:
    """Return the full name of a module that is imported from within a package; "" if it would lie above all."""
    if not level:
        return name
    parts = package.split(".") if package else []
    if level > len(parts):
        return ""
    base = ".".join(parts[: len(parts) - level + 1])
    return f"{base}.{name}" if name else base


def _parsed(text: str, mode: str) -> ast.AST | None:
    """Return the tree of a text, or None if it is none of Python."""
    collects = gc.isenabled()
    gc.disable()  # a tree has no circles, and looking for them takes a third of the time
    try:
        return compile(text, "", mode, ast.PyCF_ONLY_AST, dont_inherit=True)  # type: ignore[no-any-return]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    finally:
        if collects:
            gc.enable()


def _line(node: ast.Call) -> int:
    """Return the line of the name that is called."""
    return node.func.end_lineno or node.lineno


def _last(node: ast.AST) -> str:
    """Return the last name of a decorator or an annotation."""
    if isinstance(node, ast.Call):
        node = node.func
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _description(node: Any) -> str:
    """Return the first line of a docstring."""
    first = node.body[0]
    if type(first) is ast.Expr and type(first.value) is ast.Constant and isinstance(first.value.value, str):
        return first.value.value.strip().partition("\n")[0][:LONGEST_NAME]
    return ""


STEPS: dict[type, Any] = {
    ast.FunctionDef: _Reader._function, ast.AsyncFunctionDef: _Reader._function, ast.ClassDef: _Reader._class,
    ast.Import: _Reader._import, ast.ImportFrom: _Reader._import_from, ast.Assign: _Reader._assign,
    ast.AnnAssign: _Reader._annotated, ast.Return: _Reader._return, ast.Call: _Reader._call, ast.Name: _Reader._name,
    ast.Attribute: _Reader._attribute, ast.withitem: _Reader._with, ast.NamedExpr: _Reader._named,
    ast.ExceptHandler: _Reader._handler, ast.arguments: _Reader._parameters, ast.BinOp: _Reader._operation,
    ast.Compare: _Reader._comparison, ast.Subscript: _Reader._subscript, ast.For: _Reader._loop,
    ast.comprehension: _Reader._loop,
}  # fmt: skip
