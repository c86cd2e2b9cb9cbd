"""Read `concepts` of a master index: words that mean the same in this commons."""

from __future__ import annotations

from deia.commons.index.index_records import Concept
from deia.commons.source_files import fields
from deia.commons.source_files.findings import Findings, quote
from deia.commons.source_files.yaml_reader import Map

LONGEST = 100  # characters of one item, which may be several words
MOST_WORDS = 4
FIX = "Write `k8s: [kubernetes, kube]`."


def read_concepts(top: Map, findings: Findings) -> tuple[Concept, ...]:
    """Read the concepts of an index; invalid ones, and those with only one word, are reported and left out."""
    source = fields.mapping(top, "concepts", findings)
    concepts = []
    for name in source:
        before = findings.errors()
        words = tuple(dict.fromkeys((name.strip(), *fields.texts(source, name, findings))))
        for word in words:
            if len(word) > LONGEST or len(word.split()) > MOST_WORDS:
                problem = f"{quote(word)} is too long for a concept; use at most {MOST_WORDS} words."
                findings.error(
                    source.at(name), "bad-concept", problem, "Name the thing here, and describe it in a document."
                )
        if findings.errors() == before and len(words) == 1:
            problem = f"The concept {quote(name)} has no other word."
            findings.error(source.at(name), "bad-concept", problem, FIX)
        if findings.errors() == before:
            concepts.append(Concept(words=words, line=source.at(name)))
    return tuple(concepts)
