"""The ways to cut a text that a person can ask for by name, whatever the type of its file."""

from __future__ import annotations

import bisect
import itertools
import re
from collections.abc import Callable, Sequence

from deia.ingest.chunkers.pieces import LONGEST_HEADING, Node, page_starts
from deia.ingest.chunkers.sentences import sentence_ends
from deia.ingest.reading import Reading

BLANK_LINES = re.compile(r"\n[ \t]*\n\s*")
# A fenced block, which is passed over, or a heading.
MARK = re.compile(r"^ {0,3}(`{3,}|~{3,})(?s:.*?)(?:^ {0,3}\1[`~]*[ \t]*$|\Z)|^(#{1,6})[ \t]+(\S.*)$", re.MULTILINE)


def sections(reading: Reading, *, fewest: int = 1) -> list[Node]:
    """Return the section below each heading of level `fewest` or deeper, up to the next such heading."""
    text = reading.text
    marks = [mark for mark in MARK.finditer(text) if mark[2] and len(mark[2]) >= fewest]
    ends = [*(mark.start() for mark in marks), len(text)][1:]
    path: list[tuple[int, str]] = []
    nodes: list[Node] = []
    for mark, end in zip(marks, ends, strict=False):
        level, title = len(mark[2]), mark[3].strip().rstrip("#").strip()[:LONGEST_HEADING]
        path = [*(above for above in path if above[0] < level), (level, title)]
        name = " > ".join(title for _, title in path)
        nodes.append(Node(mark.start(), end, "section", name, name, metadata={"level": level}))
    return nodes


def nested_sections(reading: Reading) -> list[Node]:
    """Return the sections with the sections below them as their parts."""
    open_sections: list[tuple[Node, list[Node]]] = [(Node(0, 0, "", "", metadata={"level": 0}), [])]

    def close(level: int) -> None:
        while len(open_sections) > 1 and int(str(open_sections[-1][0].metadata["level"])) >= level:
            node, parts = open_sections.pop()
            end = parts[-1].end if parts else node.end
            open_sections[-1][1].append(node._replace(end=end, parts=tuple(parts)))

    for node in sections(reading):
        close(int(str(node.metadata["level"])))
        open_sections.append((node, []))
    close(0)
    return open_sections[0][1]


def pages(reading: Reading) -> list[Node]:
    """Return the pages, slides or sheets of a reading."""
    return _nodes(reading, [*page_starts(reading), len(reading.text)], "page")


def paragraphs(reading: Reading) -> list[Node]:
    """Return the stretches of text between blank lines."""
    text = reading.text
    return _nodes(reading, [0, *(gap.end() for gap in BLANK_LINES.finditer(text)), len(text)], "paragraph")


def sentences(reading: Reading) -> list[Node]:
    """Return the sentences; the end of a paragraph ends one, too."""
    text = reading.text
    ends = {*sentence_ends(text, 0, len(text)), *(gap.end() for gap in BLANK_LINES.finditer(text))}
    return _nodes(reading, [0, *sorted(ends), len(text)], "")


def _nodes(reading: Reading, borders: Sequence[int], kind: str) -> list[Node]:
    """Return the stretches between borders, each with the headings above it."""
    above = sections(reading)
    begins = [node.start for node in above]
    nodes = []
    for start, end in itertools.pairwise(borders):
        number = bisect.bisect_left(begins, end) if kind == "page" else bisect.bisect_right(begins, start)
        nodes.append(Node(start, end, kind, "", above[number - 1].heading if number else reading.title))
    return nodes


STRATEGY_PARTS: dict[str, Callable[[Reading], list[Node]]] = {
    "recursive": nested_sections,
    "hierarchical": nested_sections,
    "by_heading": sections,
    "by_page": pages,
    "by_paragraph": paragraphs,
    "by_sentence": sentences,
    "fixed_chars": lambda _: [],
}
