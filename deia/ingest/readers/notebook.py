"""Notebooks: texts as they are, code and what it printed in fences."""

from __future__ import annotations

import json

from deia.ingest.readers.markdown_lines import MarkdownLines
from deia.ingest.readers.plain import LONGEST_TITLE, decode
from deia.ingest.reading import Reading, ReadingError

LONGEST_OUTPUT = 2000  # characters: what is longer is data rather than text


def read_notebook(path: str, content: bytes) -> Reading:
    """Return the cells of a notebook in order."""
    text, notes = decode(path, content)
    try:
        book = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ReadingError("it is no whole JSON", where=path) from error
    cells = book.get("cells") if isinstance(book, dict) else None
    if not isinstance(cells, list):
        raise ReadingError("it has no cells as notebooks have since version 4", where=path)
    lines = MarkdownLines()
    for cell in cells:
        if isinstance(cell, dict):
            _write(cell, lines)
    info = book.get("metadata")
    language = info.get("language_info") if isinstance(info, dict) else None
    name = str(language.get("name") or "")[:40] if isinstance(language, dict) else ""
    title = (lines.title or path.rsplit("/", 1)[-1])[:LONGEST_TITLE]
    return Reading(type="notebook", title=title, text=lines.text(), language=name, notes=notes)


def _write(cell: dict[str, object], lines: MarkdownLines) -> None:
    source = _joined(cell.get("source"))
    if cell.get("cell_type") != "code":
        lines.markdown(source)
        return
    lines.code(source)
    outputs = cell.get("outputs")
    for output in outputs if isinstance(outputs, list) else []:
        if isinstance(output, dict):
            lines.code(_printed(output)[:LONGEST_OUTPUT])


def _printed(output: dict[str, object]) -> str:
    """Return what a cell printed, or in what error it ended; the way to an error says little and is long."""
    data = output.get("data")
    text = _joined(data.get("text/plain") if isinstance(data, dict) else output.get("text"))
    return text or ": ".join(part for name in ("ename", "evalue") if (part := _joined(output.get(name))))


def _joined(lines: object) -> str:
    return "".join(map(str, lines)) if isinstance(lines, list) else lines if isinstance(lines, str) else ""
