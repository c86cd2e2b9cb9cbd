"""The parts of a web page: its title and description, what is no content, and the element that holds the main text."""

from __future__ import annotations

from deia.ingest.readers.markdown_lines import spaced
from deia.records import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    Node = Any  # the parser's tree, or a node of it, which is an extra

NO_CONTENT = "script style noscript template svg iframe nav footer aside form button dialog".split()
BY_ID = "#content"
MAIN: dict[str, Callable[[Node], bool]] = {  # one query finds all, so each is told from the others
    "main": lambda node: node.tag == "main",
    "[role=main]": lambda node: node.attributes.get("role") == "main",
    "article": lambda node: node.tag == "article",
    BY_ID: lambda node: (node.id or "").lower() == "content",
}
HEAD = ", ".join(("title", "meta[name=description]", "br", "img", *NO_CONTENT))
LEAST_MAIN = 0.3  # of the body's text: less than that is not the main part


def take_head(tree: Node) -> tuple[str, str]:
    """Return the title and the description, take away what is no content, and make text of line breaks and pictures.

    One query for all: each costs a sixth of parsing. What is taken away is only unlinked, so nodes in it stay valid;
    it is taken last, since nothing may be put beside a node without a parent.
    """
    found: dict[str, str] = {}
    unwanted = []
    for node in tree.css(HEAD):
        tag = node.tag
        if tag == "br":
            node.replace_with("\n")
        elif tag == "img":
            node.replace_with(f" {node.attributes.get('alt') or ''} ")
        elif tag in NO_CONTENT:
            unwanted.append(node)
        else:
            text = node.text(deep=True) if tag == "title" else node.attributes.get("content")
            found.setdefault(tag, text or "")
    for node in unwanted:
        node.decompose(recursive=False)
    return spaced(found.get("title", "")), found.get("meta", "")


def main_part(body: Node) -> Node:
    """Return the element that holds the main text: the first named one that holds enough of it, or all."""
    named = body.css(", ".join(MAIN))
    firsts = (_first(selector, named, body) for selector in MAIN)
    return next((node for node in firsts if node is not None and _holds_enough(node, body)), body)


def _first(selector: str, named: Sequence[Node], body: Node) -> Node | None:
    """Return the first of some elements that a selector means; whether an id's case counts, the parser decides."""
    first = next((node for node in named if MAIN[selector](node)), None)
    return first if first is None or selector != BY_ID else body.css_first(BY_ID)


def _holds_enough(node: Node, body: Node) -> bool:
    """Return whether an element holds enough of the body's text: its first children mostly show that it does."""
    outside, outer = 0, node
    while outer.mem_id != body.mem_id:
        inner, outer = outer.mem_id, outer.parent
        outside += sum(len(other.text(deep=True)) for other in outer.iter(True) if other.mem_id != inner)
    inside = 0
    for child in node.iter(include_text=True):
        if inside >= LEAST_MAIN * (inside + outside):
            return True
        inside += len(child.text(deep=True))
    return inside >= LEAST_MAIN * (inside + outside)
