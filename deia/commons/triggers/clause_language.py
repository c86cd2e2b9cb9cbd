"""Parse the small language of `phrase`, `error` and `command` clauses: words, `{a|b c}` alternatives and `…` gaps.

The compiler uses the parsed form. Templates that expand to very many alternatives are refused.
"""

from __future__ import annotations

from collections.abc import Callable

from deia.knowledge import Clause
from deia.records import Record
from deia.text import words

GAP = "…"
MOST_COMMANDS = 200  # alternatives of one command clause, all combinations counted
MOST_SLOTS = 12
# Kinds of places that a path can lead to, as `deia.watch.shell.delete_targets` classifies it.
PLACES = (
    "<root>", "<home>", "<parent>", "<whole>", "<repository>", "<variable>", "<backups>", "<outside>", "<source>",
    "<data>", "<shared>", "<scratch>", "<found>", "<unknown>", "<other>",
)  # fmt: skip
SAID = "<it>"  # in a phrase: it, them, everything, …, if another word of the same braces was said some turns earlier
WRITE_FIELDS = ("paths", "adds", "drops", "lacks", "exists", "unread", "like", "imported_by", "deletes", "subject_gone")
FEWEST_IMPORTERS = 3  # of a file; the hook is not told of fewer
IMPORTED_BY, AT_LEAST = "imported_by", "at_least"  # how many files import what is written, and the one condition on it
WRITE_PATTERNS = ("adds", "drops")  # what a write adds to a file or removes from it
WRITE_REMOVALS = ("deletes", "subject_gone")  # whether a file is deleted; whether what removed text is about is gone
WRITE_TEXTS = (*WRITE_PATTERNS, "lacks")  # with what the new text must not contain
# Stand-ins for escaped characters while braces are parsed.
LITERALS = {"\\": "\ue000", "{": "\ue001", "}": "\ue002", "|": "\ue003"}
ESCAPED = str.maketrans({stand_in: char for char, stand_in in LITERALS.items()})


class TemplateError(ValueError):
    """A template that cannot be parsed; the message is a clause of a sentence for its author."""


class Slot(Record):
    """One position of a template: alternatives, each a sequence of words."""

    alternatives: tuple[tuple[str, ...], ...]
    gap: bool = False  # whether other words may come before it
    said: bool = False  # whether a pronoun may replace it after it was named in the conversation


def split_template(template: str) -> list[list[str]]:
    """Return the positions of a template, each a list of alternative texts; a gap is the position `["…"]`.

    A backslash escapes the brace, bar or backslash after it. Raise TemplateError if braces are not balanced, or touch a
    word.
    """
    places: list[list[str]] = []
    rest = template.replace("...", GAP)
    for char, stand_in in LITERALS.items():
        rest = rest.replace("\\" + char, stand_in)
    while rest:
        before, brace, rest = rest.partition("{")
        if "}" in before:
            raise TemplateError("a } has no { before it")
        if brace and before and not before[-1].isspace():
            raise TemplateError(f"the {{ after {before.split()[-1].translate(ESCAPED)!r} needs a space before it")
        places.extend([word.translate(ESCAPED)] for word in before.split())
        if brace:
            body, closing, rest = rest.partition("}")
            if not closing or "{" in body:
                raise TemplateError("a { is never closed, or another is inside it")
            if rest and not rest[0].isspace():
                raise TemplateError(f"the }} before {rest.split()[0].translate(ESCAPED)!r} needs a space after it")
            places.append([option.strip().translate(ESCAPED) for option in body.split("|")])
    return places


def parse_phrase(template: str) -> tuple[Slot, ...]:
    """Parse a phrase or error template into slots of normalised words."""
    slots: list[Slot] = []
    gap = False
    for place in split_template(template):
        if place == [GAP]:
            gap = True
            continue
        is_pronoun = SAID in place
        alternatives = tuple(tuple(words(option)) for option in place if option != SAID)
        if is_pronoun and (not all(alternatives) or any(slot.said for slot in slots)):
            raise TemplateError(f"{SAID} may be used once in a phrase, in braces with the words that it can replace")
        if not any(alternatives):
            raise TemplateError(f"{' | '.join(place) or '{}'!r} has no word")
        if gap and not slots:
            raise TemplateError("a gap at the beginning matches anything; remove it")
        slots.append(Slot(alternatives=alternatives, gap=gap, said=is_pronoun))
        gap = False
    if gap:
        raise TemplateError("a gap at the end matches anything; remove it")
    if not slots or all(() in slot.alternatives for slot in slots):
        raise TemplateError("the phrase has no required word")
    if len(slots) > MOST_SLOTS:
        raise TemplateError(f"the phrase has {len(slots)} places; at most {MOST_SLOTS} are allowed")
    return tuple(slots)


def parse_command(template: str) -> tuple[tuple[str, ...], ...]:
    """Parse a command template into its alternatives, each a sequence of words with the program first."""
    sequences: list[tuple[str, ...]] = [()]
    for place in split_template(template):
        options = [tuple(option.split()) for option in place]
        sequences = [(*sequence, *option) for sequence in sequences for option in options]
        if len(sequences) > MOST_COMMANDS:
            raise TemplateError(f"the command expands to more than {MOST_COMMANDS} alternatives; split the clause")
    for sequence in sequences:
        if not sequence or sequence[0].startswith(("-", "<")) or sequence[0] == GAP or not words(sequence[0]):
            raise TemplateError("a command begins with its program, such as `git push --force`")
        unknown = next((word for word in sequence if word[:1] == "<" and word[-1:] == ">" and word not in PLACES), "")
        if unknown:
            raise TemplateError(f"{unknown} is not a known place; the places are {', '.join(PLACES)}")
    return tuple(dict.fromkeys(sequences))


def parse_sql(template: str) -> tuple[str, ...]:
    """Parse the beginning of an SQL statement into words in lower case, with gaps, and with `without where` at the end.

    Raise TemplateError if there are no words, or there are braces, which `sql` does not support.
    """
    places = split_template(template)
    if not places or any(len(place) > 1 for place in places):
        raise TemplateError("sql takes a list of beginnings of statements, such as [drop table, delete without where]")
    parts = tuple(place[0].lower() for place in places)
    if parts[0] in {GAP, "without"} or not all(word == GAP or _is_name(word) for word in parts):
        raise TemplateError(
            f"{template!r} is not the beginning of a statement; write plain words, such as `drop table`"
        )
    return parts


def _is_name(word: str) -> bool:
    """Return whether a text is one word of SQL, in which `_` joins words: `drop`, `password_hash`."""
    bare = word.replace("_", "")
    return words(bare) == [bare]


# Kinds of clauses whose value is one of a few words, each with what its author is told if it is not.
WORDED = {
    "deletion": (("plain", "wide"), "`plain`, or `wide`: production, everything, a wildcard, by force"),
    "package": (("mistyped",), "`mistyped`: a name that is one letter away from a popular one"),
}


def _check_write(clause: Clause) -> None:
    value = clause.value if isinstance(clause.value, dict) else {"paths": clause.value}
    globs, has_text = value.get("paths", ()), any(value.get(name) for name in WRITE_PATTERNS)
    if "lacks" in value and not has_text:
        raise TemplateError("`lacks` needs `adds` or `drops` beside it: it is what the new text must not contain")
    if value.get("deletes") and ("adds" in value or "drops" in value):
        raise TemplateError("`deletes` is about a file, `adds` and `drops` are about a change in it; write two clauses")
    if "subject_gone" in value and not ("drops" in value or value.get("deletes")):
        raise TemplateError("`subject_gone` needs `drops` or `deletes` beside it: it is about what is removed")
    if has_text and not globs:
        return  # applies to any file
    if not globs or not all(isinstance(glob, str) and glob.strip("*/ ") for glob in globs):
        raise TemplateError('write takes a list of globs that name something, such as [".env*", "**/migrations/*"]')


def _check_tool(clause: Clause) -> None:
    value = clause.value
    fields = value.get("input", {}) if isinstance(value, dict) else None
    if not isinstance(value, dict) or not isinstance(value.get("name"), str) or not isinstance(fields, dict):
        raise TemplateError("tool takes {name: glob, input: {field: glob}}")
    if not all(isinstance(glob, str) for glob in fields.values()) or set(value) - {"name", "input"}:
        raise TemplateError("tool takes {name: glob, input: {field: glob}}, and every glob is text")


def _check_word(clause: Clause) -> None:
    allowed, known = WORDED[clause.kind]
    if clause.value not in allowed:
        raise TemplateError(f"{clause.kind} takes {known}")


CHECKS: dict[str, Callable[[Clause], object]] = {
    **dict.fromkeys(WORDED, _check_word),
    "phrase": lambda clause: parse_phrase(str(clause.value)),
    "error": lambda clause: parse_phrase(str(clause.value)),
    "command": lambda clause: parse_command(str(clause.value)),
    "sql": lambda clause: [parse_sql(str(template)) for template in clause.value],
    "write": _check_write,
    "tool": _check_tool,
}


def clause_problems(clause: Clause) -> list[str]:
    """Return what is wrong with a clause's syntax, as clauses of a sentence; empty if nothing is."""
    try:
        CHECKS.get(clause.kind, bool)(clause)
    except TemplateError as error:
        return [str(error)]
    return []
