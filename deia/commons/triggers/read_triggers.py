"""Read the trigger files of a commons, `triggers/*.yaml`, and the cases beside them, and check them completely.

A broken trigger is reported with file and line and left out; the others are loaded. Nothing is guessed: an unknown
field, word or clause is reported with what was probably meant.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from deia.commons.source_files import fields, safe_files
from deia.commons.source_files.findings import Findings, quote
from deia.commons.source_files.yaml_reader import Items, Map, Value, plain, read_yaml
from deia.commons.triggers import cases
from deia.commons.triggers.conditions import read_clauses, read_earlier
from deia.commons.triggers.own_act_words import PATH as OWN_ACT_WORDS
from deia.commons.triggers.own_act_words import names_acts, read_own_words
from deia.durations import SECONDS
from deia.firing import Reference
from deia.knowledge import Case, Clause, OwnActWords, Trigger
from deia.problems import Problem
from deia.records import ACTIONS, MODES, ROLES, STANCES, STATUSES, TIMINGS, TYPE_CHECKING, URGENCIES, Record
from deia.suggestions import did_you_mean

if TYPE_CHECKING:
    from deia.records import Mode, Role, Urgency

FOLDER = "triggers"
LAST_GOOD = "last-good"  # the code of the warning that the last good version of a file is used
ENDINGS = (".yaml", ".yml")
TRIGGER_BYTES = 2_000_000  # of a file; a thousand triggers take about half of that
FIELDS = (
    "id", "title", "status", "urgency", "timing", "action", "message", "action_required", "instead", "documents",
    "when", "context", "unless", "stance", "repeat", "references", "since", "hides",
)  # fmt: skip
# The last three may also be outside of `when`.
WHEN_FIELDS = ("who", "any", "all", "earlier", "context", "unless", "stance")
REFERENCE_FIELDS = ("id", "mode", "reason")
WATCHED = tuple(role for role in ROLES if role != "system")  # nobody acts in a system turn
ACTING = ("announced", "requested")
SPEAKERS: tuple[Role, ...] = ("user", "assistant", "tool_call")
SHOWN = frozenset(("error", "output", "incoming"))  # kinds of clauses over what a tool shows
ID = re.compile(r"[a-z0-9][a-z0-9-]{0,99}")
SPAN = re.compile(r"([0-9]{1,6})(s|m|h|d)")
ONCE_PER_CONVERSATION, EVERY_TIME = -1.0, 0.0  # values of Trigger.repeat


class TriggerFiles(Record):
    """The contents of the folder `triggers/`."""

    triggers: tuple[Trigger, ...] = ()
    cases: tuple[Case, ...] = ()
    problems: tuple[Problem, ...] = ()
    broken: tuple[str, ...] = ()  # ids of triggers that were left out because of errors


def load_triggers(root: str, *, good: Mapping[str, str] | None = None) -> TriggerFiles:
    """Read every trigger and every case of a commons.

    `good` is the last good text of files, by path; its triggers are used in place of those that are broken now.
    """
    listed = _paths(root)
    paths = [path for path in listed if path != OWN_ACT_WORDS]
    case_paths = [path for path in paths if path.lower().endswith(cases.ENDINGS)]
    own_words, problems = own_act_words(root, good=good) if len(paths) < len(listed) else (OwnActWords(), [])
    triggers: dict[str, Trigger] = {}
    seen: dict[str, str] = {}
    unread: set[str] = set()  # files that do not parse, without their endings
    for path in paths:
        if path not in case_paths:
            findings, before = Findings(path), len(seen)
            for trigger in _read_file(root, findings, seen, (good or {}).get(path, "")):
                triggers[trigger.id] = trigger.but(act_words=own_words) if names_acts(trigger) else trigger
            problems += findings.problems
            if len(seen) == before and any(problem.severity == "error" for problem in findings.problems):
                unread.add(path.rpartition(".")[0])
    read_cases: list[Case] = []
    for path in case_paths:
        findings = Findings(path)
        known = None if path.rpartition(".cases.")[0] in unread else seen
        read_cases += cases.read_cases(_parse_file(root, findings), known, findings)
        problems += findings.problems
    problems += cases.untested_triggers(tuple(triggers.values()), read_cases)
    return TriggerFiles(
        triggers=tuple(triggers.values()),
        cases=tuple(read_cases),
        problems=tuple(problems),
        broken=tuple(ident for ident in seen if ident not in triggers),
    )


def listed_triggers(root: str) -> Iterator[tuple[str, str, Map]]:
    """Yield the id, the path and the unchecked fields of every trigger of a commons, also of broken ones."""
    for path in _paths(root):
        items = None if path.lower().endswith(cases.ENDINGS) else _parse_file(root, Findings(path))
        for item in items if isinstance(items, Items) else ():
            if isinstance(item, Map) and isinstance(ident := item.get("id"), str):
                yield ident, path, item


def _paths(root: str) -> list[str]:
    return [path for ending in ENDINGS for path in safe_files.list_files(root, FOLDER, ending)]


def own_act_words(root: str, *, good: Mapping[str, str] | None = None) -> tuple[OwnActWords, list[Problem]]:
    """Return the words that a commons adds for acts, with errors those of the last `good` text, and the problems."""
    findings = Findings(OWN_ACT_WORDS)
    own_words = read_own_words(_parse_file(root, findings), findings)
    before = (good or {}).get(OWN_ACT_WORDS)
    if before is not None and any(problem.severity == "error" for problem in findings.problems):
        own_words = read_own_words(read_yaml(before, path=OWN_ACT_WORDS).value, Findings(OWN_ACT_WORDS))
        message = "The file has errors; its last good version is used."
        findings.warning(0, LAST_GOOD, message, "Correct the errors.")
    return own_words, findings.problems


def _parse_file(root: str, findings: Findings) -> Value:
    text = safe_files.read_text(root, findings.path, limit=TRIGGER_BYTES)
    findings.problems += text.problems
    if not text.readable:
        return None
    parsed = read_yaml(text.text, path=findings.path)
    findings.problems += parsed.problems
    return parsed.value


def _read_file(root: str, findings: Findings, seen: dict[str, str], good: str) -> list[Trigger]:
    """Read the triggers of one file; `seen` maps each id to where it was first used, and grows."""
    # The triggers of the last `good` text replace broken ones, or the whole file if it cannot be parsed.
    value = _parse_file(root, findings)
    triggers = _read_items(value, findings, seen)
    if not good or not any(problem.severity == "error" for problem in findings.problems):
        return triggers
    sound = {trigger.id for trigger in triggers}
    own_ids = {name for name, place in seen.items() if place.startswith(f"{findings.path}:")}
    ignored = Findings(findings.path)
    last_good = _read_items(read_yaml(good, path=findings.path).value, ignored, {})
    parsed = isinstance(value, Items) and bool(value)
    restored = [
        trigger
        for trigger in last_good
        if trigger.id not in sound and (trigger.id in own_ids if parsed else trigger.id not in seen)
    ]
    if restored:
        seen.update({trigger.id: f"{findings.path}:{trigger.line}" for trigger in restored if trigger.id not in seen})
        fallback = "The file has errors; its last good version is used"
        names = "" if not parsed else f" for {', '.join(trigger.id for trigger in restored)}"
        findings.warning(0, LAST_GOOD, f"{fallback}{names}.", "Correct the errors.")
    return [*triggers, *restored]


def _read_items(value: Value, findings: Findings, seen: dict[str, str]) -> list[Trigger]:
    items = value if isinstance(value, Items) else Items()
    if value is not None and not isinstance(value, Items):
        line = value.line if isinstance(value, Map) else 1
        findings.error(line, "wrong-type", "The file is not a list of triggers.", "Begin each trigger with `- id: …`.")
    triggers = []
    for position, item in enumerate(items):
        if not isinstance(item, Map):
            findings.error(
                items.at(position), "wrong-type", f"{quote(item)} is not a trigger.", "Begin it with `- id: …`."
            )
            continue
        trigger = read_trigger(item, findings)
        if _first_use(item, findings, seen) and trigger:
            triggers.append(trigger)
    return triggers


def _first_use(item: Map, findings: Findings, seen: dict[str, str]) -> bool:
    ident = item.get("id")
    if not isinstance(ident, str):
        return True
    place = f"{findings.path}:{item.at('id')}"
    if seen.setdefault(ident, place) == place:
        return True
    message = f"The id {quote(ident)} is already used at {seen[ident]}."
    findings.error(item.at("id"), "duplicate-id", message, "Give this trigger another id; every id is unique.")
    return False


def read_trigger(item: Map, findings: Findings) -> Trigger | None:
    """Read one trigger; return None if it has errors, which are added to the findings."""
    before = findings.errors()
    fields.report_unknown(item, FIELDS, findings)
    when = _when(item, findings)
    any_of = read_clauses(when, "any", findings)
    all_of = read_clauses(when, "all", findings)
    trigger = Trigger(
        any=any_of,
        all=all_of,
        earlier=read_earlier(when, findings),
        title=_required_text(item, "title", findings),
        message=_required_text(item, "message", findings),
        id=_id(item, findings),
        urgency=_urgency(item, findings),
        status=fields.choice(item, "status", STATUSES, findings, default="experimental"),
        timing=fields.choice(item, "timing", TIMINGS, findings, default="pre-action"),
        action=fields.choice(item, "action", ACTIONS, findings, default="note"),
        action_required=fields.text(item, "action_required", findings),
        instead=fields.texts(item, "instead", findings),
        documents=_documents(item, findings),
        repeat=_repeat(item, findings),
        references=fields.texts(item, "references", findings),
        since=fields.text(item, "since", findings),
        hides=fields.texts(item, "hides", findings),
        context=_either(item, when, "context", findings),
        unless=_either(item, when, "unless", findings),
        stance=fields.choices(item if "stance" in item else when, "stance", STANCES, findings) or ACTING,
        who=_who(when, (*any_of, *all_of), findings),
        path=findings.path,
        line=item.line,
    )
    return trigger if (any_of or all_of) and findings.errors() == before else None


def _when(item: Map, findings: Findings) -> Map:
    when = fields.mapping(item, "when", findings)
    if "when" not in item:
        findings.error(item.line, "missing-field", "The trigger has no `when`.", "Add `when: {any: [{phrase: …}]}`.")
    elif isinstance(item["when"], Map) and not ({"any", "all"} & set(when)):
        message = "`when` has neither `any` nor `all`."
        findings.error(item.at("when"), "missing-field", message, "Add `any:` with at least one clause.")
    fields.report_unknown(when, WHEN_FIELDS, findings)
    for name in ("context", "unless", "stance"):
        if name in item and name in when:
            message = f"`{name}` is both in the trigger and in its `when`."
            findings.error(when.at(name), "repeated-field", message, "Keep it in one place.")
    return when


def _required_text(item: Map, name: str, findings: Findings) -> str:
    text = fields.text(item, name, findings)
    if not text and not isinstance(item.get(name), dict | list):
        findings.error(item.at(name), "missing-field", f"The trigger has no `{name}`.", f"Add `{name}: …`.")
    return text


def _id(item: Map, findings: Findings) -> str:
    ident = _required_text(item, "id", findings)
    if ident and not ID.fullmatch(ident):
        message = f"The id {quote(ident)} does not consist of lower-case letters, digits and `-`."
        findings.error(item.at("id"), "bad-id", message, "Write it like `netlify-delete-and-recreate`.")
    return ident


def _urgency(item: Map, findings: Findings) -> Urgency:
    if not item.get("urgency"):
        fix = f"Add `urgency:` with one of {', '.join(URGENCIES)}."
        findings.error(item.at("urgency"), "missing-field", "The trigger has no `urgency`.", fix)
    return fields.choice(item, "urgency", URGENCIES, findings, default="medium")


def _documents(item: Map, findings: Findings) -> tuple[Reference, ...]:
    items = item.get("documents")
    if not isinstance(items, Items) or not items:
        fix = "Add `documents:` with `- {id: …, mode: full_context, reason: …}`."
        findings.error(item.at("documents"), "missing-field", "The trigger lists no `documents`.", fix)
        return ()
    references = (_reference(entry, items.at(position), findings) for position, entry in enumerate(items))
    return tuple(reference for reference in references if reference)


def _reference(item: Value, line: int, findings: Findings) -> Reference | None:
    if isinstance(item, str) and item.strip():
        return Reference(id=item.strip(), mode="full_context")
    if not isinstance(item, Map):
        findings.error(line, "wrong-type", f"{quote(item)} is not a document.", "Write `{id: …, mode: full_context}`.")
        return None
    fields.report_unknown(item, REFERENCE_FIELDS, findings)
    ident = fields.text(item, "id", findings)
    if not ident:
        findings.error(line, "missing-field", "A document has no `id`.", "Name an entry of the index.")
    mode: Mode = fields.choice(item, "mode", MODES, findings, default="full_context")
    return Reference(id=ident, mode=mode, reason=fields.text(item, "reason", findings)) if ident else None


def _either(item: Map, when: Map, name: str, findings: Findings) -> tuple[str, ...]:
    return fields.texts(item if name in item else when, name, findings)


def _who(when: Map, clauses: tuple[Clause, ...], findings: Findings) -> tuple[Role, ...]:
    roles = fields.choices(when, "who", WATCHED, findings)
    only_errors = bool(clauses) and all(clause.kind in SHOWN for clause in clauses)
    return roles or (("tool_result",) if only_errors else SPEAKERS)


def _repeat(item: Map, findings: Findings) -> float:
    """Return the seconds after which the trigger may fire again, in the form of `Trigger.repeat`."""
    written = item.get("repeat")
    if written is None or written == "once_per_conversation":
        return ONCE_PER_CONVERSATION
    if written == "every_time":
        return EVERY_TIME
    after = written.get("after", "") if isinstance(written, Map) and set(written) == {"after"} else ""
    if span := SPAN.fullmatch(str(after)):
        return float(int(span[1]) * SECONDS[span[2]])
    fix = "Write once_per_conversation, every_time, or {after: 30m} (s, m, h, d)."
    hint = did_you_mean(written, ("once_per_conversation", "every_time")) if isinstance(written, str) else ""
    message = f"`repeat` is {quote(plain(written))}."
    findings.error(item.at("repeat"), "bad-repeat", message, hint or fix)
    return ONCE_PER_CONVERSATION
