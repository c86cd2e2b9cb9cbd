"""Markdown that readers of formats without lines write: only they make its headings, code and table rows."""

from __future__ import annotations

from bisect import bisect_left

from deia.records import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from deia.fast_json import Json

DEEPEST = 6
INDENT, MOST_INDENTS = "   ", 5  # of a list in an item of another one, both with numbers
MOST_PLACES = 5_000  # links of a page, and anchors
CONTROLS = bytes([*range(9), *range(11, 32), 127])
SPACES = bytes.maketrans(CONTROLS, b" " * len(CONTROLS))


def spaced(text: str) -> str:
    """Return a text with all white space as single spaces."""
    return " ".join(text.split())


def printable(text: str) -> str:
    """Return a text with spaces for control characters; with a pattern, that would take five times as long."""
    return text.encode("utf-8", "surrogatepass").translate(SPACES).decode("utf-8", "surrogatepass")


class MarkdownLines:
    """Lines of Markdown that grow block by block, with the line on which each page begins."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self.pages: list[int] = []
        self.title = ""  # the first heading
        self.number = ""  # of an item of a list, to be written before its first paragraph
        self._open_lists = 0  # with numbers, one within the other
        self._after_number = -1  # how many lines there are if the last one has a number
        self._anchors: list[tuple[str, int]] = []  # each with the number of lines before it
        self._links: list[tuple[str, int]] = []

    def page(self) -> None:
        """Begin a page, slide or sheet."""
        self._space()
        self.pages.append(len(self._lines) + 1)

    def anchor(self, name: str) -> None:
        """Note the name by which links lead to what is written next."""
        self._anchors.append((name, len(self._lines)))

    def links(self, addresses: Sequence[str]) -> None:
        """Note what the line that was just written links to."""
        self._links += [(address, len(self._lines) - 1) for address in addresses]

    def places(self) -> dict[str, Json]:
        """Return the anchors and the links, each with its line from 1."""
        full = [at for at, line in enumerate(self._lines) if line]
        by_name: dict[str, Json] = {}
        for name, some in (("anchors", self._anchors), ("links", self._links)):
            lines = [(text, bisect_left(full, before)) for text, before in some[:MOST_PLACES]]
            by_name[name] = [[text, full[at] + 1] for text, at in lines if at < len(full)]
        return {name: places for name, places in by_name.items() if places}

    def heading(self, level: int, title: str) -> None:
        """Write a heading."""
        title = spaced(title)
        if title:
            self._space()
            self._lines += [f"{'#' * min(max(level, 1), DEEPEST)} {title}", ""]
            self.title = self.title or title

    def paragraph(self, text: str) -> None:
        """Write lines that follow each other; one that looks like a heading is moved to the right by a space."""
        if not text.strip():
            return
        lines, number = self._lines, self.number
        if lines and lines[-1]:
            is_item = number or text[:2] == "- "
            if not (is_item and (lines[-1][:2] == "- " or len(lines) == self._after_number)):
                lines.append("")
        if number:
            text, self.number = number + text, ""
            self._after_number = len(lines) + 1
        if "\n" in text:
            lines += [f" {line}" if line[:1] == "#" else line for line in text.split("\n")]
        else:
            lines.append(f" {text}" if text[:1] == "#" else text)

    def open_list(self) -> str:
        """Begin a list with numbers; return the indentation of its items."""
        self._open_lists += 1
        return INDENT * min(self._open_lists - 1, MOST_INDENTS)

    def close_list(self) -> None:
        """End a list with numbers."""
        self._open_lists -= 1

    def markdown(self, text: str) -> None:
        """Write Markdown as it is."""
        if text.strip():
            self._space()
            self._lines += [*text.rstrip("\n").split("\n"), ""]
            first = next((line[2:].strip() for line in text.split("\n") if line.startswith("# ")), "")
            self.title = self.title or first

    def code(self, text: str) -> None:
        """Write lines as they are, in a fence that none of them closes."""
        text = text.strip("\n")
        if text.strip():
            fence = "```"
            while fence in text:
                fence += "`"
            self._space()
            self._lines += [fence, *text.split("\n"), fence, ""]

    def row(self, cells: Sequence[str]) -> None:
        """Write a row of a table."""
        if any(cells):
            if self._lines and self._lines[-1][:1] != "|":
                self._space()
            if "|" in "".join(cells):  # looking once for all is faster than in each
                cells = [cell.replace("|", "/") for cell in cells]
            self._lines.append(f"| {' | '.join(cells)} |")

    def text(self) -> str:
        """Return everything written so far."""
        return printable("\n".join(self._lines).rstrip("\n"))

    def _space(self) -> None:
        if self._lines and self._lines[-1]:
            self._lines.append("")
