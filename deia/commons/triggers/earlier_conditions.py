"""Read `earlier` of a trigger's `when`: what must have been said earlier in the conversation, and what cancels it.

The short form is a list of clauses, the long form a mapping.
"""

from __future__ import annotations

from deia.commons.source_files import fields
from deia.commons.source_files.findings import Findings, quote
from deia.commons.source_files.yaml_reader import Items, Map
from deia.commons.triggers.conditions import read_clauses
from deia.knowledge import Earlier
from deia.records import TYPE_CHECKING

if TYPE_CHECKING:
    from deia.records import Action

FIELDS = ("any", "until", "mark", "within", "otherwise")
MARKS = ("failing", "production")  # what deia notices by itself in every conversation
MILDER: tuple[Action, ...] = ("note", "warn", "ask")
MOST_TURNS = 100_000


def read_earlier(when: Map, findings: Findings) -> Earlier | None:
    """Read `earlier`; return None if the trigger has none, or if it is invalid."""
    if "earlier" not in when:
        return None
    if isinstance(when["earlier"], Items):
        clauses = read_clauses(when, "earlier", findings)
        return Earlier(any=clauses) if clauses else None
    if isinstance(when["earlier"], str):
        mark = fields.choice(when, "earlier", MARKS, findings, default="")
        return Earlier(mark=mark) if mark else None
    return _long_form(when, findings)


def _long_form(when: Map, findings: Findings) -> Earlier | None:
    source = fields.mapping(when, "earlier", findings)
    fields.report_unknown(source, FIELDS, findings)
    mark = fields.choice(source, "mark", MARKS, findings, default="")
    clauses = bool(source.get("any") or source.get("until"))
    if clauses == ("mark" in source) or ("mark" not in source and not source.get("any")):
        fix = "Write {any: [clauses], until: [clauses], within: turns}, or {mark: failing, within: turns}."
        found = "`earlier` has a mark and clauses of its own." if "mark" in source else "`earlier` has no clauses."
        findings.error(when.at("earlier"), "bad-earlier", found, fix)
        return None
    any_of, until = (read_clauses(source, name, findings) for name in ("any", "until"))
    within = _turns(source, findings)
    otherwise = fields.choice(source, "otherwise", MILDER, findings, default=None)
    earlier = Earlier(any=any_of, until=until, within=within, mark=mark, otherwise=otherwise)
    return earlier if any_of or mark else None


def _turns(source: Map, findings: Findings) -> int:
    written = fields.text(source, "within", findings)
    if not written:
        return 0
    if written.isascii() and written.isdigit() and len(written) < 7 and 0 < int(written) <= MOST_TURNS:
        return int(written)
    fix = f"Write a number of turns from 1 to {MOST_TURNS}, or leave it out for the whole conversation."
    findings.error(source.at("within"), "bad-earlier", f"`within` is {quote(written)}.", fix)
    return 0
