"""Office files: documents and presentations from their XML, spreadsheets by python-calamine, all as Markdown."""

from __future__ import annotations

import io
import re

from deia.ingest.readers.markdown_lines import MarkdownLines, spaced
from deia.ingest.readers.packages import Package
from deia.ingest.reading import Reading, ReadingError, missing_extra
from deia.records import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from xml.etree.ElementTree import Element

WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
DRAWING = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
SLIDES = "{http://schemas.openxmlformats.org/presentationml/2006/main}"
TABLE, PICTURED, SHAPE = SHOWN = (f"{DRAWING}tbl", f"{SLIDES}pic", f"{SLIDES}sp")  # of a slide
BREAKS = {f"{DRAWING}t": "", f"{DRAWING}br": "\n"}  # what has text, and what stands behind it
RELATION = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
PICTURE = "{http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing}docPr"
FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
CORE = {
    "{http://purl.org/dc/elements/1.1/}title": "title",
    "{http://purl.org/dc/elements/1.1/}creator": "author",
    "{http://purl.org/dc/terms/}modified": "modified",
}
STYLE = re.compile(rb'<(?:\w+:)?style\b[^>]*?styleId="([^"]*)"[^>]*>\s*<(?:\w+:)?name\b[^>]*?val="([^"]*)"')
HEADING_STYLE = re.compile(r"(?:heading|title|subtitle)\s*([1-9]?)", re.IGNORECASE)
DEEPEST = 100  # tables in tables
MOST_CELLS = 5_000_000


def read_office(path: str, content: bytes) -> Reading:
    """Return a document, a presentation or a spreadsheet, whichever the archive contains."""
    package = Package(path, content)
    lines = MarkdownLines()
    if "word/document.xml" in package.names:
        _write_document(package, lines)
    elif "ppt/presentation.xml" in package.names:
        _write_slides(package, lines)
    elif any(name.startswith("xl/workbook.") for name in package.names):
        package.refuse_bombs()
        _write_sheets(path, content, lines)
    else:
        raise ReadingError("it is an archive, but no document, presentation or spreadsheet", where=path)
    core = package.xml("docProps/core.xml")
    fields = {} if core is None else {CORE[child.tag]: spaced(child.text or "") for child in core if child.tag in CORE}
    title = fields.pop("title", "") or lines.title or path.rsplit("/", 1)[-1]
    metadata = {name: value for name, value in fields.items() if value}
    return Reading(type="office", title=title, text=lines.text(), pages=tuple(lines.pages), metadata=metadata)


# --- documents ---


def _write_document(package: Package, lines: MarkdownLines) -> None:
    root = package.xml("word/document.xml")
    levels = _heading_levels(package.part("word/styles.xml"))
    lines.page()
    for element in () if root is None else _blocks(root, 0):
        if element.tag == f"{WORD}p":
            _write_paragraph(element, lines, levels)
        else:
            for row in element.iter(f"{WORD}tr"):
                cells = (cell for cell in row if cell.tag == f"{WORD}tc")
                lines.row([spaced(" ".join(_text(paragraph) for paragraph in cell.iter(f"{WORD}p"))) for cell in cells])
    notes = package.xml("word/footnotes.xml")
    for note in () if notes is None else notes:
        lines.paragraph(spaced("".join(_text(paragraph) for paragraph in note.iter(f"{WORD}p"))))
    if len(lines.pages) == 1:  # no program has laid it out, so nothing is known of its pages
        lines.pages.clear()


def _blocks(element: Element, depth: int) -> Iterator[Element]:
    """Yield the paragraphs and the tables of a document, those in content controls and text boxes, too."""
    for child in element:
        if child.tag in {f"{WORD}p", f"{WORD}tbl"}:
            yield child
        elif child.tag != FALLBACK and depth < DEEPEST:
            yield from _blocks(child, depth + 1)


def _write_paragraph(element: Element, lines: MarkdownLines, levels: dict[str, int]) -> None:
    if any(_is_page_break(descendant) for descendant in element.iter()):
        lines.page()
    style = element.find(f"{WORD}pPr/{WORD}pStyle")
    level = levels.get(style.get(f"{WORD}val", ""), 0) if style is not None else 0
    outline = element.find(f"{WORD}pPr/{WORD}outlineLvl")
    if outline is not None and (outline.get(f"{WORD}val") or "9") in "012345":
        level = int(outline.get(f"{WORD}val") or 0) + 1
    text = _text(element)
    if level:
        lines.heading(level, text)
    elif text.strip():
        is_item = element.find(f"{WORD}pPr/{WORD}numPr") is not None
        lines.paragraph(f"- {spaced(text)}" if is_item else text.strip())


def _heading_levels(styles: bytes) -> dict[str, int]:
    """Return the level of each style that is a heading; its name is English whatever its id.

    The styles are often ten times as long as the text, so they are searched and not parsed.
    """
    levels = {}
    for style in STYLE.finditer(styles):
        match = HEADING_STYLE.fullmatch(style[2].decode("utf-8", "replace"))
        if match:
            levels[style[1].decode("utf-8", "replace")] = int(match[1] or 1)
    return levels


def _is_page_break(element: Element) -> bool:
    return element.tag == f"{WORD}lastRenderedPageBreak" or (
        element.tag == f"{WORD}br" and element.get(f"{WORD}type") == "page"
    )


def _text(element: Element) -> str:
    """Return the text of a paragraph; deleted text is in other elements, and left out."""
    parts = []
    for node in element.iter():
        if node.tag == f"{WORD}t":
            parts.append(node.text or "")
        elif node.tag == f"{WORD}tab":
            parts.append(" ")
        elif node.tag == f"{WORD}br":
            parts.append("\n")
        elif node.tag == PICTURE and node.get("descr"):
            parts.append(f"[{spaced(node.get('descr', ''))}]")
    return "".join(parts)


# --- presentations ---


def _write_slides(package: Package, lines: MarkdownLines) -> None:
    root = package.xml("ppt/presentation.xml")
    parts = package.relations("ppt/presentation.xml")
    ids = [] if root is None else [slide_id.get(RELATION, "") for slide_id in root.iter(f"{SLIDES}sldId")]
    for number, name in enumerate((parts.get(slide_id, "") for slide_id in ids), 1):
        slide = package.xml(name)
        lines.page()
        for shape in () if slide is None else slide.iter():
            if shape.tag in SHOWN:
                _write_shape(shape, lines, number)
        for part in package.relations(name).values():
            notes = package.xml(part) if "notesSlide" in part else None
            for shape in () if notes is None else notes.iter(SHAPE):
                if _placeholder(shape) == "body":
                    lines.paragraph(_shape_text(shape))


def _write_shape(shape: Element, lines: MarkdownLines, number: int) -> None:
    if shape.tag == TABLE:
        for row in shape.iter(f"{DRAWING}tr"):
            lines.row([spaced(_shape_text(cell)) for cell in row.iter(f"{DRAWING}tc")])
    elif shape.tag == PICTURED:
        picture = next(shape.iter(f"{SLIDES}cNvPr"), None)
        alt = spaced(picture.get("descr", "")) if picture is not None else ""
        lines.paragraph(f"[{alt}]" if alt else "")
    elif _placeholder(shape) in {"title", "ctrTitle"}:
        lines.heading(1 if number == 1 else 2, _shape_text(shape))
    elif _placeholder(shape) not in {"sldNum", "dt", "ftr"}:
        lines.paragraph(_shape_text(shape))


def _placeholder(shape: Element) -> str:
    placeholder = next(shape.iter(f"{SLIDES}ph"), None)
    return placeholder.get("type", "body") if placeholder is not None else ""


def _shape_text(element: Element) -> str:
    paragraphs = (
        "".join([(node.text or "") + BREAKS[node.tag] for node in paragraph.iter() if node.tag in BREAKS])
        for paragraph in element.iter(f"{DRAWING}p")
    )
    return "\n".join(text for text in paragraphs if text.strip())


# --- spreadsheets ---


def _write_sheets(path: str, content: bytes, lines: MarkdownLines) -> None:
    try:
        from python_calamine import CalamineError, CalamineWorkbook  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise missing_extra("spreadsheets", "xlsx") from error
    cells = 0
    try:
        book = CalamineWorkbook.from_filelike(io.BytesIO(content))
        for name in book.sheet_names:
            lines.page()
            lines.heading(1, name)
            for row in book.get_sheet_by_name(name).iter_rows():
                lines.row([_cell(value) for value in row])
                cells += len(row)
                if cells > MOST_CELLS:
                    raise ReadingError("it has more than five million cells", where=path)
        lines.title = ""  # the name of a sheet says nothing of the whole
    except (CalamineError, ValueError, OSError) as error:
        raise ReadingError("it is no whole spreadsheet", where=path) from error


def _cell(value: object) -> str:
    return str(int(value)) if isinstance(value, float) and value.is_integer() else spaced(str(value))
