"""The facts of one document of whatever type: each type has its extractors, and their facts are joined."""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING

from deia.graph.code_facts import code_facts
from deia.graph.data_facts import data_facts
from deia.graph.facts import Facts, joined
from deia.graph.package_facts import package_facts, reads_packages
from deia.graph.page_facts import page_facts
from deia.graph.prose_facts import prose_facts
from deia.graph.python_facts import python_facts
from deia.graph.sql_facts import sql_facts

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

PROSE = ("markdown", "text", "html", "pdf", "office", "email")
LINK = re.compile(r"\]\(<?([^\s()<>]{1,500})|^\[[^\]\n]{1,200}\]:[ \t]+<?([^\s<>]{1,500})")
EXTERNAL = re.compile(r"[a-z][a-z0-9+.-]*:|//|/")


def facts_of(  # noqa: PLR0913 - what a document is comes from several hands
    document: str, type: str, language: str, text: str,  # noqa: A002 - as readings have it
    anchors: Sequence[tuple[str, int]] = (), links: Sequence[tuple[str, int]] = (), *, module: str = "",
    relation_types: Sequence[str] = (),
) -> Facts:  # fmt: skip
    """Return what a document says; `module` is the name by which others import it, if it is Python."""
    readings: list[Facts] = []
    if reads_packages(document):
        readings.append(package_facts(document, text))
    elif type == "code":
        readings.append(_code(language, module)(document, text))
    elif type in {"json", "yaml"}:
        readings.append(data_facts(document, text))
    elif type in PROSE:
        readings.append(prose_facts(document, text, relation_types))
    if type == "markdown":
        links = [*links, *_links(text)]
    if anchors or links:
        readings.append(page_facts(document, anchors, links))
    return functools.reduce(joined, readings, Facts())


def _code(language: str, module: str) -> Callable[[str, str], Facts]:
    if language == "python":
        return lambda document, text: python_facts(document, text, module)
    return sql_facts if language == "sql" else functools.partial(_other, language)


def _other(language: str, document: str, text: str) -> Facts:
    return code_facts(document, text, language)


def _links(text: str) -> list[tuple[str, int]]:
    """Return where lines of Markdown link to within the source, each with its line."""
    return [
        (target, number)
        for number, line in enumerate(text.split("\n"), 1)
        if "](" in line or line[:1] == "["
        for match in LINK.finditer(line[:2000])
        if (target := match[1] or match[2]) and not EXTERNAL.match(target)
    ]
