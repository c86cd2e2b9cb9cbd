"""What Python code says, as its own parser reads it: definitions, imports, base classes, calls, and values.

A name is followed as far as one document tells: through imports, assignments, annotations and `self`. A target is
written as the expression that leads there: `pkg.Reader().text.strip` is what `strip` is in the attribute `text` of an
instance of `pkg.Reader`; `pkg.Reader.super().read` is looked up behind that class; `pkg.READERS[]` is what is put into
that container; `.read` is a method of something unknown; and what `from pkg import name` imports is `pkg:name`, because
only the graph tells a module from a value.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from deia.collecting import uncollected
from deia.graph.facts import BY_NAME, MODULE, Alias, Entity, Facts, Reference
from deia.graph.python_items import ADDING, PUTTING, contents_of, is_container, items_of
from deia.graph.python_modules import absolute
from deia.graph.python_paths import (
    BUILTIN,
    LONGEST_NAME,
    STARS,
    Scope,
    instance_of,
    last_name,
    lookup,
    parsed,
    path_of,
    value_of,
)  # fmt: skip
from deia.graph.python_syntax import (
    BUILTIN_CALLS,
    CALLING,
    CHILDREN,
    IMPLYING,
    PROPERTIES,
    description_of,
    functions_given,
    operands,
    within_call,
)  # fmt: skip
from deia.graph.python_uses import CALLS, Uses, methods_implied, values_used, with_guesses
from deia.graph.resolving import CLASS, COMMON, FUNCTION, ITEM, METHOD

IMPORTS, INHERITS = "IMPORTS", "INHERITS"
LONGEST = 8_000_000  # characters of a document


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
        self.values: Uses = {}  # what is used as a value
        self.implied: Uses = {}  # the methods that are called where none is named
        self.properties: set[str] = set()
        self.containers: set[str] = set()  # names of containers that are built in
        self.kinds: dict[str, str] = {}  # of what the module defines
        self.objects: set[str] = set()  # names of what is made by a call or comes out of a container
        self.waiting: list[tuple[Scope, list[ast.AST], ast.AST | None]] = []  # with the return annotation

    def read(self, tree: ast.Module) -> Facts:
        """Return the facts of the module."""
        self.waiting.append((Scope("", MODULE, {}), [*tree.body], None))
        for scope, nodes, annotation in self.waiting:  # grows while it is read
            if path := instance_of(annotation, scope):
                self._alias(f"{scope.name}()", path)
            self._walk(scope, nodes)
        known = {alias.name for alias in self.aliases}
        self.references += values_used(self.values, self.entities, self.properties, self.module)
        self.references += methods_implied(self.implied, known, self.module)
        references = with_guesses(self.references, self.entities, self.aliases)
        return Facts(self.module, tuple(self.entities), tuple(references), tuple(self.aliases))

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
                if kind in IMPLYING:
                    for operand, method in operands(node):
                        self._implied(operand, method, scope)
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
        first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
        self.entities.append(Entity(name, kind, first, node.end_lineno, description_of(node)))
        scope.names[node.name] = name
        self.kinds[name] = kind
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
        decorators = {last_name(decorator) for decorator in node.decorator_list}
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
        """Let parameters stand for instances of their annotated classes, or for their defaults."""
        plain = [*node.posonlyargs, *node.args]
        values = [*node.kw_defaults, *node.defaults[::-1]]
        for argument, value in zip([*node.kwonlyargs, *plain[::-1]], values, strict=False) if values else ():
            path = path_of(value, scope) if value else ""
            if path and not (argument.annotation or path.startswith(BUILTIN)):
                scope.names[argument.arg] = path
        for argument in filter(None, (*plain, *node.kwonlyargs, node.vararg, node.kwarg)):
            scope.names.setdefault(argument.arg, instance_of(argument.annotation, scope) if argument.annotation else "")

    # --- imports ---

    def imported(self, node: ast.Import, scope: Scope) -> None:
        for name, bound in ((alias.name, alias.asname) for alias in node.names):
            self.references.append(Reference(IMPORTS, name, node.lineno))
            scope.names[bound or name.partition(".")[0]] = name if bound else name.partition(".")[0]
            if bound and scope.kind == MODULE:
                self._alias(f"{self.module}.{bound}", name)

    def imported_from(self, node: ast.ImportFrom, scope: Scope) -> None:
        origin = absolute(self.package, node.level, node.module or "")
        if not origin:
            return
        self.references.append(Reference(IMPORTS, origin, node.lineno))
        for name, bound in ((alias.name, alias.asname or alias.name) for alias in node.names):
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
            if target[-1] in ")]":
                self.objects.add(name)

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
            for element in target.elts:
                self._bind(element, "", scope)

    def assigned(self, node: ast.Assign, scope: Scope) -> list[ast.AST]:
        pairs = [(target, node.value) for target in node.targets]
        if isinstance(node.value, ast.Tuple):
            several = [target.elts for target in node.targets if isinstance(target, ast.Tuple)]
            pairs += [pair for names in several for pair in zip(names, node.value.elts, strict=False)]
        if type(node.value) is not ast.Constant:
            self._walk(scope, [node.value])
        by_value: dict[ast.expr, tuple[str, list[str]]] = {}  # read once, however many names a value is given
        for target, value in pairs:
            if value not in by_value:
                path = value_of(value, scope)
                by_value[value] = (
                    path,
                    contents_of(value, scope) if is_container(value, path) else [*filter(None, (path,))],
                )
            path, contents = by_value[value]
            if is_container(value, path):
                self._bind_container(target, path, contents, scope)
            else:
                self._bind(target, path, scope)
                if type(target) is ast.Subscript:
                    self._fill(path_of(target, scope), contents)
        return [target for target in node.targets if not isinstance(target, ast.Name)]

    def _bind_container(self, target: ast.AST, path: str, contents: Sequence[str], scope: Scope) -> None:
        """Let a name or an attribute of `self` be a container of its own, with what is put into it."""
        if type(target) is ast.Name:
            scope.names[target.id] = self._qualified(scope, target.id)
            self.containers.add(scope.names[target.id])
        else:
            self._bind(target, path, scope)
        self._fill(path_of(target, scope), contents)

    def _fill(self, path: str, contents: Sequence[str]) -> None:
        """Let what is in a container of this module stand for what is put into it."""
        if path.startswith(f"{self.module}."):
            for content in contents:
                self._alias(f"{path.removesuffix(ITEM)}{ITEM}", content)

    def annotated(self, node: ast.AnnAssign, scope: Scope) -> list[ast.AST]:
        path = value_of(node.value, scope) if node.value else ""
        if node.value and is_container(node.value, path):
            self._bind_container(node.target, path, contents_of(node.value, scope), scope)
        else:
            self._bind(node.target, instance_of(node.annotation, scope) or path, scope)
        return [node.value] if node.value else []

    def augmented(self, node: ast.AugAssign, scope: Scope) -> list[ast.AST]:
        if is_container(node.value, value_of(node.value, scope)):
            self._fill(path_of(node.target, scope), contents_of(node.value, scope))
        return [node.value, node.target]

    def named(self, node: ast.NamedExpr, scope: Scope) -> list[ast.AST]:
        while scope.outer and scope.outer.name == scope.name:  # it binds a name outside of a comprehension
            scope = scope.outer
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
        method = function.attr if isinstance(function, ast.Attribute) else ""
        if node.keywords or path in CALLING or method in CALLING:
            for callback in functions_given(node, path, method):
                self._call(path_of(callback, scope), callback, scope)
        if node.args and (method in PUTTING or (method in ADDING and is_container(node.args[-1], ""))):
            self._fill(path.rpartition(".")[0], contents_of(node.args[-1], scope))
        if path:
            if path == "builtins.isinstance":
                self._narrow(node.args, scope)
            elif path in BUILTIN_CALLS and len(node.args) == 1:
                self._implied(node.args[0], BUILTIN_CALLS[path], scope)
            elif method not in COMMON or path.rpartition(".")[0] not in self.containers:
                self._call(self._on_self(node, path, scope), function, scope)
        elif method and method not in COMMON and method[:2] != "__":
            line = function.end_lineno or 0
            self.references.append(Reference(CALLS, f".{method}", line, scope.name, certainty=BY_NAME))
        return within_call(node)

    def _call(self, path: str, node: ast.expr, scope: Scope) -> None:
        if path and not path.startswith(BUILTIN):
            self.references.append(Reference(CALLS, path, node.end_lineno or 0, scope.name))

    def _on_self(self, node: ast.Call, path: str, scope: Scope) -> str:
        """Return a path to exactly the class that is named if its method is called with `self`, as a base's is."""
        if scope.owner and node.args and type(node.args[0]) is ast.Name and "." in path:
            head, _, last = path.rpartition(".")
            is_other = self._may_be_class(head) and not f"{head}.".startswith(f"{scope.owner}.")
            if is_other and path_of(node.args[0], scope) == f"{scope.owner}()":
                return f"{head}.__class__.{last}"
        return path

    def _may_be_class(self, path: str) -> bool:
        """Return whether a path leads to a class of the module, or to something imported that is not a known object."""
        if path in self.kinds:
            return self.kinds[path] == CLASS
        return path not in ("", self.module) and path not in self.objects and not {"(", "["} & {*path}

    def _implied(self, node: ast.expr, method: str, scope: Scope) -> None:
        """Record that a method of an object is called although it is not named."""
        if type(node) in (ast.Name, ast.Attribute, ast.Call):
            path = path_of(node, scope)
            if path and not path.startswith(BUILTIN):
                self.implied.setdefault((scope.name, f"{path}.{method}"), node.end_lineno or 0)

    def comprehension(self, node: Any, scope: Scope) -> None:
        inner = scope.inside()
        for clause in node.generators:
            self._bind_items(clause, inner)
            names = (part.id for part in ast.walk(clause.target) if type(part) is ast.Name)
            inner.names.update({name: "" for name in names if name not in inner.names})
        made = [node.key, node.value] if type(node) is ast.DictComp else [node.elt]
        self._walk(inner, [*made, *node.generators])

    def unnamed(self, node: ast.Lambda, scope: Scope) -> None:
        self.waiting.append((scope.inside(), [node.args, node.body], None))

    def _bind_items(self, node: ast.For | ast.comprehension, scope: Scope) -> None:
        """Let the names of a loop stand for what comes out of its iterable."""
        if path := items_of(node.iter, scope):
            for target in node.target.elts if isinstance(node.target, ast.Tuple) else (node.target,):
                if type(target) is ast.Name:
                    scope.names[target.id] = path

    def loop(self, node: ast.For | ast.comprehension, scope: Scope) -> list[ast.AST]:
        self._implied(node.iter, "__iter__", scope)
        self._bind_items(node, scope)
        rest = node.ifs if isinstance(node, ast.comprehension) else [*node.body, *node.orelse]
        return [*rest[::-1], node.target, node.iter]

    def _narrow(self, arguments: Sequence[ast.expr], scope: Scope) -> None:
        """Take a name for an instance of the class that it is checked against."""
        if len(arguments) == 2 and isinstance(arguments[0], ast.Name) and not path_of(arguments[0], scope):
            path = path_of(arguments[1], scope)
            if path and scope.kind == FUNCTION:
                scope.names[arguments[0].id] = f"{path}()"

    def name(self, node: ast.Name, scope: Scope) -> None:
        if type(node.ctx) is ast.Store:
            scope.names.setdefault(node.id, "")
            return
        path = lookup(node.id, scope)
        if path and path[-1] != ")" and not path.startswith(BUILTIN):
            self.values.setdefault((scope.name, path), node.lineno)

    def attribute(self, node: ast.Attribute, scope: Scope) -> tuple[ast.AST, ...]:
        path = path_of(node, scope)
        if path and not path.startswith(BUILTIN):
            self.values.setdefault((scope.name, path), node.end_lineno or 0)
        elif not path and node.attr not in COMMON:
            self.values.setdefault((scope.name, f".{node.attr}"), node.end_lineno or 0)  # which may be a property
        return () if isinstance(node.value, ast.Name) else (node.value,)


STEPS: dict[type, Any] = {
    ast.FunctionDef: _Reader.defined_function, ast.AsyncFunctionDef: _Reader.defined_function,
    ast.ClassDef: _Reader.defined_class, ast.Import: _Reader.imported, ast.ImportFrom: _Reader.imported_from,
    ast.Assign: _Reader.assigned, ast.AnnAssign: _Reader.annotated, ast.Return: _Reader.returned,
    ast.Call: _Reader.called, ast.Name: _Reader.name,
    ast.Attribute: _Reader.attribute, ast.withitem: _Reader.managed, ast.NamedExpr: _Reader.named,
    ast.ExceptHandler: _Reader.handled, ast.arguments: _Reader.parameters, ast.For: _Reader.loop,
    ast.comprehension: _Reader.loop, ast.ListComp: _Reader.comprehension, ast.SetComp: _Reader.comprehension,
    ast.GeneratorExp: _Reader.comprehension, ast.DictComp: _Reader.comprehension,
    ast.Lambda: _Reader.unnamed, ast.AugAssign: _Reader.augmented,
}  # fmt: skip
