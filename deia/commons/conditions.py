"""Reading the clauses under `any` and `all` of a trigger's `when`.

Refuses clauses that nothing can match, with the reason.
"""

from __future__ import annotations

from deia.commons import fields
from deia.commons.clauses import clause_problems
from deia.commons.findings import shown, suggestion
from deia.commons.safe_pattern import pattern_problem
from deia.commons.yaml_nodes import Items, Map, plain
from deia.knowledge import Clause
from deia.records import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

    from deia.commons.findings import Findings

TEXT_KINDS = ("phrase", "pattern", "command", "error")
KINDS = (*TEXT_KINDS, "sql", "write", "tool")
LATER_KINDS = ("meaning",)  # in the file format, but not matched yet
TOOL_FIELDS = ("name", "input")


def read_clauses(when: Map, name: str, findings: Findings) -> tuple[Clause, ...]:
    """Read one list of clauses; a clause of a later version is a warning and left out.

    In `all` such a clause costs the trigger its clauses: a condition less would make it fire where it
    should not.
    """
    given = when.get(name)
    if name not in when:
        return ()
    if not isinstance(given, Items) or not given:
        fix = "Write a list: `- phrase: …` on a line of its own."
        findings.error(when.at(name), "wrong-type", f"`{name}` is not a list of clauses.", fix)
        return ()
    found = [_clause(item, given.at(position), findings) for position, item in enumerate(given)]
    clauses = tuple(clause for clause in found if clause)
    later = any(isinstance(item, Map) and set(item) & set(LATER_KINDS) for item in given)
    if later and (name == "all" or not clauses):
        found_text = f"Without the clauses that this version does not match, `{name}` is not what was meant."
        findings.error(
            when.at(name), "unmatched-trigger", found_text, "Add clauses of other kinds; it is left out till then."
        )
        return ()
    return clauses


def _clause(item: Any, line: int, findings: Findings) -> Clause | None:
    if not isinstance(item, Map) or len(item) != 1:
        found = f"The clause is {shown(plain(item))}; one kind with its value is wanted."
        findings.error(line, "bad-clause", found, f"Write `- phrase: …`; kinds are {', '.join(KINDS)}.")
        return None
    kind = next(iter(item))
    if kind in LATER_KINDS:
        found = f"Clauses of the kind `{kind}` are not matched by this version; this one is skipped."
        findings.warning(line, "unmatched-clause", found, "Keep it, and give the trigger another clause as well.")
        return None
    if kind not in KINDS:
        findings.error(line, "unknown-clause", f"The clause kind {shown(kind)} is unknown.", suggestion(kind, KINDS))
        return None
    before = findings.errors()
    clause = Clause(kind=kind, value=_value(item, kind, findings), line=line)
    if findings.errors() == before:
        _check(clause, findings)
    return clause if findings.errors() == before else None


def _value(item: Map, kind: str, findings: Findings) -> Any:
    if kind in {"write", "sql"}:
        return fields.texts(item, kind, findings)
    if kind == "tool":
        return _tool(item, findings)
    value = item[kind]
    if kind == "pattern" and isinstance(value, str):
        return value  # spaces at its ends are meant
    return fields.text(item, kind, findings)


def _tool(item: Map, findings: Findings) -> dict[str, Any]:
    given = item["tool"]
    if isinstance(given, str):
        return {"name": given, "input": {}}
    source = fields.mapping(item, "tool", findings)
    fields.report_unknown(source, TOOL_FIELDS, findings)
    wanted = fields.mapping(source, "input", findings)
    globs = {name: fields.text(wanted, name, findings) for name in wanted}
    name = fields.text(source, "name", findings)
    if not name:
        findings.error(
            item.at("tool"), "missing-field", "The tool clause has no `name`.", "Add `name:`, which may be `*`."
        )
    return {"name": name, "input": globs}


def _check(clause: Clause, findings: Findings) -> None:
    if not clause.value:
        findings.error(clause.line, "bad-clause", f"The {clause.kind} clause is empty.", "Say what it should match.")
        return
    if clause.kind == "pattern":
        problem = pattern_problem(str(clause.value))
        if problem:
            findings.error(
                clause.line, "unsafe-pattern", f"The pattern {shown(clause.value)} cannot be used: {problem}."
            )
        return
    for problem in clause_problems(clause):
        found = f"The {clause.kind} clause {shown(clause.value)} cannot be used: {problem}."
        findings.error(clause.line, "bad-clause", found)
