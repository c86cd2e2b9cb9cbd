"""Read the text of a note: its sections, the fields at its top, its tags, its links and its first paragraph.

The forms are those of Markdown and of Obsidian: `[[links]]`, `#tags`, callouts, `name:: value`. Any text is accepted.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from deia.commons.notes.conventions import FIELDS_IN_TEXT, SUMMARY_CALLOUTS, field_of, heading_of
from deia.knowledge import Document, Entry
from deia.records import Record

CODE = ("```", "~~~")
HEADING = re.compile(r"(#{1,6})[ \t]+(.*)")
FIELD = re.compile(r"(?:[-*+] )?[*_]{0,2}([A-Za-z][\w -]{0,30})[*_]{0,2}::?[*_]{0,2}\s(.*)")
TAG = re.compile(r"(?<![\w/#&(\[])#([A-Za-z_][\w/-]{0,60})")
LAST_TAGS = re.compile(r"(?:\s#[\w/-]{1,60}){1,20}$")
COLOUR = re.compile(r"[0-9a-fA-F]{3,8}")
CODE_SPAN = re.compile(r"`[^`\n]*`")
WIKI_LINK = re.compile(r"\[\[([^\[\]|#^\n]{1,200})(?:[#^][^\[\]|\n]{0,200})?(?:\|([^\[\]\n]{0,200}))?\]\]")
LINK = re.compile(r"\[([^\[\]\n]{0,300})\]\(<?([^()\s<>]{1,300})>?(?:[ \t]\"[^\"\n]{0,200}\")?\)")
EMBED = re.compile(r"!(?=\[)")
COMMENT = re.compile(r"%%[^%\n]{0,500}%%")
CALLOUT = re.compile(r"\[!([\w-]{1,30})\][-+]?\s*(.*)")
LIST_MARK = re.compile(r"^(?:[-*+]|[0-9]{1,4}[.)])\s+(?:\[[ xX]\]\s+)?")
RULE = re.compile(r"[-*_=\s]{3,}")
BOLD_FIELD = re.compile(r"\*\*[^*\n]{1,60}(?:\*\*:|:\*\*)")
NOT_PROSE = ("#", "|", "<", ">", *CODE)
MOST_TAGS = 20


class NoteText(Record):
    """What the text of a note says about itself."""

    fields: Mapping[str, str]  # of the lines above the first section
    sections: Mapping[str, str]  # by their headings, as these are compared
    tags: tuple[str, ...]
    prose: str  # the text without the lines that are fields


def read_note(text: str) -> NoteText:
    """Read the text of a note."""
    fields: dict[str, str] = {}
    sections: dict[str, list[str]] = {}
    tags: dict[str, None] = {}
    prose: list[str] = []
    section: list[str] = []
    at_top = True
    for line, is_code in _marked(text):
        heading = None if is_code else HEADING.match(line)
        if heading:
            at_top = at_top and len(heading[1]) == 1
            section = sections.setdefault(heading_of(heading[2]), [])
            prose.append(line)
            continue
        name, value = _field(line) if at_top and not is_code and ":" in line else ("", "")
        if name:
            fields.setdefault(name, value)
            continue
        section.append(line)
        prose.append(line)
        if "#" in line and not is_code and len(tags) < MOST_TAGS:
            tags |= dict.fromkeys(tag for tag in TAG.findall(CODE_SPAN.sub(" ", line)) if not COLOUR.fullmatch(tag))
    bodies = {name: "\n".join(lines) for name, lines in sections.items() if name}
    return NoteText(fields=fields, sections=bodies, tags=tuple(tags), prose="\n".join(prose))


def _marked(text: str) -> Iterator[tuple[str, bool]]:
    """Yield each line, and whether it belongs to a fenced block of code."""
    fence = ""
    for line in text.split("\n"):
        bare = line.strip()
        mark = next((mark for mark in CODE if bare.startswith(mark)), "")
        if mark and (not fence or mark == fence):
            fence = "" if fence else mark
            yield line, True
        else:
            yield line, bool(fence)


def _field(line: str) -> tuple[str, str]:
    """Return the field that a line at the top of a note sets, and its value, or two empty texts."""
    match = FIELD.fullmatch(line.strip())
    field = field_of(match[1]) if match else ""
    return (field, plain_line(match[2])) if match and field in FIELDS_IN_TEXT and match[2].strip() else ("", "")


def links_in(text: str) -> list[str]:
    """Return what a note links to: names of notes in double brackets, and paths of other Markdown files."""
    names = [match[1].strip() for match in WIKI_LINK.finditer(text)] if "[[" in text else []
    paths = [match[2].partition("#")[0] for match in LINK.finditer(text)] if "](" in text else []
    return list(dict.fromkeys([*names, *(path for path in paths if path.endswith((".md", ".mdc", ".markdown")))]))


def plain_line(line: str) -> str:
    """Return a line as a reader sees it: links as their text, without comments."""
    if "[" in line:
        line = WIKI_LINK.sub(lambda match: match[2] or match[1].rpartition("/")[2], EMBED.sub("", line))
        line = LINK.sub(lambda match: match[1], line)
    return (COMMENT.sub("", line) if "%%" in line else line).strip()


def first_paragraph(text: str, *, limit: int = 300) -> str:
    """Return the first paragraph of prose on one line, to use as a summary if nobody wrote one."""
    lines: list[str] = []
    for line, is_code in _marked(text):
        bare = line.strip()
        if _is_prose(bare) and not is_code:
            lines.append(plain_line(LIST_MARK.sub("", bare, count=1)))
        elif any(lines):
            break
    return _shortened(LAST_TAGS.sub("", " ".join(" ".join(lines).split())), limit)


def _is_prose(bare: str) -> bool:
    is_mark = bare.startswith(NOT_PROSE) and not bare.startswith("<<")
    return bool(bare) and not is_mark and not RULE.fullmatch(bare) and not BOLD_FIELD.match(bare)


def summary_callout(text: str) -> str:
    """Return the text of the first callout that sums the note up, such as `> [!tldr]`, on one line."""
    lines: list[str] = []
    inside = False
    for line in text.split("\n") if "[!" in text else ():
        bare = line.strip()
        match = CALLOUT.match(bare[1:].strip()) if bare.startswith(">") else None
        if match and not inside:
            inside = match[1].lower() in SUMMARY_CALLOUTS
        elif inside and bare.startswith(">"):
            lines.append(plain_line(LIST_MARK.sub("", bare[1:].strip(), count=1)))
        elif inside:
            break
    return _shortened(" ".join(" ".join(lines).split()), 300)


def _shortened(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    return text[: text.rfind(" ", 0, limit) if " " in text[:limit] else limit] + "…"


# --- the documents that a note links to ---

MOST_LINKS = 20  # of one note


def with_links(entries: Sequence[Entry], unlisted: Iterable[str], documents: Mapping[str, Document]) -> list[Entry]:
    """Return the entries, those at the `unlisted` paths with the documents that their texts link to."""
    links = {path: targets for path in unlisted if (targets := links_in(documents[path].text)[:MOST_LINKS])}
    if not links:
        return list(entries)
    names = _names_of(entries)
    return [_linked(entry, links[entry.path], names) if entry.path in links else entry for entry in entries]


def _names_of(entries: Sequence[Entry]) -> dict[str, str]:
    """Return the id of each document by its path, its title and the name of its file, in lower case."""
    names: dict[str, str] = {}
    for entry in entries:
        stem = entry.path.rpartition("/")[2].rpartition(".")[0]
        for name in (entry.path, entry.path.rpartition(".")[0], stem, entry.title):
            names.setdefault(name.lower(), entry.id)
    return names


def _linked(entry: Entry, links: Sequence[str], names: Mapping[str, str]) -> Entry:
    folder = posixpath.dirname(entry.path)
    idents = [
        names.get(link.lower()) or names.get(posixpath.normpath(posixpath.join(folder, link)).lower()) for link in links
    ]
    related = dict.fromkeys([*entry.related_docs, *filter(None, idents)])
    return entry.but(related_docs=tuple(name for name in related if name != entry.id))
