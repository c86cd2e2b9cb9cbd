"""Read `proactive_triggers` and `query_patterns` of a master index. The former are an old form of triggers."""

from __future__ import annotations

from deia.commons.index.index_records import QueryPattern
from deia.commons.source_files import fields
from deia.commons.source_files.findings import Findings, quote
from deia.commons.source_files.slugs import slug
from deia.commons.source_files.yaml_reader import Map
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
    named = fields.text(item, "id", findings) or _free_name(f"index-{slug(' '.join(words or alternatives))}", used)
    used.add(named)
    return Trigger(
        id=named,
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


def _free_name(name: str, used: set[str]) -> str:
    """Return a name made from what the trigger looks for, with a number if another trigger has the same name."""
    names = [name, *(f"{name}-{number}" for number in range(2, len(used) + 3))]
    return next(candidate for candidate in names if candidate not in used)


def _references(item: Map, findings: Findings) -> tuple[Reference, ...]:
    ids = fields.texts(item, "documents", findings)
    for ident in ids:
        if any(letter.isspace() for letter in ident):
            findings.error(
                item.at("documents"), "bad-id", f"{quote(ident)} is not a document id.", "List ids of entries."
            )
    return tuple(Reference(id=ident, mode="full_context") for ident in ids)
