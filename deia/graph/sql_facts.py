"""Facts of SQL: the tables and views that it defines, which of them refer to which, and what is read and written.

Tables and views have one type, since a statement does not say which of the two it reads. They are shared: the same name
means the same table in every document. Comments and strings do not count.
"""

from __future__ import annotations

import bisect
import itertools
import re
from collections.abc import Iterator

from deia.graph.facts import Entity, Facts, Reference
from deia.ingest.chunkers.pieces import line_starts

TABLE = "TABLE"
LONGEST = 4_000_000
MOST = 20_000
PART = r"(?:\"[^\"\n]{1,120}\"|`[^`\n]{1,120}`|\[[\w $.-]{1,120}\]|[^\W\d][\w$]{0,120})"
NAME = rf"((?>{PART}(?:\s?\.\s?{PART}){{0,3}}))"
BLANKED = re.compile(r"'(?:[^']|'')*(?:'|\Z)|--[^\n]*|/\*(?:[^*]|\*(?!/))*(?:\*/|\Z)|(?m:^)\s*#[^\n]*")
TOKEN = re.compile(
    rf"""(?P<end>;) | (?P<body>\$\w{{0,60}}\$)
    | \b(?:extract|trim|substring|overlay)\s*\([^()]{{0,200}}?\bfrom\b
    | \b(?:is\s+(?:not\s+)?distinct\s+from|(?:on|for|do)\s+(?:no\s+key\s+)?(?:update|delete))\b
    | \bcreate\s+(?:or\s+(?:replace|alter)\s+)?(?:(?:global|local|temp|temporary|unlogged|external|foreign|materialized
        |recursive|virtual|definer\s*=\s*\S{{1,80}}|algorithm\s*=\s*\w+|sql\s+security\s+\w+)\s+){{0,4}}
        (?P<kind>table|view|function|procedure|trigger)\s+(?:if\s+not\s+exists\s+)?(?P<created>{NAME})
    | \b(?P<altered>alter\s+table)\s+(?:if\s+exists\s+)?(?:only\s+)?(?P<alters>{NAME})
    | \breferences\s+(?P<refers>{NAME})
    | \b(?:(?:insert|merge|replace)\s+(?:ignore\s+|overwrite\s+|or\s+\w+\s+)?(?:into\s+)?(?:table\s+)?
        |update\s+(?:only\s+)?|delete\s+from\s+(?:only\s+)?|truncate\s+(?:table\s+)?|copy\s+)(?P<writes>{NAME})
    | \binto\s+(?P<inserts>{NAME})
    | \b(?:from|join|using)\s+(?:only\s+|lateral\s+)?(?P<reads>{NAME})(?!\s*\()(?P<more>(?:\s+(?:as\s+)?\w+)?\s*,)?""",
    re.IGNORECASE | re.VERBOSE,
)
NEXT = re.compile(rf"\s*(?:only\s+|lateral\s+)?{NAME}(?!\s*\()(?:\s+(?:as\s+)?\w+)?(\s*,)?", re.IGNORECASE)
COMMON = re.compile(  # a common table expression, which only its statement can use
    rf"(?:\bwith\s+(?:recursive\s+)?|,\s*){NAME}\s*(?:\([^()]{{0,2000}}\)\s*)?as\s*(?:not\s+materialized\s*|materialized\s*)?\(",
    re.IGNORECASE,
)
NO_TABLES = frozenset("select values unnest lateral set on where dual inserted deleted new old into table as".split())
OWN_SCHEMAS = ("public.", "dbo.", "main.")


def sql_facts(_document: str, text: str) -> Facts:
    """Return what SQL statements define, refer to, read and write."""
    if len(text) > LONGEST:
        return Facts()
    bare = BLANKED.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)
    facts = list(itertools.islice(_facts(bare), MOST))
    entities = {fact.name: fact for fact in facts if isinstance(fact, Entity)}
    references = dict.fromkeys(fact for fact in facts if isinstance(fact, Reference))
    return Facts("", tuple(entities.values()), tuple(references))


def _facts(text: str) -> Iterator[Entity | Reference]:
    starts = line_starts(text)
    common = {_plain(match[1]) for match in COMMON.finditer(text)}
    current, body = "", ""
    opened: Entity | None = None
    for match in TOKEN.finditer(text):
        line = bisect.bisect_right(starts, match.start())
        if match["body"]:
            body = "" if body == match["body"] else body or match["body"]
        elif match["end"] and not body:
            if opened:
                yield opened._replace(last=line)
            current, opened = "", None
        elif match["created"]:
            kind, current = match["kind"].lower(), _plain(match["created"])
            is_table = kind in {"table", "view"}
            description = "" if kind == "table" else kind
            opened = Entity(current, TABLE if is_table else kind.upper(), line, line, description, shared=is_table)
            yield opened
        elif match["alters"]:
            current = _plain(match["alters"])
            yield Reference("ALTERS", current, line, target_type=TABLE)
        else:
            yield from (reference for reference in _uses(text, match, line, current) if reference.target not in common)


def _uses(text: str, match: re.Match[str], line: int, current: str) -> Iterator[Reference]:
    """Yield what a clause refers to, reads or writes."""
    kinds = {"refers": "REFERENCES", "writes": "WRITES", "inserts": "WRITES", "reads": "READS"}
    group = next((group for group in kinds if match[group]), "")
    names = [_plain(match[group])] if group else []
    at, more = match.end(), match["more"]
    while more and (following := NEXT.match(text, at)):
        names.append(_plain(following[1]))
        at, more = following.end(), following[2]
    for name in names:
        if name.casefold() not in NO_TABLES:
            yield Reference(kinds[group], name, line, current, TABLE)


def _plain(name: str) -> str:
    """Return a name without quotes and without a default schema such as `public.`."""
    plain = re.sub(r"[\"`\[\]]|\s*(?=\.)|(?<=\.)\s*", "", name)
    return next((plain[len(own) :] for own in OWN_SCHEMAS if plain.lower().startswith(own)), plain)
