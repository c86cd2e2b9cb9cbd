"""Compile triggers to the artefact that the watcher maps: lower the clauses, and build the gate's tables.

The same triggers, documents and settings give the same bytes on the same interpreter version.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from itertools import product
from typing import Any

from deia.commons.index.load_commons import Commons
from deia.commons.index.successors import with_real_successors
from deia.commons.layers.merge_layers import PROJECT, origin_of
from deia.commons.source_files.outline import without_outline
from deia.commons.triggers.clause_language import WRITE_PATTERNS
from deia.compile.triggers.act_words import NO_WORDS, Vocabulary, act_words, vocabulary
from deia.compile.triggers.gate_tables import Group, Lowered, Row, gate_row, gate_tables, pack
from deia.compile.triggers.lower_clause import is_looked_up, lower_clause, name_parts, size_of
from deia.compile.triggers.statements import asks_for, lower_mark, mark_of, marks_in, turns_of
from deia.compile.triggers.units import GateRow, Unit, Units, mark_key, trigger_key, words_key
from deia.compile.triggers.word_forms import forms
from deia.fast_json import dumps
from deia.knowledge import Earlier, OwnActWords, Trigger
from deia.records import Record
from deia.text import shorten, words
from deia.watch.compiled_trigger import (
    ACTS,
    FOLDED,
    OUTPUT,
    PATTERNS,
    SHOWN,
    CompiledClause,
    CompiledMark,
    CompiledTrigger,
    Unless,
    WordTable,
)
from deia.watch.gate.artefact import FORMAT, LONGEST_WORD, Meta
from deia.watch.gate.word_gate import EVERYBODY, WHO
from deia.watch.turn.regex import MAKER

SPEAKING = WHO["user"] | WHO["assistant"]
MOST_ROWS = 400  # of one trigger
MOST_PAYLOAD = 8000  # characters of a document that an injection may carry; hosts cut strings at 10,000


class Payload(Record):
    """A document as an injection may carry it."""

    id: str
    path: str
    title: str
    summary: str
    text: str
    valid_until: str = ""
    superseded_by: str = ""


def compile_triggers(  # noqa: PLR0913 - what an artefact is made of
    triggers: Sequence[Trigger],
    documents: Mapping[str, Payload],
    *,
    settings: Mapping[str, object],
    identity: Mapping[str, Any],
    marks: Mapping[str, Earlier] | None = None,
    known: Sequence[tuple[str, str]] = (),
    own: str = PROJECT,
    units_of: Callable[[str], Units] | None = None,
) -> tuple[bytes, tuple[str, ...]]:
    """Return the artefact's bytes, and the ids of the triggers that no word can gate, which every turn pays for.

    `settings` and `identity` (version, digest of the sources and so on) are stored unchanged. Deprecated triggers are
    left out. `marks` are kept besides those that triggers wait for; `known` are the path and title of every document.
    `own` is the origin of triggers that neither a pack nor a starter below the commons brought. `units_of` returns the
    units that earlier compiles made for the triggers of an origin.
    """
    kept = units_of or defaultdict[str, Units](Units).__getitem__
    living = sorted((trigger for trigger in triggers if trigger.status != "deprecated"), key=lambda trigger: trigger.id)
    waited = sorted({**(marks or {}), **marks_in(living)}.items())
    numbers = {name: number for number, name in enumerate(sorted(documents))}
    vocabularies = _vocabularies(living)
    units = [_trigger_unit(trigger, own, vocabularies[trigger.act_words], kept) for trigger in living]
    own_words = {mark_of(trigger): trigger.act_words for trigger in living if trigger.earlier}
    mark_units = [
        _mark_unit(name, earlier, vocabularies[own_words.get(name, NO_WORDS)], kept(own)) for name, earlier in waited
    ]
    contexts = [*_contexts(living), *_antecedents(units)]
    alternatives = [*(unit.rows for unit in (*units, *mark_units)), *(rows for _, rows in contexts)]
    rows = [(target, row) for target, target_rows in enumerate(alternatives) for row in target_rows]
    ungated = sorted({(target, row.flags & EVERYBODY) for target, row in rows if not row.groups})
    parts, fields = _tool_words(living, waited)
    listed = known if asks_for("like", living) else ()
    spoken = _act_words([*units, *mark_units], vocabularies.values(), kept(own))
    meta = Meta(
        **identity, format=FORMAT, settings=dict(settings), triggers=len(living), marks=len(waited),
        contexts="\n".join(name for name, _ in contexts), known=int(bool(listed)), words=len(spoken),
        paths=int(asks_for("unread", living)), names=int(asks_for("subject_gone", living)), ungated=ungated,
        ending=_ending(waited, len(living)), waiting=_waiting(living, waited), regex=MAKER, parts=parts, fields=fields,
    )  # fmt: skip
    records = [
        *(_record(unit, trigger, numbers) for trigger, unit in zip(living, units, strict=True)),
        *(unit.record for unit in mark_units), *([_encoded(listed)] if listed else ()), *spoken,
    ]  # fmt: skip
    injected = [_encoded(documents[name].values()) for name in numbers]
    tables = gate_tables([(target, row) for target, row in rows if row.groups])
    names = [*(trigger.id for trigger in living), *(name for name, _ in waited)]
    ungated_names = dict.fromkeys(names[target] for target, _ in ungated)
    return pack([*tables, records, injected, [_encoded(meta.values())]]), tuple(ungated_names)


def _antecedents(units: Iterable[Unit]) -> list[tuple[str, Sequence[GateRow]]]:
    """Return what `<it>` stands for in triggers, each once with the rows that see it, in order."""
    return sorted({name: rows for unit in units for name, rows in unit.antecedents.items()}.items())


def _record(unit: Unit, trigger: Trigger, numbers: Mapping[str, int]) -> bytes:
    known = [(numbers[ref.id], ref.mode, ref.reason) for ref in trigger.documents if ref.id in numbers]
    return with_documents(unit.record, known)


def _vocabularies(triggers: Sequence[Trigger]) -> dict[OwnActWords, Vocabulary]:
    """Return the words of acts that the triggers of each commons know, numbered; those that deia ships come first."""
    added = dict.fromkeys([NO_WORDS, *(trigger.act_words for trigger in triggers)])
    return {own: vocabulary(own, number=number) for number, own in enumerate(added)}


def _act_words(units: Iterable[Unit], vocabularies: Iterable[Vocabulary], kept: Units) -> list[bytes]:
    """Return the verbs and nouns that `act` and `meaning` clauses need, by vocabulary; none if nothing needs them."""
    do: dict[int, set[str]] = {}
    what: dict[int, set[str]] = {}
    for number, verbs, nouns in [act for unit in units for act in unit.acts]:
        do.setdefault(number, set()).update(verbs)
        what.setdefault(number, set()).update(nouns)
    used = vocabularies if do else ()
    return [
        _words_unit(do.get(known.number, set()), what.get(known.number, set()), known, kept).record for known in used
    ]


def _words_unit(do: Collection[str], what: Collection[str], known: Vocabulary, kept: Units) -> Unit:
    def make() -> Unit:
        made = act_words(do, what, known)
        tables = {name: WordTable.of(getattr(made, name)).parts for name in ("verbs", "nouns")}
        return Unit(record=_encoded({**made.values(), **tables}), rows=(), antecedents={}, acts=())

    return kept.of(words_key(do, what, known), make)


def _encoded(value: object) -> bytes:
    return dumps(value).encode("ascii")


# --- one trigger ---


def _trigger_unit(trigger: Trigger, own: str, known: Vocabulary, units_of: Callable[[str], Units]) -> Unit:
    """Return the unit of a trigger; `known` are the words of its acts."""
    origin = origin_of(trigger.path)
    origin = own if origin == PROJECT else origin
    key = trigger_key(trigger, origin, known.number)
    return units_of(origin).of(key, lambda: _lower(trigger, origin, known))


def _lower(trigger: Trigger, origin: str, known: Vocabulary) -> Unit:
    required = [lower_clause(clause, known) for clause in trigger.all]
    optional = [lower_clause(clause, known) for clause in trigger.any]
    compiled = CompiledTrigger(
        id=trigger.id, title=trigger.title, urgency=trigger.urgency, action=trigger.action, timing=trigger.timing,
        message=trigger.message, action_required=trigger.action_required, instead=list(trigger.instead),
        origin=origin, documents=[],
        who=sum(WHO[role] for role in _who(trigger)), context=list(trigger.context), stance=list(trigger.stance),
        excuses=[_unless(text).fields for text in trigger.unless], repeat=trigger.repeat,
        all=[lowered.clause for lowered in required], any=[lowered.clause for lowered in optional],
        earlier=turns_of(trigger.earlier) if trigger.earlier else None,
        waits_for=mark_of(trigger) if trigger.earlier and trigger.earlier.mark else "",
        otherwise=trigger.earlier.otherwise if trigger.earlier else None,
    )  # fmt: skip
    antecedents = {
        lowered.antecedent: [gate_row(row, SPEAKING) for row in lowered.antecedent_rows]
        for lowered in (*required, *optional)
        if lowered.antecedent
    }
    rows = _gated(required, optional, compiled.who)
    return Unit(record=folded(compiled), rows=rows, antecedents=antecedents, acts=_acts(compiled.clauses))


def _acts(clauses: Iterable[CompiledClause]) -> list[tuple[int, Sequence[str], Sequence[str]]]:
    """Return the names of the verbs and nouns in the acts of each clause that has some, with their vocabulary."""
    return [
        (
            clause.vocabulary,
            sorted({name for _, act in clause.acts for name in act.do}),
            sorted({name for _, act in clause.acts for name in act.what}),
        )
        for clause in clauses
        if clause.kind in ACTS
    ]


def _gated(required: Sequence[Lowered], optional: Sequence[Lowered], who: int) -> list[GateRow]:
    """Return the rows of a trigger: separate ones of each clause that is enough alone, or else combined ones."""
    if not required or (len(required) == 1 and not optional):
        return [row for place, lowered in enumerate((*required, *optional)) for row in _rows(lowered, who, place)]
    choices = [lowered.rows for lowered in required]
    choices += [tuple(row for lowered in optional for row in lowered.rows)] if optional else []
    return [gate_row(row, who, wide=True) for row in dict.fromkeys(map(_united, _product(choices)))]


def _rows(lowered: Lowered, who: int, place: int) -> list[GateRow]:
    """Return the rows of a clause that is enough alone; `place` is its number in the trigger."""
    rows = dict.fromkeys(_united((row,)) for row in lowered.rows)
    return [gate_row(row, who, wide=lowered.wide, clause=place, placed=is_placed(lowered)) for row in rows]


def is_placed(lowered: Lowered) -> bool:
    """Return whether the second gate looks for a clause before anything is judged: a phrase, changed text, output."""
    clause = lowered.clause
    return clause.kind in {"phrase", *SHOWN, *ACTS} or (
        clause.kind == "write" and any(map(clause.written, WRITE_PATTERNS))
    )


def _united(rows: Iterable[Row]) -> Row:
    """Return the groups of all rows, without those that have a word longer than the watcher looks up."""
    groups = {group for row in rows for group in row}
    return tuple(sorted((group for group in groups if max(map(size_of, group)) <= LONGEST_WORD), key=sorted))


def _product(choices: Sequence[tuple[Row, ...]]) -> Iterable[tuple[Row, ...]]:
    """Yield all combinations of the choices; if there are too many, only those of the choice with the fewest rows."""
    size = 1
    for options in choices:
        size *= max(len(options), 1)
    return product(*choices) if size <= MOST_ROWS else ((row,) for row in min(choices, key=len))


def _who(trigger: Trigger) -> tuple[str, ...]:
    """Return whose turns a trigger counts for. One on errors also counts for a person, who may paste an error."""
    clauses = (*trigger.any, *trigger.all)
    if trigger.who == ("tool_result",) and all(clause.kind in {"error", OUTPUT} for clause in clauses):
        return ("tool_result", "user")
    return trigger.who


def _unless(text: str) -> Unless:
    if text.startswith("-"):
        return Unless(source=text, flag=text)
    return Unless(source=text, words=[sorted(forms(word)) for word in words(text)])


# --- marks and contexts ---


def _mark_unit(name: str, earlier: Earlier, known: Vocabulary, units: Units) -> Unit:
    """Return the unit of a mark; `known` are the words of its acts."""
    return units.of(mark_key(name, earlier, known), lambda: _lower_mark(name, earlier, known))


def _lower_mark(name: str, earlier: Earlier, known: Vocabulary) -> Unit:
    mark = lower_mark(name, earlier, partial(lower_clause, known=known))
    rows = [
        row
        for place, (lowered, roles) in enumerate(mark.gates)
        for row in _rows(lowered, sum(WHO[role] for role in roles), place)
    ]
    return Unit(record=folded(mark.compiled), rows=rows, antecedents={}, acts=_acts(mark.compiled.clauses))


def _contexts(triggers: Sequence[Trigger]) -> list[tuple[str, Sequence[GateRow]]]:
    """Return the context words that triggers want, each with its rows."""
    contexts = sorted({context for trigger in triggers for context in trigger.context if words(context)})
    return [(context, [gate_row(tuple(Group((word,)) for word in words(context)), EVERYBODY)]) for context in contexts]


def _waiting(triggers: Sequence[Trigger], waited: Sequence[tuple[str, Earlier]]) -> dict[str, int]:
    """Return the numbers of the triggers that wait for something said earlier, each with its mark's number."""
    marks = {name: number for number, (name, _) in enumerate(waited, start=len(triggers))}
    return {
        str(number): marks[mark_of(trigger)]
        for number, trigger in enumerate(triggers)
        if trigger.earlier and trigger.earlier.otherwise is None
    }


def _ending(waited: Sequence[tuple[str, Earlier]], first: int) -> dict[str, tuple[int, str]]:
    """Return the first clause that takes a mark back and the mark's name, by its number; marks begin at `first`."""
    return {str(number): (len(earlier.any), name) for number, (name, earlier) in enumerate(waited, start=first)}


def _tool_words(triggers: Sequence[Trigger], waited: Sequence[tuple[str, Earlier]]) -> tuple[list[str], list[str]]:
    """Return the parts of tool names and the fields of tool inputs that clauses look for."""
    clauses = [clause for trigger in triggers for clause in (*trigger.any, *trigger.all)]
    clauses += [clause for _, earlier in waited for clause in (*earlier.any, *earlier.until)]
    tools = [clause.value for clause in clauses if isinstance(clause.value, Mapping) and clause.kind == "tool"]
    parts = {part for tool in tools for part in name_parts(str(tool["name"]))}
    inputs = [tool_input for tool in tools if isinstance(tool_input := tool.get("input"), Mapping)]
    fields = {field for tool_input in inputs for field in tool_input}
    return sorted(parts), sorted(filter(is_looked_up, fields))


def folded(compiled: CompiledTrigger | CompiledMark) -> bytes:
    """Return a trigger or mark as an item of the artefact: its record, and a line for each large part of a clause.

    The documents of a trigger are left out: `with_documents` adds them.
    """
    lines: list[str] = []
    fields = {
        name: [_fields(item, lines) for item in value] if name in {"any", "all", "until"} else value
        for name, value in compiled.values().items()
        if value is not None and name != "documents"
    }
    return "\n".join((dumps(fields), *lines)).encode("ascii")


def with_documents(record: bytes, documents: Sequence[tuple[int, str, str]]) -> bytes:
    """Return the item of a trigger with its documents: their numbers, how much of each is shown, and why."""
    return b"".join((b'{"documents":', dumps(documents).encode("ascii"), b",", record[1:]))


def _fields(clause: CompiledClause, lines: list[str]) -> Mapping[str, object]:
    """Return the serialised fields of a clause, and add its large parts to `lines`; their numbers replace them."""
    large: Mapping[str, object]
    if clause.kind in FOLDED:
        large = {"v": clause.fields["v"]}
    else:
        large = {name: pattern.fields for name in PATTERNS if (pattern := clause.written(name))}
    numbers = {}
    for name, part in large.items():
        lines.append(dumps(part))
        numbers[name] = len(lines)
    return {**clause.fields, **numbers}


def payloads(commons: Commons) -> dict[str, Payload]:
    """Return the documents that triggers name, by id, as injections carry them."""
    texts = {document.path: document.text for document in commons.documents}
    wanted = {reference.id for trigger in commons.triggers for reference in trigger.documents}
    return {
        entry.id: Payload(
            id=entry.id,
            path=entry.path,
            title=entry.title,
            summary=entry.summary,
            text=shorten(without_outline(texts.get(entry.path, "")) or entry.summary, MOST_PAYLOAD),
            valid_until=entry.valid_until,
            superseded_by=entry.superseded_by,
        )
        for entry in with_real_successors(commons.entries)
        if entry.id in wanted
    }
