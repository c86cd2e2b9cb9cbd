"""The places in a growing text up to which it is settled: nothing that follows can change what was said before them.

These are ends of sentences, as in `regions`, and of lines. The end of a sentence is not settled while a quotation or
code that was opened in the same line may still close around it, and nothing is settled inside a block of code before
its closing fence. The places depend on the text alone, never on the pieces in which it arrives.
"""

from __future__ import annotations

import io
import re

from deia.records import TYPE_CHECKING
from deia.watch.prose.regions import CLOSING, FENCES, LONGEST_QUOTE, MOST_APOSTROPHES, SINGLE_MARKS

if TYPE_CHECKING:
    from collections.abc import Iterator

# The end of a sentence, with the white space that is part of it, or of a line.
STOP = re.compile("[.!?][ \t]|[\u3002\uff01\uff1f]|\n")
MARK = re.compile("[" + "".join(map(re.escape, CLOSING)) + "]")
ODD_LINES = re.compile("[\r\v\f\x1c\x1d\x1e\x85\u2028\u2029]")  # end a line for `splitlines`, but no sentence
UNDECIDED, NO_MARK = -2, -1


class Settled:
    """A growing text that reports the places up to which it is settled."""

    __slots__ = ("_checked", "_fence", "_line", "_odd", "_plain", "_scanned", "_text", "size")

    def __init__(self) -> None:
        self._text = io.StringIO()
        self.size = 0
        self._scanned = 0  # up to this position sentence and line ends were looked for
        self._line = 0  # where the current line begins
        self._fence = ""  # the fence of the open block of code, or ""
        # Whether sentences of this line may be settled before the line ends; None if that is not known yet.
        self._plain: bool | None = None
        self._odd = 0  # up to this position the line has none of ODD_LINES
        self._checked = 0  # up to this position every quotation mark in the line is closed, or can never close

    def add(self, chunk: str) -> Iterator[int]:
        """Append more text, and yield the places that are settled by now, each once."""
        self._text.seek(self.size)
        self._text.write(chunk)
        self.size += len(chunk)
        first = self._scanned
        fresh = self.part(first, self.size)
        for stop in STOP.finditer(fresh):
            end = first + stop.end()
            self._scanned = end
            if fresh[stop.end() - 1] == "\n":
                if self._ends_line(end):
                    yield end
            elif self._is_settled(end):
                yield end
        # The last character may be a full stop whose space is still to come.
        self._scanned = max(self._scanned, self.size - 1)

    def part(self, first: int, last: int) -> str:
        """Return a part of the text."""
        self._text.seek(first)
        return self._text.read(last - first)

    def whole(self) -> str:
        """Return the whole text."""
        return self._text.getvalue()

    def _ends_line(self, end: int) -> bool:
        """Close the line that ends at `end`, and return whether no block of code is open after it."""
        for line in self.part(self._line, end).splitlines():
            stripped = line.strip()
            mark = stripped[:3]
            if not self._fence:
                self._fence = mark if mark in FENCES else ""
            elif mark == self._fence and not stripped.strip(mark[0]):
                self._fence = ""
        self._line = self._checked = self._odd = end
        self._plain = None
        return not self._fence

    def _is_settled(self, end: int) -> bool:
        """Return whether the text is settled up to the end of a sentence inside a line."""
        if self._fence:
            return False
        if self._plain is None:
            head = self.part(self._line, end).lstrip()
            self._plain = not head.startswith((">", *FENCES))
        self._plain = self._plain and not ODD_LINES.search(self.part(self._odd, end))
        self._odd = end
        return self._plain and not self._may_close_later(end)

    def _may_close_later(self, end: int) -> bool:
        """Return whether a mark in this line is open that may still close after `end`, around the sentence."""
        first = max(self._checked - 1, self._line)  # the character before a mark decides whether it opens anything
        text = self.part(first, end)
        mark = MARK.search(text, self._checked - first)
        while mark:
            at = mark.start()
            closing = _closing(text, at)
            if closing == UNDECIDED and len(text) - at < LONGEST_QUOTE:
                self._checked = first + at
                return True
            mark = MARK.search(text, (at if closing < 0 else closing) + 1)
        self._checked = end
        return False


def _closing(text: str, at: int) -> int:
    """Return where a mark at `at` closes, as in `regions`, or UNDECIDED or NO_MARK.

    UNDECIDED means that it may still close in text to come, NO_MARK that it opens nothing.
    """
    char, most = text[at], at + LONGEST_QUOTE
    if char == "`":
        ticks = next((count for count in (3, 2) if text.startswith("`" * count, at)), 1)
        end = text.find("`" * ticks, at + ticks, most)
        return end + ticks - 1 if end >= 0 else UNDECIDED
    if at and (text[at - 1].isalnum() or (char == '"' and text[at - 1] in "=\\")):
        return NO_MARK
    end = text.find(CLOSING[char], at + 1, most)
    for _ in range(MOST_APOSTROPHES):
        if end < 0:
            return UNDECIDED
        if char not in SINGLE_MARKS or not text[end + 1 : end + 2].isalnum():
            return end
        end = text.find(CLOSING[char], end + 1, most)
    return NO_MARK
