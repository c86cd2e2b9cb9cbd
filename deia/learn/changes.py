"""Small changes of a commons as values, and what a commons looks like after them.

A change can so be tried before anybody writes it. `file_edits` makes the same changes to the files.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

from deia.commons.index.index_parts import read_query_patterns
from deia.commons.index.index_records import Concept, QueryPattern
from deia.commons.index.load_commons import Commons
from deia.commons.source_files.findings import Findings
from deia.commons.source_files.yaml_reader import Map, with_lines
from deia.commons.triggers.cases import read_cases
from deia.commons.triggers.conditions import read_clauses
from deia.fast_json import Json
from deia.knowledge import Case, Clause, Entry, Trigger
from deia.match.tokeniser import fold
from deia.records import Record

Item = TypeVar("Item", Entry, Trigger)

ADD, DROP, SET, CONCEPT, PATTERN, CASES = "add", "drop", "set", "concept", "pattern", "cases"
DOCUMENT, TRIGGER, INDEX = "document", "trigger", "index"
SETTING, PERSON = "setting", "person"  # `deia.toml` of the project, and what is the person's own
FORMS, MUTE, ANY = "forms", "mute", "any"
STRENGTH = "strength"
SHOWN = 80  # characters of a case


class Change(Record):
    """One change: words added to a list or dropped from it, one value set, a concept, a past question, or cases."""

    kind: str  # add | drop | set | concept | pattern | cases
    of: str  # document | trigger | index | setting | person
    target: str  # an id, or the first word of a concept
    field: str = ""  # of an entry or a trigger; of cases `fires` or `silent`
    value: Json = ()  # words (add, drop, concept), a query pattern, cases as in a case file, or any value (set)

    @property
    def words(self) -> tuple[str, ...]:
        """The words that the change adds or drops."""
        return tuple(map(str, self.items))

    @property
    def pattern(self) -> QueryPattern:
        """The past question that the change adds."""
        return read_query_patterns(Map({"query_patterns": with_lines([self.value])}), Findings(""))[0]

    @property
    def cases(self) -> tuple[Case, ...]:
        """The cases that the change adds."""
        return as_cases(self.target, self.items, fires=self.field == "fires")

    @property
    def items(self) -> Sequence[Json]:
        """The items of a value that is a list: words, or cases as in a case file."""
        return self.value if isinstance(self.value, list | tuple) else ()

    def summary(self) -> str:
        """Return what the change does, in one line."""
        if self.kind == PATTERN:
            pattern = self.pattern
            return f'query_patterns: + "{pattern.natural_language[0]}" → {", ".join(pattern.common_docs)}'
        if self.kind == CONCEPT:
            return f"concepts: {self.target}: + {', '.join(self.words)}"
        if self.of == SETTING:
            return f"deia.toml: {self.field}: {self.target}: {self.value}"
        if self.of == PERSON:
            return f"{self.target}: muted for you, on this machine"
        if self.kind == SET:
            return f"{self.target}: {self.field}: {self.value}"
        sign = "-" if self.kind == DROP else "+"
        return f"{self.target}: {self.field}: {sign} {', '.join(map(_item_text, self.items))}"


def _item_text(item: Any) -> str:
    """Return a word as it is, and a case as the last of its turns."""
    if not isinstance(item, Mapping):
        return str(item)
    if "turns" not in item:
        return ", ".join(f"{kind} {value!r}" for kind, value in item.items())
    turn = item["turns"][-1]
    text = str(turn.get("text") or turn.get("tool_input") or "")
    return f'{turn.get("role", "")} "{text[:SHOWN]}"'


def change_commons(commons: Commons, changes: Iterable[Change]) -> Commons:
    """Return a commons with some changes made; those of a document or trigger that it lacks are skipped."""
    for change in changes:
        if change.kind == CONCEPT:
            commons = commons.but(concepts=_with_concept(commons.concepts, change))
        elif change.kind == PATTERN:
            commons = commons.but(query_patterns=(*commons.query_patterns, change.pattern))
        elif change.kind == CASES:
            commons = commons.but(cases=(*commons.cases, *change.cases))
        elif change.of in (SETTING, PERSON):
            continue  # says nothing about what the commons contains
        elif change.of == DOCUMENT:
            commons = commons.but(entries=_with_change(commons.entries, change))
        else:
            commons = commons.but(triggers=_with_change(commons.triggers, change))
    return commons


def _with_concept(concepts: Sequence[Concept], change: Change) -> tuple[Concept, ...]:
    """Return the concepts with words added to the one that begins with the change's target, or with a new one."""
    known = [at for at, concept in enumerate(concepts) if fold(concept.words[0]) == fold(change.target)]
    if not known:
        return (*concepts, Concept(words=(change.target, *change.words)))
    grown = concepts[known[0]].but(words=tuple(dict.fromkeys((*concepts[known[0]].words, *change.words))))
    return tuple(grown if at == known[0] else concept for at, concept in enumerate(concepts))


def _with_change(items: tuple[Item, ...], change: Change) -> tuple[Item, ...]:
    """Return the items with the change made to the first one that has its id."""
    first = next((item for item in items if item.id == change.target), None)
    return tuple(_changed(item, change) if item is first else item for item in items)


def _changed(item: Item, change: Change) -> Item:
    if change.kind == SET and isinstance(item, Entry) and change.field not in item.values():
        return item.but(extra={**item.extra, change.field: change.value})
    if change.kind == SET:
        return item.but(**{change.field: change.value})
    if change.field == ANY and isinstance(item, Trigger):
        if change.kind == ADD:
            return item.but(any=(*item.any, *as_clauses(change.items)))
        return item.but(any=tuple(clause for clause in item.any if written(clause) not in change.items))
    words: tuple[str, ...] = getattr(item, change.field)
    if change.kind == ADD:
        return item.but(**{change.field: tuple(dict.fromkeys((*words, *change.words)))})
    return item.but(**{change.field: tuple(word for word in words if word not in change.words)})


def written(clause: Clause) -> Json:
    """Return a clause as a trigger file has it."""
    value = list(clause.value) if isinstance(clause.value, tuple) else clause.value
    return {clause.kind: value}


def as_clauses(values: Sequence[Json]) -> tuple[Clause, ...]:
    """Return the clauses that values of a trigger file stand for; what can never match is left out."""
    return read_clauses(Map({ANY: with_lines(list(values))}), ANY, Findings(""))


def as_cases(trigger: str, values: Sequence[Json], *, fires: bool) -> tuple[Case, ...]:
    """Return the cases that values of a case file stand for."""
    body = with_lines({"fires" if fires else "silent": list(values)})
    return tuple(read_cases(Map({trigger: body}), None, Findings("")))
