"""One door to all readers: from the bytes of a file to a `Reading`, or a `ReadingError` that says what to do."""

from __future__ import annotations

from importlib import import_module

from deia.ingest.detect import detect
from deia.ingest.reading import Reading, ReadingError
from deia.records import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

PLAIN = ("text", "markdown", "code", "json", "yaml", "xml", "log")
READERS = {  # the module and the function for each type; each is imported when its first file comes
    **dict.fromkeys(PLAIN, ("plain", "read_plain")),
    "html": ("html_page", "read_html"),
    "office": ("office", "read_office"),
    "pdf": ("pdf_pages", "read_pdf"),
    "email": ("mails", "read_mails"),
    "notebook": ("notebook", "read_notebook"),
    "image": ("image", "read_image"),
}


def read(path: str, content: bytes) -> Reading:
    """Return what a file says; raise `ReadingError`, and nothing else, if it cannot be read."""
    kind, language = detect(path, content)
    if kind not in READERS:
        raise ReadingError(f"no reader for {kind or 'this kind of'} files", where=path)
    module, name = READERS[kind]
    reader: Callable[[str, bytes], Reading] = getattr(import_module(f"deia.ingest.readers.{module}"), name)
    reading = reader(path, content)
    return reading.but(type=kind, path=path, language=reading.language or language)
