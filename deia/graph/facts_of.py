"""The facts of one document, by its kind. Provisional until the extractors are joined."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deia.graph.facts import Facts
from deia.graph.code_facts import code_facts
from deia.graph.page_facts import markdown_places, page_facts
from deia.graph.python_facts import python_facts
from deia.records import Record

if TYPE_CHECKING:
    from collections.abc import Sequence

EXTRACTOR = "1"  # changes when a document's facts would be others


class Page(Record):
    """A document as extractors see it."""

    name: str
    type: str  # one of `deia.ingest.reading.TYPES`
    text: str
    language: str = ""
    module: str = ""  # the name by which Python imports it
    anchors: Sequence[tuple[str, int]] = ()
    links: Sequence[tuple[str, int]] = ()
    relation_types: Sequence[str] = ()
    entity_types: Sequence[str] = ()


def facts_of(page: Page) -> Facts:
    """Return what a document says."""
    if page.type == "markdown":
        return page_facts(page.name, *markdown_places(page.text))
    if page.type == "code" and page.language == "python":
        return python_facts(page.name, page.text, page.module)
    if page.type == "code":
        return code_facts(page.name, page.text, page.language)
    return page_facts(page.name, page.anchors, page.links) if page.anchors or page.links else Facts()
