"""Office files: documents and presentations from their XML, spreadsheets by python-calamine, all as Markdown."""

from __future__ import annotations

import io

from deia.ingest.readers.markdown_lines import MarkdownLines, spaced
from deia.ingest.readers.office_tree import DRAWING, in_one_form
from deia.ingest.readers.packages import Package
from deia.ingest.readers.sparse_sheets import WIDE, without_far_cells
from deia.ingest.readers.word_document import write_document
from deia.ingest.reading import Reading, ReadingError, missing_extra
from deia.records import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from xml.etree.ElementTree import Element

    from python_calamine import CalamineSheet

SLIDES = "{http://schemas.openxmlformats.org/presentationml/2006/main}"
TABLE, PICTURED, SHAPE = SHOWN = (f"{DRAWING}tbl", f"{SLIDES}pic", f"{SLIDES}sp")  # of a slide
BREAKS = {f"{DRAWING}t": "", f"{DRAWING}br": "\n"}  # what has text, and what stands behind it
RELATION = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
CORE = {
    "{http://purl.org/dc/elements/1.1/}title": "title",
    "{http://purl.org/dc/elements/1.1/}creator": "author",
    "{http://purl.org/dc/terms/}modified": "modified",
}
MOST_CELLS = 5_000_000


def read_office(path: str, content: bytes) -> Reading:
    """Return a document, a presentation or a spreadsheet, whichever the archive contains."""
    package = Package(path, content)
    lines = MarkdownLines()
    if "word/document.xml" in package.names:
        write_document(package, lines)
    elif "ppt/presentation.xml" in package.names:
        _write_slides(package, lines)
    elif any(name.startswith("xl/workbook.") for name in package.names):
        package.refuse_bombs()
        _write_sheets(path, without_far_cells(package, content, path), lines)
    else:
        raise ReadingError("it is an archive, but no document, presentation or spreadsheet", where=path)
    core = package.xml("docProps/core.xml")
    fields = {} if core is None else {CORE[child.tag]: spaced(child.text or "") for child in core if child.tag in CORE}
    title = fields.pop("title", "") or lines.title or path.rsplit("/", 1)[-1]
    metadata = {name: value for name, value in fields.items() if value}
    return Reading(type="office", title=title, text=lines.text(), pages=tuple(lines.pages), metadata=metadata)


# --- presentations ---


def _write_slides(package: Package, lines: MarkdownLines) -> None:
    root = package.xml("ppt/presentation.xml")
    parts = package.relations("ppt/presentation.xml")
    ids = [] if root is None else [slide_id.get(RELATION, "") for slide_id in root.iter(f"{SLIDES}sldId")]
    for number, name in enumerate((parts.get(slide_id, "") for slide_id in ids), 1):
        slide = in_one_form(package.xml(name))
        lines.page()
        for shape in () if slide is None else slide.iter():
            if shape.tag in SHOWN:
                _write_shape(shape, lines, number)
        for part in package.relations(name).values():
            notes = in_one_form(package.xml(part)) if "notesSlide" in part else None
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
    elif (kind := _placeholder(shape)) in {"title", "ctrTitle"}:
        lines.heading(1 if number == 1 else 2, _shape_text(shape))
    elif kind not in {"sldNum", "dt", "ftr"}:
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
            for values in _rows(book.get_sheet_by_name(name)):
                row = [_cell(value) for value in values]
                lines.row(row)
                cells += len(row) - row.count("")
                if cells > MOST_CELLS:
                    raise ReadingError("it has more than five million cells", where=path)
        lines.title = ""  # the name of a sheet says nothing of the whole
    except (CalamineError, ValueError, OSError) as error:
        raise ReadingError("it is no whole spreadsheet", where=path) from error


def _rows(sheet: CalamineSheet) -> Iterator[Sequence[object]]:
    """Return the rows of a sheet, without the columns that hold nothing if it has many."""
    if sheet.total_width <= WIDE:
        return sheet.iter_rows()
    used = sorted({at for row in sheet.iter_rows() for at, value in enumerate(row) if value != ""})
    return ([row[at] for at in used] for row in sheet.iter_rows())


def _cell(value: object) -> str:
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return " ".join(str(value).split())
