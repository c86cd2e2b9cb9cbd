"""Web pages: the main text as Markdown, with headings, lists, code and the rows of tables."""

from __future__ import annotations

import re

from deia.ingest.readers.markdown_lines import MarkdownLines, spaced
from deia.ingest.readers.page_parts import main_part, take_head
from deia.ingest.readers.plain import LONGEST_TITLE, decode
from deia.ingest.reading import Reading, missing_extra
from deia.records import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    Node = Any  # the parser's tree, or a node of it, which is an extra

HEADINGS = {f"h{level}": level for level in range(1, 7)}
BLOCKS = frozenset(
    "address article blockquote body caption center dd details div dl dt fieldset figcaption figure header hgroup li "
    "main ol p pre section summary table tbody td tfoot th thead tr ul hr".split()
).union(HEADINGS)
MOST_DIGITS = 6  # of the number of an item of a list
PREFIXES = {"li": "- ", "blockquote": "> "}
INLINE = frozenset("b i em strong code sub sup abbr cite kbd var samp small q u s time tt".split())
INLINE_BLOCKS = frozenset("p div li pre h1 h2 h3 table".split())  # an inline element that holds one of these is a block
LAYOUT = "table, pre, h1, h2, h3"  # a row that holds one of these is no row of data
DEEPEST = 200  # nested elements; below that, the text is taken as it is
SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//")
LONGEST_ADDRESS = 500


def read_html(path: str, content: bytes) -> Reading:
    """Return the main text of a page."""
    try:
        from selectolax.lexbor import LexborHTMLParser  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise missing_extra("HTML", "html") from error
    text, notes = decode(path, content)
    tree = LexborHTMLParser(text)
    title, description = take_head(tree)
    language = (tree.root.attributes.get("lang") if tree.root is not None else "") or ""
    lines = MarkdownLines()
    if tree.body is not None:
        main = main_part(tree.body)
        _write(main, main.tag, lines, set(), 0)
    metadata = {"lang": language, "description": description}
    return Reading(
        type="html",
        title=(title or lines.title or path.rsplit("/", 1)[-1])[:LONGEST_TITLE],
        text=lines.text(),
        metadata={**{name: value for name, value in metadata.items() if value}, **lines.places()},
        notes=notes,
    )


def _descendants(node: Node) -> Iterator[Node]:
    """Yield the nodes in an element, in their order."""
    ahead = [node.first_child]
    while ahead:
        node = ahead.pop()
        while node is not None:
            yield node
            ahead.append(node.next)
            node = node.first_child


def _write(node: Node, tag: str, lines: MarkdownLines, holders: set[int], depth: int) -> None:
    """Write the blocks of an element, and the text between them as paragraphs.

    In `holders` are elements that are known to hold a block, so that nested ones are not searched again and again.
    """
    inline: list[str] = []
    links: list[str] = []
    prefix, number, indent = PREFIXES.get(tag, ""), None, ""
    if tag == "ol" and (number := _first_number(node)) is not None:
        indent = lines.open_list()
    for child in node.iter(include_text=True):
        if (text := child.text_content) is not None:
            if inline or not text.isspace():
                inline.append(text)
            continue
        tag = child.tag
        if _is_block(child, tag, links, holders, depth):
            if inline or links:
                _write_paragraph(prefix, inline, links, lines)
                inline, links = [], []
            if number is None or tag != "li":
                _write_block(child, tag, lines, holders, depth)
            else:
                number = _begin_item(child, number, indent, lines)
                _write_block(child, "", lines, holders, depth)  # not as an item without a number
                lines.number = ""
        else:
            inline.append(child.text(deep=True))
    if inline:
        _write_paragraph(prefix, inline, links, lines)
    if number is not None:
        lines.close_list()


def _begin_item(item: Node, number: int, indent: str, lines: MarkdownLines) -> int:
    """Have the next paragraph show the number of an item, which may have another one than its turn; return the next."""
    if value := item.attributes.get("value"):
        number = _number_of(value, number)
    lines.number = f"{indent}{number}. "
    return number + 1


def _first_number(ordered: Node) -> int | None:
    """Return the number of the first item of a list, or None if they count down from how many there are."""
    attributes = ordered.attributes
    return None if "reversed" in attributes else _number_of(attributes.get("start") or "", 1)


def _number_of(text: str, usual: int) -> int:
    """Return the number that a text is, or the usual one."""
    text = text.strip()
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= MOST_DIGITS else usual


def _write_paragraph(prefix: str, inline: Sequence[str], links: Sequence[str], lines: MarkdownLines) -> None:
    if text := " ".join("".join(inline).split()):
        lines.paragraph(prefix + text)
        if links:
            lines.links(links)


def _is_block(node: Node, tag: str, links: list[str], holders: set[int], depth: int) -> bool:
    """Return whether an element is read as a block, as one that holds blocks mostly is; if not, note its links."""
    if tag in BLOCKS:
        return True
    if tag == "a":
        links += _addresses(node)
    inner = node.first_child
    if inner is None or (inner.text_content is not None and inner.next is None):
        return False
    may_be = tag not in INLINE and depth < DEEPEST
    if may_be and node.mem_id in holders:
        return True
    inside: list[str] = []
    for inner in _descendants(node):
        tag = inner.tag
        if tag == "a":
            inside += _addresses(inner)
        elif may_be and tag in INLINE_BLOCKS:
            _note_holders(inner, node, holders)
            return True
    links += inside
    return False


def _note_holders(block: Node, outermost: Node, holders: set[int]) -> None:
    """Note the elements around a block, up to the one in which it was found."""
    last = outermost.mem_id
    while block.mem_id != last:
        block = block.parent
        holders.add(block.mem_id)


def _addresses(link: Node) -> Sequence[str]:
    """Return the address of a link, unless it has a protocol or there is none."""
    address = link.attributes.get("href")
    return () if not address or SCHEME.match(address) else (address[:LONGEST_ADDRESS],)


def _write_block(node: Node, tag: str, lines: MarkdownLines, holders: set[int], depth: int) -> None:
    if name := node.id:
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
        _write(node, tag, lines, holders, depth + 1)
