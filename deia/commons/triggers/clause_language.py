"""The small language of `phrase`, `error` and `command` clauses: words, `{a|b c}` alternatives and `…` gaps.

Gives the parsed form that the compiler lowers, and the problems of a clause as sentences. Refuses templates that expand
to more alternatives than anybody means.
"""

from __future__ import annotations

from collections.abc import Callable

from deia.knowledge import Clause
from deia.records import Record
from deia.text import words

GAP = "…"
MOST_COMMANDS = 200  # alternatives of one command clause, multiplied out
MOST_SLOTS = 12
# Where a path leads, as `deia.watch.shell.delete_targets` tells it.
PLACES = (
    "<root>", "<home>", "<parent>", "<whole>", "<repository>", "<variable>", "<outside>", "<source>", "<data>",
    "<shared>", "<scratch>", "<found>", "<unknown>", "<other>",
)  # fmt: skip
SAID = "<it>"  # in a phrase: it, them, everything, … where another word of its braces was said some turns ago
WRITE_FIELDS = ("paths", "adds", "drops", "lacks", "exists", "unread", "like")
WRITE_PATTERNS = ("adds", "drops")  # what a write puts into a file or takes out of it
WRITE_TEXTS = (*WRITE_PATTERNS, "lacks")  # and what the new text must not hold besides
LITERALS = {"\\": "\ue000", "{": "\ue001", "}": "\ue002", "|": "\ue003"}  # escaped characters, while braces are read


class TemplateError(ValueError):
    """A template that cannot be read; the message is a sentence for the author."""


class Slot(Record):
    """One place of a template: alternatives, each a sequence of words; `gap` says that others may stand before it."""

    alternatives: tuple[tuple[str, ...], ...]
    gap: bool = False
    said: bool = False  # whether `it` may stand for it once it was named in the conversation


def split_template(template: str) -> list[list[str]]:
    r"""Cut a template into its places, each a list of alternative texts; a gap is the place `["…"]`.

    A backslash takes the brace, bar or backslash after it literally.

    Raises:
        TemplateError: braces do not pair up, or touch a word.
    """
    places: list[list[str]] = []
    rest = _hide(template).replace("...", GAP)
    while rest:
        before, brace, rest = rest.partition("{")
        if "}" in before:
            raise TemplateError("a } has no { before it")
        if brace and before and not before[-1].isspace():
            raise TemplateError(f"the {{ after {_show(before.split()[-1])!r} needs a space before it")
        places.extend([_show(word)] for word in before.split())
        if brace:
            body, closed, rest = rest.partition("}")
            if not closed or "{" in body:
                raise TemplateError("a { is never closed, or another stands inside it")
            if rest and not rest[0].isspace():
                raise TemplateError(f"the }} before {_show(rest.split()[0])!r} needs a space after it")
            places.append([_show(option.strip()) for option in body.split("|")])
    return places


def _hide(template: str) -> str:
    for char, stand_in in LITERALS.items():
        template = template.replace("\\" + char, stand_in)
    return template


def _show(text: str) -> str:
    for char, stand_in in LITERALS.items():
        text = text.replace(stand_in, char)
    return text


def parse_phrase(template: str) -> tuple[Slot, ...]:
    """Read a phrase or error template into slots of normalised words.

    Raises:
        TemplateError: the template has no words, a gap at an end, or does not parse.
    """
    slots: list[Slot] = []
    gap = False
    for place in split_template(template):
        if place == [GAP]:
            gap = True
            continue
        said = SAID in place
        alternatives = tuple(tuple(words(option)) for option in place if option != SAID)
        if said and (not all(alternatives) or any(slot.said for slot in slots)):
            raise TemplateError(f"{SAID} stands once in a phrase, in braces with the words it may stand for")
        if not any(alternatives):
            raise TemplateError(f"{' | '.join(place) or '{}'!r} holds no word")
        if gap and not slots:
            raise TemplateError("a gap at the beginning matches anything; drop it")
        slots.append(Slot(alternatives=alternatives, gap=gap, said=said))
        gap = False
    if gap:
        raise TemplateError("a gap at the end matches anything; drop it")
    if not slots or all(() in slot.alternatives for slot in slots):
        raise TemplateError("the phrase has no word that must be there")
    if len(slots) > MOST_SLOTS:
        raise TemplateError(f"the phrase has {len(slots)} places; at most {MOST_SLOTS} are allowed")
    return tuple(slots)


def parse_command(template: str) -> tuple[tuple[str, ...], ...]:
    """Read a command template into its alternatives, each a sequence of words: the program first.

    Raises:
        TemplateError: no program, too many alternatives, or it does not parse.
    """
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
            raise TemplateError(f"{unknown} is no place; places are {', '.join(PLACES)}")
    return tuple(dict.fromkeys(sequences))


def parse_sql(template: str) -> tuple[str, ...]:
    """Read what a statement begins with: its words in lower case, gaps kept, `without where` last.

    Raises:
        TemplateError: it has no words, or braces, which statements do not need.
    """
    places = split_template(template)
    if not places or any(len(place) > 1 for place in places):
        raise TemplateError("sql takes a list of how statements begin, such as [drop table, delete without where]")
    found = tuple(place[0].lower() for place in places)
    if found[0] in {GAP, "without"} or not all(word == GAP or _is_name(word) for word in found):
        raise TemplateError(f"{template!r} is not how a statement begins; write plain words, such as `drop table`")
    return found


def _is_name(word: str) -> bool:
    """Say whether a text is one word of SQL, where `_` joins words to a name: `drop`, `password_hash`."""
    bare = word.replace("_", "")
    return words(bare) == [bare]


def _phrase(clause: Clause) -> None:
    parse_phrase(str(clause.value))


def _command(clause: Clause) -> None:
    parse_command(str(clause.value))


def _write(clause: Clause) -> None:
    value = clause.value
    globs = value.get("paths", ()) if isinstance(value, dict) else value
    sought = isinstance(value, dict) and any(value.get(name) for name in WRITE_PATTERNS)
    if isinstance(value, dict) and "lacks" in value and not sought:
        raise TemplateError("`lacks` goes with `adds` or `drops`: it says what the new text must not hold")
    if sought and not globs:
        return  # whatever the file
    if not globs or not all(isinstance(glob, str) and glob.strip("*/ ") for glob in globs):
        raise TemplateError('write takes a list of globs that name something, such as [".env*", "**/migrations/*"]')


def _tool(clause: Clause) -> None:
    value = clause.value
    fields = value.get("input", {}) if isinstance(value, dict) else None
    if not isinstance(value, dict) or not isinstance(value.get("name"), str) or not isinstance(fields, dict):
        raise TemplateError("tool takes {name: glob, input: {field: glob}}")
    if not all(isinstance(glob, str) for glob in fields.values()) or set(value) - {"name", "input"}:
        raise TemplateError("tool takes {name: glob, input: {field: glob}}, and every glob is text")


def _sql(clause: Clause) -> None:
    for template in clause.value:
        parse_sql(str(template))


CHECKS: dict[str, Callable[[Clause], None]] = {
    "phrase": _phrase,
    "error": _phrase,
    "command": _command,
    "sql": _sql,
    "write": _write,
    "tool": _tool,
}


def clause_problems(clause: Clause) -> list[str]:
    """Give what is wrong with a clause's own syntax, as sentences; empty where nothing is."""
    check = CHECKS.get(clause.kind)
    try:
        if check is not None:
            check(clause)
    except TemplateError as error:
        return [str(error)]
    return []
