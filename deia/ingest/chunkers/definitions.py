"""Cut code at its functions, methods and classes, each whole with its signature, its comment and the names around it.

tree-sitter parses; `definitions.txt` says which nodes of a grammar define something. Broken code is cut, too: the
parser leaves out what it does not understand, and that becomes text between definitions. Clean Python needs no parser
(`python_code`).
"""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Iterable, Sequence
from typing import Any

from deia.ingest.chunkers.pieces import LONGEST_SIGNATURE, Definition, Node, line_starts
from deia.ingest.chunkers.python_code import python_definitions
from deia.ingest.reading import Reading, ReadingError, missing_extra

TABLE = os.path.join(os.path.dirname(__file__), "definitions.txt")
CLASSES = frozenset("class struct interface trait impl union protocol object record".split())
OPEN = ("namespace", "module", "program", "service")  # their parts are chunks of their own even if the whole would fit
SMALL = ("declaration", "macro", "property", "rule", "block", "index", "type", "enum")  # short neighbours share a chunk
COLONS = frozenset(("cpp", "c", "rust", "php", "ruby", "perl"))  # languages that write A::b
NAMES = frozenset(
    "word name constant bareword simple_word alias atom sym_lit symbol argument type_constructor IDENTIFIER".split()
)
COMMENT = ("//", "/*", "*", "--", ";", "%", "(*", "#[", "@", "///", "template")
HASH_COMMENTS = frozenset(
    "ruby bash perl r julia elixir powershell nim make cmake tcl terraform hcl graphql gdscript".split()
)
INSIDE = frozenset(("python", "starlark"))  # languages that write the comment on a definition inside it
# Characters beyond the first 65,536, in UTF-8: scanners of some grammars (D, Bash) crash at them.
ASTRAL = re.compile(rb"[\xf0-\xf7][\x80-\xbf]{3}")
DEEPEST_NAME = 3  # levels below a definition that are searched for its name


def definitions(reading: Reading, _limit: int) -> list[Node]:
    """Return the definitions of a source file, inner ones as parts of outer ones; none if the language is unknown."""
    language = reading.language
    if language not in _table():
        return []
    grammar = _grammar(language)  # also where no parser is needed: without the extra, no language is read
    rows = reading.text.split("\n")
    source = reading.text.encode("utf-8", "replace")
    captured = python_definitions(source, rows) if language == "python" else None
    if captured is None:
        captured = _captured(source, grammar)
        captured = [_without_comment(rows, parsed) for parsed in captured] if language in INSIDE else captured
    return _nested(captured, rows, line_starts(reading.text), language)


def _captured(source: bytes, grammar: tuple[Any, Any]) -> list[Definition]:
    """Return the definitions in order, each before those inside it."""
    parser, query = grammar
    from tree_sitter import QueryCursor  # noqa: PLC0415 - an extra

    captures = QueryCursor(query).captures(parser.parse(ASTRAL.sub(b"____", source)).root_node)
    nodes = [(kind, node) for kind, captured_nodes in captures.items() if kind[0] != "_" for node in captured_nodes]
    nodes.sort(key=lambda capture: (capture[1].start_byte, -capture[1].end_byte))
    captured = []
    wrapper = None
    for kind, node in nodes:
        if kind == "wrap":
            wrapper = node if wrapper is None or node.start_byte >= wrapper.end_byte else wrapper
            continue
        whole = wrapper if wrapper is not None and node.end_byte <= wrapper.end_byte else node
        wrapper = None
        first, last = whole.start_point.row, whole.end_point.row - (whole.end_point.column == 0)
        signature = _signature(node, source)
        name = ".".join(re.findall(r"[\w-]+", signature)) if kind == "block" else _name(node)
        captured.append(Definition(kind, name, first, max(first, last), signature))
    return captured


def _signature(node: Any, source: bytes) -> str:
    """Return the beginning of a definition, up to its body, on one line."""
    body = node.child_by_field_name("body")
    end = min(node.end_byte if body is None else body.start_byte, node.start_byte + LONGEST_SIGNATURE)
    head = source[node.start_byte : end].decode("utf-8", "replace")
    return " ".join((head if body is not None else head.split("{")[0].split("\n\n")[0]).split()).rstrip("{: ")


def _nested(captured: Iterable[Definition], rows: Sequence[str], starts: Sequence[int], language: str) -> list[Node]:
    """Return definitions as a tree; one that begins on the line on which another ends belongs to the other's text."""
    joint = "::" if language in COLONS else "."
    top = (Definition("", "", -1, len(rows), ""), Node(0, 0, "", ""), list[Node]())
    above = [top]
    ended = -1  # the last row of the definition that was closed last

    for definition in captured:
        while above[-1][0].last < definition.first:
            ended = _close(above)
        outer, around, _ = above[-1]
        if definition.first <= ended or definition.first == outer.first or definition.last > outer.last:
            continue
        first = _with_comment(rows, definition.first, max(ended, outer.first), language)
        kind = "method" if definition.kind == "function" and outer.kind in CLASSES else definition.kind
        symbol = f"{around.symbol}{joint}{definition.name}".removeprefix(joint)
        heading = f"{around.symbol} > {definition.signature}".removeprefix(" > ")
        start, end = starts[first], starts[definition.last] + len(rows[definition.last])
        above.append((definition, Node(start, end, kind, symbol, heading), []))
    while len(above) > 1:
        _close(above)
    return top[2]


def _close(above: list[tuple[Definition, Node, list[Node]]]) -> int:
    """Add the innermost definition to the one around it, and return its last row."""
    definition, node, parts = above.pop()
    above[-1][2].append(node._replace(parts=tuple(parts)) if parts else node)
    return definition.last


def _with_comment(rows: Sequence[str], first: int, border: int, language: str) -> int:
    """Return the row on which the comment above a definition begins, or the definition itself."""
    if language in INSIDE:
        return first
    markers = (*COMMENT, "#") if language in HASH_COMMENTS else COMMENT
    while first - 1 > border and rows[first - 1].lstrip().startswith(markers):
        first -= 1
    return first


def _without_comment(rows: Sequence[str], definition: Definition) -> Definition:
    """Return a definition without comments below it that the grammar includes because of their indent."""
    last = definition.last
    while last > definition.first and rows[last].lstrip()[:1] in {"", "#"}:
        last -= 1
    return definition if last == definition.last else definition._replace(last=last)


def _name(node: Any) -> str:
    """Return a definition's name: its name field, its innermost declarator, or the first name in it."""
    named = node.child_by_field_name("name")
    inner = node
    while named is None and (inner := inner.child_by_field_name("declarator")) is not None:
        named = None if inner.child_by_field_name("declarator") is not None else inner
    if named is None:
        named = node.child_by_field_name("type") or _first_name(node)
    receiver = node.child_by_field_name("receiver")  # of Go's methods
    owner = re.findall(r"\w+", receiver.text.decode("utf-8", "replace"))[-1:] if receiver is not None else []
    name = named.text.decode("utf-8", "replace") if named is not None else node.type
    return ".".join([*owner, " ".join(name.split())[:LONGEST_SIGNATURE]])


def _first_name(node: Any, depth: int = 0) -> Any:
    """Return the node of the first name in a definition; in Lisps and Elixir it follows the defining word."""
    children = node.named_children[:8]
    for child in children[1:] if node.type in {"call", "list_lit"} and children[1:] and not depth else children:
        name = child if child.type in NAMES or child.type.endswith(("identifier", "_name")) else None
        name = name or (_first_name(child, depth + 1) if depth < DEEPEST_NAME else None)
        if name is not None:
            return name
    return None


@functools.cache
def _table() -> dict[str, list[str]]:
    """Return the query patterns of each language."""
    table: dict[str, list[str]] = {}
    with open(TABLE, encoding="utf-8") as file:
        for line in file:
            language, _, rest = line.strip().partition(" ")
            kind, _, pattern = rest.partition(" ")
            if pattern.startswith("("):
                whole = pattern if "@@" in pattern else f"{pattern} @@"
                table.setdefault(language, []).append(whole.replace("@@", f"@{kind}"))
            elif language != "#":
                pairs = (pair.partition(":") for pair in rest.split())
                table.setdefault(language, []).extend(f"({node}) @{kind}" for kind, _, node in pairs)
    return table


@functools.cache
def _grammar(language: str) -> tuple[Any, Any]:
    """Return a language's parser and the query for its definitions."""
    try:
        from tree_sitter import Query  # noqa: PLC0415 - an extra
        from tree_sitter_language_pack import get_language, get_parser  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise missing_extra("code", "code") from error
    name: Any = language
    try:
        return get_parser(name), Query(get_language(name), "\n".join(_table()[language]))
    except (LookupError, ValueError, RuntimeError) as error:
        raise ReadingError(
            f"the installed grammar for {language} is another one", fix="pip install 'deia[code]'"
        ) from error
