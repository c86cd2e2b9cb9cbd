"""Read the cases beside triggers, `triggers/*.cases.yaml`: what must fire a trigger, and what must not."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

from deia.commons.source_files import fields
from deia.commons.source_files.findings import Findings, quote
from deia.commons.source_files.yaml_reader import Items, Map, Value, plain
from deia.knowledge import Case, Trigger
from deia.problems import Problem
from deia.records import ROLES, Turn
from deia.suggestions import nearest

ENDINGS = (".cases.yaml", ".cases.yml")
VERDICTS = {"fires": True, "silent": False}
CASE_FIELDS = ("turns", "cwd_files", "importers")
TURN_FIELDS = ("role", "text", "tool", "tool_input", "failed")


def read_cases(value: Value, known: Collection[str] | None, findings: Findings) -> Iterator[Case]:
    """Yield the cases of one file; invalid cases are reported and left out.

    `known` are the ids of the triggers, or None if the trigger file beside the cases could not be read.
    """
    if value is not None and not isinstance(value, Map):
        findings.error(
            1, "wrong-type", "The file is not a mapping.", "Write `<trigger id>:` with `fires:` and `silent:`."
        )
    cases = value if isinstance(value, Map) else Map()
    for ident, body in cases.items():
        if known is not None and ident not in known:
            message = f"There is no trigger {quote(ident)}."
            findings.error(cases.at(ident), "unknown-trigger", message, nearest(ident, known))
        if not isinstance(body, Map):
            findings.error(
                cases.at(ident), "wrong-type", f"The cases of {quote(ident)} are not a mapping.", "Add `fires:`."
            )
            continue
        fields.report_unknown(body, VERDICTS, findings)
        for verdict, fires in VERDICTS.items():
            yield from _read_verdict(body, verdict, ident, fires=fires, findings=findings)


def _read_verdict(body: Map, verdict: str, ident: str, *, fires: bool, findings: Findings) -> Iterator[Case]:
    items = body.get(verdict)
    if items is None:
        return
    if not isinstance(items, Items):
        findings.error(body.at(verdict), "wrong-type", f"`{verdict}` is not a list.", "Begin each case with `- `.")
        return
    for position, item in enumerate(items):
        line = items.at(position)
        turns, folder = _read_turns(item, line, findings)
        importers = _importers(item, findings) if isinstance(item, Map) else {}
        if turns:
            yield Case(
                trigger=ident, fires=fires, turns=turns, cwd_files=folder, importers=importers, path=findings.path,
                line=line,
            )  # fmt: skip


def _importers(item: Map, findings: Findings) -> dict[str, int]:
    """Return the number of importers of each file, by path; what is not a number is reported."""
    importers = fields.mapping(item, "importers", findings)
    for path, number in importers.items():
        if not isinstance(number, int):
            findings.error(
                importers.at(path), "wrong-type", f"`{path}` has {quote(number)} importers.", "Write a number."
            )
    return {path: number for path, number in importers.items() if isinstance(number, int)}


def _read_turns(item: Value, line: int, findings: Findings) -> tuple[tuple[Turn, ...], tuple[str, ...]]:
    """Return the turns of a case and the files of its folder; there are no turns if the case is invalid."""
    if isinstance(item, Map):
        return _read_conversation(item, findings), fields.texts(item, "cwd_files", findings)
    if isinstance(item, Items) or not fields.as_text(item):
        fix = "Write the user's words, or {turns: [{role: …, text: …}]}; quote a text that contains `: `."
        findings.error(line, "bad-case", f"The case is {quote(plain(item))}.", fix)
        return (), ()
    return (Turn(role="user", text=fields.as_text(item)),), ()


def _read_conversation(item: Map, findings: Findings) -> tuple[Turn, ...]:
    before = findings.errors()
    fields.report_unknown(item, CASE_FIELDS, findings)
    items = fields.mappings(item, "turns", findings)
    if not items and findings.errors() == before:
        fix = "Add `turns:`, or quote the case if it is a single text that contains `: `."
        findings.error(item.line, "bad-case", "The case has no `turns`.", fix)
    turns = [_read_turn(turn, number, findings) for number, turn in enumerate(items, 1)]
    return tuple(turn for turn in turns if turn) if findings.errors() == before else ()


def _read_turn(source: Map, number: int, findings: Findings) -> Turn | None:
    before = findings.errors()
    fields.report_unknown(source, TURN_FIELDS, findings)
    role = fields.choice(source, "role", ROLES, findings, default=None)
    if role is None and findings.errors() == before:
        findings.error(source.line, "missing-field", "A turn has no `role`.", f"Add one of {', '.join(ROLES)}.")
    tool_input = fields.mapping(source, "tool_input", findings)
    text = fields.text(source, "text", findings)
    if role == "tool_call" and not text:
        command = tool_input.get("command")
        text = "" if isinstance(command, Map | Items) else fields.as_text(command)
    tool = fields.text(source, "tool", findings)
    failed = fields.boolean(source, "failed", findings)
    if role is None or findings.errors() > before:
        return None
    arguments = plain(tool_input) if "tool_input" in source else None
    return Turn(role=role, text=text, tool=tool, tool_input=arguments, failed=failed, index=number)


def untested_triggers(triggers: Sequence[Trigger], cases: Iterable[Case]) -> list[Problem]:
    """Return a problem for each stable trigger without cases that fire it, or without cases that do not."""
    tested = {(case.trigger, case.fires) for case in cases}
    problems = []
    for trigger in triggers:
        missing = [verdict for verdict, fires in VERDICTS.items() if (trigger.id, fires) not in tested]
        if trigger.status == "stable" and missing:
            message = f"{quote(trigger.id)} is stable, but has no cases under {' and '.join(missing)}."
            fix = "Add them to the .cases.yaml beside it, or set `status: test`."
            problems.append(
                Problem(path=trigger.path, line=trigger.line, found=message, fix=fix, code="unproven-trigger")
            )
    return problems
