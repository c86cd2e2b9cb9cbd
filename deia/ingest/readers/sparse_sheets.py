"""Spreadsheets with values far away from the others.

What reads a sheet makes room for all cells up to the last row and column, so one value in the last row of all takes
as much memory as a million. The rows and columns of such a sheet that hold nothing are taken out before it is read.
"""

from __future__ import annotations

import re
from bisect import bisect_left

from deia.ingest.readers.packages import LARGEST_PART
from deia.ingest.reading import ReadingError
from deia.records import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from deia.ingest.readers.packages import Package

WIDE = 64  # columns; of a sheet that has more, those that hold nothing are left out
SMALL_AREA = 200_000  # cells
FEWEST_BYTES = (
    8  # of a sheet for each cell: with less, most cells hold nothing, since one that holds something takes 22
)
MOST_AREA = 20_000_000
HEAD = 2048  # bytes in which a sheet says how large it is
SHEET = re.compile(r"xl/worksheets/[^/]+\.xml")
NAMED = rb"<(?:\w{1,20}:)?"
DIMENSION = re.compile(NAMED + rb"dimension\b[^<>]{0,99}?\bref=[\"'][A-Z]{1,3}\d{1,7}:([A-Z]{1,3})(\d{1,7})[\"']")
COLUMN = re.compile(rb"r=[\"']([A-Z]{1,3})\d")  # what begins with letters is found several times as fast
ROW = re.compile(rb"row\b[^<>]{0,300}?\br=[\"'](\d{1,7})[\"']")
PLACED = re.compile(rb"(<(?:\w{1,20}:)?)(row|c)\b([^<>]{0,500})>")
PLACE = re.compile(rb"\br=[\"']([A-Z]{0,3})(\d{1,7})[\"']")


def without_far_cells(package: Package, content: bytes, path: str) -> bytes:
    """Return a spreadsheet in which no few values are spread over many rows and columns; mostly, it is as it was."""
    changed: dict[str, bytes] = {}
    for name, info in package.names.items():
        if info.file_size <= LARGEST_PART and SHEET.fullmatch(name):
            most = max(SMALL_AREA, info.file_size // FEWEST_BYTES)
            if not 0 < _said_area(package.head(name, HEAD)) <= most:
                sheet = package.part(name)
                if _largest_area(sheet) > most:
                    changed[name] = _closed_up(sheet, path)
    return package.with_parts(content, changed) if changed else content


def column_number(name: bytes) -> int:
    """Return the number of a column, from 1, by its letters."""
    number = 0
    for letter in name:
        number = number * 26 + letter - 64
    return number


def column_name(number: int) -> str:
    """Return the letters of a column by its number, from 1."""
    name = ""
    while number:
        number, letter = divmod(number - 1, 26)
        name = chr(65 + letter) + name
    return name


def _said_area(head: bytes) -> int:
    """Return how many cells a sheet says that it has; some programs say one cell and go on, which is no answer."""
    match = DIMENSION.search(head)
    return column_number(match[1]) * int(match[2]) if match else 0


def _largest_area(sheet: bytes) -> int:
    """Return how many cells a sheet may have at most, as far as its rows and cells say where they are."""
    width = max(map(column_number, set(COLUMN.findall(sheet))), default=0)
    return width * max(map(int, ROW.findall(sheet)), default=0)


def _closed_up(sheet: bytes, path: str) -> bytes:
    """Return a sheet whose rows, and columns if there are many, follow each other without those that hold nothing."""
    held = [(row, column) for match, row, column in _places(sheet) if not _is_empty(match)]
    rows, columns = sorted({row for row, _ in held}), sorted({column for _, column in held})
    if columns and columns[-1] <= WIDE and len(rows) * columns[-1] <= MOST_AREA:
        columns = list(range(1, WIDE + 1))
    elif len(rows) * len(columns) > MOST_AREA:
        raise ReadingError("its values are spread over too many rows and columns", where=path)
    del held
    return b"".join(_moved(sheet, rows, columns))


def _places(sheet: bytes) -> Iterator[tuple[re.Match[bytes], int, int]]:
    """Yield what begins a cell, with the numbers of its row and column.

    A row or cell that does not say where it is follows the last one.
    """
    row = column = 0
    for match in PLACED.finditer(sheet):
        place = PLACE.search(match[3])
        if match[2] == b"row":
            row, column = int(place[2]) if place else row + 1, 0
        else:
            row = int(place[2]) if place else row
            column = (column_number(place[1]) if place else 0) or column + 1
            yield match, row, column


def _is_empty(cell: re.Match[bytes]) -> bool:
    return cell[3].endswith(b"/") or cell.string[cell.end() : cell.end() + 9].lstrip().startswith(b"</")


def _moved(sheet: bytes, rows: Sequence[int], columns: Sequence[int]) -> Iterator[bytes]:
    """Yield the pieces of a sheet whose cells say that they are in other rows and columns, without the empty ones.

    What a row says does not matter then.
    """
    end = 0
    for match, row, column in _places(sheet):
        yield sheet[end : match.start()]
        end = match.end()
        if not _is_empty(match):
            name = column_name(bisect_left(columns, column) + 1).encode()
            place = b' r="%s%d"' % (name, bisect_left(rows, row) + 1)
            yield b"%s%s%s %s>" % (match[1], match[2], place, PLACE.sub(b"", match[3]))
        elif not match[3].endswith(b"/"):
            end = sheet.find(b">", end) + 1 or end
    yield sheet[end:]
