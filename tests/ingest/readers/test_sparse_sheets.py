from __future__ import annotations

import time
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deia.ingest.chunk import chunk
from deia.ingest.read import read
from deia.ingest.readers.sparse_sheets import column_name, column_number
from deia.ingest.reading import Reading, ReadingError
from tests.ingest.readers.office_files import spreadsheet

pytest.importorskip("python_calamine")


def sheet(cells: dict[str, str], *, quote: str = '"', more: str = "") -> Reading:
    """Return a sheet with values in some cells, read; each row is written once, and cells in the order given."""
    rows: dict[str, list[str]] = {}
    for name, value in cells.items():
        row = name.lstrip("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
        rows.setdefault(row, []).append(f'<c r="{name}" t="inlineStr"><is><t>{value}</t></is></c>')
    written = "".join(f'<row r="{row}">{"".join(inside)}</row>' for row, inside in rows.items())
    return read("a.xlsx", spreadsheet((written + more).replace('"', quote)))


@pytest.mark.parametrize("quote", ['"', "'"])
@pytest.mark.parametrize(
    ("cells", "text"),
    [
        ({"A1": "a", "B1": "b", "J1048576": "z"}, "| a | b" + " | " * 8 + " |\n|" + "  |" * 9 + " z |"),
        ({"XFD1": "z", "B5": "b", "D5": "d", "A20000": "a"}, "|  |  |  | z |\n|  | b | d |  |\n| a |  |  |  |"),
        ({"C5": "c", "D5": "d", "XFD5": "z", "A60": "a"}, "|  | c | d | z |\n| a |  |  |  |"),
        ({"XFD1048576": "z"}, "| z |"),
    ],
)
def test_a_far_value_costs_no_more_than_any_other(cells: dict[str, str], text: str, quote: str) -> None:
    began = time.process_time()
    reading = sheet(cells, quote=quote)
    assert reading.text == f"# Prices\n\n{text}"
    assert len(chunk(reading, id="a")) == 1
    assert time.process_time() - began < 2


def test_cells_without_a_value_are_no_cells_however_many_there_are() -> None:
    empty = "".join(f'<row r="{row}"><c r="A{row}" s="0"/><c r="XFD{row}"></c></row>' for row in range(2, 30_000))
    assert sheet({"A1": "a", "C1": "c"}, more=empty).text == "# Prices\n\n| a |  | c |"
    assert sheet({}, more=empty).text == "# Prices"
    beside = '<row r="1048576"><c r="A1048576"><v>7</v></c><c r="XFD1048576" t="str"></c><c r="B1048576" t="s"/></row>'
    assert sheet({"A1": "a"}, more=beside).text == "# Prices\n\n| a |\n| 7 |"


def test_an_empty_column_of_a_small_table_stays() -> None:
    assert sheet({"A1": "a", "C1": "c", "A3": "d"}).text == "# Prices\n\n| a |  | c |\n| d |  |  |"


def test_cells_that_do_not_say_where_they_are_are_read() -> None:
    far = '<row r="1048576"><c><v>7</v></c><c><v>8</v></c></row><row><c><v>9</v></c></row>'
    text = sheet({"A1": "a", "F1": "b"}, more=far).text
    assert [part for part in text.split() if part.strip("|#")] == ["Prices", "a", "b", "7", "8", "9"]


def test_a_cell_that_holds_nothing_and_does_not_say_where_it_is_keeps_its_place() -> None:
    far = '<row r="1048576"><c/><c s="0"></c><c><v>7</v></c></row>'
    assert sheet({"A1": "a", "C1": "c", "D1": "d"}, more=far).text == "# Prices\n\n| a |  | c | d |\n|  |  | 7 |  |"


def test_values_that_no_table_can_hold_are_refused_with_the_reason() -> None:
    cells = {f"{column_name(number)}{number * 60}": "x" for number in range(1, 16_000)}
    with pytest.raises(ReadingError, match="too many rows and columns"):
        sheet(cells)


def test_columns_are_counted_as_spreadsheets_count_them() -> None:
    names = {1: "A", 26: "Z", 27: "AA", 702: "ZZ", 703: "AAA", 16_384: "XFD"}
    assert {number: column_name(number) for number in names} == names
    assert {column_number(name.encode()): name for name in names.values()} == names


PLACES = st.tuples(st.sampled_from([1, 2, 3, 26, 27, 702, 703, 16_384]), st.sampled_from([1, 2, 9, 5000, 1_048_576]))


@given(st.dictionaries(PLACES, st.sampled_from(["one", "two", "three"]), min_size=1, max_size=9))
def test_every_value_is_read_in_the_order_of_rows_and_columns(cells: dict[tuple[int, int], str]) -> None:
    ordered = sorted(cells, key=lambda place: (place[1], place[0]))
    text = sheet({f"{column_name(column)}{row}": cells[column, row] for column, row in ordered}).text
    assert [word for word in text.split() if word.isalpha()] == ["Prices", *(cells[place] for place in ordered)]


@given(st.lists(st.sampled_from(
    ['<c r="XFD9"', "<c ", "<row ", '<row r="1048576"', "/>", ">", "</c>", "</row>", '<c r="ZZZZ99999999"', "<v>1</v>"]
), max_size=20))  # fmt: skip
def test_any_sheet_is_read_or_refused(pieces: list[str]) -> None:
    with suppress(ReadingError):
        assert read("a.xlsx", spreadsheet("".join(pieces))).type == "office"
