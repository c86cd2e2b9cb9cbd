"""A catalog gives back parts of its texts as if they were cut from the whole."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deia.compile.catalog.build_catalog import build_catalog
from deia.knowledge import Document, Entry, Query
from deia.search import catalog as catalog_module
from deia.search.build_answer import MOST_TEXT
from deia.search.catalog import Catalog, open_catalog
from deia.search.pipeline import search
from deia.search.rendering.render import full

if TYPE_CHECKING:
    from pathlib import Path

LINES = st.lists(st.text(st.sampled_from("aé€😀 \r\x85\u2028"), max_size=6), max_size=30)


def with_texts(folder: Path, *texts: str, first_line: int = 1) -> Catalog:
    """Compile documents with these texts."""
    paths = [f"bok/{number}.md" for number in range(len(texts))]
    entries = [Entry(id=path, path=path, title=f"Document {path}") for path in paths]
    documents = [
        Document(path=path, title=f"Document {path}", text=text, first_line=first_line)
        for path, text in zip(paths, texts, strict=True)
    ]
    folder.mkdir(exist_ok=True)
    build_catalog(entries, documents, [], [], str(folder))
    return open_catalog(str(folder))


@given(LINES, st.integers(1, 5), st.integers(-3, 40), st.integers(0, 40), st.integers(1, 12))
@settings(max_examples=25, deadline=None)
def test_any_lines_are_those_of_the_whole_text(
    tmp_path_factory: pytest.TempPathFactory, written: list[str], first_line: int, first: int, more: int, block: int
) -> None:
    neighbour = "another text\nbefore and behind it\n" * 3
    folder = tmp_path_factory.mktemp("lines")
    catalog = with_texts(folder, neighbour, "\n".join(written), neighbour, first_line=first_line)
    document = catalog.document_at(1)
    every = catalog.text(document).split("\n")
    wanted = every[max(0, first - first_line) : max(0, first + more - first_line + 1)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(catalog_module, "AT_ONCE", block)
        assert catalog.lines(document, first, first + more) == wanted


@given(LINES, st.integers(0, 200))
@settings(max_examples=15, deadline=None)
def test_a_beginning_is_that_of_the_whole_text(
    tmp_path_factory: pytest.TempPathFactory, written: list[str], most: int
) -> None:
    catalog = with_texts(tmp_path_factory.mktemp("beginning"), "\n".join(written), "another text")
    document = catalog.document_at(0)
    assert catalog.text(document, most=most) == catalog.text(document)[:most]


def test_of_a_manual_an_answer_carries_what_is_around_the_passage(tmp_path: Path) -> None:
    before = [f"line {number} about pumps and pipes" for number in range(MOST_TEXT // 20)]
    there = "## Calibration\n\nThe flux capacitor is calibrated with a torque wrench."
    manual = "\n\n".join(["# Manual", *before, there, *before])
    catalog = with_texts(tmp_path, manual, "# Short\n\nThe flux capacitor has no wheels.\n", *["# Other\n\nPumps."] * 3)
    found = {result.id: result for result in search(catalog, Query(text="flux capacitor torque")).documents}
    long, short = found["bok/0.md"], found["bok/1.md"]
    assert "torque wrench" in long.passage
    assert long.is_part
    assert long.passage in long.text
    assert long.text in manual
    assert MOST_TEXT / 2 < len(long.text) < 2 * MOST_TEXT
    assert (short.is_part, short.text) == (False, "# Short\n\nThe flux capacitor has no wheels.\n")
    wide = "\n\n".join(["# Wide", "x" * MOST_TEXT, there])
    (whole,) = search(with_texts(tmp_path / "wide", wide), Query(text="flux capacitor torque")).documents
    assert (whole.is_part, whole.text) == (False, wide)
    answer = search(catalog, Query(text="flux capacitor torque"))
    assert "(source: bok/0.md:" in full(answer, budget=1_000_000)  # which lines, though all that it carries would fit
