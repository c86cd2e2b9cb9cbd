"""Web pages read the plain, slow way: each question that the reader has about a page is a query of its own."""

from __future__ import annotations

from typing import Any

from selectolax.lexbor import LexborHTMLParser

from deia.ingest.readers.html_page import BLOCKS, DEEPEST, HEADINGS, INLINE, LAYOUT, LONGEST_ADDRESS, SCHEME
from deia.ingest.readers.markdown_lines import MarkdownLines, spaced
from deia.ingest.readers.page_parts import LEAST_MAIN, MAIN, NO_CONTENT
from deia.ingest.reading import Reading

Node = Any


def read_slowly(text: str) -> Reading:
    """Return the main text of a page."""
    tree: Node = LexborHTMLParser(text)
    title, description = tree.css_first("title"), tree.css_first("meta[name=description]")
    found = {
        "lang": tree.root.attributes.get("lang") if tree.root is not None else "",
        "description": description.attributes.get("content") if description is not None else "",
    }
    name = spaced(title.text(deep=True)) if title is not None else ""
    tree.strip_tags(NO_CONTENT)
    for leaf in tree.css("br, img"):
        leaf.replace_with("\n" if leaf.tag == "br" else f" {leaf.attributes.get('alt') or ''} ")
    lines = MarkdownLines()
    if tree.body is not None:
        write(main_part(tree.body), lines, 0)
    metadata = {**{key: value for key, value in found.items() if value}, **lines.places()}
    return Reading(type="html", title=(name or lines.title or "x.html")[:200], text=lines.text(), metadata=metadata)


def main_part(body: Node) -> Node:
    """Return the element that holds the main text."""
    named = (body.css_first(selector) for selector in MAIN)
    whole = len(body.text(deep=True))
    return next((node for node in named if node and len(node.text(deep=True)) >= LEAST_MAIN * whole), body)


def write(node: Node, lines: MarkdownLines, depth: int) -> None:
    """Write the blocks of an element, and the text between them as paragraphs."""
    prefix = {"li": "" if number_of(node) is not None else "- ", "blockquote": "> "}.get(node.tag, "")
    text, links = "", []
    is_ordered = node.tag == "ol" and "reversed" not in node.attributes
    indent = lines.open_list() if is_ordered else ""
    for child in [*node.iter(include_text=True), None]:
        if child is None or is_block(child, depth):
            if child is not None and child.tag == "a":
                links += addresses([child])
            if spaced(text):
                lines.paragraph(prefix + spaced(text))
                lines.links(links)
            text, links = "", []
            if child is not None:
                number = number_of(child)
                lines.number = lines.number if number is None else f"{indent}{number}. "
                write_block(child, lines, depth)
                lines.number = lines.number if number is None else ""
        else:
            text += child.text(deep=True)
            links += addresses(child.css("a[href]"))
    if is_ordered:
        lines.close_list()


def number_of(node: Node) -> int | None:
    """Return the number of an item of an ordered list; None for any other node."""
    if node.tag != "li" or node.parent.tag != "ol" or "reversed" in node.parent.attributes:
        return None
    number = int(node.parent.attributes.get("start") or 1) - 1
    for item in node.parent.iter():
        if item.tag == "li":
            number = int(item.attributes.get("value") or number + 1)
        if item.mem_id == node.mem_id:  # two of the same markup are equal
            break
    return number


def is_block(node: Node, depth: int) -> bool:
    """Return whether an element is read as a block."""
    if node.tag in BLOCKS or node.tag in {*INLINE, "-text"} or depth >= DEEPEST:
        return node.tag in BLOCKS
    return node.css_first("p, div, li, pre, h1, h2, h3, table") is not None


def addresses(links: list[Node]) -> list[str]:
    """Return the addresses of links within the same documents."""
    found = [link.attributes.get("href") or "" for link in links]
    return [address[:LONGEST_ADDRESS] for address in found if address and not SCHEME.match(address)]


def write_block(node: Node, lines: MarkdownLines, depth: int) -> None:
    """Write one block."""
    if name := node.attributes.get("id"):
        lines.anchor(name[:LONGEST_ADDRESS])
    if node.tag in HEADINGS:
        lines.heading(HEADINGS[node.tag], node.text(deep=True).rstrip("¶# \n"))
    elif node.tag == "pre":
        lines.code(node.text(deep=True))
    elif depth >= DEEPEST:
        lines.paragraph(spaced(node.text(deep=True)))
    elif node.tag == "tr" and node.css_first(LAYOUT) is None:
        cells = [cell for cell in node.iter() if cell.tag in {"td", "th"}]
        lines.row([spaced(cell.text(deep=True, separator=" ")) for cell in cells])
    else:
        write(node, lines, depth + 1)
