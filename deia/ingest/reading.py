"""What a reader makes of a file, and how it is to be cut: the values that readers and chunkers share."""

from __future__ import annotations

from deia.errors import DeiaError
from deia.records import TYPE_CHECKING, Record

if TYPE_CHECKING:
    from collections.abc import Mapping

    from deia.fast_json import Json

TYPES = (
    "text", "markdown", "code", "json", "yaml", "xml", "html", "pdf", "office", "image", "email", "log", "notebook",
)  # fmt: skip
# What the types are as assets, by which answers can be filtered; any other type is text.
ASSETS = {"code": "code", "pdf": "pdf", "image": "image"}
MULTIMODAL = ("pdf", "image", "office")
MAKING = 5  # raised when files are read or cut in another way: a file that is read again is then cut again, too
RECORDS = "records"  # in the metadata of a reading: the lines on which records begin that share no chunk
MISSING = "needs a library that is not installed"
FEWEST_CHARS, MOST_CHARS = 40, 100_000  # of a chunk: a smaller limit would make more chunks than words
DATA_LIMIT = 2000  # characters of a chunk, if nothing else is asked for
STRATEGIES = ("recursive", "hierarchical", "by_heading", "by_page", "by_paragraph", "by_sentence", "fixed_chars")


class ReadingError(DeiaError):
    """A file cannot be read, or not without an extra; `fix` says what to type then."""


class Reading(Record):
    """The text of a file, and what its format says about it."""

    type: str  # one of TYPES
    title: str
    text: str  # what is cut, indexed and shown; the file's own lines if it has lines, else Markdown
    path: str = ""
    language: str = ""  # of code and of data: python, cpp, sql, ...
    pages: tuple[int, ...] = ()  # the line on which each page, slide or sheet begins; () if there are none
    metadata: Mapping[str, Json] = {}
    notes: tuple[str, ...] = ()  # what could not be read, as sentences


class ChunkerConfig(Record):
    """How a reading is to be cut; what is not given is chosen by its type."""

    strategy: str = ""  # one of STRATEGIES; "" for the way that suits the type
    max_chars: int = 0
    overlap_chars: int = 0  # how much of the end of a chunk is repeated at the beginning of the next one
    language: str = ""  # of code, if the file's name does not tell
    options: Mapping[str, Json] = {}  # split_on_headings, min_heading_level; of a custom chunker, what it has
    custom: str = ""  # the name of a chunker that the person added


DEFAULT = ChunkerConfig()


def CodeChunkerConfig(*, language: str = "", max_chunk_size: int = 2000, overlap: int = 0) -> ChunkerConfig:  # noqa: N802
    """Return how code is to be cut."""
    return ChunkerConfig(max_chars=max_chunk_size, overlap_chars=overlap, language=language)


def MarkdownChunkerConfig(  # noqa: N802 - these are named like the class that a caller takes them for
    *, split_on_headings: bool = True, min_heading_level: int = 1, max_chunk_size: int = 0, overlap: int = 0
) -> ChunkerConfig:
    """Return how Markdown is to be cut: at headings of the given level and below, or by length alone."""
    options: dict[str, Json] = {"split_on_headings": split_on_headings, "min_heading_level": min_heading_level}
    return ChunkerConfig(max_chars=max_chunk_size, overlap_chars=overlap, options=options)


def missing_extra(what: str, extra: str) -> ReadingError:
    """Return the error for a file whose reader's library is not installed."""
    return ReadingError(f"reading {what} {MISSING}", fix=f"pip install 'deia[{extra}]'")
