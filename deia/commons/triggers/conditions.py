"""Read the clauses of a trigger's `when`: under `any`, `all` and `earlier`. Those that can never match are reported."""

from __future__ import annotations

import re
from collections.abc import Sequence

from deia.commons.source_files import fields
from deia.commons.source_files.findings import Findings, quote
from deia.commons.source_files.yaml_reader import Items, Map, Value, plain
from deia.commons.triggers.clause_language import (
    AT_LEAST,
    FEWEST_IMPORTERS,
    IMPORTED_BY,
    WRITE_FIELDS,
    WRITE_REMOVALS,
    WRITE_TEXTS,
    clause_problems,
)
from deia.fast_json import Json
from deia.knowledge import Clause, Earlier
from deia.patterns.safe_pattern import pattern_problem
from deia.records import TYPE_CHECKING
from deia.suggestions import nearest
from deia.text import words

if TYPE_CHECKING:
    from deia.records import Action


TEXT_KINDS = ("phrase", "pattern", "command", "error", "output", "incoming")
PATTERN_KINDS = ("pattern", "output", "incoming")  # a regular expression
KINDS = (*TEXT_KINDS, "sql", "write", "tool", "act", "meaning", "deletion", "package")
MOST_EXEMPLARS = 20  # of one clause; each is compared wherever its words occur
EXEMPLAR_WORDS = (3, 30)
MOST_IMPORTERS = 1_000_000
TOOL_FIELDS = ("name", "input")
INCOMING_FIELDS = ("first", "then")  # patterns, of which the second follows the first
ACT_FIELDS = ("do", "what", "not", "where", "how", "all")
LANGUAGE = re.compile(r"[a-z]{2,3}")


def read_clauses(when: Map, name: str, findings: Findings) -> tuple[Clause, ...]:
    """Read one list of clauses; invalid ones are reported and left out."""
    items = when.get(name)
    if name not in when:
        return ()
    if not isinstance(items, Items) or not items:
        fix = "Write a list: `- phrase: …` on a line of its own."
        findings.error(when.at(name), "wrong-type", f"`{name}` is not a list of clauses.", fix)
        return ()
    return tuple(
        clause for position, item in enumerate(items) for clause in _clauses(item, name, items.at(position), findings)
    )


def _clauses(item: Value, name: str, line: int, findings: Findings) -> Sequence[Clause]:
    """Return the clauses of an item: one, or several that are alternatives; none if the item has an error."""
    if not isinstance(item, Map) or len(item) != 1:
        message = f"The clause is {quote(plain(item))}; write one kind with its value."
        findings.error(line, "bad-clause", message, f"Write `- phrase: …`; kinds are {', '.join(KINDS)}.")
        return ()
    ((kind, value),) = item.items()
    if kind not in KINDS:
        findings.error(line, "unknown-clause", f"The clause kind {quote(kind)} is unknown.", nearest(kind, KINDS))
        return ()
    before = findings.errors()
    if kind == "phrase" and isinstance(value, Map):
        clauses = _by_language(item, name, line, findings)
    elif kind == "incoming" and isinstance(value, Map):
        clauses = _pairs(item, name, line, findings)
    else:
        clauses = [Clause(kind=kind, value=_value(item, kind, findings), line=line)]
    for clause in clauses if findings.errors() == before else ():
        _check(clause, findings)
    return clauses if findings.errors() == before else ()


def _by_language(item: Map, name: str, line: int, findings: Findings) -> list[Clause]:
    """Read one phrase in several languages, as one clause for each wording."""
    source = fields.mapping(item, "phrase", findings)
    if name == "all":
        message = "A phrase in several languages is under `all`, so all languages would have to match."
        findings.error(line, "bad-clause", message, "Put it under `any`.")
    clauses = []
    for language in source:
        if not LANGUAGE.fullmatch(str(language)):
            message = f"{quote(language)} is not a language code."
            findings.error(source.at(language), "bad-language", message, "Write a code such as de, es, fr, zh or ru.")
            continue
        clauses += [
            Clause(kind="phrase", value=text, line=source.at(language), language=str(language))
            for text in fields.texts(source, language, findings)
        ]
    return clauses


def _pairs(item: Map, name: str, line: int, findings: Findings) -> list[Clause]:
    """Read pairs of patterns, of which the second follows the first, as one clause for each pair."""
    source = fields.mapping(item, "incoming", findings)
    fields.report_unknown(source, INCOMING_FIELDS, findings)
    firsts, thens = (_written(source, field) for field in INCOMING_FIELDS)
    if not firsts or not thens or (name == "all" and len(firsts) * len(thens) > 1):
        fix = "Write both: `incoming: {first: whom it addresses, then: what it wants}`; lists of them under `any`."
        findings.error(line, "bad-clause", "The incoming clause has not one `first` and one `then`.", fix)
    return [
        Clause(kind="incoming", value={"first": first, "then": then}, line=line) for first in firsts for then in thens
    ]


def _written(source: Map, name: str) -> list[str]:
    """Return a text or the texts of a list as they are: spaces at the ends of a pattern are significant."""
    value = source.get(name)
    return [
        str(text) for text in (value if isinstance(value, Items) else [value]) if text and not isinstance(text, Map)
    ]


def _value(item: Map, kind: str, findings: Findings) -> str | tuple[str, ...] | dict[str, Json]:
    if kind == "write" and isinstance(item[kind], Map):
        return _write(item, findings)
    if kind in {"write", "sql", "meaning"}:
        return fields.texts(item, kind, findings)
    if kind == "tool":
        return _tool(item, findings)
    if kind == "act":
        return _act(item, findings)
    value = item[kind]
    if kind in PATTERN_KINDS and isinstance(value, str):
        return value  # spaces at its ends are significant
    return fields.text(item, kind, findings)


def _write(item: Map, findings: Findings) -> dict[str, Json]:
    """Read the long form of a write clause: paths, and conditions on the file or on the change."""
    source = fields.mapping(item, "write", findings)
    fields.report_unknown(source, WRITE_FIELDS, findings)
    flags: dict[str, Json] = {
        name: fields.boolean(source, name, findings)
        for name in WRITE_FIELDS[1:]
        if name in source and name not in (*WRITE_TEXTS, IMPORTED_BY)
    }
    if IMPORTED_BY in source:
        flags[IMPORTED_BY] = _at_least(fields.mapping(source, IMPORTED_BY, findings), findings)
    about_file = {name: wanted for name, wanted in flags.items() if name not in WRITE_REMOVALS}
    about_change: dict[str, Json] = {name: wanted for name, wanted in flags.items() if name in WRITE_REMOVALS}
    # Spaces at the ends of a pattern are significant.
    about_change |= {name: str(source[name]) for name in WRITE_TEXTS if name in source}
    if about_file and about_change:
        message = "A write clause is about the change or about the file, not both."
        findings.error(item.at("write"), "bad-clause", message, "Write two clauses under `all`.")
    if about_file.get("unread") and not about_file.setdefault("exists", True):
        findings.error(
            item.at("write"), "bad-clause", "A file that does not exist is always unread.", "Remove `unread`."
        )
    if about_file.get("like"):
        about_file.setdefault("exists", False)
    return {"paths": fields.texts(source, "paths", findings), **about_file, **about_change}


def _at_least(source: Map, findings: Findings) -> int:
    fields.report_unknown(source, (AT_LEAST,), findings)
    number = source.get(AT_LEAST)
    if isinstance(number, int) and not isinstance(number, bool) and FEWEST_IMPORTERS <= number <= MOST_IMPORTERS:
        return number
    message = f"`{IMPORTED_BY}` asks for {quote(number)}."
    fix = f"Write `{IMPORTED_BY}: {{{AT_LEAST}: 40}}`, a number from {FEWEST_IMPORTERS} to {MOST_IMPORTERS}."
    findings.error(source.line, "bad-clause", message, fix)
    return MOST_IMPORTERS


def _act(item: Map, findings: Findings) -> dict[str, Json]:
    """Read an act clause: classes of verbs and objects, or words of their own, and what must stand beside them."""
    source = fields.mapping(item, "act", findings)
    fields.report_unknown(source, ACT_FIELDS, findings)
    listed: dict[str, Json] = {name: fields.texts(source, name, findings) for name in ACT_FIELDS[:-1] if name in source}
    if not listed.get("do"):
        fix = "Write the class of its verb: `act: {do: destroy, what: database}`."
        findings.error(item.at("act"), "bad-clause", "The act clause does not say what is done.", fix)
    return {**listed, **({"all": True} if fields.boolean(source, "all", findings) else {})}


def _tool(item: Map, findings: Findings) -> dict[str, Json]:
    tool = item["tool"]
    if isinstance(tool, str):
        return {"name": tool, "input": {}}
    source = fields.mapping(item, "tool", findings)
    fields.report_unknown(source, TOOL_FIELDS, findings)
    inputs = fields.mapping(source, "input", findings)
    globs = {name: fields.text(inputs, name, findings) for name in inputs}
    name = fields.text(source, "name", findings)
    if not name:
        findings.error(
            item.at("tool"), "missing-field", "The tool clause has no `name`.", "Add `name:`, which may be `*`."
        )
    return {"name": name, "input": globs}


def _check(clause: Clause, findings: Findings) -> None:
    if not clause.value:
        findings.error(clause.line, "bad-clause", f"The {clause.kind} clause is empty.", "Write what it should match.")
        return
    if clause.kind == "meaning":
        _check_exemplars(clause, findings)
        return
    for pattern in _patterns(clause):
        problem = pattern_problem(pattern)
        if problem:
            findings.error(clause.line, "unsafe-pattern", f"The pattern {quote(pattern)} cannot be used: {problem}.")
    if clause.kind in PATTERN_KINDS:
        return
    for problem in clause_problems(clause):
        message = f"The {clause.kind} clause {quote(clause.value)} cannot be used: {problem}."
        findings.error(clause.line, "bad-clause", message)


def _patterns(clause: Clause) -> list[str]:
    """Return the regular expressions in a clause."""
    if clause.kind == "write" and isinstance(clause.value, dict):
        return [clause.value[name] for name in WRITE_TEXTS if name in clause.value]
    if clause.kind == "incoming" and isinstance(clause.value, dict):
        return [str(pattern) for pattern in clause.value.values()]
    return [str(clause.value)] if clause.kind in PATTERN_KINDS else []


def _check_exemplars(clause: Clause, findings: Findings) -> None:
    """Report exemplars that are not sentences, and clauses with more exemplars than a turn has time for."""
    if len(clause.value) > MOST_EXEMPLARS:
        message = f"The meaning clause has {len(clause.value)} exemplars; at most {MOST_EXEMPLARS} are compared."
        findings.error(clause.line, "bad-clause", message, "Keep those that differ most from each other.")
    fewest, most = EXEMPLAR_WORDS
    for text in clause.value:
        if not fewest <= len(words(str(text))) <= most:
            message = f"The exemplar {quote(text)} is not a sentence of {fewest} to {most} words."
            findings.error(clause.line, "bad-clause", message, "Write an act and its object: wipe the site for good.")


# --- `earlier`: what must have been said before, and what cancels it ---

EARLIER_FIELDS = ("any", "until", "mark", "within", "otherwise")
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
    fields.report_unknown(source, EARLIER_FIELDS, findings)
    mark = fields.choice(source, "mark", MARKS, findings, default="")
    has_clauses = bool(source.get("any") or source.get("until"))
    if has_clauses == ("mark" in source) or ("mark" not in source and not source.get("any")):
        fix = "Write {any: [clauses], until: [clauses], within: turns}, or {mark: failing, within: turns}."
        message = "`earlier` has a mark and clauses of its own." if "mark" in source else "`earlier` has no clauses."
        findings.error(when.at("earlier"), "bad-earlier", message, fix)
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
