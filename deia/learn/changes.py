"""Small changes of a commons as values, made to what was read of it: how a change is tried before anybody writes it.

`editing` makes the same changes to the files. Refuses to touch a file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from deia.commons.index.index_records import Concept, QueryPattern
from deia.commons.index.load_commons import Commons
from deia.knowledge import Case, Entry, Trigger
from deia.match.tokeniser import fold
from deia.records import Record, Turn

ADD, DROP, SET, CONCEPT, PATTERN, CASES = "add", "drop", "set", "concept", "pattern", "cases"
DOCUMENT, TRIGGER, INDEX = "document", "trigger", "index"
STRENGTH = "strength"


class Change(Record):
    """One change: values added to a list or taken out, one value set, words for one thing, a past question, cases."""

    kind: str  # add | drop | set | concept | pattern | cases
    of: str  # document | trigger | index
    target: str  # an id, or the word that a concept is found by
    field: str = ""  # of an entry or trigger; of cases `fires` or `silent`
    value: Any = ()

    def told(self) -> str:
        """Say what it does, in one line."""
        if self.kind == PATTERN:
            return f'query_patterns: + "{self.value["natural_language"][0]}" → {", ".join(self.value["common_docs"])}'
        if self.kind == CONCEPT:
            return f"concepts: {self.target}: + {', '.join(self.value)}"
        if self.kind == SET:
            return f"{self.target}: {self.field}: {self.value}"
        sign = "-" if self.kind == DROP else "+"
        return f"{self.target}: {self.field}: {sign} {', '.join(map(_told, self.value))}"


def _told(value: Any) -> str:
    if isinstance(value, dict):
        turn = value.get("turns", [{}])[-1]
        text = str(turn.get("text") or turn.get("tool_input") or "")
        return f'{turn.get("role", "")} "{text[:80]}"'
    return str(value)


def from_values(values: Mapping[str, Any]) -> Change:
    """Make a change from its values, as `values()` gave them and JSON kept them."""
    return Change(**{name: values[name] for name in ("kind", "of", "target", "field", "value") if name in values})


def changed(commons: Commons, changes: Iterable[Change]) -> Commons:
    """Give a commons with some changes made; what they name and it lacks is passed over."""
    for change in changes:
        commons = _MADE[change.of](commons, change)
    return commons


def _index(commons: Commons, change: Change) -> Commons:
    if change.kind == CONCEPT:
        return commons.but(concepts=_with_concept(commons.concepts, change))
    pattern = QueryPattern(
        query_keywords=tuple(change.value["query_keywords"]),
        natural_language=tuple(change.value["natural_language"]),
        primary_cluster=str(change.value.get("primary_cluster", "")),
        common_docs=tuple(change.value["common_docs"]),
    )
    return commons.but(query_patterns=(*commons.query_patterns, pattern))


def _with_concept(concepts: Sequence[Concept], change: Change) -> tuple[Concept, ...]:
    """Add words to the concept that begins with a word, or make one."""
    known = [at for at, concept in enumerate(concepts) if fold(concept.words[0]) == fold(change.target)]
    if not known:
        return (*concepts, Concept(words=(change.target, *change.value)))
    grown = concepts[known[0]].but(words=tuple(dict.fromkeys((*concepts[known[0]].words, *change.value))))
    return tuple(grown if at == known[0] else concept for at, concept in enumerate(concepts))


def _document(commons: Commons, change: Change) -> Commons:
    def made(entry: Entry) -> Entry:
        """Give an entry with the change made."""
        if change.kind == ADD:
            return entry.but(**{change.field: tuple(dict.fromkeys((*getattr(entry, change.field), *change.value)))})
        if change.kind == DROP:
            kept = tuple(one for one in getattr(entry, change.field) if one not in change.value)
            return entry.but(**{change.field: kept})
        if change.field in entry.values():
            return entry.but(**{change.field: change.value})
        return entry.but(extra={**entry.extra, change.field: change.value})

    return commons.but(entries=_one(commons.entries, change.target, made))


def _trigger(commons: Commons, change: Change) -> Commons:
    if change.kind == CASES:
        new = tuple(made_case(change.target, value, fires=change.field == "fires") for value in change.value)
        return commons.but(cases=(*commons.cases, *new))

    def made(trigger: Trigger) -> Trigger:
        """Give a trigger with the change made."""
        if change.kind == ADD:
            return trigger.but(**{change.field: tuple(dict.fromkeys((*getattr(trigger, change.field), *change.value)))})
        return trigger.but(**{change.field: change.value})

    return commons.but(triggers=_one(commons.triggers, change.target, made))


def made_case(trigger: str, value: Any, *, fires: bool) -> Case:
    """Make the case that a value of a case file is."""
    turns = value["turns"] if isinstance(value, dict) else [{"role": "user", "text": value}]
    made = tuple(
        Turn(
            role=turn["role"], text=_text(turn), tool=turn.get("tool", ""), tool_input=turn.get("tool_input"),
            failed=bool(turn.get("failed")), index=number,
        )
        for number, turn in enumerate(turns, 1)
    )  # fmt: skip
    return Case(trigger=trigger, fires=fires, turns=made)


def _text(turn: Mapping[str, Any]) -> str:
    given = turn.get("tool_input")
    command = given.get("command", "") if isinstance(given, dict) else ""
    return str(turn.get("text") or (command if isinstance(command, str) else ""))


def _one(items: tuple[Any, ...], ident: str, made: Callable[[Any], Any]) -> tuple[Any, ...]:
    """Change the first of some items that has an id."""
    at = next((at for at, item in enumerate(items) if item.id == ident), None)
    return items if at is None else (*items[:at], made(items[at]), *items[at + 1 :])


_MADE: Mapping[str, Callable[[Commons, Change], Commons]] = {INDEX: _index, DOCUMENT: _document, TRIGGER: _trigger}
