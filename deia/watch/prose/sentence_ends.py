"""Where a growing text is settled: behind which sentences and lines nothing that follows changes what was said.

A sentence ends as in `regions`; it is not settled while a quotation or code opened in its line may still
close around it, nor inside a block of code before its closing fence. Which places these are depends on the text alone,
never on the pieces in which it came. Refuses to judge anything.
"""

from __future__ import annotations

import io
import re

from deia.records import TYPE_CHECKING
from deia.watch.prose.regions import CLOSING, FENCES, LONGEST_QUOTE, MOST_APOSTROPHES, SINGLE_MARKS

if TYPE_CHECKING:
    from collections.abc import Iterator

# The end of a sentence with the white space that makes it one, or of a line.
STOP = re.compile("[.!?][ \t]|[\u3002\uff01\uff1f]|\n")
MARK = re.compile("[" + "".join(map(re.escape, CLOSING)) + "]")
ODD_LINES = re.compile("[\r\v\f\x1c\x1d\x1e\x85\u2028\u2029]")  # end a line for `splitlines`, and no sentence
UNDECIDED, NO_MARK = -2, -1


class Settled:
    """A text that grows, and the places up to which it is settled."""

    __slots__ = ("_checked", "_fence", "_line", "_odd", "_plain", "_scanned", "_text", "size")

    def __init__(self) -> None:
        self._text = io.StringIO()
        self.size = 0
        self._scanned = 0  # up to here places were looked for
        self._line = 0  # where the line that is being written begins
        self._fence = ""  # of the block of code that is open
        self._plain: bool | None = None  # whether sentences of this line may be settled before its end
        self._odd = 0  # up to here this line holds no odd end of a line
        self._checked = 0  # up to here every mark of this line is closed, or closes never

    def add(self, chunk: str) -> Iterator[int]:
        """Take more text, and give the places that are settled by now, each once."""
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
        self._scanned = max(self._scanned, self.size - 1)  # a full stop may wait for its space

    def part(self, first: int, last: int) -> str:
        """Give a part of the text."""
        self._text.seek(first)
        return self._text.read(last - first)

    def whole(self) -> str:
        """Give all of the text."""
        return self._text.getvalue()

    def _ends_line(self, end: int) -> bool:
        """Take a line that is complete, and say whether it leaves no block of code open."""
        for line in self.part(self._line, end).splitlines():
            bare = line.strip()
            mark = bare[:3]
            if not self._fence:
                self._fence = mark if mark in FENCES else ""
            elif mark == self._fence and not bare.strip(mark[0]):
                self._fence = ""
        self._line = self._checked = self._odd = end
        self._plain = None
        return not self._fence

    def _is_settled(self, end: int) -> bool:
        """Say whether a sentence that ends inside a line is settled."""
        if self._fence:
            return False
        if self._plain is None:
            head = self.part(self._line, end).lstrip()
            self._plain = not head.startswith((">", *FENCES))
        self._plain = self._plain and not ODD_LINES.search(self.part(self._odd, end))
        self._odd = end
        return self._plain and not self._may_close_later(end)

    def _may_close_later(self, end: int) -> bool:
        """Say whether a mark is open in this line that may still close and make a quotation of what is behind it."""
        first = max(self._checked - 1, self._line)  # what stands before a mark decides whether it opens anything
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
    """Give where a mark opened at `at` closes, as in `regions`; or that it opens nothing, or may yet."""
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
