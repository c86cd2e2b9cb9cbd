"""How fast files are read, and what is kept of them, beside markitdown in the same run.

FOLDER holds HTML and PDF files, such as the documentation packages of Debian unpacked; office files are made by the
other interpreter, which needs python-docx, too.
Rates are files (of PDF: pages) per second of this process's CPU time. `--beside PYTHON` names an interpreter that has
markitdown, which reads the same files in a process of its own. Headings of PDF are compared with the outlines: with the
outline, whether a heading stands on the page that the outline names; without it, F1 of the headings that were found.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import subprocess
import sys
import tempfile
import time
from bisect import bisect_right
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING

import pypdfium2

sys.path.insert(0, str(Path(__file__).parents[1]))

from deia.ingest.read import read
from deia.ingest.readers import pdf_pages
from deia.ingest.readers.markdown_lines import MarkdownLines
from deia.ingest.reading import ReadingError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

MAKE = """
import sys, docx, openpyxl, pptx
from pptx.util import Inches
words = "Words of a paragraph as they stand in a report, long enough to be one. " * 4
for number in range(20):
    document = docx.Document()
    for section in range(12):
        document.add_heading(f"Section {section}", 1)
        for _ in range(6):
            document.add_paragraph(words)
        table = document.add_table(rows=4, cols=3)
        for cell in table._cells:
            cell.text = f"cell of {number}"
    document.save(f"{sys.argv[1]}/{number}.docx")
    slides = pptx.Presentation()
    for count in range(9):
        slide = slides.slides.add_slide(slides.slide_layouts[1])
        slide.shapes.title.text, slide.placeholders[1].text = f"Slide {count}", words
        table = slide.shapes.add_table(3, 3, Inches(1), Inches(4), Inches(4), Inches(1)).table
        table.cell(0, 0).text = f"cell of {number}"
    slides.save(f"{sys.argv[1]}/{number}.pptx")
    book = openpyxl.Workbook()
    for row in range(400):
        book.active.append([row, f"name {row}", row * 1.5, words[:40]] * 2)
    book.save(f"{sys.argv[1]}/{number}.xlsx")
"""
OTHER = """
import json, sys, time, warnings
warnings.simplefilter("ignore")
from markitdown import MarkItDown
reader, rates = MarkItDown(), {}
for kind, paths in json.load(sys.stdin).items():
    read = 0
    try:
        reader.convert(paths[0])
    except Exception:
        pass
    began = time.process_time()
    for path in paths:
        try:
            reader.convert(path)
            read += 1
        except Exception:
            pass
        if time.process_time() - began > 60:
            break
    rates[kind] = [read, time.process_time() - began]
print(json.dumps(rates))
"""
HEADING = re.compile(r"^#{1,6} ")
FEWEST_OUTLINED = 8  # entries of an outline that is worth comparing with


def seconds_for(paths: Sequence[str]) -> tuple[int, int, float]:
    """Return how many files and pages were read, and the CPU time that took."""
    files = pages = 0
    began = time.process_time()
    for path in paths:
        try:
            reading = read(path, Path(path).read_bytes())
        except ReadingError:
            continue
        files, pages = files + 1, pages + len(reading.pages)
    return files, pages, time.process_time() - began


def headings(text: str) -> Iterator[tuple[int, str]]:
    """Yield the headings of a text with their lines."""
    for number, line in enumerate(text.split("\n"), 1):
        if HEADING.match(line):
            yield number, letters(line.lstrip("#"))


def letters(text: str) -> str:
    """Return the letters and digits of a text."""
    return "".join(char for char in text.casefold() if char.isalnum())


def outlined(paths: Sequence[str]) -> Iterator[tuple[float, float]]:
    """Yield for each file with an outline the share of its entries on their page, and F1 of the headings without it."""
    for path in paths:
        content = Path(path).read_bytes()
        try:
            reading = read(path, content)
        except ReadingError:
            continue
        opened = pypdfium2.PdfDocument(content)
        entries = pdf_pages._outline(opened)  # noqa: SLF001 - what the reader goes by
        if len(entries) >= FEWEST_OUTLINED:
            placed = {(title, bisect_right(reading.pages, line)) for line, title in headings(reading.text)}
            lines = MarkdownLines()
            pdf_pages._write(pdf_pages._pages(opened, with_types=True)[0], [], lines)  # noqa: SLF001 - as if there were no outline
            found = {title for _, title in headings(lines.text())}
            wanted = {letters(entry.title) for entry in entries} - {""}
            right = sum(any(same(title, want) for want in wanted) for title in found)
            met = sum(any(same(title, want) for title in found) for want in wanted)
            on_page = mean((letters(entry.title), entry.page + 1) in placed for entry in entries)
            yield on_page, 2 * right * met / max(1, right * len(wanted) + met * len(found))
        opened.close()


def same(title: str, wanted: str) -> bool:
    """Return whether a heading is an entry of an outline, but for its number."""
    return title == wanted or (title.endswith(wanted) and len(title) <= len(wanted) + 8)


def main() -> None:
    """Print the rates and the comparison."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--most", type=int, default=60, help="files of each kind (default: %(default)s)")
    parser.add_argument("--beside", default="", metavar="PYTHON", help="an interpreter that has markitdown")
    options = parser.parse_args()
    paths: dict[str, list[str]] = {}
    other: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        if options.beside:
            subprocess.run([options.beside, "-W", "ignore", "-c", MAKE, folder], check=True)
        for kind in ("docx", "pptx", "xlsx", "html", "pdf"):
            places = (options.folder, Path(folder))
            found = sorted(str(path) for place in places for path in place.rglob(f"*.{kind}") if path.is_file())
            random.Random(1).shuffle(found)
            paths[kind] = found[: options.most]
        if options.beside:
            command = [options.beside, "-c", OTHER]
            ran = subprocess.run(command, input=json.dumps(paths), stdout=subprocess.PIPE, text=True, check=True)
            other = json.loads(ran.stdout.splitlines()[-1])
        for kind, some in paths.items():
            files, pages, seconds = seconds_for(some)
            line = f"{kind}: {files / seconds:,.0f} files/s"
            line += f", {pages / seconds:,.0f} pages/s" if kind == "pdf" else ""
            if kind in other and other[kind][0]:
                theirs = other[kind][0] / other[kind][1]
                line += f"; markitdown {theirs:,.1f} files/s, which is {files / seconds / theirs:,.0f} times slower"
            print(line, flush=True)
    if not (outlines := [*outlined(paths["pdf"])]):
        return
    on_pages, scores = zip(*outlines, strict=True)
    print(f"PDF with outlines: {len(scores)}; entries on their page {mean(on_pages):.3f}")
    print(f"PDF headings without the outline: F1 {mean(scores):.3f}")


if __name__ == "__main__":
    main()
