"""Facts of source code other than Python's: what it defines and imports, and which classes inherit from which.

tree-sitter parses it. The table of `ingest/chunkers/definitions.py` says which nodes define something, `code_facts.txt`
says the rest; without the extra `code` there are no facts.
"""

from __future__ import annotations

import bisect
import functools
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from deia.graph.facts import BY_NAME, PACKAGE, Alias, Entity, Facts, Reference
from deia.graph.import_paths import KINDS, Place, ends, module_name, place_of
from deia.ingest.chunkers.definitions import COLONS, definitions
from deia.ingest.chunkers.pieces import Node, line_starts
from deia.ingest.reading import Reading, ReadingError, missing_extra
from deia.tables import Tables

TABLES = Tables(__file__)
SAME_QUERIES = {"tsx": "typescript", "c": "cpp", "cuda": "cpp"}
TYPES = {
    "module": "NAMESPACE",
    "declaration": "FUNCTION",
    "impl": "",
}  # types of entities that differ from the name of the kind
CLASSES = frozenset(
    ("CLASS", "STRUCT", "INTERFACE", "TRAIT", "RECORD", "ENUM", "OBJECT", "PROTOCOL", "TYPE", "UNION", "")
)
HEADERS = (".h", ".hh", ".hpp", ".hxx", ".inl", ".ixx", ".rb")
GENERIC = re.compile(r"<[^<>]*>")
LONGEST = 2_000_000  # characters; a longer file is not read
MOST = 20_000  # entities or references per file
LONGEST_NAME = 300


class _Capture(NamedTuple):
    kind: str
    text: str
    line: int


def code_facts(document: str, text: str, language: str) -> Facts:
    """Return what a source file defines and refers to; nothing if its language is not in the tables."""
    reading = Reading(type="code", title="", text=text, language=language)
    try:
        captures = _captures(text, language) if len(text) <= LONGEST else []
        nodes = definitions(reading, 0) if len(text) <= LONGEST else []
    except ReadingError:
        return Facts()
    place = place_of(document, language)
    package = ".".join(
        next((capture.text for capture in captures if capture.kind == "package"), "").replace("\\", ".").split()
    )
    module = module_name(place)
    spans = list(_flat(nodes, line_starts(text), language))[:MOST]
    above = package or module if language != "go" else module
    spans = [(_qualified(above, name), kind, first, last) for name, kind, first, last in spans]
    entities = [Entity(*span) for span in spans if span[1]]
    if package or language == "go":
        entities.append(Entity(package or module, PACKAGE, 1, 1, shared=True))
    references, aliases = _references(place, captures, spans)
    return Facts(
        "" if language == "go" else module,
        tuple(entities),
        tuple(dict.fromkeys(references))[:MOST],
        tuple(dict.fromkeys([*_own_aliases(document, module, place), *aliases]))[:MOST],
    )


def _flat(nodes: Iterable[Node], starts: Sequence[int], language: str) -> Iterator[tuple[str, str, int, int]]:
    """Yield the name, type, first and last line of every definition, outer ones before those inside them."""
    stack = [iter(nodes)]
    while stack:
        node = next(stack[-1], None)
        if node is None:
            stack.pop()
            continue
        name = GENERIC.sub("", node.symbol).replace("::", ".") if language in COLONS else node.symbol
        kind = TYPES.get(node.kind, node.kind.upper())
        yield name[:LONGEST_NAME], kind, bisect.bisect_right(starts, node.start), bisect.bisect_left(starts, node.end)
        stack.append(iter(node.parts))


def _references(
    place: Place, captures: Sequence[_Capture], spans: Sequence[tuple[str, str, int, int]]
) -> tuple[list[Reference], list[Alias]]:
    """Return a file's imports and base classes, and other names for what it imports."""
    own = {name.rpartition(".")[2]: name for name, *_ in reversed(spans)}
    outer = frozenset(own) | {capture.text for capture in captures if capture.kind == "module"}
    references, aliases, bound = [], [], dict[str, str]()
    for kind, text, line in captures:
        if kind in KINDS:
            inner = _modules_around(line, module_name(place), spans) if place.language == "rust" else ()
            for target, package, elsewhere in KINDS[kind](place._replace(inner=inner, own=outer), text):
                if target:
                    references.append(Reference("IMPORTS", target, line, otherwise=package))
                    bound[target.rpartition(".")[2]] = target
                else:
                    references.append(Reference("IMPORTS", package, line, target_type=PACKAGE))
                if elsewhere:
                    aliases.append(Alias(target, elsewhere))
        elif kind == "base":
            name = text.partition("<")[0].replace("::", ".").replace("\\", ".").strip(". ")
            source = next((symbol for symbol, type_, first, last in reversed(spans)
                           if first <= line <= last and type_ in CLASSES), "")  # fmt: skip
            base = own.get(name) or bound.get(name) or name
            if source and base and source != base:
                certainty = BY_NAME if base == name else "resolved"
                references.append(Reference("INHERITS", base, line, source, certainty=certainty))
    return references, aliases


def _modules_around(line: int, module: str, spans: Sequence[tuple[str, str, int, int]]) -> tuple[str, ...]:
    """Return the modules of a Rust file that enclose a line."""
    around = [name for name, kind, first, last in spans if kind == "NAMESPACE" and first <= line <= last]
    return tuple(around[-1].removeprefix(f"{module}.").split(".")) if around else ()


def _qualified(above: str, name: str) -> str:
    """Return a name with its package or module before it, unless it begins with that already."""
    return name if name.startswith(f"{above}.") or not above or name == above else f"{above}.{name}"


def _own_aliases(document: str, module: str, place: Place) -> Iterator[Alias]:
    """Yield the other names by which a file is imported."""
    if module and module != document and place.language != "go":
        yield Alias(document, module)
    if document.endswith(HEADERS):
        yield from (Alias(end, module) for end in ends(place))
    folder, slash, rest = module.removeprefix(place.source).rpartition("src/")
    if slash and place.language in {"javascript", "typescript", "tsx"} and (not folder or folder[-1] == "/"):
        yield Alias(f"{place.source}@/{rest}", module)


def _captures(text: str, language: str) -> list[_Capture]:
    """Return what a language's queries capture, in the order of the text."""
    grammar = _grammar(language)
    if grammar is None:
        return []
    from tree_sitter import QueryCursor  # noqa: PLC0415 - an extra

    parser, query = grammar
    captured = QueryCursor(query).captures(parser.parse(text.encode("utf-8", "replace")).root_node)
    captures = [
        (node.start_byte, _Capture(kind, (node.text or b"").decode("utf-8", "replace"), node.start_point.row + 1))
        for kind, nodes in captured.items() if kind[0] != "_" for node in nodes
    ]  # fmt: skip
    return [capture for _, capture in sorted(captures)][:MOST]


@functools.cache
def _grammar(language: str) -> tuple[Any, Any] | None:
    """Return a language's parser and query, None if it has none."""
    section = SAME_QUERIES.get(language, language)
    if section not in TABLES.words("kinds"):
        return None
    lines = TABLES.lines(section)
    try:
        from tree_sitter import Query  # noqa: PLC0415 - an extra
        from tree_sitter_language_pack import get_language, get_parser  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise missing_extra("code", "code") from error
    name: Any = language
    language_of = get_language(name)
    patterns = []
    for line in lines:
        try:
            Query(language_of, line)
        except (ValueError, RuntimeError):  # such as a language without classes that shares another's queries
            continue
        patterns.append(line)
    return get_parser(name), Query(language_of, "\n".join(patterns))
