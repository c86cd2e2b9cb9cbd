"""Facts of Markdown, reStructuredText and plain text: sections, definitions, commands, errors, and relations.

A section's name begins with those of the sections around it, as a method's does with its class. Commands, errors, terms
and the subjects of sentences are shared: the same name means the same thing in every document.
"""

from __future__ import annotations

import bisect
import errno
import functools
import itertools
import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from deia.graph.facts import BY_NAME, MENTIONED, Alias, Entity, Facts, Reference
from deia.graph.prose_relations import CONCEPT, relations_in
from deia.ingest.chunkers.pieces import line_starts
from deia.tables import Tables
from deia.text import front_matter_lines

TABLES = Tables(__file__)
LONGEST = 2_000_000
LONGEST_LINE = 2_000
LONGEST_TITLE = 120
MOST = 10_000
DEEPEST = 6
SECTION, COMMAND, ERROR = "SECTION", "COMMAND", "ERROR"
HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+([^\n]*)")
UNDERLINE = re.compile(r"([=\-~^\"'`#*+.:_])\1{2,}\s*$")
FENCE = re.compile(r"\s{0,12}(```+|~~~+)\s*\{?\.?([\w+-]*)|(\s*)\.\. (?:code-block|code|sourcecode|prompt)::\s*(\w*)")
DEFINITIONS = (
    re.compile(r"\s{0,12}(?:[-*+]\s+|\d+[.)]\s+)?(?:\*\*|__)([^*_:\n][^*:\n]{0,78}?):?(?:\*\*|__)\s*(?::|\u2014|\u2013|-{1,3}\s)?\s*(\S[^\n]*)"),
    re.compile(r"\s{0,12}(?:[-*+]\s+)`([\w.@/-]{2,60})`\s*(?::|\u2014|\u2013|-{1,3})\s+(\S[^\n]*)"),
    re.compile(r"(?:[-*+]\s+)?([A-Z][\w-]*(?: [\w-]+){0,3})\s+(?:\u2014|\u2013)\s+(\S[^\n]*)"),
)  # fmt: skip
MARKED = re.compile(r":(?:\*\*|__)|(?:\*\*|__)\s*(?::|\u2014|\u2013|-)|`\s*(?::|\u2014|\u2013|-)|\s(?:\u2014|\u2013)\s")
LISTED = re.compile(r":\s{1,4}(\S[^\n]*)")
DIRECTIVE = re.compile(
    r"\s{0,12}\.\. (?:(?:py|c|cpp|js|rst|std|php|rb|go):)?(\w+):: ?(?:\w+ ){0,3}?([\w.:$-]{1,200})(?:\s*\(|\s*$)"
)
DIRECTIVES = {
    "function": "FUNCTION", "class": "CLASS", "method": "METHOD", "exception": "CLASS", "data": "VARIABLE",
    "attribute": "ATTRIBUTE", "module": "MODULE", "classmethod": "METHOD", "staticmethod": "METHOD", "macro": "MACRO",
    "envvar": "VARIABLE", "option": "OPTION", "confval": "OPTION", "struct": "CLASS", "type": "TYPE",
}  # fmt: skip
SPAN = re.compile(r"(`{1,2})([^`\n]{2,120})\1")
PROMPT = re.compile(r"\s*(?:[$#%>]\s+|PS[^>\n]{0,80}>\s*)?(?:sudo\s+(?:-\w+\s+)*)?(?:[A-Z_][A-Z0-9_]*=\S*\s+)*")
PROGRAM = re.compile(r"(?:\./)?([a-z][\w.+-]{1,40})(?:\s+([a-z][\w:-]{1,40}))?(?=\s|$)")


class _Line(NamedTuple):
    number: int
    text: str


def prose_facts(document: str, text: str, relation_types: Iterable[str] = ()) -> Facts:
    """Return the facts of a text; `relation_types` are those that a commons adds to the usual ones."""
    if len(text) > LONGEST:
        return Facts()
    rows = [line[:LONGEST_LINE] for line in text.split("\n")]
    prose, shell, headings = _parts(rows)
    sections = _sections(document, headings, len(rows))
    collector = _Collector(sections)
    for line in prose:
        _define(collector, line, rows)
        _mention(collector, line)
    for line in shell:
        collector.mention(COMMAND, _command(line.text, certain=True), line.number)
    _relate(collector, prose, len(rows), tuple(relation_types))
    aliases = [Alias(f"{document}#{_slug(section.description)}", section.name) for section in sections]
    contained = [
        Reference("CONTAINS", section.name, section.first, _around(document, section.name, sections))
        for section in sections
    ]
    return Facts(
        "",
        (*sections, *itertools.islice(collector.entities.values(), MOST)),
        (*contained, *itertools.islice(collector.references, MOST)),
        tuple(dict.fromkeys(aliases)),
    )


class _Collector:
    """The entities and references found so far, each under the section in which it stands."""

    def __init__(self, sections: Sequence[Entity]) -> None:
        self._sections = sections
        self._firsts = [section.first for section in sections]
        self.entities: dict[tuple[str, str], Entity] = {}
        self.references: dict[Reference, None] = {}

    def section(self, line: int) -> str:
        """Return the innermost section that a line is in."""
        place = bisect.bisect_right(self._firsts, line)
        return self._sections[place - 1].name if place else ""

    def name(self, kind: str, name: str, line: int, description: str = "") -> None:
        """Note that a line names or describes something shared."""
        known = self.entities.get((kind, name.casefold()))
        if known is None or (description and not known.description):
            self.entities[kind, name.casefold()] = Entity(name, kind, line, line, description[:200], shared=True)

    def mention(self, kind: str, name: str, line: int) -> None:
        """Note that a line mentions something shared."""
        if name:
            self.name(kind, name, line)
            self.references[Reference("MENTIONS", name, line, self.section(line), kind, MENTIONED)] = None


# --- the parts of a text ---


def _parts(rows: Sequence[str]) -> tuple[list[_Line], list[_Line], list[tuple[int, str, int]]]:
    """Return the lines of prose, those of commands, and the headings: level, title, line."""
    prose: list[_Line] = []
    shell: list[_Line] = []
    headings: list[tuple[int, str, int]] = []
    marks: list[str] = []  # the characters that underline headings, in order of appearance
    at = front_matter_lines(rows)
    while at < len(rows):
        row, below = rows[at], rows[at + 1] if at + 1 < len(rows) else ""
        at += 1
        if fence := FENCE.match(row):
            end = _fence_end(rows, at, fence[1] or "")
            if (fence[2] or fence[4] or "").lower() in TABLES.words("shells") or _is_prompt(rows, at):
                shell += [_Line(number, rows[number - 1]) for number in range(at + 1, end + 1)]
            at = end + bool(fence[1])
        elif match := HEADING.match(row):
            headings.append((len(match[1]), match[2].rstrip("# \t"), at))
        elif row.strip() and UNDERLINE.match(below) and _is_title(rows, at - 1):
            marks += [below[0]] if below[0] not in marks else []
            headings.append((marks.index(below[0]) + 1, row.strip(), at))
            at += 1
        elif not UNDERLINE.match(row):
            prose.append(_Line(at, row))
    return prose, shell, [heading for heading in headings if heading[1]][:MOST]


def _fence_end(rows: Sequence[str], at: int, fence: str) -> int:
    """Return the number of lines before a block's end: its closing fence, or the first line without indent."""
    for number in range(at, len(rows)):
        row = rows[number]
        if row.strip().startswith(fence) if fence else row.strip() and not row.startswith((" ", "\t")):
            return number
    return len(rows)


def _is_prompt(rows: Sequence[str], at: int) -> bool:
    return at < len(rows) and rows[at].lstrip().startswith("$ ")


def _is_title(rows: Sequence[str], at: int) -> bool:
    """Return whether a line above an underline is a heading, not the last line of a paragraph or of a table."""
    title, line = rows[at].rstrip(), rows[at + 1].rstrip()
    alone = at == 0 or not rows[at - 1].strip() or bool(UNDERLINE.match(rows[at - 1]))
    return alone and len(line) >= min(len(title), 3) and not title.startswith(("|", "-", ">", "    "))


def _sections(document: str, headings: Sequence[tuple[int, str, int]], last: int) -> list[Entity]:
    """Return the sections; a name begins with the sections around it, except for the title of the whole document."""
    sections: list[Entity] = []
    above: list[tuple[int, str]] = []
    titles = [level for level, _, _ in headings if level == 1]
    ends = _ends(headings, last)
    for (level, written, line), end in zip(headings, ends, strict=True):
        title = " ".join(re.sub(r"[`*]|\[([^\]\n]*)\]\([^)\n]*\)|\{#[^}\n]*\}", r"\1", written).split())[:LONGEST_TITLE]
        above = [heading for heading in above if heading[0] < level][: DEEPEST - 1]
        name = title.replace(".", "·").strip()
        around = [outer for depth, outer in above if depth > 1 or len(titles) > 1]
        sections.append(Entity(".".join((document, *around, name)), SECTION, line, end, title))
        above.append((level, name))
    return list({section.name: section for section in reversed(sections)}.values())[::-1]


def _ends(headings: Sequence[tuple[int, str, int]], last: int) -> list[int]:
    """Return the last line of each section: the one before the next heading that is not inside it."""
    ends = [last] * len(headings)
    opened: list[int] = []
    for number, (level, _, line) in enumerate(headings):
        while opened and headings[opened[-1]][0] >= level:
            ends[opened.pop()] = line - 1
        opened.append(number)
    return ends


def _around(document: str, name: str, sections: Sequence[Entity]) -> str:
    above = name.rpartition(".")[0]
    return above if above != document and sections else ""


def _slug(title: str) -> str:
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


# --- what lines define and mention ---


def _define(collector: _Collector, line: _Line, rows: Sequence[str]) -> None:
    """Note the terms and symbols that a line defines."""
    if directive := DIRECTIVE.match(line.text):
        if kind := DIRECTIVES.get(directive[1]):
            collector.entities[kind, directive[2]] = Entity(directive[2], kind, line.number, line.number)
        return
    listed = LISTED.match(line.text)
    above = rows[line.number - 2] if line.number > 1 else ""
    if listed and above[:1].strip() and len(above) < 80 and above[-1:] not in ".:;,":
        collector.name(CONCEPT, _bare(above), line.number - 1, listed[1])
    if not MARKED.search(line.text):
        return
    for pattern in DEFINITIONS:
        if (match := pattern.match(line.text)) and _is_term(match[1]):
            collector.name(CONCEPT, _bare(match[1]), line.number, _bare(match[2]))
            return


def _bare(text: str) -> str:
    return " ".join(re.sub(r"[`*]", "", text).split())


def _is_term(text: str) -> bool:
    """Return whether a text may be a term: a few words, not a sentence, not a number."""
    return len(text.split()) <= 5 and bool(re.search("[A-Za-z]", text)) and text[-1:] not in ".!?,;"


def _mention(collector: _Collector, line: _Line) -> None:
    """Note the errors and the commands that a line of prose names."""
    for match in _errors().finditer(line.text):
        name = " ".join(match[0].split())
        name = f"HTTP {name[-3:]}" if name[:4].lower() in {"http", "stat"} else name
        if not re.fullmatch("E[A-Z]+", name) or name in errno.errorcode.values():
            collector.mention(ERROR, name, line.number)
    for span in SPAN.finditer(line.text):
        collector.mention(COMMAND, _command(span[2], certain=False), line.number)


@functools.cache
def _errors() -> re.Pattern[str]:
    return re.compile(rf"(?<![\w.-])(?:{'|'.join(TABLES.lines('errors'))})(?![\w-])")


def _command(text: str, *, certain: bool) -> str:
    """Return the name of the command in a line, or ""; unless `certain`, only of a program with a sub-command."""
    prompt = PROMPT.match(text)
    match = PROGRAM.match(text, prompt.end() if prompt else 0)
    if match is None or match[1] in TABLES.words("no_commands") or text.lstrip().startswith(("# ", "//")):
        return ""
    program, following = match[1], match[2]
    if program in TABLES.words("with_subcommands") and following:
        return f"{program} {following}"
    return program if certain and not match.string[match.end() :].lstrip().startswith(("=", "(")) else ""


# --- what sentences say ---


def _relate(collector: _Collector, prose: Sequence[_Line], count: int, custom: tuple[str, ...]) -> None:
    """Note the relations that sentences state; lines that are not prose separate paragraphs."""
    rows = [""] * count
    for line in prose:
        rows[line.number - 1] = line.text
    text = "\n".join(rows)
    starts = line_starts(text)
    for relation_type, source, target, offset, sentence in itertools.islice(relations_in(text, custom), MOST):
        number = bisect.bisect_right(starts, offset)
        for name, kind in (source, target):
            collector.name(kind, name, number)
        collector.references[Reference(relation_type, target[0], number, source[0], target[1], BY_NAME, sentence)] = (
            None
        )
