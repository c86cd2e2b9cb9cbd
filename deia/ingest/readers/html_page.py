"""Web pages: the main text as Markdown, with headings, lists, code and the rows of tables."""

from __future__ import annotations

import re

from deia.ingest.readers.markdown_lines import MarkdownLines, spaced
from deia.ingest.readers.plain import LONGEST_TITLE, decode
from deia.ingest.reading import Reading, missing_extra
from deia.records import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    Node = Any  # the parser's tree, or a node of it, which is an extra

NO_CONTENT = "script style noscript template svg iframe nav footer aside form button dialog".split()
MAIN = ("main", "[role=main]", "article", "#content")
LEAST_MAIN = 0.3  # of the body's text: less than that is not the main part
HEADINGS = {f"h{level}": level for level in range(1, 7)}
BLOCKS = frozenset(
    "address article blockquote body caption center dd details div dl dt fieldset figcaption figure header hgroup li "
    "main ol p pre section summary table tbody td tfoot th thead tr ul hr".split()
).union(HEADINGS)
INLINE = frozenset("img br b i em strong code sub sup abbr cite kbd var samp small q u s time tt".split())
INLINE_BLOCKS = "p, div, li, pre, h1, h2, h3, table"  # an inline element that holds one of these is a block
LAYOUT = "table, pre, h1, h2, h3"  # a row that holds one of these is no row of data
DEEPEST = 200  # nested elements; below that, the text is taken as it is
SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//")
LONGEST_ADDRESS = 500
MOST_CHARSET = 1024  # bytes in which a page names its encoding


def read_html(path: str, content: bytes) -> Reading:
    """Return the main text of a page."""
    try:
        from selectolax.lexbor import LexborHTMLParser  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise missing_extra("HTML", "html") from error
    text, notes = decode(path, content)
    tree = LexborHTMLParser(text)
    head = tree.css_first("title")
    title = spaced(head.text(deep=True)) if head is not None else ""
    language = (tree.root.attributes.get("lang") if tree.root is not None else "") or ""
    description = tree.css_first("meta[name=description]")
    tree.strip_tags(NO_CONTENT)
    lines = MarkdownLines()
    main = _main(tree)
    if main is not None:
        _write(main, lines, 0)
    metadata = {
        "lang": language,
        "description": (description.attributes.get("content") or "") if description is not None else "",
    }
    return Reading(
        type="html",
        title=(title or lines.title or path.rsplit("/", 1)[-1])[:LONGEST_TITLE],
        text=lines.text(),
        metadata={**{name: value for name, value in metadata.items() if value}, **lines.places()},
        notes=notes,
    )


def _main(tree: Node) -> Node:
    """Return the element that holds the main text: the first named one that holds enough of it, or all."""
    body, whole = tree.body, 0
    for selector in MAIN if body is not None else ():
        element = tree.css_first(selector)
        if element is not None:
            whole = whole or len(body.text(deep=True))
            if len(element.text(deep=True)) >= LEAST_MAIN * whole:
                return element
    return body


def _write(node: Node, lines: MarkdownLines, depth: int) -> None:
    """Write the blocks of an element, and the text between them as paragraphs."""
    inline: list[str] = []
    links: list[str] = []
    prefix = "- " if node.tag == "li" else "> " if node.tag == "blockquote" else ""

    def flush() -> None:
        if text := " ".join("".join(inline).split()):
            lines.paragraph(prefix + text)
            lines.links(links)
        inline.clear()
        links.clear()

    for child in node.iter(include_text=True):
        tag = child.tag
        if tag == "-text":
            inline.append(child.text_content or "")
            continue
        is_block = tag in BLOCKS
        if not is_block and _has_elements(child):
            links += _addresses(child.css("a[href]"))
            is_block = tag not in INLINE and depth < DEEPEST and child.css_first(INLINE_BLOCKS) is not None
        elif tag == "a":
            links += _addresses([child])
        if is_block:
            flush()
            _write_block(child, lines, depth)
        elif tag in {"img", "br"}:
            inline.append(f" {child.attributes.get('alt') or ''} ")
        else:
            inline.append(child.text(deep=True))
    flush()


def _has_elements(node: Node) -> bool:
    """Return whether an element holds more than one text: looking costs a tenth of a query."""
    inner = node.first_child
    return inner is not None and not (inner.tag == "-text" and inner.next is None)


def _addresses(links: Sequence[Node]) -> list[str]:
    """Return the addresses of links, except those with a protocol."""
    addresses = (link.attributes.get("href") or "" for link in links)
    return [address[:LONGEST_ADDRESS] for address in addresses if address and not SCHEME.match(address)]


def _write_block(node: Node, lines: MarkdownLines, depth: int) -> None:
    tag = node.tag
    if name := node.attributes.get("id"):
        lines.anchor(name[:LONGEST_ADDRESS])
    if tag in HEADINGS:
        lines.heading(HEADINGS[tag], node.text(deep=True).rstrip("¶# \n"))
    elif tag == "pre":
        lines.code(node.text(deep=True))
    elif depth >= DEEPEST:
        lines.paragraph(spaced(node.text(deep=True)))
    elif tag == "tr" and node.css_first(LAYOUT) is None:
        cells = (cell for cell in node.iter() if cell.tag in {"td", "th"})
        lines.row([spaced(cell.text(deep=True, separator=" ")) for cell in cells])
    else:
        _write(node, lines, depth + 1)
