"""Facts of pages' anchors and links: where a name or a section begins, and which lines refer to it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import unquote, urldefrag

from deia.graph.facts import Alias, Entity, Facts, Reference
from deia.graph.import_paths import place_of
from deia.ingest.readers.html_page import SCHEME

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Place = tuple[str, int]  # a name or an address, with the line on which it stands

DEFINITION, SECTION, LINKS_TO = "DEFINITION", "SECTION", "LINKS_TO"
MODULE_ANCHOR = "module-"  # before a module's name in the pages of Sphinx
MOST_LINE = 4_000  # characters of a line that are searched for links
MOST_PLACES = 5_000  # links per page, and as many anchors
HEADING = re.compile(r" {0,3}#{1,6}[ \t]+(.{1,300})")
FENCE = re.compile(r" {0,3}(```|~~~)")
LINK = re.compile(r"\]\(<?([^()\s<>]{1,500})|\[\[([^\]|#\n]{1,200})(?:#([^\]|\n]{1,200}))?")
NO_SLUG = re.compile(r"[^\w\- ]")


def page_facts(
    document: str, anchors: Sequence[Place], links: Sequence[Place], sections: Mapping[int, str] = {}
) -> Facts:
    """Return a page's anchors as entities, and its links as references from the lines on which they stand.

    An anchor is named by its address: the document and the anchor. An anchor that is a qualified name (`json.dumps`)
    defines that name. Anchors on the first lines of `sections` are other names for these sections.
    """
    lines = dict(reversed(anchors))
    defined = {anchor: name for anchor in lines if (name := _defined(anchor))}
    entities = tuple(
        Entity(f"{document}#{anchor}", DEFINITION if anchor in defined else SECTION, line, line)
        for anchor, line in lines.items()
        if line not in sections
    )
    aliases = [Alias(name, f"{document}#{anchor}") for anchor, name in defined.items()]
    aliases += [Alias(f"{document}#{anchor}", sections[line]) for anchor, line in lines.items() if line in sections]
    seen: dict[Place, None] = {}
    for address, line in links:
        path, anchor = urldefrag(address)
        if not path and lines.get(anchor) == line:
            continue  # the sign beside a heading that links to the heading
        path = place_of(document, "").beside(unquote(path)) if path else document
        seen[(f"{path}#{unquote(anchor)}" if anchor else path, line)] = None
    return Facts(
        entities=entities,
        references=tuple(Reference(LINKS_TO, target, line) for target, line in seen),
        aliases=tuple(aliases),
    )


def _defined(anchor: str) -> str:
    """Return the qualified name that an anchor defines, or ""."""
    bare = anchor.removeprefix(MODULE_ANCHOR)
    is_name = bare != anchor or "." in anchor
    return bare if is_name and all(part.isidentifier() for part in bare.split(".")) else ""


def markdown_places(text: str) -> tuple[list[Place], list[Place]]:
    """Return a Markdown page's headings, as the anchors that hosts of repositories make of them, and its links."""
    anchors: list[Place] = []
    links: list[Place] = []
    fence = ""
    for number, line in enumerate(text.split("\n"), 1):
        mark = FENCE.match(line)
        if mark and fence in ("", mark[1]):
            fence = "" if fence else mark[1]
        if fence or mark:
            continue
        if heading := HEADING.match(line):
            anchors.append((_slug(heading[1]), number))
        for address, page, section in LINK.findall(line[:MOST_LINE]):
            if page:  # a wiki's
                links.append((f"{page.strip()}.md" + (f"#{_slug(section)}" if section else ""), number))
            elif not SCHEME.match(address):
                links.append((address, number))
    return anchors[:MOST_PLACES], links[:MOST_PLACES]


def _slug(heading: str) -> str:
    return NO_SLUG.sub("", heading.strip().rstrip("#").strip().casefold()).replace(" ", "-")
