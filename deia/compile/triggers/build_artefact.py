"""Triggers as written → the artefact that the watcher maps: clauses lowered, word forms expanded, the gate laid out.

Deterministic: the same triggers, documents and settings give the same bytes on the same interpreter version.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import product
from typing import Any

from deia.commons.layers.merge_layers import PROJECT, origin_of
from deia.commons.triggers.clause_language import (
    GAP,
    PLACES,
    WRITE_PATTERNS,
    WRITE_TEXTS,
    parse_command,
    parse_phrase,
    parse_sql,
)
from deia.compile.triggers.background_talk import set_thresholds
from deia.compile.triggers.exemplars import meaning_clause
from deia.compile.triggers.gate_tables import COMMON, Gated, gate_tables
from deia.compile.triggers.lowered import Group, Lowered
from deia.compile.triggers.patterns import MAKER, compiled, regex_code, required_groups
from deia.compile.triggers.payload_folding import folded
from deia.compile.triggers.pronouns import referring
from deia.compile.triggers.statements import asks_for, lower_mark, marks_in
from deia.compile.triggers.word_forms import forms
from deia.fast_json import dumps
from deia.knowledge import Clause, Earlier, Trigger
from deia.records import Record
from deia.text import words
from deia.watch.gate.artefact import FORMAT, LONGEST_WORD, pack
from deia.watch.gate.word_gate import A_CHANGE, A_FIELD, A_LINE, A_PART, A_TOOL, A_WHOLE, A_WRITE, EVERYBODY, SAID, WHO
from deia.watch.shell.programs import SHORT_NAMES
from deia.watch.shell.templates import SHORTEST_PREFIX

WILD = "\x02"
SPEAKING = WHO["user"] | WHO["assistant"]
MOST_ROWS = 400  # of one trigger


class Payload(Record):
    """A document as an injection may carry it."""

    id: str
    path: str
    title: str
    summary: str
    text: str


def compile_triggers(  # noqa: PLR0913 - what the compiler found out beforehand, each by its name
    triggers: Sequence[Trigger],
    documents: Mapping[str, Payload],
    *,
    settings: Mapping[str, Any],
    identity: Mapping[str, Any],
    marks: Mapping[str, Earlier] | None = None,
    known: Sequence[tuple[str, str]] = (),
    thresholds: Mapping[tuple[str, str], Sequence[float]] | None = None,
    own: str = PROJECT,
) -> tuple[bytes, tuple[str, ...]]:
    """Give the artefact's bytes and the ids of the triggers that no word can gate, which every turn pays for.

    `settings` and `identity` (version, digest of the sources) are stored as they are. Deprecated triggers are left out.
    `marks` are kept besides those that triggers wait for; `known` are path and title of every document there is.
    `thresholds` are those of `meaning` clauses, by trigger and exemplars; where there is none, the background's counts.
    `own` is whose the triggers are that no pack and no starter below the commons brought.
    """
    living = sorted((trigger for trigger in triggers if trigger.status != "deprecated"), key=lambda one: one.id)
    numbers = {identity_: number for number, identity_ in enumerate(sorted(documents))}
    rows: list[Gated] = []
    records = []
    listed = [list(pair) for pair in known] if asks_for("like", living) else []
    antecedents: dict[str, tuple[tuple[Group, ...], ...]] = {}
    for number, trigger in enumerate(living):
        compiled, needed, said = _lower(trigger, numbers, number)
        set_thresholds(compiled, thresholds or {})
        compiled["origin"] = own if compiled["origin"] == PROJECT else compiled["origin"]
        records.append(folded(compiled))
        rows += needed
        antecedents.update(said)
    waited = sorted({**(marks or {}), **marks_in(living)}.items())
    for number, (name, earlier) in enumerate(waited, start=len(living)):
        mark = lower_mark(name, earlier, _lower_clause)
        records.append(dumps(mark.compiled).encode("ascii"))
        for place, (one, roles) in enumerate(mark.gates):
            who = sum(WHO[role] for role in roles)
            rows += _rows(one, number, who, place)
    contexts = sorted({context for trigger in living for context in trigger.context if words(context)})
    first = len(living) + len(waited)
    for number, context in enumerate(contexts, start=first):
        rows.append(Gated(target=number, who=EVERYBODY, groups=tuple(Group((word,)) for word in words(context))))
    for number, (_, named) in enumerate(sorted(antecedents.items()), start=first + len(contexts)):
        rows += [Gated(target=number, who=SPEAKING, groups=row) for row in named]
    gated = [row for row in rows if row.groups]
    ungated = sorted({(row.target, row.who) for row in rows if not row.groups})
    tools = _tools(living, waited)
    meta = {
        **identity, "format": FORMAT, "settings": dict(settings), "triggers": len(living), "marks": len(waited),
        "contexts": [*contexts, *sorted(antecedents)], "known": int(bool(listed)),
        "paths": int(asks_for("unread", living)), "parts": _parts(tools), "fields": _fields(tools),
        "waiting": _waiting(living, waited),
        "ungated": [list(pair) for pair in ungated], "regex": MAKER,
    }  # fmt: skip
    payloads = [dumps(documents[name].values()).encode("ascii") for name in numbers]
    records += [dumps(listed).encode("ascii")] if listed else []
    tables = [*gate_tables(gated), records, payloads, [dumps(meta).encode("ascii")]]
    names = [*(trigger.id for trigger in living), *(name for name, _ in waited)]
    return pack(tables), tuple(dict.fromkeys(names[target] for target, _ in ungated))


# --- one trigger ---


def _lower(
    trigger: Trigger, numbers: Mapping[str, int], number: int
) -> tuple[dict[str, Any], list[Gated], list[tuple[str, tuple[tuple[Group, ...], ...]]]]:
    every = [_lower_clause(clause) for clause in trigger.all]
    some = [_lower_clause(clause) for clause in trigger.any]
    who = _who(trigger)
    compiled: dict[str, Any] = {
        "id": trigger.id, "title": trigger.title, "urgency": trigger.urgency, "action": trigger.action,
        "timing": trigger.timing, "message": trigger.message, "action_required": trigger.action_required,
        "instead": list(trigger.instead), "origin": origin_of(trigger.path),
        "documents": [[numbers[ref.id], ref.mode, ref.reason] for ref in trigger.documents if ref.id in numbers],
        "who": sum(WHO[role] for role in who), "context": list(trigger.context), "stance": list(trigger.stance),
        "unless": [_unless(text) for text in trigger.unless], "repeat": trigger.repeat,
        "all": [one.clause for one in every], "any": [one.clause for one in some],
    }  # fmt: skip
    if trigger.earlier:
        compiled["earlier"] = trigger.earlier.within
    said = [one.said for one in (*every, *some) if one.said[0]]
    return compiled, _gated(every, some, number, compiled["who"]), said


def _gated(every: Sequence[Lowered], some: Sequence[Lowered], number: int, who: int) -> list[Gated]:
    """Give the rows of a trigger: of each clause that is enough its own, or, where several must hold, all together."""
    if not every or (len(every) == 1 and not some):
        return [row for place, one in enumerate((*every, *some)) for row in _rows(one, number, who, place)]
    choices = [*(one.rows for one in every), *([tuple(row for one in some for row in one.rows)] if some else [])]
    rows = dict.fromkeys(map(_united, _product(choices)))
    return [Gated(target=number, who=who, groups=row, wide=True) for row in rows]


def _rows(lowered: Lowered, number: int, who: int, place: int) -> list[Gated]:
    """Give the rows of one clause that is enough by itself."""
    every = dict.fromkeys(_united((row,)) for row in lowered.rows)
    about = Gated(target=number, who=who, groups=(), wide=lowered.wide, clause=place, placed=is_placed(lowered))
    return [about.but(groups=groups) for groups in every]


def is_placed(lowered: Lowered) -> bool:
    """Say whether a clause is looked for where its words stand, before anything is judged: a phrase, a changed text."""
    clause = lowered.clause
    return clause["k"] == "phrase" or (clause["k"] == "write" and not clause.keys().isdisjoint(WRITE_PATTERNS))


def _tools(triggers: Sequence[Trigger], waited: Sequence[tuple[str, Earlier]]) -> list[Any]:
    """Give the tools that triggers and the marks they wait for ask for."""
    clauses = [clause for one in triggers for clause in (*one.any, *one.all)]
    clauses += [clause for _, earlier in waited for clause in (*earlier.any, *earlier.until)]
    return [clause.value for clause in clauses if clause.kind == "tool"]


def _parts(tools: Sequence[Any]) -> list[str]:
    """Give the parts of tool names that are asked for."""
    return sorted({part for tool in tools for part in _name_parts(str(tool["name"]))})


def _fields(tools: Sequence[Any]) -> list[str]:
    """Give the fields of a tool's input that are asked for, as far as the watcher looks them up."""
    asked = {str(field) for tool in tools for field in tool.get("input", {})}
    return sorted(field for field in asked if _size(field) < LONGEST_WORD // 2)


def _name_parts(glob: str) -> list[str]:
    """Give the texts that a tool's name holds which a glob fits, as far as the watcher looks words up."""
    plain = glob.lower() if "[" not in glob else ""
    pieces = plain.replace("?", "*").split("*")
    return sorted({piece[: LONGEST_WORD // 2] for piece in pieces if piece})


def _waiting(triggers: Sequence[Trigger], waited: Sequence[tuple[str, Earlier]]) -> dict[str, int]:
    """Give the numbers of the triggers that wait for something said earlier, each with its mark's number."""
    marks = {name: number for number, (name, _) in enumerate(waited, start=len(triggers))}
    return {str(number): marks[one.id] for number, one in enumerate(triggers) if one.earlier}


def _united(parts: tuple[tuple[Group, ...], ...]) -> tuple[Group, ...]:
    """Give the groups of a row; one with a word longer than the watcher looks up cannot gate."""
    groups = {group for part in parts for group in part}
    return tuple(sorted((group for group in groups if max(map(_size, group)) <= LONGEST_WORD), key=sorted))


def _size(word: str) -> int:
    return len(word.encode("utf-8", "surrogatepass"))


def _product(choices: list[tuple[tuple[Group, ...], ...]]) -> Iterable[tuple[tuple[Group, ...], ...]]:
    """Multiply the alternatives out, or, where that is too much, gate by the first choice alone."""
    size = 1
    for options in choices:
        size *= max(len(options), 1)
    return product(*choices) if size <= MOST_ROWS else ((row,) for row in min(choices, key=len))


def _who(trigger: Trigger) -> tuple[str, ...]:
    """A person who pastes an error is helped like an agent that met it."""
    clauses = (*trigger.any, *trigger.all)
    if trigger.who == ("tool_result",) and all(clause.kind == "error" for clause in clauses):
        return ("tool_result", "user")
    return trigger.who


def _unless(text: str) -> dict[str, Any]:
    if text.startswith("-"):
        return {"s": text, "flag": text}
    return {"s": text, "words": [sorted(forms(word)) for word in words(text)]}


# --- one clause ---


def _lower_clause(clause: Clause) -> Lowered:
    """Lower a clause; only English words get English endings."""
    if clause.kind == "phrase" and not is_english(clause):
        return _slots("phrase", str(clause.value), lambda word: Group((word,)))
    return LOWER[clause.kind](clause.value)


def is_english(clause: Clause) -> bool:
    """Say whether a phrase is read as English: no other language is given, and it has no letter that English lacks."""
    return clause.language in {"", "en"} and not any(
        char.isalpha() and not char.isascii() for char in str(clause.value)
    )


def _phrase(value: Any) -> Lowered:
    return _slots("phrase", str(value), forms)


def _error(value: Any) -> Lowered:
    return _slots("error", str(value), lambda word: Group((word,)))


def _slots(kind: str, source: str, expand: Callable[[str], Group]) -> Lowered:
    places: list[Any] = []
    needed: list[list[Group]] = []
    meant = -1
    for slot in parse_phrase(source):
        expanded = [[sorted(expand(word)) for word in option] for option in slot.alternatives if option]
        singles = sorted({form for option in expanded if len(option) == 1 for form in option[0]})
        optional = () in slot.alternatives
        meant = len(places) if slot.said else meant
        places.append([int(slot.gap), singles, [option for option in expanded if len(option) > 1], int(optional)])
        needed.append([] if optional else _needed(expanded))
    clause = {"k": kind, "s": source, "v": places}
    speaks = (Group((SAID,)),) if kind == "phrase" and any(needed) else ()
    row = (*speaks, *(group for groups in needed for group in groups))
    if meant < 0:
        return Lowered(clause=clause, rows=(row,))
    other = referring(places, needed, meant)
    clause = {**clause, "it": other.places, "said": other.name}
    return Lowered(clause=clause, rows=(row, (*speaks, *other.groups)), said=(other.name, other.named))


def _needed(options: list[list[list[str]]]) -> list[Group]:
    """Give groups that any of some alternatives brings along: the words they share, and the rarest other of each."""
    shared = set.intersection(*({Group(alike) for alike in option} for option in options))
    others = [[alike for alike in option if Group(alike) not in shared] for option in options]
    telling = [form for option in others for form in _rarest(option)] if all(others) else []
    return [*sorted(shared, key=sorted), *([Group(telling)] if telling else [])]


def _rarest(option: list[list[str]]) -> list[str]:
    return min(option, key=lambda alike: (not COMMON.isdisjoint(alike), -len(alike[0])))


def _command(value: Any) -> Lowered:
    alternatives = parse_command(str(value))
    rows = tuple((Group((A_LINE,)), *_token_groups(sequence)) for sequence in alternatives)
    return Lowered(clause={"k": "command", "s": str(value), "v": [list(one) for one in alternatives]}, rows=rows)


def _token_groups(sequence: tuple[str, ...]) -> list[Group]:
    """Give the words a command must hold: those of its program, plain words and long options, also abbreviated."""
    sure = [token for token in sequence if token not in {GAP, *PLACES} and not _short_option(token)]
    return [group for token in sure for group in _groups_of_token(token)]


def _groups_of_token(token: str) -> list[Group]:
    """Give groups of words, one of each of which is there however a word or option is spelt.

    git and GNU programs take the beginning of a long option for it, so of its name only the first word is sure.
    """
    if token[:1] == "-" and token[2:3] == "=":  # -XDELETE
        return [Group((word, token[1].lower() + word)) for word in _sure_words(token[3:])]
    if token[:1] == "-" and token[1:2].isupper() and token[1:].isalpha():
        return [Group(token[1:size].lower() for size in range(2, len(token) + 1))]  # PowerShell's: any clear beginning
    if not token.startswith("--"):
        return [Group((word, *_SHORT.get(word, ()))) for word in _sure_words(token)]
    name, _, value = token.partition("=")
    first = [_beginnings(word) for word in _sure_words(name)[:1]]
    return [*first, *(Group((word,)) for word in _sure_words(value))]


_SHORT = {word: (short,) for short, program in SHORT_NAMES.items() for word in program}


def _beginnings(word: str) -> Group:
    cut = {word[:size] for size in range(SHORTEST_PREFIX - 2, len(word))}
    return Group({word, *(cut - COMMON)})  # nobody writes `--for` for a force


def _short_option(token: str) -> bool:
    """Say whether other spellings of an option exist: `-rf` is also `-r -f`."""
    return token.startswith("-") and not token.startswith("--") and len(token) <= 4


def _sure_words(glob: str) -> list[str]:
    """Give the whole words of a glob: those that touch no wildcard."""
    marked = "".join(WILD if char in "*?" else (char if char.isalnum() else " ") for char in glob)
    return [word for part in marked.split() if WILD not in part for word in words(part)]


def _pattern(value: Any) -> Lowered:
    source = str(value)
    groups = tuple(dict.fromkeys(required_groups(source)))
    return Lowered(clause={"k": "pattern", "s": source, "v": regex_code(source)}, rows=(groups,))


def _write(value: Any) -> Lowered:
    given = value if hasattr(value, "items") else {"paths": value}
    made = compiled({name: given[name] for name in WRITE_TEXTS if name in given})
    asked = {name: bool(one) for name, one in given.items() if name not in {"paths", *WRITE_TEXTS}}
    globs = [str(glob) for glob in given.get("paths", ())]
    how = Group((A_WHOLE if asked.get("unread") else A_CHANGE if made else A_WRITE,))
    sought = next((made[name]["s"] for name in WRITE_PATTERNS if name in made), "")
    rows = tuple((how, *(Group((word,)) for word in _sure_words(glob))) for glob in globs)
    rows = ((how, *required_groups(sought)),) if sought else rows  # found near one another, and then looked for
    told = {**{name: str(one).lower() for name, one in asked.items()}, **{name: one["s"] for name, one in made.items()}}
    shown = ", ".join([*globs, *(f"{name}: {one}" for name, one in told.items())])
    more = {**made, **({"asked": asked} if asked else {})}
    return Lowered(clause={"k": "write", "s": shown, "v": globs, **more}, rows=rows)


def _tool(value: Any) -> Lowered:
    name = str(value["name"])
    fields = {str(field): str(glob) for field, glob in value.get("input", {}).items()}
    sure = [word for glob in (name, *fields.values()) for word in _sure_words(glob)]
    sure = [word for word in sure if not (word.isdigit() or word in {"true", "false", "none"})]  # perhaps no text
    shown = name + "".join(f", {field}: {glob}" for field, glob in fields.items())
    asked = [A_PART + part for part in _name_parts(name)]
    asked += [A_FIELD + field for field in fields if _size(field) < LONGEST_WORD // 2]
    row = (Group((A_TOOL,)), *(Group((word,)) for word in (*asked, *sure)))
    return Lowered(clause={"k": "tool", "s": shown, "v": {"name": name, "input": fields}}, rows=(row,), wide=True)


def _words(value: Any) -> Lowered:
    """The old form of the master index: all words of `all`, or one of `any`."""
    options = [list(value.get("all", ())), *([text] for text in value.get("any", ()))]
    texts = [" ".join(option) for option in options if option]
    expanded = [[sorted(forms(word)) for word in words(text)] for text in texts]
    rows = tuple(tuple(Group(alike) for alike in option) for option in expanded)
    return Lowered(clause={"k": "words", "s": " | ".join(texts), "v": expanded}, rows=rows, wide=True)


def _sql(value: Any) -> Lowered:
    templates = [parse_sql(str(template)) for template in value]
    needed = [[word for word in template if word not in {GAP, "without", "where"}] for template in templates]
    rows = tuple(tuple(Group((part,)) for word in sure for part in words(word)) for sure in needed)
    clause = {"k": "sql", "s": ", ".join(map(str, value)), "v": [list(one) for one in templates]}
    return Lowered(clause=clause, rows=rows)


def _meaning(value: Any) -> Lowered:
    clause, rows = meaning_clause(tuple(map(str, value)))
    return Lowered(clause=clause, rows=rows)


LOWER: dict[str, Callable[[Any], Lowered]] = {
    "phrase": _phrase,
    "error": _error,
    "command": _command,
    "pattern": _pattern,
    "sql": _sql,
    "write": _write,
    "tool": _tool,
    "words": _words,
    "meaning": _meaning,
}
