"""PDF: pages of text with headings, taken from the outline if there is one, else from lines in larger or bolder type.

Running headers and footers are left out. Pages are untrusted and parsed by a C library: files of other people are read
in `deia.ingest.reader_process`.
"""

from __future__ import annotations

import ctypes
import re
from collections import Counter
from itertools import islice
from typing import NamedTuple

from deia.ingest.readers.markdown_lines import MarkdownLines, spaced
from deia.ingest.reading import Reading, ReadingError, missing_extra
from deia.records import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any, TypeAlias

    Theirs: TypeAlias = Any  # an object of pypdfium2, which is an extra

MOST_PAGES = 20_000
MOST_OUTLINED = 20_000
DEEPEST_OUTLINE = 6
EDGE = 3  # lines at the top and the bottom of a page that may be a running header
RUNNING = 0.25  # share of the pages; a line at the edge of so many is a running header
BODY = 0.15  # share of the letters; the largest type that so many are set in is the body text's
LARGER = 1.12  # times the size of the body text; type of this size is a heading's
LONGEST_FONT_NAME = 64
BOLD_NAME = re.compile(rb"bold|black|heavy|demi|cm\w*bx|-bd", re.IGNORECASE)
BOLD = 600  # the weight from which a font is bold
LONGEST_HEADING = 120
MOST_HEADINGS = 0.25  # share of the lines; a type that more are set in is not a heading's
DIGITS = re.compile(r"\d+")
NUMBERED = re.compile(r"(?:chapter |appendix |part |section )?(\d+|[A-Z])((?:\.\d+)*)\.?\s+\S", re.IGNORECASE)
SOFT_HYPHENS = re.compile("[\ufffe\u0002\u00ad]\\s*")
LETTERS = re.compile(r"[^\W\d_]")
TWO_LETTERS = re.compile(r"[^\W\d_].*[^\W\d_]")
NO_LETTERS = re.compile(r"[\W_]+")


class _Line(NamedTuple):
    text: str
    size: float
    bold: bool
    top: float  # in points above the bottom of the page
    page: int  # from 0


class _Mark(NamedTuple):
    """An entry of an outline."""

    level: int
    title: str
    page: int


def read_pdf(path: str, content: bytes) -> Reading:
    """Return the text of a PDF page by page; raise if it is encrypted or no PDF."""
    try:
        import pypdfium2  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise missing_extra("PDF", "pdf") from error
    try:
        document = pypdfium2.PdfDocument(content)
    except pypdfium2.PdfiumError as error:
        what = "it needs a password" if "assword" in str(error) else "it is no whole PDF"
        raise ReadingError(what, where=path) from error
    try:
        info = document.get_metadata_dict(skip_empty=True)
        outline = _outline(document)
        pages, damaged = _pages(document, with_types=not outline)
    finally:
        document.close()
    lines = MarkdownLines()
    _write(pages, outline, lines)
    text = lines.text()
    notes = ["No text is in it: its pages may be pictures."] if pages and not text.strip("# \n") else []
    notes += [f"{damaged} of its pages cannot be read."] if damaged else []
    title = spaced(info.get("Title", ""))
    details = {"author": info.get("Author", ""), "created": info.get("CreationDate", "")}
    return Reading(
        type="pdf",
        title=title if LETTERS.search(title) else lines.title or path.rsplit("/", 1)[-1],
        text=text,
        pages=tuple(lines.pages),
        metadata={"pages": len(pages), **{name: spaced(value) for name, value in details.items() if value}},
        notes=tuple(notes),
    )


def _outline(document: Theirs) -> list[_Mark]:
    """Return the entries of the outline in order; the library does not follow cycles."""
    marks = []
    for bookmark in islice(document.get_toc(max_depth=DEEPEST_OUTLINE), MOST_OUTLINED):
        target = bookmark.get_dest()
        page = target.get_index() if target is not None else None
        title = spaced(bookmark.get_title())
        if page is not None and title:
            marks.append(_Mark(min(bookmark.level + 1, DEEPEST_OUTLINE), title, page))
    return marks


def _pages(document: Theirs, *, with_types: bool) -> tuple[list[list[_Line]], int]:
    """Return the lines of each page, and how many pages cannot be read."""
    import pypdfium2  # noqa: PLC0415 - an extra

    pages: list[list[_Line]] = []
    damaged = 0
    for number in range(min(len(document), MOST_PAGES)):
        try:
            page = document[number]
            pages.append(list(_lines(page.get_textpage(), number, with_types=with_types)))
            page.close()
        except pypdfium2.PdfiumError:
            pages.append([])
            damaged += 1
    return pages, damaged


def _lines(text_page: Theirs, number: int, *, with_types: bool) -> Iterator[_Line]:
    """Yield the lines of a page with the type of their middle letter, since the first may be a number in the margin.

    Bold type is recognised only `with_types`; it does not matter if there is an outline.
    """
    from pypdfium2 import raw  # noqa: PLC0415 - an extra

    name, matrix, box = ctypes.create_string_buffer(LONGEST_FONT_NAME), raw.FS_MATRIX(), raw.FS_RECTF()
    handle = text_page.raw
    at = 0
    for line in text_page.get_text_range().split("\r\n"):
        if text := line.strip():
            middle = len(line) // 2
            while line[middle].isspace():
                middle = (middle + 1) % len(line)
            place = at + middle
            size = raw.FPDFText_GetFontSize(handle, place)
            if raw.FPDFText_GetMatrix(handle, place, matrix):
                size *= (matrix.b**2 + matrix.d**2) ** 0.5 or 1.0
            length = raw.FPDFText_GetFontInfo(handle, place, name, len(name), None) if with_types else 0
            is_bold = BOLD_NAME.search(name.raw[:length] if length <= len(name) else b"") is not None
            is_bold = is_bold or (with_types and raw.FPDFText_GetFontWeight(handle, place) >= BOLD)
            raw.FPDFText_GetLooseCharBox(handle, place, box)
            yield _Line(text, round(size, 1), is_bold, box.top, number)
        at += len(line) + 2


def _write(pages: Sequence[Sequence[_Line]], outline: Sequence[_Mark], lines: MarkdownLines) -> None:
    running = _running(pages)
    kept = [
        [line for at, line in enumerate(page) if EDGE <= at < len(page) - EDGE or _form(line.text) not in running]
        for page in pages
    ]
    levels = {} if outline else _levels(kept)
    marks: dict[int, list[_Mark]] = {}
    for mark in outline:
        marks.setdefault(mark.page, []).append(mark)
    for number, page in enumerate(kept):
        lines.page()
        places: dict[int, _Mark] = {}
        texts = [_letters(line.text) for line in page] if number in marks else []
        for mark in marks.get(number, []):
            at = _place(_letters(mark.title), texts)
            if at < 0 or at in places:  # on the page, the title is worded differently or takes two lines
                lines.heading(mark.level, mark.title)
            else:
                places[at] = mark
        _write_page(page, places, levels, lines)


def _write_page(
    page: Sequence[_Line], marks: Mapping[int, _Mark], levels: Mapping[tuple[float, bool], int], lines: MarkdownLines
) -> None:
    """Write the headings and paragraphs of a page; a paragraph ends where the lines are further apart."""
    paragraph: list[str] = []

    def flush() -> None:
        lines.paragraph(SOFT_HYPHENS.sub("", "\n".join(paragraph)))
        paragraph.clear()

    above: _Line | None = None
    for at, line in enumerate(page):
        level = levels.get((line.size, line.bold), 0) if levels and _may_be_heading(line) else 0
        if at in marks:
            flush()
            lines.heading(marks[at].level, marks[at].title)
        elif level:
            flush()
            numbered = NUMBERED.match(line.text)
            lines.heading(numbered[2].count(".") + 1 if numbered else level, line.text)
        else:
            if above is not None and above.top - line.top > 1.7 * max(line.size, 4):
                flush()
            paragraph.append(line.text)
        above = line
    flush()


def _place(title: str, texts: Sequence[str]) -> int:
    """Return the number of the line that has the title of an outline's entry, or -1."""
    for at, text in enumerate(texts if title else ()):
        is_title = text.endswith(title) or (len(text) > 8 and title.endswith(text))
        if is_title and len(text) <= len(title) + 12:
            return at
    return -1


def _letters(text: str) -> str:
    return NO_LETTERS.sub("", text.casefold())


def _form(text: str) -> str:
    return DIGITS.sub("#", text)


def _running(pages: Sequence[Sequence[_Line]]) -> set[str]:
    """Return the lines at the edge of many pages, with `#` for each number, and lone page numbers."""
    counts = Counter(form for page in pages for form in {_form(line.text) for line in (*page[:EDGE], *page[-EDGE:])})
    fewest = max(3, RUNNING * len(pages))
    return {form for form, count in counts.items() if count >= fewest or (form == "#" and count > 1)}


def _levels(pages: Sequence[Sequence[_Line]]) -> dict[tuple[float, bool], int]:
    """Return the level of each type that headings are set in, larger than the body text's or bold; larger is higher."""
    letters: Counter[tuple[float, bool]] = Counter()
    counts: Counter[tuple[float, bool]] = Counter()
    for page in pages:
        for line in page:
            letters[line.size, line.bold] += len(line.text)
            counts[line.size, line.bold] += _may_be_heading(line)
    if not letters:
        return {}
    share = BODY * sum(letters.values())
    body_size, is_body_bold = max((font for font, count in letters.items() if count >= share), default=(0.0, False))
    most = MOST_HEADINGS * sum(map(len, pages))
    fonts = [
        font
        for font, count in counts.items()
        if count
        and count <= most
        and (font[0] >= body_size * LARGER or (font[1] and not is_body_bold and font[0] >= body_size * 0.98))
    ]
    return {font: min(level, DEEPEST_OUTLINE) for level, font in enumerate(sorted(fonts, reverse=True), 1)}


def _may_be_heading(line: _Line) -> bool:
    text = line.text
    return len(text) <= LONGEST_HEADING and text[-1] not in ".,;:" and TWO_LETTERS.search(text, 0, 40) is not None
