"""Lower clauses: compile each for the watcher, with the words that the gate needs. One function for each kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from deia.commons.triggers.clause_language import (
    GAP,
    IMPORTED_BY,
    PLACES,
    WRITE_PATTERNS,
    WRITE_TEXTS,
    parse_command,
    parse_phrase,
    parse_sql,
)
from deia.compile.triggers.act_words import Vocabulary
from deia.compile.triggers.compiled_patterns import compiled_pattern, required_groups
from deia.compile.triggers.gate_tables import COMMON, Group, Lowered
from deia.compile.triggers.lower_acts import lower_act, lower_meaning
from deia.compile.triggers.word_forms import forms
from deia.knowledge import Clause
from deia.text import words
from deia.watch.compiled_trigger import DELETION as ANY_CLIENT
from deia.watch.compiled_trigger import INCOMING, OUTPUT, PACKAGE, THEN, CompiledClause, Slot
from deia.watch.gate.artefact import LONGEST_WORD
from deia.watch.gate.word_gate import (
    A_CHANGE,
    A_DELETION,
    A_FIELD,
    A_LINE,
    A_PACKAGE,
    A_PART,
    A_PRINTED,
    A_RESULT,
    A_TOOL,
    A_WHOLE,
    A_WRITE,
    SAID,
)
from deia.watch.shell.programs import SHORT_NAMES
from deia.watch.shell.templates import SHORTEST_PREFIX, UNABBREVIATED

WILD = "\x02"
# Words of the deletions that deia.watch.clauses.removals knows.
DELETION = Group(("rm", "unlink", "trash", "del", "delete", "remove"))
PRONOUNS = ("everything", "it", "that", "them", "these", "this", "those")
WHOLE_THING = [["whole"], ["thing"]]
Value: TypeAlias = Any  # of a clause: a form for each kind, which reading it checked


def lower_clause(clause: Clause, known: Vocabulary | None = None) -> Lowered:
    """Return a lowered clause; `known` are the words of acts. Only English words get English endings."""
    if clause.kind == "act" and isinstance(clause.value, Mapping):
        return lower_act(clause.value, known)
    if clause.kind == "phrase" and not is_english(clause):
        return _slots("phrase", str(clause.value), _exactly)
    return LOWER[clause.kind](clause.value)


def is_english(clause: Clause) -> bool:
    """Return whether a phrase is English: it names no other language, and has only letters of English."""
    return clause.language in {"", "en"} and not any(
        char.isalpha() and not char.isascii() for char in str(clause.value)
    )


def _exactly(word: str) -> Group:
    return Group((word,))


def _slots(kind: str, source: str, expand: Callable[[str], Group]) -> Lowered:
    """Return a lowered phrase or error; a phrase with `<it>` also matches with a pronoun in that slot."""
    slots: list[Slot] = []
    groups_of: list[list[Group]] = []
    object_slot = -1
    for slot in parse_phrase(source):
        expanded = [[sorted(expand(word)) for word in option] for option in slot.alternatives if option]
        singles = sorted({form for option in expanded if len(option) == 1 for form in option[0]})
        optional = () in slot.alternatives
        object_slot = len(slots) if slot.said else object_slot
        slots.append((int(slot.gap), singles, [option for option in expanded if len(option) > 1], int(optional)))
        groups_of.append([] if optional else _groups_of(expanded))
    speech = (Group((SAID,)),) if kind == "phrase" and any(groups_of) else ()
    row = (*speech, *(group for groups in groups_of for group in groups))
    if object_slot < 0:
        return Lowered(clause=CompiledClause.of(kind, source, slots), rows=(row,))
    gap, nouns, longer, _ = slots[object_slot]
    pronoun: Slot = (gap, list(PRONOUNS), [WHOLE_THING], 0)
    others = [group for number, groups in enumerate(groups_of) if number != object_slot for group in groups]
    alternatives = [tuple(Group(alike) for alike in alternative) for alternative in longer]
    antecedent = "|".join([*nouns, *(" ".join(alike[0] for alike in alternative) for alternative in longer)])
    mention = f"<it> {antecedent}"  # the name under which the conversation's memory notes that the object was named
    with_pronoun = [pronoun if number == object_slot else slot for number, slot in enumerate(slots)]
    return Lowered(
        clause=CompiledClause.of(kind, source, slots, it=with_pronoun, said=mention),
        rows=(row, (*speech, *others, Group((*PRONOUNS, "thing")))),
        antecedent=mention,
        antecedent_rows=(*(((Group(nouns),),) if nouns else ()), *alternatives),
    )


def _groups_of(options: list[list[list[str]]]) -> list[Group]:
    """Return groups that every alternative satisfies: the words that all share, and the rarest other word of each."""
    shared = set.intersection(*({Group(alike) for alike in option} for option in options))
    others = [[alike for alike in option if Group(alike) not in shared] for option in options]
    rarest = [min(option, key=_commonness) for option in others] if all(others) else []
    return [*sorted(shared, key=sorted), *([Group(form for alike in rarest for form in alike)] if rarest else [])]


def _commonness(alike: list[str]) -> tuple[bool, int]:
    return not COMMON.isdisjoint(alike), -len(alike[0])


def _command(value: object) -> Lowered:
    alternatives = parse_command(str(value))
    # The gate needs the program, plain words and long options; short options have other spellings: `-rf`, `-r -f`.
    sure = [
        [token for token in sequence if token not in {GAP, *PLACES} and not _short_option(token)]
        for sequence in alternatives
    ]
    rows = tuple(
        (Group((A_LINE,)), *(group for token in tokens for group in _groups_of_token(token))) for tokens in sure
    )
    return Lowered(clause=CompiledClause.of("command", str(value), [*map(list, alternatives)]), rows=rows)


def _groups_of_token(token: str) -> list[Group]:
    """Return groups that a word or option satisfies in every spelling."""
    # git and GNU programs accept abbreviated long options, so only the first word of an option's name is certain.
    if token[:1] == "-" and token[2:3] == "=":  # -XDELETE
        return [Group((word, token[1].lower() + word)) for word in _sure_words(token[3:])]
    if token[:1] == "-" and token[1:2].isupper() and token[1:].isalpha():
        return [Group(token[1:size].lower() for size in range(2, len(token) + 1))]  # PowerShell accepts abbreviations
    if not token.startswith("--"):
        return [Group((word, *_SHORT.get(word, ()))) for word in _sure_words(token)]
    name, _, value = token.partition("=")
    first = [_beginnings(word) for word in _sure_words(name)[:1]]
    return [*first, *(Group((word,)) for word in _sure_words(value))]


_SHORT = {word: (short,) for short, program in SHORT_NAMES.items() for word in program}


def _beginnings(word: str) -> Group:
    cut = {word[:size] for size in range(SHORTEST_PREFIX - 2, len(word))}
    return Group({word, *(short for short in cut if f"--{short}" not in UNABBREVIATED)})


def _short_option(token: str) -> bool:
    """Return whether an option has other spellings: `-rf` is also `-r -f`."""
    return token.startswith("-") and not token.startswith("--") and len(token) <= 4


def _sure_words(glob: str) -> list[str]:
    """Return the whole words of a glob: those that touch no wildcard."""
    marked = "".join(WILD if char in "*?" else (char if char.isalnum() else " ") for char in glob)
    return [word for part in marked.split() if WILD not in part for word in words(part)]


def _pattern(value: object) -> Lowered:
    pattern = compiled_pattern(str(value))
    groups = tuple(dict.fromkeys(required_groups(pattern.source)))
    clause = CompiledClause.of("pattern", pattern.source, pattern.fields["v"])
    return Lowered(clause=clause, rows=(groups,))


def _output(value: object) -> Lowered:
    pattern = compiled_pattern(str(value))
    groups = tuple(dict.fromkeys((Group((A_PRINTED,)), *required_groups(pattern.source))))
    return Lowered(clause=CompiledClause.of(OUTPUT, pattern.source, None, output=pattern), rows=(groups,))


def _incoming(value: Value) -> Lowered:
    """Lower patterns over any result. In JSON, the first word of a line has the letter of an escape before it."""
    sources = {INCOMING: value["first"], THEN: value[THEN]} if isinstance(value, Mapping) else {INCOMING: value}
    patterns = {name: compiled_pattern(str(source)) for name, source in sources.items()}
    groups = [group for pattern in patterns.values() for group in required_groups(pattern.source)]
    required = [Group({*group, *(f"n{word}" for word in group)}) for group in groups]
    row = tuple(dict.fromkeys((Group((A_RESULT,)), *required)))
    source = f" {GAP} ".join(pattern.source for pattern in patterns.values())
    return Lowered(clause=CompiledClause.of(INCOMING, source, None, asked=None, **patterns), rows=(row,))


def _write(value: Value) -> Lowered:
    conditions = value if hasattr(value, "items") else {"paths": value}
    patterns = {name: compiled_pattern(str(conditions[name])) for name in WRITE_TEXTS if name in conditions}
    asked = {
        name: int(wanted) if name == IMPORTED_BY else bool(wanted)
        for name, wanted in conditions.items()
        if name not in {"paths", *WRITE_TEXTS}
    }
    globs = [str(glob) for glob in conditions.get("paths", ())]
    kind = Group((A_WHOLE if asked.get("unread") else A_CHANGE if patterns else A_WRITE,))
    needed = (kind, *((DELETION,) if asked.get("deletes") else ()))
    rows = tuple((*needed, *(Group((word,)) for word in _sure_words(glob))) for glob in globs)
    sought = next((patterns[name].source for name in WRITE_PATTERNS if name in patterns), "")
    rows = ((kind, *required_groups(sought)),) if sought else rows  # then the second gate runs the pattern
    sources = {name: str(wanted).lower() for name, wanted in asked.items()}
    sources |= {name: pattern.source for name, pattern in patterns.items()}
    source = ", ".join([*globs, *(f"{name}: {text}" for name, text in sources.items())])
    return Lowered(clause=CompiledClause.of("write", source, globs, asked=asked, **patterns), rows=rows)


def _tool(value: Value) -> Lowered:
    name = str(value["name"])
    fields = {str(field): str(glob) for field, glob in value.get("input", {}).items()}
    sure = [word for glob in (name, *fields.values()) for word in _sure_words(glob)]
    sure = [word for word in sure if not (word.isdigit() or word in {"true", "false", "none"})]  # may be no strings
    source = name + "".join(f", {field}: {glob}" for field, glob in fields.items())
    properties = [A_PART + part for part in name_parts(name)]
    properties += [A_FIELD + field for field in fields if is_looked_up(field)]
    row = (Group((A_TOOL,)), *(Group((word,)) for word in (*properties, *sure)))
    return Lowered(clause=CompiledClause.of("tool", source, {"name": name, "input": fields}), rows=(row,), wide=True)


def name_parts(glob: str) -> list[str]:
    """Return the literal parts of a glob for tool names, as far as the watcher looks words up."""
    plain = glob.lower() if "[" not in glob else ""
    pieces = plain.replace("?", "*").split("*")
    return sorted({piece[: LONGEST_WORD // 2] for piece in pieces if piece})


def is_looked_up(field: str) -> bool:
    """Return whether the watcher looks up a field of a tool's input, which must not be too long."""
    return size_of(field) < LONGEST_WORD // 2


def size_of(word: str) -> int:
    """Return the length of a word in bytes."""
    return len(word.encode("utf-8", "surrogatepass"))


def _words(value: Value) -> Lowered:
    """Lower the master index's old form: all words of `all`, or one of `any`."""
    options = [list(value.get("all", ())), *([text] for text in value.get("any", ()))]
    texts = [" ".join(option) for option in options if option]
    expanded = [[sorted(forms(word)) for word in words(text)] for text in texts]
    rows = tuple(tuple(Group(alike) for alike in option) for option in expanded)
    return Lowered(clause=CompiledClause.of("words", " | ".join(texts), expanded), rows=rows, wide=True)


def _sql(value: Value) -> Lowered:
    templates = [parse_sql(str(template)) for template in value]
    needed = [[word for word in template if word not in {GAP, "without", "where"}] for template in templates]
    rows = tuple(tuple(Group((part,)) for word in sure for part in words(word)) for sure in needed)
    return Lowered(clause=CompiledClause.of("sql", ", ".join(map(str, value)), [*map(list, templates)]), rows=rows)


def _call(kind: str, sign: str, value: str) -> Lowered:
    """Lower a clause on calls that the watcher marks with a word of its own."""
    rows = ((Group((A_TOOL,)), Group((sign,))),)
    return Lowered(clause=CompiledClause.of(kind, value, value), rows=rows, wide=True)


LOWER: dict[str, Callable[[Value], Lowered]] = {
    ANY_CLIENT: lambda value: _call(ANY_CLIENT, A_DELETION, str(value)),
    PACKAGE: lambda value: _call(PACKAGE, A_PACKAGE, str(value)),
    "phrase": lambda value: _slots("phrase", str(value), forms),
    "error": lambda value: _slots("error", str(value), _exactly),
    OUTPUT: _output,
    INCOMING: _incoming,
    "command": _command,
    "pattern": _pattern,
    "sql": _sql,
    "write": _write,
    "tool": _tool,
    "words": _words,
    "meaning": lower_meaning,
}
