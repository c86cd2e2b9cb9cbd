"""The facts of one document of whatever type: each type has its extractors, and their facts are joined."""

from __future__ import annotations

import functools
from collections.abc import Callable

from deia.graph.code_facts import code_facts
from deia.graph.custom_fields import head_facts
from deia.graph.data_facts import data_facts
from deia.graph.facts import Facts, Page, joined
from deia.graph.package_facts import package_facts, reads_packages
from deia.graph.page_facts import SECTION, markdown_places, page_facts
from deia.graph.prose_facts import prose_facts
from deia.graph.prose_relations import CONCEPT
from deia.graph.python_facts import python_facts
from deia.graph.schema import read_schema
from deia.graph.sql_facts import sql_facts

PROSE = ("markdown", "text", "html", "pdf", "office", "email")


def facts_of(page: Page) -> Facts:
    """Return the facts of a document."""
    readings: list[Facts] = []
    schema = read_schema(page.schema)
    if reads_packages(page.name):
        readings.append(package_facts(page.name, page.text))
    elif page.type == "code":
        readings.append(_code(page.language, page.module)(page.name, page.text))
    elif page.type in {"json", "yaml"}:
        readings.append(data_facts(page.name, page.text, schema))
    elif page.type in PROSE:
        prose = prose_facts(page.name, page.text, schema.relation_types)
        head = head_facts(page.text, page.title, schema)
        readings += [_explained(head, prose), prose]  # the head first, since what is declared counts
    anchors, links = markdown_places(page.text) if page.type == "markdown" else (page.anchors, page.links)
    if anchors or links:
        sections = {
            entity.first: entity.name for facts in readings for entity in facts.entities if entity.type == SECTION
        }
        readings.append(page_facts(page.name, anchors, links, sections))
    return functools.reduce(joined, readings, Facts())


def _explained(head: Facts, prose: Facts) -> Facts:
    """Return what a head says, with the descriptions that the prose has of what the head does not describe."""
    told = {entity.name.casefold(): entity.description for entity in prose.entities if entity.type == CONCEPT}
    return head._replace(
        entities=tuple(
            entity._replace(description=entity.description or told.get(entity.name.casefold(), ""))
            for entity in head.entities
        )
    )


def _code(language: str, module: str) -> Callable[[str, str], Facts]:
    if language == "python":
        return lambda document, text: python_facts(document, text, module)
    return sql_facts if language == "sql" else functools.partial(_other, language)


def _other(language: str, document: str, text: str) -> Facts:
    return code_facts(document, text, language)
