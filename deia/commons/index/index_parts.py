"""Read the parts of a master index beside its entries: query patterns, concepts, learning paths, and old triggers.

`proactive_triggers` are an old form of triggers.
"""

from __future__ import annotations

from collections.abc import Iterable

from deia.commons.index.index_records import Concept, LearningPath, QueryPattern, Step
from deia.commons.source_files import fields
from deia.commons.source_files.findings import Findings, quote
from deia.commons.source_files.slugs import free_name, slug
from deia.commons.source_files.yaml_reader import Items, Map
from deia.firing import Reference
from deia.knowledge import Clause, Trigger
from deia.records import TYPE_CHECKING, URGENCIES

if TYPE_CHECKING:
    from deia.records import Action, Role, Urgency


ACTIONS: dict[str, Action] = {
    "inject_before_proceeding": "warn",
    "ask_clarifying_question": "ask",
    "suggest_best_practice": "note",
}
TRIGGER_FIELDS = (
    "id", "title", "pattern", "alternate_patterns", "exclude_keywords", "action", "documents", "urgency", "message",
)  # fmt: skip
QUERY_FIELDS = (
    "query_keywords", "natural_language", "primary_cluster", "urgency", "common_docs", "proactive_injection",
    "warning_message", "error_pattern",
)  # fmt: skip
SPEAKERS: tuple[Role, ...] = ("user", "assistant", "tool_call")


def read_query_patterns(top: Map, findings: Findings) -> tuple[QueryPattern, ...]:
    """Read the query patterns of an index."""
    return tuple(_query_pattern(item, findings) for item in fields.mappings(top, "query_patterns", findings))


def _query_pattern(item: Map, findings: Findings) -> QueryPattern:
    fields.report_unknown(item, QUERY_FIELDS, findings)
    return QueryPattern(
        query_keywords=fields.texts(item, "query_keywords", findings),
        natural_language=fields.texts(item, "natural_language", findings),
        primary_cluster=fields.text(item, "primary_cluster", findings),
        urgency=fields.choice(item, "urgency", URGENCIES, findings, default=""),
        common_docs=fields.texts(item, "common_docs", findings),
        warning_message=fields.text(item, "warning_message", findings),
        error_pattern=fields.text(item, "error_pattern", findings),
        proactive_injection=fields.boolean(item, "proactive_injection", findings),
        line=item.line,
    )


def read_old_triggers(top: Map, findings: Findings) -> tuple[Trigger, ...]:
    """Read triggers of the old form as ordinary triggers; invalid ones are reported and left out."""
    items = fields.mappings(top, "proactive_triggers", findings)
    used: set[str] = set()
    triggers = (_trigger(item, used, findings) for item in items)
    return tuple(trigger for trigger in triggers if trigger)


def _trigger(item: Map, used: set[str], findings: Findings) -> Trigger | None:
    before = findings.errors()
    fields.report_unknown(item, TRIGGER_FIELDS, findings)
    words = fields.texts(item, "pattern", findings)
    alternatives = fields.texts(item, "alternate_patterns", findings)
    documents = _references(item, findings)
    message = fields.text(item, "message", findings)
    action = fields.choice(item, "action", tuple(ACTIONS), findings, default="suggest_best_practice")
    urgency: Urgency = fields.choice(item, "urgency", URGENCIES, findings, default="medium")
    for name, value in (("pattern", words or alternatives), ("documents", documents), ("message", message)):
        if not value:
            findings.error(item.line, "missing-field", f"The trigger has no `{name}`.", f"Add `{name}`.")
    if findings.errors() > before:
        return None
    ident = fields.text(item, "id", findings) or free_name(f"index-{slug(' '.join(words or alternatives))}", used)
    used.add(ident)
    return Trigger(
        id=ident,
        title=fields.text(item, "title", findings) or f"Mentions {', '.join(words or alternatives)}",
        urgency=urgency,
        message=message,
        documents=documents,
        who=SPEAKERS,
        any=(Clause(kind="words", value={"all": list(words), "any": list(alternatives)}, line=item.line),),
        status="stable",
        action=ACTIONS[action],
        unless=fields.texts(item, "exclude_keywords", findings),
        path=findings.path,
        line=item.line,
    )


def _references(item: Map, findings: Findings) -> tuple[Reference, ...]:
    ids = fields.texts(item, "documents", findings)
    for ident in ids:
        if any(letter.isspace() for letter in ident):
            findings.error(
                item.at("documents"), "bad-id", f"{quote(ident)} is not a document id.", "List ids of entries."
            )
    return tuple(Reference(id=ident, mode="full_context") for ident in ids)


# --- learning paths: what an audience should read, in which order, and why ---

STEP_FIX = "Write `- {id: bok-wrong-target, why: one line}`."


def read_learning_paths(top: Map, findings: Findings) -> tuple[LearningPath, ...]:
    """Read the learning paths of an index; invalid steps are reported and left out."""
    source = fields.mapping(top, "learning_paths", findings)
    paths = (
        LearningPath(audience=name.strip(), steps=tuple(_steps(source, name, findings)), line=source.at(name))
        for name in source
    )
    return tuple(path for path in paths if path.steps)


def _steps(source: Map, name: str, findings: Findings) -> Iterable[Step]:
    items = source[name]
    if not isinstance(items, Items):
        message = f"The learning path of {quote(name)} is not a list."
        findings.error(source.at(name), "wrong-type", message, STEP_FIX)
        return
    seen: set[str] = set()
    for position, item in enumerate(items):
        step = _step(item, items.at(position), findings)
        if step and step.document in seen:
            message = f"The learning path of {quote(name)} names {quote(step.document)} twice."
            findings.error(step.line, "duplicate-id", message, "Keep the first of the two.")
        elif step:
            seen.add(step.document)
            yield step


def _step(item: object, line: int, findings: Findings) -> Step | None:
    if isinstance(item, str):
        return Step(document=item.strip(), line=line) if item.strip() else None
    if not isinstance(item, Map):
        findings.error(line, "wrong-type", f"The step {quote(item)} of a learning path is not a document.", STEP_FIX)
        return None
    fields.report_unknown(item, ("id", "why"), findings)
    document = fields.text(item, "id", findings)
    if not document:
        findings.error(line, "missing-field", "A step of a learning path has no `id`.", STEP_FIX)
        return None
    return Step(document=document, why=fields.text(item, "why", findings), line=line)


def first_per_audience(paths: Iterable[LearningPath]) -> tuple[LearningPath, ...]:
    """Return the first path of each audience; upper and lower case do not matter."""
    by_audience: dict[str, LearningPath] = {}
    for path in paths:
        by_audience.setdefault(path.audience.casefold(), path)
    return tuple(by_audience.values())


def restrict_paths(paths: Iterable[LearningPath], ids: Iterable[str]) -> tuple[LearningPath, ...]:
    """Return the paths reduced to steps whose documents are in `ids`, without paths that become empty."""
    known = set(ids)
    restricted = (path.but(steps=tuple(step for step in path.steps if step.document in known)) for path in paths)
    return tuple(path for path in restricted if path.steps)


# --- concepts: words that mean the same in this commons ---

LONGEST = 100  # characters of one item, which may be several words
MOST_WORDS = 4
CONCEPT_FIX = "Write `k8s: [kubernetes, kube]`."


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
            findings.error(source.at(name), "bad-concept", problem, CONCEPT_FIX)
        if findings.errors() == before:
            concepts.append(Concept(words=words, line=source.at(name)))
    return tuple(concepts)
