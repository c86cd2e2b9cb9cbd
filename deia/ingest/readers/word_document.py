"""Documents of Word: paragraphs, headings, items of lists, rows of tables and footnotes, as Markdown."""

from __future__ import annotations

from deia.ingest.readers.heading_styles import HeadingStyles, outline_level
from deia.ingest.readers.markdown_lines import MarkdownLines, spaced
from deia.ingest.readers.office_tree import WORD, read_once
from deia.records import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from xml.etree.ElementTree import Element

    from deia.ingest.readers.packages import Package

PARAGRAPH, TABLE, ROW, CELL, TEXT, BREAK = (f"{WORD}{name}" for name in ("p", "tbl", "tr", "tc", "t", "br"))
SIGNS = {f"{WORD}tab": " ", BREAK: "\n", f"{WORD}cr": "\n", f"{WORD}noBreakHyphen": "-"}
PICTURE = "{http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing}docPr"
INNER = frozenset((PARAGRAPH, TABLE, f"{WORD}trPr", f"{WORD}tcPr", f"{WORD}tblPr", f"{WORD}tblGrid", f"{WORD}sdtPr"))
DEEPEST = 100  # tables in tables


def write_document(package: Package, lines: MarkdownLines) -> None:
    """Write the text of a document."""
    root = read_once(package.xml("word/document.xml"))
    styles = HeadingStyles(package.part("word/styles.xml"))
    lines.page()
    for element in () if root is None else _blocks(root, 0):
        if element.tag == PARAGRAPH:
            _write_paragraph(element, lines, styles)
        else:
            for row in _within(element, ROW, 0):
                lines.row([_cell_text(cell) for cell in _within(row, CELL, 0)])
    notes = read_once(package.xml("word/footnotes.xml"))
    for note in () if notes is None else notes:
        lines.paragraph(spaced("".join(_text(paragraph) for paragraph in note.iter(PARAGRAPH))))
    if len(lines.pages) == 1:  # no program has laid it out, so nothing is known of its pages
        lines.pages.clear()


def _blocks(element: Element, depth: int) -> Iterator[Element]:
    """Yield the paragraphs and the tables of a document, those in content controls and text boxes, too."""
    for child in element:
        if child.tag in {PARAGRAPH, TABLE}:
            yield child
        elif depth < DEEPEST:
            yield from _blocks(child, depth + 1)


def _within(element: Element, tag: str, depth: int) -> Iterator[Element]:
    """Yield the rows of a table or the cells of a row, those in content controls, too, but none of a table in it."""
    for child in element:
        if child.tag == tag:
            yield child
        elif child.tag not in INNER and depth < DEEPEST:
            yield from _within(child, tag, depth + 1)


def _cell_text(cell: Element) -> str:
    return spaced(" ".join([_text(paragraph) for paragraph in cell.iter(PARAGRAPH)]))


def _write_paragraph(element: Element, lines: MarkdownLines, styles: HeadingStyles) -> None:
    if any(_is_page_break(descendant) for descendant in element.iter()):
        lines.page()
    style = element.find(f"{WORD}pPr/{WORD}pStyle")
    level = styles.level(style.get(f"{WORD}val", "")) if style is not None else 0
    outline = element.find(f"{WORD}pPr/{WORD}outlineLvl")
    if outline is not None:
        level = outline_level(outline.get(f"{WORD}val") or "9") or level
    text = _text(element)
    if level:
        lines.heading(level, text)
    elif text.strip():
        is_item = element.find(f"{WORD}pPr/{WORD}numPr") is not None
        lines.paragraph(f"- {spaced(text)}" if is_item else text.strip())


def _is_page_break(element: Element) -> bool:
    return element.tag == f"{WORD}lastRenderedPageBreak" or (
        element.tag == BREAK and element.get(f"{WORD}type") == "page"
    )


def _text(element: Element) -> str:
    """Return the text of a paragraph."""
    parts = []
    for node in element.iter():
        tag = node.tag
        if tag == TEXT:
            parts.append(node.text or "")
        elif tag in SIGNS:
            parts.append(SIGNS[tag])
        elif tag == PICTURE and node.get("descr"):
            parts.append(f"[{spaced(node.get('descr', ''))}]")
    return "".join(parts)
