"""Reading the trigger files of a commons, `triggers/*.yaml`, and the cases beside them, checked completely.

A broken trigger is a list of problems with file and line, and is left out; the others load. Refuses to guess: an
unknown field, word or clause is reported with what was probably meant.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from deia.commons.source_files import fields, safe_files
from deia.commons.source_files.findings import Findings, quote, suggestion
from deia.commons.source_files.yaml_reader import Items, Map, plain, read_yaml
from deia.commons.triggers import cases
from deia.commons.triggers.conditions import read_clauses
from deia.commons.triggers.earlier_conditions import read_earlier
from deia.errors import Problem
from deia.knowledge import Case, Clause, Trigger
from deia.records import ACTIONS, MODES, ROLES, STANCES, STATUSES, TIMINGS, URGENCIES, Record, Reference

FOLDER = "triggers"
LAST_GOOD = "last-good"  # the code of the warning that a file's last good version counts
ENDINGS = (".yaml", ".yml")
FIELDS = (
    "id", "title", "status", "urgency", "timing", "action", "message", "action_required", "instead", "documents",
    "when", "context", "unless", "stance", "repeat", "references", "since", "hides",
)  # fmt: skip
WHEN_FIELDS = ("who", "any", "all", "earlier", "context", "unless", "stance")  # the last three: either place
REFERENCE_FIELDS = ("id", "mode", "reason")
WATCHED = tuple(role for role in ROLES if role != "system")  # nobody acts in a system turn
ACTING = ("announced", "requested")
SPEAKERS = ("user", "assistant", "tool_call")
ID = re.compile(r"[a-z0-9][a-z0-9-]{0,99}")
SPAN = re.compile(r"([0-9]{1,6})(s|m|h|d)")
SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
ONCE, ALWAYS = -1.0, 0.0  # as Trigger.repeat has it


class TriggerFiles(Record):
    """Everything that lies in `triggers/`."""

    triggers: tuple[Trigger, ...] = ()
    cases: tuple[Case, ...] = ()
    problems: tuple[Problem, ...] = ()
    broken: tuple[str, ...] = ()  # ids of triggers that were left out


def load_triggers(root: str, *, good: Mapping[str, str] | None = None) -> TriggerFiles:
    """Read every trigger and every case of a commons.

    `good` has the last good text of files by their paths: of what is broken now, its triggers count.
    """
    paths = [path for ending in ENDINGS for path in safe_files.list_files(root, FOLDER, ending)]
    case_paths = [path for path in paths if path.lower().endswith(cases.ENDINGS)]
    problems: list[Problem] = []
    triggers: dict[str, Trigger] = {}
    seen: dict[str, str] = {}
    unread: set[str] = set()  # files that do not parse, without their endings
    for path in paths:
        if path not in case_paths:
            findings, before = Findings(path), len(seen)
            for trigger in _read_file(root, findings, seen, (good or {}).get(path, "")):
                triggers[trigger.id] = trigger
            problems += findings.problems
            if len(seen) == before and any(problem.severity == "error" for problem in findings.problems):
                unread.add(path.rpartition(".")[0])
    read_cases: list[Case] = []
    for path in case_paths:
        findings = Findings(path)
        known = None if path.rpartition(".cases.")[0] in unread else seen
        read_cases += cases.read_cases(_value(root, findings), known, findings)
        problems += findings.problems
    problems += cases.unproven(tuple(triggers.values()), read_cases)
    return TriggerFiles(
        triggers=tuple(triggers.values()),
        cases=tuple(read_cases),
        problems=tuple(problems),
        broken=tuple(ident for ident in seen if ident not in triggers),
    )


def _value(root: str, findings: Findings) -> Any:
    text = safe_files.read_text(root, findings.path, limit=safe_files.YAML_BYTES)
    findings.problems += text.problems
    if not text.readable:
        return None
    read = read_yaml(text.text, path=findings.path)
    findings.problems += read.problems
    return read.value


def _read_file(root: str, findings: Findings, seen: dict[str, str], good: str) -> list[Trigger]:
    """Read the triggers of one file; `seen` has where each id was first used, and grows.

    What its last `good` text has stands in for the whole file where that does not parse, else for its broken triggers.
    """
    value = _value(root, findings)
    found = _read_items(value, findings, seen)
    if not good or not any(problem.severity == "error" for problem in findings.problems):
        return found
    here = {one.id for one in found}
    ours = {name for name, place in seen.items() if place.startswith(f"{findings.path}:")}
    before = Findings(findings.path)
    old = _read_items(read_yaml(good, path=findings.path).value, before, {})
    parsed = isinstance(value, Items) and bool(value)
    standing = [one for one in old if one.id not in here and (one.id in ours if parsed else one.id not in seen)]
    if standing:
        seen.update({one.id: f"{findings.path}:{one.line}" for one in standing if one.id not in seen})
        said = "The file has errors; its last good version counts"
        names = "" if not parsed else f" for {', '.join(one.id for one in standing)}"
        findings.warning(0, LAST_GOOD, f"{said}{names}.", "Correct the errors.")
    return [*found, *standing]


def _read_items(value: Any, findings: Findings, seen: dict[str, str]) -> list[Trigger]:
    items = value if isinstance(value, Items) else Items()
    if value is not None and not isinstance(value, Items):
        line = value.line if isinstance(value, Map) else 1
        findings.error(line, "wrong-type", "The file is not a list of triggers.", "Begin each trigger with `- id: …`.")
    found = []
    for position, item in enumerate(items):
        if not isinstance(item, Map):
            findings.error(
                items.at(position), "wrong-type", f"{quote(item)} is no trigger.", "Begin it with `- id: …`."
            )
            continue
        trigger = read_trigger(item, findings)
        if _first_use(item, findings, seen) and trigger:
            found.append(trigger)
    return found


def _first_use(item: Map, findings: Findings, seen: dict[str, str]) -> bool:
    given = item.get("id")
    if not isinstance(given, str):
        return True
    place = f"{findings.path}:{item.at('id')}"
    if seen.setdefault(given, place) == place:
        return True
    found = f"The id {quote(given)} is already used at {seen[given]}."
    findings.error(item.at("id"), "duplicate-id", found, "Give this trigger another id; ids are never reused.")
    return False


def read_trigger(item: Map, findings: Findings) -> Trigger | None:
    """Read one trigger; None where it has an error, which is in the findings."""
    before = findings.errors()
    fields.report_unknown(item, FIELDS, findings)
    when = _when(item, findings)
    any_of = read_clauses(when, "any", findings)
    all_of = read_clauses(when, "all", findings)
    earlier = read_earlier(when, findings)
    described = _described(item, findings)
    context, unless = (_either(item, when, name, findings) for name in ("context", "unless"))
    stance = _stance(item, when, findings)
    who = _who(when, (*any_of, *all_of), findings)
    if not (any_of or all_of) or findings.errors() > before:
        return None
    return Trigger(
        **described,
        context=context,
        unless=unless,
        any=any_of,
        all=all_of,
        earlier=earlier,
        who=who,
        stance=stance,
        path=findings.path,
        line=item.line,
    )


def _when(item: Map, findings: Findings) -> Map:
    when = fields.mapping(item, "when", findings)
    if "when" not in item:
        findings.error(item.line, "missing-field", "The trigger has no `when`.", "Add `when: {any: [{phrase: …}]}`.")
    elif isinstance(item["when"], Map) and not ({"any", "all"} & set(when)):
        found = "`when` has neither `any` nor `all`."
        findings.error(item.at("when"), "missing-field", found, "Add `any:` with at least one clause.")
    fields.report_unknown(when, WHEN_FIELDS, findings)
    for name in ("context", "unless", "stance"):
        if name in item and name in when:
            found = f"`{name}` stands both in the trigger and in its `when`."
            findings.error(when.at(name), "repeated-field", found, "Keep it in one place.")
    return when


def _described(item: Map, findings: Findings) -> dict[str, Any]:
    """Take everything that says what the trigger is, does and says."""
    described: dict[str, Any] = {name: _required_text(item, name, findings) for name in ("title", "message")}
    described["id"] = _id(item, findings)
    described["urgency"] = _urgency(item, findings)
    described["status"] = fields.choice(item, "status", STATUSES, findings, default="experimental")
    described["timing"] = fields.choice(item, "timing", TIMINGS, findings, default="pre-action")
    described["action"] = fields.choice(item, "action", ACTIONS, findings, default="note")
    described["action_required"] = fields.text(item, "action_required", findings)
    described["instead"] = fields.texts(item, "instead", findings)
    described["documents"] = _documents(item, findings)
    described["repeat"] = _repeat(item, findings)
    described["references"] = fields.texts(item, "references", findings)
    described["since"] = fields.text(item, "since", findings)
    described["hides"] = fields.texts(item, "hides", findings)
    return described


def _required_text(item: Map, name: str, findings: Findings) -> str:
    given = fields.text(item, name, findings)
    if not given and not isinstance(item.get(name), dict | list):
        findings.error(item.at(name), "missing-field", f"The trigger has no `{name}`.", f"Add `{name}: …`.")
    return given


def _id(item: Map, findings: Findings) -> str:
    given = _required_text(item, "id", findings)
    if given and not ID.fullmatch(given):
        found = f"The id {quote(given)} is not lower case letters, digits and `-`."
        findings.error(item.at("id"), "bad-id", found, "Write it like `netlify-delete-and-recreate`.")
    return given


def _urgency(item: Map, findings: Findings) -> str:
    if not item.get("urgency"):
        fix = f"Add `urgency:` with one of {', '.join(URGENCIES)}."
        findings.error(item.at("urgency"), "missing-field", "The trigger has no `urgency`.", fix)
    return fields.choice(item, "urgency", URGENCIES, findings, default="medium")


def _documents(item: Map, findings: Findings) -> tuple[Reference, ...]:
    given = item.get("documents")
    if not isinstance(given, Items) or not given:
        fix = "Add `documents:` with `- {id: …, mode: full_context, reason: …}`."
        findings.error(item.at("documents"), "missing-field", "The trigger lists no `documents`.", fix)
        return ()
    found = (_reference(entry, given.at(position), findings) for position, entry in enumerate(given))
    return tuple(reference for reference in found if reference)


def _reference(given: Any, line: int, findings: Findings) -> Reference | None:
    if isinstance(given, str) and given.strip():
        return Reference(id=given.strip(), mode="full_context")
    if not isinstance(given, Map):
        findings.error(line, "wrong-type", f"{quote(given)} is no document.", "Write `{id: …, mode: full_context}`.")
        return None
    fields.report_unknown(given, REFERENCE_FIELDS, findings)
    ident = fields.text(given, "id", findings)
    if not ident:
        findings.error(line, "missing-field", "A document has no `id`.", "Name an entry of the index.")
    mode: Any = fields.choice(given, "mode", MODES, findings, default="full_context")
    return Reference(id=ident, mode=mode, reason=fields.text(given, "reason", findings)) if ident else None


def _either(item: Map, when: Map, name: str, findings: Findings) -> tuple[str, ...]:
    return fields.texts(item if name in item else when, name, findings)


def _stance(item: Map, when: Map, findings: Findings) -> tuple[str, ...]:
    given = fields.choices(item if "stance" in item else when, "stance", STANCES, findings)
    return given or ACTING


def _who(when: Map, clauses: tuple[Clause, ...], findings: Findings) -> tuple[Any, ...]:
    given = fields.choices(when, "who", WATCHED, findings)
    only_errors = bool(clauses) and all(clause.kind == "error" for clause in clauses)
    return given or (("tool_result",) if only_errors else SPEAKERS)


def _repeat(item: Map, findings: Findings) -> float:
    """Give the seconds after which the trigger may fire again, as `Trigger.repeat` has it."""
    given = item.get("repeat")
    if given is None or given == "once_per_conversation":
        return ONCE
    if given == "every_time":
        return ALWAYS
    span = SPAN.fullmatch(str(given.get("after", ""))) if isinstance(given, Map) and set(given) == {"after"} else None
    if span:
        return float(int(span[1]) * SECONDS[span[2]])
    fix = "Write once_per_conversation, every_time, or {after: 30m} (s, m, h, d)."
    hint = suggestion(given, ("once_per_conversation", "every_time")) if isinstance(given, str) else ""
    found = f"`repeat` is {quote(plain(given))}."
    findings.error(item.at("repeat"), "bad-repeat", found, hint if hint.startswith("Did") else fix)
    return ONCE
