"""What a person reads at a terminal: answers on standard output, complaints on standard error, whatever the encoding.

Refuses to let text that came from files steer the terminal: control characters are shown as spaces.
"""

from __future__ import annotations

import sys

from deia.records import TYPE_CHECKING

if TYPE_CHECKING:
    from deia.errors import DeiaError

FOUND, NOTHING, BROKEN = 0, 1, 2  # exit codes
INTERRUPTED, BROKEN_PIPE = 130, 141  # as a shell reports the signals


def prepare() -> None:
    """Make standard output take any text, escaping what its encoding does not have."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a test's capture has no encoding to fail on
            stream.reconfigure(errors="backslashreplace")


def say(text: str = "") -> None:
    """Print a text that may hold lines and tabs, but nothing that a terminal would obey."""
    if sys.stdout is not None:
        sys.stdout.write(printable(text) + "\n")


def show(styled: str) -> None:
    """Print what a rendering for terminals made, codes included; it has made everything else printable itself."""
    if sys.stdout is not None:
        sys.stdout.write(styled + "\n")


def complain(text: str) -> None:
    """Print a text on standard error."""
    if sys.stderr is not None:
        sys.stderr.write(printable(text) + "\n")


def complain_of(error: DeiaError) -> None:
    """Print an error with where it is, every problem it holds, and what to type next."""
    where = f"{error.where}: " if error.where else ""
    problems = map(str, getattr(error, "problems", ()))
    complain("\n  ".join((f"deia: {where}{error.message}", *filter(None, (error.fix, *problems)))))


def printable(text: str) -> str:
    """Give a text without control characters other than newlines and tabs."""
    if text.isprintable():
        return text
    return "".join(
        char if char.isprintable() or char in "\n\t" or "\ud800" <= char <= "\udfff" else " " for char in text
    )


def at_terminal() -> bool:
    """Say whether standard output is a terminal."""
    return sys.stdout is not None and sys.stdout.isatty()


def is_watched() -> bool:
    """Say whether somebody reads standard error as it comes, so that progress can be told there."""
    return sys.stderr is not None and sys.stderr.isatty()


def mark(symbol: str, instead: str) -> str:
    """Give a symbol, or plain letters where standard output cannot show it."""
    try:
        symbol.encode(getattr(sys.stdout, "encoding", None) or "ascii")
    except UnicodeEncodeError:
        return instead
    return symbol
