"""One door to all readers: from the bytes of a file to a `Reading`, or a `ReadingError` that says what to do."""

from __future__ import annotations

from deia.ingest.detect import detect
from deia.ingest.readers.html_page import read_html
from deia.ingest.readers.image import read_image
from deia.ingest.readers.mails import read_mails
from deia.ingest.readers.notebook import read_notebook
from deia.ingest.readers.office import read_office
from deia.ingest.readers.pdf_pages import read_pdf
from deia.ingest.readers.plain import read_plain
from deia.ingest.reading import Reading, ReadingError
from deia.records import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

PLAIN = ("text", "markdown", "code", "json", "yaml", "xml", "log")
READERS: dict[str, Callable[[str, bytes], Reading]] = {
    **dict.fromkeys(PLAIN, read_plain),
    "html": read_html,
    "office": read_office,
    "pdf": read_pdf,
    "email": read_mails,
    "notebook": read_notebook,
    "image": read_image,
}


def read(path: str, content: bytes) -> Reading:
    """Return what a file says; raise `ReadingError`, and nothing else, if it cannot be read."""
    kind, language = detect(path, content)
    if kind not in READERS:
        raise ReadingError(f"no reader for {kind or 'this kind of'} files", where=path)
    reading = READERS[kind](path, content)
    return reading.but(type=kind, path=path, language=reading.language or language)
