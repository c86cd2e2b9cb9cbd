"""Records for what a master index contains besides entries."""

from __future__ import annotations

from collections.abc import Mapping

from deia.fast_json import Json
from deia.knowledge import Entry, Trigger
from deia.problems import Problem
from deia.records import Record


class Cluster(Record):
    """A group of documents about one topic."""

    id: str
    description: str = ""
    keywords: tuple[str, ...] = ()
    documents: tuple[str, ...] = ()  # ids in the order listed, of its own entries and of others'
    related_clusters: tuple[str, ...] = ()
    note: str = ""
    platform: str = ""
    language: str = ""
    line: int = 0


class QueryPattern(Record):
    """A way in which people ask, and the documents that answer it."""

    query_keywords: tuple[str, ...] = ()
    natural_language: tuple[str, ...] = ()
    primary_cluster: str = ""
    urgency: str = ""
    common_docs: tuple[str, ...] = ()
    warning_message: str = ""
    error_pattern: str = ""
    proactive_injection: bool = False
    line: int = 0


class Concept(Record):
    """Words that mean the same in a commons, the short name first."""

    words: tuple[str, ...]
    line: int = 0


class Step(Record):
    """A document of a learning path, and why it should be read at this point."""

    document: str
    why: str = ""
    line: int = 0


class LearningPath(Record):
    """What an audience should read, in order."""

    audience: str
    steps: tuple[Step, ...]
    line: int = 0


class Index(Record):
    """A master index, independent of the shape in which it was written."""

    path: str  # from the root; "" if there is no index
    shape: str = ""
    version: str = ""
    entries: tuple[Entry, ...] = ()
    clusters: tuple[Cluster, ...] = ()
    query_patterns: tuple[QueryPattern, ...] = ()
    concepts: tuple[Concept, ...] = ()
    learning_paths: tuple[LearningPath, ...] = ()
    proactive_triggers: tuple[Trigger, ...] = ()
    source: Mapping[str, Json] = {}  # the parsed top level, with lines, for checking the derived parts
    problems: tuple[Problem, ...] = ()
