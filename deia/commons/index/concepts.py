"""Reading `concepts` of a master index: words that mean one thing in this commons.

Refuses a concept that names only one word, since it would say nothing.
"""

from __future__ import annotations

from deia.commons.index.index_records import Concept
from deia.commons.source_files import fields
from deia.commons.source_files.findings import Findings, quote
from deia.commons.source_files.yaml_reader import Map

LONGEST = 100  # characters of a word or of several
MOST_WORDS = 4
FIX = "Write `k8s: [kubernetes, kube]`."


def read_concepts(top: Map, findings: Findings) -> tuple[Concept, ...]:
    """Read the concepts of an index; a broken one is a problem and left out."""
    source = fields.mapping(top, "concepts", findings)
    found = []
    for name in source:
        before = findings.errors()
        words = tuple(dict.fromkeys((name.strip(), *fields.texts(source, name, findings))))
        for word in words:
            if len(word) > LONGEST or len(word.split()) > MOST_WORDS:
                wrong = f"{quote(word)} is too long for a concept; at most {MOST_WORDS} words are wanted."
                findings.error(source.at(name), "bad-concept", wrong, "Name the thing, and describe it in a document.")
        if findings.errors() == before and len(words) == 1:
            wrong = f"The concept {quote(name)} names no other word."
            findings.error(source.at(name), "bad-concept", wrong, FIX)
        if findings.errors() == before:
            found.append(Concept(words=words, line=source.at(name)))
    return tuple(found)
