"""Reading the cases beside triggers, `triggers/*.cases.yaml`: what must fire a trigger, and what must not."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

from deia.commons.source_files import fields
from deia.commons.source_files.findings import Findings, quote, suggestion
from deia.commons.source_files.yaml_reader import Items, Map, plain
from deia.errors import Problem
from deia.knowledge import Case, Trigger
from deia.records import ROLES, Turn

ENDINGS = (".cases.yaml", ".cases.yml")
VERDICTS = {"fires": True, "silent": False}
CASE_FIELDS = ("turns", "cwd_files")
TURN_FIELDS = ("role", "text", "tool", "tool_input", "failed")


def read_cases(value: Any, known: Collection[str] | None, findings: Findings) -> Iterator[Case]:
    """Yield the cases of one file; a broken case is a problem and left out.

    `known` are the ids of triggers, or None where the triggers beside the cases could not be read.
    """
    if value is not None and not isinstance(value, Map):
        findings.error(
            1, "wrong-type", "The file is not a mapping.", "Write `<trigger id>:` with `fires:` and `silent:`."
        )
    for ident, body in value.items() if isinstance(value, Map) else ():
        if known is not None and ident not in known:
            found = f"There is no trigger {quote(ident)}."
            findings.error(value.at(ident), "unknown-trigger", found, suggestion(ident, known))
        if not isinstance(body, Map):
            findings.error(
                value.at(ident), "wrong-type", f"The cases of {quote(ident)} are no mapping.", "Add `fires:`."
            )
            continue
        fields.report_unknown(body, VERDICTS, findings)
        for verdict, fires in VERDICTS.items():
            yield from _cases(body, verdict, ident, fires=fires, findings=findings)


def _cases(body: Map, verdict: str, ident: str, *, fires: bool, findings: Findings) -> Iterator[Case]:
    given = body.get(verdict)
    if given is None:
        return
    if not isinstance(given, Items):
        findings.error(body.at(verdict), "wrong-type", f"`{verdict}` is not a list.", "Begin each case with `- `.")
        return
    for position, item in enumerate(given):
        line = given.at(position)
        turns, folder = _turns(item, line, findings)
        if turns:
            yield Case(trigger=ident, fires=fires, turns=turns, cwd_files=folder, path=findings.path, line=line)


def _turns(item: Any, line: int, findings: Findings) -> tuple[tuple[Turn, ...], tuple[str, ...]]:
    """Give the turns of a case and the files of its folder; no turns where it is broken."""
    if isinstance(item, Map):
        return _conversation(item, findings), fields.texts(item, "cwd_files", findings)
    if isinstance(item, Items) or not fields.as_text(item):
        fix = "Write the user's words, or {turns: [{role: …, text: …}]}; quote words that hold `: `."
        findings.error(line, "bad-case", f"The case is {quote(plain(item))}.", fix)
        return (), ()
    return (Turn(role="user", text=fields.as_text(item)),), ()


def _conversation(item: Map, findings: Findings) -> tuple[Turn, ...]:
    before = findings.errors()
    fields.report_unknown(item, CASE_FIELDS, findings)
    given = fields.mappings(item, "turns", findings)
    if not given and findings.errors() == before:
        fix = "Add `turns:`, or quote the case if it is one text that holds `: `."
        findings.error(item.line, "bad-case", "The case has no `turns`.", fix)
    turns = [_turn(turn, number, findings) for number, turn in enumerate(given, 1)]
    return tuple(turn for turn in turns if turn) if findings.errors() == before else ()


def _turn(source: Map, number: int, findings: Findings) -> Turn | None:
    before = findings.errors()
    fields.report_unknown(source, TURN_FIELDS, findings)
    role: Any = fields.choice(source, "role", ROLES, findings, default="")
    if not role and findings.errors() == before:
        findings.error(source.line, "missing-field", "A turn has no `role`.", f"Add one of {', '.join(ROLES)}.")
    tool_input = fields.mapping(source, "tool_input", findings)
    text = fields.text(source, "text", findings)
    if role == "tool_call" and not text:
        text = (
            fields.as_text(tool_input.get("command")) if not isinstance(tool_input.get("command"), dict | list) else ""
        )
    tool = fields.text(source, "tool", findings)
    failed = fields.boolean(source, "failed", findings)
    if findings.errors() > before:
        return None
    wanted = plain(tool_input) if "tool_input" in source else None
    return Turn(role=role, text=text, tool=tool, tool_input=wanted, failed=failed, index=number)


def unproven(triggers: Sequence[Trigger], cases: Iterable[Case]) -> list[Problem]:
    """Report the stable triggers that lack cases which fire, or cases which stay silent."""
    proven = {(case.trigger, case.fires) for case in cases}
    problems = []
    for trigger in triggers:
        lacking = [verdict for verdict, fires in VERDICTS.items() if (trigger.id, fires) not in proven]
        if trigger.status == "stable" and lacking:
            found = f"{quote(trigger.id)} is stable, but has no cases under {' and '.join(lacking)}."
            fix = "Add them to the .cases.yaml beside it, or set `status: test`."
            problems.append(
                Problem(path=trigger.path, line=trigger.line, found=found, fix=fix, code="unproven-trigger")
            )
    return problems
