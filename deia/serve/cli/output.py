"""Output for a person: answers on standard output, errors on standard error, with any encoding.

Text from files cannot control the terminal: control characters are shown as spaces.
"""

from __future__ import annotations

import sys

from deia import fast_json, files
from deia.errors import QueryError
from deia.records import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from deia.errors import DeiaError
    from deia.fast_json import Json

FOUND, NOTHING, BROKEN = 0, 1, 2  # exit codes: something was found, nothing was found, an error
INTERRUPTED, BROKEN_PIPE = 130, 141  # as shells report these signals


def prepare() -> None:
    """Make the standard streams accept any text, escaping characters that their encoding does not have."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # pytest's replacement has no such method
            stream.reconfigure(errors="backslashreplace")


def say(text: str = "") -> None:
    """Print a text to standard output, without control characters other than newlines and tabs."""
    if sys.stdout is not None:
        sys.stdout.write(printable(text) + "\n")


def answer(value: Json, lines: Iterable[str], *, as_json: bool) -> None:
    """Print an answer to a program or to a person: a value as JSON, or lines of text."""
    say(fast_json.dumps(value) if as_json else "\n".join(lines))


def first(lines: Sequence[str], most: int) -> list[str]:
    """Return the first lines, and how many more there are."""
    return [*lines[:most], *([f"  and {len(lines) - most} more"] if len(lines) > most else [])]


def write_new(path: str, text: str) -> None:
    """Write a new file; raise QueryError if it is there already, or cannot be written."""
    if files.exists(files.full(path)) or not files.keep(files.full(path), text.encode("utf-8", "replace")):
        raise QueryError(f"{path} is there already, or cannot be written", fix="Choose another --to")


def show(styled: str) -> None:
    """Print a text that contains terminal codes; the caller has made the rest of it printable."""
    if sys.stdout is not None:
        sys.stdout.write(styled + "\n")


def complain(text: str) -> None:
    """Print a text to standard error."""
    if sys.stderr is not None:
        sys.stderr.write(printable(text) + "\n")


def complain_of(error: DeiaError) -> None:
    """Print an error: where it is, what is wrong, what to type next, and all its problems."""
    where = f"{error.where}: " if error.where else ""
    problems = map(str, getattr(error, "problems", ()))
    complain("\n  ".join((f"deia: {where}{error.message}", *filter(None, (error.fix, *problems)))))


def printable(text: str) -> str:
    """Return a text without control characters other than newlines and tabs."""
    if text.isprintable():
        return text
    return "".join(
        char if char.isprintable() or char in "\n\t" or "\ud800" <= char <= "\udfff" else " " for char in text
    )


def at_terminal() -> bool:
    """Return whether standard output is a terminal."""
    return sys.stdout is not None and sys.stdout.isatty()


def is_watched() -> bool:
    """Return whether standard error is a terminal, so that progress can be shown there."""
    return sys.stderr is not None and sys.stderr.isatty()


def progress(text: str = "") -> None:
    """Show how far something is, in place of what was shown before; only on a terminal, where no text clears that."""
    if sys.stderr is not None and sys.stderr.isatty():
        sys.stderr.write(f"\r\x1b[K{printable(text)}")
        sys.stderr.flush()


def mark(symbol: str, plain: str) -> str:
    """Return a symbol, or plain letters if standard output cannot show it."""
    try:
        symbol.encode(getattr(sys.stdout, "encoding", None) or "ascii")
    except UnicodeEncodeError:
        return plain
    return symbol
